package jvm

import (
	"maps"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
	"github.com/switchback-ci/switchback/routing/testreport/internal/xmlstream"
)

// testngFormat reads testng-results.xml.
var testngFormat = format.Format{Name: "testng-xml", Order: 60, Opens: []string{"testng-results"}, Detect: xmlstream.DetectRoot("testng-results"), Document: readTestNG}

type testngReader struct {
	*xmlstream.Doc
	class string
	lost  map[string][]model.Test // attempts of a method of the class being read that were to be repeated
	kept  int                     // in lost
}

func readTestNG(d *format.Document) error {
	r := &testngReader{Doc: xmlstream.NewDoc(d, "TestNG"), lost: map[string][]model.Test{}}
	return r.Roots(func(tok xmlstream.Token) error {
		failed, passed, bad := r.Failed, r.Passed, r.Bad
		want, wantPassed := parse.Declared(r.Attr("failed")), parse.Declared(r.Attr("passed"))
		err := r.Children(r.part)
		r.flush()
		if err != nil {
			return err
		}
		r.Shortfall("", tok.Line, want, r.Failed-failed+r.Bad-bad)
		r.Fewer("", tok.Line, wantPassed, r.Passed-passed)
		return nil
	}, "testng-results")
}

// part reads what stands above the methods.
func (r *testngReader) part(tok xmlstream.Token) error {
	switch tok.Name {
	case "suite", "test":
		return r.Children(r.part)
	case "class":
		r.class = r.Attr("name")
		err := r.Children(r.part)
		r.flush()
		return err
	case "test-method":
		return r.method(tok)
	}
	return r.XML.Skip()
}

// testngMethod is one <test-method>.
type testngMethod struct {
	t       model.Test
	status  string
	config  bool
	retried bool
	params  []string
	failing bool
}

func (r *testngReader) method(tok xmlstream.Token) error {
	m := testngMethod{
		t:      model.Test{Name: r.Attr("name"), Suite: r.class, At: tok.Line, Duration: parse.Milliseconds(r.Attr("duration-ms"))},
		status: r.Attr("status"), config: r.Attr("is-config") == "true", retried: r.Attr("retried") == "true",
	}
	err := r.Children(func(tok xmlstream.Token) error {
		switch tok.Name {
		case "params":
			return r.params(&m)
		case "exception":
			m.failing, m.t.At, m.t.Type = true, tok.Line, r.Attr("class")
			return r.Fields(map[string]*string{"message": &m.t.Message, "full-stacktrace": &m.t.Trace, "short-stacktrace": new(string)})
		}
		return r.XML.Skip()
	})
	if err != nil && !(m.failing && m.status == "FAIL") {
		return err
	}
	if len(m.params) > 0 {
		m.t.Name += "(" + bounded.CutText(strings.Join(m.params, ", "), 512) + ")"
	}
	r.finish(m)
	return err
}

func (r *testngReader) params(m *testngMethod) error {
	return r.Children(func(tok xmlstream.Token) error {
		if tok.Name != "param" {
			return r.XML.Skip()
		}
		s, err := r.Content()
		if len(m.params) < 50 {
			m.params = append(m.params, bounded.CutText(s, 200))
		}
		return err
	})
}

func (r *testngReader) finish(m testngMethod) {
	t := &m.t
	switch m.status {
	case "PASS", "SUCCESS":
		t.Status = model.Passed
	case "FAIL", "FAILURE":
		t.Status = model.Failed
	case "SUCCESS_PERCENTAGE_FAILURE":
		t.Status = model.Passed // as many of its invocations passed as were asked for
	case "SKIP":
		t.Status = model.Skipped
	default:
		t.Status = model.Other
	}
	if m.config {
		r.config(t)
		return
	}
	if m.retried {
		t.Output = "retried" // marks it until it is handed on
	}
	if t.Status == model.Failed || m.retried || m.mayRepeat() {
		if t.Message == "" && t.Trace == "" {
			t.Message = parse.FirstOf(t.Type, "the test failed; the report says no more")
		}
		r.Explain(t)
		if strings.HasSuffix(t.Type, "ThreadTimeoutException") {
			t.Kind = model.KindTimeout
		}
	}
	if (m.retried || m.mayRepeat()) && r.kept < failtext.HoldTests {
		r.lost[t.Name] = append(r.lost[t.Name], *t)
		r.kept++
		return
	}
	if lost := r.lost[t.Name]; len(lost) > 0 && t.Status != model.Skipped {
		t.Retries = len(lost)
		if t.Status == model.Passed {
			first := lost[0]
			t.Flaky, t.Kind, t.Type, t.Message, t.Trace, t.File, t.Line, t.At = true, first.Kind, first.Type, first.Message, first.Trace, first.File, first.Line, first.At
		}
		r.kept -= len(lost)
		delete(r.lost, t.Name)
	}
	if t.Status == model.Skipped {
		t.Trace, t.Output = "", ""
	}
	r.Test(*t)
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
			last.Status, last.Retries = model.Failed, len(lost)-1
			r.Test(last)
			continue
		}
		for _, t := range lost {
			t.Status, t.Kind, t.Trace = model.Skipped, "", ""
			r.Test(t)
		}
	}
	clear(r.lost)
	r.kept = 0
}

// config takes a set-up or tear-down method, which is no test.
func (r *testngReader) config(t *model.Test) {
	if t.Status != model.Failed {
		return
	}
	r.Explain(t)
	r.Problem(model.Problem{Kind: model.KindSetup, Name: t.FullName(), File: t.File, Line: t.Line, Message: parse.FirstOf(t.Message, "a configuration method failed"), Trace: t.Trace, At: t.At})
}
