// Package multimatch holds regular expressions that are compiled when a text first
// asks: a run needs few of the hundreds there are, and compiling all of them
// would be most of its start.
package multimatch

import (
	"regexp"
	"sync"
)

// Regexp is a pattern of package regexp. Its methods do what those of
// [regexp.Regexp] do; they are safe for concurrent use.
type Regexp struct {
	pattern string
	once    sync.Once
	re      *regexp.Regexp
}

// New returns the Regexp of pattern. A pattern that does not compile panics
// when it is first used; a test compiles all that the program has.
func New(pattern string) *Regexp { return &Regexp{pattern: pattern} }

func (r *Regexp) compiled() *regexp.Regexp {
	r.once.Do(r.compile)
	return r.re
}

func (r *Regexp) compile() { r.re = regexp.MustCompile(r.pattern) }

// Match is regexp's.
func (r *Regexp) Match(b []byte) bool { return r.compiled().Match(b) }

// MatchString is regexp's.
func (r *Regexp) MatchString(s string) bool { return r.compiled().MatchString(s) }

// FindString is regexp's.
func (r *Regexp) FindString(s string) string { return r.compiled().FindString(s) }

// FindStringIndex is regexp's.
func (r *Regexp) FindStringIndex(s string) []int { return r.compiled().FindStringIndex(s) }

// FindStringSubmatch is regexp's.
func (r *Regexp) FindStringSubmatch(s string) []string { return r.compiled().FindStringSubmatch(s) }

// FindStringSubmatchIndex is regexp's.
func (r *Regexp) FindStringSubmatchIndex(s string) []int {
	return r.compiled().FindStringSubmatchIndex(s)
}

// FindAllString is regexp's.
func (r *Regexp) FindAllString(s string, n int) []string { return r.compiled().FindAllString(s, n) }

// FindAllStringIndex is regexp's.
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringIndex(s, n)
}

// FindAllStringSubmatch is regexp's.
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compiled().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex is regexp's.
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringSubmatchIndex(s, n)
}

// ReplaceAllString is regexp's.
func (r *Regexp) ReplaceAllString(s, with string) string {
	return r.compiled().ReplaceAllString(s, with)
}

// ReplaceAllStringFunc is regexp's.
func (r *Regexp) ReplaceAllStringFunc(s string, with func(string) string) string {
	return r.compiled().ReplaceAllStringFunc(s, with)
}

// ReplaceAllLiteralString is regexp's.
func (r *Regexp) ReplaceAllLiteralString(s, with string) string {
	return r.compiled().ReplaceAllLiteralString(s, with)
}

// String returns the pattern.
func (r *Regexp) String() string { return r.pattern }
