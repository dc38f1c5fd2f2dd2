package analysis

import (
	"encoding/json"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/truncate"
)

// What is kept of one verdict in a ledger: eleven turns of a case together
// stay below the megabyte that GitHub's contents API returns in one answer.
const (
	mostBytes    = 64 << 10
	mostCut      = 44 << 10 // of them for names of failures that are not kept in full: about 2000
	mostFailures = 400
	mostIssues   = 100
)

// Bound returns v cut to what a ledger keeps of one run: the least useful
// first (excerpts, traces and texts of failures far from the decisive one),
// then failures themselves, which are counted in Dropped. Of those the name and
// the fingerprint are kept, so that they can be compared.
func Bound(v routing.Verdict) routing.Verdict {
	v = few(v)
	fs := v.Failures
	for i := range fs {
		cutFailure(&fs[i], 4<<10)
	}
	v.Reason = truncate.Counted(v.Reason, 2<<10)
	v.Evidence = cutEvidence(v.Evidence, 10)
	v.Notes, v.Unmet = cutTexts(v.Notes), cutTexts(v.Unmet)
	v.Review = cutReview(v.Review)
	sizes := sizesOf(v)
	for _, keep := range []struct{ full, text int }{{40, 1 << 10}, {20, 512}, {10, 256}, {5, 160}, {1, 120}, {0, 120}} {
		if sizes.with(v, mostBytes) <= mostBytes {
			return v
		}
		for i := range fs {
			if i < keep.full {
				continue
			}
			fs[i].Excerpt, fs[i].Trace = nil, ""
			cutFailure(&fs[i], keep.text)
			fs[i].Evidence = cutEvidence(fs[i].Evidence, 1)
			sizes.full[i] = 0
		}
	}
	// What the other failures take tells how many are too many before names are packed.
	n, others := len(v.Failures), failureSizes{full: sizes.full}
	for whole := v; n > 1 && others.with(whole, mostBytes) > mostBytes; whole.Failures = v.Failures[:n] {
		n /= 2
	}
	if n < len(v.Failures) {
		v, sizes.cut = dropTo(v, n)
	}
	for sizes.with(v, mostBytes) > mostBytes && len(v.Failures) > 1 {
		v, sizes.cut = dropTo(v, len(v.Failures)/2)
	}
	for v.Review != nil && sizes.with(v, mostBytes) > mostBytes && len(v.Review.Issues) > 1 {
		v.Review.Issues = v.Review.Issues[:len(v.Review.Issues)/2]
	}
	if sizes.with(v, mostBytes) > mostBytes { // texts of nothing but characters that JSON escapes
		v.Notes, v.Evidence = nil, cutEvidence(v.Evidence, 1)
	}
	return v
}

// few returns v with a list of its own of at most mostFailures failures, the decisive one first.
func few(v routing.Verdict) routing.Verdict {
	fs := append([]routing.Failure(nil), v.Failures...)
	sortDecisive(fs)
	v.Failures = fs
	return drop(v, mostFailures)
}

// drop keeps the first n failures, and of the others the names in front of those dropped before,
// as many as fit.
func drop(v routing.Verdict, n int) routing.Verdict {
	if n >= len(v.Failures) {
		return v
	}
	v, _ = dropTo(v, n)
	return v
}

// dropTo is drop for fewer failures than there are, and returns the bytes of the names.
func dropTo(v routing.Verdict, n int) (routing.Verdict, int) {
	v.Dropped += len(v.Failures) - n
	cut := make(routing.CutFailures, 0, len(v.Failures)-n+len(v.Cut))
	for _, f := range v.Failures[n:] {
		c := f.Cut()
		c.Name, c.Suite = truncate.Counted(c.Name, 500), truncate.Counted(c.Suite, 500)
		cut = append(cut, c)
	}
	v.Failures, v.Cut = v.Failures[:n], packable(append(cut, v.Cut...))
	size := v.Cut.Size()
	for ; size > mostCut; size = v.Cut.Size() {
		v.Cut = v.Cut[:min(len(v.Cut)-1, len(v.Cut)*mostCut/size)]
	}
	return v, keyedCut + size
}

const keyedCut = len(`"cut":,`)

