package multimatch

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"testing"
)

// dfaTexts exercise what patterns distinguish: case, words, ends, text that is not ASCII and text
// that is not UTF-8.
var dfaTexts = []string{
	"", " ", "\n", "a", "error", "Error: x", "an error\n", "\nerror", "errors", "_error_", "ERROR", "error \u212a", "\u017fkip", "no é é", "é", "\xff", "a\xffb", "\xe2\x9c", "✓ ok",
	"x.java:[12,3] cannot find symbol", "foo(12,3): error CS1002: ; expected", "12:34:56 fatal", "a\nb\nc", "aaaaaaaaaaaaaaaaaaaaaaaaab", "\x00", "ａ",
}

func TestDFAMatchesWhatRegexpMatches(t *testing.T) {
	t.Parallel()
	patterns := []string{
		`error`, `(?i)error`, `\berror\b`, `\Berror`, `error\B`, `^error`, `error$`, `(?m)^error$`, `\Aerror\z`, `(?s)a.*b`, `a.*b`, `a.+?b`, `(?i)\bskip`, `(?i)k`, `[^a]$`, `é`, `[[:^ascii:]]`, `\x{FFFD}`, `.`, `^.$`,
		`(?:a{3,5}){2}b`, `^(?:\s*\d+:)+\d+ fatal`, `[\w$]+\.java:\[\d+,\d+\]`, `error CS\d{4}`, `(?m)^b$`, `\bfatal\b.*(?:é|$)`, `x*y`, `\x00`, `(?i)ſ`, `\pL+`, `a|^$`,
	}
	for _, p := range patterns {
		re := regexp.MustCompile(p)
		d := newDFA(parsed(t, p), false, newMemory())
		for _, s := range dfaTexts {
			for _, text := range []string{s, s + "error", "x " + s + "\t", s + "\r\n" + s} {
				sameAnswer(t, d, re, text)
			}
		}
	}
}

func FuzzDFA(f *testing.F) {
	for _, s := range dfaTexts {
		f.Add(`(?i)\berror(?:s|ed)?\b.*:$`, s)
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		re, err := regexp.Compile(pattern)
		if err != nil {
			return
		}
		d := newDFA(parsed(t, pattern), false, newMemory())
		sameAnswer(t, d, re, text)
		sameAnswer(t, d, re, text+"\n"+text)
	})
}

// TestDFAKeepsItsBounds matches a pattern whose automaton has 2^16 states against texts that lead to
// most of them.
func TestDFAKeepsItsBounds(t *testing.T) {
	t.Parallel()
	const p = `a[ab]{16}c`
	d, re := newDFA(parsed(t, p), false, newMemory()), regexp.MustCompile(p)
	unanswered := 0
	for i := range 1 << 12 {
		var b strings.Builder
		for k, n := 0, uint32(i)*2654435761; k < 32; k++ {
			b.WriteByte("ab"[n>>k&1])
		}
		text := b.String() + "c"
		yes, ok := d.match(text)
		if !ok {
			unanswered++
		} else if yes != re.MatchString(text) {
			t.Fatalf("%q: %v", text, yes)
		}
	}
	if d.size > maxDFA || unanswered == 0 {
		t.Errorf("%d bytes are allocated, %d texts have no answer", d.size, unanswered)
	}
	d.memory.Store(0)
	shared := newDFA(parsed(t, `abc`), false, d.memory)
	if yes, ok := shared.match("xabc"); ok {
		t.Errorf("without memory it answers %v", yes)
	}
}

func TestDFAIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	const p = `(?i)\b(?:error|fatal)\b.*\d$`
	d, re := newDFA(parsed(t, p), false, newMemory()), regexp.MustCompile(p)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, s := range slices.Repeat(dfaTexts, 20) {
				if yes, ok := d.match(s + "1"); ok && yes != re.MatchString(s+"1") {
					t.Errorf("%q: %v", s, yes)
				}
			}
		})
	}
	wg.Wait()
}

func parsed(t *testing.T, pattern string) *syntax.Regexp {
	t.Helper()
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	return re.Simplify()
}

func sameAnswer(t *testing.T, d *dfa, re *regexp.Regexp, text string) {
	t.Helper()
	want := re.MatchString(text)
	if yes, ok := d.match(text); ok && yes != want {
		t.Fatalf("%s on %q: %v, regexp says %v", re, text, yes, want)
	}
	if d != nil && len(text) < 50 && d.size < maxDFA/2 {
		if _, ok := d.match(text); !ok {
			t.Fatalf("%s on %q: no answer", re, text)
		}
	}
}
