package native

import (
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// boostTestFormat reads the human-readable log of Boost.Test.
var boostTestFormat = format.Format{
	Name:  "boost-test",
	Order: 700,
	Wakes: &format.Wake{Flush: "R"},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		return &boostConsole{out: out, lim: lim, anon: model.NewAnonymous(lim)}
	},
}

type boostConsole struct {
	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous

	open  bool
	at    int
	cases int
	tests []*failtext.Failure
	byKey map[string]*failtext.Failure
	cur   *failtext.Failure
	times map[*failtext.Failure]int // failing checks
	// report says that the detailed report is read, which tells what was expected to fail; failing, that
	// it says so of the module.
	report, failing bool
	// end is a last line that no empty line precedes: a test may have printed it.
	end   *boostTotal
	blank bool // the line before is empty
	// thrown says that the message of cur is that of an exception, which may have more lines.
	thrown bool
}

// boostTotal is what the last line of a module says.
type boostTotal struct {
	failed bool
	module string
}

var (
	boostRunning = lazyregexp.New(`^Running (\d+) test cases?\.\.\.$`)
	boostError   = lazyregexp.New(`^(.+?)\((\d+)\): (fatal error|error): in "([^"]+)": (.+)$`)
	boostEnd     = lazyregexp.New(`^\*\*\* (?:(\d+) (?:failures?|errors?)|No errors) (?:is |are )?detected(?: \(.*? expected\))?(?: in (?:the )?test (?:module|suite) "(.*)")?`)
	boostAbort   = lazyregexp.New(`^\*\*\* (?:The test module "(.*)" was aborted)`)
)

func (b *boostConsole) Idle() bool {
	return !b.open && b.cur == nil
}

func (b *boostConsole) Line(l lines.Line) bool {
	if l.Mark != "" {
		if lines.StepOver(l) {
			b.End()
		}
		return false
	}
	b.at = l.No
	t := l.Text
	blank := b.blank
	b.blank = t == ""
	if t == "" {
		return false
	}
	switch t[0] {
	case 'R':
		if !strings.HasPrefix(t, "Running ") {
			break
		}
		if m := boostRunning.FindStringSubmatch(t); m != nil {
			b.End()
			b.open, b.byKey, b.times = true, map[string]*failtext.Failure{}, map[*failtext.Failure]int{}
			b.cases, _, _ = parse.LeadingInt(m[1])
			return true
		}
	case '*':
		if b.open && strings.HasPrefix(t, "*** ") {
			return b.ended(t, blank)
		}
	}
	if !b.open {
		return false
	}
	if t[0] == 'T' && strings.HasPrefix(t, "Test module \"") && (strings.HasSuffix(t, " has failed with:") || strings.HasSuffix(t, " has passed with:")) {
		b.end = nil
		b.report, b.failing, b.cur = true, strings.HasSuffix(t, " has failed with:"), nil
		return true
	}
	if b.report {
		return b.reported(t)
	}
	if strings.Contains(t, "error: in \"") {
		if m := boostError.FindStringSubmatch(t); m != nil {
			b.failed(m, t)
			return true
		}
	}
	if b.cur != nil {
		checkpoint := strings.Contains(t, ": last checkpoint")
		if checkpoint && b.cur.Test.Line == 0 {
			if m := boostCheckpoint.FindStringSubmatch(t); m != nil {
				b.cur.Test.File = strings.Clone(m[1])
				b.cur.Test.Line, _, _ = parse.LeadingInt(m[2])
			}
		}
		if t[0] == ' ' || checkpoint || strings.HasPrefix(t, "Failure occurred in") {
			b.cur.Text.Add(t)
			b.thrown = b.thrown && !checkpoint
			return true
		}
		if b.thrown && !boostPlace.MatchString(t) { // the message of an exception goes on
			b.cur.Text.Add(t)
			if len(b.cur.Test.Message) < b.lim.Text/4 {
				b.cur.Test.Message += "\n" + t
			}
			return true
		}
		b.cur = nil
	}
	return false
}

// reported takes a line of the detailed report.
func (b *boostConsole) reported(t string) bool {
	if t[0] != ' ' {
		b.closeReport()
		return false
	}
	if !b.failing {
		model.Passing(b.out)
	}
	s := strings.TrimLeft(t, " ")
	name, rest, ok := strings.Cut(strings.TrimPrefix(s, `Test case "`), `" `)
	if f := b.byKey[name]; ok && len(name) < len(s) && f != nil && strings.HasPrefix(rest, "has passed") {
		b.tests = slices.DeleteFunc(b.tests, func(g *failtext.Failure) bool { return g == f })
	}
	return true
}

func (b *boostConsole) closeReport() {
	b.report = false
	b.close(b.failing, "")
}

var (
	boostCheckpoint = lazyregexp.New(`^(\S.*?)\((\d+)\): last checkpoint`)
	boostPlace      = lazyregexp.New(`^\S.*?\(\d+\): `)
	boostExpects    = lazyregexp.New(`\((\d+) (?:failures?|errors?) (?:is|are) expected\)`)
)

// expected takes away the failures that are expected where that is certain: if
// all are, or if a single test failed as often as failures are expected. The log
// marks none.
func (b *boostConsole) expected(n, all int) {
	if n == 0 {
		return
	}
	total := 0
	var only *failtext.Failure
	for _, f := range b.tests {
		total += b.times[f]
		if b.times[f] == n && f.Test.Kind == model.KindAssertion {
			if only != nil {
				only = nil
				break
			}
			only = f
		}
	}
	switch {
	case total == n && all == 0:
		b.tests = nil
	case only != nil && b.alone(only, n):
		b.tests = slices.DeleteFunc(b.tests, func(f *failtext.Failure) bool { return f == only })
	}
}

