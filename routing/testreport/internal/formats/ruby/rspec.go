package ruby

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// rspecFormat reads RSpec's progress and documentation formatters, also the
// outputs of parallel_tests' processes one after the other.
var rspecFormat = format.Format{
	Name:  "rspec",
	Order: 440,
	Wakes: &format.Wake{Flush: "FPA", Ends: ")", Prefix: true},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		anon := model.NewAnonymous(lim)
		open := func() format.Console { return &rspecConsole{out: out, lim: lim, anon: anon} }
		return &format.BehindPrefix{Plain: open(), Open: open, Starts: startsRSpec, May: func(t string) bool {
			c := t[len(t)-1]
			return (c == ':' || c == ')' || c == 's' || c == '.') && (strings.HasSuffix(t, " Failures:") || strings.Contains(t, "Finished in ") || strings.Contains(t, " Pending: (F") || strings.Contains(t, " An error occurred "))
		}}
	},
}

// startsRSpec recognises what opens a section or the totals.
func startsRSpec(t string) bool {
	return t == "Failures:" || strings.HasPrefix(t, "An error occurred ") || strings.HasPrefix(t, "Finished in ") || strings.HasPrefix(t, "Pending: (Failures listed here are expected")
}

type rspecConsole struct {
	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous

	section  rspecSection
	sure     bool // the section is RSpec's: something in it was
	at       int
	cur      *failtext.Entry
	list     []*failtext.Entry
	dropped  int
	finished bool // behind "Finished in"
	totals   *rspecTotals
	examples []rspecExample
	outside  int // errors outside of examples that were named
	// marked are the failures that the documentation formatter marks where they happen. All that is
	// known of them follows in the list at the end, if the run gets there.
	marked []model.Test
}

type rspecSection int

const (
	rspecNone     rspecSection = iota
	rspecPending               // "Pending: (Failures listed here …"
	rspecFailures              // "Failures:"
	rspecOutside               // "An error occurred while loading …"
	rspecExamples              // "Failed examples:"
)

type rspecTotals struct {
	examples, failures, pending, errors, at int
}

// rspecExample is a line "rspec ./spec/a_spec.rb:12 # title".
type rspecExample struct {
	place, title string
	at           int
}

func (c *rspecConsole) Idle() bool {
	return c.section == rspecNone && !c.finished && c.totals == nil
}

func (c *rspecConsole) Line(l lines.Line) bool {
	if lines.StepOver(l) {
		c.End()
		return false
	}
	if l.Mark != "" {
		return false
	}
	if c.section == rspecNone && !c.finished && c.totals == nil {
		// Only these letters begin what opens a section.
		if len(l.Text) > 12 && l.Text[0] == ' ' && l.Text[len(l.Text)-1] == ')' && c.mark(l) {
			return true
		}
		if len(l.Text) < 9 || l.Text[0] != 'F' && l.Text[0] != 'P' && l.Text[0] != 'A' {
			return false
		}
	}
	return c.take(l.No, strings.TrimRight(l.Text, " "))
}

// mark takes "  adds up (FAILED - 1)" of the documentation formatter.
func (c *rspecConsole) mark(l lines.Line) bool {
	name, no, ok := strings.Cut(strings.TrimSpace(l.Text), " (FAILED - ")
	if n, rest, num := parse.LeadingInt(no); !ok || !num || rest != ")" || n != len(c.marked)+1 || n > c.lim.Failing {
		return false
	}
	c.marked = append(c.marked, model.Test{Name: strings.Clone(name), Status: model.Failed, Kind: model.KindAssertion, At: l.No})
	return true
}

// cutOff hands on the marked failures of a run that did not get to its list.
func (c *rspecConsole) cutOff() {
	for _, t := range c.marked {
		c.out.Test(t)
	}
	if n := len(c.marked); n > 0 {
		c.out.Problem(failtext.CutOff("rspec", "RSpec's output ends before its list of failures", c.marked[n-1].At))
	}
}

func (c *rspecConsole) take(no int, t string) bool {
	if t == "" {
		if c.cur != nil {
			c.cur.Add("")
		}
		return false
	}
	switch t[0] {
	case 'F':
		switch {
		case t == "Failures:":
			c.open(rspecFailures)
			return false
		case t == "Failed examples:" && (c.totals != nil || c.sure):
			c.open(rspecExamples)
			return true
		case strings.HasPrefix(t, "Finished in ") && strings.Contains(t, " second") || strings.HasPrefix(t, "Finished in ") && strings.Contains(t, " minute"):
			c.closeEntry()
			c.section, c.finished, c.at, c.marked = rspecNone, true, no, nil
			return false
		}
	case 'P':
		if strings.HasPrefix(t, "Pending: (Failures listed here are expected") {
			c.open(rspecPending)
			c.sure = true
			return true
		}
	case 'A':
		if strings.HasPrefix(t, "An error occurred ") && c.errorOutside(no, t) {
			return true
		}
	case 'r':
		if c.section == rspecExamples && c.example(no, t) {
			return true
		}
	}
	if c.finished && t[0] >= '0' && t[0] <= '9' && c.total(no, t) {
		return true
	}
	return c.body(no, t)
}

