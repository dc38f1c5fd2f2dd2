package python

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/jsonstream"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// pytestJSONFormat reads what pytest-json-report writes.
var pytestJSONFormat = format.Format{
	Name:  "pytest-json",
	Order: 240,
	Opens: []string{"created", "duration", "exitcode"}, Document: readPytestJSON, SelfDelimiting: true,
	Detect: jsonstream.Detect(`"exitcode"`, func(h jsonstream.Head) bool {
		return h.Has("exitcode", "root") && h.Any("summary", "tests", "created", "environment")
	}),
}

func readPytestJSON(d *format.Document) error {
	return jsonstream.ReadDocument(d, "pytest-json", func(r *jsonstream.Reader) bool {
		at := r.At()
		known := false
		n := failtext.NewTally(d)
		failed, declared, passed, problems, tests, exit := 0, 0, 0, 0, 0, 0
		whole := r.Object(func(key string) {
			switch key {
			case "exitcode":
				exit, known = r.Int(), true
			case "summary":
				r.Object(func(key string) {
					switch key {
					case "failed", "error":
						declared += r.Int()
					case "passed":
						passed = r.Int()
					}
				})
			case "collectors":
				r.Array(func() {
					if p, ok := pytestCollector(r); ok {
						problems++
						d.Out.Problem(p)
					}
				})
			case "tests":
				known = true
				r.Array(func() {
					t, ok := pytestJSONTest(r)
					if !ok {
						return
					}
					tests++
					if t.Status == model.Failed {
						failed++
					}
					d.Out.Test(t)
				})
			}
		})
		if !whole {
			return known
		}
		if problems == 0 {
			failtext.UnnamedFailures(d.Out, at, declared, failed, "pytest")
		}
		if tests > 0 {
			n.Fewer("pytest", at, passed, n.Passed)
		}
		if p, ok := pytestExit(exit, failed > 0 || problems > 0); ok {
			p.At = at
			d.Out.Problem(p)
		}
		return known
	})
}

// pytestExit says what pytest's exit status tells beyond failed tests.
func pytestExit(status int, named bool) (model.Problem, bool) {
	p := model.Problem{Kind: model.KindExit, Name: "pytest"}
	switch {
	case status == 0 || status == 1 && named:
		return p, false
	case status == 1:
		p.Message = "pytest ended with exit status 1, but no test failed"
	case status == 2 && named:
		return p, false // collection errors end so
	case status == 2:
		p.Kind, p.Message = model.KindTruncated, "pytest was interrupted"
	case status == 3:
		p.Kind, p.Message = model.KindCrash, "pytest ended with an internal error"
	case status == 4:
		p.Kind, p.Message = model.KindSetup, "pytest ended with a usage error"
	case status == 5:
		p.Kind, p.Message = model.KindEmpty, "pytest collected no tests"
	default:
		p.Message = "pytest ended with exit status " + strings.TrimPrefix(parse.Plural(status, ""), " ")
	}
	return p, true
}

// pytestNode splits a node id into the file and classes, and the test's name
// with its parameters, in which "::" may stand.
func pytestNode(id string) (file, suite, name string) {
	head, params := id, ""
	if i := strings.IndexByte(id, '['); i >= 0 {
		head, params = id[:i], id[i:]
	}
	file, _, _ = strings.Cut(head, "::")
	i := strings.LastIndex(head, "::")
	if i < 0 {
		return file, "", id
	}
	return file, head[:i], head[i+2:] + params
}

func pytestCollector(r *jsonstream.Reader) (model.Problem, bool) {
	p := model.Problem{Kind: model.KindSetup, At: r.At()}
	var outcome string
	whole := r.Object(func(key string) {
		switch key {
		case "nodeid":
			p.Name = r.Short(1000)
		case "outcome":
			outcome = r.Short(40)
		case "longrepr":
			repr := pytestRepr(r)
			p.Trace = repr.text()
		}
	})
	if outcome != "failed" {
		return p, false
	}
	return pytestCollect(p), whole
}

