package testreport

import (
	"fmt"
	"strings"
)

// lintFormat reads what compilers, linters and formatters print amid a log:
// messages about a place in a file, and the words with which they end.
var lintFormat = format{
	name:  "lint",
	order: 650,
	console: func(out Sink, lim Limits) console {
		return &lintConsole{out: out, lim: lim}
	},
}

// lintWarnings bounds how many warnings are handed on: errors must not be crowded out.
const lintWarnings = 1000

// lintNear is how many lines may lie between the last finding of a linter that
// states no severity and the end of its step, for the end to be the linter's.
const lintNear = 60

// lintConsole follows compilers and linters through a log. What states no
// severity (flake8, pylint, ktlint) is a warning: such tools are often run
// only to be looked at. It counts as a failure if its step then fails.
type lintConsole struct {
	out Sink
	lim Limits

	no       int // of the last line
	warnings int
	steps    int    // ends of steps seen
	before   string // the last line that was not blank
	head     string // file of a head line that messages below it are about
	headOf   string // tool that prints such heads, "" if unknown
	open     *Diagnostic
	openAt   int
	wait     lintWait // what the lines below open complete

	first map[string]Diagnostic // first finding by tool since the last end of a step
	count map[string]int
	soft  lintSoft
	said  map[string]bool // tools whose failing end was reported in this step
}

// lintSoft are the last tool's findings, errors or without severity, since the
// last end of a step or of the tool itself.
type lintSoft struct {
	tool  string
	count int
	last  int // line of the last one
	first Diagnostic
}

// lintWait says what is still missing of a diagnostic in hand.
type lintWait byte

const (
	waitNone  lintWait = iota
	waitCaret          // the column, by a caret
	waitPlace          // the place, on a line of its own
	waitText           // the message, on a line of its own
	waitMore           // the rest of the message, in a table of phpcs
)

func (c *lintConsole) line(l Line) bool {
	c.no = l.No
	if stepOver(l) {
		c.stepEnds(l)
		return false
	}
	t := strings.TrimPrefix(l.Text, "│ ") // Terraform draws a box
	if l.Mark != "" && l.Mark != "error" && l.Mark != "warning" && l.Mark != "group" {
		return false
	}
	if len(t) < 4 || len(t) > 4<<10 {
		if strings.TrimSpace(t) == "" {
			c.blank()
		} else if c.open != nil {
			return c.complete(t)
		}
		return false
	}
	if c.open != nil && c.complete(t) {
		return true
	}
	ok := false
	if t[0] == ' ' || t[0] == '\t' {
		ok = c.indented(t, l.Mark)
	} else if ok = c.placed(t, l.Mark) || c.worded(t, l.Mark); !ok {
		c.maybeHead(t)
	}
	c.before = t
	return ok
}

func (c *lintConsole) end() {
	c.flush()
	if c.steps == 0 && c.soft.count > 0 && c.no-c.soft.last <= lintNear/2 {
		c.fail(c.soft.tool, c.found(), 0) // the output of the linter alone, or of a script that it ended
	}
}

func (c *lintConsole) blank() {
	if c.open != nil && c.wait == waitCaret {
		c.flush()
	}
	c.before = ""
	if c.headOf == "phpcs" || c.headOf == "phpstan" {
		return // their tables have blank lines
	}
	c.head, c.headOf = "", ""
}

// stepEnds takes the end of a step; a failing one makes findings without
// severity right before it the reason.
func (c *lintConsole) stepEnds(l Line) {
	c.flush()
	c.steps++
	failed := l.Mark == "error" || strings.HasPrefix(l.Text, `The command "`) && !strings.HasSuffix(l.Text, "exited with 0.")
	if failed && c.soft.count > 0 && l.No-c.soft.last <= lintNear {
		c.fail(c.soft.tool, c.found(), 0)
	}
	c.before, c.head, c.headOf = "", "", ""
	c.first, c.count, c.said, c.soft = nil, nil, nil, lintSoft{}
}

func (c *lintConsole) found() string {
	if c.soft.count == 1 {
		return c.soft.tool + " found 1 problem: " + c.soft.first.Message
	}
	return fmt.Sprintf("%s found %d problems; the first: %s", c.soft.tool, c.soft.count, c.soft.first.Message)
}

// emit hands on a finding.
func (c *lintConsole) emit(d Diagnostic) {
	if d.At == 0 {
		d.At = c.no
	}
	d.File = strings.TrimPrefix(d.File, "file://")
	if c.count == nil {
		c.first, c.count = map[string]Diagnostic{}, map[string]int{}
	}
	if len(c.count) < 100 {
		f, seen := c.first[d.Tool]
		if !seen || f.Severity != SevError && d.Severity == SevError {
			c.first[d.Tool] = d
		}
		c.count[d.Tool]++
	}
	if d.Severity == SevError || d.Tool == "shellcheck" {
		c.notice(d)
	}
	if d.Severity != SevError {
		if c.warnings++; c.warnings > lintWarnings {
			if c.warnings == lintWarnings+1 {
				c.out.Cut(fmt.Sprintf("warnings of compilers and linters after the first %d are left out", lintWarnings))
			}
			return
		}
	}
	c.out.Diagnostic(d)
}

