package multimatch

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"gopkg.in/yaml.v3"
)

// recorded are logs beside this repository; without them the tests read fewer texts.
const recorded = "../../../../shared/fixtures"

// A rule is what these tests read of the rules of package diagnosis, which serve as data.
type rule struct {
	ID       string
	Priority int
	Role     string
	Scope    string
	Pattern  string
	Not      []string
	Contains []string
	Examples struct{ Positive, Negative []string }
}

var readRules = sync.OnceValues(func() ([]rule, error) {
	data, err := os.ReadFile("../rules.yaml")
	if err != nil {
		return nil, err
	}
	var rules []rule
	err = yaml.Unmarshal(data, &rules)
	slices.SortStableFunc(rules, func(a, b rule) int { return b.Priority - a.Priority })
	return rules, err
})

// loadRules returns the rules as patterns and a set of them.
func loadRules(t testing.TB) ([]rule, []Pattern, *Set) {
	t.Helper()
	rules, err := readRules()
	if err != nil || len(rules) < 50 {
		t.Fatalf("%d rules: %v", len(rules), err)
	}
	var patterns []Pattern
	for _, r := range rules {
		use := Report
		switch {
		case r.Scope == "failure":
			use = Skip
		case r.Role == "ignore":
			use = Suppress
		}
		patterns = append(patterns, Pattern{Expr: r.Pattern, Not: r.Not, Contains: r.Contains, Use: use})
	}
	return rules, patterns, compile(t, patterns...)
}

func compile(t testing.TB, patterns ...Pattern) *Set {
	t.Helper()
	s, err := Compile(patterns)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// eachText calls check with the examples of all rules and with up to most bytes of each recorded
// log, line by line.
func eachText(rules []rule, most int, check func(text string)) {
	for _, r := range rules {
		for _, x := range slices.Concat(r.Examples.Positive, r.Examples.Negative) {
			check(x)
			check("  " + x)
			check(x + " and more")
			check(x + x)
		}
	}
	for _, root := range []string{"../../testreport/testdata", recorded} {
		_ = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil // the recordings can be absent
			}
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			for line := range bytes.Lines(data[:min(len(data), most)]) {
				check(strings.TrimRight(string(line), "\r\n"))
			}
			return nil
		})
	}
}

func TestFirstAndLine(t *testing.T) {
	t.Parallel()
	s := compile(t,
		Pattern{Expr: `^ok\b`, Use: Suppress},
		Pattern{Expr: `(?i)disk (\w+) is full|no space on (\w+)`, Not: []string{`(?i)expected`}},
		Pattern{Expr: `expected (\d+)`, Use: Skip},
		Pattern{Expr: `^Done$`, Use: Suppress},
		Pattern{Expr: `^Done|fatal`},
		Pattern{Expr: `^\d+$`, Contains: []string{"75"}},
	)
	sc := s.Scanner()
	for _, c := range []struct {
		text        string
		first, line int // -1: none
		group       string
	}{
		{"", -1, -1, ""},
		{"nothing here", -1, -1, ""},
		{"DISK sda is full", 1, 1, "sda"},
		{"no space on sdb", 1, 1, "sdb"},
		{"no space on sdb, as expected", -1, -1, ""},
		{"ok, disk sda is full", 0, -1, ""},
		{"expected 12", 2, -1, "12"},
		{"Done", 3, -1, ""},
		{"Done, but fatal", 4, 4, ""},
		{"175", 5, 5, ""},
		{"123", -1, -1, ""},
		{strings.Repeat("x", MaxText) + " fatal", -1, -1, ""},
	} {
		number := func(a *Alternative) int {
			if a == nil {
				return -1
			}
			return a.Pattern()
		}
		a := sc.First(c.text, nil)
		if number(a) != c.first || a != nil && a.Group(c.text) != c.group {
			t.Errorf("First(%.40q) = %d, want %d with group %q", c.text, number(a), c.first, c.group)
		}
		if got := number(sc.Line(c.text)); got != c.line {
			t.Errorf("Line(%.40q) = %d, want %d", c.text, got, c.line)
		}
	}
	if a := sc.First("Done", func(i int) bool { return i > 3 }); a == nil || a.Pattern() != 4 {
		t.Errorf("First with want returned %v", a)
	}
}

func TestCompileErrors(t *testing.T) {
	t.Parallel()
	_, err := Compile([]Pattern{{Expr: "ok"}, {Expr: "a("}, {Expr: "b", Not: []string{"["}}, {Expr: `\d+`, Contains: []string{"7"}}})
	for i, want := range []bool{false, true, true, true} {
		if err == nil || strings.Contains(err.Error(), fmt.Sprintf("pattern %d: ", i)) != want {
			t.Errorf("got %v, want errors of patterns 1, 2 and 3", err)
		}
	}
	if _, err := Compile(slices.Repeat([]Pattern{{Expr: "word"}}, maxAlternatives+1)); err == nil || !strings.Contains(err.Error(), "too many patterns") {
		t.Errorf("got %v, want too many patterns", err)
	}
}

