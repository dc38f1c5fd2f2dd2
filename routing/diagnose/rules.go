package diagnose

import (
	_ "embed"
	"errors"
	"fmt"
	"math/bits"
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

// Rules is a compiled, immutable set of rules, safe for concurrent use.
type Rules struct {
	list     []*Rule
	branches []branch // of all rules, in their order
	lits     *literals
	always   []uint64 // branches without a literal, tried on every line
	words    int      // uint64s of a hit set

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

var defaults = sync.OnceValue(func() *Rules {
	r, err := Compile(nil)
	if err != nil {
		panic(err) // rules.yaml is part of the program; a test compiles it
	}
	return r
})

// Default returns the built-in rules.
func Default() *Rules { return defaults() }

// Compile returns the built-in rules behind those of the user. The error joins
// one message per faulty rule, each naming the rule and what is wrong with it.
func Compile(user []UserRule) (*Rules, error) {
	base, err := builtin()
	if err != nil {
		return nil, err
	}
	own, err := compileUser(user)
	if err != nil {
		return nil, err
	}
	base = slices.Clone(base)
	slices.SortStableFunc(base, func(a, b *Rule) int { return b.Priority - a.Priority })
	return index(append(own, base...))
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
func index(list []*Rule) (*Rules, error) {
	rs := &Rules{list: list}
	room := newRoom()
	for _, r := range list {
		b, err := r.branches(room)
		if err != nil {
			return nil, fmt.Errorf("rule %q: %w", r.ID, err)
		}
		rs.branches = append(rs.branches, b...)
	}
	if len(rs.branches) > 1<<15 {
		return nil, fmt.Errorf("too many rules: %d alternatives", len(rs.branches))
	}
	rs.words = (len(rs.branches) + 63) / 64
	rs.always, rs.aside, rs.loud = make([]uint64, rs.words), make([]uint64, rs.words), make([]uint64, rs.words)
	words := map[string][]uint16{}
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
			words[l.text] = append(words[l.text], uint16(i))
			rs.longest = max(rs.longest, len(l.text))
		}
	}
	rs.lits, rs.may = newLiterals(words), newPrefilter()
	for i := range rs.branches {
		rs.filter(uint16(i))
	}
	return rs, nil
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

// scanned is how much of a line rules look at.
const scanned = 4 << 10

// match returns the first rule that has the text, and where its first group
// (or the whole match) stands. hits is scratch of rs.words.
func (rs *Rules) match(text string, hits []uint64, want func(*Rule) bool) (*Rule, string) {
	b := rs.find(text, hits, want)
	if b == nil {
		return nil, ""
	}
	return b.rule, b.group(text)
}

// find returns the first branch of a rule wanted that has the text.
func (rs *Rules) find(text string, hits []uint64, want func(*Rule) bool) *branch {
	rs.scan(text, hits)
	text = text[:min(len(text), scanned)]
	ascii := isASCII(text)
	for w, set := range hits {
		for ; set != 0; set &= set - 1 {
			b := &rs.branches[w<<6+bits.TrailingZeros64(set)]
			if (want == nil || want(b.rule)) && b.has(text, ascii, false) {
				return b
			}
		}
	}
	return nil
}

// scan sets in hits the branches whose literal stands in text and those that
// have none.
func (rs *Rules) scan(text string, hits []uint64) {
	copy(hits, rs.always)
	rs.lits.scan(text[:min(len(text), scanned)], hits)
}

// line returns what find does for a line of a log, nil too where the rule
// only says that the line is no error. Most lines hold no literal of a rule
// that says more, which costs a nanosecond per byte. hits is scratch.
func (rs *Rules) line(text string, hits []uint64) *branch {
	text = text[:min(len(text), scanned)]
	if !rs.heard(text, hits) {
		return nil
	}
	ascii := isASCII(text)
	at := rs.firstOf(text, ascii, hits, rs.aside, len(rs.branches), true)
	if at < 0 {
		return nil
	}
	// Only now what says that it is no error.
	rs.scan(text, hits)
	if rs.firstOf(text, ascii, hits, rs.loud, at, false) >= 0 {
		return nil
	}
	return &rs.branches[at]
}

// heard sets in hits branches whose literal stands in text, among them those
// of rules that may say more than that it is no error, if there are any.
func (rs *Rules) heard(text string, hits []uint64) (found bool) {
	const tries = 32
	if rs.unfiltered {
		rs.scan(text, hits)
		return true
	}
	clean := false
	for _, i := range rs.starts.of(text) {
		if rs.branches[i].possible(text) {
			if !clean {
				clear(hits)
				clean = true
			}
			found = true
			hits[i>>6] |= 1 << (i & 63)
		}
	}
	end, state := 0, rs.may.start
	for range tries {
		if end, state = rs.may.find(text, end+1, state); end < 0 {
			return found
		}
		found = rs.ends.find(text[:end+1], groups(state), hits, &clean) || found
	}
	if !clean {
		clear(hits)
	}
	rs.lits.scan(text[max(0, end+1-rs.longest):], hits)
	return true
}

// firstOf returns the first branch among hits that has the text and is neither
// in not nor at end or behind it, -1 if there is none.
func (rs *Rules) firstOf(text string, ascii bool, hits, not []uint64, end int, heard bool) int {
	for w, set := range hits {
		for set &^= not[w]; set != 0; set &= set - 1 {
			i := w<<6 + bits.TrailingZeros64(set)
			if i >= end {
				return -1
			}
			if rs.branches[i].has(text, ascii, heard) {
				return i
			}
		}
	}
	return -1
}
