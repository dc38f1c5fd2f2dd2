package diagnosis

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/testreport"
)

// documented is a rule with the lines that rules.yaml names for it.
type documented struct {
	Rule     `yaml:",inline"`
	Examples struct {
		Positive []string `yaml:"positive"`
		Negative []string `yaml:"negative"`
	} `yaml:"examples"`
}

// documentedRules are the built-in rules as a reader of all YAML reads them.
func documentedRules(t *testing.T) []documented {
	t.Helper()
	var list []documented
	dec := yaml.NewDecoder(strings.NewReader(rulesYAML))
	dec.KnownFields(true)
	if err := dec.Decode(&list); err != nil {
		t.Fatal(err)
	}
	for i := range list {
		if err := list[i].prepare(); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// TestRulesAreYAML: the built-in rules are what any reader of YAML reads.
func TestRulesAreYAML(t *testing.T) {
	t.Parallel()
	got, err := builtin()
	if err != nil {
		t.Fatal(err)
	}
	want := documentedRules(t)
	if len(got) != len(want) {
		t.Fatalf("%d rules, want %d", len(got), len(want))
	}
	for i := range want {
		if !reflect.DeepEqual(*got[i], want[i].Rule) {
			t.Errorf("the rule is %+v, want %+v", *got[i], want[i].Rule)
		}
	}
}

// TestRulesAreRead: what is no line of a rule is an error with its line.
func TestRulesAreRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"id: a":                                 "line 1: not a key of a rule",
		"- id: a\n   role: error":               "line 2: not a key of a rule",
		"- id: a\n  colour: red":                "line 2: colour: is not a key of a rule",
		"- id: a\n  priority: high":             "line 2: priority: ",
		"- id: a\n  weak: perhaps":              "line 2: weak: ",
		"- id: a\n  pattern: 'b":                "line 2: pattern: the text does not end",
		"- id: a\n  pattern: 'b' c":             `line 2: pattern: " c" follows the text`,
		"- id: a\n  pattern: \"b":               "line 2: pattern: ",
		"- id: a\n  not: 'b'":                   "line 2: not: not a list of texts in quotes",
		"- id: a\n  not: ['b', c]":              "line 2: not: not a list of texts in quotes",
		"- id: a\n  not: ['b', 'c]":             "line 2: not: the text does not end",
		"- id: a\n  examples:\n    x: []\n  y:": "line 4: y: is not a key of a rule",
	} {
		if _, err := readRules(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestRuleExamples runs every rule against the lines it names.
func TestRuleExamples(t *testing.T) {
	list := documentedRules(t)
	seen := map[string]bool{}
	for i := range list {
		r := &list[i]
		t.Run(r.ID, func(t *testing.T) {
			if seen[r.ID] {
				t.Errorf("the id is used twice")
			}
			seen[r.ID] = true
			if len(r.Examples.Positive) == 0 || len(r.Examples.Negative) == 0 {
				t.Errorf("has no positive or no negative example")
			}
			if err := r.checkPatterns(); err != nil {
				t.Fatal(err)
			}
			re := regexp.MustCompile(r.Pattern)
			alone, err := only(&r.Rule)
			if err != nil {
				t.Fatal(err)
			}
			if r.Class != "" && r.Class != routing.Unknown && (r.Suggestion == "" || r.SuggestionKo == "") {
				t.Errorf("has a class and no suggestion in both languages")
			}
			for _, s := range r.Examples.Positive {
				if !re.MatchString(s) {
					t.Errorf("the pattern does not match its own example %q", s)
				}
				if alone.first(s, nil).rule == nil {
					t.Errorf("does not match its own example %q", s)
				}
			}
			for _, s := range r.Examples.Negative {
				if alone.first(s, nil).rule != nil {
					t.Errorf("matches its negative example %q", s)
				}
			}
		})
	}
}

// TestRulesDoNotHideEachOther checks that the positive examples of a rule that
// carries a class are not taken by a rule that ignores them.
func TestRulesDoNotHideEachOther(t *testing.T) {
	rules := matcher{rules: Default()}
	rules.ready()
	for _, r := range documentedRules(t) {
		if r.Role != RoleError || r.Scope == ScopeFailure {
			continue
		}
		for _, s := range r.Examples.Positive {
			got := rules.first(s, logRule).rule
			if got != nil && (got.Role == RoleStop || got.Role == RoleWrapper) {
				got = rules.first(s, func(r *Rule) bool { return r.Role == RoleError }).rule
			}
			if got == nil || got.Role == RoleIgnore || (r.Class != "" && got.Class != r.Class) {
				t.Errorf("%s: example %q is taken by %v", r.ID, s, name(got))
			}
		}
	}
}

func name(r *Rule) string {
	if r == nil {
		return "no rule"
	}
	return r.ID
}

func TestCompileErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		rule UserRule
		want []string
	}{
		{"bad regexp", UserRule{Name: "x", Pattern: "a(", Class: routing.EnvIssue}, []string{`rule "x"`, "missing closing )"}},
		{"no name", UserRule{Pattern: "abc", Class: routing.EnvIssue}, []string{"rule #1", "has no name"}},
		{"unknown class", UserRule{Name: "x", Pattern: "abc", Class: "ENV"}, []string{`rule "x"`, `unknown class "ENV"`}},
		{"no class", UserRule{Name: "x", Pattern: "abc"}, []string{`rule "x"`, "has no class"}},
		{"flaky", UserRule{Name: "x", Pattern: "abc", Class: routing.Flaky}, []string{`rule "x"`, "FLAKY"}},
		{"empty line", UserRule{Name: "x", Pattern: "a*", Class: routing.EnvIssue}, []string{`rule "x"`, "matches the empty line"}},
		{"no pattern", UserRule{Name: "x", Class: routing.EnvIssue}, []string{`rule "x"`, "no pattern"}},
		{"placeholder", UserRule{Name: "x", Pattern: "abc", Class: routing.EnvIssue, Suggestion: "see {nowhere}"}, []string{`rule "x"`, "{nowhere}"}},
	} {
		_, err := Compile([]UserRule{c.rule})
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q does not say %q", c.name, err, w)
			}
		}
	}
	rule := UserRule{Name: "x", Pattern: "abc", Class: routing.EnvIssue}
	if _, err := Compile([]UserRule{rule, rule}); err == nil || !strings.Contains(err.Error(), `rule "x": the name is used twice`) {
		t.Errorf("two rules of one name: %v", err)
	}
	rule.Name = ""
	if _, err := Compile([]UserRule{rule, rule}); err == nil || strings.Contains(err.Error(), "twice") {
		t.Errorf("two rules without a name: %v", err)
	}
}

