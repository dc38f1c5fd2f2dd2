package testreport

import (
	"strings"
)

// behindPrefix reads a tool's plain output and, with a reader of its own each,
// the same output behind the prefixes that docker compose, lerna, turbo and
// the like put before every line.
type behindPrefix struct {
	plain  console
	open   func() console
	starts func(text string) bool // the line begins a tool's output; cheap
	may    func(text string) bool // the line may end as such a line; needs no prefix
	runs   []prefixedRun
	last   int // the run that took the last line
}

func (b *behindPrefix) idle() bool {
	return len(b.runs) == 0 && b.plain.(sleeper).idle()
}

func (b *behindPrefix) line(l Line) bool {
	if len(b.runs) == 0 {
		if l.Mark != "" || len(l.Text) < 12 {
			return b.plain.line(l)
		}
		if n := len(outputPrefix(l.Text)); n == 0 || !b.starts(l.Text[n:]) || !b.may(l.Text) || b.starts(l.Text) {
			return b.plain.line(l)
		}
		if claimed, done := b.opens(l); done {
			return claimed
		}
		return b.plain.line(l)
	}
	if stepOver(l) {
		b.endRuns()
		return b.plain.line(l)
	}
	if l.Mark != "" {
		return b.plain.line(l)
	}
	for i := range b.runs {
		r := &b.runs[(b.last+i)%len(b.runs)]
		if text, ok := cutPrefixed(l.Text, r.prefix); ok {
			b.last = (b.last + i) % len(b.runs)
			l.Text = text
			return r.run.line(l)
		}
	}
	if len(l.Text) >= 12 && b.may(l.Text) && !b.starts(l.Text) {
		if claimed, done := b.opens(l); done {
			return claimed
		}
	}
	return b.plain.line(l)
}

// opens starts a run behind a prefix that was not seen before.
func (b *behindPrefix) opens(l Line) (claimed, done bool) {
	prefix := outputPrefix(l.Text)
	if prefix == "" || len(b.runs) >= maxPrefixes || !b.starts(l.Text[len(prefix):]) {
		return false, false
	}
	b.last = len(b.runs)
	b.runs = append(b.runs, prefixedRun{strings.Clone(prefix), b.open()})
	l.Text = l.Text[len(prefix):]
	return b.runs[b.last].run.line(l), true
}

func (b *behindPrefix) endRuns() {
	for _, r := range b.runs {
		r.run.end()
	}
	b.runs, b.last = nil, 0
}

func (b *behindPrefix) end() {
	b.endRuns()
	b.plain.end()
}

func (b *behindPrefix) budget() *anonymous {
	return b.plain.(interface{ budget() *anonymous }).budget()
}
