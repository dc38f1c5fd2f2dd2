package multimatch

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Alternative is one alternative of a pattern. Patterns are long lists of alternatives; taken
// apart, each has a literal of its own, and a text is matched only against the alternatives whose
// literal it contains.
type Alternative struct {
	pattern int
	part    int // its index among those of the pattern
	not     []*exception

	// Both are built when a text first contains the literal: most runs need few of them.
	re  func() *regexp.Regexp
	dfa func() *dfa

	captures    bool      // it has a capturing group
	literals    []literal // at least one occurs in every match; none: tried on every text
	onlyLiteral bool      // it is nothing but its one literal: no regexp is run
	also        []string  // all of these occur in every match, in this case
	// first holds the bytes that a match can begin with at the start of the text; nil: any.
	first *[256]bool
	lead  *lead // nil: none
}

// alternativesOf takes pattern number i of a set apart.
func alternativesOf(i int, p Pattern, memory *atomic.Int64) ([]Alternative, error) {
	re, err := syntax.Parse(p.Expr, syntax.Perl)
	if err != nil {
		return nil, err
	}
	for _, w := range p.Contains {
		if len(w) < 2 {
			return nil, fmt.Errorf("%q in Contains is shorter than two bytes", w)
		}
	}
	var not []*exception
	for _, n := range p.Not {
		x, err := newException(n)
		if err != nil {
			return nil, err
		}
		not = append(not, x)
	}
	var out []Alternative
	find := literals{}
	for part, alt := range find.spread(re.Simplify()) {
		if p.Without != nil && p.Without(part) {
			continue
		}
		a := Alternative{pattern: i, part: part, not: not, literals: find.required(alt), captures: alt.MaxCap() > 0}
		a.re = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(alt.String()) }) // parsed, so it compiles
		a.dfa = sync.OnceValue(func() *dfa { return newDFA(alt, false, memory) })
		a.also, a.lead = find.alsoRequired(alt), leadOf(alt, memory)
		if len(a.literals) == 1 {
			a.also = slices.DeleteFunc(a.also, func(s string) bool { return s == a.literals[0].exact })
		}
		a.onlyLiteral = alt.Op == syntax.OpLiteral && len(a.literals) == 1 && a.literals[0].exact == string(alt.Rune)
		if set := new([256]bool); anchored(alt) && firstBytes(alt.Sub, set) {
			a.first = set
		}
		if len(a.literals) == 0 || len(a.literals) > maxLiterals {
			a.literals = nil
			for _, w := range p.Contains {
				a.literals = append(a.literals, literal{text: strings.ToLower(w)})
			}
		}
		out = append(out, a)
	}
	return out, nil
}

// Pattern returns the index of the alternative's pattern in the list given to [Compile].
func (a *Alternative) Pattern() int { return a.pattern }

// Part returns the index of the alternative among those of its pattern.
func (a *Alternative) Part() int { return a.part }

// Group returns what the first group that takes part in the match of text holds, "" if none does.
func (a *Alternative) Group(text string) string {
	if !a.captures {
		return ""
	}
	text = text[:min(len(text), MaxText)]
	m, in := a.find(text, isASCII(text))
	for g := 2; g+1 < len(m); g += 2 {
		if m[g] >= 0 {
			return in[m[g]:m[g+1]]
		}
	}
	return ""
}

// accepts reports whether the alternative matches text and no exception does. filtered says that
// one of its literals is known to occur in text.
func (a *Alternative) accepts(text string, ascii, filtered bool) bool {
	if filtered && !a.onlyLiteral {
		if !a.possibleFromLiteral(text) {
			return false
		}
	} else if !a.possible(text) {
		return false
	}
	if !a.matches(text, ascii) {
		return false
	}
	for _, n := range a.not {
		if n.matches(text, ascii) {
			return false
		}
	}
	return true
}

// matches reports whether the alternative matches text, in which its literal occurs.
func (a *Alternative) matches(text string, ascii bool) bool {
	switch {
	case a.onlyLiteral:
		return true
	case a.lead != nil && ascii:
		return a.lead.matches(text)
	}
	yes, ok := a.dfa().match(text)
	if !ok {
		return a.re().MatchString(text)
	}
	return yes
}

// find returns the indexes of the first match, and the text that they refer to.
func (a *Alternative) find(text string, ascii bool) (m []int, in string) {
	if a.lead != nil && ascii {
		return a.lead.find(text)
	}
	return a.re().FindStringSubmatchIndex(text), text
}

// possible reports whether text contains the literals that every match contains. It is a
// necessary condition for a match, not a sufficient one.
func (a *Alternative) possible(text string) bool {
	if !a.possibleFromLiteral(text) {
		return false
	}
	for i := range a.literals {
		if a.literals[i].in(text) {
			return true
		}
	}
	return len(a.literals) == 0
}

// possibleFromLiteral is possible for a text in which one of a's literals is known to occur.
func (a *Alternative) possibleFromLiteral(text string) bool {
	if a.first != nil && (text == "" || !a.first[text[0]]) {
		return false
	}
	for _, s := range a.also {
		if !strings.Contains(text, s) {
			return false
		}
	}
	return true
}

// exception is an expression that keeps a pattern from matching a text.
type exception struct {
	re       func() *regexp.Regexp
	dfa      func() *dfa
	literals []lead // one of them occurs in every match that is ASCII; none: unknown
}

func newException(expr string) (*exception, error) {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, err
	}
	re = re.Simplify()
	x := &exception{
		re:  sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) }),
		dfa: sync.OnceValue(func() *dfa { return newDFA(re, false, newMemory()) }),
	}
	for _, l := range (literals{}).required(re) {
		if !isASCII(l.text) {
			x.literals = nil
			break
		}
		if l.exact != "" {
			x.literals = append(x.literals, lead{text: l.exact})
			continue
		}
		x.literals = append(x.literals, lead{text: l.text, fold: true})
	}
	return x, nil
}

func (x *exception) matches(text string, ascii bool) bool {
	if len(x.literals) > 0 && ascii {
		if !slices.ContainsFunc(x.literals, func(l lead) bool { return l.index(text) >= 0 }) {
			return false
		}
	}
	yes, ok := x.dfa().match(text)
	if !ok {
		return x.re().MatchString(text)
	}
	return yes
}
