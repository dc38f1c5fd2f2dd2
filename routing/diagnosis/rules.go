package diagnosis

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/diagnosis/multimatch"
	"github.com/switchback-ci/switchback/routing/diagnosis/rank"
	"github.com/switchback-ci/switchback/routing/testreport"
)

//go:embed rules.yaml
var rulesYAML string

// Role is the meaning of a line that a rule matches.
type Role string

// The roles of a rule.
const (
	RoleError   Role = "error"   // the line states what failed
	RoleStop    Role = "stop"    // the line states that the run or step failed; used as an error line only if there is no other
	RoleWrapper Role = "wrapper" // the line states that something else failed; used as an error line only if there is no other
	RoleIgnore  Role = "ignore"  // the line is not an error, whatever text it contains
)

// Scope is where a rule applies.
type Scope string

// The scopes of a rule. All but ScopeUnit apply to the text of a failing test.
const (
	ScopeLine    Scope = "line"    // any line of a log: its shape is evidence enough
	ScopeBlock   Scope = "block"   // only inside the block that stopped the run
	ScopeFailure Scope = "failure" // only the text of a failing test or problem
	ScopeUnit    Scope = "unit"    // as ScopeBlock, and never the text of a failing test
)

// Rule is one entry of rules.yaml. Rules are tried in the order of descending priority; the first
// that matches a line applies. Priority also ranks error lines.
type Rule struct {
	ID           string        `yaml:"id"`
	Class        routing.Class `yaml:"class"` // "" for a rule that only finds lines
	Priority     int           `yaml:"priority"`
	Role         Role          `yaml:"role"`  // default RoleError
	Scope        Scope         `yaml:"scope"` // default ScopeLine
	Fatal        bool          `yaml:"fatal"` // stops a run, whatever the tests reported
	Assertion    bool          `yaml:"assertion"`
	Weak         bool          `yaml:"weak"` // the role of the failing unit outweighs it
	Pattern      string        `yaml:"pattern"`
	Contains     []string      `yaml:"contains"` // see [multimatch.Pattern]
	Not          []string      `yaml:"not"`
	Suggestion   string        `yaml:"suggestion"`
	SuggestionKo string        `yaml:"suggestion_ko"`
	EndsRun      bool          `yaml:"ends_run"` // among the last lines of a log it outweighs tests that passed, as wrappers do

	user bool
}

// UserRule is a rule from a repository's configuration.
type UserRule struct {
	Name       string
	Pattern    string // Go regexp, matched against one line
	Class      routing.Class
	Suggestion string // "" for that of the class
	Priority   int    // among the user's rules; higher first
}

// Rules is an immutable set of rules, safe for concurrent use. The matcher is built when a text is
// first searched, because a run whose tests passed needs none.
type Rules struct {
	own  []*Rule // the user's, in their order
	once sync.Once
	err  error // of building

	list []*Rule // all, in the order of precedence
	set  *multimatch.Set

	variant Variant
	// Most failures are assertions, for which one rule of ten counts. Those are compiled by
	// themselves, in a tenth of the time.
	assertions    *Rules // nil until it is asked for
	assertionOnce sync.Once
	assertionOnly bool // this is such a part of another Rules
}

var builtin = sync.OnceValues(func() ([]*Rule, error) {
	list, err := readRules(rulesYAML)
	if err != nil {
		return nil, fmt.Errorf("rules.yaml: %w", err)
	}
	var errs []error
	for _, r := range list {
		errs = append(errs, r.prepare()) // without its patterns: a test compiles all, a run only a few
	}
	return list, errors.Join(errs...)
})

var defaults = new(Rules)

// Default returns the built-in rules.
func Default() *Rules { return defaults }

// Compile returns the user's rules followed by the built-in ones. The error joins one message for
// each invalid rule, with its name and the reason.
func Compile(user []UserRule) (*Rules, error) {
	own, err := compileUser(user)
	if err != nil {
		return nil, err
	}
	if len(own) == 0 {
		return Default(), nil
	}
	rs := &Rules{own: own}
	if err := rs.build(); err != nil {
		return nil, err
	}
	return rs, nil
}

