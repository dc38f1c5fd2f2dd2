package multimatch

import (
	"regexp/syntax"
	"slices"
	"strings"
)

// literal is a text that occurs in every match of an alternative.
type literal struct {
	text   string // in lower case, at most maxLiteral bytes
	exact  string // with its case, "" if case does not matter
	prefix bool   // it occurs at the start of the text
}

const (
	maxBranches = 96 // alternatives of a pattern
	maxLiteral  = 14 // bytes of a literal that are searched for
	maxLiterals = 64 // of an alternative; with more it counts as having none
)

// in reports whether the literal occurs in text with its case and at its place. The automaton has
// found it already, ASCII case aside.
func (l *literal) in(text string) bool {
	switch {
	case l.prefix && l.exact != "":
		return strings.HasPrefix(text, l.exact)
	case l.prefix:
		return len(text) >= len(l.text) && strings.EqualFold(text[:len(l.text)], l.text)
	case l.exact != "":
		return strings.Contains(text, l.exact)
	}
	return true
}

// literals finds the literals of expressions. The alternatives of a pattern share most of their parts,
// whose literals it remembers.
type literals map[*syntax.Regexp][]literal

// spread distributes concatenation over alternation, up to maxBranches.
func (f literals) spread(re *syntax.Regexp) []*syntax.Regexp {
	work := []*syntax.Regexp{re}
	for i := 0; i < len(work); {
		parts := f.alternatives(work[i])
		if len(parts) < 2 {
			i++
			continue
		}
		if len(work)-1+len(parts) > maxBranches {
			break
		}
		work = slices.Replace(work, i, i+1, parts...)
	}
	return work
}

// alternatives returns re as a list of alternatives: its own, or those of its first part that has
// any, unless a literal long enough to filter by surrounds them.
func (f literals) alternatives(re *syntax.Regexp) []*syntax.Regexp {
	switch re.Op {
	case syntax.OpAlternate:
		return re.Sub
	case syntax.OpCapture:
		return rewrap(re, f.alternatives(re.Sub[0]), 0)
	case syntax.OpConcat:
		if lit := f.required(re); len(lit) == 1 && (lit[0].prefix || len(lit[0].text) >= 6) {
			return []*syntax.Regexp{re}
		}
		for i, s := range re.Sub {
			if parts := f.alternatives(s); len(parts) > 1 {
				return rewrap(re, parts, i)
			}
		}
	}
	return []*syntax.Regexp{re}
}

// rewrap puts each part in the place of re's i-th child.
func rewrap(re *syntax.Regexp, parts []*syntax.Regexp, i int) []*syntax.Regexp {
	if len(parts) < 2 {
		return []*syntax.Regexp{re}
	}
	var out []*syntax.Regexp
	for _, p := range parts {
		c := *re
		c.Sub = append([]*syntax.Regexp(nil), re.Sub...)
		c.Sub[i] = p
		out = append(out, flat(&c))
	}
	return out
}

// flat joins nested concatenations, so that a literal after "^" is found.
func flat(re *syntax.Regexp) *syntax.Regexp {
	if re.Op != syntax.OpConcat {
		return re
	}
	var sub []*syntax.Regexp
	for _, s := range re.Sub {
		switch {
		case s.Op == syntax.OpEmptyMatch:
		case s.Op == syntax.OpConcat:
			sub = append(sub, flat(s).Sub...)
		default:
			sub = append(sub, s)
		}
	}
	c := *re
	c.Sub = sub
	return &c
}

// required returns literals of which at least one occurs in every match. They must not be changed.
func (f literals) required(re *syntax.Regexp) []literal {
	found, known := f[re]
	if !known {
		found = f.find(re)
		f[re] = found
	}
	return found
}

func (f literals) find(re *syntax.Regexp) []literal {
	switch re.Op {
	case syntax.OpLiteral:
		return literalOf(re.Rune, re.Flags)
	case syntax.OpCapture, syntax.OpPlus:
		return f.required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return f.required(re.Sub[0])
		}
	case syntax.OpConcat:
		return f.requiredOfConcat(re.Sub)
	case syntax.OpAlternate:
		var all []literal
		for _, s := range re.Sub {
			w := f.required(s)
			if w == nil {
				return nil
			}
			all = append(all, w...)
		}
		return all
	}
	return nil
}

