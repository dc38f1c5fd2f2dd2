package suggest

import (
	"strings"
	"testing"
)

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "abc", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"kitten", "sitting", 3}, {"스킵", "스컵", 1}} {
		if got := Distance(c.a, c.b); got != c.want || Distance(c.b, c.a) != c.want {
			t.Errorf("%s → %s: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{"RETYR": "retry", "hlep": "help", "": "help", "resume": "retry"} {
		if got := Nearest(word, []string{"retry", "help"}); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	if got := Nearest("x", nil); got != "" {
		t.Errorf("nothing known: %q", got)
	}
}

func TestHint(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", longestWord+1)
	many := strings.Split(strings.Repeat("name ", longestList+1), " ")
	for _, c := range []struct {
		word  string
		known []string
		want  string
	}{
		{"titel", []string{"name", "title"}, `did you mean "title"?`},
		{"Title", []string{"title"}, `did you mean "title"?`},
		{"ab", []string{"cd"}, "known are cd"},
		{"flavour", []string{"version", "language"}, "known are version, language"},
		{"x", nil, "remove it"},
		{long, []string{long}, "known are " + long},
		{"name", many, "known are name, name, name, name, name, name, name, name, name, name"},
	} {
		if got := Hint(c.word, c.known); got != c.want {
			t.Errorf("%q of %.3q: %q, want %q", c.word, c.known, got, c.want)
		}
	}
}