// pytestCollect fills the problem of a file that could not be collected from
// its trace.
func pytestCollect(p model.Problem) model.Problem {
	p.File = p.Name
	p.Message = pytestLast(p.Trace)
	if f, l := failtext.PlaceIn(p.Trace, "", p.Name); f != "" {
		p.File, p.Line = f, l
	}
	if strings.HasPrefix(p.Message, "SyntaxError") || strings.HasPrefix(p.Message, "IndentationError") {
		p.Kind = model.KindBuild
	}
	return p
}

// pytestLast returns the last line marked with E, else the last line at all.
func pytestLast(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if e, ok := strings.CutPrefix(lines[i], "E  "); ok {
			return strings.TrimSpace(e)
		}
	}
	return strings.TrimSpace(lines[len(lines)-1])
}

// pytestPhase is the result of the set-up, the call or the tear-down of a test.
type pytestPhase struct {
	when, outcome string
	repr          pytestLong
	skip          string
	output        string
	duration      float64
	xfail         bool
	at            int
}

func pytestJSONTest(r *jsonstream.Reader) (model.Test, bool) {
	t := model.Test{At: r.At()}
	var id, outcome string
	var phases []pytestPhase
	whole := r.Object(func(key string) {
		switch key {
		case "nodeid":
			id = r.Short(4000)
		case "lineno":
			t.Line = max(r.Int()+1, 0)
		case "outcome":
			outcome = r.Short(40)
		case "setup", "call", "teardown":
			phases = append(phases, pytestJSONPhase(r, key))
		}
	})
	if id == "" || len(phases) > 10 {
		return t, false
	}
	t.File, t.Suite, t.Name = pytestNode(id)
	pytestOutcome(&t, outcome)
	for i := range phases {
		p := &phases[i]
		t.Duration += parse.Secs(p.duration)
		if p.outcome == "failed" && t.Status == model.Failed {
			p.fail(&t)
		}
		if p.outcome == "skipped" && t.Status == model.Skipped {
			t.Message = p.skipReason()
		}
	}
	return t, whole || t.Status == model.Failed
}

func pytestOutcome(t *model.Test, outcome string) {
	switch outcome {
	case "passed", "xpassed":
		t.Status = model.Passed
	case "failed", "error":
		t.Status = model.Failed
	case "skipped", "xfailed":
		t.Status = model.Skipped
	default:
		t.Status = model.Other
	}
}

func pytestJSONPhase(r *jsonstream.Reader, when string) pytestPhase {
	p := pytestPhase{when: when}
	crash := pytestLong{}
	r.Object(func(key string) {
		switch key {
		case "outcome":
			p.outcome = r.Short(40)
		case "duration":
			p.duration = r.Float()
		case "longrepr":
			p.repr = pytestRepr(r)
		case "crash":
			crash.crash(r)
		case "stdout", "stderr":
			p.output += r.Str()
		}
	})
	p.repr.message, p.repr.file, p.repr.line = parse.FirstOf(crash.message, p.repr.message), parse.FirstOf(crash.file, p.repr.file), max(crash.line, p.repr.line)
	return p
}

// fail takes the phase's failure as the test's; of several, the first is the
// message and all are in the trace.
func (p *pytestPhase) fail(t *model.Test) {
	text := p.repr.text()
	if t.Trace != "" {
		t.Trace += "\n\n" + text
		return
	}
	t.Trace = text
	t.Message = parse.FirstOf(p.repr.message, pytestLast(text))
	if msg := strings.TrimSpace(t.Message); msg != "" {
		t.Message = msg
	}
	t.Output = strings.TrimSpace(p.output)
	t.Kind, t.Type = pytestKind(t.Message)
	if p.when != "call" && p.when != "" {
		t.Kind = model.KindSetup
	}
	if e, a, ok := failtext.SplitAssertion(t.Message); ok {
		t.Expected, t.Actual = e, a
	}
}

