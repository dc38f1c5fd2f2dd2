package multimatch

import (
	"regexp/syntax"
	"sync"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
)

// Matcher is a single regular expression for many texts of which it matches few. Its methods return
// what those of [regexp.Regexp] return, and are safe for concurrent use. A deterministic automaton
// rejects most texts before package regexp runs. Both are built when a method is first called.
type Matcher struct {
	re  *lazyregexp.Regexp
	dfa func() *dfa
}

// NewMatcher returns the Matcher of pattern. A pattern that does not compile panics when it is first
// used; TestPatternsCompile of lazyregexp compiles every pattern of the module.
func NewMatcher(pattern string) *Matcher {
	return &Matcher{re: lazyregexp.New(pattern), dfa: sync.OnceValue(func() *dfa {
		re, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			return nil // the methods fall back to re, which panics
		}
		return newDFA(re.Simplify(), false, newMemory())
	})}
}

// MatchString calls [regexp.Regexp.MatchString] if the automaton has no answer.
func (m *Matcher) MatchString(s string) bool {
	if yes, ok := m.dfa().match(s); ok {
		return yes
	}
	return m.re.MatchString(s)
}

// FindStringIndex calls [regexp.Regexp.FindStringIndex] unless the automaton rules out a match.
func (m *Matcher) FindStringIndex(s string) []int {
	if yes, ok := m.dfa().match(s); ok && !yes {
		return nil
	}
	return m.re.FindStringIndex(s)
}

// FindStringSubmatch calls [regexp.Regexp.FindStringSubmatch] unless the automaton rules out a
// match.
func (m *Matcher) FindStringSubmatch(s string) []string {
	if yes, ok := m.dfa().match(s); ok && !yes {
		return nil
	}
	return m.re.FindStringSubmatch(s)
}
