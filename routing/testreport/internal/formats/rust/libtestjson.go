package rust

import (
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/jsonstream"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// libtestJSONFormat reads what Rust's libtest prints with --format json, and
// cargo-nextest with --message-format libtest-json or libtest-json-plus.
var libtestJSONFormat = format.Format{
	Name:  "libtest-json",
	Order: 340, Machine: true,
	Begins:  "{ e", // events, "     Running …" and "error: test failed, …" of cargo
	Wakes:   &format.Wake{Flush: "{e", Indent: "RD"},
	Console: func(out model.Sink, lim model.Limits) format.Console { return &libtestJSON{out: out, lim: lim} },
}

// libtestJSON reads the events of test binaries: one after another, but those
// that nextest runs with libtest-json-plus are mixed.
type libtestJSON struct {
	out model.Sink
	lim model.Limits
	r   jsonstream.Reader

	announced string // by cargo: what it runs next
	current   *libtestBinaryRun
	named     map[string]*libtestBinaryRun // by "crate::binary", of nextest
	failures  int                          // of the whole log
}

// libtestBinaryRun is a test binary that has not ended.
type libtestBinaryRun struct {
	suite           string
	at, expect      int
	running         map[string]int // line at which it started
	failures, tests int
	passed          int
}

type libtestEvent struct {
	typ, event, name, stdout, message, reason string

	seconds                      float64
	count, passed, failed        int
	hasCount, hasPassed, isBench bool
	crate, binary                string
}

// Idle is always true: in no state does any other line mean anything.
func (b *libtestJSON) Idle() bool { return true }

func (b *libtestJSON) Line(l lines.Line) bool {
	t := l.Text
	if len(t) < 20 {
		return false
	}
	if t[0] == ' ' {
		if s := strings.TrimLeft(t, " "); strings.HasPrefix(s, "Running ") || strings.HasPrefix(s, "Doc-tests ") {
			b.announced = libtestBinary(s)
		}
		return false
	}
	if t[0] != '{' {
		return b.failures > 0 && b.current == nil && len(b.named) == 0 && libtestRerun(t)
	}
	// Both libtest and nextest write the type first.
	if !strings.HasPrefix(strings.TrimLeft(t[1:], " "), `"type"`) || !strings.Contains(t, `"event"`) {
		return false
	}
	e, ok := b.event(l)
	if !ok {
		return false
	}
	switch e.typ {
	case "suite":
		return b.suiteEvent(e, l.No)
	case "test", "bench":
		return b.testEvent(e, l.No)
	}
	return false
}

// libtestRerun recognises what cargo says of a binary whose tests failed: they
// were named, so it tells nothing new.
func libtestRerun(t string) bool {
	if strings.HasPrefix(t, "error: test failed, to rerun pass") {
		return true
	}
	rest, ok := strings.CutPrefix(t, "error: ")
	if !ok {
		return false
	}
	_, rest, ok = parse.LeadingInt(rest)
	return ok && (rest == " target failed:" || rest == " targets failed:")
}

// libtestBinary shortens "Running unittests src/lib.rs (target/…)" and
// "Doc-tests name" to what names the binary.
func libtestBinary(s string) string {
	if name, ok := strings.CutPrefix(s, "Doc-tests "); ok {
		return strings.TrimSpace(name)
	}
	return runningSuite(strings.TrimPrefix(s, "Running "))
}

func (b *libtestJSON) event(l lines.Line) (libtestEvent, bool) {
	var e libtestEvent
	r := &b.r
	r.Reset(l.Text, b.lim, l.No)
	r.Object(func(key string) {
		switch key {
		case "type":
			e.typ = r.Short(40)
			e.isBench = e.typ == "bench"
		case "event":
			e.event = r.Short(40)
		case "name":
			e.name = r.Short(2000)
		case "stdout", "stderr":
			e.stdout += r.Str()
		case "message":
			e.message = r.Str()
		case "reason":
			e.reason = r.Short(400)
		case "exec_time":
			e.seconds = r.Float()
		case "test_count":
			e.count, e.hasCount = r.Int(), true
		case "passed":
			e.passed, e.hasPassed = r.Int(), true
		case "failed":
			e.failed = r.Int()
		case "nextest":
			r.Object(func(key string) {
				switch key {
				case "crate":
					e.crate = r.Short(200)
				case "test_binary":
					e.binary = r.Short(200)
				}
			})
		}
	})
	return e, r.Err == nil || l.Cut > 0
}

func (b *libtestJSON) suiteEvent(e libtestEvent, no int) bool {
	key := ""
	if e.crate != "" {
		key = e.crate + "::" + e.binary
	}
	switch {
	case e.event == "started" && e.hasCount:
		run := &libtestBinaryRun{at: no, expect: e.count, suite: parse.FirstOf(key, b.announced), running: map[string]int{}}
		b.announced = ""
		if key == "" {
			b.broken(b.current)
			b.current = run
			return true
		}
		if b.named == nil {
			b.named = map[string]*libtestBinaryRun{}
		}
		if len(b.named) < b.lim.Failing {
			b.broken(b.named[key])
			b.named[key] = run
		}
		return true
	case (e.event == "ok" || e.event == "failed") && e.hasPassed:
		run := b.current
		if key != "" {
			run = b.named[key]
		}
		if run == nil {
			return false
		}
		if e.event == "ok" && e.passed > run.passed {
			failtext.Incomplete(b.out, run.failures > 0, model.Problem{Name: parse.FirstOf(run.suite, "libtest"), At: no, Message: failtext.FewerTests(run.passed, e.passed)})
		}
		if e.event == "failed" {
			failtext.UnnamedFailures(b.out, no, max(e.failed, 1), run.failures, parse.FirstOf(run.suite, "libtest"))
		}
		if key == "" {
			b.current = nil
		}
		delete(b.named, key)
		return true
	}
	return false
}

func (b *libtestJSON) testEvent(e libtestEvent, no int) bool {
	t := model.Test{At: no, Duration: parse.Secs(e.seconds)}
	t.Name, t.Retries = libtestAttempts(e.name)
	running := t.Name
	run := b.current
	// nextest names a test "crate::binary$path::of::test".
	if binary, name, ok := strings.Cut(t.Name, "$"); ok {
		t.Suite, t.Name = binary, name
		if b.named[binary] != nil {
			run = b.named[binary]
		}
	}
	if run == nil || t.Name == "" {
		return false
	}
	t.Suite = parse.FirstOf(t.Suite, run.suite)
	switch e.event {
	case "started":
		run.running[running] = no
		return true
	case "timeout":
		return true // it runs longer than a minute; it may still pass
	case "ok":
		t.Status, t.Flaky = model.Passed, t.Retries > 0
		run.passed++
	case "ignored":
		t.Status, t.Message = model.Skipped, e.message
	case "failed":
		t = b.failed(t, e)
		run.failures++
		b.failures++
	default:
		if !e.isBench {
			if e.event == "" {
				return false
			}
			t.Status, t.Message = model.Other, "the event of the test is "+e.event
			break
		}
		t.Status = model.Passed // {"type":"bench","name":…,"median":…}
	}
	delete(run.running, running)
	run.tests++
	b.out.Test(t)
	return true
}

func (b *libtestJSON) failed(t model.Test, e libtestEvent) model.Test {
	text := parse.FirstOf(strings.TrimSpace(e.stdout), e.message)
	f := rustFailure(t.Suite, t.Name, text, t.At, false)
	f.Duration, f.Retries = t.Duration, t.Retries
	if f.Message == "" {
		f.Message = strings.TrimPrefix(e.message, "note: ")
		f.Kind = rustKind(f.Message, text)
	}
	if e.reason != "" {
		f.Message = strings.TrimSpace(e.reason + "\n" + f.Message)
		if strings.Contains(e.reason, "time limit") {
			f.Kind = model.KindTimeout
		}
	}
	return f
}

// libtestAttempts takes off how often nextest tried the test: "name#3".
func libtestAttempts(name string) (base string, retries int) {
	i := strings.LastIndexByte(name, '#')
	if i < 0 || !strings.Contains(name[:i], "$") {
		return name, 0
	}
	n, rest, ok := parse.LeadingInt(name[i+1:])
	if !ok || rest != "" || n < 2 {
		return name, 0
	}
	return name[:i], n - 1
}

// broken says that a binary did not end.
func (b *libtestJSON) broken(run *libtestBinaryRun) {
	if run == nil {
		return
	}
	p := model.Problem{Kind: model.KindTruncated, Name: parse.FirstOf(run.suite, "libtest"), At: run.at,
		Message: "the test binary ended before its tests did: " + parse.Plural(run.expect, "test") + " announced, " + parse.Plural(run.tests, "result") + " given"}
	if len(run.running) == 1 {
		for name := range run.running {
			p.Kind, p.Message = model.KindCrash, p.Message+"; "+name+" was running"
		}
	}
	b.out.Problem(p)
}

func (b *libtestJSON) End() {
	b.broken(b.current)
	var keys []string
	for key := range b.named {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		b.broken(b.named[key])
	}
	b.current, b.named = nil, nil
}
