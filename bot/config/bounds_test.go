package config

import (
	"fmt"
	"strings"
	"testing"
)

// rulesOf is a configuration with n rules of one pattern.
func rulesOf(n int, pattern string) string {
	var b strings.Builder
	b.WriteString("rules:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - {name: r%d, class: LOGIC_ERROR, pattern: '%s'}\n", i, pattern)
	}
	return b.String()
}

// TestS6_8_RulesAreBounded is S6-8: it has configurations of up to 62 KB. Without bounds the
// first takes a minute to check.
func TestS6_8_RulesAreBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"ranges that ignore case": {rulesOf(62, "(?i)["+strings.Repeat(`\x{42}-\x{1e942}`, 58)+"]"), `c.yml:2: rule "r0": the patterns with (?i) and characters beyond ASCII have more than 2 ranges together; leave (?i) out`},
		"ranges in UTF-8":         {rulesOf(62, "a(?si:["+strings.Repeat("B-\U0001e942", 50)+"])"), `c.yml:2: rule "r0": the patterns with (?i)`},
		"classes of Unicode":      {rulesOf(62, "(?i)["+strings.Repeat(`\pL`, 330)+"]"), `more than 20 classes such as \pL together`},
		"classes in many rules":   {rulesOf(21, `word \PL`), `c.yml:22: rule "r20": the patterns have more than 20 classes`},
		"counted repetitions":     {rulesOf(200, `word [a-z]{900}`), `c.yml:13: rule "r11": the patterns are too large together: more than 10000 instructions`},
		"nested repetitions":      {rulesOf(1, `word ([a-z]{30}){30}`), ""},
		"nested more":             {rulesOf(12, `word (x{30}){30}`), "too large together"},
		"a long pattern":          {rulesOf(1, strings.Repeat("a", 1001)), "the pattern has 1001 bytes, at most 1000 are allowed; shorten it"},
		"many rules":              {rulesOf(201, "word"), "c.yml:202: 201 rules, at most 200 are allowed; join"},
		"the most rules":          {rulesOf(200, "a word of a message [0-9]+ and more"), ""},
		"without a text":          {rulesOf(60, `[a-z]+\d{8}`), "without a text that is in all their matches are too large together: more than 200 instructions"},
		"the empty line":          {rulesOf(1, "a*"), "c.yml:2: rule \"r0\": the pattern matches the empty line"},
		"a long name":             {"rules: [{name: " + strings.Repeat("n", 101) + ", class: QUALITY, pattern: word}]\n", "c.yml:1: rule \"nnn"},
		"a long suggestion":       {"rules: [{name: n, suggestion: " + strings.Repeat("n", 1001) + ", class: QUALITY, pattern: word}]\n", "the suggestion has 1001 bytes"},
		"an unknown placeholder":  {"rules: [{name: n, suggestion: 'see {this}', class: QUALITY, pattern: word}]\n", "unknown placeholder {this}"},
		"many entries":            {"quarantine:\n" + strings.Repeat("- a\n", 1001), "c.yml:2: a list or mapping of 1001 entries, at most 1000"},
		"keys that are compared":  {keysOfNothing(20_000), "a list or mapping of 20000 entries"},
		"deep nesting":            {strings.Repeat("[", 30) + strings.Repeat("]", 30), "more than 20 levels"},
		"many aliases":            {"workflows: [&a x" + strings.Repeat(", *a", 101) + "]\n", "more than 100 aliases"},
		"aliases that multiply":   {"a: &a [" + strings.Repeat("x,", 900) + "]\nb: [" + strings.Repeat("*a,", 30) + "]\n", "more than 20000 values"},
		"aliases":                 {"workflows: [&a x, *a]\n", ""},
		"many checkpoints":        {"checkpoints:\n" + strings.ReplaceAll(keysOfNothing(201), "k", "  k"), "c.yml:1: 201 checkpoints, at most 200 are allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("c.yml", []byte(c.text))
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("want %q, got %.400v", c.want, err)
			}
		})
	}
}

func keysOfNothing(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d: \n", i)
	}
	return b.String()
}
