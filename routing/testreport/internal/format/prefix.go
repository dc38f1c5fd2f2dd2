package format

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
)

// BehindPrefix reads a tool's plain output and, with a reader of its own each,
// the same output behind the prefixes that docker compose, lerna, turbo and
// the like put before every line.
type BehindPrefix struct {
	Plain  Console
	Open   func() Console
	Starts func(text string) bool // the line begins a tool's output; cheap
	May    func(text string) bool // the line may end as such a line; needs no prefix
	runs   []prefixedRun
	last   int // the run that took the last line
}

// Idle implements Sleeper.
func (b *BehindPrefix) Idle() bool {
	return len(b.runs) == 0 && b.Plain.(Sleeper).Idle()
}

// Line implements Console.
func (b *BehindPrefix) Line(l lines.Line) bool {
	if len(b.runs) == 0 {
		if l.Mark != "" || len(l.Text) < 12 {
			return b.Plain.Line(l)
		}
		if n := len(lines.OutputPrefix(l.Text)); n == 0 || !b.Starts(l.Text[n:]) || !b.May(l.Text) || b.Starts(l.Text) {
			return b.Plain.Line(l)
		}
		if claimed, done := b.opens(l); done {
			return claimed
		}
		return b.Plain.Line(l)
	}
	if lines.StepOver(l) {
		b.endRuns()
		return b.Plain.Line(l)
	}
	if l.Mark != "" {
		return b.Plain.Line(l)
	}
	for i := range b.runs {
		r := &b.runs[(b.last+i)%len(b.runs)]
		if text, ok := lines.CutPrefixed(l.Text, r.prefix); ok {
			b.last = (b.last + i) % len(b.runs)
			l.Text = text
			return r.run.Line(l)
		}
	}
	if len(l.Text) >= 12 && b.May(l.Text) && !b.Starts(l.Text) {
		if claimed, done := b.opens(l); done {
			return claimed
		}
	}
	return b.Plain.Line(l)
}

// opens starts a run behind a prefix that was not seen before.
func (b *BehindPrefix) opens(l lines.Line) (claimed, done bool) {
	prefix := lines.OutputPrefix(l.Text)
	if prefix == "" || len(b.runs) >= maxPrefixes || !b.Starts(l.Text[len(prefix):]) {
		return false, false
	}
	b.last = len(b.runs)
	b.runs = append(b.runs, prefixedRun{strings.Clone(prefix), b.Open()})
	l.Text = l.Text[len(prefix):]
	return b.runs[b.last].run.Line(l), true
}

func (b *BehindPrefix) endRuns() {
	for _, r := range b.runs {
		r.run.End()
	}
	b.runs, b.last = nil, 0
}

// End implements Console.
func (b *BehindPrefix) End() {
	b.endRuns()
	b.Plain.End()
}

// Prefixed runs one reader per prefix: tools that run several processes put
// "name: ", "name | " or "[INFO] " before each line of theirs, and mix them.
type Prefixed struct {
	Starts func(text string) bool
	Open   func() Console
	runs   []prefixedRun
}

type prefixedRun struct {
	prefix string
	run    Console
}

const maxPrefixes = 64

// Idle implements Sleeper.
func (p *Prefixed) Idle() bool { return len(p.runs) == 0 }

// Line implements Console.
func (p *Prefixed) Line(l lines.Line) bool {
	if lines.StepOver(l) {
		p.End()
		return false
	}
	if l.Mark != "" && l.Mark != "error" {
		return false
	}
	if p.Starts(l.Text) {
		return p.run("").Line(l)
	}
	if len(p.runs) == 1 && p.runs[0].prefix == "" && strings.HasPrefix(l.Text, "  ") {
		return p.runs[0].run.Line(l) // has no prefix
	}
	for i := range p.runs {
		r := &p.runs[i]
		if r.prefix == "" {
			continue
		}
		if text, ok := lines.CutPrefixed(l.Text, r.prefix); ok {
			l.Text = text
			return r.run.Line(l)
		}
	}
	if prefix := lines.OutputPrefix(l.Text); prefix != "" && len(p.runs) < maxPrefixes && p.Starts(l.Text[len(prefix):]) {
		l.Text = l.Text[len(prefix):]
		return p.run(prefix).Line(l)
	}
	for _, r := range p.runs {
		if r.prefix == "" {
			return r.run.Line(l)
		}
	}
	return false
}

func (p *Prefixed) run(prefix string) Console {
	for _, r := range p.runs {
		if r.prefix == prefix {
			return r.run
		}
	}
	p.runs = append(p.runs, prefixedRun{strings.Clone(prefix), p.Open()})
	return p.runs[len(p.runs)-1].run
}

// End implements Console.
func (p *Prefixed) End() {
	for _, r := range p.runs {
		r.run.End()
	}
	p.runs = nil
}