// packable returns as many names as are worth packing: texts of failures compress well, and not by
// more than this.
func packable(cut routing.CutFailures) routing.CutFailures {
	left := 16 * mostCut
	for i, c := range cut {
		if left -= len(c.Name) + 8; i == 0 || c.Suite != cut[i-1].Suite {
			left -= len(c.Suite)
		}
		if left < 0 {
			return cut[:i]
		}
	}
	return cut
}

func cutFailure(f *routing.Failure, text int) {
	f.Name, f.Suite = truncate.Counted(f.Name, 500), truncate.Counted(f.Suite, 500)
	f.File, f.Fingerprint = truncate.Counted(f.File, 500), truncate.Counted(f.Fingerprint, 200)
	f.Message, f.Trace = truncate.Counted(f.Message, text), truncate.Counted(f.Trace, text)
	f.Expected, f.Actual = truncate.Counted(f.Expected, text/2), truncate.Counted(f.Actual, text/2)
	f.Suggestion = truncate.Counted(f.Suggestion, 600)
	f.Evidence = cutEvidence(f.Evidence, 3)
	if f.Excerpt != nil {
		ex := *f.Excerpt
		ex.File, ex.Lines = truncate.Counted(ex.File, 500), append([]string(nil), ex.Lines[:min(len(ex.Lines), 20)]...)
		for i := range ex.Lines {
			ex.Lines[i] = truncate.Counted(ex.Lines[i], 400)
		}
		f.Excerpt = &ex
	}
}

func cutEvidence(ev []routing.Evidence, most int) []routing.Evidence {
	out := append([]routing.Evidence(nil), ev[:min(len(ev), most)]...)
	for i := range out {
		out[i].Text, out[i].Signal = truncate.Counted(out[i].Text, 300), truncate.Counted(out[i].Signal, 200)
	}
	return out
}

// cutTexts keeps twenty texts of a sentence or two.
func cutTexts(in []string) []string {
	out := append([]string(nil), in[:min(len(in), 20)]...)
	for i := range out {
		out[i] = truncate.Counted(out[i], 500)
	}
	return out
}

// cutReview keeps the issues that decide: they come first by severity.
func cutReview(r *routing.ReviewResult) *routing.ReviewResult {
	if r == nil {
		return nil
	}
	c := *r
	c.Feedback = truncate.Counted(c.Feedback, 4<<10)
	c.Issues = nil
	text := 1 << 10
	if len(r.Issues) > 10 {
		text = 160
	}
	for _, sev := range routing.IssueSeverities() {
		for _, is := range r.Issues {
			if is.Severity != sev || len(c.Issues) >= mostIssues {
				continue
			}
			is.Category, is.File = truncate.Counted(is.Category, 100), truncate.Counted(is.File, 300)
			is.Description, is.SuggestedFix = truncate.Counted(is.Description, text), truncate.Counted(is.SuggestedFix, text/2)
			c.Issues = append(c.Issues, is)
		}
	}
	return &c
}

// failureSizes are the bytes of failures in JSON. Most of them stay as they are while a verdict is
// cut, and packing names costs more than all the rest.
type failureSizes struct {
	full []int // of those kept in full, 0 if it is not known yet
	cut  int   // of the names of the others
}

func sizesOf(v routing.Verdict) failureSizes {
	return failureSizes{full: make([]int, len(v.Failures)), cut: cutSize(v)}
}

func cutSize(v routing.Verdict) int {
	if len(v.Cut) == 0 {
		return 0
	}
	return keyedCut + v.Cut.Size()
}

// with returns the size of v, whose failures are the first of those that the sizes are of. Past
// enough it stops counting.
func (s failureSizes) with(v routing.Verdict, enough int) int {
	fs := v.Failures
	v.Failures, v.Cut = nil, nil
	n := size(v) + s.cut
	if len(fs) == 0 {
		return n
	}
	n += len(`"failures":[],`) + len(fs) - 1
	for i := 0; i < len(fs) && n <= enough; i++ {
		if s.full[i] == 0 {
			b, err := json.Marshal(fs[i])
			if err != nil {
				return 0
			}
			s.full[i] = len(b)
		}
		n += s.full[i]
	}
	return n
}

func size(v routing.Verdict) int {
	b, err := json.Marshal(v)
	if err != nil {
		return 0
	}
	return len(b)
}