// pytestKind tells by the first line of a failure what it was.
func pytestKind(msg string) (model.Kind, string) {
	head := parse.HeadLine(msg)
	typ := ""
	if failtext.ExceptionMessage.MatchString(head) {
		typ, _, _ = strings.Cut(head, ":")
	}
	switch {
	case strings.HasPrefix(head, "Failed: Timeout"):
		return model.KindTimeout, "Failed"
	case strings.HasPrefix(head, "assert "), strings.HasSuffix(typ, "AssertionError"), strings.HasPrefix(head, "Failed: "):
		return model.KindAssertion, typ
	case typ != "":
		return model.KindError, strings.TrimSpace(typ)
	}
	return model.KindAssertion, ""
}

func (p *pytestPhase) skipReason() string {
	return strings.TrimPrefix(parse.FirstOf(p.skip, p.repr.message, p.repr.whole), "Skipped: ")
}

// pytestReportLogFormat reads the lines that pytest-reportlog writes.
var pytestReportLogFormat = format.Format{
	Name:  "pytest-reportlog",
	Order: 310, Machine: true,
	Begins: "{",
	Console: func(out model.Sink, lim model.Limits) format.Console {
		return &reportLog{out: out, lim: lim, open: map[string]*reportLogTest{}, reruns: map[string]*reportLogTest{}}
	},
}

// reportLog gathers the phases of each test. Workers of pytest-xdist mix
// theirs.
type reportLog struct {
	out      model.Sink
	lim      model.Limits
	r        jsonstream.Reader
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
	t       model.Test
	phases  []pytestPhase
	retries int
}

