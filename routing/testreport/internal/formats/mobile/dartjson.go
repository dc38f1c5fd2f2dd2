package mobile

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/jsonstream"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// dartJSONFormat reads dart test --reporter json and flutter test --machine.
var dartJSONFormat = format.Format{
	Name:  "dart-json",
	Order: 320, Machine: true,
	Begins:  "{",
	Console: func(out model.Sink, lim model.Limits) format.Console { return &dartJSON{out: out, lim: lim} },
}

// dartJSON follows the events of one run; ids are those of the run.
type dartJSON struct {
	out model.Sink
	lim model.Limits
	r   jsonstream.Reader

	open    bool
	at      int
	suites  map[int]string    // path
	groups  map[int]dartGroup // name
	running map[int]*dartTest
	done    map[int]bool // failed tests whose late errors are known already
	bad     int
	planned int // tests of all suites
	ended   int // tests that were not hidden
	skips   int // a group that is skipped ends as one test
}

type dartGroup struct {
	name   string
	parent int
}

type dartTest struct {
	t     model.Test
	start int
	stack strings.Builder
	load  bool
}

// dartEvent is one line.
type dartEvent struct {
	typ                                   string
	time, id, suite, parent, line, column int
	rootLine                              int
	name, url, rootURL, path              string
	groups                                []int
	skip                                  bool
	skipReason                            string
	test                                  int
	result, errorText, stack, message     string
	hidden, skipped, isFailure            bool
	success, hasSuccess                   bool
	outer                                 bool // a group without one around it
	count                                 int  // of its tests
	protocol                              string
}

func (d *dartJSON) Line(l lines.Line) bool {
	t := l.Text
	if len(t) < 12 || t[0] != '{' || !strings.Contains(t, `"type"`) || !strings.Contains(t, `"time"`) {
		return false
	}
	if !d.open && !strings.Contains(t, `"protocolVersion"`) {
		return false
	}
	e, ok := d.event(l)
	if !ok {
		return false
	}
	if e.typ == "start" && e.protocol != "" {
		d.End()
		*d = dartJSON{out: d.out, lim: d.lim, r: d.r, open: true, at: l.No,
			suites: map[int]string{}, groups: map[int]dartGroup{}, running: map[int]*dartTest{}, done: map[int]bool{}}
		return true
	}
	return d.open && d.take(e, l.No)
}

func (d *dartJSON) event(l lines.Line) (dartEvent, bool) {
	e := dartEvent{test: -1, id: -1}
	r := &d.r
	r.Reset(l.Text, d.lim, l.No)
	r.Object(func(key string) {
		switch key {
		case "type":
			e.typ = r.Short(40)
		case "time":
			e.time = r.Int()
		case "protocolVersion":
			e.protocol = r.Short(40)
		case "suite", "group", "test":
			r.Object(func(key string) { dartEntity(r, &e, key) })
		case "testID":
			e.test = r.Int()
		case "result":
			e.result = r.Short(40)
		case "hidden":
			e.hidden = r.Truth()
		case "skipped":
			e.skipped = r.Truth()
		case "error":
			e.errorText = r.Str()
		case "stackTrace":
			e.stack = r.Str()
		case "isFailure":
			e.isFailure = r.Truth()
		case "message":
			e.message = r.Str()
		case "success":
			e.hasSuccess = r.Peek() != 'n'
			e.success = r.Truth()
		}
	})
	return e, r.Err == nil || l.Cut > 0
}

func dartEntity(r *jsonstream.Reader, e *dartEvent, key string) {
	switch key {
	case "id":
		e.id = r.Int()
	case "path":
		e.path = r.Short(1000)
	case "name":
		e.name = r.Short(2000)
	case "suiteID":
		e.suite = r.Int()
	case "parentID":
		e.outer = r.Peek() == 'n'
		e.parent = r.Int()
	case "testCount":
		e.count = r.Int()
	case "groupIDs":
		r.Array(func() {
			if n := r.Int(); len(e.groups) < 100 {
				e.groups = append(e.groups, n)
			}
		})
	case "line":
		e.line = max(r.Int(), 0)
	case "column":
		e.column = max(r.Int(), 0)
	case "url":
		e.url = r.Short(1000)
	case "root_line":
		e.rootLine = max(r.Int(), 0)
	case "root_url":
		e.rootURL = r.Short(1000)
	case "metadata":
		r.Object(func(key string) {
			switch key {
			case "skip":
				e.skip = r.Truth()
			case "skipReason":
				e.skipReason = r.Str()
			}
		})
	}
}

func (d *dartJSON) take(e dartEvent, no int) bool {
	switch e.typ {
	case "suite":
		if len(d.suites) < 1<<17 {
			d.suites[e.id] = e.path
		}
	case "group":
		if len(d.groups) < 1<<17 {
			d.groups[e.id] = dartGroup{e.name, e.parent}
		}
		if e.outer {
			d.planned += max(e.count, 0)
		}
	case "testStart":
		d.running[e.id] = d.start(e, no)
	case "print":
		if t := d.running[e.test]; t != nil && len(t.t.Output) < d.lim.Text {
			t.t.Output += e.message + "\n"
		}
	case "error":
		d.failure(e, no)
	case "testDone":
		d.finish(e, no)
	case "done":
		d.open = false
		d.unfinished()
		switch {
		case !e.hasSuccess:
			d.problem(model.Problem{Kind: model.KindTruncated, Name: "dart", At: no, Message: "the run was ended before its tests did"})
		case !e.success && d.bad == 0:
			d.problem(model.Problem{Kind: model.KindExit, Name: "dart", At: no, Message: "the run failed, but no test did"})
		case d.planned > d.ended && d.skips == 0:
			failtext.Incomplete(d.out, d.bad > 0, model.Problem{Name: "dart", At: no, Message: "the stream lists " + strconv.Itoa(d.ended) + " of " + parse.Plural(d.planned, "test")})
		}
	case "allSuites", "debug":
	default:
		return false
	}
	return true
}

