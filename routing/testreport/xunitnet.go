package testreport

import (
	"bytes"
	"strings"
)

// xunitFormat reads the results of xUnit.net: v1 (a <class> holds tests), v2
// and v3 (a <collection> holds them).
var xunitFormat = format{name: "xunit", order: 50, opens: []string{"assemblies", "assembly"}, detect: detectXUnit, document: readXUnit}

func detectXUnit(head []byte) int {
	n, rest := xmlRoot(head)
	if n != "assemblies" && n != "assembly" {
		return 0
	}
	for _, mark := range [...]string{"run-date=", "test-framework=", "timestamp=", "finish-rtf="} {
		if bytes.Contains(rest, []byte(mark)) {
			return 90
		}
	}
	if bytes.Contains(rest, []byte("<assembly")) && bytes.Contains(rest, []byte("total=")) {
		return 80
	}
	return 0
}

type xunitReader struct{ *xmlDoc }

func readXUnit(d *document) error {
	r := xunitReader{newXMLDoc(d, "xUnit.net")}
	return r.roots(func(tok xmlToken) error {
		if tok.name == "assembly" {
			return r.assembly(tok)
		}
		return r.children(func(tok xmlToken) error {
			if tok.name == "assembly" {
				return r.assembly(tok)
			}
			return r.x.skip()
		})
	}, "assemblies", "assembly")
}

func (r xunitReader) assembly(tok xmlToken) error {
	name := r.attr("name")
	failed, passed, bad := r.failed, r.passed, r.bad
	wantPassed := declared(r.attr("passed"))
	wantFailed, wantErrors, total := declared(r.attr("failed")), declared(r.attr("errors")), declared(r.attr("total"))
	tests := 0
	err := r.children(func(tok xmlToken) error {
		switch tok.name {
		case "errors":
			return r.children(func(tok xmlToken) error {
				if tok.name == "error" {
					return r.suiteError(tok, name)
				}
				return r.x.skip()
			})
		case "collection", "class":
			return r.collection(&tests)
		}
		return r.x.skip()
	})
	if err != nil {
		return err
	}
	// Writers other than xUnit's own give a collection's failures only to the
	// assembly or the reverse; the larger failure count is the one to explain.
	r.shortfall(name, tok.line, wantFailed, r.failed-failed)
	if tests > 0 {
		r.fewer(name, tok.line, wantPassed, r.passed-passed)
	}
	if wantErrors > r.bad-bad && wantErrors > 0 && r.bad == bad {
		r.problem(Problem{Kind: KindSetup, Name: name, At: tok.line, Message: "the assembly declares errors outside its tests, but does not say which"})
	}
	if total > 0 && tests == 0 && r.bad == bad {
		r.problem(Problem{Kind: KindTruncated, Name: name, At: tok.line, Message: "the assembly declares tests and holds none"})
	}
	return nil
}

// collection reads the tests of a <collection> or <class>, with what failed
// around them.
func (r xunitReader) collection(tests *int) error {
	name := r.attr("name")
	return r.children(func(tok xmlToken) error {
		switch tok.name {
		case "test":
			*tests++
			return r.testCase(tok, name)
		case "failure": // v1: the class's fixture
			return r.suiteError(tok, name)
		}
		return r.x.skip()
	})
}

// xunitFailure is what a <failure> says.
type xunitFailure struct{ typ, message, trace string }

func (r xunitReader) failure(f *xunitFailure) error {
	f.typ = r.attr("exception-type")
	err := r.fields(map[string]*string{"message": &f.message, "stack-trace": &f.trace})
	f.message = xunitUnescape(f.message)
	f.trace = xunitUnescape(f.trace)
	return err
}

// xunitUnescape undoes what xUnit.net v2 does to control characters.
func xunitUnescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	s = strings.ReplaceAll(s, `\r\n`, "\n")
	if strings.Contains(s, "\n") {
		return s
	}
	if strings.HasPrefix(s, "Assert.") || strings.Contains(s, `Expected: `) {
		s = strings.ReplaceAll(s, `\n`, "\n")
	}
	return s
}

// suiteError reads <error>, which is of an assembly, a collection, a fixture.
func (r xunitReader) suiteError(tok xmlToken, assembly string) error {
	what, name := r.attr("type"), firstOf(r.attr("name"), assembly)
	var f xunitFailure
	var err error
	if tok.name == "failure" {
		err = r.failure(&f)
	} else {
		err = r.children(func(tok xmlToken) error {
			if tok.name == "failure" {
				return r.failure(&f)
			}
			return r.x.skip()
		})
	}
	p := Problem{Kind: KindSetup, Name: name, At: tok.line, Message: strings.TrimSpace(what + " " + firstOf(f.message, f.typ, "failed")), Trace: f.trace}
	p.File, p.Line = placeIn(f.trace, "", "")
	r.problem(p)
	return err
}

func (r xunitReader) testCase(tok xmlToken, collection string) error {
	t := Test{Status: Other, Name: r.attr("name"), Suite: r.attr("type"), At: tok.line, Duration: seconds(r.attr("time"))}
	if t.Suite == "" {
		t.Suite = collection
	}
	t.Name = strings.TrimPrefix(t.Name, t.Suite+".")
	t.File = r.attr("source-file")
	t.Line = max(0, declared(r.attr("source-line")))
	result := strings.ToLower(r.attr("result"))
	var f xunitFailure
	var reason, line, output string
	failing := false
	err := r.children(func(tok xmlToken) error {
		switch tok.name {
		case "failure":
			failing, t.At = true, tok.line
			return r.failure(&f)
		case "reason":
			// v1 has <message> inside.
			return r.into(&reason)
		case "source-file":
			return r.into(&t.File)
		case "source-line":
			return r.into(&line)
		case "output":
			return r.into(&output)
		}
		return r.x.skip()
	})
	if err != nil && !failing {
		return err
	}
	if n := declared(line); n > 0 {
		t.Line = n
	}
	switch {
	case failing || strings.HasPrefix(result, "fail") || result == "error":
		t.Status, t.Type, t.Message, t.Trace, t.Output = Failed, f.typ, f.message, f.trace, output
		if t.Message == "" && t.Trace == "" {
			t.Message = firstOf(t.Type, "the test failed; the report says no more")
		}
		r.explain(&t)
	case strings.HasPrefix(result, "pass"):
		t.Status = Passed
	case strings.HasPrefix(result, "skip") || result == "notrun":
		t.Status, t.Message = Skipped, reason
	}
	r.test(t)
	return err
}
