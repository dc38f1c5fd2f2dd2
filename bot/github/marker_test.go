package github

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestMarkOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]mark{
		marker("a/b#1/ci/1.2/comment", 12):                  {"a/b#1/ci/1.2/comment", 12},
		"text\n\n" + marker("k", 0) + "\r\n \n":             {"k", 0},
		"<!-- switchback:v1 key=k -->":                      {"k", 0},
		"<!-- switchback:v1 key=k sha=abc gen=3 part=2 -->": {"k", 3},
		"> " + marker("k", 1):                               {},
		" " + marker("k", 1):                                {},
		marker("k", 1) + "\nreply":                          {},
		marker("k", 1) + " trailing":                        {},
		"<!-- switchback:v1 key= gen=1 -->":                 {},
		"<!-- switchback:v1 key=a--> <b> gen=1 -->":         {},
		"<!-- switchback:v1 key=k gen=x -->":                {},
		"<!-- switchback:v1 key=k gen=-1 -->":               {},
		"<!-- switchback:v2 key=k gen=1 -->":                {},
		"":                                                  {},
		strings.Repeat("<!-- switchback:v1 key=k -->\n", 2): {"k", 0},
	} {
		got, ok := markOf(text)
		if ok != (want.key != "") || ok && got != want {
			t.Errorf("%q: %+v, %v", text, got, ok)
		}
	}
}

func TestSeal(t *testing.T) {
	t.Parallel()
	m := marker("k", 2)
	for body, want := range map[string]string{
		"text":                           "text\n\n" + m,
		"text\n\n" + m:                   "text\n\n" + m,
		"text\n" + marker("k", 1) + "\n": "text\n\n" + m,
		"text\n" + marker("other", 1):    "text\n" + marker("other", 1) + "\n\n" + m,
		m:                                "\n\n" + m,
		"a\xffb":                         "a\uFFFDb\n\n" + m,
	} {
		if _, got, err := seal("op", m, body); err != nil || got != want {
			t.Errorf("%q: %q, %v", body, got, err)
		}
	}
	_, got, err := seal("op", m, strings.Repeat("é", 70_000))
	if err != nil || utf8.RuneCountInString(got) != bodyLimit || !strings.HasSuffix(got, "(cut)\n\n"+m) {
		t.Errorf("%d characters, %v", utf8.RuneCountInString(got), err)
	}
	for _, bad := range []string{"", "text", "x\n" + m} {
		if _, _, err := seal("op", bad, "text"); err == nil {
			t.Errorf("took %q for a marker", bad)
		}
	}
}

func TestParseRepo(t *testing.T) {
	t.Parallel()
	for s, good := range map[string]bool{"o/r": true, "a-b/c.d_e-f": true, "o": false, "o/r/x": false, "o/..": false, "o/.": false, "/r": false, "o/": false, "o/r?x": false, "o/r%2f": false, "-o/r": false, "o o/r": false} {
		if r, err := ParseRepo(s); (err == nil) != good || good && r.String() != s {
			t.Errorf("%q: %v, %v", s, r, err)
		}
	}
	for _, bad := range []string{"ftp://x", "nothing", "://"} {
		if _, err := New(Options{BaseURL: bad}); err == nil {
			t.Errorf("took %q for an API", bad)
		}
	}
}

func FuzzMarkOf(f *testing.F) {
	f.Add("text\n\n" + marker("k", 1))
	f.Add("<!-- switchback:v1 key=a gen=99999999999999999999 -->")
	f.Fuzz(func(t *testing.T, text string) {
		m, ok := markOf(text)
		if ok && (m.key == "" || strings.ContainsAny(m.key, " \n") || m.gen < 0) {
			t.Errorf("%q: %+v", text, m)
		}
		if _, sealed, err := seal("op", marker("k", 1), text); err != nil || !strings.HasSuffix(sealed, "\n"+marker("k", 1)) || !utf8.ValidString(sealed) {
			t.Errorf("%q sealed is %q, %v", text, sealed, err)
		}
	})
}

func FuzzCut(f *testing.F) {
	f.Add("日本\xff語", 30)
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = max(20, min(n, 1000))
		if got := cut(s, n); len(got) > n || !utf8.ValidString(got) {
			t.Errorf("%q cut to %d is %q", s, n, got)
		}
	})
}
