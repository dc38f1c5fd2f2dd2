package generic

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// eunitFormat reads the text output of EUnit, Erlang's library.
var eunitFormat = format.Format{
	Name:  "eunit",
	Order: 870,
	Wakes: &format.Wake{Ends: "*.", Indent: "FAT", Flush: "="},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		return &eunitConsole{out: out, lim: lim, anon: model.NewAnonymous(lim)}
	},
}

type eunitConsole struct {
	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous

	rule      bool // "=====" was read: the totals follow
	cur       *failtext.Entry
	tests     []*failtext.Entry
	fixtures  []*failtext.Entry // set-ups and clean-ups that failed
	quoted    []int             // totals that a test may have printed: failed, skipped, passed, line
	cancelled int               // line that says that tests were
}

var (
	eunitFailed  = lazyregexp.New(`^\s*(?:([\w@]+):\s?)?(?:(\d+):? )?(.+?)\.\.\.(?:\[[\d.]+ s\] )?\*(failed|timed out|did not run)\*$`)
	eunitTotals  = lazyregexp.New(`^  Failed: (\d+)\.  Skipped: (\d+)\.  Passed: (\d+)\.$`)
	eunitGreen   = lazyregexp.New(`^  All (\d+) tests passed\.$`)
	eunitFixture = lazyregexp.New(`^\*\*\* (\w+ (?:setup|cleanup) failed) \*\*\*$`)
	eunitIn      = lazyregexp.New(`(?m)^\*\*in function .+ \((\S+), line (\d+)\)$`)
	eunitThrown  = lazyregexp.New(`^\*\*(error|exit|throw):`)
)

func (c *eunitConsole) Idle() bool {
	return !c.rule && c.quoted == nil && c.cur == nil && len(c.tests) == 0 && len(c.fixtures) == 0 && c.cancelled == 0
}

func (c *eunitConsole) Line(l lines.Line) bool {
	if l.Mark != "" {
		if lines.StepOver(l) {
			c.End()
		}
		return false
	}
	t := strings.TrimRight(l.Text, " ")
	switch {
	case t == "":
		c.cur = nil
		return false
	case len(t) > 50 && t[0] == '=' && parse.OnlyOf(t, '=', 50):
		c.rule, c.cur = true, nil
		return false
	case strings.HasPrefix(t, "  Failed: "):
		if m := eunitTotals.FindStringSubmatch(t); m != nil {
			if !c.rule && len(c.tests) == 0 { // they stand below the failures and a rule: a test may have printed them
				c.quoted = []int{atoi(m[1]), atoi(m[2]), atoi(m[3]), l.No}
				return true
			}
			c.totals(atoi(m[1]), atoi(m[2]), atoi(m[3]), l.No)
			return true
		}
	case (c.rule || c.quoted != nil) && strings.HasPrefix(t, "  All "), t == "  Test passed.", t == "  2 tests passed.":
		if m := eunitGreen.FindStringSubmatch(t); m != nil {
			c.totals(0, 0, atoi(m[1]), l.No)
			return true
		}
		if t == "  Test passed." || t == "  2 tests passed." {
			c.totals(0, 0, 1+atoi(strings.TrimSpace(t))/2, l.No)
			return true
		}
	case t == "  There were no tests to run." && (c.rule || len(c.tests) > 0):
		c.out.Problem(model.Problem{Kind: model.KindEmpty, Name: "eunit", Message: strings.TrimSpace(t), At: l.No})
		c.reset()
		return true
	case strings.HasPrefix(t, "One or more tests were cancelled"):
		c.cancelled = l.No
		return true
	case t[len(t)-1] == '*':
		if m := eunitFailed.FindStringSubmatch(t); m != nil {
			c.failed(m, l.No)
			return true
		}
		if m := eunitFixture.FindStringSubmatch(strings.TrimLeft(t, " ")); m != nil && len(c.fixtures) < c.lim.Failing {
			c.cur = failtext.NewEntry(failtext.Shrunk(c.lim, len(c.fixtures)), model.Test{Name: m[1], At: l.No})
			c.fixtures = append(c.fixtures, c.cur)
			return true
		}
	}
	if c.cur == nil {
		return false
	}
	if c.cur.Lines > failtext.FailureLines || strings.HasPrefix(t, "  output:<<") {
		c.cur = nil
		return true
	}
	c.cur.Add(t)
	return true
}

