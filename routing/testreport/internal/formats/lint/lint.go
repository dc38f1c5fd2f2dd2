package lint

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// lintFormat reads what compilers, linters and formatters print amid a log:
// messages about a place in a file, and the words with which they end.
var lintFormat = format.Format{
	Name:  "lint",
	Order: 890,
	Console: func(out model.Sink, lim model.Limits) format.Console {
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
	out model.Sink
	lim model.Limits

	no       int // of the last line
	warnings int
	steps    int    // ends of steps seen
	before   string // the last line that was not blank
	head     string // file of a head line that messages below it are about
	headOf   string // tool that prints such heads, "" if unknown
	open     *model.Diagnostic
	openAt   int
	wait     lintWait // what the lines below open complete

	framing  string // message of a finding whose place follows in a frame
	framedAt int
	framedAs model.Severity

	first map[string]model.Diagnostic // first finding by tool since the last end of a step
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
	first model.Diagnostic
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

func (c *lintConsole) Line(l lines.Line) bool {
	c.no = l.No
	if lines.StepOver(l) {
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
	} else if t[0] == '^' && c.headOf == "shellcheck" { // of a line without indentation
		ok = c.shellcheck(t)
	} else if ok = c.placed(t, l.Mark) || c.worded(t, l.Mark); !ok {
		c.maybeHead(t)
	}
	c.before = t
	return ok
}

func (c *lintConsole) End() {
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
func (c *lintConsole) stepEnds(l lines.Line) {
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
func (c *lintConsole) emit(d model.Diagnostic) {
	if d.At == 0 {
		d.At = c.no
	}
	d.File = strings.TrimPrefix(d.File, "file://")
	if c.count == nil {
		c.first, c.count = map[string]model.Diagnostic{}, map[string]int{}
	}
	if len(c.count) < 100 {
		f, seen := c.first[d.Tool]
		if !seen || f.Severity != model.SevError && d.Severity == model.SevError {
			c.first[d.Tool] = d
		}
		c.count[d.Tool]++
	}
	if d.Severity == model.SevError || d.Tool == "shellcheck" {
		c.notice(d)
	}
	if d.Severity != model.SevError {
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
func (c *lintConsole) emitSoft(d model.Diagnostic) {
	d.Severity, d.At = model.SevWarning, c.no
	c.notice(d)
	c.emit(d)
}

// notice remembers a finding that is the reason if its step now fails.
func (c *lintConsole) notice(d model.Diagnostic) {
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
	p := model.Problem{Kind: model.KindLint, Name: tool, Message: strings.TrimSpace(what), At: at}
	if Compiler(tool) {
		p.Kind = model.KindBuild
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
func (c *lintConsole) hold(d model.Diagnostic, w lintWait) {
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
		if f, line, col, ok := parse.Location(strings.TrimSpace(rest)); ok && line > 0 {
			d.File, d.Line, d.Column = f, line, col
			c.flush()
			return true
		}
	}
	if d.Tool == "esbuild" {
		if f, line, col, ok := parse.Location(strings.TrimSuffix(s, ":")); ok && col > 0 {
			d.File, d.Line, d.Column = f, line, col
			c.flush()
			return true
		}
	}
	if rest, ok := strings.CutPrefix(s, "on "); ok {
		f, rest, found := strings.Cut(rest, " line ")
		if n, _, isNum := parse.LeadingInt(rest); found && isNum && isTerraform(f) {
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

// placed takes a line that begins with a place.
func (c *lintConsole) placed(t, mark string) bool {
	p := lintPlace(t)
	if !p.ok {
		return p.style == 'u' && c.undefined(t)
	}
	d := model.Diagnostic{Tool: p.tool, File: p.file, Line: p.line, Column: p.col}
	switch p.style {
	case 'w': // ESLint, compact
		if sev, code, msg, ok := cutSeverity(strings.TrimPrefix(p.rest, ", ")); ok {
			d.Severity, d.Code, d.Message = sev, code, msg
			c.emit(d)
			return true
		}
		return false
	case '(':
		if code, msg, ok := pylintCode(strings.TrimLeft(p.rest, ": ")); ok { // pylint -f msvs
			d.Tool, d.Code, d.Message = "pylint", code, msg
			c.emitSoft(d)
			return true
		}
		return c.explicit(d, strings.TrimLeft(p.rest, ": "), mark)
	case '[': // TSLint
		if msg, ok := strings.CutPrefix(p.rest, ": "); ok && p.col > 0 && (p.tool == "tsc" || p.tool == "eslint") {
			d.Tool, d.Message = "tslint", msg
			c.emitSoft(d)
			return true
		}
		return false
	}
	switch {
	case len(p.rest) < 3:
		return false
	case p.rest[0] == ':':
		s := strings.TrimLeft(p.rest[1:], " \t")
		return s != "" && (c.explicit(d, s, mark) || c.stated(d, s, mark, p))
	case p.rest[0] == ' ':
		return c.spaced(d, strings.TrimLeft(p.rest, " "), mark)
	}
	return false
}

// pylintCode reads "[C0301(line-too-long), Cart.pay] Line too long".
func pylintCode(s string) (code, msg string, ok bool) {
	if len(s) < 10 || s[0] != '[' || s[6] != '(' || strings.IndexByte("CRWEFI", s[1]) < 0 {
		return "", "", false
	}
	inside, msg, found := strings.Cut(s[1:], "] ")
	number, rest, isNum := parse.LeadingInt(inside[1:])
	if !found || !isNum || number == 0 || !strings.Contains(rest, ")") {
		return "", "", false
	}
	return inside[:5], strings.TrimSpace(msg), true
}

// explicit takes a message that states its severity: "error TS1005: ';' expected."
func (c *lintConsole) explicit(d model.Diagnostic, s, mark string) bool {
	sev, code, msg, ok := cutSeverity(s)
	if !ok || msg == "" {
		return false
	}
	d.Severity, d.Code, d.Message = sev, code, msg
	d.Tool = explicitTool(d, s)
	if mark == "warning" {
		d.Severity = model.SevWarning
	}
	if d.Column == 0 && sev != model.SevNote && (d.Tool == "javac" || d.Tool == "scalac") {
		c.hold(d, waitCaret)
		return true
	}
	c.emit(d)
	return true
}

// explicitTool tells which tool states a severity for a file of d.Tool's kind.
func explicitTool(d model.Diagnostic, s string) string {
	last := ""
	if n := len(d.Message); n > 3 && (d.Message[n-1] == ']' || d.Message[n-1] == ')') {
		if i := strings.LastIndexAny(d.Message, "[("); i > 0 {
			last = d.Message[i:]
		}
	}
	switch d.Tool {
	case "flake8", "mypy":
		return "mypy"
	case "cc":
		if strings.HasPrefix(last, "[") && strings.Contains(last, "-") && !strings.HasPrefix(last, "[-W") && !strings.Contains(last, " ") {
			return "clang-tidy"
		}
		if n := len(last); n > 4 && last[0] == '[' && strings.Trim(last[1:n-1], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" && !strings.HasPrefix(last, "[W") {
			return "cppcheck" // "[arrayIndexOutOfBounds]"; compilers name the option for a warning
		}
	case "swiftc":
		if strings.HasPrefix(last, "(") && strings.Contains(s, " Violation: ") {
			return "swiftlint"
		}
	case "eslint":
		if strings.HasPrefix(d.Code, "TS") {
			return "tsc"
		}
	case "phpstan":
		if strings.HasPrefix(s, "error - ") {
			return "psalm"
		}
	case "go":
		if strings.HasPrefix(last, "(") && !strings.Contains(last, " ") {
			return "golangci-lint"
		}
	case "ghc":
		if strings.HasPrefix(s, "Suggestion:") || strings.HasPrefix(s, "Warning:") || strings.HasPrefix(s, "Error:") {
			return "hlint"
		}
	}
	return d.Tool
}

// stated takes a message behind "file:1:2:" that states no severity.
func (c *lintConsole) stated(d model.Diagnostic, s, mark string, p lintAt) bool {
	code, msg, coded := cutCode(s)
	if code, msg, ok := pylintCode(s); ok { // pylint -f parseable
		d.Tool, d.Code, d.Message = "pylint", code, msg
		c.emitSoft(d)
		return true
	}
	switch {
	case d.Tool == "rubocop" && len(s) > 3 && s[1] == ':' && strings.IndexByte("CWEFRI", s[0]) >= 0 && p.two:
		d.Severity, d.Message = model.SevWarning, strings.TrimSpace(s[2:])
		if s[0] == 'E' || s[0] == 'F' {
			d.Severity = model.SevError
		}
		c.emit(d)
		return true
	case coded && (p.two || s[0] == '[' || strings.Contains(s, "[bandit]")):
		d.Code, d.Message = code, msg
		d.Tool = codeTool(d, s)
	case d.Tool == "go" && p.two:
		d.Severity, d.Message = model.SevError, s
		if i := strings.LastIndexByte(s, '('); i > 0 && strings.HasSuffix(s, ")") && !strings.Contains(s[i:], " ") {
			d.Tool, d.Code = "golangci-lint", s[i+1:len(s)-1]
			if isLetterCode(d.Code) {
				d.Tool = "staticcheck"
			}
		} else if strings.Contains(s, " (Rule:G") {
			d.Tool = "gosec"
		}
		c.emit(d)
		return true
	case strings.HasSuffix(s, "]") && (strings.Contains(s, " [Error/") || strings.Contains(s, " [Warning/")): // ESLint, unix
		i := strings.LastIndex(s, " [")
		word, code, _ := strings.Cut(strings.TrimSuffix(s[i+2:], "]"), "/")
		d.Severity, d.Code, d.Message = severities[strings.ToLower(word)], code, s[:i]
		c.emit(d)
		return true
	case p.two:
		d.Message = s
		d.Tool = namedTool(d.Tool, s)
	case d.Tool == "rubocop" && strings.Contains(s, ": ") && strings.Contains(s, "troessner/reek"):
		d.Tool, d.Message = "reek", s
	case d.Tool == "rubocop" && strings.Contains(s, " https://srb.help/"):
		d.Tool, d.Message, d.Severity = "sorbet", s, model.SevError
		c.emit(d)
		return true
	case d.Tool == "phpstan" && p.rest[1] != ' ':
		d.Message = s
	default:
		return false
	}
	if mark == "error" {
		d.Severity = model.SevError
		c.emit(d)
		return true
	}
	c.emitSoft(d)
	return true
}

// codeTool tells whose code d.Code is.
func codeTool(d model.Diagnostic, s string) string {
	switch {
	case strings.Contains(s, "[bandit]"):
		return "bandit"
	case d.Tool == "yamllint" || s[0] == '[' && d.Column == 0:
		return "ansible-lint"
	case d.Tool == "flake8" && len(d.Code) == 5 && strings.HasPrefix(s, d.Code+":"):
		return "pylint"
	case strings.HasPrefix(d.Code, "MD"):
		return "markdownlint"
	case strings.HasPrefix(d.Code, "SC"):
		return "shellcheck"
	case strings.HasPrefix(d.Code, "DL"):
		return "hadolint"
	}
	return d.Tool
}

// namedTool tells whose message without code or severity s is.
func namedTool(tool, s string) string {
	switch tool {
	case "kotlinc":
		if strings.HasSuffix(s, "]") {
			return "detekt"
		}
		return "ktlint"
	case "javac":
		return "checkstyle"
	case "tsc":
		return "eslint"
	case "protoc":
		return "buf"
	case "cc":
		return "cpplint"
	case "rustc", "scalac", "swiftc", "csc", "ghc", "groovyc", "dart", "terraform", "make", "elixirc":
		return "lint"
	}
	return tool
}

// spaced takes a message behind "file:1" or "file:1:2" and a blank.
func (c *lintConsole) spaced(d model.Diagnostic, s, mark string) bool {
	code, msg, coded := cutCode(s)
	if code, msg, ok := pylintCode(s); ok { // pylint -f parseable
		d.Tool, d.Code, d.Message = "pylint", code, msg
		c.emitSoft(d)
		return true
	}
	switch {
	case strings.HasPrefix(s, "- "): // tsc and pyright
		if !c.explicit(d, s[2:], mark) {
			return false
		}
		return true
	case len(s) > 4 && (strings.HasPrefix(s, "[W] ") || strings.HasPrefix(s, "[E] ")):
		d.Message, d.Severity = s[4:], model.SevWarning
		if s[1] == 'E' {
			d.Severity = model.SevError
		}
		c.emit(d)
		return true
	case coded && d.Tool == "hadolint", coded && d.Tool == "markdownlint":
		d.Code, d.Message = code, msg
		if sev, _, m, ok := cutSeverity(msg); ok {
			d.Severity, d.Message = sev, m
			c.emit(d)
			return true
		}
	case d.Tool == "markdownlint" && strings.HasPrefix(s, "error MD"):
		d.Code, d.Message, _ = cutCode(s[6:])
		d.Severity = model.SevError
		c.emit(d)
		return true
	case d.Tool == "dotenv-linter":
		d.Message = s
	case d.Tool == "rubocop" && strings.Contains(s, " is slower than "):
		d.Tool, d.Message = "fasterer", s
	case d.Tool == "flake8" && strings.HasSuffix(s, ":") && (s == "at module level:" || strings.HasPrefix(s, "in p") && strings.HasSuffix(s, "`:")):
		d.Tool = "pydocstyle"
		c.hold(d, waitText)
		return true
	case strings.Contains(s, " ━━━") && biomeRule(s):
		rule, _, _ := strings.Cut(s, " ")
		d.Tool, d.Code, d.Severity = "biome", rule, model.SevError
		c.hold(d, waitText)
		return true
	default:
		return false
	}
	c.emitSoft(d)
	return true
}

// biomeRule reports whether s begins with what Biome names a finding by.
func biomeRule(s string) bool {
	for _, category := range [...]string{"lint/", "parse ", "syntax/", "assist/", "suppressions/"} {
		if strings.HasPrefix(s, category) {
			return true
		}
	}
	return false
}

// undefined takes the linker's "a.c:(.text+0x5): undefined reference to `f'".
func (c *lintConsole) undefined(t string) bool {
	i := strings.Index(t, ": undefined reference to ")
	if i < 0 {
		return false
	}
	file, at, _ := strings.Cut(t[:i], ":(")
	d := model.Diagnostic{Tool: "ld", File: file, Severity: model.SevError, Message: t[i+2:]}
	if _, err := sourceFile(file); !err && !strings.HasSuffix(file, ".o") || !strings.HasSuffix(at, ")") {
		return false
	}
	c.emit(d)
	return true
}

// severities are the words by which tools name a severity.
var severities = map[string]model.Severity{
	"error": model.SevError, "fatal": model.SevError, "err": model.SevError,
	"warning": model.SevWarning, "warn": model.SevWarning, "style": model.SevWarning, "convention": model.SevWarning, "refactor": model.SevWarning, "performance": model.SevWarning, "portability": model.SevWarning,
	"note": model.SevNote, "info": model.SevNote, "information": model.SevNote, "hint": model.SevNote, "suggestion": model.SevNote, "remark": model.SevNote, "ignore": model.SevNote, "help": model.SevNote,
}

// capitals are severities as Maven and loggers write them.
var capitals = map[string]model.Severity{"INFO": model.SevNote, "WARN": model.SevWarning, "WARNING": model.SevWarning, "ERROR": model.SevError}

// cutSeverity reads a severity and a code before a message: "error: m",
// "fatal error C1083: m", "[warning] m", "Error - m", "error[E0308]: m".
func cutSeverity(s string) (sev model.Severity, code, msg string, ok bool) {
	if strings.HasPrefix(s, "[") {
		i := strings.IndexByte(s, ']')
		if i < 4 || i > 12 || i+2 > len(s) {
			return "", "", "", false
		}
		sev, ok = severities[strings.ToLower(s[1:i])]
		return sev, "", strings.TrimSpace(s[i+1:]), ok
	}
	low := strings.HasPrefix(s, "fatal error") || strings.HasPrefix(s, "Fatal error")
	if low {
		s = s[len("fatal "):]
	}
	n := 0
	for n < len(s) && n < 12 && (s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z') {
		n++
	}
	if n < 3 || n+1 >= len(s) {
		return "", "", "", false
	}
	if sev, ok = severities[strings.ToLower(s[:n])]; !ok {
		return "", "", "", false
	}
	rest := s[n:]
	switch {
	case rest[0] == ':':
		return sev, "", strings.TrimSpace(rest[1:]), true
	case strings.HasPrefix(rest, " - "):
		return sev, "", strings.TrimSpace(rest[3:]), true
	case rest[0] == '[':
		if i := strings.Index(rest, "]:"); i > 1 && i < 40 {
			return sev, rest[1:i], strings.TrimSpace(rest[i+2:]), true
		}
	case rest[0] == ' ':
		code, msg, found := strings.Cut(rest[1:], ":")
		code = strings.TrimSpace(code)
		if found && isLetterCode(code) {
			return sev, code, strings.TrimSpace(msg), true
		}
	}
	return "", "", "", false
}

// isLetterCode reports whether s is like TS2345, C2065, SA4000, E0308: one to
// six capitals, two to six digits.
func isLetterCode(s string) bool {
	n := 0
	for n < len(s) && s[n] >= 'A' && s[n] <= 'Z' {
		n++
	}
	d := n
	for d < len(s) && s[d] >= '0' && s[d] <= '9' {
		d++
	}
	return n >= 1 && n <= 6 && d-n >= 2 && d-n <= 6 && d == len(s)
}

// cutCode reads a code before a message: "F401 m", "C0114: m", "[E201] m",
// "MD013/line-length m", "B404[bandit]: LOW: m".
func cutCode(s string) (code, msg string, ok bool) {
	t := strings.TrimPrefix(s, "[")
	n := 0
	for n < len(t) && n < 13 && (t[n] >= 'A' && t[n] <= 'Z' || t[n] >= '0' && t[n] <= '9') {
		n++
	}
	if n < 3 || n >= len(t) || !isLetterCode(t[:n]) {
		return "", "", false
	}
	code, rest := t[:n], t[n:]
	if len(t) < len(s) {
		if rest[0] != ']' {
			return "", "", false
		}
		rest = rest[1:]
	}
	switch {
	case strings.HasPrefix(rest, "[bandit]: "):
		rest = rest[len("[bandit]: "):]
	case rest != "" && rest[0] == '/':
		_, rest, _ = strings.Cut(rest, " ")
	case rest == "" || rest[0] != ' ' && rest[0] != ':':
		return "", "", false
	}
	msg = strings.TrimPrefix(strings.TrimLeft(rest, ": "), "[*] ")
	return code, msg, msg != ""
}

// maybeHead notes a line that may head findings of the lines below it.
func (c *lintConsole) maybeHead(t string) {
	if t[0] == '-' && strings.HasPrefix(t, "----") || t[0] == '|' || t[0] == '+' || c.headOf == "phpcs" || c.headOf == "shellcheck" {
		return
	}
	c.head = ""
	if c.headOf != "standard" {
		c.headOf = ""
	}
}

// indented takes a line that begins with white space.
func (c *lintConsole) indented(t, mark string) bool {
	s := strings.TrimLeft(t, " \t")
	if len(s) < 4 {
		return false
	}
	switch b := s[0]; {
	case b >= '0' && b <= '9':
		return c.listed(s)
	case b >= 0x80 || b == ',' || b == 'x':
		if c.framed(s) {
			return true
		}
	case b == '^' || c.headOf == "shellcheck" && (b == '`'):
		return c.headOf == "shellcheck" && c.shellcheck(s)
	case b == 'L' && strings.HasPrefix(s, "Line ") && strings.HasPrefix(c.before, " ---"):
		if f := strings.TrimSpace(s[5:]); f != "" {
			if tool, ok := sourceFile(f); ok && tool == "phpstan" {
				c.head, c.headOf = f, "phpstan"
				return true
			}
		}
		return false
	case (b == 'e' || b == 'w' || b == 'i') && c.dart(s):
		return true
	}
	p := lintPlace(s)
	if !p.ok || p.style != ':' {
		return p.ok && p.style == '(' && c.explicit(model.Diagnostic{Tool: p.tool, File: p.file, Line: p.line, Column: p.col}, strings.TrimLeft(p.rest, ": "), mark)
	}
	d := model.Diagnostic{Tool: p.tool, File: p.file, Line: p.line, Column: p.col}
	rest := strings.TrimLeft(p.rest, ": ")
	switch {
	case rest == "":
		return false
	case strings.HasPrefix(p.rest, " - ") && p.col > 0:
		d.Tool = strings.Replace(d.Tool, "flake8", "pyright", 1)
		if sev, code, msg, ok := cutSeverity(rest[2:]); ok {
			d.Severity, d.Code, d.Message = sev, code, msg
			c.emit(d)
			return true
		}
	case c.headOf == "standard" && p.col > 0:
		d.Tool, d.Message, d.Severity = "standard", rest, model.SevError
		c.emit(d)
		c.fail("standard", "standard found problems", 0)
		return true
	case p.tool == "luacheck" && p.col > 0 && p.rest[0] == ':', strings.Contains(rest, "troessner/reek"):
		return c.stated(d, rest, mark, p)
	case p.col > 0:
		return c.explicit(d, rest, mark)
	}
	return false
}

// framed takes a finding as tools written in Rust draw it: "× eslint(no-debugger): message", maybe
// wrapped behind "│", and above the source in a frame "╭─[src/a.js:2:3]".
func (c *lintConsole) framed(s string) bool {
	if sign, msg, ok := strings.Cut(s, " "); ok && (signs[sign] != "" || sign == "x") {
		c.framing, c.framedAt, c.framedAs = msg, c.no, cmp.Or(signs[sign], model.SevError)
		return false
	}
	if c.framing == "" || c.no-c.framedAt > 4 {
		return false
	}
	for _, corner := range [...]string{"╭─[", "╭────[", ",-[", ",----["} {
		rest, ok := strings.CutPrefix(s, corner)
		if !ok {
			continue
		}
		file, line, col, ok := parse.Location(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "]")))
		if !ok || line <= 0 {
			return false
		}
		d := model.Diagnostic{File: file, Line: line, Column: col, Severity: c.framedAs, Message: c.framing}
		if code, msg, ok := strings.Cut(c.framing, "): "); ok && !strings.Contains(code, " ") && strings.Contains(code, "(") {
			d.Tool, d.Code, d.Message = "oxlint", code+")", msg
		}
		c.framing = ""
		c.emit(d)
		return true
	}
	return false
}

// listed takes a line of a list below the name of a file.
func (c *lintConsole) listed(s string) bool {
	line, rest, _ := parse.LeadingInt(s)
	switch {
	case strings.HasPrefix(rest, ":"):
		col, rest, ok := parse.LeadingInt(rest[1:])
		if !ok || !strings.HasPrefix(rest, " ") {
			return false
		}
		return c.stylish(line, col, strings.TrimSpace(rest))
	case strings.HasPrefix(rest, " Error(s)"):
		if line > 0 && c.count["msbuild"]+c.count["csc"]+c.count["fsc"]+c.count["vbc"]+c.count["cc"] > 0 {
			c.failFirst(s, "msbuild", "csc", "fsc", "vbc", "cc")
			return true
		}
	case c.headOf == "phpcs" && strings.HasPrefix(rest, " | "):
		sev, msg, ok := strings.Cut(rest[3:], "|")
		if grave, known := severities[strings.ToLower(strings.TrimSpace(sev))]; ok && known {
			msg = strings.TrimSpace(msg)
			if len(msg) > 4 && msg[0] == '[' && msg[2] == ']' {
				msg = msg[4:]
			}
			c.hold(model.Diagnostic{Tool: "phpcs", File: c.head, Line: line, Severity: grave, Message: msg}, waitMore)
			return true
		}
	case c.headOf == "phpstan" && strings.HasPrefix(rest, "  "):
		c.emit(model.Diagnostic{Tool: "phpstan", File: c.head, Line: line, Severity: model.SevError, Message: strings.TrimSpace(rest)})
		return true
	}
	return false
}

// stylish takes "error  message  rule" at a place in the file of the head line.
func (c *lintConsole) stylish(line, col int, s string) bool {
	word, msg, ok := strings.Cut(s, " ")
	sev := severities[word]
	if sign, known := signs[word]; known {
		sev = sign
	}
	if !ok || sev == "" {
		return false
	}
	if c.head == "" {
		tool, isFile := sourceFile(strings.TrimSpace(c.before))
		if !isFile {
			return false
		}
		c.head, c.headOf = strings.TrimSpace(c.before), stylishTool(tool, msg)
	}
	d := model.Diagnostic{Tool: c.headOf, File: c.head, Line: line, Column: col, Severity: sev, Message: strings.TrimSpace(msg)}
	if i := strings.LastIndex(d.Message, "  "); i > 0 && !strings.Contains(d.Message[i+2:], " ") {
		d.Code, d.Message = strings.Trim(d.Message[i+2:], "()"), strings.TrimSpace(d.Message[:i])
	}
	c.emit(d)
	return true
}

// signs are what tools draw for a severity.
var signs = map[string]model.Severity{"✖": model.SevError, "×": model.SevError, "✘": model.SevError, "⚠": model.SevWarning, "‼": model.SevWarning, "!": model.SevWarning, "ℹ": model.SevNote, "i": model.SevNote}

func stylishTool(tool, msg string) string {
	switch tool {
	case "yamllint", "actionlint":
		return "yamllint"
	case "stylelint":
		return tool
	case "markdownlint":
		if strings.Contains(msg, "remark") {
			return "remark-lint"
		}
		return tool
	}
	return "eslint"
}

// shellcheck reads "^-- SC2086 (info): message" below "In a.sh line 3:".
func (c *lintConsole) shellcheck(s string) bool {
	i := strings.Index(s, "SC")
	if i < 0 || i > 200 {
		return false
	}
	code, rest, ok := strings.Cut(s[i:], " ")
	f, line, _, isPlace := parse.Location(c.head)
	if !ok || !isLetterCode(strings.TrimSuffix(code, ":")) || !isPlace {
		return false
	}
	d := model.Diagnostic{Tool: "shellcheck", File: f, Line: line, Code: strings.TrimSuffix(code, ":"), Severity: model.SevError, Message: rest}
	if word, msg, ok := strings.Cut(strings.TrimPrefix(rest, "("), "): "); ok {
		d.Message = msg
		if sev, known := severities[word]; known {
			d.Severity = sev
		}
	}
	c.emit(d)
	c.fail("shellcheck", "shellcheck found problems", 0)
	return true
}

// dart reads "error • message • lib/a.dart:1:2 • code" and its form with hyphens.
func (c *lintConsole) dart(s string) bool {
	sep := " • "
	word, rest, ok := strings.Cut(s, sep)
	if !ok {
		sep = " - "
		if word, rest, ok = strings.Cut(s, sep); !ok {
			return false
		}
	}
	sev, known := severities[word]
	if !known {
		return false
	}
	parts := strings.Split(rest, sep)
	for i, p := range parts {
		f, line, col, isPlace := parse.Location(p)
		if !isPlace || col == 0 || !strings.HasSuffix(f, ".dart") || len(parts) < 2 {
			continue
		}
		d := model.Diagnostic{Tool: "dart", File: f, Line: line, Column: col, Severity: sev, Code: parts[len(parts)-1]}
		d.Message = parts[0]
		if i == 0 {
			d.Message = parts[1]
		}
		c.emit(d)
		return true
	}
	return false
}

// worded takes a line of a shape of its own, by its first byte.
func (c *lintConsole) worded(t, mark string) bool {
	switch t[0] {
	case '[':
		return c.levelled(t)
	case 'e', 'w':
		return c.lowerWord(t)
	case 'E', 'W', 'F', 'S', 'C', 'O', 'A', 'D', 'B', 'I':
		return c.upperWord(t)
	case 'd':
		return c.gofmtDiff(t)
	case 's':
		if strings.HasPrefix(t, "standard: Use ") && strings.Contains(t, " Standard Style") {
			c.head, c.headOf = "", "standard"
			return true
		}
	case 'v':
		if rest, ok := strings.CutPrefix(t, "vet: "); ok {
			return c.placed(rest, mark)
		}
	case 'c', '/':
		if c.linker(t) {
			return true
		}
	}
	if t[0] >= '0' && t[0] <= '9' || t[0] >= 0xe2 {
		return c.counted(t)
	}
	if strings.HasSuffix(t, "━━━━") {
		if f, _, ok := strings.Cut(t, " format ━"); ok {
			return c.file("biome", f, model.SevError, "is not formatted")
		}
	}
	if n := len(t); t[n-1] >= '0' && t[n-1] <= '9' {
		return c.puppet(t)
	}
	return c.brakeman(t)
}

// lowerWord takes lines of kotlinc, black, typos, scalastyle and tsc.
func (c *lintConsole) lowerWord(t string) bool {
	switch {
	case strings.HasPrefix(t, "e: "), strings.HasPrefix(t, "w: "):
		return c.kotlin(t)
	case strings.HasPrefix(t, "would reformat "):
		return c.file("black", t[len("would reformat "):], model.SevError, "would be reformatted")
	case strings.HasPrefix(t, "error: cannot format "):
		return c.cannotFormat(t[len("error: cannot format "):])
	case strings.HasPrefix(t, "error file="), strings.HasPrefix(t, "warning file="):
		return c.scalastyle(t)
	case strings.HasPrefix(t, "error:/") && c.count["black"] > 0:
		return c.placed(t[len("error:"):], "error")
	case strings.HasPrefix(t, "error: "):
		c.hold(model.Diagnostic{Severity: model.SevError, Message: t[len("error: "):], Tool: "lint"}, waitPlace)
		return false
	case strings.HasPrefix(t, "error TS"):
		if sev, code, msg, ok := cutSeverity(t); ok {
			c.emit(model.Diagnostic{Tool: "tsc", Severity: sev, Code: code, Message: msg})
			return true
		}
	}
	return false
}

// cannotFormat reads black's "f.py: Cannot parse: 1:3: x = (".
func (c *lintConsole) cannotFormat(s string) bool {
	f, why, ok := strings.Cut(s, ": ")
	if _, isFile := sourceFile(f); !ok || !isFile {
		return false
	}
	d := model.Diagnostic{Tool: "black", File: f, Severity: model.SevError, Message: "cannot format: " + why}
	if i := strings.Index(why, ": "); i > 0 && strings.HasPrefix(why, "Cannot parse") {
		n, rest, isNum := parse.LeadingInt(why[i+2:])
		if m, _, two := parse.LeadingInt(strings.TrimPrefix(rest, ":")); isNum && two {
			d.Line, d.Column = n, m
		}
	}
	c.emit(d)
	return true
}

// file takes a finding about a file as a whole.
func (c *lintConsole) file(tool, file string, sev model.Severity, msg string) bool {
	if _, ok := sourceFile(file); !ok {
		return false
	}
	c.emit(model.Diagnostic{Tool: tool, File: file, Severity: sev, Message: msg})
	return true
}

// kotlin reads "e: file:///p/X.kt:1:2 message" and "e: /p/X.kt: (1, 2): message".
func (c *lintConsole) kotlin(t string) bool {
	s := strings.TrimPrefix(t[3:], "file://")
	i := strings.Index(s, ".kt")
	if i < 0 {
		return false
	}
	d := model.Diagnostic{Tool: "kotlinc", Severity: model.SevError}
	if t[0] == 'w' {
		d.Severity = model.SevWarning
	}
	j := strings.IndexByte(s[i:], ':') + i
	if j < i {
		return false
	}
	d.File = s[:j]
	rest := strings.TrimLeft(s[j+1:], " (")
	var ok bool
	if d.Line, rest, ok = parse.LeadingInt(rest); !ok || rest == "" {
		return false
	}
	if d.Column, rest, ok = parse.LeadingInt(strings.TrimLeft(rest, ":, ")); !ok {
		return false
	}
	d.Message = strings.TrimLeft(rest, "): ")
	c.emit(d)
	return true
}

// scalastyle reads "error file=F message=M line=1 column=2".
func (c *lintConsole) scalastyle(t string) bool {
	sev, rest, _ := strings.Cut(t, " file=")
	file, msg, ok := strings.Cut(rest, " message=")
	if !ok {
		return false
	}
	d := model.Diagnostic{Tool: "scalastyle", File: file, Severity: severities[sev]}
	if i := strings.LastIndex(msg, " line="); i > 0 {
		d.Line, rest, _ = parse.LeadingInt(msg[i+6:])
		d.Column, _, _ = parse.LeadingInt(strings.TrimPrefix(rest, " column="))
		msg = msg[:i]
	}
	d.Message = msg
	c.emit(d)
	return true
}

// upperWord takes lines that begin with a capital.
func (c *lintConsole) upperWord(t string) bool {
	switch {
	case strings.HasPrefix(t, "Would reformat: "):
		return c.file("ruff", t[len("Would reformat: "):], model.SevError, "would be reformatted")
	case strings.HasPrefix(t, "ERROR: "):
		return c.upperError(t[len("ERROR: "):])
	case strings.HasPrefix(t, "Error: "), strings.HasPrefix(t, "Warning: "): // Terraform, TFLint; ESLint's compact form has its place first
		sev, _, msg, _ := cutSeverity(t)
		c.hold(model.Diagnostic{Tool: "terraform", Severity: sev, Message: msg}, waitPlace)
		return false
	case strings.HasPrefix(t, "FILE: "):
		if _, ok := sourceFile(t[6:]); ok {
			c.head, c.headOf = t[6:], "phpcs"
			return true
		}
	case strings.HasPrefix(t, "Diff in "):
		return c.rustfmt(t[len("Diff in "):])
	case strings.HasPrefix(t, "In ") && strings.HasSuffix(t, ":"):
		if f, n, ok := strings.Cut(t[3:len(t)-1], " line "); ok {
			if line, rest, isNum := parse.LeadingInt(n); isNum && rest == "" {
				c.head, c.headOf = f+":"+n, "shellcheck"
				_ = line
				return true
			}
		}
	}
	if code, msg, ok := cutCode(t); ok && t[0] != '[' && len(code) <= 7 { // ruff, in full
		c.hold(model.Diagnostic{Tool: "ruff", Severity: model.SevError, Code: code, Message: msg}, waitPlace)
		return false
	}
	return c.summary(t)
}

// upperError reads isort's and Psalm's "ERROR: …".
func (c *lintConsole) upperError(s string) bool {
	if f, ok := strings.CutSuffix(s, " Imports are incorrectly sorted and/or formatted."); ok {
		c.emit(model.Diagnostic{Tool: "isort", File: f, Severity: model.SevError, Message: "Imports are incorrectly sorted and/or formatted."})
		c.fail("isort", "isort: imports are incorrectly sorted and/or formatted", c.no)
		return true
	}
	kind, rest, ok := strings.Cut(s, " - ")
	if ok && !strings.Contains(kind, " ") {
		place, msg, found := strings.Cut(rest, " - ")
		if f, line, col, isPlace := parse.Location(place); found && isPlace && col > 0 {
			c.emit(model.Diagnostic{Tool: "psalm", File: f, Line: line, Column: col, Severity: model.SevError, Code: kind, Message: msg})
			return true
		}
	}
	if p := lintPlace(s); p.ok && p.style == '[' && p.col > 0 { // TSLint, newer
		c.emit(model.Diagnostic{Tool: "tslint", File: p.file, Line: p.line, Column: p.col, Severity: model.SevError, Message: strings.TrimPrefix(p.rest, ": ")})
		return true
	}
	return false
}

// rustfmt reads "/p/a.rs:12:" and "/p/a.rs at line 12:".
func (c *lintConsole) rustfmt(s string) bool {
	s = strings.ReplaceAll(strings.TrimSuffix(s, ":"), " at line ", ":")
	f, line, _, ok := parse.Location(s)
	if !ok || !strings.HasSuffix(f, ".rs") {
		return false
	}
	c.emit(model.Diagnostic{Tool: "rustfmt", File: f, Line: line, Severity: model.SevError, Message: "is not formatted"})
	c.fail("rustfmt", "rustfmt: files are not formatted", c.no)
	return true
}

// gofmtDiff reads "diff a.go.orig a.go", the head of what gofmt -d would change.
func (c *lintConsole) gofmtDiff(t string) bool {
	s, ok := strings.CutPrefix(t, "diff ")
	from, to, two := strings.Cut(strings.TrimPrefix(s, "-u "), " ")
	if !ok || !two || from != to+".orig" || !strings.HasSuffix(to, ".go") {
		return false
	}
	c.emit(model.Diagnostic{Tool: "gofmt", File: to, Severity: model.SevError, Message: "is not formatted"})
	c.fail("gofmt", "gofmt: files are not formatted", c.no)
	return true
}

// linker takes what a linker ends in.
func (c *lintConsole) linker(t string) bool {
	switch {
	case strings.HasPrefix(t, "collect2: error: "), strings.HasPrefix(t, "clang: error: linker command failed"), strings.HasPrefix(t, "clang++: error: linker command failed"):
		c.fail("ld", t, 0)
		return true
	case t[0] == '/':
		i := strings.Index(t, ": ")
		if i > 0 && i < 60 && strings.Contains(t[:i], "/ld") {
			if strings.HasPrefix(t[i+2:], "cannot find ") {
				c.emit(model.Diagnostic{Tool: "ld", Severity: model.SevError, Message: t[i+2:]})
				return true
			}
			return c.undefined(t[i+2:])
		}
	}
	return false
}

// puppet reads "a.pp - ERROR: message on line 7".
func (c *lintConsole) puppet(t string) bool {
	i := strings.LastIndex(t, " on line ")
	if i < 0 {
		return false
	}
	f, msg, ok := strings.Cut(t[:i], " - ")
	if !ok || !strings.HasSuffix(f, ".pp") {
		return false
	}
	d := model.Diagnostic{Tool: "puppet-lint", File: f}
	d.Line, _, _ = parse.LeadingInt(t[i+len(" on line "):])
	if d.Severity, _, d.Message, ok = cutSeverity(msg); ok {
		c.emit(d)
	}
	return ok
}

// brakeman reads its table of tabs or wide blanks, file, line, type, message, confidence.
func (c *lintConsole) brakeman(t string) bool {
	if !strings.HasSuffix(t, "High") && !strings.HasSuffix(t, "Medium") && !strings.HasSuffix(t, "Weak") {
		return false
	}
	f, rest, _ := strings.Cut(t, " ")
	if g, r, ok := strings.Cut(t, "\t"); ok && len(g) < len(f) {
		f, rest = g, r
	}
	if tool, ok := sourceFile(f); !ok || tool != "rubocop" && tool != "erb-lint" {
		return false
	}
	n, msg, ok := parse.LeadingInt(strings.TrimLeft(rest, " \t"))
	if !ok || !strings.HasPrefix(msg, " ") && !strings.HasPrefix(msg, "\t") {
		return false
	}
	c.emitSoft(model.Diagnostic{Tool: "brakeman", File: f, Line: n, Message: strings.TrimSpace(msg)})
	return true
}

// levelled takes lines behind a level in brackets: sbt, prettier, checkstyle, protolint.
func (c *lintConsole) levelled(t string) bool {
	i := strings.IndexByte(t, ']')
	if i < 4 || i+2 >= len(t) || t[i+1] != ' ' {
		return false
	}
	word, rest := t[1:i], t[i+2:]
	if word == "ant:checkstyle" {
		return c.levelled(rest)
	}
	sev, ok := severities[word]
	if !ok {
		sev, ok = capitals[word]
	}
	if !ok {
		sev, ok = severities[strings.ToLower(word)]
	}
	if !ok {
		return c.protolint(word, rest)
	}
	switch {
	case strings.HasPrefix(rest, "Code style issues ") || strings.HasPrefix(rest, "Code style issues found"):
		c.fail("prettier", rest, c.no)
		return true
	case word == "warn" && c.prettierFile(rest):
		return true
	case strings.HasPrefix(rest, "  ") && c.open != nil:
		return false
	}
	p := lintPlace(rest)
	if !p.ok {
		return c.levelledFile(sev, rest)
	}
	d := model.Diagnostic{Tool: p.tool, File: p.file, Line: p.line, Column: p.col, Severity: sev, Message: strings.TrimLeft(p.rest, ": ")}
	if d.Message == "" || sev == model.SevNote {
		return false
	}
	if d.Tool == "javac" && (strings.HasSuffix(d.Message, "]") || p.col > 0) {
		d.Tool = "checkstyle"
	}
	if _, _, m, ok := cutSeverity(d.Message); ok {
		d.Message = m
	}
	if d.Tool == "scalac" && d.Column == 0 {
		c.hold(d, waitCaret)
		return true
	}
	c.emit(d)
	return true
}

// levelledFile takes "[error] /p/a.scala: message" of sbt-scalastyle and prettier.
func (c *lintConsole) levelledFile(sev model.Severity, s string) bool {
	f, msg, ok := strings.Cut(s, ": ")
	tool, isFile := sourceFile(f)
	if !ok || !isFile || sev == model.SevNote || msg == "" {
		return false
	}
	switch tool {
	case "scalac":
		tool = "scalastyle"
	case "eslint", "tsc", "stylelint", "lint", "yamllint", "markdownlint":
		tool = "prettier"
	default:
		return false
	}
	c.emit(model.Diagnostic{Tool: tool, File: f, Severity: sev, Message: msg})
	return true
}

// prettierFile takes "[warn] src/a.js": a file that prettier would change.
func (c *lintConsole) prettierFile(s string) bool {
	if tool, ok := sourceFile(s); !ok || tool == "scalac" || tool == "javac" {
		return false
	}
	c.emit(model.Diagnostic{Tool: "prettier", File: s, Severity: model.SevWarning, Message: "is not formatted"})
	return true
}

// protolint reads "[a.proto:1:1] message".
func (c *lintConsole) protolint(place, msg string) bool {
	f, line, col, ok := parse.Location(place)
	if !ok || col == 0 || !strings.HasSuffix(f, ".proto") {
		return false
	}
	c.emitSoft(model.Diagnostic{Tool: "protolint", File: f, Line: line, Column: col, Message: msg})
	return true
}

// failFirst reports the end what for the first of tools that found something.
func (c *lintConsole) failFirst(what string, tools ...string) bool {
	for _, t := range tools {
		if c.count[t] > 0 {
			c.fail(t, what, 0)
			return true
		}
	}
	return false
}

// counted takes an end that begins with a number, or with a sign and a number.
func (c *lintConsole) counted(t string) bool {
	s := t
	if t[0] >= 0xe2 { // ✖ 7 problems, ❌ 2 lint errors
		i := strings.IndexByte(t, ' ')
		if i < 2 || i > 6 {
			return false
		}
		if rest, ok := strings.CutPrefix(t, "✘ [ERROR] "); ok {
			c.hold(model.Diagnostic{Tool: "esbuild", Severity: model.SevError, Message: rest}, waitPlace)
			return false
		}
		s = t[i+1:]
	}
	n, rest, ok := parse.LeadingInt(s)
	if !ok || !strings.HasPrefix(rest, " ") {
		return false
	}
	rest = rest[1:]
	switch {
	case n == 0:
		return false
	case strings.HasPrefix(rest, "problem"):
		return c.problems(t, rest)
	case strings.HasPrefix(rest, "error") && strings.Contains(rest, " warning") && strings.Contains(rest, " information"):
		c.fail("pyright", t, 0)
		return true
	case strings.HasPrefix(rest, "error") && strings.HasSuffix(rest, " generated."):
		return c.failFirst(t, "cc")
	case rest == "errors" || rest == "error":
		return c.failFirst(t, "javac", "remark-lint")
	case rest == "errors found" || rest == "error found":
		return c.failFirst(t, "psalm", "scalac")
	case strings.HasPrefix(rest, "file"):
		return c.filesCounted(t, rest)
	case rest == "issues:" || rest == "issue:":
		return c.failFirst(t, "golangci-lint", "staticcheck", "go")
	case strings.HasPrefix(rest, "issue(s) found:"):
		c.said = nil
		c.fail("tflint", t, c.no)
		return true
	case strings.HasPrefix(rest, "issue") && strings.HasPrefix(strings.TrimLeft(rest, "isue"), " found"):
		return c.count["dart"] > 0 && c.failFirst(t, "dart")
	case strings.HasPrefix(rest, "total warning"):
		c.failAs("reek", t)
		return true
	case strings.HasPrefix(rest, "error(s) were found in ERB files"):
		c.failAs("erb-lint", t)
		return true
	}
	return false
}

// problems takes the end of ESLint and stylelint: "7 problems (6 errors, 1 warning)".
func (c *lintConsole) problems(t, rest string) bool {
	_, in, ok := strings.Cut(rest, "(")
	if ok {
		if n, _, isNum := parse.LeadingInt(in); !isNum || n == 0 {
			return isNum
		}
		tool := "eslint"
		if c.count["stylelint"] > 0 {
			tool = "stylelint"
		}
		c.fail(tool, t, 0)
		return true
	}
	for _, tool := range []string{"eslint", "stylelint"} {
		if c.first[tool].Severity == model.SevError {
			c.fail(tool, t, 0)
			return true
		}
	}
	return c.count["eslint"]+c.count["stylelint"] > 0
}

// filesCounted takes the end of black, ruff format, RuboCop and its relatives.
func (c *lintConsole) filesCounted(t, rest string) bool {
	switch {
	case strings.Contains(rest, "would be reformatted"), strings.Contains(rest, "would fail to reformat"), strings.Contains(rest, "failed to reformat"):
		if c.count["ruff"] > 0 && c.count["black"] == 0 {
			c.fail("ruff", t, 0)
		} else {
			c.fail("black", t, 0)
		}
		return true
	case strings.Contains(rest, " inspected, "):
		_, found, _ := strings.Cut(rest, " inspected, ")
		n, what, ok := parse.LeadingInt(found)
		if !ok || n == 0 || !strings.Contains(what, " detected") {
			return false
		}
		tool := "rubocop"
		for _, other := range []string{"haml-lint", "slim-lint", "fasterer"} {
			if c.count[other] > 0 {
				tool = other
			}
		}
		if tool == "rubocop" && !strings.HasPrefix(what, " offense") {
			return false
		}
		c.fail(tool, t, 0)
		return true
	}
	return false
}

// summary takes an end that begins with a capital.
func (c *lintConsole) summary(t string) bool {
	switch {
	case strings.HasPrefix(t, "Found "):
		return c.foundErrors(t)
	case strings.HasPrefix(t, "FOUND ") && c.headOf == "phpcs":
		if n, rest, ok := parse.LeadingInt(t[6:]); ok && n > 0 && strings.HasPrefix(rest, " ERROR") {
			if c.count["phpcs"] == 0 && c.first == nil {
				c.first, c.count = map[string]model.Diagnostic{}, map[string]int{}
			}
			if c.count["phpcs"] == 0 {
				c.first["phpcs"] = model.Diagnostic{File: c.head, At: c.no}
			}
			c.fail("phpcs", t, 0)
		}
		return true
	case strings.HasPrefix(t, "Code style issues "), strings.HasPrefix(t, "Error occurred when checking code style in "):
		c.fail("prettier", t, 0)
		return true
	case strings.HasPrefix(t, "ESLint found too many warnings"):
		c.fail("eslint", t, 0)
		return true
	case strings.HasPrefix(t, "Oh no! 💥"):
		return c.count["black"] > 0
	case strings.HasPrefix(t, "Analysis failed with ") && strings.Contains(t, " issue"):
		c.failAs("detekt", t)
		return true
	case strings.HasPrefix(t, "Done linting! Found "):
		if _, rest, ok := strings.Cut(t, ", "); ok {
			if n, _, isNum := parse.LeadingInt(rest); isNum && n > 0 {
				c.fail("swiftlint", t, 0)
			}
		}
		return true
	case strings.HasPrefix(t, "Summary: ") && strings.Contains(t, " error(s)"):
		if n, _, ok := parse.LeadingInt(t[len("Summary: "):]); ok && n > 0 {
			c.failAs("markdownlint", t)
		}
		return true
	case strings.HasPrefix(t, "Failed: ") && strings.Contains(t, " failure(s), ") && strings.Contains(t, " warning(s)"):
		if n, _, ok := parse.LeadingInt(t[len("Failed: "):]); ok && n > 0 {
			c.failAs("ansible-lint", t)
		}
		return true
	case strings.HasPrefix(t, "Errors: ") && c.count["sorbet"] > 0:
		c.fail("sorbet", t, 0)
		return true
	case t == "Build FAILED.":
		return c.failFirst(t, "msbuild", "csc", "fsc", "vbc", "cc")
	}
	return false
}

// foundErrors takes "Found 3 errors in 2 files." of tsc, mypy, ruff and biome.
func (c *lintConsole) foundErrors(t string) bool {
	n, rest, ok := parse.LeadingInt(t[len("Found "):])
	if !ok || n == 0 || !strings.HasPrefix(rest, " error") {
		return false
	}
	switch {
	case strings.Contains(rest, "(checked ") || strings.Contains(rest, "errors prevented further checking"):
		c.fail("mypy", t, 0)
	case c.count["tsc"] > 0:
		c.fail("tsc", t, 0)
	case c.count["biome"] > 0:
		c.fail("biome", t, 0)
	case c.count["ruff"] > 0 || c.count["flake8"] > 0:
		c.failAs("ruff", t)
	default:
		return false
	}
	return true
}

// failAs reports the end of a tool whose findings, without severity, may have
// been taken for another's.
func (c *lintConsole) failAs(tool, what string) {
	if _, ok := c.first[tool]; !ok && c.soft.count > 0 {
		c.soft.tool = tool
	}
	c.fail(tool, what, 0)
}
