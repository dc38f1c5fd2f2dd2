package dotnet

import (
	"bytes"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
	"github.com/switchback-ci/switchback/routing/testreport/internal/xmlstream"
)

// xunitFormat reads the results of xUnit.net: v1 (a <class> holds tests), v2
// and v3 (a <collection> holds them).
var xunitFormat = format.Format{Name: "xunit", Order: 50, Opens: []string{"assemblies", "assembly"}, Detect: detectXUnit, Document: readXUnit}

func detectXUnit(head []byte) int {
	n, rest := xmlstream.Root(head)
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

type xunitReader struct{ *xmlstream.Doc }

func readXUnit(d *format.Document) error {
	r := xunitReader{xmlstream.NewDoc(d, "xUnit.net")}
	return r.Roots(func(tok xmlstream.Token) error {
		if tok.Name == "assembly" {
			return r.assembly(tok)
		}
		return r.Children(func(tok xmlstream.Token) error {
			if tok.Name == "assembly" {
				return r.assembly(tok)
			}
			return r.XML.Skip()
		})
	}, "assemblies", "assembly")
}

func (r xunitReader) assembly(tok xmlstream.Token) error {
	name := r.Attr("name")
	failed, passed, bad := r.Failed, r.Passed, r.Bad
	wantPassed := parse.Declared(r.Attr("passed"))
	wantFailed, wantErrors, total := parse.Declared(r.Attr("failed")), parse.Declared(r.Attr("errors")), parse.Declared(r.Attr("total"))
	tests := 0
	err := r.Children(func(tok xmlstream.Token) error {
		switch tok.Name {
		case "errors":
			return r.Children(func(tok xmlstream.Token) error {
				if tok.Name == "error" {
					return r.suiteError(tok, name)
				}
				return r.XML.Skip()
			})
		case "collection", "class":
			return r.collection(&tests)
		}
		return r.XML.Skip()
	})
	if err != nil {
		return err
	}
	// Writers other than xUnit's own give a collection's failures only to the
	// assembly or the reverse; the larger failure count is the one to explain.
	r.Shortfall(name, tok.Line, wantFailed, r.Failed-failed)
	if tests > 0 {
		r.Fewer(name, tok.Line, wantPassed, r.Passed-passed)
	}
	if wantErrors > r.Bad-bad && wantErrors > 0 && r.Bad == bad {
		r.Problem(model.Problem{Kind: model.KindSetup, Name: name, At: tok.Line, Message: "the assembly declares errors outside its tests, but does not say which"})
	}
	if total > 0 && tests == 0 && r.Bad == bad {
		r.Problem(model.Problem{Kind: model.KindTruncated, Name: name, At: tok.Line, Message: "the assembly declares tests and holds none"})
	}
	return nil
}

// collection reads the tests of a <collection> or <class>, with what failed
// around them.
func (r xunitReader) collection(tests *int) error {
	name := r.Attr("name")
	return r.Children(func(tok xmlstream.Token) error {
		switch tok.Name {
		case "test":
			*tests++
			return r.testCase(tok, name)
		case "failure": // v1: the class's fixture
			return r.suiteError(tok, name)
		}
		return r.XML.Skip()
	})
}

// xunitFailure is what a <failure> says.
type xunitFailure struct{ typ, message, trace string }

func (r xunitReader) failure(f *xunitFailure) error {
	f.typ = r.Attr("exception-type")
	err := r.Fields(map[string]*string{"message": &f.message, "stack-trace": &f.trace})
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
func (r xunitReader) suiteError(tok xmlstream.Token, assembly string) error {
	what, name := r.Attr("type"), parse.FirstOf(r.Attr("name"), assembly)
	var f xunitFailure
	var err error
	if tok.Name == "failure" {
		err = r.failure(&f)
	} else {
		err = r.Children(func(tok xmlstream.Token) error {
			if tok.Name == "failure" {
				return r.failure(&f)
			}
			return r.XML.Skip()
		})
	}
	p := model.Problem{Kind: model.KindSetup, Name: name, At: tok.Line, Message: strings.TrimSpace(what + " " + parse.FirstOf(f.message, f.typ, "failed")), Trace: f.trace}
	p.File, p.Line = failtext.PlaceIn(f.trace, "", "")
	r.Problem(p)
	return err
}

func (r xunitReader) testCase(tok xmlstream.Token, collection string) error {
	t := model.Test{Status: model.Other, Name: r.Attr("name"), Suite: r.Attr("type"), At: tok.Line, Duration: parse.Seconds(r.Attr("time"))}
	if t.Suite == "" {
		t.Suite = collection
	}
	t.Name = strings.TrimPrefix(t.Name, t.Suite+".")
	t.File = r.Attr("source-file")
	t.Line = max(0, parse.Declared(r.Attr("source-line")))
	result := strings.ToLower(r.Attr("result"))
	var f xunitFailure
	var reason, line, output string
	failing := false
	err := r.Children(func(tok xmlstream.Token) error {
		switch tok.Name {
		case "failure":
			failing, t.At = true, tok.Line
			return r.failure(&f)
		case "reason":
			// v1 has <message> inside.
			return r.Into(&reason)
		case "source-file":
			return r.Into(&t.File)
		case "source-line":
			return r.Into(&line)
		case "output":
			return r.Into(&output)
		}
		return r.XML.Skip()
	})
	if err != nil && !failing {
		return err
	}
	if n := parse.Declared(line); n > 0 {
		t.Line = n
	}
	switch {
	case failing || strings.HasPrefix(result, "fail") || result == "error":
		t.Status, t.Type, t.Message, t.Trace, t.Output = model.Failed, f.typ, f.message, f.trace, output
		if t.Message == "" && t.Trace == "" {
			t.Message = parse.FirstOf(t.Type, "the test failed; the report says no more")
		}
		r.Explain(&t)
	case strings.HasPrefix(result, "pass"):
		t.Status = model.Passed
	case strings.HasPrefix(result, "skip") || result == "notrun":
		t.Status, t.Message = model.Skipped, reason
	}
	r.Test(t)
	return err
}
