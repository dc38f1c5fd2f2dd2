package diagnosis

import "math/bits"

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
	rs.lits().scan(text[:min(len(text), scanned)], hits)
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
	hit := func(i uint16) {
		if !found {
			clear(hits)
			found = true
		}
		hits[i>>6] |= 1 << (i & 63)
	}
	for _, i := range rs.starts.of(text) {
		if rs.branches[i].possible(text) {
			hit(i)
		}
	}
	end, state := 0, rs.may.start
	for range tries {
		if end, state = rs.may.find(text, end+1, state); end < 0 {
			return found
		}
		if g := groups(state); rs.ends.any(text[:end+1], g) {
			rs.ends.find(text[:end+1], g, func(i uint16) {
				if rs.branches[i].outlined(text) {
					hit(i)
				}
			})
		}
	}
	if !found {
		clear(hits)
	}
	rs.lits().scan(text[max(0, end+1-rs.longest):], hits)
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
