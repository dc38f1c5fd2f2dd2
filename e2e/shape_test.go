package e2e

import "testing"

func TestShape(t *testing.T) {
	shape := func(method, path, query, body string) string {
		return shapeOf(&Request{Method: method, Path: path, Query: query, Body: []byte(body)})
	}
	a := shape("PATCH", "/repos/octo/repo-1/issues/12", "", `{"state":"closed","body":"Some text."}`)
	if b := shape("PATCH", "/repos/mona/other/issues/7", "", `{"body":"Other","state":"closed"}`); a != b {
		t.Errorf("%s and %s are one shape", a, b)
	}
	for name, other := range map[string]string{
		"another word":   shape("PATCH", "/repos/octo/repo-1/issues/12", "", `{"state":"open","body":"Some text."}`),
		"another key":    shape("PATCH", "/repos/octo/repo-1/issues/12", "", `{"state":"closed","title":"Some text."}`),
		"another kind":   shape("PATCH", "/repos/octo/repo-1/issues/12", "", `{"state":"closed","body":7}`),
		"another route":  shape("PATCH", "/repos/octo/repo-1/issues/comments/12", "", `{"state":"closed","body":"Some text."}`),
		"another method": shape("POST", "/repos/octo/repo-1/issues/12", "", `{"state":"closed","body":"Some text."}`),
		"a parameter":    shape("PATCH", "/repos/octo/repo-1/issues/12", "x=1", `{"state":"closed","body":"Some text."}`),
		"no body":        shape("PATCH", "/repos/octo/repo-1/issues/12", "", ""),
	} {
		if a == other {
			t.Errorf("%s is another shape: %s", name, other)
		}
	}
}
