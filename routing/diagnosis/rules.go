package diagnosis

import (
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/switchback-ci/switchback/routing"
)

//go:embed rules.yaml
var rulesYAML []byte

// Role is what a rule does with a line it matches.
type Role string

// The roles of a rule.
const (
	RoleError   Role = "error"   // the line says what failed
	RoleStop    Role = "stop"    // the line says that the run or step ended in failure; last resort as an error line
	RoleWrapper Role = "wrapper" // the line says that something else failed; last resort as an error line
	RoleIgnore  Role = "ignore"  // the line is no error, whatever words it holds
)

// Scope is where a rule may be believed.
type Scope string

// The scopes of a rule. The text of a failing test counts for all of them.
const (
	ScopeLine    Scope = "line"    // any line of a log: its shape is evidence enough
	ScopeBlock   Scope = "block"   // only inside the block that stopped the run
	ScopeFailure Scope = "failure" // only the text of a failing test or problem
)

// Rule is one entry of rules.yaml. Rules are tried by falling priority; the
// first that matches a line has it. Priority also ranks error lines.
type Rule struct {
	ID           string        `yaml:"id"`
	Class        routing.Class `yaml:"class"` // "" for a rule that only finds lines
	Priority     int           `yaml:"priority"`
	Role         Role          `yaml:"role"`  // default RoleError
	Scope        Scope         `yaml:"scope"` // default ScopeLine
	Fatal        bool          `yaml:"fatal"` // stops a run by itself, whatever tests say
	Assertion    bool          `yaml:"assertion"`
	Pattern      string        `yaml:"pattern"`
	Contains     []string      `yaml:"contains"` // any of, for an alternative that holds no literal itself
	Not          []string      `yaml:"not"`
	Suggestion   string        `yaml:"suggestion"`
	SuggestionKo string        `yaml:"suggestion_ko"`
	Examples     struct {
		Positive []string `yaml:"positive"`
		Negative []string `yaml:"negative"`
	} `yaml:"examples"`

	not  []*exception
	user bool
}

// UserRule is a rule of a repository's own configuration.
type UserRule struct {
	Name       string
	Pattern    string // Go regexp, matched against one line
	Class      routing.Class
	Suggestion string // "" takes the class's own
	Priority   int    // among the user's rules; higher first
}

// Rules is an immutable set of rules, safe for concurrent use. What finds the
// rule of a text is built when the first text asks: a run whose tests passed
// has none.
type Rules struct {
	own  []*Rule // the user's, in their order
	once sync.Once
	err  error // of the index

	list     []*Rule
	branches []branch         // of all rules, in their order
	lits     func() *literals // built when a line first needs all that stand in it
	always   []uint64         // branches without a literal, tried on every line
	words    int              // uint64s of a hit set

	// What line needs: aside are the branches that say of a line of a log at
	// most that it is no error, loud all but those that say that. The rest is
	// of those not aside.
	aside, loud []uint64
	may         *prefilter // their literals but for those in starts
	starts      starts     // branches whose literals begin the line
	ends        endings    // what it takes for one
	longest     int        // bytes of the longest literal
	unfiltered  bool       // one has no literal
}

var builtin = sync.OnceValues(func() ([]*Rule, error) {
	var list []*Rule
	dec := yaml.NewDecoder(strings.NewReader(string(rulesYAML)))
	dec.KnownFields(true)
	if err := dec.Decode(&list); err != nil {
		return nil, fmt.Errorf("rules.yaml: %w", err)
	}
	var errs []error
	for _, r := range list {
		errs = append(errs, r.prepare()) // not its patterns: a test compiles them, a run a few
	}
	return list, errors.Join(errs...)
})

var defaults = new(Rules)

// Default returns the built-in rules.
func Default() *Rules { return defaults }

// Compile returns the built-in rules behind those of the user. The error joins
// one message per faulty rule, each naming the rule and what is wrong with it.
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

// build makes the index, once.
func (rs *Rules) build() error {
	rs.once.Do(func() {
		base, err := builtin()
		if err != nil {
			rs.err = err
			return
		}
		base = slices.Clone(base)
		slices.SortStableFunc(base, func(a, b *Rule) int { return b.Priority - a.Priority })
		rs.err = rs.index(append(slices.Clone(rs.own), base...))
	})
	return rs.err
}

// ready returns rs with its index.
func (rs *Rules) ready() *Rules {
	if err := rs.build(); err != nil {
		panic(err) // of the built-in rules alone, which a test builds; Compile tells of others
	}
	return rs
}

