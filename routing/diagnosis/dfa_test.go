package diagnosis

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"testing"
)

// dfaTexts ask for what patterns look at: case, words, ends, what is no ASCII
// and what is no UTF-8.
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
		d := newDFA(parsed(t, p), false, newRoom())
		for _, s := range dfaTexts {
			for _, text := range []string{s, s + "error", "x " + s + "\t", s + "\r\n" + s} {
				sameAnswer(t, d, re, text)
			}
		}
	}
}

// TestRulesMatchAsRegexpsDo asks every alternative of every rule of the
// examples of all rules.
func TestRulesMatchAsRegexpsDo(t *testing.T) {
	t.Parallel()
	rs := Default().ready()
	var texts []string
	for _, r := range rs.list {
		texts = append(texts, slices.Concat(r.Examples.Positive, r.Examples.Negative)...)
	}
	for i := range rs.branches {
		b := &rs.branches[i]
		for _, text := range texts {
			if b.possible(text) && b.matches(text, isASCII(text)) != b.re().MatchString(text) {
				t.Errorf("rule %s, %s: not as regexp on %q", b.rule.ID, b.re(), text)
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
		d := newDFA(parsed(t, pattern), false, newRoom())
		sameAnswer(t, d, re, text)
		sameAnswer(t, d, re, text+"\n"+text)
	})
}

// TestDFAKeepsItsBounds asks a pattern whose automaton has 2^16 states for
// texts that lead to most of them.
func TestDFAKeepsItsBounds(t *testing.T) {
	t.Parallel()
	const p = `a[ab]{16}c`
	d, re := newDFA(parsed(t, p), false, newRoom()), regexp.MustCompile(p)
	unsure := 0
	for i := range 1 << 12 {
		var b strings.Builder
		for k, n := 0, uint32(i)*2654435761; k < 32; k++ {
			b.WriteByte("ab"[n>>k&1])
		}
		text := b.String() + "c"
		yes, ok := d.match(text)
		if !ok {
			unsure++
		} else if yes != re.MatchString(text) {
			t.Fatalf("%q: %v", text, yes)
		}
	}
	if d.size > maxDFA || unsure == 0 {
		t.Errorf("%d bytes were taken, %d texts were left to regexp", d.size, unsure)
	}
	d.room.Store(0)
	shared := newDFA(parsed(t, `abc`), false, d.room)
	if yes, ok := shared.match("xabc"); ok {
		t.Errorf("without room it says %v", yes)
	}
}

func TestDFAIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	const p = `(?i)\b(?:error|fatal)\b.*\d$`
	d, re := newDFA(parsed(t, p), false, newRoom()), regexp.MustCompile(p)
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
			t.Fatalf("%s on %q: not sure", re, text)
		}
	}
}
