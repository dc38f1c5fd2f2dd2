package lint

import (
	"strconv"
	"strings"
	"sync"

	"github.com/reviewdog/errorformat"
	"github.com/reviewdog/errorformat/fmts"

	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
)

// errorformats returns the formats of compilers and linters that the
// errorformat library describes, by name. They are read only where named: in
// Vim's language most of them match any line with a colon, so a log would be
// full of them; lintFormat reads the same tools in logs.
var errorformats = sync.OnceValue(func() map[string]*format.Format {
	all := map[string]*format.Format{}
	for name, f := range fmts.DefinedFmts() {
		patterns := f.Errorformat
		all[name] = &format.Format{Name: name, Console: func(out model.Sink, lim model.Limits) format.Console {
			return newEfmConsole(name, patterns, out, lim)
		}}
	}
	return all
})

// efm is one compiled line of an errorformat, with what the library keeps to itself.
type efm struct {
	*errorformat.Efm
	prefix      byte // of "DXAEWICZGOPQ", 0 for a message of one line
	plus, minus bool
}

// efmConsole reads lines as Vim's quickfix does. The library's own scanner
// keeps every entry and ends at a line of 64 KiB; this one keeps the last entry.
type efmConsole struct {
	out  model.Sink
	lim  model.Limits
	tool string
	efms []efm

	file   string // of %P, for messages that name none
	entry  *model.Diagnostic
	multi  bool
	ignore bool
	scan   bool // the rest of a line behind %P is being read
}

func newEfmConsole(name string, patterns []string, out model.Sink, lim model.Limits) *efmConsole {
	c := &efmConsole{out: out, lim: lim, tool: name}
	for _, p := range patterns {
		m, err := errorformat.NewEfm(p)
		if err != nil {
			continue // the library's own tests compile every one
		}
		e := efm{Efm: m}
		e.prefix, e.plus, e.minus = efmPrefix(p)
		c.efms = append(c.efms, e)
	}
	return c
}

// efmPrefix finds the kind of a line of an errorformat the way the library
// does: the last of its prefixes counts.
func efmPrefix(p string) (prefix byte, plus, minus bool) {
	const kinds = "DXAEWICZGOPQ"
	for i := 0; i+1 < len(p); i++ {
		if p[i] == '\\' {
			i++
			continue
		}
		if p[i] != '%' {
			continue
		}
		i++
		switch c := p[i]; {
		case (c == '+' || c == '-') && i+1 < len(p) && strings.IndexByte(kinds, p[i+1]) >= 0:
			plus, minus = plus || c == '+', minus || c == '-'
			i++
			prefix = p[i]
		case strings.IndexByte(kinds, c) >= 0:
			prefix = c
		}
	}
	return prefix, plus, minus
}

func (c *efmConsole) Line(l lines.Line) bool {
	if l.Mark == "command" || l.Mark == "group" || l.Mark == "endgroup" || len(l.Text) > 8<<10 {
		return false
	}
	return c.read(l.Text, l.No, 0)
}

func (c *efmConsole) End() { c.flush() }

// read matches text from the format at index from on.
func (c *efmConsole) read(text string, no, from int) bool {
	for i := from; i < len(c.efms); i++ {
		e := &c.efms[i]
		if c.scan && strings.IndexByte("OPQ", e.prefix) >= 0 && e.prefix != 0 {
			continue
		}
		if (e.prefix == 'C' || e.prefix == 'Z') && !c.multi {
			continue
		}
		if m := e.Match(text); m != nil {
			return c.matched(e, m, text, no, i)
		}
	}
	c.scan, c.multi, c.ignore = false, false, false
	c.flush()
	return false
}

func (c *efmConsole) matched(e *efm, m *errorformat.Match, text string, no, i int) bool {
	scanned := c.scan
	c.scan = false
	switch e.prefix {
	case 'D', 'X':
		return false
	case 'C', 'Z':
		c.add(e, m)
		if e.prefix == 'Z' {
			c.multi, c.ignore = false, false
			c.flush()
		}
		return true
	case 'O', 'P', 'Q':
		if e.prefix == 'P' && m.F != "" {
			c.file = strings.Clone(m.F)
		} else if e.prefix == 'Q' {
			c.file = ""
		}
		if m.R != "" {
			c.scan = true
			return c.read(strings.TrimLeft(m.R, " \t"), no, i)
		}
		return false
	case 'A', 'E', 'W', 'I':
		c.multi, c.ignore = true, false
	}
	if e.minus {
		c.ignore = c.ignore || c.multi
		return false
	}
	c.flush()
	c.entry = c.diagnostic(e, m, text, no, scanned)
	if !c.multi {
		c.flush()
	}
	return true
}

func (c *efmConsole) diagnostic(e *efm, m *errorformat.Match, text string, no int, scanned bool) *model.Diagnostic {
	d := &model.Diagnostic{Tool: c.tool, File: m.F, Line: m.L, Column: efmColumn(m), Message: m.M, At: no}
	if e.plus && !scanned {
		d.Message = text
	}
	if d.File == "" {
		d.File = c.file
	}
	kind := m.T
	if kind == 0 && strings.IndexByte("EWI", e.prefix) >= 0 {
		kind = e.prefix
	}
	d.Severity, d.Code = efmSeverity(kind), efmCode(kind, m.N)
	return d
}

// add completes the entry in hand with what a further line of it says.
func (c *efmConsole) add(e *efm, m *errorformat.Match) {
	d := c.entry
	if c.ignore || d == nil {
		return
	}
	if m.M != "" && len(d.Message) < c.lim.Text {
		d.Message = strings.TrimPrefix(d.Message+"\n"+m.M, "\n")
	}
	if d.File == "" {
		d.File = m.F
	}
	if d.Line == 0 {
		d.Line = m.L
	}
	if d.Column == 0 {
		d.Column = efmColumn(m)
	}
	if d.Severity == "" {
		d.Severity = efmSeverity(m.T)
	}
}

func (c *efmConsole) flush() {
	if d := c.entry; d != nil && d.File != "" {
		c.out.Diagnostic(*d)
	}
	c.entry = nil
}

// efmColumn returns the column a match states, or shows by a pointer below.
func efmColumn(m *errorformat.Match) int {
	switch {
	case m.V > 0:
		return m.V
	case m.P == "":
		return m.C
	}
	col := 0
	for _, r := range m.P {
		if col++; r == '\t' {
			col += 7
			col -= col % 8
		}
	}
	return col + 1
}

func efmSeverity(t byte) model.Severity {
	switch t {
	case 'e', 'E', 'F':
		return model.SevError
	case 'w', 'W', 'C', 'R':
		return model.SevWarning
	case 'i', 'I', 'n', 'N':
		return model.SevNote
	}
	return ""
}

func efmCode(t byte, n int) string {
	switch {
	case n <= 0:
		return ""
	case t >= 'A' && t <= 'Z':
		return string(t) + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}
