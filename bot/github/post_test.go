package github

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing/marker"
)

func TestSeal(t *testing.T) {
	t.Parallel()
	m := marker.Format("k", 2)
	for body, want := range map[string]string{
		"text":                                  "text\n\n" + m,
		"text\n\n" + m:                          "text\n\n" + m,
		"text\n" + marker.Format("k", 1) + "\n": "text\n\n" + m,
		"text\n" + marker.Format("other", 1):    "text\n" + marker.Format("other", 1) + "\n\n" + m,
		m:                                       "\n\n" + m,
		"a\xffb":                                "a\uFFFDb\n\n" + m,
	} {
		if _, got, err := seal("op", m, markdown.Text(body)); err != nil || got != want {
			t.Errorf("%q: %q, %v", body, got, err)
		}
	}
	_, got, err := seal("op", m, markdown.Text(strings.Repeat("é", 70_000)))
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

func FuzzSeal(f *testing.F) {
	f.Add("text\n\n" + marker.Format("k", 1))
	f.Fuzz(func(t *testing.T, text string) {
		if _, sealed, err := seal("op", marker.Format("k", 1), markdown.Text(text)); err != nil || !strings.HasSuffix(sealed, "\n"+marker.Format("k", 1)) || !utf8.ValidString(sealed) {
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
