package rust

import (
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// cargoFormat reads what cargo test, cargo build, clippy and cargo nextest
// print: rustc's diagnostics, libtest's results and nextest's.
var cargoFormat = format.Format{
	Name:  "cargo",
	Order: 400,
	Wakes: &format.Wake{Flush: "rew", Indent: "RDS"},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		c := &cargoConsole{out: out, lim: lim, anon: model.NewAnonymous(lim)}
		c.next.c = c
		return c
	},
}

// cargoWarnings bounds how many warnings are kept: a dependency may print
// thousands, and errors must not be crowded out.
const cargoWarnings = 200

// cargoConsole follows cargo through a log: it compiles, runs one binary of
// tests after the other, and says how it ended.
type cargoConsole struct {
	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous

	diag     rustcDiagnostic
	lint     model.Diagnostic // has its place, and waits for the lint that it is of
	first    model.Diagnostic // first error since the last "could not compile"
	warnings int
	suite    string // of the binary that "Running" announced
	suiteAt  int
	// announced says that the line before named a binary and nothing followed.
	announced bool
	ran       bool // a binary gave its result
	bin       *libtest
	next      nextest
	failed    bool // the last binary, or one since, reported failures
	// cause is open between "error: test failed" and what "Caused by:" says.
	cause     *model.Problem
	explained bool // the binary that cause is of reported failures
}

// rustcDiagnostic is a message whose place stands on the next line.
type rustcDiagnostic struct {
	open bool
	d    model.Diagnostic
}

func (c *cargoConsole) Idle() bool {
	return c.bin == nil && !c.next.open && !c.diag.open && c.lint.Message == "" && c.cause == nil && !c.announced
}

func (c *cargoConsole) Line(l lines.Line) bool {
	if lines.StepOver(l) {
		c.closeAll()
		return false
	}
	if l.Mark != "" {
		return false
	}
	t := strings.TrimRight(l.Text, " ")
	if t == "" {
		c.placedWhole()
		if c.bin != nil {
			c.bin.blank()
		}
		c.next.blank()
		return false
	}
	c.announced = false
	if c.bin != nil && strings.HasPrefix(t, "test ") {
		if i := strings.Index(t, " ... error: test failed, to rerun pass "); i > 5 {
			// The process died while it ran this test, before it ended the line.
			c.bin.hold(l.No, trimTest(t[5:i]), "")
			t = t[i+5:]
		}
	}
	if c.next.line(l.No, t) {
		return true
	}
	if c.next.open {
		return c.compiler(l.No, t)
	}
	if c.bin != nil && c.bin.inBlock() && !c.ends(t) {
		done := c.bin.blockLine(l.No, t)
		c.afterLine()
		if done {
			return true
		}
	}
	if c.test(l.No, t) {
		c.afterLine()
		return true
	}
	return c.compiler(l.No, t)
}

// ends reports whether a line inside a failure's output certainly is cargo's.
func (c *cargoConsole) ends(t string) bool {
	return strings.HasPrefix(t, "     Running ") || strings.HasPrefix(t, "   Doc-tests ") ||
		strings.HasPrefix(t, "error: test failed, to rerun pass ") || strings.HasPrefix(t, "error: doctest failed, to rerun pass ")
}

func (c *cargoConsole) afterLine() {
	if c.bin != nil && c.bin.done {
		c.ran = true
		c.failed = c.failed || c.bin.failures() > 0
		c.bin.emit()
		c.bin, c.suite = nil, ""
	}
}

func (c *cargoConsole) End() { c.closeAll() }

func (c *cargoConsole) closeAll() {
	c.placedWhole()
	c.closeCause()
	c.closeBinary(nil)
	c.next.end()
	if c.announced {
		c.out.Problem(model.Problem{Kind: model.KindTruncated, Name: c.suite, Message: "the tests of " + parse.FirstOf(c.suite, "a binary") + " never started", At: c.suiteAt})
	}
	c.announced, c.ran = false, false
	c.diag.open, c.suite, c.failed, c.first = false, "", false, model.Diagnostic{}
}

// closeBinary ends a binary that never printed a result. why says more, if known.
func (c *cargoConsole) closeBinary(why *model.Problem) {
	if c.bin == nil {
		return
	}
	b := c.bin
	c.bin, c.suite = nil, ""
	if !b.certain() {
		return
	}
	b.emit()
	p := model.Problem{Kind: model.KindTruncated, Name: b.suite, Message: "the tests of " + parse.FirstOf(b.suite, "a binary") + " started and never ended", At: b.at}
	if why != nil {
		p = *why
		p.Name = parse.FirstOf(b.suite, p.Name)
	}
	if b.lastWords != "" {
		p.Message += "\n" + b.lastWords
		if p.Kind == model.KindTruncated {
			p.Kind = model.KindCrash
		}
	}
	c.out.Problem(p)
}

