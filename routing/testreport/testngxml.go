package testreport

import (
	"maps"
	"slices"
	"strings"
)

// testngFormat reads testng-results.xml.
var testngFormat = format{name: "testng-xml", order: 60, opens: []string{"testng-results"}, detect: detectRoot("testng-results"), document: readTestNG}

type testngReader struct {
	*xmlDoc
	class string
	lost  map[string][]Test // attempts of a method of the class being read that were to be repeated
	kept  int               // in lost
}

func readTestNG(d *document) error {
	r := &testngReader{xmlDoc: newXMLDoc(d, "TestNG"), lost: map[string][]Test{}}
	return r.roots(func(tok xmlToken) error {
		failed, passed, bad := r.failed, r.passed, r.bad
		want, wantPassed := declared(r.attr("failed")), declared(r.attr("passed"))
		err := r.children(r.part)
		r.flush()
		if err != nil {
			return err
		}
		r.shortfall("", tok.line, want, r.failed-failed+r.bad-bad)
		r.fewer("", tok.line, wantPassed, r.passed-passed)
		return nil
	}, "testng-results")
}

// part reads what stands above the methods.
func (r *testngReader) part(tok xmlToken) error {
	switch tok.name {
	case "suite", "test":
		return r.children(r.part)
	case "class":
		r.class = r.attr("name")
		err := r.children(r.part)
		r.flush()
		return err
	case "test-method":
		return r.method(tok)
	}
	return r.x.skip()
}

// testngMethod is one <test-method>.
type testngMethod struct {
	t       Test
	status  string
	config  bool
	retried bool
	params  []string
	failing bool
}

func (r *testngReader) method(tok xmlToken) error {
	m := testngMethod{
		t:      Test{Name: r.attr("name"), Suite: r.class, At: tok.line, Duration: milliseconds(r.attr("duration-ms"))},
		status: r.attr("status"), config: r.attr("is-config") == "true", retried: r.attr("retried") == "true",
	}
	err := r.children(func(tok xmlToken) error {
		switch tok.name {
		case "params":
			return r.params(&m)
		case "exception":
			m.failing, m.t.At, m.t.Type = true, tok.line, r.attr("class")
			return r.fields(map[string]*string{"message": &m.t.Message, "full-stacktrace": &m.t.Trace, "short-stacktrace": new(string)})
		}
		return r.x.skip()
	})
	if err != nil && !(m.failing && m.status == "FAIL") {
		return err
	}
	if len(m.params) > 0 {
		m.t.Name += "(" + CutText(strings.Join(m.params, ", "), 512) + ")"
	}
	r.finish(m)
	return err
}

func (r *testngReader) params(m *testngMethod) error {
	return r.children(func(tok xmlToken) error {
		if tok.name != "param" {
			return r.x.skip()
		}
		s, err := r.content()
		if len(m.params) < 50 {
			m.params = append(m.params, CutText(s, 200))
		}
		return err
	})
}

func (r *testngReader) finish(m testngMethod) {
	t := &m.t
	switch m.status {
	case "PASS", "SUCCESS":
		t.Status = Passed
	case "FAIL", "FAILURE":
		t.Status = Failed
	case "SUCCESS_PERCENTAGE_FAILURE":
		t.Status = Passed // as many of its invocations passed as were asked for
	case "SKIP":
		t.Status = Skipped
	default:
		t.Status = Other
	}
	if m.config {
		r.config(t)
		return
	}
	if m.retried {
		t.Output = "retried" // marks it until it is handed on
	}
	if t.Status == Failed || m.retried || m.mayRepeat() {
		if t.Message == "" && t.Trace == "" {
			t.Message = firstOf(t.Type, "the test failed; the report says no more")
		}
		r.explain(t)
		if strings.HasSuffix(t.Type, "ThreadTimeoutException") {
			t.Kind = KindTimeout
		}
	}
	if (m.retried || m.mayRepeat()) && r.kept < holdTests {
		r.lost[t.Name] = append(r.lost[t.Name], *t)
		r.kept++
		return
	}
	if lost := r.lost[t.Name]; len(lost) > 0 && t.Status != Skipped {
		t.Retries = len(lost)
		if t.Status == Passed {
			first := lost[0]
			t.Flaky, t.Kind, t.Type, t.Message, t.Trace, t.File, t.Line, t.At = true, first.Kind, first.Type, first.Message, first.Trace, first.File, first.Line, first.At
		}
		r.kept -= len(lost)
		delete(r.lost, t.Name)
	}
	if t.Status == Skipped {
		t.Trace, t.Output = "", ""
	}
	r.test(*t)
}

// mayRepeat reports whether a skipped method may be a failed attempt before
// another: TestNG before 7.0 does not say so. What was skipped on purpose or
// for a method it depends on is none.
func (m *testngMethod) mayRepeat() bool {
	return m.status == "SKIP" && m.failing && !strings.HasSuffix(m.t.Type, "SkipException") && m.t.Type != "java.lang.Throwable"
}

// flush hands on attempts whose rerun is not there: the run ended in between,
// or they were skipped for what failed before them.
func (r *testngReader) flush() {
	for _, name := range slices.Sorted(maps.Keys(r.lost)) {
		lost := r.lost[name]
		last := lost[len(lost)-1]
		if last.Output == "retried" {
			last.Output = ""
			last.Status, last.Retries = Failed, len(lost)-1
			r.test(last)
			continue
		}
		for _, t := range lost {
			t.Status, t.Kind, t.Trace = Skipped, "", ""
			r.test(t)
		}
	}
	clear(r.lost)
	r.kept = 0
}

// config takes a set-up or tear-down method, which is no test.
func (r *testngReader) config(t *Test) {
	if t.Status != Failed {
		return
	}
	r.explain(t)
	r.problem(Problem{Kind: KindSetup, Name: t.FullName(), File: t.File, Line: t.Line, Message: firstOf(t.Message, "a configuration method failed"), Trace: t.Trace, At: t.At})
}