// scratch returns hits, which it makes when they are first asked for. Whoever
// asks the rules of a text has them from here.
func (rs *Rules) scratch(hits *[]uint64) []uint64 {
	if *hits == nil {
		*hits = make([]uint64, rs.ready().words)
	}
	return *hits
}

func compileUser(user []UserRule) ([]*Rule, error) {
	var errs []error
	var own []*Rule
	seen := map[string]bool{}
	for i, u := range user {
		name := u.Name
		if name == "" {
			name = fmt.Sprintf("#%d", i+1)
			errs = append(errs, fmt.Errorf("rule %s: has no name", name))
		}
		if seen[u.Name] && u.Name != "" {
			errs = append(errs, fmt.Errorf("rule %q: the name is used twice", name))
		}
		seen[u.Name] = true
		r := &Rule{ID: name, Class: u.Class, Priority: u.Priority, Pattern: u.Pattern, Suggestion: u.Suggestion, SuggestionKo: u.Suggestion, Assertion: true, user: true}
		if u.Class == "" {
			errs = append(errs, fmt.Errorf("rule %q: has no class", name))
		}
		if err := errors.Join(r.prepare(), r.compile()); err != nil {
			errs = append(errs, err)
			continue
		}
		own = append(own, r)
	}
	slices.SortStableFunc(own, func(a, b *Rule) int { return b.Priority - a.Priority })
	return own, errors.Join(errs...)
}

// prepare checks r but for its patterns.
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
	if !slices.Contains([]Scope{ScopeLine, ScopeBlock, ScopeFailure}, r.Scope) {
		return fmt.Errorf("rule %q: unknown scope %q", r.ID, r.Scope)
	}
	for _, p := range r.Not {
		r.not = append(r.not, newException(p))
	}
	for _, s := range []string{r.Suggestion, r.SuggestionKo} {
		if err := checkTemplate(s); err != nil {
			return fmt.Errorf("rule %q: %w", r.ID, err)
		}
	}
	return nil
}

// compile says whether the patterns of r are sound.
func (r *Rule) compile() error {
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

// index builds the literal filter over the rules in their order.
func (rs *Rules) index(list []*Rule) error {
	rs.list = list
	room := newRoom()
	for _, r := range list {
		b, err := r.branches(room)
		if err != nil {
			return fmt.Errorf("rule %q: %w", r.ID, err)
		}
		rs.branches = append(rs.branches, b...)
	}
	if len(rs.branches) > 1<<15 {
		return fmt.Errorf("too many rules: %d alternatives", len(rs.branches))
	}
	rs.words = (len(rs.branches) + 63) / 64
	rs.always, rs.aside, rs.loud = make([]uint64, rs.words), make([]uint64, rs.words), make([]uint64, rs.words)
	for i, b := range rs.branches {
		if b.rule.Role == RoleIgnore || !logRule(b.rule) {
			rs.aside[i>>6] |= 1 << (i & 63)
		}
		if b.rule.Role != RoleIgnore || !logRule(b.rule) {
			rs.loud[i>>6] |= 1 << (i & 63)
		}
		if len(b.lits) == 0 {
			rs.always[i>>6] |= 1 << (i & 63)
		}
		for _, l := range b.lits {
			rs.longest = max(rs.longest, len(l.text))
		}
	}
	rs.lits, rs.may = sync.OnceValue(rs.literals), newPrefilter()
	for i := range rs.branches {
		rs.filter(uint16(i))
	}
	rs.may.ready()
	return nil
}

func (rs *Rules) literals() *literals {
	words := map[string][]uint16{}
	for i, b := range rs.branches {
		for _, l := range b.lits {
			words[l.text] = append(words[l.text], uint16(i))
		}
	}
	return newLiterals(words)
}

// filter puts branch i where heard finds it.
func (rs *Rules) filter(i uint16) {
	b := &rs.branches[i]
	if b.rule.Role == RoleIgnore || !logRule(b.rule) {
		return
	}
	rs.unfiltered = rs.unfiltered || len(b.lits) == 0
	if b.first != nil && len(b.lits) > 0 && !slices.ContainsFunc(b.lits, func(l literal) bool { return !l.prefix }) {
		for _, l := range b.lits {
			rs.starts.add(l, i)
		}
		return
	}
	for _, l := range b.lits {
		w, fold := l.text, l.exact == ""
		if !fold {
			w = l.exact[:len(l.text)]
		}
		rs.may.add(w, fold)
		rs.ends.add(w, fold, i)
	}
}
