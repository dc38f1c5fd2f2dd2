package marker

import (
	"strings"
	"testing"
)

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for _, key := range []string{
		"acme/shop#12/unit/comment", "a b", "x --> <b>", "a--b", "---", "한글", "50%", "a gen=3 -->", "line\nbreak", "@me", "\xff",
	} {
		m := Marker{key, 7}.String()
		if strings.ContainsAny(m, "\r\n") || strings.Index(m, "-->") != len(m)-3 || strings.Contains(m[4:len(m)-3], "--") {
			t.Errorf("Format(%q) = %q can be closed early", key, m)
		}
		for _, text := range []string{m, "some text\n\n" + m + "\n", "some text\r\n\r\n" + m + "\r\n \n", strings.Repeat(m+"\n", 2)} {
			if got, ok := Parse(text); !ok || got != (Marker{key, 7}) {
				t.Errorf("Parse(%q) = %+v, %v", text, got, ok)
			}
		}
	}
}

// The form is fixed: posts that exist are found by it.
func TestFormatIsFixed(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"azAZ09._/#:+-":      "<!-- switchback:v1 key=azAZ09._/#:+- gen=0 -->",
		"`{@[/:":             "<!-- switchback:v1 key=%60%7B%40%5B/: gen=0 -->",
		"--a---b":            "<!-- switchback:v1 key=-%2Da-%2D%2Db gen=0 -->",
		"acme/shop@main/%7E": "<!-- switchback:v1 key=acme/shop%40main/%257E gen=0 -->",
	} {
		if got := Format(key, 0); got != want {
			t.Errorf("Format(%q) = %s, want %s", key, got, want)
		}
		if got, ok := Parse(want); !ok || got != (Marker{key, 0}) {
			t.Errorf("Parse(%s) = %+v, %v", want, got, ok)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	m := Format("acme/shop#12/unit/comment", 7)
	for name, text := range map[string]string{
		"quoted":          "> " + m,
		"indented":        "    " + m,
		"in a line":       "see " + m,
		"trailing text":   m + " trailing",
		"not last":        m + "\nthanks",
		"other version":   strings.Replace(m, "v1", "v2", 1),
		"no number":       strings.Replace(m, "gen=7", "gen=x", 1),
		"negative number": strings.Replace(m, "gen=7", "gen=-7", 1),
		"padded number":   strings.Replace(m, "gen=7", "gen=07", 1),
		"huge number":     strings.Replace(m, "gen=7", "gen=99999999999999999999", 1),
		"no generation":   strings.Replace(m, " gen=7", "", 1),
		"other fields":    strings.Replace(m, "gen=7", "sha=abc gen=7 part=2", 1),
		"no key":          Format("", 7),
		"needless escape": strings.Replace(m, "acme", "%61cme", 1),
		"broken escape":   strings.Replace(m, "acme", "acm%", 1),
		"closed early":    strings.Replace(m, "acme", "acme--> <b>", 1),
		"empty":           "",
	} {
		if got, ok := Parse(text); ok {
			t.Errorf("%s: took %+v for %q", name, got, text)
		}
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"a\n\nb\n":    {"a", "b"},
		"a \r\nb\r\n": {"a", "b"},
		"b":           {"", "b"},
		"":            {"", ""},
	} {
		if body, last := Split(text); body != want[0] || last != want[1] {
			t.Errorf("Split(%q) = %q, %q", text, body, last)
		}
	}
}

func FuzzRoundTrip(f *testing.F) {
	f.Add("acme/shop#12/unit/comment", 3)
	f.Add("-->\n%", 1)
	f.Fuzz(func(t *testing.T, key string, gen int) {
		m := Format(key, gen)
		got, ok := Parse(m)
		if ok != (key != "" && gen >= 0) || ok && got != (Marker{key, gen}) || strings.ContainsAny(m, "\n\r") || strings.Count(m, "-->") != 1 {
			t.Fatalf("Format(%q, %d) = %q reads as %+v, %v", key, gen, m, got, ok)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("text\n\n" + Format("k", 1))
	f.Add("<!-- switchback:v1 key=a gen=99999999999999999999 -->")
	f.Fuzz(func(t *testing.T, text string) {
		if m, ok := Parse(text); ok && (m.Key == "" || m.Gen < 0 || !strings.HasSuffix(strings.TrimRight(text, " \t\r\n"), m.String())) {
			t.Errorf("%q: %+v", text, m)
		}
	})
}
