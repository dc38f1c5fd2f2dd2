package diagnosis

import "github.com/switchback-ci/switchback/routing/testreport"

// maxBaseline bounds the different lines that a Baseline holds.
const maxBaseline = 100_000

// Baseline holds the lines of the log of a run that passed, of the job whose failure is diagnosed.
// Lines that stand in both logs say little of why the second failed. It is filled by one goroutine,
// and safe for concurrent use when no more lines are added.
type Baseline struct {
	seen map[uint64]struct{}
	full bool
}

// Line adds the next line of the log, as [testreport.Options] hands it to OnLine.
func (b *Baseline) Line(l testreport.Line) {
	h := lineHash(l.Text)
	if _, ok := b.seen[h]; ok || h == 0 {
		return
	}
	if len(b.seen) >= maxBaseline {
		b.full = true
		return
	}
	if b.seen == nil {
		b.seen = map[uint64]struct{}{}
	}
	b.seen[h] = struct{}{}
}

// Empty reports whether the baseline has no line, and so says nothing.
func (b *Baseline) Empty() bool { return b == nil || len(b.seen) == 0 }

// compare reports whether the log of the baseline has a line that differs from text only in what
// changes from run to run, and whether it is known to have none.
func (b *Baseline) compare(text string) (old, fresh bool) {
	_, old = b.seen[lineHash(text)]
	return old, !old && !b.full
}

var betweenWords = func() (set [256]bool) {
	for _, c := range []byte(" \t,;=[]()/") {
		set[c] = true
	}
	return set
}()

// lineHash returns a hash of the words of text that have no digit: ids, times, ports and durations
// have. It is 0 for a text without any such word.
func lineHash(text string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h, words := uint64(offset), 0
	text = text[:min(len(text), textKept)]
	for i := 0; i < len(text); {
		if betweenWords[text[i]] {
			i++
			continue
		}
		from, digits := i, false
		for i < len(text) && !betweenWords[text[i]] {
			digits = digits || isDigit(text[i])
			i++
		}
		if digits {
			h = (h ^ '#') * prime
			continue
		}
		words++
		for _, c := range []byte(text[from:i]) {
			h = (h ^ uint64(c)) * prime
		}
		h = (h ^ ' ') * prime
	}
	if words == 0 {
		return 0
	}
	return h
}
