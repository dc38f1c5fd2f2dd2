package diagnosis

import "strings"

// in reports whether the literal stands in text as it must; the automaton has
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

// has reports whether the branch matches text and its rule is not kept off it.
// heard says that one of its literals is known to stand in text.
func (b *branch) has(text string, ascii, heard bool) bool {
	if heard && !b.only {
		if !b.outlined(text) {
			return false
		}
	} else if !b.possible(text) {
		return false
	}
	if !b.matches(text, ascii) {
		return false
	}
	for _, n := range b.rule.not {
		if n.in(text, ascii) {
			return false
		}
	}
	return true
}

// group returns where the first group of the branch stands in text, which it
// matches; "" if it has none.
func (b *branch) group(text string) string {
	if !b.says {
		return ""
	}
	text = text[:min(len(text), scanned)]
	m, in := b.find(text, isASCII(text))
	for g := 2; g+1 < len(m); g += 2 {
		if m[g] >= 0 {
			return in[m[g]:m[g+1]]
		}
	}
	return ""
}

// matches reports whether the branch, whose literal stands in text, matches it.
func (b *branch) matches(text string, ascii bool) bool {
	switch {
	case b.only:
		return true
	case b.lead != nil && ascii:
		return b.lead.matches(text)
	}
	yes, ok := b.dfa().match(text)
	if !ok {
		return b.re().MatchString(text)
	}
	return yes
}

// find returns the indexes of the first match and the text that they are in.
func (b *branch) find(text string, ascii bool) (m []int, in string) {
	if b.lead != nil && ascii {
		return b.lead.find(text)
	}
	return b.re().FindStringSubmatchIndex(text), text
}

// possible reports whether text has what a match begins with and the literals
// that it must hold. It is no match yet.
func (b *branch) possible(text string) bool {
	if !b.outlined(text) {
		return false
	}
	for i := range b.lits {
		if b.lits[i].in(text) {
			return true
		}
	}
	return len(b.lits) == 0
}

// outlined is possible but for the one of its literals by which a branch is found.
func (b *branch) outlined(text string) bool {
	if b.first != nil && (text == "" || !b.first[text[0]]) {
		return false
	}
	for _, s := range b.also {
		if !strings.Contains(text, s) {
			return false
		}
	}
	return true
}