func literalOf(runes []rune, flags syntax.Flags) []literal {
	s := string(runes)
	fold := flags&syntax.FoldCase != 0
	if len(s) < 2 || fold && strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) >= 0 {
		return nil
	}
	l := literal{exact: s}
	if fold {
		l.exact = ""
	}
	l.text = strings.ToLower(s)
	if len(l.text) != len(s) {
		return nil
	}
	if len(l.text) > maxLiteral {
		l.text = l.text[:maxLiteral]
	}
	return []literal{l}
}

// requiredOfConcat returns the literal after "^" if there is one, else the set whose shortest
// literal is longest. Adjacent literals are one.
func (f literals) requiredOfConcat(parts []*syntax.Regexp) []literal {
	var best []literal
	long := 0
	for i := 0; i < len(parts); i++ {
		w, n := f.requiredAt(parts, i)
		if w == nil {
			i += n - 1
			continue
		}
		if i == 1 && len(w) == 1 && parts[1].Op == syntax.OpLiteral && begins(parts[0]) {
			return []literal{{text: w[0].text, exact: w[0].exact, prefix: true}}
		}
		short := len(w[0].text)
		for _, l := range w[1:] {
			short = min(short, len(l.text))
		}
		if len(w) > 8 {
			short = 1
		}
		if short > long {
			best, long = w, short
		}
		i += n - 1
	}
	return best
}

func begins(re *syntax.Regexp) bool {
	return re.Op == syntax.OpBeginText || re.Op == syntax.OpBeginLine
}

// requiredAt returns what the part at i, or the run of literals that starts there, requires, and
// how many parts that is.
func (f literals) requiredAt(parts []*syntax.Regexp, i int) ([]literal, int) {
	n := 0
	for i+n < len(parts) && parts[i+n].Op == syntax.OpLiteral {
		n++
	}
	if n < 2 {
		return f.required(parts[i]), 1
	}
	var runes []rune
	var flags syntax.Flags
	for _, p := range parts[i : i+n] {
		runes = append(runes, p.Rune...)
		flags |= p.Flags
	}
	return literalOf(runes, flags), n
}

// firstBytes adds to set the bytes that a match of parts, which begin the text, can begin with. It
// returns false if any byte is possible.
func firstBytes(parts []*syntax.Regexp, set *[256]bool) bool {
	for _, p := range parts {
		switch p.Op {
		case syntax.OpBeginText, syntax.OpBeginLine, syntax.OpEmptyMatch:
		case syntax.OpLiteral, syntax.OpCharClass:
			return addFirst(p, set)
		case syntax.OpCapture, syntax.OpPlus:
			return firstBytes(p.Sub, set)
		case syntax.OpConcat:
			return firstBytes(p.Sub, set) // false if all its parts are optional
		case syntax.OpQuest, syntax.OpStar:
			if !firstBytes(p.Sub, set) {
				return false
			}
		case syntax.OpAlternate:
			for _, s := range p.Sub {
				if !firstBytes([]*syntax.Regexp{s}, set) {
					return false
				}
			}
			return true
		default:
			return false
		}
	}
	return false // everything was optional
}

func addFirst(p *syntax.Regexp, set *[256]bool) bool {
	runes := p.Rune
	if p.Op == syntax.OpLiteral {
		runes = []rune{p.Rune[0], p.Rune[0]}
	}
	for i := 0; i+1 < len(runes); i += 2 {
		for r := runes[i]; r <= runes[i+1]; r++ {
			if r >= 0x80 {
				for b := 0x80; b < 256; b++ {
					set[b] = true
				}
				break
			}
			set[r] = true
			if p.Flags&syntax.FoldCase != 0 {
				set[strings.ToLower(string(r))[0]], set[strings.ToUpper(string(r))[0]] = true, true
			}
		}
	}
	return true
}

// anchored reports whether re matches only at the start of a text.
func anchored(re *syntax.Regexp) bool {
	return re.Op == syntax.OpConcat && len(re.Sub) > 0 && begins(re.Sub[0])
}

// alsoRequired returns the literals whose case matters that occur in every match.
func (f literals) alsoRequired(re *syntax.Regexp) []string {
	if re.Op != syntax.OpConcat {
		return nil
	}
	var out []string
	for i := 0; i < len(re.Sub); i++ {
		w, n := f.requiredAt(re.Sub, i)
		if len(w) == 1 && w[0].exact != "" {
			out = append(out, w[0].exact)
		}
		i += n - 1
	}
	return out
}
