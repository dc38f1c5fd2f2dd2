package diagnosis

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/diagnosis/rank"
)

// features computes the features of the candidates of one log.
type features struct {
	block  block
	last   int // number of the log's last line
	shapes map[int]shape
	forms  map[uint64]int // how many candidates have a form
	ends   map[group][2]int
	known  *Baseline
}

// group is what candidates of one step have in common: what matched them.
type group struct {
	step int
	rule *Rule
}

// featuresOf counts what the candidates of a log have in common.
func featuresOf(all []ranked, last int, shapes map[int]shape, b block, known *Baseline) *features {
	f := &features{known: known, block: b, last: last, shapes: shapes, forms: map[uint64]int{}, ends: map[group][2]int{}}
	for _, r := range all {
		f.forms[form(r.text)]++
		g := group{r.step, r.rule}
		e, ok := f.ends[g]
		if !ok {
			e = [2]int{r.no, r.no}
		}
		f.ends[g] = [2]int{min(e[0], r.no), max(e[1], r.no)}
	}
	return f
}

// of returns the features of the candidate r of step s, which is nil if r is in none.
func (f *features) of(r ranked, s *step) rank.Vector {
	var v rank.Vector
	v[rank.Rule] = float32(r.score) / 100
	f.source(&v, r)
	f.place(&v, r, s)
	f.structure(&v, r)
	textFeatures(&v, r.text)
	n := f.forms[form(r.text)]
	v.Set(rank.Rare, n <= 1)
	v.Set(rank.Common, n > 8)
	if !f.known.Empty() {
		old, fresh := f.known.compare(r.text)
		v.Set(rank.Old, old)
		v.Set(rank.New, fresh)
	}
	return v
}

func (f *features) source(v *rank.Vector, r ranked) {
	v.Set(rank.Mark, r.mark)
	switch {
	case r.stop:
		v[rank.Stop] = 1
	case r.rule == nil:
		v.Set(rank.Context, !r.mark)
	case r.rule.Role == RoleWrapper:
		v[rank.Wrapper] = 1
	case r.rule.Role == RoleStop:
		v[rank.Stop] = 1
	case r.rule.Scope == ScopeUnit:
		v[rank.Family] = 1
	case r.rule.Class != "":
		v[rank.Classed] = 1
	case r.rule.weak():
		v[rank.Words] = 1
	default:
		v[rank.Generic] = 1
	}
}

func (f *features) place(v *rank.Vector, r ranked, s *step) {
	b := f.block
	d := b.end - r.no
	switch {
	case !b.found:
		v.Set(rank.Tail, f.last-r.no < 30)
	case r.step != b.step:
		v[rank.OtherUnit] = 1
	case d < 0:
		v[rank.AfterStop] = 1
	default:
		v[rank.InUnit] = 1
	}
	v.Set(rank.Early, r.no <= 10 && f.last > 60 || r.no*20 < f.last)
	v.Set(rank.Cleanup, s != nil && s.cleanup)
	if d >= 0 && (!b.found || r.step == b.step) {
		v.Set(rank.Near3, d <= 3)
		v.Set(rank.Near20, d <= 20)
		v.Set(rank.Near100, d <= 100)
		v.Set(rank.Far, d > 400)
	}
	e := f.ends[group{r.step, r.rule}]
	if r.rule != nil { // of lines that nothing matched, the first and last are those kept
		v.Set(rank.First, e[0] == r.no)
		v.Set(rank.Last, e[1] == r.no)
	}
}

func (f *features) structure(v *rank.Vector, r ranked) {
	s := f.shapes[r.no]
	v.Set(rank.TraceEnd, s&traceEnd != 0)
	v.Set(rank.TraceHead, s&traceHead != 0)
	v.Set(rank.AfterBanner, s&afterBanner != 0)
	v.Set(rank.AboveFail, s&aboveFail != 0)
	v.Set(rank.OddRow, s&oddRow != 0)
	v.Set(rank.Frame, s&traceFrame != 0)
	v.Set(rank.LastOutput, r.last)
	v.Set(rank.BlockHead, r.head)
}

// errorWords are what programs begin an error with.
var errorWords = [...]string{"error", "fatal", "failed", "failure", "panic", "exception", "err!", "e:", "critical", "severe", "fail", "abort"}