// test takes a line of libtest, or cargo's about its binaries.
func (c *cargoConsole) test(no int, t string) bool {
	switch {
	case strings.HasPrefix(t, "     Running "):
		c.closeBinary(nil)
		c.suite, c.suiteAt = runningSuite(strings.TrimPrefix(t, "     Running ")), no
		c.announced = !strings.Contains(t, "`") && (c.suite != "" || c.ran)
		return c.suite != ""
	case strings.HasPrefix(t, "   Doc-tests "):
		c.closeBinary(nil)
		c.suite, c.suiteAt = strings.TrimSpace(t[len("   Doc-tests "):]), no
		c.announced = true
		return true
	case strings.HasPrefix(t, "running "):
		if n, ok := runningTests(t); ok {
			if c.bin != nil && c.bin.suite == "" && !c.bin.certain() {
				c.bin = nil
			}
			c.closeBinary(nil)
			c.bin = &libtest{out: c.out, lim: c.lim, anon: c.anon, suite: c.suite, announced: c.suite != "", expect: n, at: no}
			return c.suite != ""
		}
	case strings.HasPrefix(t, "error: test failed, to rerun pass "), strings.HasPrefix(t, "error: doctest failed, to rerun pass "),
		strings.HasPrefix(t, "error: bench failed, to rerun pass "):
		c.startCause(no, t)
		return true
	}
	if c.cause != nil && c.causeLine(t) {
		return true
	}
	if c.bin != nil {
		return c.bin.line(no, t)
	}
	return false
}

// startCause notes that cargo gave up on a binary. Its reason may follow.
func (c *cargoConsole) startCause(no int, t string) {
	c.closeCause()
	c.explained, c.failed = c.failed, false
	c.cause = &model.Problem{Kind: model.KindExit, Name: parse.FirstOf(c.suite, parse.QuotedBy(t, '`')), Message: strings.TrimPrefix(t, "error: "), At: no}
}

// causeLine reads "  process didn't exit successfully: `…` (signal: 6, SIGABRT: …)".
func (c *cargoConsole) causeLine(t string) bool {
	if t == "Caused by:" {
		return true
	}
	if !strings.HasPrefix(t, "  process didn't exit successfully: ") {
		return false
	}
	how := t[strings.LastIndex(t, " (")+1:]
	if strings.HasPrefix(how, "(signal: ") {
		c.cause.Kind = model.KindCrash
		c.cause.Message += "\n" + strings.TrimSpace(t)
	}
	if c.bin != nil {
		c.cause.Kind = model.KindCrash
		c.cause.Message = strings.TrimSpace(t)
	}
	c.closeCause()
	return true
}

// closeCause reports the end of a binary that its own result does not explain.
func (c *cargoConsole) closeCause() {
	p := c.cause
	c.cause = nil
	if p == nil {
		return
	}
	switch {
	case c.bin != nil && c.bin.certain():
		if p.Kind == model.KindExit {
			p.Kind = model.KindCrash
		}
		c.closeBinary(p)
	case p.Kind == model.KindCrash || !c.explained:
		c.out.Problem(*p)
	}
}

// runningTests reads "running 3 tests".
func runningTests(t string) (int, bool) {
	n, rest, ok := parse.LeadingInt(t[len("running "):])
	return n, ok && (rest == " tests" || rest == " test")
}

