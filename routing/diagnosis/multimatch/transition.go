package multimatch

import "github.com/switchback-ci/switchback/routing/internal/lazyregexp"

// Regexp is a lazily compiled regular expression.
type Regexp = lazyregexp.Regexp

// New returns a lazily compiled regular expression; see [lazyregexp.New].
func New(pattern string) *Regexp { return lazyregexp.New(pattern) }
