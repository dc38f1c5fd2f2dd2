package testreport

import (
	"net/url"
	"strings"
)

// bazelBEPFormat reads Bazel's build event protocol as JSON lines
// (--build_event_json_file). A test is a target, as in Bazel's own summary.
var bazelBEPFormat = format{
	name:  "bazel-bep",
	order: 330, machine: true,
	begins:  "{",
	console: func(out Sink, lim Limits) console { return &bazelBEP{out: out, lim: lim} },
}

type bazelBEP struct {
	out Sink
	lim Limits
	r   jsonReader

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

func (b *bazelBEP) line(l Line) bool {
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
		b.end()
		*b = bazelBEP{out: b.out, lim: b.lim, r: b.r, open: true, at: l.No, targets: map[string]*bazelTarget{}, failed: map[string]bool{}}
		return true
	}
	b.take(e, l.No)
	if e.last {
		b.finish(l.No)
	}
	return true
}

func (b *bazelBEP) event(l Line) (bazelEvent, bool) {
	var e bazelEvent
	r := &b.r
	r.reset(l.Text, b.lim, l.No)
	r.object(func(key string) {
		switch key {
		case "id":
			r.object(func(key string) {
				e.kind = key
				r.object(func(key string) {
					switch key {
					case "label":
						e.label = r.short(1000)
					case "attempt":
						e.attempt = r.int()
					}
				})
			})
		case "lastMessage":
			e.last = r.truth()
		case "started":
			r.object(func(key string) {
				e.payload = e.payload || key == "uuid" || key == "buildToolVersion" || key == "command" || key == "startTimeMillis"
			})
		case "testResult", "testSummary", "completed", "finished", "aborted", "action", "progress":
			r.object(func(key string) { e.field(r, key) })
		}
	})
	return e, r.err == nil || l.Cut > 0
}

func (e *bazelEvent) field(r *jsonReader, key string) {
	switch key {
	case "status", "overallStatus":
		e.status = r.short(60)
	case "statusDetails":
		e.details = r.str()
	case "testAttemptDurationMillis", "totalRunDurationMillis":
		e.millis = r.float()
	case "attemptCount":
		e.attempts = r.int()
	case "runCount", "totalRunCount":
		e.runs = max(e.runs, r.int())
	case "shardCount":
		e.shards = r.int()
	case "success", "overallSuccess":
		e.success, e.hasSuccess = r.truth(), true
	case "reason":
		e.reason = r.short(60)
	case "description":
		e.description = r.str()
	case "type":
		e.typ = r.short(60)
	case "failureDetail":
		r.object(func(key string) {
			if key == "message" {
				e.message = r.str()
			} else {
				e.detailCode = key
			}
		})
	case "exitCode":
		if r.peek() != '{' {
			e.code = r.int()
			return
		}
		r.object(func(key string) {
			switch key {
			case "name":
				e.exit = r.short(60)
			case "code":
				e.code = r.int()
			}
		})
	case "stderr":
		if r.peek() == '{' {
			return // a file
		}
		e.stderr = r.str()
	case "failed", "testActionOutput":
		r.array(func() {
			name, uri := "test.log", ""
			r.object(func(key string) {
				switch key {
				case "name":
					name = r.short(200)
				case "uri":
					uri = r.short(2000)
				}
			})
			if name == "test.log" && e.log == "" {
				e.log = uri
			}
		})
	}
}

func (b *bazelBEP) problem(p Problem) {
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
			b.problem(Problem{Kind: KindBuild, Name: e.label, At: no, Message: e.message})
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
	kind := KindBuild
	if e.typ == "TestRunner" {
		return // the test's own result says so
	}
	p := Problem{Kind: kind, Name: firstOf(e.label, e.typ), At: no, Message: firstOf(e.message, e.typ+" failed"), Trace: strings.TrimSpace(b.stderr)}
	p.File, p.Line = placeIn(b.stderr, "", "")
	b.problem(p)
}

// aborted takes an event that stands for one that never came.
func (b *bazelBEP) aborted(e bazelEvent, no int) {
	kind := KindBuild
	switch e.reason {
	case "SKIPPED", "NO_BUILD":
		return
	case "INCOMPLETE":
		if e.description == "" {
			return // the failure that ended the build is reported on its own
		}
		kind = KindTruncated
	case "USER_INTERRUPTED", "OUT_OF_MEMORY", "INTERNAL", "REMOTE_ENVIRONMENT_FAILURE":
		kind = KindCrash
	case "TIME_OUT":
		kind = KindTimeout
	}
	if b.failed[e.label] && e.label != "" {
		return
	}
	b.problem(Problem{Kind: kind, Name: firstOf(e.label, e.kind), At: no, Message: strings.TrimSpace(e.reason + ": " + e.description)})
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
		t.log = firstOf(e.log, t.log)
		t.details = firstOf(e.details, t.details)
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
	t.status = firstOf(e.status, t.status)
	t.attempts = max(t.attempts, e.attempts)
	t.log = firstOf(t.log, e.log)
	if e.millis > 0 {
		t.millis = e.millis
	}
	b.emit(e.label, t)
}

func (b *bazelBEP) emit(label string, t *bazelTarget) {
	out := Test{Name: label, At: t.at, Duration: millis(t.millis), Retries: max(t.attempts-1, 0)}
	if pkg, name, ok := strings.Cut(label, ":"); ok {
		out.Suite, out.Name = pkg, name
	}
	out.Message = t.details
	switch t.status {
	case "PASSED":
		out.Status = Passed
	case "FLAKY":
		out.Status, out.Flaky = Passed, true
		out.Retries = max(out.Retries, 1)
	case "FAILED":
		out.Status = Failed
		out.Message = firstOf(t.details, "the test failed; its log is "+bazelLog(t.log))
	case "TIMEOUT":
		out.Status, out.Kind = Failed, KindTimeout
		out.Message = firstOf(t.details, "the test ran longer than its timeout; its log is "+bazelLog(t.log))
	case "INCOMPLETE", "REMOTE_FAILURE", "TOOL_HALTED_BEFORE_TESTING":
		out.Status, out.Kind = Failed, KindCrash
		out.Message = firstOf(t.details, "the test did not end: "+t.status)
	case "FAILED_TO_BUILD":
		if !b.failed[label] {
			b.problem(Problem{Kind: KindBuild, Name: label, At: t.at, Message: "the test could not be built"})
		}
		return
	default: // NO_STATUS: it never ran
		out.Status, out.Message = Skipped, "the test did not run"
	}
	if out.Status == Failed {
		b.bad++
	}
	b.out.Test(out)
}

func bazelLog(uri string) string {
	if u, err := url.Parse(uri); err == nil && u.Scheme == "file" {
		return u.Path
	}
	return firstOf(uri, "not named")
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
	p := Problem{Kind: KindExit, Name: "bazel", At: no, Message: "bazel ended with " + firstOf(e.exit, "an unknown exit code")}
	switch e.exit {
	case "NO_TESTS_FOUND":
		p.Kind = KindEmpty
	case "BUILD_FAILURE", "PARSING_FAILURE":
		p.Kind = KindBuild
	case "INTERRUPTED", "OOM_ERROR", "BAZEL_INTERNAL_ERROR":
		p.Kind = KindCrash
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
		b.problem(Problem{Kind: KindTruncated, Name: "bazel", At: no, Message: "the events do not say how the build ended"})
	}
	b.open = false
}

func (b *bazelBEP) end() {
	if !b.open {
		return
	}
	b.flush()
	b.problem(Problem{Kind: KindTruncated, Name: "bazel", At: b.at, Message: "the stream of build events breaks off"})
	b.open = false
}