// TestPatternMatchesAsRegexp compares each pattern, taken apart, with package regexp.
func TestPatternMatchesAsRegexp(t *testing.T) {
	t.Parallel()
	rules, patterns, _ := loadRules(t)
	var texts []string
	for _, r := range rules {
		texts = append(texts, slices.Concat(r.Examples.Positive, r.Examples.Negative)...)
	}
	for i, p := range patterns {
		if len(p.Contains) > 0 {
			continue // Contains restricts what matches
		}
		sc, re := compile(t, p).Scanner(), regexp.MustCompile(p.Expr)
		for _, s := range texts {
			want := s != "" && re.MatchString(s) && !slices.ContainsFunc(p.Not, func(n string) bool { return regexp.MustCompile(n).MatchString(s) })
			if got := sc.First(s, nil) != nil; got != want {
				t.Errorf("%s on %q: got %v, want %v", rules[i].ID, s, got, want)
			}
		}
	}
}

// TestAlternativeMatchesAsRegexp compares every alternative with package regexp.
func TestAlternativeMatchesAsRegexp(t *testing.T) {
	t.Parallel()
	rules, _, set := loadRules(t)
	var texts []string
	for _, r := range rules {
		texts = append(texts, slices.Concat(r.Examples.Positive, r.Examples.Negative)...)
	}
	for i := range set.alternatives {
		a := &set.alternatives[i]
		for _, text := range texts {
			if a.possible(text) && a.matches(text, isASCII(text)) != a.re().MatchString(text) {
				t.Errorf("rule %s, %s: not as regexp on %q", rules[a.pattern].ID, a.re(), text)
			}
		}
	}
}

// TestLineAgreesWithFirst compares the search through the prefilter with the one without.
func TestLineAgreesWithFirst(t *testing.T) {
	t.Parallel()
	rules, patterns, set := loadRules(t)
	sc := set.Scanner()
	lines, none := 0, 0
	eachText(rules, 48<<10, func(text string) {
		got := sc.Line(text)
		lines++
		if got == nil {
			none++
		}
		want := sc.First(text, func(i int) bool { return patterns[i].Use != Skip })
		if want != nil && patterns[want.pattern].Use == Suppress {
			want = nil
		}
		if got != want {
			t.Fatalf("%q: %+v, want %+v", text, got, want)
		}
	})
	if none == 0 || lines == none {
		t.Errorf("%d of %d lines match nothing", none, lines)
	}
}

// TestLeadFindsWhatRegexpFinds searches every text that contains a lead both ways.
func TestLeadFindsWhatRegexpFinds(t *testing.T) {
	t.Parallel()
	rules, _, set := loadRules(t)
	found, seen := 0, map[string]bool{}
	eachText(rules, 4<<10, func(text string) {
		text = text[:min(len(text), 600)]
		if seen[text] || !isASCII(text) {
			return
		}
		seen[text] = true
		for i := range set.alternatives {
			a := &set.alternatives[i]
			if a.lead == nil || a.onlyLiteral || a.lead.index(text) < 0 {
				continue
			}
			want := a.re().FindStringSubmatch(text)
			m, in := a.lead.find(text)
			var got []string
			for k := 0; k < len(m); k += 2 {
				s := ""
				if m[k] >= 0 {
					s = in[m[k]:m[k+1]]
				}
				got = append(got, s)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("rule %s, %s\nline %q\ngot  %q\nwant %q", rules[a.pattern].ID, a.re(), text, got, want)
			}
			if yes := a.lead.matches(text); yes != (want != nil) {
				t.Fatalf("rule %s, %s\nline %q\nmatches returns %v", rules[a.pattern].ID, a.re(), text, yes)
			}
			if want != nil {
				found++
			}
		}
	})
	if found == 0 {
		t.Error("no alternative with a lead matched")
	}
}

// TestEveryAlternativeHasALiteral guards the speed of Line: one rule without a literal makes the
// prefilter useless for all.
func TestEveryAlternativeHasALiteral(t *testing.T) {
	t.Parallel()
	rules, _, set := loadRules(t)
	for i := range set.alternatives {
		if a := &set.alternatives[i]; len(a.literals) == 0 {
			t.Errorf("rule %s: alternative %s has no literal, so every line is matched against it", rules[a.pattern].ID, a.re())
		}
	}
}
