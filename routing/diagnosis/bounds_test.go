package diagnosis

import (
	"fmt"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/testreport"
)

// TestS6_8_SizeOfAPatternIsEstimated is S6-8: the size of a pattern is estimated before it is
// compiled, and never too low.
func TestS6_8_SizeOfAPatternIsEstimated(t *testing.T) {
	t.Parallel()
	for _, expr := range []string{
		"word", "a|bc|d+", `(a{3}){5}`, `((a|b){2,7}c*){3,}`, `x{0,40}`, `x{0}`, `(?i)straße\d?`, `^\s*[\w.]+(?:a.b)*$`, `\bfoo\b|(bar){100}`, `(?:(?:a{20}){5}b){9}`,
	} {
		tree, err := syntax.Parse(expr, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		prog, err := syntax.Compile(tree.Simplify())
		if err != nil {
			t.Fatal(err)
		}
		got, real := instructions(tree), len(prog.Inst)-2 // without fail and match
		if got < real || got > 3*real+10 {
			t.Errorf("%s: estimated %d, has %d", expr, got, real)
		}
	}
}

// worst are rules that use up the bounds: as many as may be, as large as they may be together, some
// of them tried on every line.
func worst() []UserRule {
	rules := func(n int, pattern string) (out []UserRule) {
		for i := range n {
			out = append(out, UserRule{Name: fmt.Sprintf("%d of %d", i, n), Class: routing.LogicError, Pattern: fmt.Sprintf(pattern, i)})
		}
		return out
	}
	var out []UserRule
	out = append(out, rules(1, `(?i)[\x{42}-\x{1e942}\x{43}-\x{1e942}][%d]q`)...)
	out = append(out, rules(5, `(?i)[\pL\pN\pM\pS]q%d`)...)
	out = append(out, rules(2, `[a-f]{60}[^q]{5}%d[xyz]`)...)
	out = append(out, rules(192, `thing%d.*[a-z ]{20}.*[0-9:]{15}q`)...)
	return out
}

// TestS6_8_WorstRulesAreAccepted is S6-8: what BenchmarkWorstRules measures is accepted, and a
// little more is not.
func TestS6_8_WorstRulesAreAccepted(t *testing.T) {
	t.Parallel()
	rules := worst()
	if _, err := Compile(rules); err != nil || len(rules) != MaxUserRules {
		t.Fatalf("%d rules: %v", len(rules), err)
	}
	more := append(rules[:len(rules)-1:len(rules)-1], UserRule{Name: "large", Class: routing.LogicError, Pattern: "word [a-z]{900}"})
	if _, err := Compile(append(worst(), UserRule{Name: "last", Class: routing.LogicError, Pattern: "word"})); err == nil || !strings.Contains(err.Error(), "more than 200 rules") {
		t.Errorf("201 rules: %v", err)
	}
	if _, err := Compile(more); err == nil || !strings.Contains(err.Error(), "too large together") {
		t.Errorf("a rule too large: %v", err)
	}
}

// BenchmarkWorstRules compares the built-in rules with those of the worst accepted configuration.
func BenchmarkWorstRules(b *testing.B) {
	b.Run("check", func(b *testing.B) {
		rules := worst()
		for b.Loop() {
			var bounds RuleBounds
			for _, u := range rules {
				if err := bounds.Check(u); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	for name, rules := range map[string][]UserRule{"none": nil, "worst": worst()} {
		b.Run("compile/"+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Compile(rules); err != nil {
					b.Fatal(err)
				}
			}
		})
		set, err := Compile(rules)
		if err != nil {
			b.Fatal(err)
		}
		for log, line := range map[string]string{
			"ordinary": "    thing_test.go:%d: checked the value of the thing and its neighbours",
			"hostile":  "thing%d abcdefabcdefabcdefabcdefabcdefabcdef 12:34:56:12:34:56 facadefacade",
		} {
			var lines []string
			size := 0
			for i := range 2000 {
				lines = append(lines, fmt.Sprintf(line, i%192))
				size += len(lines[i]) + 1
			}
			b.Run("match/"+log+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(size))
				for b.Loop() {
					c := NewCollector(set)
					for i, l := range lines {
						c.Line(testreport.Line{No: i + 1, Text: l})
					}
				}
			})
		}
	}
}

func TestPatternsBeyondASCII(t *testing.T) {
	t.Parallel()
	for expr, want := range map[string]bool{`word`: false, "\x7f": false, `\x41`: false, `\x{41}`: true, `straße`: true, "\u0080": true} {
		if got := beyondASCII(expr); got != want {
			t.Errorf("%q names a character beyond ASCII: %v", expr, got)
		}
	}
	for expr, want := range map[string]bool{`word`: false, `(?i)word`: true, `a(?i:b)`: true, `a(?s:b)`: false, `(?s)a(?si)b`: true, `(?:i)`: false, `(?P<i>a)`: false, `(?`: false} {
		if got := ignoresCase(expr); got != want {
			t.Errorf("%q ignores case: %v", expr, got)
		}
	}
}
