package testreport

import (
	"bytes"
	"strings"

	"github.com/switchback-ci/switchback/routing/diagnosis/multimatch"
)

// cppunitFormat reads what CppUnit's XmlOutputter writes, and CUTE and others after it.
var cppunitFormat = format{name: "cppunit", order: 80, detect: detectCppUnit, document: readCppUnit}

// aunitFormat reads what AUnit's XML reporter writes, which was modelled on CppUnit's.
var aunitFormat = format{name: "aunit", order: 90, detect: detectAUnit, document: readAUnit}

func detectCppUnit(head []byte) int {
	n, rest := xmlRoot(head)
	if n != "TestRun" || !hasTestRunParts(rest) {
		return 0
	}
	return 70
}

// detectAUnit knows AUnit by the time on its root, or by its order.
func detectAUnit(head []byte) int {
	n, rest := xmlRoot(head)
	if n != "TestRun" || !hasTestRunParts(rest) {
		return 0
	}
	if bytes.Contains(rootTag(rest), []byte("elapsed=")) {
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
var uncaughtType = multimatch.New(`(?m)^\s*-?\s*(?:uncaught exception of type|Uncaught exception of type)\s+(\S+)`)

var (
	cppunitExpected = multimatch.New(`(?m)^\s*-\s*Expected\s*:(.*)$`)
	cppunitActual   = multimatch.New(`(?m)^\s*-\s*Actual\s*:(.*)$`)
)

type cppunitReader struct {
	*xmlDoc
	tests int
}

func readCppUnit(d *document) error { return readTestRun(d, "CppUnit") }
func readAUnit(d *document) error   { return readTestRun(d, "AUnit") }

func readTestRun(d *document, label string) error {
	r := &cppunitReader{xmlDoc: newXMLDoc(d, label)}
	return r.roots(r.run, "TestRun")
}

func (r *cppunitReader) run(tok xmlToken) error {
	var tests, failed string
	start, before := r.failed, r.tests
	err := r.children(func(tok xmlToken) error {
		switch tok.name {
		case "FailedTests":
			return r.children(func(tok xmlToken) error { return r.test1(tok, Failed) })
		case "SuccessfulTests":
			return r.children(func(tok xmlToken) error { return r.test1(tok, Passed) })
		case "IgnoredTests", "SkippedTests":
			return r.children(func(tok xmlToken) error { return r.test1(tok, Skipped) })
		case "Statistics":
			return r.fields(map[string]*string{"Tests": &tests, "FailuresTotal": &failed})
		}
		return r.x.skip()
	})
	if err != nil {
		return err
	}
	r.shortfall("", tok.line, declared(failed), r.failed-start)
	if r.tests > before {
		r.fewer("", tok.line, declared(tests), r.tests-before)
	}
	if n := declared(tests); n > 0 && r.tests == before {
		r.problem(Problem{Kind: KindTruncated, At: tok.line, Message: "the report declares tests and holds none"})
	}
	return nil
}

// test1 reads <Test> or <FailedTest>.
func (r *cppunitReader) test1(tok xmlToken, status Status) error {
	if tok.name != "Test" && tok.name != "FailedTest" && tok.name != "SkippedTest" && tok.name != "IgnoredTest" {
		return r.x.skip()
	}
	t := Test{Status: status, At: tok.line}
	var name, typ, line, time, exception, info, trace string
	err := r.children(func(in xmlToken) error {
		switch in.name {
		case "Name":
			return r.into(&name)
		case "FailureType":
			return r.into(&typ)
		case "Message":
			return r.into(&t.Message)
		case "Time":
			return r.into(&time)
		case "Location":
			return r.fields(map[string]*string{"File": &t.File, "Line": &line})
		case "Exception": // AUnit
			return r.fields(map[string]*string{"Name": &exception, "Message": &exception, "Information": &info, "Traceback": &trace})
		}
		return r.x.skip()
	})
	if err != nil && (status != Failed || name == "") {
		return err
	}
	name = strings.Join(strings.Fields(name), " ")
	if suite, routine, ok := strings.Cut(name, " : "); ok && r.label == "AUnit" {
		t.Suite, t.Name = suite, routine
	} else {
		t.Suite, t.Name = splitScope(name)
	}
	t.Duration = seconds(time)
	t.Line = max(0, declared(line))
	if status == Failed {
		t.Type, t.Trace, t.Kind = exception, trace, cppunitKind(typ)
		if info != "" {
			t.Message = strings.TrimPrefix(exception+": "+info, ": ")
		}
		if m := uncaughtType.FindStringSubmatch(t.Message); t.Type == "" && m != nil {
			t.Type = m[1]
		}
		if t.Message == "" {
			t.Message = firstOf(exception, typ, "the test failed; the report says no more")
		}
		r.explain(&t)
		sidesBy(&t, cppunitExpected, cppunitActual)
	}
	r.tests++
	r.test(t)
	return err
}

func cppunitKind(typ string) Kind {
	switch {
	case strings.HasPrefix(typ, "Assert"):
		return KindAssertion
	case typ == "":
		return ""
	}
	return KindError
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