func (d *dartJSON) problem(p model.Problem) {
	d.bad++
	d.out.Problem(p)
}

func (d *dartJSON) start(e dartEvent, no int) *dartTest {
	t := &dartTest{start: e.time, t: model.Test{Name: e.name, At: no, File: d.suites[e.suite], Line: e.line, Column: e.column}}
	if e.rootLine > 0 {
		t.t.Line, t.t.Column = e.rootLine, 0
	}
	if len(e.groups) > 0 {
		var parts []string
		before := ""
		for _, id := range e.groups {
			g := d.groups[id]
			// The name of a group begins with those of the groups around it.
			parts = append(parts, strings.TrimSpace(strings.TrimPrefix(g.name, before)))
			if g.name != "" {
				before = g.name
			}
		}
		t.t.Suite = parse.JoinPath(parts...)
		t.t.Name = strings.TrimSpace(strings.TrimPrefix(e.name, before))
	}
	if e.skip {
		t.t.Message = e.skipReason
	}
	t.load = len(e.groups) == 0 && strings.HasPrefix(e.name, "loading ")
	t.t.Name = parse.FirstOf(t.t.Name, e.name, "(no name)")
	return t
}

func (d *dartJSON) failure(e dartEvent, no int) {
	t := d.running[e.test]
	if t == nil {
		if !d.done[e.test] {
			d.problem(model.Problem{Kind: model.KindError, Name: "dart", At: no, Message: e.errorText, Trace: e.stack})
		}
		return
	}
	if t.t.Kind == "" {
		t.t.At = no
		t.t.Message = strings.TrimSpace(e.errorText)
		t.t.Kind = model.KindError
		switch {
		case strings.HasPrefix(t.t.Message, "TimeoutException after"):
			t.t.Kind = model.KindTimeout
		case e.isFailure:
			t.t.Kind = model.KindAssertion
		}
		t.t.Expected, t.t.Actual, _ = failtext.SplitAssertion(t.t.Message)
		t.t.Type = failtext.JSErrorType(t.t.Message)
	}
	if t.stack.Len() < d.lim.Text {
		t.stack.WriteString(strings.TrimSpace(e.errorText + "\n" + e.stack))
		t.stack.WriteString("\n\n")
	}
}

func (d *dartJSON) finish(e dartEvent, no int) {
	run := d.running[e.test]
	if run == nil {
		return
	}
	delete(d.running, e.test)
	t := run.t
	t.Duration = time.Duration(max(e.time-run.start, 0)) * time.Millisecond
	t.Trace = strings.TrimSpace(run.stack.String())
	output := t.Output
	t.Output = ""
	switch e.result {
	case "success":
		if e.hidden {
			return
		}
		t.Status = model.Passed
		if e.skipped {
			t.Status = model.Skipped
			d.skips++
		}
	case "failure", "error":
		if len(d.done) < d.lim.Failing {
			d.done[e.test] = true
		}
		t.Status, t.Output = model.Failed, output
		if run.load || e.hidden {
			d.loading(t)
			return
		}
		d.bad++
		if parse.HasAny(t.Name, "(setUpAll)", "(tearDownAll)") {
			t.Kind = model.KindSetup
		}
	default:
		t.Status = model.Other
	}
	d.ended++
	d.out.Test(t)
}

// loading says that a file of tests could not be loaded.
func (d *dartJSON) loading(t model.Test) {
	file := parse.FirstOf(t.File, strings.TrimPrefix(t.Name, "loading "))
	p := model.Problem{Kind: model.KindSetup, Name: file, File: file, Message: t.Message, Trace: t.Trace, At: t.At}
	if strings.Contains(t.Message, ": Error: ") || strings.Contains(t.Message, "Failed to load") && strings.Contains(t.Message, ": Error:") || strings.Contains(t.Message, "Compilation failed") {
		p.Kind = model.KindBuild
		if f, l := failtext.PlaceIn(t.Message, "", ""); f != "" {
			p.File, p.Line = f, l
		}
	}
	d.problem(p)
}

// unfinished names the tests that did not end.
func (d *dartJSON) unfinished() {
	n := 0
	for _, id := range slices.Sorted(maps.Keys(d.running)) {
		t := d.running[id]
		delete(d.running, id)
		if t.load {
			continue
		}
		if n++; n > 20 {
			continue
		}
		d.problem(model.Problem{Kind: model.KindTruncated, Name: parse.JoinPath(t.t.Suite, t.t.Name), File: t.t.File, Line: t.t.Line, At: t.t.At, Message: parse.FirstOf(t.t.Message, "the test did not end")})
	}
}

func (d *dartJSON) End() {
	if !d.open {
		return
	}
	d.unfinished()
	d.problem(model.Problem{Kind: model.KindTruncated, Name: "dart", At: d.at, Message: "the stream of events ends before the run does"})
	d.open = false
}
