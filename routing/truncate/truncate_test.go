package truncate

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestVariants(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, got, want string }{
		{"short", Head("abc", 3, "…"), "abc"},
		{"head", Head("abcdef", 5, "…"), "ab…"},
		{"head within a character", Head("a한글", 6, "…"), "a…"},
		{"head without space", Head("abcdef", 2, "…"), "…"},
		{"tail", Tail("abcdef", 5, "…"), "…ef"},
		{"tail within a character", Tail("한글a", 6, "…"), "…a"},
		{"middle", Middle(strings.Repeat("a", 30), 21, "-…-"), "aaaaaaaa-…-aaaaaaaa"},
		{"middle without space", Middle("abcdefghij", 5, "\n…\n"), "ab…"},
		{"counted", Counted("abcdefghijkl", 8), "abcdef\n[… 4 bytes left out …]\nkl"},
		{"runes", Runes("한글한글", 3, "…"), "한글…"},
		{"middle runes", MiddleRunes("한글abc글한", 5), "한글…글한"},
		{"prefix", Prefix("a한", 2), "a"},
		{"message", Message(" a \n b\t"), "a b"},
		{"lines", strings.Join(Lines(strings.Split("a b c d e", " "), 3), " "), "a b … e"},
		{"sha", ShortSHA("0123456789") + ShortSHA("01"), "012345601"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
	if whole := strings.TrimSpace(strings.Repeat("a_key, ", 300)); Message(whole) != whole {
		t.Error("a list of keys is cut")
	}
	if got := Message(strings.Repeat("한글 ", 2000)); len(got) > 3600 || !utf8.ValidString(got) || !strings.Contains(got, " … ") {
		t.Errorf("a long message is %q", got)
	}
}

func FuzzLimits(f *testing.F) {
	f.Add("日本\xff語", 30)
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = max(12, min(n, 1000))
		valid := utf8.ValidString(s)
		for name, got := range map[string]string{
			"Head": Head(s, n, Ellipsis), "Tail": Tail(s, n, Ellipsis), "Middle": Middle(s, n, "\n…\n"), "Prefix": Prefix(s, n),
		} {
			if len(got) > n || valid && !utf8.ValidString(got) {
				t.Errorf("%s(%q, %d) is %q", name, s, n, got)
			}
		}
		for name, got := range map[string]string{"Runes": Runes(s, n, Ellipsis), "MiddleRunes": MiddleRunes(s, n)} {
			if utf8.RuneCountInString(got) > n || valid && !utf8.ValidString(got) {
				t.Errorf("%s(%q, %d) is %q", name, s, n, got)
			}
		}
	})
}