// alone reports whether no other test failed often enough, alone or together
// with others, to be one of which n failures are expected.
func (b *boostConsole) alone(only *failtext.Failure, n int) bool {
	for _, f := range b.tests {
		if f != only && b.times[f] <= n && f.Test.Kind == model.KindAssertion {
			return false
		}
	}
	return true
}

func (b *boostConsole) failed(m []string, t string) {
	b.end = nil // the module goes on: a test printed its end
	f := b.byKey[m[4]]
	if f == nil {
		suite, name := "", m[4]
		if i := strings.LastIndexByte(name, '/'); i > 0 {
			suite, name = strings.ReplaceAll(name[:i], "/", " > "), name[i+1:]
		}
		f = failtext.NewFailure(model.Test{Suite: suite, Name: name, Status: model.Failed, At: b.at, Message: strings.Clone(m[5]), Kind: model.KindAssertion}, failtext.Shrunk(b.lim, len(b.tests)))
		if m[1] != "unknown location" {
			f.Test.File = strings.Clone(m[1])
			f.Test.Line, _, _ = parse.LeadingInt(m[2])
		}
		switch {
		case strings.Contains(m[5], "memory access violation") || strings.Contains(m[5], "signal:") || strings.Contains(m[5], "SIGSEGV") || strings.Contains(m[5], "SIGABRT"):
			f.Test.Kind = model.KindCrash
		case strings.Contains(m[5], "timeout while executing"):
			f.Test.Kind = model.KindTimeout
		case m[3] == "fatal error" && m[1] == "unknown location":
			f.Test.Kind = model.KindError
		}
		if i := strings.Index(m[5], " has failed ["); i > 0 {
			in := strings.TrimSuffix(m[5][i+len(" has failed ["):], "]")
			if a, e, ok := strings.Cut(in, " != "); ok {
				f.Test.Actual, f.Test.Expected = strings.Clone(a), strings.Clone(e)
			}
		}
		if len(b.tests) < 5*b.lim.Failing {
			b.tests = append(b.tests, f)
			b.byKey[strings.Clone(m[4])] = f
		}
	}
	f.Text.Add(t)
	b.cur, b.thrown = f, m[1] == "unknown location"
	b.times[f]++
}

// ended takes a last line. Boost.Test writes an empty line before its own, unless a test left its
// line open; so one without counts only if no other follows.
func (b *boostConsole) ended(t string, blank bool) bool {
	m := boostEnd.FindStringSubmatch(t)
	aborted := boostAbort.MatchString(t)
	if m == nil && !aborted {
		return false
	}
	if aborted {
		b.aborted(boostAbort.FindStringSubmatch(t)[1], t)
		return true
	}
	if !blank {
		b.end, b.cur = &boostTotal{failed: m[1] != "", module: strings.Clone(m[2])}, nil
		return true
	}
	if e := boostExpects.FindStringSubmatch(t); e != nil {
		n, _, _ := parse.LeadingInt(e[1])
		all, _, _ := parse.LeadingInt(m[1])
		b.expected(n, all-n)
	}
	b.close(m[1] != "", m[2])
	return true
}

// aborted takes the end of a module that its own fixture ended: what failed bears its name.
func (b *boostConsole) aborted(module, t string) {
	p := model.Problem{Kind: model.KindCrash, Name: "boost-test", Message: strings.Clone(t), At: b.at}
	if i := slices.IndexFunc(b.tests, func(f *failtext.Failure) bool { return f.Test.Suite == "" && f.Test.Name == module }); i >= 0 {
		f := b.tests[i]
		b.tests = slices.Delete(b.tests, i, i+1)
		p.Kind, p.Name, p.File, p.Line, p.At = model.KindSetup, module, f.Test.File, f.Test.Line, f.Test.At
		p.Message, p.Trace = f.Test.Message, f.Text.String()+"\n"+t
	}
	b.out.Problem(p)
	b.close(false, "")
}

// close ends the module with what its last lines say.
func (b *boostConsole) close(failed bool, module string) {
	if !failed {
		b.tests = nil // what a test printed: Boost.Test itself says that none failed
	}
	named := b.emit()
	b.anon.Emit(b.out, b.cases-named, model.Test{Status: model.Passed, At: b.at})
	if failed && named == 0 {
		b.out.Problem(model.Problem{Kind: model.KindPackage, Name: parse.FirstOf(module, "boost-test"), At: b.at, Message: "failures are stated, none is named"})
	}
	b.open, b.end = false, nil
}

func (b *boostConsole) emit() int {
	for _, f := range b.tests {
		f.Test.Trace = f.Text.String()
		b.out.Test(f.Test)
	}
	n := len(b.tests)
	b.tests, b.cur, b.byKey = nil, nil, map[string]*failtext.Failure{}
	return n
}

func (b *boostConsole) End() {
	switch {
	case b.report:
		b.closeReport()
	case b.end != nil:
		b.close(b.end.failed, b.end.module)
	}
	if b.open {
		b.emit()
		b.out.Problem(model.Problem{Kind: model.KindTruncated, At: b.at, Message: "the output of Boost.Test ends before its totals"})
	}
	b.open = false
}