// denials say that something cannot be done, is missing or is refused.
var denials = [...]string{"cannot", "can't", "could not", "couldn't", "unable", "not found", "no such", "missing", "invalid", "denied", "refused",
	"undefined", "unexpected", "unknown", "unresolved", "not allowed", "must ", "unsupported", "does not", "doesn't", "is not", "not installed", "required", "mismatch", "conflict", "no longer", "expired", "exceed", "forbidden", "unauthorized", "out of"}

// differences state two values that differ.
var differences = [...]string{"expected", "but was", "but got", " != ", "assert", "to equal", "to be", "got:", "want "}

// softs say that what failed did not matter.
var softs = [...]string{"warn", "retry", "ignor", "deprecat", "skipp", "continuing", "notice"}

func textFeatures(v *rank.Vector, text string) {
	t := strings.TrimLeft(text, " \t")
	v.Set(rank.Indented, len(t) < len(text))
	t = strings.TrimRight(t, " \t")
	v.Set(rank.Short, len(t) < 15)
	v.Set(rank.Long, len(t) > 300)
	if t == "" {
		return
	}
	t = t[:min(len(t), 400)]
	low := strings.ToLower(t)
	lead := strings.TrimLeft(low, "[*#!>|- ")
	v.Set(rank.LeadsError, hasPrefixOf(lead, errorWords[:]))
	v.Set(rank.HoldsError, strings.Contains(low, "error:") || strings.Contains(low, "fatal:") || strings.Contains(low, "error ") || strings.Contains(low, "failed:"))
	v.Set(rank.Exception, namesException(t))
	v.Set(rank.Place, placeAt(t) > 0)
	v.Set(rank.Quoted, strings.Count(t, "'") >= 2 || strings.Count(t, `"`) >= 2 || strings.Count(t, "`") >= 2)
	v.Set(rank.Denial, containsOf(low, denials[:]))
	v.Set(rank.Difference, containsOf(low, differences[:]))
	v.Set(rank.Count, counts(low))
	v.Set(rank.Banner, isBanner(t))
	v.Set(rank.EndsColon, t[len(t)-1] == ':')
	v.Set(rank.Decoration, letters(t)*2 < min(len(t), 64))
	v.Set(rank.Soft, containsOf(low, softs[:]))
	v.Set(rank.LeadsNumber, t[0] >= '0' && t[0] <= '9')
}

func hasPrefixOf(s string, words []string) bool {
	for _, w := range words {
		if strings.HasPrefix(s, w) {
			return true
		}
	}
	return false
}

func containsOf(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// namesException reports whether a word of t is the type of an exception: ValueError,
// java.io.IOException.
func namesException(t string) bool {
	for _, end := range [...]string{"Error", "Exception", "Failure"} {
		for at := 0; ; {
			i := strings.Index(t[at:], end)
			if i < 0 {
				break
			}
			at += i
			next := at + len(end)
			if at > 0 && isLetter(t[at-1]) && (next == len(t) || !isLetter(t[next])) {
				return true
			}
			at = next
		}
	}
	return false
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// counts reports whether low counts failures: "3 failed", "errors: 2".
func counts(low string) bool {
	for _, w := range [...]string{"fail", "error"} {
		i := strings.Index(low, w)
		if i > 1 && low[i-1] == ' ' && low[i-2] >= '0' && low[i-2] <= '9' {
			return true
		}
		if i >= 0 {
			rest := strings.TrimLeft(low[i+len(w):], "ruesd")
			if len(rest) > 2 && (rest[0] == ':' || rest[0] == '=') && strings.TrimLeft(rest[1:], " ") != "" && isDigit(strings.TrimLeft(rest[1:], " ")[0]) {
				return true
			}
		}
	}
	return false
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// form returns a hash of the start of a text without its digits: equal for lines that differ in
// numbers only.
func form(text string) uint64 {
	h := uint64(14695981039346656037)
	n := 0
	for i := 0; i < len(text) && n < 48; i++ {
		c := text[i]
		if isDigit(c) || c == ' ' || c == '\t' {
			continue
		}
		h = (h ^ uint64(c)) * 1099511628211
		n++
	}
	return h
}