func (c *eunitConsole) failed(m []string, at int) {
	t := model.Test{Suite: m[1], Name: m[3], At: at, Kind: model.KindError}
	if m[4] == "timed out" {
		t.Kind, t.Message = model.KindTimeout, "timed out"
	}
	// "-named_test_/0-fun-1- (the title)" is a test that a generator made.
	if i := strings.Index(t.Name, " ("); i > 0 && strings.HasSuffix(t.Name, ")") && strings.HasPrefix(t.Name, "-") {
		t.Name = t.Name[i+2 : len(t.Name)-1]
	}
	if i := strings.LastIndex(t.Name, " (module '"); i > 0 { // of a module with a single test
		t.Name = t.Name[:i]
	}
	c.cur = failtext.NewEntry(failtext.Shrunk(c.lim, len(c.tests)), t)
	if m[2] != "" && m[1] != "" {
		c.cur.Test.File, c.cur.Test.Line = m[1]+".erl", atoi(m[2])
	}
	if len(c.tests) < 5*c.lim.Failing {
		c.tests = append(c.tests, c.cur)
	}
}

func (c *eunitConsole) totals(failed, skipped, passed, at int) {
	if failed > 0 {
		for _, f := range c.tests {
			c.out.Test(eunitTest(f))
		}
		failtext.Unnamed(c.out, "eunit", failed, len(c.tests), at)
	}
	c.anon.Emit(c.out, passed, model.Test{Status: model.Passed, At: at})
	c.anon.Emit(c.out, skipped, model.Test{Status: model.Skipped, At: at})
	c.emitFixtures()
	if c.cancelled > 0 && len(c.fixtures) == 0 {
		c.out.Problem(model.Problem{Kind: model.KindSetup, Name: "eunit", Message: "One or more tests were cancelled.", At: c.cancelled})
	}
	c.reset()
}

// emitFixtures reports what failed before and behind tests, which the totals do not count.
func (c *eunitConsole) emitFixtures() {
	for _, f := range c.fixtures {
		t := eunitTest(f)
		if m := eunitIn.FindStringSubmatch(t.Trace); m != nil {
			t.File, t.Line = m[1], atoi(m[2])
		}
		c.out.Problem(model.Problem{Kind: model.KindSetup, Name: t.Name, File: t.File, Line: t.Line, Message: parse.FirstOf(t.Message, t.Name), Trace: t.Trace, At: t.At})
	}
}

// eunitTest completes an entry: the exception stands below the frames.
func eunitTest(f *failtext.Entry) model.Test {
	lines := strings.Split(f.Text.String(), "\n")
	for i, l := range lines {
		if eunitThrown.MatchString(l) {
			f.Test.Message = strings.TrimLeft(strings.Join(lines[i:min(len(lines), i+30)], "\n"), "*")
			break
		}
	}
	if strings.HasPrefix(f.Test.Message, "error:{assert") {
		f.Test.Kind = model.KindAssertion
	}
	return f.Done()
}

func (c *eunitConsole) reset() { *c = eunitConsole{out: c.out, lim: c.lim, anon: c.anon} }

func (c *eunitConsole) End() {
	if q := c.quoted; q != nil {
		c.totals(q[0], q[1], q[2], q[3])
	}
	if len(c.tests) > 0 || len(c.fixtures) > 0 {
		at := 0
		for _, f := range c.fixtures {
			at = max(at, f.Test.At)
		}
		c.emitFixtures()
		for _, f := range c.tests {
			at = max(at, f.Test.At)
			c.out.Test(eunitTest(f))
		}
		c.out.Problem(failtext.CutOff("eunit", "EUnit's output ends before its totals", at))
	}
	c.reset()
}