func (c *rspecConsole) open(s rspecSection) {
	c.closeEntry()
	if s != rspecExamples && (c.totals != nil || c.finished) {
		c.finish()
	}
	c.marked = nil
	if s == rspecFailures && c.totals == nil {
		c.list, c.dropped, c.sure = nil, 0, false // a run has one list: an example printed the one before
	}
	c.section = s
}

// errorOutside opens a block of an error that is no example's.
func (c *rspecConsole) errorOutside(no int, t string) bool {
	name := ""
	switch {
	case strings.HasPrefix(t, "An error occurred while loading "):
		name = strings.TrimSuffix(strings.TrimSuffix(t[len("An error occurred while loading "):], "."), " ")
	case strings.HasPrefix(t, "An error occurred in a") && strings.Contains(t, " hook"):
		name = parse.QuotedBy(t, '`')
		if name == "" {
			name = "hook"
		}
	default:
		return false
	}
	c.open(rspecOutside)
	c.sure = true
	c.cur = failtext.NewEntry(failtext.Shrunk(c.lim, len(c.list)), model.Test{Name: name, At: no, Kind: model.KindSetup})
	return true
}

// body takes a line inside a section.
func (c *rspecConsole) body(no int, t string) bool {
	switch c.section {
	case rspecFailures:
		if n, rest, ok := parse.LeadingInt(strings.TrimLeft(t, " ")); ok && t[0] == ' ' && strings.HasPrefix(rest, ") ") && n == len(c.list)+c.dropped+c.one()+1 {
			c.closeEntry()
			c.cur = failtext.NewEntry(failtext.Shrunk(c.lim, len(c.list)), model.Test{Name: rest[2:], At: no})
			return c.sure
		}
	case rspecPending:
		return t[0] == ' '
	case rspecOutside:
	default:
		return false
	}
	if c.cur == nil {
		if t[0] != ' ' {
			c.section = rspecNone
		}
		return false
	}
	if c.cur.Lines > failtext.FailureLines {
		c.closeEntry()
		c.section = rspecNone
		return false
	}
	c.sure = c.sure || strings.HasPrefix(t, "     Failure/Error: ")
	c.cur.Add(t)
	return c.sure
}

func (c *rspecConsole) one() int {
	if c.cur != nil {
		return 1
	}
	return 0
}

func (c *rspecConsole) closeEntry() {
	f := c.cur
	c.cur = nil
	switch {
	case f == nil:
	case c.section == rspecOutside:
		c.outside++
		text := parse.Unindent(f.Text.String())
		msg, typ := rspecMessage(text)
		file, line := failtext.PlaceIn(text, "", "")
		p := model.Problem{Kind: model.KindSetup, Name: f.Test.Name, File: file, Line: line, Message: parse.FirstOf(msg, typ), Trace: text, At: f.Test.At}
		if isRubySpec(f.Test.Name) {
			if p.File == "" || !failtext.SameFile(p.File, f.Test.Name) {
				p.File, p.Line = f.Test.Name, 0
			}
		}
		c.out.Problem(p)
	case len(c.list) >= 5*c.lim.Failing:
		c.dropped++
	default:
		c.list = append(c.list, f)
	}
}

func isRubySpec(name string) bool { return strings.HasSuffix(name, ".rb") }

// total takes "3 examples, 1 failure, 1 pending, 1 error occurred outside of examples".
// Without "Finished in" before it is parallel_tests' sum of what came before.
func (c *rspecConsole) total(no int, t string) bool {
	sum := rspecTotals{at: no}
	ok := parse.CountedList(t, func(n int, word string) bool {
		switch word {
		case "example", "examples":
			sum.examples = n
		case "failure", "failures":
			sum.failures = n
		case "pending":
			sum.pending = n
		case "error occurred outside of examples", "errors occurred outside of examples":
			sum.errors = n
		default:
			return false
		}
		return true
	})
	if !ok || !strings.Contains(t, " example") || !strings.Contains(t, " failure") {
		return false
	}
	c.finished = false
	c.totals = &sum
	if sum.failures == 0 {
		c.finish()
	}
	return true
}

// example takes "rspec ./spec/a_spec.rb:12 # title".
func (c *rspecConsole) example(no int, t string) bool {
	place, title, ok := strings.Cut(strings.TrimPrefix(t, "rspec "), " # ")
	if !ok || !strings.HasPrefix(t, "rspec ") {
		return false
	}
	place = strings.Trim(place, "'")
	if c.totals != nil && len(c.examples) < c.totals.failures && len(c.examples) < 5*c.lim.Failing {
		c.examples = append(c.examples, rspecExample{place, strings.TrimSpace(title), no})
		if len(c.examples) == c.totals.failures {
			c.finish()
		}
	}
	return true
}

