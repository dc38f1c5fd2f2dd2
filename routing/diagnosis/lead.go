package diagnosis

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// lead is the literal that every match of a branch begins with. Go's regexp
// tries each place of a text one after the other where case does not matter;
// with a lead it is asked only where the literal stands.
type lead struct {
	text string // ASCII; in lower case if fold
	fold bool
	word bool // a word boundary stands before it
	re   func() *regexp.Regexp
	dfa  func() *dfa
}

// leadOf returns the lead of alt, nil if it has none.
func leadOf(alt *syntax.Regexp, room *atomic.Int64) *lead {
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
	l.dfa = sync.OnceValue(func() *dfa { return newDFA(rest, true, room) })
	return l
}

// bounded reports whether any of parts asks for the start of the text, which
// the text cut at the lead would have elsewhere.
func bounded(parts []*syntax.Regexp) bool {
	for _, p := range parts {
		if begins(p) || bounded(p.Sub) {
			return true
		}
	}
	return false
}

// find returns the first match of the branch in text, which must be ASCII, as
// FindStringSubmatch does, with the text that its indexes are in.
func (l *lead) find(text string) (m []int, in string) {
	for at := l.next(text, 0); at >= 0; at = l.next(text, at+1) {
		if m = l.re().FindStringSubmatchIndex(text[at:]); m != nil {
			return m, text[at:]
		}
	}
	return nil, ""
}

// matches reports whether find finds anything.
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

// next returns where in text, from at on, a match may begin, -1 if nowhere.
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

// exception is a pattern that keeps a rule off a line.
type exception struct {
	re   func() *regexp.Regexp // compiled when first asked
	dfa  func() *dfa
	lits []lead // one of them stands in every match that is ASCII; none: not known
}

func newException(pattern string) *exception {
	x := &exception{re: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) }), dfa: func() *dfa { return nil }}
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return x // compile tells
	}
	re = re.Simplify()
	x.dfa = sync.OnceValue(func() *dfa { return newDFA(re, false, newRoom()) })
	for _, l := range required(re) {
		if !isASCII(l.text) {
			x.lits = nil
			return x
		}
		if l.exact != "" {
			x.lits = append(x.lits, lead{text: l.exact})
			continue
		}
		x.lits = append(x.lits, lead{text: l.text, fold: true})
	}
	return x
}

// in reports whether the pattern matches text.
func (x *exception) in(text string, ascii bool) bool {
	if len(x.lits) > 0 && ascii {
		if !slices.ContainsFunc(x.lits, func(l lead) bool { return l.index(text) >= 0 }) {
			return false
		}
	}
	yes, ok := x.dfa().match(text)
	if !ok {
		return x.re().MatchString(text)
	}
	return yes
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
