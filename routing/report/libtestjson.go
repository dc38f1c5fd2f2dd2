package report

import "strings"

// libtestJSONFormat reads what Rust's libtest prints with --format json, and
// cargo-nextest with --message-format libtest-json or libtest-json-plus.
var libtestJSONFormat = format{
	name: "libtest-json", machine: true,
	console: func(out Sink, lim Limits) console { return &libtestJSON{out: out, lim: lim} },
}

// libtestJSON reads the events of one test binary after another.
type libtestJSON struct {
	out Sink
	lim Limits
	r   jsonReader

	announced string // by cargo: what it runs next
	suite     string
	open      bool
	at        int
	expect    int
	running   map[string]int // line at which it started
	failed    map[string]Test
	order     []string // of failed
	failures  int
	tests     int
}

type libtestEvent struct {
	typ, event, name, stdout, message, reason string

	seconds                      float64
	count, passed, failed        int
	hasCount, hasPassed, isBench bool
	crate, binary                string
}

func (b *libtestJSON) line(l Line) bool {
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
		return false
	}
	head := t[:min(len(t), 200)]
	if !strings.Contains(head, `"type"`) || !strings.Contains(t, `"event"`) {
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

// libtestBinary shortens "Running unittests src/lib.rs (target/…)" and
// "Doc-tests name" to what names the binary.
func libtestBinary(s string) string {
	if name, ok := strings.CutPrefix(s, "Doc-tests "); ok {
		return strings.TrimSpace(name)
	}
	return runningSuite(strings.TrimPrefix(s, "Running "))
}

func (b *libtestJSON) event(l Line) (libtestEvent, bool) {
	var e libtestEvent
	r := &b.r
	r.reset(l.Text, b.lim, l.No)
	r.object(func(key string) {
		switch key {
		case "type":
			e.typ = r.short(40)
			e.isBench = e.typ == "bench"
		case "event":
			e.event = r.short(40)
		case "name":
			e.name = r.short(2000)
		case "stdout", "stderr":
			e.stdout += r.str()
		case "message":
			e.message = r.str()
		case "reason":
			e.reason = r.short(400)
		case "exec_time":
			e.seconds = r.float()
		case "test_count":
			e.count, e.hasCount = r.int(), true
		case "passed":
			e.passed, e.hasPassed = r.int(), true
		case "failed":
			e.failed = r.int()
		case "nextest":
			r.object(func(key string) {
				switch key {
				case "crate":
					e.crate = r.short(200)
				case "test_binary":
					e.binary = r.short(200)
				}
			})
		}
	})
	return e, r.err == nil || l.Cut > 0
}

func (b *libtestJSON) suiteEvent(e libtestEvent, no int) bool {
	switch {
	case e.event == "started" && e.hasCount:
		b.end()
		b.open, b.at, b.expect, b.failures, b.tests = true, no, e.count, 0, 0
		b.suite, b.announced = b.announced, ""
		if e.crate != "" {
			b.suite = firstOf(e.binary, e.crate)
		}
		b.running, b.failed, b.order = map[string]int{}, map[string]Test{}, nil
		return true
	case (e.event == "ok" || e.event == "failed") && e.hasPassed && b.open:
		b.flush()
		if e.event == "failed" {
			missing(b.out, no, max(e.failed, 1), b.failures, firstOf(b.suite, "libtest"))
		}
		b.open = false
		return true
	}
	return false
}

func (b *libtestJSON) testEvent(e libtestEvent, no int) bool {
	if e.name == "" {
		return false
	}
	if !b.open {
		return false
	}
	at := b.running[e.name]
	if at == 0 {
		at = no
	}
	t := Test{Suite: b.suite, Name: e.name, At: at, Duration: secs(e.seconds)}
	base, again := libtestRetry(e.name)
	t.Name = base
	// nextest names a test "crate::binary$path::of::test".
	if bin, name, ok := strings.Cut(base, "$"); ok {
		t.Suite, t.Name = bin, name
	}
	switch e.event {
	case "started":
		b.running[e.name] = no
		return true
	case "timeout":
		return true // it runs longer than a minute; it may still pass
	case "ok":
		t.Status = Passed
		if f, ok := b.failed[base]; ok && (again || f.Retries > 0) {
			t.Flaky, t.Retries = true, f.Retries+1
			t.Message, t.Trace, t.Kind, t.File, t.Line = f.Message, f.Trace, f.Kind, f.File, f.Line
			delete(b.failed, base)
		}
	case "ignored":
		t.Status, t.Message = Skipped, e.message
	case "failed":
		b.fail(base, t, e, no)
	default:
		if !e.isBench {
			return false
		}
		t.Status = Passed // {"type":"bench","name":…,"median":…}
	}
	delete(b.running, e.name)
	if t.Status != "" {
		b.tests++
		b.out.Test(t)
	}
	return true
}

// fail holds a failed test until its binary ends: a retry may follow.
func (b *libtestJSON) fail(base string, t Test, e libtestEvent, no int) {
	text := strings.TrimSpace(e.stdout)
	if text == "" {
		text = e.message
	}
	f := rustFailure(t.Suite, t.Name, text, no, false)
	f.Duration = t.Duration
	if e.reason != "" {
		f.Message = strings.TrimSpace(e.reason + "\n" + f.Message)
		if strings.Contains(e.reason, "time limit") {
			f.Kind = KindTimeout
		}
	}
	if f.Message == "" {
		f.Message = strings.TrimPrefix(e.message, "note: ")
	}
	if old, ok := b.failed[base]; ok {
		f.Retries = old.Retries + 1
	} else {
		b.order = append(b.order, base)
	}
	b.failed[base] = f
	if len(b.failed) > b.lim.Failing {
		b.flush()
	}
}

// libtestRetry takes off the number of the attempt that nextest adds: "#2".
func libtestRetry(name string) (base string, again bool) {
	i := strings.LastIndexByte(name, '#')
	if i < 0 || !strings.Contains(name[:i], "$") || i+1 == len(name) || strings.Trim(name[i+1:], "0123456789") != "" {
		return name, false
	}
	return name[:i], true
}

func (b *libtestJSON) flush() {
	for _, name := range b.order {
		if t, ok := b.failed[name]; ok {
			b.failures++
			b.tests++
			b.out.Test(t)
			delete(b.failed, name)
		}
	}
	b.order = b.order[:0]
}

func (b *libtestJSON) end() {
	if !b.open {
		return
	}
	b.flush()
	p := Problem{Kind: KindTruncated, Name: firstOf(b.suite, "libtest"), At: b.at,
		Message: "the test binary ended before its tests did: " + plural(b.expect, "test") + " announced, " + plural(b.tests, "result") + " given"}
	if len(b.running) == 1 {
		for name := range b.running {
			p.Kind, p.Message = KindCrash, p.Message+"; "+name+" was running"
		}
	}
	b.out.Problem(p)
	b.open = false
}