// finish emits a run whose totals are known, or what was named of one that
// was cut off.
func (c *rspecConsole) finish() {
	c.closeEntry()
	named := 0
	at := c.at
	if c.totals != nil && c.totals.failures == 0 {
		c.list = nil // what an example printed: RSpec itself says that none failed
	}
	if c.totals != nil || c.sure {
		used := make([]bool, len(c.examples))
		for _, f := range c.list {
			named++
			c.out.Test(c.failed(f, used))
		}
		for i, e := range c.examples {
			if !used[i] && len(c.list) == 0 { // the list of failures was suppressed
				named++
				file, line := rspecPlace(e.place)
				c.out.Test(model.Test{Name: e.title, Status: model.Failed, File: file, Line: line, At: e.at})
			}
		}
	}
	switch {
	case c.totals != nil:
		sum := c.totals
		c.anon.Emit(c.out, sum.examples-max(sum.failures, named)-sum.pending, model.Test{Status: model.Passed, At: sum.at})
		c.anon.Emit(c.out, sum.pending, model.Test{Status: model.Pending, At: sum.at})
		failtext.Unnamed(c.out, "rspec", sum.failures, named+c.dropped, sum.at)
		failtext.Unnamed(c.out, "rspec (outside of examples)", sum.errors, c.outside, sum.at)
	case c.sure:
		for _, f := range c.list {
			at = max(at, f.Test.At)
		}
		c.out.Problem(failtext.CutOff("rspec", "RSpec's output ends before its totals", at))
	}
	*c = rspecConsole{out: c.out, lim: c.lim, anon: c.anon}
}

// failed completes an entry of the list with its line of the examples.
func (c *rspecConsole) failed(f *failtext.Entry, used []bool) model.Test {
	if name, ok := strings.CutSuffix(f.Test.Name, " FIXED"); ok {
		f.Test.Name, f.Test.Kind = name, model.KindAssertion
	}
	text := parse.Unindent(f.Text.String())
	f.Test.Message, f.Test.Type = rspecMessage(text)
	t := f.Done()
	for i := range c.examples[:min(len(c.examples), 5000)] {
		if e := &c.examples[i]; !used[i] && e.title == t.Name {
			used[i] = true
			if file, line := rspecPlace(e.place); file != "" && (t.File == "" || !failtext.SameFile(t.File, file)) {
				t.File, t.Line = file, line
			}
			break
		}
	}
	if t.Kind == "" {
		t.Kind = model.KindAssertion
		if t.Type != "" && !strings.Contains(t.Type, "Expectation") {
			t.Kind = model.KindError
		}
	}
	return t
}

// rspecPlace reads "./spec/a_spec.rb:12" and "./spec/a_spec.rb[1:2]".
func rspecPlace(s string) (file string, line int) {
	if i := strings.LastIndexByte(s, '['); i > 0 {
		return strings.TrimPrefix(s[:i], "./"), 0
	}
	file, line, _, ok := parse.Location(s)
	if !ok {
		return "", 0
	}
	return strings.TrimPrefix(file, "./"), line
}

// rspecMessage returns the message of a block and the exception's class,
// which stands on a line of its own above it.
func rspecMessage(text string) (msg, typ string) {
	lines := strings.Split(text, "\n")
	i := 0
	for i < len(lines) && !strings.HasPrefix(lines[i], "Failure/Error: ") && !strings.Contains(lines[i], ") Failure/Error: ") {
		i++
	}
	if i == len(lines) {
		i = -1
	} else {
		for i+1 < len(lines) && lines[i+1] != "" && !isRubyClass(lines[i+1]) { // the source may be several lines
			i++
		}
	}
	var b []string
	for _, l := range lines[i+1:] {
		s := strings.TrimSpace(l)
		if strings.HasPrefix(s, "# ") && strings.Contains(s, ":") || strings.HasPrefix(s, "# --- Caused by") {
			break
		}
		if typ == "" && len(b) == 0 && isRubyClass(l) {
			typ = strings.TrimSuffix(l, ":")
			continue
		}
		if strings.HasPrefix(s, "(compared using ") {
			continue
		}
		if s != "" || len(b) > 0 {
			b = append(b, l)
		}
	}
	return parse.Unindent(strings.Join(b, "\n")), typ
}

// isRubyClass recognises "ArgumentError:", "Foo::Bar:" on a line of its own.
func isRubyClass(l string) bool {
	n, ok := strings.CutSuffix(l, ":")
	if !ok || n == "" || n[0] < 'A' || n[0] > 'Z' {
		return false
	}
	return parse.IsDotted(strings.ReplaceAll(n, "::", "."))
}

func (c *rspecConsole) End() {
	if c.totals != nil || c.sure || c.cur != nil {
		c.finish()
	} else if c.section == rspecNone && !c.finished {
		c.cutOff()
	}
	*c = rspecConsole{out: c.out, lim: c.lim, anon: c.anon}
}
