package jvm

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// junitTextFormat reads JUnit's own text runners: org.junit.runner.JUnitCore,
// junit.textui.TestRunner of JUnit 3, and what prints the same after them
// (Bazel's java_test, Android's instrumentation).
var junitTextFormat = format.Format{
	Name:  "junit-text",
	Order: 420,
	Wakes: &format.Wake{Flush: "JT"},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		return &junitText{out: out, lim: lim, anon: model.NewAnonymous(lim)}
	},
}

type junitText struct {
	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous

	state  junitTextState
	named  bool // the runner named itself, and tests ran
	at     int
	stated int                 // failures and errors announced
	next   int                 // number of the next entry
	tests  []*failtext.Failure // classes that failed as a whole too, these without a name
	cur    *failtext.Failure
	byName map[string]*failtext.Failure
}

type junitTextState int

const (
	junitTextIdle  junitTextState = iota
	junitTextNamed                // the runner named itself; a progress line is to follow
	junitTextRun                  // tests run
	junitTextTimed                // "Time: 0.05", which other tools print too
	junitTextList                 // in the list of failures
)

var (
	junitTextVersion = lazyregexp.New(`^JUnit version \d[\w.-]*$`)
	junitTextTime    = lazyregexp.New(`^Time: \d[\d.,]*$`)
	junitTextOK      = lazyregexp.New(`^OK \((\d+) tests?\)$`)
	junitTextTotals  = lazyregexp.New(`^Tests run: (\d+),  Failures: (\d+)(?:,  Errors: (\d+))?$`)
	junitTextFailed  = lazyregexp.New(`^There (?:was|were) (\d+) (?:failure|error)s?:$`)
	// JUnit 3 writes the exception behind the name.
	junitTextOld   = lazyregexp.New(`^(.+?)\(([\w.$]+)\)([\w$]+\.[\w.$]+(?:: .*)?)$`)
	junitTextEntry = lazyregexp.New(`^(.+)\(([^()]+)\)$`)
)

func (j *junitText) Idle() bool { return j.state == junitTextIdle }

func (j *junitText) Line(l lines.Line) bool {
	if lines.StepOver(l) {
		j.End()
		return false
	}
	if l.Mark != "" {
		return false
	}
	t := l.Text
	if t != "" {
		j.at = l.No
	}
	switch {
	case t == "":
		if j.cur != nil {
			j.cur.Text.Add("")
		}
		return false
	case t[0] == 'J' && (t == "JUnit4 Test Runner" || junitTextVersion.MatchString(t)):
		j.End()
		j.state, j.at = junitTextNamed, l.No
		return false // a log may only tell the versions of its tools
	case t[0] == 'T' && junitTextTime.MatchString(t) && j.state != junitTextList:
		// Without its own name before it, the next lines must be the runner's.
		j.state = max(j.state, junitTextTimed)
		return false
	}
	switch j.state {
	case junitTextNamed:
		j.state = junitTextIdle
		if t[0] == '.' || t[0] == 'I' || t[0] == 'E' {
			j.state, j.named = junitTextRun, true
			return true
		}
	case junitTextTimed:
		return j.verdict(t)
	case junitTextList:
		return j.listed(t)
	}
	return false
}

// verdict reads what follows the time.
func (j *junitText) verdict(t string) bool {
	if m := junitTextOK.FindStringSubmatch(t); m != nil {
		n, _, _ := parse.LeadingInt(m[1])
		j.anon.Emit(j.out, n, model.Test{Status: model.Passed, At: j.at})
		j.reset()
		return true
	}
	if m := junitTextFailed.FindStringSubmatch(t); m != nil {
		n, _, _ := parse.LeadingInt(m[1])
		j.stated, j.next = j.stated+n, 1
		j.state, j.cur = junitTextList, nil
		return true
	}
	if j.named {
		j.state = junitTextRun // a test printed what looked like the runner's line
		return false
	}
	j.reset()
	return false
}

// listed reads the entries "1) name(class)" and the totals behind them.
func (j *junitText) listed(t string) bool {
	switch {
	case t[0] == 'T' && junitTextFailed.MatchString(t):
		return j.verdict(t)
	case t == "FAILURES!!!":
		j.cur = nil
		return true
	case t[0] == 'T':
		if m := junitTextTotals.FindStringSubmatch(t); m != nil {
			j.totals(m)
			return true
		}
	case t[0] >= '0' && t[0] <= '9':
		if n, rest, ok := parse.LeadingInt(t); ok && n == j.next && strings.HasPrefix(rest, ") ") {
			j.next++
			j.entry(rest[2:])
			return true
		}
	}
	if j.cur != nil {
		j.cur.Text.Add(t)
		return true
	}
	return false
}

func (j *junitText) entry(head string) {
	t := model.Test{Status: model.Failed, At: j.at, Name: head}
	text := ""
	if m := junitTextOld.FindStringSubmatch(head); m != nil {
		t.Name, t.Suite, text = m[1], m[2], m[3]
	} else if m := junitTextEntry.FindStringSubmatch(head); m != nil {
		t.Name, t.Suite = m[1], m[2]
	} else {
		t.Name, t.Suite, t.Kind = "", head, model.KindSetup
	}
	if t.Name == "initializationError" {
		t.Kind = model.KindSetup
	}
	key := t.Suite + "\x00" + t.Name
	if f := j.byName[key]; f != nil && t.Name != "" {
		j.cur, j.stated = f, j.stated-1 // a further failure of the same test
		f.Text.Add("")
		return
	}
	f := failtext.NewFailure(t, failtext.Shrunk(j.lim, len(j.tests)))
	if text != "" {
		f.Text.Add(text)
	}
	if j.cur = f; len(j.tests) < 5*j.lim.Failing {
		if j.byName == nil {
			j.byName = map[string]*failtext.Failure{}
		}
		j.tests, j.byName[strings.Clone(key)] = append(j.tests, f), f
	}
}

// totals reads "Tests run: 3,  Failures: 1,  Errors: 1". A class that failed as
// a whole is a failure and no test.
func (j *junitText) totals(m []string) {
	run, _, _ := parse.LeadingInt(m[1])
	failures, _, _ := parse.LeadingInt(m[2])
	errors, _, _ := parse.LeadingInt(m[3])
	named := j.emit()
	stated := min(j.stated, failures+errors)
	j.anon.Emit(j.out, run-named-max(0, stated-len(j.tests)), model.Test{Status: model.Passed, At: j.at})
	failtext.Unnamed(j.out, "junit", stated, len(j.tests), j.at)
	j.reset()
}

// emit hands on what failed and returns how many of it are tests.
func (j *junitText) emit() (tests int) {
	for _, f := range j.tests {
		t := f.JVM()
		if t.Name == "" {
			j.out.Problem(model.Problem{Kind: model.KindSetup, Name: t.Suite, File: t.File, Line: t.Line, Message: t.Message, Trace: t.Trace, At: t.At})
			continue
		}
		tests++
		j.out.Test(t)
	}
	return tests
}

func (j *junitText) reset() { *j = junitText{out: j.out, lim: j.lim, anon: j.anon} }

// End hands on a run without totals: it broke off.
func (j *junitText) End() {
	if j.named || j.state == junitTextList {
		j.emit()
		j.out.Problem(model.Problem{Kind: model.KindTruncated, Name: "junit", At: j.at, Message: "the output of JUnit's text runner ends before its totals"})
	}
	j.reset()
}