// forAssertions returns the rules that count for assertions.
func (rs *Rules) forAssertions() *Rules {
	rs.assertionOnce.Do(func() {
		rs.assertions = &Rules{own: rs.own, assertionOnly: true, variant: rs.variant}
	})
	return rs.assertions
}

// Prepare compiles the rules that a failing test needs, if that has not happened yet. A caller can
// do so while it still reads.
func (rs *Rules) Prepare(t *testreport.Test) {
	if assertion(t.Kind, t.Type) {
		rs = rs.forAssertions()
	}
	_ = rs.build() // ready panics on the error
}

// build compiles the matcher, once.
func (rs *Rules) build() error {
	rs.once.Do(func() {
		base, err := builtin()
		if err != nil {
			rs.err = err
			return
		}
		base = slices.Clone(base)
		slices.SortStableFunc(base, func(a, b *Rule) int { return b.Priority - a.Priority })
		list := append(slices.Clone(rs.own), base...)
		if rs.assertionOnly {
			list = slices.DeleteFunc(list, func(r *Rule) bool { return !r.Assertion })
		}
		rs.err = rs.compile(list)
	})
	return rs.err
}

func (rs *Rules) compile(list []*Rule) (err error) {
	patterns := make([]multimatch.Pattern, len(list))
	for i, r := range list {
		patterns[i] = multimatch.Pattern{Expr: r.Pattern, Not: r.Not, Contains: r.Contains, Use: r.use(), Without: rs.variant.without(r)}
	}
	rs.list = list
	rs.set, err = multimatch.Compile(patterns)
	return err
}

// use returns how the scanner treats the rule on a line of a log.
func (r *Rule) use() multimatch.Use {
	switch {
	case !logRule(r):
		return multimatch.Skip
	case r.Role == RoleIgnore:
		return multimatch.Suppress
	}
	return multimatch.Report
}

// ranker returns the weights of the features of lines.
func (rs *Rules) ranker() *rank.Weights {
	if rs.variant.Weights != nil {
		return rs.variant.Weights
	}
	return rank.Default()
}

// A matcher finds the rule of a text. It is used by one goroutine.
type matcher struct {
	rules   *Rules
	scanner *multimatch.Scanner // nil until a text is searched
}

// A match is the rule of a text and how the rule's pattern matched.
type match struct {
	rule *Rule // nil: none
	by   *multimatch.Alternative
}

// group returns what the first group of the rule's pattern holds in text.
func (m match) group(text string) string { return m.by.Group(text) }

func (m *matcher) ready() *multimatch.Scanner {
	if m.scanner == nil {
		if err := m.rules.build(); err != nil {
			panic(err) // of the built-in rules, which a test builds; Compile returns errors of others
		}
		m.scanner = m.rules.set.Scanner()
	}
	return m.scanner
}

func (m *matcher) match(by *multimatch.Alternative) match {
	if by == nil {
		return match{}
	}
	r := m.rules.list[by.Pattern()]
	if m.rules.variant.Matched != nil {
		m.rules.variant.Matched(Alternative{r.ID, by.Part()})
	}
	return match{rule: r, by: by}
}

// first returns the first rule that matches text, of those for which want returns true, of all if
// want is nil.
func (m *matcher) first(text string, want func(*Rule) bool) match {
	sc := m.ready()
	if want == nil {
		return m.match(sc.First(text, nil))
	}
	return m.match(sc.First(text, func(i int) bool { return want(m.rules.list[i]) }))
}

// line returns the rule of a line of a log, none if the line is no error.
func (m *matcher) line(text string) match { return m.match(m.ready().Line(text)) }

// anywhere returns the rule of a line of a log, and the part of the line that it matched. Behind an
// indentation or a prefix a message has another rule than the one that only finds a word in it.
func (m *matcher) anywhere(text string) (match, string) {
	found := m.line(text)
	if found.rule == nil || !found.rule.generic() {
		return found, text
	}
	inner := undecorated(text)
	if len(inner) == len(text) {
		return found, text
	}
	in := m.line(inner)
	if in.rule == nil || in.rule.generic() && in.rule.Priority <= found.rule.Priority {
		return found, text
	}
	return in, inner
}

