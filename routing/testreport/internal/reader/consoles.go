package reader

import (
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
)

// consoles are the consoles that read a log together: each line is given to
// those that look at it, in their order, until one claims it.
type consoles struct {
	out       *claimSink
	lim       model.Limits
	stream    int              // 0: lines without a prefix
	ungated   bool             // every console is given every line it looks at
	formats   []*format.Format // of all
	all       []format.Console
	gate      gate
	rewriters []format.Rewriter // of all, nil for those that are none
	claimed   []bool            // those that claimed a line
}

// consolesOf returns only, if it reads lines, or every format that does.
func consolesOf(only *format.Format) []*format.Format {
	var fs []*format.Format
	for _, f := range format.All() {
		if f.Console != nil && only == nil {
			fs = append(fs, f)
		}
	}
	if only != nil && only.Console != nil {
		fs = append(fs, only)
	}
	return fs
}

// use adds the consoles of formats.
func (c *consoles) use(formats []*format.Format) {
	for _, f := range formats {
		c.formats = append(c.formats, f)
		c.all = append(c.all, f.Console(c.out.console(f.Name, c.stream), c.lim))
	}
}

// dispatch builds the gate.
func (c *consoles) dispatch() {
	c.gate, c.rewriters, c.claimed = nil, make([]format.Rewriter, len(c.all)), make([]bool, len(c.all))
	for i, f := range c.formats {
		c.gate.add(f, c.all[i], !c.ungated)
		c.rewriters[i], _ = c.all[i].(format.Rewriter)
	}
}

// bulk returns the first console that takes lines in bulk, and its format's name; nil if none does.
func (c *consoles) bulk() (format.BulkReader, string) {
	for i, f := range c.formats {
		if b, ok := c.all[i].(format.BulkReader); ok {
			return b, f.Name
		}
	}
	return nil, ""
}

// take gives a line to the consoles. Its first byte that is no blank stands at
// lead. The line of a console that claims it may be rewritten.
func (c *consoles) take(l *lines.Line, lead int) {
	marked := l.Mark != "" || lines.StepOver(*l)
	for i := range c.gate {
		if c.offer(i, l, marked, lead) {
			break
		}
	}
}

// offer gives l to those consoles of group n that look at it, in their order,
// until one claims it.
func (c *consoles) offer(n int, l *lines.Line, marked bool, lead int) bool {
	g := &c.gate[n]
	to, more := g.to(l.Text, marked, lead)
	for {
		if more != 0 && more&-more <= to&-to-1 { // the first of more stands before the first of to, or there is none
			to, more = to|g.woken(l.Text, more), 0
		}
		if to == 0 {
			return false
		}
		bit := next(&to)
		i := n*groupSize + bit
		if !c.all[i].Line(*l) {
			g.after(bit)
			continue
		}
		g.claimed(bit)
		l.Passing = c.out.passing && !c.out.other
		if !c.claimed[i] {
			c.claimed[i] = true
			c.out.claim(c.formats[i].Name)
		}
		if r := c.rewriters[i]; r != nil {
			l.Text = r.Shown()
		}
		return true
	}
}

// end tells the consoles that the log ends.
func (c *consoles) end() {
	for _, con := range c.all {
		con.End()
	}
}
