package native

import (
	"bytes"
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
	"github.com/switchback-ci/switchback/routing/testreport/internal/xmlstream"
)

// cppunitFormat reads what CppUnit's XmlOutputter writes, and CUTE and others after it.
var cppunitFormat = format.Format{Name: "cppunit", Order: 80, Detect: detectCppUnit, Document: readCppUnit}

// aunitFormat reads what AUnit's XML reporter writes, which was modelled on CppUnit's.
var aunitFormat = format.Format{Name: "aunit", Order: 90, Detect: detectAUnit, Document: readAUnit}

func detectCppUnit(head []byte) int {
	n, rest := xmlstream.Root(head)
	if n != "TestRun" || !hasTestRunParts(rest) {
		return 0
	}
	return 70
}

// detectAUnit knows AUnit by the time on its root, or by its order.
func detectAUnit(head []byte) int {
	n, rest := xmlstream.Root(head)
	if n != "TestRun" || !hasTestRunParts(rest) {
		return 0
	}
	if bytes.Contains(xmlstream.RootTag(rest), []byte("elapsed=")) {
		return 90
	}
	i, j := bytes.Index(rest, []byte("<Statistics")), bytes.Index(rest, []byte("<SuccessfulTests"))
	if i >= 0 && j > i && !bytes.Contains(rest, []byte("<FailedTest ")) && !bytes.Contains(rest[:i], []byte("<FailedTests")) {
		return 80
	}
	return 0
}

func hasTestRunParts(rest []byte) bool {
	for _, p := range [...]string{"<FailedTests", "<SuccessfulTests", "<Statistics"} {
		if bytes.Contains(rest, []byte(p)) {
			return true
		}
	}
	return false
}

// uncaughtType is the type CppUnit gives of an exception that a test let through.
var uncaughtType = lazyregexp.New(`(?m)^\s*-?\s*(?:uncaught exception of type|Uncaught exception of type)\s+(\S+)`)

var (
	cppunitExpected = lazyregexp.New(`(?m)^\s*-\s*Expected\s*:(.*)$`)
	cppunitActual   = lazyregexp.New(`(?m)^\s*-\s*Actual\s*:(.*)$`)
)

type cppunitReader struct {
	*xmlstream.Doc
	tests int
}

func readCppUnit(d *format.Document) error { return readTestRun(d, "CppUnit") }

func readAUnit(d *format.Document) error { return readTestRun(d, "AUnit") }

func readTestRun(d *format.Document, label string) error {
	r := &cppunitReader{Doc: xmlstream.NewDoc(d, label)}
	return r.Roots(r.run, "TestRun")
}

func (r *cppunitReader) run(tok xmlstream.Token) error {
	var tests, failed string
	start, before := r.Failed, r.tests
	err := r.Children(func(tok xmlstream.Token) error {
		switch tok.Name {
		case "FailedTests":
			return r.Children(func(tok xmlstream.Token) error { return r.test1(tok, model.Failed) })
		case "SuccessfulTests":
			return r.Children(func(tok xmlstream.Token) error { return r.test1(tok, model.Passed) })
		case "IgnoredTests", "SkippedTests":
			return r.Children(func(tok xmlstream.Token) error { return r.test1(tok, model.Skipped) })
		case "Statistics":
			return r.Fields(map[string]*string{"Tests": &tests, "FailuresTotal": &failed})
		}
		return r.XML.Skip()
	})
	if err != nil {
		return err
	}
	r.Shortfall("", tok.Line, parse.Declared(failed), r.Failed-start)
	if r.tests > before {
		r.Fewer("", tok.Line, parse.Declared(tests), r.tests-before)
	}
	if n := parse.Declared(tests); n > 0 && r.tests == before {
		r.Problem(model.Problem{Kind: model.KindTruncated, At: tok.Line, Message: "the report declares tests and holds none"})
	}
	return nil
}

// test1 reads <Test> or <FailedTest>.
func (r *cppunitReader) test1(tok xmlstream.Token, status model.Status) error {
	if tok.Name != "Test" && tok.Name != "FailedTest" && tok.Name != "SkippedTest" && tok.Name != "IgnoredTest" {
		return r.XML.Skip()
	}
	t := model.Test{Status: status, At: tok.Line}
	var name, typ, line, time, exception, info, trace string
	err := r.Children(func(in xmlstream.Token) error {
		switch in.Name {
		case "Name":
			return r.Into(&name)
		case "FailureType":
			return r.Into(&typ)
		case "Message":
			return r.Into(&t.Message)
		case "Time":
			return r.Into(&time)
		case "Location":
			return r.Fields(map[string]*string{"File": &t.File, "Line": &line})
		case "Exception": // AUnit
			return r.Fields(map[string]*string{"Name": &exception, "Message": &exception, "Information": &info, "Traceback": &trace})
		}
		return r.XML.Skip()
	})
	if err != nil && (status != model.Failed || name == "") {
		return err
	}
	name = strings.Join(strings.Fields(name), " ")
	if suite, routine, ok := strings.Cut(name, " : "); ok && r.Label == "AUnit" {
		t.Suite, t.Name = suite, routine
	} else {
		t.Suite, t.Name = splitScope(name)
	}
	t.Duration = parse.Seconds(time)
	t.Line = max(0, parse.Declared(line))
	if status == model.Failed {
		t.Type, t.Trace, t.Kind = exception, trace, cppunitKind(typ)
		if info != "" {
			t.Message = strings.TrimPrefix(exception+": "+info, ": ")
		}
		if m := uncaughtType.FindStringSubmatch(t.Message); t.Type == "" && m != nil {
			t.Type = m[1]
		}
		if t.Message == "" {
			t.Message = parse.FirstOf(exception, typ, "the test failed; the report says no more")
		}
		r.Explain(&t)
		failtext.SidesBy(&t, cppunitExpected, cppunitActual)
	}
	r.tests++
	r.Test(t)
	return err
}

func cppunitKind(typ string) model.Kind {
	switch {
	case strings.HasPrefix(typ, "Assert"):
		return model.KindAssertion
	case typ == "":
		return ""
	}
	return model.KindError
}

// splitScope parts a C++ name at its last "::" outside template brackets.
func splitScope(full string) (scope, name string) {
	if strings.Contains(full, " ") {
		return "", full
	}
	depth := 0
	for i := len(full) - 1; i > 1; i-- {
		switch full[i] {
		case '>', ')':
			depth++
		case '<', '(':
			depth--
		case ':':
			if depth == 0 && full[i-1] == ':' && i < len(full)-1 {
				return full[:i-1], full[i+1:]
			}
		}
	}
	return "", full
}
