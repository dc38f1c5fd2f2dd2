package multimatch

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"sync/atomic"
)

// lead is the literal that every match of an alternative begins with. Where case does not matter,
// package regexp tries each index of a text one after the other; with a lead it runs only where the
// literal occurs.
type lead struct {
	text string // ASCII; in lower case if fold
	fold bool
	word bool // a word boundary precedes it
	re   func() *regexp.Regexp
	dfa  func() *dfa
}

// leadOf returns the lead of alt, nil if it has none.
func leadOf(alt *syntax.Regexp, memory *atomic.Int64) *lead {
	parts := []*syntax.Regexp{alt}
	if alt.Op == syntax.OpConcat {
		parts = flat(alt).Sub
	}
	l := &lead{}
	if parts[0].Op == syntax.OpWordBoundary {
		l.word, parts = true, parts[1:]
	}
	if len(parts) == 0 || parts[0].Op != syntax.OpLiteral || bounded(parts) {
		return nil
	}
	l.text, l.fold = string(parts[0].Rune), parts[0].Flags&syntax.FoldCase != 0
	if l.fold {
		l.text = strings.ToLower(l.text)
	}
	if len(l.text) < 2 || !isASCII(l.text) {
		return nil
	}
	rest := &syntax.Regexp{Op: syntax.OpConcat, Sub: parts}
	l.re = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\A(?:` + rest.String() + `)`) })
	l.dfa = sync.OnceValue(func() *dfa { return newDFA(rest, true, memory) })
	return l
}

// bounded reports whether any of parts asserts the start of the text, which would hold at another
// place in the text cut at the lead.
func bounded(parts []*syntax.Regexp) bool {
	for _, p := range parts {
		if begins(p) || bounded(p.Sub) {
			return true
		}
	}
	return false
}

// find returns the indexes of the first match in text, which must be ASCII, as
// FindStringSubmatchIndex does, and the text that they refer to.
func (l *lead) find(text string) (m []int, in string) {
	for at := l.next(text, 0); at >= 0; at = l.next(text, at+1) {
		if m = l.re().FindStringSubmatchIndex(text[at:]); m != nil {
			return m, text[at:]
		}
	}
	return nil, ""
}

// matches reports whether find finds a match.
func (l *lead) matches(text string) bool {
	for at := l.next(text, 0); at >= 0; at = l.next(text, at+1) {
		yes, ok := l.dfa().match(text[at:])
		if !ok {
			yes = l.re().MatchString(text[at:])
		}
		if yes {
			return true
		}
	}
	return false
}

// next returns the first index of text from at on where a match can begin, -1 if there is none.
func (l *lead) next(text string, at int) int {
	for ; at < len(text); at++ {
		i := l.index(text[at:])
		if i < 0 {
			return -1
		}
		at += i
		if !l.word || isWordByte(text[at]) != (at > 0 && isWordByte(text[at-1])) {
			return at
		}
	}
	return -1
}

func (l *lead) index(s string) int {
	if !l.fold {
		return strings.Index(s, l.text)
	}
	lower, n := l.text[0], len(l.text)
	upper := lower
	if lower >= 'a' && lower <= 'z' {
		upper ^= 0x20
	}
	for i := 0; i+n <= len(s); i++ {
		if (s[i] == lower || s[i] == upper) && strings.EqualFold(s[i:i+n], l.text) {
			return i
		}
	}
	return -1
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func isASCII(s string) bool {
	for ; len(s) >= 8; s = s[8:] {
		if eight(s)&(0x80*ones) != 0 {
			return false
		}
	}
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
