package generic

import (
	"net/url"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/jsonstream"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// bazelBEPFormat reads Bazel's build event protocol as JSON lines
// (--build_event_json_file). A test is a target, as in Bazel's own summary.
var bazelBEPFormat = format.Format{
	Name:  "bazel-bep",
	Order: 330, Machine: true,
	Begins:  "{",
	Console: func(out model.Sink, lim model.Limits) format.Console { return &bazelBEP{out: out, lim: lim} },
}

type bazelBEP struct {
	out model.Sink
	lim model.Limits
	r   jsonstream.Reader

	open     bool
	finished bool
	at       int
	targets  map[string]*bazelTarget // with results and no summary yet
	order    []string
	bad      int // failed tests and problems
	failed   map[string]bool
	stderr   string // the last that Bazel printed
}

// bazelTarget gathers the attempts at one test.
type bazelTarget struct {
	attempts, failed int
	status, details  string
	log              string
	at               int
	millis           float64
}

// bazelEvent is one line.
type bazelEvent struct {
	kind, label                   string
	payload                       bool
	status, details, log          string
	attempts, shards, runs        int
	millis                        float64
	success, hasSuccess           bool
	reason, description, message  string
	exit, typ, stderr, detailCode string
	code                          int
	last                          bool
	attempt                       int
}

func (b *bazelBEP) Line(l lines.Line) bool {
	t := l.Text
	if len(t) < 12 || t[0] != '{' || !strings.Contains(t, `"id"`) {
		return false
	}
	if !b.open && !strings.Contains(t, `"started"`) {
		return false
	}
	e, ok := b.event(l)
	if !ok || e.kind == "" || !b.open && e.kind != "started" {
		return false
	}
	if e.kind == "started" {
		if !e.payload {
			return false
		}
		b.End()
		*b = bazelBEP{out: b.out, lim: b.lim, r: b.r, open: true, at: l.No, targets: map[string]*bazelTarget{}, failed: map[string]bool{}}
		return true
	}
	b.take(e, l.No)
	if e.last {
		b.finish(l.No)
	}
	return true
}

func (b *bazelBEP) event(l lines.Line) (bazelEvent, bool) {
	var e bazelEvent
	r := &b.r
	r.Reset(l.Text, b.lim, l.No)
	r.Object(func(key string) {
		switch key {
		case "id":
			r.Object(func(key string) {
				e.kind = key
				r.Object(func(key string) {
					switch key {
					case "label":
						e.label = r.Short(1000)
					case "attempt":
						e.attempt = r.Int()
					}
				})
			})
		case "lastMessage":
			e.last = r.Truth()
		case "started":
			r.Object(func(key string) {
				e.payload = e.payload || key == "uuid" || key == "buildToolVersion" || key == "command" || key == "startTimeMillis"
			})
		case "testResult", "testSummary", "completed", "finished", "aborted", "action", "progress":
			r.Object(func(key string) { e.field(r, key) })
		}
	})
	return e, r.Err == nil || l.Cut > 0
}

func (e *bazelEvent) field(r *jsonstream.Reader, key string) {
	switch key {
	case "status", "overallStatus":
		e.status = r.Short(60)
	case "statusDetails":
		e.details = r.Str()
	case "testAttemptDurationMillis", "totalRunDurationMillis":
		e.millis = r.Float()
	case "attemptCount":
		e.attempts = r.Int()
	case "runCount", "totalRunCount":
		e.runs = max(e.runs, r.Int())
	case "shardCount":
		e.shards = r.Int()
	case "success", "overallSuccess":
		e.success, e.hasSuccess = r.Truth(), true
	case "reason":
		e.reason = r.Short(60)
	case "description":
		e.description = r.Str()
	case "type":
		e.typ = r.Short(60)
	case "failureDetail":
		r.Object(func(key string) {
			if key == "message" {
				e.message = r.Str()
			} else {
				e.detailCode = key
			}
		})
	case "exitCode":
		if r.Peek() != '{' {
			e.code = r.Int()
			return
		}
		r.Object(func(key string) {
			switch key {
			case "name":
				e.exit = r.Short(60)
			case "code":
				e.code = r.Int()
			}
		})
	case "stderr":
		if r.Peek() == '{' {
			return // a file
		}
		e.stderr = r.Str()
	case "failed", "testActionOutput":
		r.Array(func() {
			name, uri := "test.log", ""
			r.Object(func(key string) {
				switch key {
				case "name":
					name = r.Short(200)
				case "uri":
					uri = r.Short(2000)
				}
			})
			if name == "test.log" && e.log == "" {
				e.log = uri
			}
		})
	}
}

func (b *bazelBEP) problem(p model.Problem) {
	b.bad++
	b.out.Problem(p)
}

func (b *bazelBEP) take(e bazelEvent, no int) {
	switch e.kind {
	case "progress":
		if strings.TrimSpace(e.stderr) != "" {
			b.stderr = e.stderr
		}
	case "testResult":
		b.result(e, no)
	case "testSummary":
		b.summary(e, no)
	case "actionCompleted":
		if !e.success {
			b.action(e, no)
		}
	case "targetCompleted":
		if e.reason == "" && e.message != "" && !e.success && !b.failed[e.label] && e.detailCode != "testAction" {
			b.failed[e.label] = true
			b.problem(model.Problem{Kind: model.KindBuild, Name: e.label, At: no, Message: e.message})
		}
	case "buildFinished":
		b.exit(e, no)
	}
	if e.reason != "" {
		b.aborted(e, no)
	}
}

func (b *bazelBEP) action(e bazelEvent, no int) {
	if len(b.failed) < b.lim.Failing {
		b.failed[e.label] = true
	}
	kind := model.KindBuild
	if e.typ == "TestRunner" {
		return // the test's own result says so
	}
	p := model.Problem{Kind: kind, Name: parse.FirstOf(e.label, e.typ), At: no, Message: parse.FirstOf(e.message, e.typ+" failed"), Trace: strings.TrimSpace(b.stderr)}
	p.File, p.Line = failtext.PlaceIn(b.stderr, "", "")
	b.problem(p)
}

// aborted takes an event that stands for one that never came.
func (b *bazelBEP) aborted(e bazelEvent, no int) {
	kind := model.KindBuild
	switch e.reason {
	case "SKIPPED", "NO_BUILD":
		return
	case "INCOMPLETE":
		if e.description == "" {
			return // the failure that ended the build is reported on its own
		}
		kind = model.KindTruncated
	case "USER_INTERRUPTED", "OUT_OF_MEMORY", "INTERNAL", "REMOTE_ENVIRONMENT_FAILURE":
		kind = model.KindCrash
	case "TIME_OUT":
		kind = model.KindTimeout
	}
	if b.failed[e.label] && e.label != "" {
		return
	}
	b.problem(model.Problem{Kind: kind, Name: parse.FirstOf(e.label, e.kind), At: no, Message: strings.TrimSpace(e.reason + ": " + e.description)})
	if len(b.failed) < b.lim.Failing {
		b.failed[e.label] = true
	}
}

func (b *bazelBEP) result(e bazelEvent, no int) {
	t := b.targets[e.label]
	if t == nil {
		t = &bazelTarget{at: no}
		b.targets[e.label] = t
		b.order = append(b.order, e.label)
	}
	t.attempts = max(t.attempts, e.attempt)
	t.millis += e.millis
	if e.status != "PASSED" {
		t.failed++
		t.at = no
		t.log = parse.FirstOf(e.log, t.log)
		t.details = parse.FirstOf(e.details, t.details)
	}
	if t.status == "" || t.status == "PASSED" || e.attempt > 1 {
		t.status = e.status
	}
}

func (b *bazelBEP) summary(e bazelEvent, no int) {
	t := b.targets[e.label]
	if t == nil {
		t = &bazelTarget{at: no}
	} else {
		delete(b.targets, e.label)
	}
	t.status = parse.FirstOf(e.status, t.status)
	t.attempts = max(t.attempts, e.attempts)
	t.log = parse.FirstOf(t.log, e.log)
	if e.millis > 0 {
		t.millis = e.millis
	}
	b.emit(e.label, t)
}

func (b *bazelBEP) emit(label string, t *bazelTarget) {
	out := model.Test{Name: label, At: t.at, Duration: parse.Millis(t.millis), Retries: max(t.attempts-1, 0)}
	if pkg, name, ok := strings.Cut(label, ":"); ok {
		out.Suite, out.Name = pkg, name
	}
	out.Message = t.details
	switch t.status {
	case "PASSED":
		out.Status = model.Passed
	case "FLAKY":
		out.Status, out.Flaky = model.Passed, true
		out.Retries = max(out.Retries, 1)
	case "FAILED":
		out.Status = model.Failed
		out.Message = parse.FirstOf(t.details, "the test failed; its log is "+bazelLog(t.log))
	case "TIMEOUT":
		out.Status, out.Kind = model.Failed, model.KindTimeout
		out.Message = parse.FirstOf(t.details, "the test ran longer than its timeout; its log is "+bazelLog(t.log))
	case "INCOMPLETE", "REMOTE_FAILURE", "TOOL_HALTED_BEFORE_TESTING":
		out.Status, out.Kind = model.Failed, model.KindCrash
		out.Message = parse.FirstOf(t.details, "the test did not end: "+t.status)
	case "FAILED_TO_BUILD":
		if !b.failed[label] {
			b.problem(model.Problem{Kind: model.KindBuild, Name: label, At: t.at, Message: "the test could not be built"})
		}
		return
	case "NO_STATUS", "":
		out.Status, out.Message = model.Skipped, "the test did not run"
	default:
		out.Status, out.Message = model.Other, "the status of the test is "+t.status
	}
	if out.Status == model.Failed {
		b.bad++
	}
	b.out.Test(out)
}

func bazelLog(uri string) string {
	if u, err := url.Parse(uri); err == nil && u.Scheme == "file" {
		return u.Path
	}
	return parse.FirstOf(uri, "not named")
}

// flush emits targets whose summary never came.
func (b *bazelBEP) flush() {
	for _, label := range b.order {
		if t := b.targets[label]; t != nil {
			delete(b.targets, label)
			b.emit(label, t)
		}
	}
	b.order = b.order[:0]
}

// exit takes how the build ended.
func (b *bazelBEP) exit(e bazelEvent, no int) {
	b.finished = true
	b.flush()
	if e.code == 0 && (e.success || e.exit == "SUCCESS" || !e.hasSuccess && e.exit == "") || e.exit == "TESTS_FAILED" && b.bad > 0 {
		return
	}
	if b.bad > 0 && e.code == 1 {
		return // what failed to build was named
	}
	p := model.Problem{Kind: model.KindExit, Name: "bazel", At: no, Message: "bazel ended with " + parse.FirstOf(e.exit, "an unknown exit code")}
	switch e.exit {
	case "NO_TESTS_FOUND":
		p.Kind = model.KindEmpty
	case "BUILD_FAILURE", "PARSING_FAILURE":
		p.Kind = model.KindBuild
	case "INTERRUPTED", "OOM_ERROR", "BAZEL_INTERNAL_ERROR":
		p.Kind = model.KindCrash
	}
	if e.message != "" {
		p.Message += ": " + e.message
	}
	p.Trace = strings.TrimSpace(b.stderr)
	b.problem(p)
}

func (b *bazelBEP) finish(no int) {
	b.flush()
	if !b.finished {
		b.problem(model.Problem{Kind: model.KindTruncated, Name: "bazel", At: no, Message: "the events do not say how the build ended"})
	}
	b.open = false
}

func (b *bazelBEP) End() {
	if !b.open {
		return
	}
	b.flush()
	b.problem(model.Problem{Kind: model.KindTruncated, Name: "bazel", At: b.at, Message: "the stream of build events breaks off"})
	b.open = false
}