// emitSoft hands on a finding whose tool states no severity.
func (c *lintConsole) emitSoft(d Diagnostic) {
	d.Severity, d.At = SevWarning, c.no
	c.notice(d)
	c.emit(d)
}

// notice remembers a finding that is the reason if its step now fails.
func (c *lintConsole) notice(d Diagnostic) {
	if c.soft.count == 0 || c.soft.tool != d.Tool {
		c.soft = lintSoft{tool: d.Tool, first: d}
	}
	c.soft.count++
	c.soft.last = c.no
}

// fail reports that a tool itself said it failed, once per tool and step.
func (c *lintConsole) fail(tool, what string, at int) {
	c.flush()
	if c.said[tool] {
		return
	}
	if c.said == nil {
		c.said = map[string]bool{}
	}
	c.said[tool] = true
	p := Problem{Kind: KindLint, Name: tool, Message: strings.TrimSpace(what), At: at}
	if Compiler(tool) {
		p.Kind = KindBuild
	}
	d, ok := c.first[tool]
	if !ok && tool == c.soft.tool {
		d, ok = c.soft.first, true
	}
	if ok {
		p.File, p.Line, p.Column = d.File, d.Line, d.Column
		if !strings.Contains(p.Message, d.Message) {
			p.Message += "\n" + d.Message
		}
		if p.At == 0 {
			p.At = d.At
		}
	}
	if p.At == 0 {
		p.At = c.no
	}
	if tool == c.soft.tool {
		c.soft = lintSoft{} // said
	}
	c.out.Problem(p)
}

// hold keeps a diagnostic until the lines below it complete it.
func (c *lintConsole) hold(d Diagnostic, w lintWait) {
	c.flush()
	d.At = c.no
	c.open, c.openAt, c.wait = &d, c.no, w
}

// flush hands on the diagnostic in hand if it is whole enough.
func (c *lintConsole) flush() {
	d := c.open
	c.open = nil
	if d == nil || c.wait == waitPlace && d.File == "" || c.wait == waitText && d.Message == "" {
		return
	}
	if d.Severity == "" {
		no := c.no
		c.no = d.At
		c.emitSoft(*d)
		c.no = no
		return
	}
	c.emit(*d)
}

// complete takes a line below the diagnostic in hand.
func (c *lintConsole) complete(t string) bool {
	d := c.open
	if c.no-c.openAt > 12 {
		c.flush()
		return false
	}
	if i := strings.IndexByte(t, ']'); i > 3 && i < 10 && t[0] == '[' && c.wait == waitCaret && len(t) > i+2 {
		t = t[i+2:] // sbt's level
	}
	s := strings.TrimLeft(t, " \t│|")
	switch c.wait {
	case waitCaret:
		if s == "^" || strings.HasPrefix(s, "^") && strings.Trim(s, "^~ ") == "" {
			d.Column = caretColumn(t)
			c.flush()
			return true
		}
		if t[0] != ' ' && t[0] != '\t' && lintPlace(t).ok {
			c.flush()
		}
		return false
	case waitPlace:
		return c.completePlace(s, t)
	case waitMore:
		if strings.HasPrefix(strings.TrimLeft(t, " "), "|") {
			d.Message += " " + strings.TrimLeft(s, "| ")
			return true
		}
		c.flush()
	case waitText:
		if t[0] == ' ' || t[0] == '\t' || d.Tool == "ansible-lint" {
			d.Message = s
			if sign, rest, ok := strings.Cut(s, " "); ok && d.Tool == "biome" {
				d.Severity, d.Message = signs[sign], rest
			}
			if code, rest, ok := cutCode(s); ok {
				d.Code, d.Message = code, rest
			}
			c.flush()
			return true
		}
		c.open = nil
	}
	return false
}

// completePlace reads "--> f:1:2" and "on main.tf line 3, in …" below a message.
func (c *lintConsole) completePlace(s, t string) bool {
	d := c.open
	if rest, ok := strings.CutPrefix(s, "--> "); ok {
		if f, line, col, ok := location(strings.TrimSpace(rest)); ok && line > 0 {
			d.File, d.Line, d.Column = f, line, col
			c.flush()
			return true
		}
	}
	if d.Tool == "esbuild" {
		if f, line, col, ok := location(strings.TrimSuffix(s, ":")); ok && col > 0 {
			d.File, d.Line, d.Column = f, line, col
			c.flush()
			return true
		}
	}
	if rest, ok := strings.CutPrefix(s, "on "); ok {
		f, rest, found := strings.Cut(rest, " line ")
		if n, _, isNum := leadingInt(rest); found && isNum && isTerraform(f) {
			d.File, d.Line = f, n
			c.flush()
			return true
		}
	}
	if t[0] != ' ' && s == t || d.Tool == "" && !strings.HasPrefix(s, "--> ") {
		c.open = nil
	}
	return false
}

func isTerraform(f string) bool {
	return strings.HasSuffix(f, ".tf") || strings.HasSuffix(f, ".tfvars") || strings.HasSuffix(f, ".hcl") || strings.HasSuffix(f, ".tf.json")
}

// caretColumn returns the 1-based column of the caret in t; tabs count to the next eighth.
func caretColumn(t string) int {
	col := 0
	for i := 0; i < len(t) && t[i] != '^'; i++ {
		if col++; t[i] == '\t' {
			col = (col + 7) / 8 * 8
		}
	}
	return col + 1
}