// undecorated returns text without what consoles print before a message: blanks, frames of boxes,
// times, and a tag in brackets.
func undecorated(text string) string {
	for range 4 {
		t := strings.TrimLeft(text, " \t|>│┃║╎*•·→»-")
		if i := strings.IndexByte(t, ']'); i < 40 && strings.HasPrefix(t, "[") && strings.HasPrefix(t[i+1:], " ") {
			t = t[i+2:]
		}
		if n := clockLen(t); n > 0 {
			t = t[n:]
		}
		if len(t) == len(text) {
			break
		}
		text = t
	}
	return text
}

// clockLen returns the length of a time, or of a date and a time, at the start of t.
func clockLen(t string) int {
	if len(t) < 9 || !isDigit(t[0]) || !isDigit(t[1]) {
		return 0
	}
	i := strings.IndexByte(t, ':')
	if i < 2 || i > 13 || i+6 > len(t) || !isDigit(t[i-1]) || t[i+3] != ':' {
		return 0
	}
	for i < len(t) && strings.IndexByte("0123456789:.,-TZ+/", t[i]) >= 0 {
		i++
	}
	if i < len(t) && t[i] == ' ' {
		return i + 1
	}
	return 0
}

// inBlock reports whether r applies only inside the block that stopped the run.
func (r *Rule) inBlock() bool { return r.Scope == ScopeBlock || r.Scope == ScopeUnit }

// generic reports whether r only finds lines.
func (r *Rule) generic() bool { return r.Class == "" && r.Role == RoleError && !r.user }

// weak reports whether r only finds a word.
func (r *Rule) weak() bool { return r.generic() && r.Priority <= weakPriority }

const weakPriority = 20

func compileUser(user []UserRule) ([]*Rule, error) {
	var errs []error
	var own []*Rule
	var bounds RuleBounds
	seen := map[string]bool{}
	for i, u := range user {
		name := u.Name
		if name == "" {
			name = fmt.Sprintf("#%d", i+1)
			errs = append(errs, fmt.Errorf("rule %s: has no name", name))
		}
		if seen[name] {
			errs = append(errs, fmt.Errorf("rule %q: the name is used twice", name))
		}
		seen[name] = true
		r := &Rule{ID: name, Class: u.Class, Priority: u.Priority, Pattern: u.Pattern, Suggestion: u.Suggestion, SuggestionKo: u.Suggestion, Assertion: true, user: true}
		if u.Class == "" {
			errs = append(errs, fmt.Errorf("rule %q: has no class", name))
		}
		err := bounds.Check(u)
		if err != nil {
			err = fmt.Errorf("rule %q: %w", name, err)
		}
		if err := errors.Join(r.prepare(), err); err != nil {
			errs = append(errs, err)
			continue
		}
		own = append(own, r)
	}
	slices.SortStableFunc(own, func(a, b *Rule) int { return b.Priority - a.Priority })
	return own, errors.Join(errs...)
}

// prepare fills in defaults and checks everything except the patterns.
func (r *Rule) prepare() error {
	if r.ID == "" {
		return fmt.Errorf("rule with pattern %q: has no id", r.Pattern)
	}
	if r.Class != "" && !r.Class.Valid() {
		return fmt.Errorf("rule %q: unknown class %q; known are %v", r.ID, r.Class, routing.Classes())
	}
	if r.Class == routing.Flaky {
		return fmt.Errorf("rule %q: class FLAKY takes a pass on the same commit, not a pattern", r.ID)
	}
	if r.Pattern == "" {
		return fmt.Errorf("rule %q: has no pattern", r.ID)
	}
	if r.Role == "" {
		r.Role = RoleError
	}
	if r.Scope == "" {
		r.Scope = ScopeLine
	}
	if !slices.Contains([]Role{RoleError, RoleStop, RoleWrapper, RoleIgnore}, r.Role) {
		return fmt.Errorf("rule %q: unknown role %q", r.ID, r.Role)
	}
	if !slices.Contains([]Scope{ScopeLine, ScopeBlock, ScopeFailure, ScopeUnit}, r.Scope) {
		return fmt.Errorf("rule %q: unknown scope %q", r.ID, r.Scope)
	}
	for _, s := range []string{r.Suggestion, r.SuggestionKo} {
		if err := checkTemplate(s); err != nil {
			return fmt.Errorf("rule %q: %w", r.ID, err)
		}
	}
	return nil
}
