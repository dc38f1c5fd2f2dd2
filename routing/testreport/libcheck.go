package testreport

import (
	"bytes"
	"path"
	"strconv"
	"strings"
)

// checkFormat reads the XML log of Check, the unit test framework for C.
var checkFormat = format{name: "check", order: 100, detect: detectCheck, document: readCheck}

func detectCheck(head []byte) int {
	n, rest := xmlRoot(head)
	if n == "testsuites" && bytes.Contains(rootTag(rest), []byte("check.sourceforge.net")) {
		return 95
	}
	return 0
}

type checkReader struct{ *xmlDoc }

func readCheck(d *document) error {
	r := checkReader{newXMLDoc(d, "Check")}
	return r.roots(func(tok xmlToken) error {
		return r.children(func(tok xmlToken) error {
			if tok.name == "suite" {
				return r.suite()
			}
			return r.x.skip()
		})
	}, "testsuites")
}

func (r checkReader) suite() error {
	var title string
	return r.children(func(tok xmlToken) error {
		switch tok.name {
		case "title":
			return r.into(&title)
		case "test":
			return r.testCase(tok, title)
		}
		return r.x.skip()
	})
}

func (r checkReader) testCase(tok xmlToken, suite string) error {
	t := Test{Suite: suite, At: tok.line}
	result := r.attr("result")
	var dir, place, iteration, duration, tcase string
	err := r.fields(map[string]*string{"path": &dir, "fn": &place, "id": &t.Name, "iteration": &iteration, "duration": &duration, "message": &t.Message, "description": &tcase})
	if err != nil && (result == "success" || t.Name == "") {
		return err
	}
	if n, e := strconv.Atoi(iteration); e == nil && n > 0 {
		t.Name += "[" + iteration + "]" // of a loop test; the first is 0 for every test
	}
	t.Duration = seconds(duration)
	t.File, t.Line = checkPlace(dir, place)
	switch result {
	case "success":
		t.Status, t.Message, t.File, t.Line = Passed, "", "", 0
	case "failure":
		t.Status, t.Kind = Failed, KindAssertion
	case "error":
		t.Status, t.Kind = Failed, KindError
		switch {
		case strings.Contains(t.Message, "Test timeout expired"):
			t.Kind = KindTimeout
		case hasAny(t.Message, "received signal", "Received signal", "Early exit"):
			t.Kind = KindCrash
		}
		if strings.Contains(t.Message, "(after this point) ") {
			_, t.Message, _ = strings.Cut(t.Message, "(after this point) ")
		}
	case "skipped":
		t.Status = Skipped
	default:
		t.Status = Other
	}
	if t.Status == Failed {
		r.explain(&t)
		checkSides(&t)
	}
	r.test(t)
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
func checkSides(t *Test) {
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
