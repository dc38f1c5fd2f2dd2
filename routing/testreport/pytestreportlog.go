package testreport

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// pytestReportLogFormat reads the lines that pytest-reportlog writes.
var pytestReportLogFormat = format{
	name:  "pytest-reportlog",
	order: 310, machine: true,
	begins: "{",
	console: func(out Sink, lim Limits) console {
		return &reportLog{out: out, lim: lim, open: map[string]*reportLogTest{}, reruns: map[string]*reportLogTest{}}
	},
}

// reportLog gathers the phases of each test. Workers of pytest-xdist mix
// theirs.
type reportLog struct {
	out      Sink
	lim      Limits
	r        jsonReader
	open     map[string]*reportLogTest // by node id, not torn down yet
	reruns   map[string]*reportLogTest // attempts that failed and are run again
	order    []string                  // of open, for those without an end
	started  bool
	finished bool
	named    bool // a failure was named
	at       int
}

// reportLogTest is one run of one test.
type reportLogTest struct {
	t       Test
	phases  []pytestPhase
	retries int
}

func (g *reportLog) line(l Line) bool {
	t := l.Text
	if len(t) < 16 || t[0] != '{' || !strings.Contains(t, `"$report_type"`) {
		return false
	}
	e := g.event(l)
	if g.r.err != nil && l.Cut == 0 {
		return false
	}
	switch e.kind {
	case "SessionStart":
		g.end()
		g.started, g.finished, g.named = true, false, false
	case "SessionFinish":
		g.flush(false)
		if p, ok := pytestExit(e.status, g.named); ok {
			p.At = l.No
			g.out.Problem(p)
		}
		g.started, g.finished = false, true
	case "CollectReport":
		g.started = true
		if e.phase.outcome == "failed" {
			g.named = true
			g.out.Problem(pytestCollect(Problem{Kind: KindSetup, Name: e.id, Trace: e.phase.repr.text(), At: l.No}))
		}
	case "TestReport":
		g.started = true
		g.report(e, l.No)
	case "WarningMessage":
	default:
		return false
	}
	g.at = l.No
	return true
}

// reportLogEvent is one line.
type reportLogEvent struct {
	kind, id string
	status   int
	phase    pytestPhase
	file     string
	line     int
}

func (g *reportLog) event(l Line) reportLogEvent {
	e := reportLogEvent{}
	r := &g.r
	r.reset(l.Text, g.lim, l.No)
	e.phase.at = l.No
	r.object(func(key string) {
		switch key {
		case "$report_type":
			e.kind = r.short(40)
		case "nodeid":
			e.id = r.short(4000)
		case "exitstatus":
			e.status = r.int()
		case "when":
			e.phase.when = r.short(40)
		case "outcome":
			e.phase.outcome = r.short(40)
		case "duration":
			e.phase.duration = r.float()
		case "wasxfail":
			e.phase.xfail = true
		case "location":
			n := 0
			r.array(func() {
				switch n++; n {
				case 1:
					e.file = r.short(1000)
				case 2:
					if r.peek() != 'n' {
						e.line = max(r.int()+1, 0)
					}
				}
			})
		case "longrepr":
			if r.peek() == '[' { // of a skip: file, line, reason
				n := 0
				r.array(func() {
					if n++; n == 3 {
						e.phase.skip = r.str()
					}
				})
				return
			}
			e.phase.repr = pytestRepr(r)
		case "sections":
			r.array(func() {
				n := 0
				r.array(func() {
					if n++; n == 2 && len(e.phase.output) < g.lim.Text {
						e.phase.output += r.str()
					}
				})
			})
		}
	})
	return e
}

func (g *reportLog) report(e reportLogEvent, at int) {
	t := g.open[e.id]
	if t == nil {
		t = &reportLogTest{t: Test{At: at, Line: e.line}}
		t.t.File, t.t.Suite, t.t.Name = pytestNode(e.id)
		t.t.File = firstOf(e.file, t.t.File)
		g.open[e.id] = t
		g.order = append(g.order, e.id)
		if len(g.order) > 2*len(g.open)+1000 {
			g.compact()
		}
	}
	t.t.Duration += secs(e.phase.duration)
	if e.phase.outcome != "passed" || e.phase.when == "call" {
		t.phases = append(t.phases, e.phase)
	}
	if e.phase.when == "teardown" {
		delete(g.open, e.id)
		g.finish(e.id, t)
	}
}

func (g *reportLog) compact() {
	kept := g.order[:0]
	for _, id := range g.order {
		if g.open[id] != nil {
			kept = append(kept, id)
		}
	}
	g.order = kept
}

// finish takes a test that was torn down.
func (g *reportLog) finish(id string, run *reportLogTest) {
	t := &run.t
	rerun := false
	t.Status = Other
	for i := range run.phases {
		p := &run.phases[i]
		switch p.outcome {
		case "rerun":
			rerun = true
			p.fail(t)
			t.At = p.at
		case "failed":
			if t.Status != Failed {
				t.At = p.at
			}
			t.Status = Failed
			p.fail(t)
		case "skipped":
			if t.Status != Failed {
				t.Status, t.Message = Skipped, p.skipReason()
			}
		case "passed":
			if t.Status == Other {
				t.Status = Passed
			}
		}
	}
	before := g.reruns[id]
	if before != nil {
		t.Retries = before.retries
		delete(g.reruns, id)
	}
	if rerun && t.Status == Other {
		run.retries = t.Retries + 1
		run.phases = nil
		g.reruns[id] = run
		return
	}
	if t.Status == Passed && before != nil {
		b := before.t
		t.Flaky = true
		t.Message, t.Trace, t.Kind, t.Type, t.At = b.Message, b.Trace, b.Kind, b.Type, b.At
		t.Expected, t.Actual = b.Expected, b.Actual
	}
	g.named = g.named || t.Status == Failed
	g.out.Test(*t)
}

// flush ends the tests that were not torn down.
func (g *reportLog) flush(broken bool) {
	for _, id := range g.order {
		run := g.open[id]
		if run == nil {
			continue
		}
		delete(g.open, id)
		failed := false
		for _, p := range run.phases {
			failed = failed || p.outcome == "failed"
		}
		if !failed && broken {
			g.out.Problem(Problem{Kind: KindTruncated, Name: id, File: run.t.File, Line: run.t.Line, At: run.t.At, Message: "the report ends before this test does"})
			continue
		}
		g.finish(id, run)
	}
	g.order = g.order[:0]
	for _, id := range slices.Sorted(maps.Keys(g.reruns)) {
		run := g.reruns[id]
		run.t.Status, run.t.Retries = Failed, run.retries
		delete(g.reruns, id)
		g.named = true
		g.out.Test(run.t)
	}
}

func (g *reportLog) end() {
	if !g.started || g.finished {
		return
	}
	g.flush(true)
	g.out.Problem(Problem{Kind: KindTruncated, Name: "pytest", At: g.at, Message: fmt.Sprintf("pytest's report log breaks off at line %d", g.at)})
	g.started = false
}
