package native

import (
	"bytes"
	"path"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
	"github.com/switchback-ci/switchback/routing/testreport/internal/xmlstream"
)

// checkFormat reads the XML log of Check, the unit test framework for C.
var checkFormat = format.Format{Name: "check", Order: 100, Detect: detectCheck, Document: readCheck}

func detectCheck(head []byte) int {
	n, rest := xmlstream.Root(head)
	if n == "testsuites" && bytes.Contains(xmlstream.RootTag(rest), []byte("check.sourceforge.net")) {
		return 95
	}
	return 0
}

type checkReader struct{ *xmlstream.Doc }

func readCheck(d *format.Document) error {
	r := checkReader{xmlstream.NewDoc(d, "Check")}
	return r.Roots(func(tok xmlstream.Token) error {
		return r.Children(func(tok xmlstream.Token) error {
			if tok.Name == "suite" {
				return r.suite()
			}
			return r.XML.Skip()
		})
	}, "testsuites")
}

func (r checkReader) suite() error {
	var title string
	return r.Children(func(tok xmlstream.Token) error {
		switch tok.Name {
		case "title":
			return r.Into(&title)
		case "test":
			return r.testCase(tok, title)
		}
		return r.XML.Skip()
	})
}

func (r checkReader) testCase(tok xmlstream.Token, suite string) error {
	t := model.Test{Suite: suite, At: tok.Line}
	result := r.Attr("result")
	var dir, place, iteration, duration, tcase string
	err := r.Fields(map[string]*string{"path": &dir, "fn": &place, "id": &t.Name, "iteration": &iteration, "duration": &duration, "message": &t.Message, "description": &tcase})
	if err != nil && (result == "success" || t.Name == "") {
		return err
	}
	if n, e := strconv.Atoi(iteration); e == nil && n > 0 {
		t.Name += "[" + iteration + "]" // of a loop test; the first is 0 for every test
	}
	t.Duration = parse.Seconds(duration)
	t.File, t.Line = checkPlace(dir, place)
	switch result {
	case "success":
		t.Status, t.Message, t.File, t.Line = model.Passed, "", "", 0
	case "failure":
		t.Status, t.Kind = model.Failed, model.KindAssertion
	case "error":
		t.Status, t.Kind = model.Failed, model.KindError
		switch {
		case strings.Contains(t.Message, "Test timeout expired"):
			t.Kind = model.KindTimeout
		case parse.HasAny(t.Message, "received signal", "Received signal", "Early exit"):
			t.Kind = model.KindCrash
		}
		if strings.Contains(t.Message, "(after this point) ") {
			_, t.Message, _ = strings.Cut(t.Message, "(after this point) ")
		}
	case "skipped":
		t.Status = model.Skipped
	default:
		t.Status = model.Other
	}
	if t.Status == model.Failed {
		r.Explain(&t)
		checkSides(&t)
	}
	r.Test(t)
	return err
}

// checkPlace reads "file.c:12", relative to dir.
func checkPlace(dir, place string) (string, int) {
	i := strings.LastIndexByte(place, ':')
	if i <= 0 {
		return place, 0
	}
	n, err := strconv.Atoi(place[i+1:])
	if err != nil || n < 0 {
		return place, 0
	}
	file := place[:i]
	if dir != "" && dir != "." && !path.IsAbs(file) {
		file = path.Join(dir, file)
	}
	return file, n
}

// checkSides reads "Assertion 'a == b' failed: a == 1, b == 2"; the second is
// the one expected.
func checkSides(t *model.Test) {
	rest, ok := strings.CutPrefix(t.Message, "Assertion '")
	assertion, values, ok2 := strings.Cut(rest, "' failed: ")
	if !ok || !ok2 {
		return
	}
	for i := strings.Index(assertion, " == "); i > 0; {
		a, b := assertion[:i], assertion[i+4:]
		if v, ok := strings.CutPrefix(values, a+" == "); ok {
			if j := strings.LastIndex(v, ", "+b+" == "); j >= 0 {
				t.Actual, t.Expected = v[:j], v[j+len(b)+6:]
				return
			}
		}
		j := strings.Index(b, " == ")
		if j < 0 {
			return
		}
		i += 4 + j
	}
}
