package render

import (
	"strings"
	"testing"
)

func TestMarker(t *testing.T) {
	t.Parallel()
	for _, key := range []string{
		"acme/shop#12/unit/comment", "", "a b", "x --> <b>", "a--b", "---", "한글", "50%", "a gen=3 -->", "line\nbreak", "@me", "\xff",
	} {
		m := Marker(key, 7)
		if strings.ContainsAny(m, "\r\n") || strings.Index(m, "-->") != len(m)-3 || strings.Contains(m[4:len(m)-3], "--") {
			t.Errorf("Marker(%q) = %q can be closed early", key, m)
		}
		got, gen, ok := ParseMarker("some text\n\n" + m + "\n")
		if !ok || got != key || gen != 7 {
			t.Errorf("ParseMarker(%q) = %q, %d, %v", m, got, gen, ok)
		}
	}
}

func TestParseMarkerRefuses(t *testing.T) {
	t.Parallel()
	m := Marker("acme/shop#12/unit/comment", 7)
	for name, text := range map[string]string{
		"quoted":          "> " + m,
		"indented":        "    " + m,
		"in a line":       "see " + m,
		"not last":        m + "\nthanks",
		"other version":   strings.Replace(m, "v1", "v2", 1),
		"no number":       strings.Replace(m, "gen=7", "gen=x", 1),
		"padded number":   strings.Replace(m, "gen=7", "gen=07", 1),
		"needless escape": strings.Replace(m, "acme", "%61cme", 1),
		"broken escape":   strings.Replace(m, "acme", "acm%", 1),
		"empty":           "",
	} {
		if key, _, ok := ParseMarker(text); ok {
			t.Errorf("%s: took %q for %q", name, text, key)
		}
	}
}

func FuzzMarker(f *testing.F) {
	f.Add("acme/shop#12/unit/comment", 3)
	f.Add("-->\n%", -1)
	f.Fuzz(func(t *testing.T, key string, gen int) {
		m := Marker(key, gen)
		got, n, ok := ParseMarker(m)
		if !ok || got != key || n != gen || strings.ContainsAny(m, "\n\r") || strings.Count(m, "-->") != 1 {
			t.Fatalf("Marker(%q, %d) = %q reads as %q, %d, %v", key, gen, m, got, n, ok)
		}
	})
}
