package lines

import (
	"strings"
	"testing"
)

func FuzzOutputPrefix(f *testing.F) {
	for _, s := range []string{
		"pkg:test: PASS", "@scope/pkg: x", "web_1  | x", "web |x", "[INFO] x", "[INFO x] y", "INFO] x", " a: b", ": a", "a b: c", "a  b", "a: ", "a:", "",
		strings.Repeat("a", 78) + ": b", strings.Repeat("a", 79) + ": b", strings.Repeat("a", 80) + ": b",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want := ""
		for i := 1; i < min(len(s)-1, 80); i++ {
			if s[i+1] == ' ' && (s[i] == ':' || s[i] == '|' || s[i] == ']' && s[0] == '[') {
				want = s[:i+2]
				break
			}
			if s[i] == ' ' && (s[0] == ' ' || s[i+1] != ' ' && s[i+1] != '|') {
				break
			}
		}
		if got := OutputPrefix(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	})
}