func TestUserRulesComeFirstByPriority(t *testing.T) {
	rules, err := Compile([]UserRule{
		{Name: "low", Pattern: "No space left", Class: routing.Quality, Priority: 1},
		{Name: "high", Pattern: "(?i)no SPACE", Class: routing.DesignMismatch, Priority: 5},
		{Name: "wild", Pattern: "^.{3}$", Class: routing.Timeout, Priority: 9},
	})
	if err != nil {
		t.Fatal(err)
	}
	m := matcher{rules: rules}
	for text, want := range map[string]string{"x: No space left on device": "high", "abc": "wild", "No spa left": "no rule"} {
		if r := m.first(text, nil).rule; name(r) != want {
			t.Errorf("%q: got %s, want %s", text, name(r), want)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		if err := new(Rules).build(); err != nil {
			b.Fatal(err)
		}
	}
}

// only returns a matcher of the rule r alone.
func only(r *Rule) (*matcher, error) {
	m := &matcher{rules: &Rules{}}
	if err := m.rules.compile([]*Rule{r}); err != nil {
		return nil, err
	}
	m.scanner = m.rules.set.Scanner()
	return m, nil
}

func TestRulesAreCompiledWhenATextIsSearched(t *testing.T) {
	rs := new(Rules)
	c := NewCollector(rs)
	rep := &testreport.Report{Formats: []string{"junit"}, Counts: testreport.Counts{Tests: 1, Passed: 1}}
	Diagnose(rep, c, Options{})
	if rs.set != nil {
		t.Error("a report of passing tests compiled the rules")
	}
	c.Line(testreport.Line{No: 1, Text: "fatal: unable to access 'https://example.org/': Could not resolve host: example.org"})
	if rs.set == nil || len(c.steps.cur.head) != 1 {
		t.Errorf("the line of a log was not searched: matcher %v, %d candidates", rs.set, len(c.steps.cur.head))
	}
}

// checkPatterns returns an error if a pattern of r does not compile or matches everything.
func (r *Rule) checkPatterns() error {
	re, err := regexp.Compile(r.Pattern)
	if err != nil {
		return fmt.Errorf("rule %q: %w", r.ID, err)
	}
	if re.MatchString("") {
		return fmt.Errorf("rule %q: the pattern matches the empty line", r.ID)
	}
	for _, p := range r.Not {
		if _, err := regexp.Compile(p); err != nil {
			return fmt.Errorf("rule %q: not: %w", r.ID, err)
		}
	}
	return nil
}

func TestUndecorated(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{" | x", "x"},
		{"[12:30:45] [INFO] text", "text"},
		{"12:30:45 text", "text"},
		{"2024-01-02T03:04:05.678Z text", "text"},
		{"2024-01-02 03:04:05 text", "text"},
		{"1:30:45 text", "1:30:45 text"},
		{"12:30 text here", "12:30 text here"},
		{"12:30:45", "12:30:45"},
		{"12:30:45x text", "12:30:45x text"},
		{"a2:30:45 text", "a2:30:45 text"},
		{"[x] text", "text"},
		{"[x]text", "[x]text"},
		{"[]", "[]"},
		{"[xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx] text", "text"},
		{"[xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx] text", "[xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx] text"},
		{"x [y] text", "x [y] text"},
		{"12:3:45 text", "12:3:45 text"},
		{"12345678901234:30:45 text", "12345678901234:30:45 text"},
		{"2024-01-02T03:30:45 text", "text"},
		{"2024-01-02xx03:30:45 text", "2024-01-02xx03:30:45 text"},
		{"│ ┃ a", "a"},
		{"> > > > > > a", "a"},
		{"| [a] [b] [c] [d] [e] f", "[e] f"},
		{"[a] ", ""},
	} {
		if got := undecorated(c.text); got != c.want {
			t.Errorf("%q without decoration is %q, want %q", c.text, got, c.want)
		}
	}
}