// runningSuite reads "unittests src/lib.rs (target/debug/deps/foo-0123456789abcdef)".
func runningSuite(s string) string {
	if i := strings.LastIndexByte(s, '('); i >= 0 && strings.HasSuffix(s, ")") {
		s = s[i+1 : len(s)-1]
	}
	s = strings.Trim(strings.TrimSpace(s), "`")
	s, _, _ = strings.Cut(s, " ")
	if !strings.ContainsAny(s, `/\`) {
		return ""
	}
	s = strings.TrimSuffix(s[strings.LastIndexAny(s, `/\`)+1:], ".exe")
	if i := strings.LastIndexByte(s, '-'); i > 0 && isHash(s[i+1:]) {
		s = s[:i]
	}
	return s
}

func isHash(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(s) == 16
}

// compiler takes a line of rustc, or cargo's about it.
func (c *cargoConsole) compiler(no int, t string) bool {
	if c.diag.open {
		if place, ok := strings.CutPrefix(strings.TrimLeft(t, " "), "--> "); ok {
			return c.placed(place)
		}
		if t[0] != ' ' {
			c.diag.open = false
		}
	}
	switch t[0] {
	case ' ':
		if c.lint.Message != "" && strings.HasPrefix(strings.TrimLeft(t, " "), "= ") && strings.Contains(t, "clippy") {
			if _, rest, ok := strings.Cut(t, " `-D clippy::"); ok {
				c.lint.Code, _, _ = strings.Cut("clippy::"+strings.ReplaceAll(rest, "-", "_"), "`")
			}
			c.lint.Tool = "clippy" // it compiles, and a lint forbids it
		}
	case 'e':
		if !strings.HasPrefix(t, "error") {
			break
		}
		c.placedWhole()
		return c.rustError(no, t)
	case 'w':
		c.placedWhole()
		if rest, ok := strings.CutPrefix(t, "warning: "); ok {
			c.diag = rustcDiagnostic{true, model.Diagnostic{Tool: "rustc", Severity: model.SevWarning, Message: rest, At: no}}
		}
	}
	return false
}

func (c *cargoConsole) rustError(no int, t string) bool {
	if name, ok := couldNotCompile(t); ok {
		p := model.Problem{Kind: model.KindBuild, Name: name, Message: strings.TrimPrefix(t, "error: "), At: no}
		if c.first.Message != "" {
			p.Message += "\n" + c.first.Message
			p.File, p.Line, p.Column = c.first.File, c.first.Line, c.first.Column
		}
		c.first = model.Diagnostic{}
		c.out.Problem(p)
		return true
	}
	if kind, ok := cargoGaveUp(t); ok {
		c.out.Problem(model.Problem{Kind: kind, Name: "cargo", Message: strings.TrimPrefix(t, "error: "), At: no})
		return true
	}
	d := model.Diagnostic{Tool: "rustc", Severity: model.SevError, At: no}
	if rest, ok := strings.CutPrefix(t, "error[E"); ok {
		code, msg, found := strings.Cut(rest, "]: ")
		if n, left, isNum := parse.LeadingInt(code); !found || !isNum || left != "" || n > 9999 {
			return false
		}
		d.Code, d.Message = "E"+code, msg
	} else if rest, ok := strings.CutPrefix(t, "error: "); ok {
		d.Message = rest
	} else {
		return false
	}
	c.diag = rustcDiagnostic{true, d}
	return d.Code != ""
}

// placed completes a diagnostic with its place.
func (c *cargoConsole) placed(place string) bool {
	file, line, col, ok := parse.Location(place)
	if !ok || col == 0 || !strings.HasSuffix(file, ".rs") && c.diag.d.Code == "" {
		return false
	}
	c.diag.open = false
	d := c.diag.d
	d.File, d.Line, d.Column = file, line, col
	if d.Severity == model.SevWarning {
		if c.warnings++; c.warnings > cargoWarnings {
			if c.warnings == cargoWarnings+1 {
				c.out.Cut(fmt.Sprintf("warnings of rustc after the first %d are left out", cargoWarnings))
			}
			return true
		}
	}
	c.lint = d
	return true
}

// placedWhole hands on a diagnostic once its notes are read.
func (c *cargoConsole) placedWhole() {
	d := c.lint
	if d.Message == "" {
		return
	}
	c.lint = model.Diagnostic{}
	if d.Severity == model.SevError && c.first.Message == "" {
		c.first = d
	}
	c.out.Diagnostic(d)
}

// couldNotCompile reads "error: could not compile `x` (lib test) due to 2 previous errors".
func couldNotCompile(t string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(t, "error: could not compile `")
	if !ok {
		if rest, ok = strings.CutPrefix(t, "error: Could not compile `"); !ok {
			return "", false
		}
	}
	name, _, ok = strings.Cut(rest, "`")
	return name, ok
}

// cargoGaveUp recognises how cargo ends before it compiles.
func cargoGaveUp(t string) (model.Kind, bool) {
	for _, p := range [...]string{
		"error: failed to select a version for", "error: failed to parse manifest at `", "error: failed to load manifest for ",
		"error: no matching package named `", "error: could not find `Cargo.toml` in `", "error: failed to parse lock file at",
		"error: no test target named `", "error: package ID specification `", "error: no such command: `",
	} {
		if strings.HasPrefix(t, p) {
			return model.KindSetup, true
		}
	}
	if strings.HasPrefix(t, "error: failed to run custom build command for `") {
		return model.KindBuild, true
	}
	return "", false
}