func (g *reportLog) Line(l lines.Line) bool {
	t := l.Text
	if len(t) < 16 || t[0] != '{' || !strings.Contains(t, `"$report_type"`) {
		return false
	}
	e := g.event(l)
	if g.r.Err != nil && l.Cut == 0 {
		return false
	}
	switch e.kind {
	case "SessionStart":
		g.End()
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
			g.out.Problem(pytestCollect(model.Problem{Kind: model.KindSetup, Name: e.id, Trace: e.phase.repr.text(), At: l.No}))
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

func (g *reportLog) event(l lines.Line) reportLogEvent {
	e := reportLogEvent{}
	r := &g.r
	r.Reset(l.Text, g.lim, l.No)
	e.phase.at = l.No
	r.Object(func(key string) {
		switch key {
		case "$report_type":
			e.kind = r.Short(40)
		case "nodeid":
			e.id = r.Short(4000)
		case "exitstatus":
			e.status = r.Int()
		case "when":
			e.phase.when = r.Short(40)
		case "outcome":
			e.phase.outcome = r.Short(40)
		case "duration":
			e.phase.duration = r.Float()
		case "wasxfail":
			e.phase.xfail = true
		case "location":
			n := 0
			r.Array(func() {
				switch n++; n {
				case 1:
					e.file = r.Short(1000)
				case 2:
					if r.Peek() != 'n' {
						e.line = max(r.Int()+1, 0)
					}
				}
			})
		case "longrepr":
			if r.Peek() == '[' { // of a skip: file, line, reason
				n := 0
				r.Array(func() {
					if n++; n == 3 {
						e.phase.skip = r.Str()
					}
				})
				return
			}
			e.phase.repr = pytestRepr(r)
		case "sections":
			r.Array(func() {
				n := 0
				r.Array(func() {
					if n++; n == 2 && len(e.phase.output) < g.lim.Text {
						e.phase.output += r.Str()
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
		t = &reportLogTest{t: model.Test{At: at, Line: e.line}}
		t.t.File, t.t.Suite, t.t.Name = pytestNode(e.id)
		t.t.File = parse.FirstOf(e.file, t.t.File)
		g.open[e.id] = t
		g.order = append(g.order, e.id)
		if len(g.order) > 2*len(g.open)+1000 {
			g.compact()
		}
	}
	t.t.Duration += parse.Secs(e.phase.duration)
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
	t.Status = model.Other
	for i := range run.phases {
		p := &run.phases[i]
		switch p.outcome {
		case "rerun":
			rerun = true
			p.fail(t)
			t.At = p.at
		case "failed":
			if t.Status != model.Failed {
				t.At = p.at
			}
			t.Status = model.Failed
			p.fail(t)
		case "skipped":
			if t.Status != model.Failed {
				t.Status, t.Message = model.Skipped, p.skipReason()
			}
		case "passed":
			if t.Status == model.Other {
				t.Status = model.Passed
			}
		}
	}
	before := g.reruns[id]
	if before != nil {
		t.Retries = before.retries
		delete(g.reruns, id)
	}
	if rerun && t.Status == model.Other {
		run.retries = t.Retries + 1
		run.phases = nil
		g.reruns[id] = run
		return
	}
	if t.Status == model.Passed && before != nil {
		b := before.t
		t.Flaky = true
		t.Message, t.Trace, t.Kind, t.Type, t.At = b.Message, b.Trace, b.Kind, b.Type, b.At
		t.Expected, t.Actual = b.Expected, b.Actual
	}
	g.named = g.named || t.Status == model.Failed
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
			g.out.Problem(model.Problem{Kind: model.KindTruncated, Name: id, File: run.t.File, Line: run.t.Line, At: run.t.At, Message: "the report ends before this test does"})
			continue
		}
		g.finish(id, run)
	}
	g.order = g.order[:0]
	for _, id := range slices.Sorted(maps.Keys(g.reruns)) {
		run := g.reruns[id]
		run.t.Status, run.t.Retries = model.Failed, run.retries
		delete(g.reruns, id)
		g.named = true
		g.out.Test(run.t)
	}
}

func (g *reportLog) End() {
	if !g.started || g.finished {
		return
	}
	g.flush(true)
	g.out.Problem(model.Problem{Kind: model.KindTruncated, Name: "pytest", At: g.at, Message: fmt.Sprintf("pytest's report log breaks off at line %d", g.at)})
	g.started = false
}

// pytestLong is what pytest calls a longrepr: how a failure is shown, a text
// or an object with entries.
type pytestLong struct {
	whole   string
	lines   strings.Builder
	message string // of the crash
	file    string
	line    int
}

func (l *pytestLong) text() string {
	return strings.Trim(parse.FirstOf(l.whole, l.lines.String(), l.message), "\n")
}

// crash reads the place and the words of the exception.
func (l *pytestLong) crash(r *jsonstream.Reader) {
	r.Object(func(key string) {
		switch key {
		case "path":
			l.file = r.Short(1000)
		case "lineno":
			l.line = max(r.Int(), 0)
		case "message":
			l.message = strings.TrimSpace(r.Str())
		}
	})
}

func (l *pytestLong) add(s string, max int) {
	if l.lines.Len() < max {
		l.lines.WriteString(s)
		l.lines.WriteByte('\n')
	}
}

// pytestRepr reads a longrepr.
func pytestRepr(r *jsonstream.Reader) pytestLong {
	l := &pytestLong{}
	if r.Peek() != '{' {
		l.whole = r.Str()
		return *l
	}
	r.Object(func(key string) {
		switch key {
		case "reprcrash":
			l.crash(r)
		case "longrepr":
			l.whole = r.Str() // of a file that could not be collected
		case "reprtraceback":
			l.traceback(r)
		}
	})
	return pytestLong{whole: strings.Trim(parse.FirstOf(l.whole, l.lines.String()), "\n"), message: l.message, file: l.file, line: l.line}
}

func (l *pytestLong) traceback(r *jsonstream.Reader) {
	extra := ""
	r.Object(func(key string) {
		switch key {
		case "extraline":
			extra = r.Str()
		case "reprentries":
			r.Array(func() {
				r.Object(func(key string) {
					if key == "data" {
						l.entry(r)
					}
				})
			})
		}
	})
	if extra != "" {
		l.add(extra, r.Text)
	}
}

func (l *pytestLong) entry(r *jsonstream.Reader) {
	var place string
	r.Object(func(key string) {
		switch key {
		case "lines":
			r.Array(func() { l.add(r.Short(4000), r.Text) })
		case "reprfileloc":
			var at pytestLong
			at.crash(r)
			if at.file != "" {
				place = at.file + ":" + strconv.Itoa(at.line) + ": " + at.message
			}
		}
	})
	if place != "" {
		l.add("\n"+place, r.Text)
	}
}
