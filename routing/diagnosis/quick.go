package diagnosis

import (
	"regexp/syntax"
	"sync"

	"github.com/switchback-ci/switchback/routing/diagnosis/multimatch"
)

// quick is a regexp asked of many texts of which it matches few.
type quick struct {
	re  *multimatch.Regexp
	dfa func() *dfa
}

func mustQuick(pattern string) *quick {
	return &quick{re: multimatch.New(pattern), dfa: sync.OnceValue(func() *dfa {
		re, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			return nil // MustCompile told
		}
		return newDFA(re.Simplify(), false, newRoom())
	})}
}

// MatchString does what regexp's does.
func (q *quick) MatchString(s string) bool {
	if yes, ok := q.dfa().match(s); ok {
		return yes
	}
	return q.re.MatchString(s)
}

// FindStringIndex does what regexp's does.
func (q *quick) FindStringIndex(s string) []int {
	if yes, ok := q.dfa().match(s); ok && !yes {
		return nil
	}
	return q.re.FindStringIndex(s)
}

// FindStringSubmatch does what regexp's does.
func (q *quick) FindStringSubmatch(s string) []string {
	if yes, ok := q.dfa().match(s); ok && !yes {
		return nil
	}
	return q.re.FindStringSubmatch(s)
}
