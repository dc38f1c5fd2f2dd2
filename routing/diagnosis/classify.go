package diagnosis

import (
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/diagnosis/multimatch"
	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/testreport"
	"github.com/switchback-ci/switchback/routing/truncate"
)

// classifier turns the entries of a report into failures with a class.
type classifier struct {
	rules matcher
	only  matcher // of the rules for assertions
	opt   Options
	flaky map[string]bool

	traces *traceMemo
	advice *adviser
	known  map[failureText]finding // of texts seen before: one cause fails many tests with equal texts
}

// failureText is all that a report says of why a test failed.
type failureText struct {
	test                        bool
	kind                        testreport.Kind
	typ, message, trace, output string
}

func newClassifier(rules *Rules, opt Options) *classifier {
	c := &classifier{
		rules: matcher{rules: rules}, only: matcher{rules: rules.forAssertions()}, opt: opt, flaky: map[string]bool{},
		traces: newTraceMemo(opt.Brief), advice: newAdviser(opt.Language), known: map[failureText]finding{},
	}
	for _, n := range opt.PassedElsewhere {
		c.flaky[n] = true
	}
	return c
}

// finding is the class of a failure and the rule or signal that decided it.
type finding struct {
	class  routing.Class
	rule   *Rule
	match  string
	text   string
	signal string
}

// test returns the failure of a failing test.
func (c *classifier) test(t testreport.Test) routing.Failure {
	f := routing.Failure{
		Name: t.Name, Suite: t.Suite, Kind: string(t.Kind),
		File: t.File, Line: t.Line, Message: firstText(t.Message, t.Type, t.Trace),
		Expected: t.Expected, Actual: t.Actual,
		Flaky: t.Flaky || c.flaky[t.FullName()] || c.flaky[t.Name] && t.Suite == "",
	}
	x := c.testClass(t, f)
	text := t.Trace
	if text == "" {
		text = t.Message
	}
	return c.complete(f, x, t.Type, text, t.At)
}

func firstText(all ...string) string {
	for _, s := range all {
		if strings.TrimSpace(s) != "" {
			return s
		}
	}
	return ""
}

func (c *classifier) testClass(t testreport.Test, f routing.Failure) finding {
	if f.Flaky {
		return finding{class: routing.Flaky, signal: "passed on the same commit", text: t.FullName()}
	}
	if x, ok := byTool(t); ok {
		return x
	}
	if x, ok := c.byText(true, t.Kind, t.Type, t.Message, t.Trace, t.Output); ok {
		return x
	}
	class := kindClass[t.Kind]
	if class == "" || class == routing.Unknown {
		class = routing.LogicError // a test that ran and failed
	}
	return finding{class: class, signal: signalOf(t.Kind), text: firstText(t.Message, t.Type, t.Name)}
}

func signalOf(k testreport.Kind) string {
	if k == "" {
		return "status:failed"
	}
	return "kind:" + string(k)
}

var kindClass = map[testreport.Kind]routing.Class{
	testreport.KindAssertion: routing.LogicError,
	testreport.KindError:     routing.LogicError,
	testreport.KindCrash:     routing.LogicError,
	testreport.KindRace:      routing.LogicError,
	testreport.KindTimeout:   routing.Timeout,
	testreport.KindBuild:     routing.TypeError,
	testreport.KindCoverage:  routing.Quality,
	testreport.KindLint:      routing.Quality,
	testreport.KindSetup:     routing.LogicError, // of code that prepares tests
	testreport.KindPackage:   routing.Unknown,
	testreport.KindTruncated: routing.Unknown,
	testreport.KindEmpty:     routing.Unknown,
	testreport.KindExit:      routing.Unknown,
	testreport.KindTests:     routing.LogicError,
}

// byText returns the strongest rule that matches the text of a failure. The operands of an
// assertion can contain any text, so for assertions only rules marked for them count. A runner's
// own timeout is not looked up.
func (c *classifier) byText(test bool, kind testreport.Kind, typ, message, trace, output string) (finding, bool) {
	if kind == testreport.KindTimeout || kind == testreport.KindRace || kind == testreport.KindLint {
		return finding{}, false
	}
	rules, only := &c.rules, assertion(kind, typ)
	if only {
		rules = &c.only
	}
	want := func(r *Rule) bool {
		if r.Class == "" || r.Role != RoleError || r.Scope == ScopeUnit && test {
			return false
		}
		if kind == testreport.KindBuild && (r.Class == routing.LogicError || r.Class == routing.Quality) {
			return false
		}
		return !only || r.Assertion
	}
	e := failureText{test, kind, typ, message, trace, output}
	best, ok := c.known[e]
	if ok {
		return best, best.rule != nil
	}
	for _, text := range essence(kind, typ, message, trace, output) {
		m := rules.first(text, want)
		r := m.rule
		if r == nil || best.rule != nil && (best.rule.user || !r.user && r.Priority <= best.rule.Priority) {
			continue
		}
		if r.Class == routing.LogicError || r.Class == routing.Quality && kind != "" {
			continue // adds nothing to a failing test
		}
		best = finding{class: r.Class, rule: r, match: m.group(text), text: text, signal: r.ID}
	}
	if len(c.known) >= 128 {
		clear(c.known)
	}
	c.known[e] = best
	return best, best.rule != nil
}

// assertion reports whether a test failed because a comparison did not hold.
func assertion(kind testreport.Kind, typ string) bool {
	return kind == testreport.KindAssertion || kind == "" && assertionType.MatchString(typ)
}

var (
	assertionType = lazyregexp.New(`(?i)assert|comparison|expectation`)
	errorShape    = multimatch.NewMatcher(`^\s*(?:E\s+)?(?:Caused by: |Suppressed: |panic: |fatal|error|Exception in thread|thread '.*panicked|not (?:yet )?implemented|\S+\.(?:go|rs|ts|tsx|js|java|kt|c|cc|cpp|h|py):|(?:[\w$]+[.:]+)*[A-Z][\w$]*(?:Error|Exception|Failure|Timeout)\b)`)
	pytestLine    = multimatch.NewMatcher(`^E\s+\S`)
)

// essence returns the lines of a failure that state the error, without the source code and output
// around it.
func essence(kind testreport.Kind, typ, message, trace, output string) []string {
	var out []string
	if typ != "" && !strings.HasPrefix(message, typ) {
		out = append(out, typ+": "+oneLine(message))
	}
	out = append(out, headLines(message, 12, nil)...)
	// errorShape matches no stack frame of Java or JavaScript, and traces consist mostly of frames.
	shaped := func(s string) bool {
		return !strings.HasPrefix(strings.TrimLeft(s, " \t"), "at ") && errorShape.MatchString(s)
	}
	if pytest := headLines(trace, 40, pytestLine.MatchString); len(pytest) > 0 {
		out = append(out, pytest...)
	} else {
		out = append(out, headLines(trace, 40, shaped)...)
	}
	if kind == testreport.KindBuild || kind == testreport.KindSetup || kind == testreport.KindPackage || kind == testreport.KindExit || message == "" {
		out = append(out, headLines(output, 40, shaped)...)
	}
	for i, s := range out {
		out[i] = strings.TrimSpace(s)
	}
	return out
}

func oneLine(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return s[:i]
	}
	return s
}

func headLines(s string, most int, want func(string) bool) []string {
	var out []string
	for line := range strings.Lines(s) {
		if len(out) >= most {
			break
		}
		line = cutLine(strings.TrimRight(line, "\r\n"), multimatch.MaxText)
		if want == nil && strings.TrimSpace(line) != "" || want != nil && want(line) {
			out = append(out, line)
		}
	}
	return out
}

// problem returns the failure of a problem outside the tests.
func (c *classifier) problem(p testreport.Problem) routing.Failure {
	f := routing.Failure{
		Name: firstText(p.Name, string(p.Kind)), Kind: "problem",
		File: p.File, Line: p.Line, Message: firstText(p.Message, p.Trace, string(p.Kind)),
	}
	x, ok := c.byText(false, p.Kind, "", p.Message, p.Trace, "")
	if !ok {
		class := kindClass[p.Kind]
		if class == "" {
			class = routing.Unknown
		}
		x = finding{class: class, signal: signalOf(p.Kind), text: oneLine(f.Message)}
	}
	return c.complete(f, x, string(p.Kind), p.Trace, p.At)
}

// compilers are tools whose errors are type errors and not findings about quality.
var compilers = lazyregexp.New(`(?i)^(?:go|go build|compile|gc|tsc|typescript|rustc|cargo|gcc|g\+\+|clang\+*|cc|javac|java|kotlinc?|scalac?|swiftc?|csc|msbuild|dotnet|ghc|mypy|pyright|flow|python|dart|elixirc?|nvcc|ld|link|cmake)$`)

// diagnostic returns the failure of an error of a compiler or linter.
func (c *classifier) diagnostic(d testreport.Diagnostic) routing.Failure {
	name := strings.TrimSpace(d.Tool + " " + d.Code)
	f := routing.Failure{Name: firstText(name, "diagnostic"), Kind: "diagnostic", File: d.File, Line: d.Line, Message: d.Message}
	x := finding{class: routing.Quality, signal: "diagnostic:" + d.Tool, text: d.Message}
	switch {
	case strings.HasPrefix(d.Message, "runtime error: "): // of a sanitizer, in a program that ran
		x.class = routing.LogicError
	case compilers.MatchString(d.Tool) || testreport.Compiler(d.Tool) || strings.HasPrefix(d.Code, "TS") || rustCode.MatchString(d.Code):
		x.class = routing.TypeError
		if said := quoted.ReplaceAllString(d.Message, ""); said != d.Message && c.rules.first(said, environmental).rule == nil {
			break // a name in the code is no fault of the machine
		}
		if m := c.rules.first(d.Message, environmental); m.rule != nil {
			x = finding{class: m.rule.Class, rule: m.rule, match: m.group(d.Message), signal: m.rule.ID, text: d.Message}
		}
	case d.Tool == "":
		line := fmt.Sprintf("%s:%d: error: %s", d.File, d.Line, d.Message)
		if m := c.rules.first(line, func(r *Rule) bool { return r.Class != "" && r.Role == RoleError }); m.rule != nil {
			x = finding{class: m.rule.Class, rule: m.rule, match: m.group(line), signal: m.rule.ID, text: d.Message}
		}
	}
	return c.complete(f, x, d.Code, "", d.At)
}

// quoted is code that a compiler shows in a message.
var quoted = lazyregexp.New(`‘[^’]*’`)

// environmental reports whether r is of a fault of the environment that a compiler can report, such
// as a dependency that it could not download.
func environmental(r *Rule) bool {
	return r.Class == routing.EnvIssue && r.Role == RoleError && r.Scope != ScopeUnit
}

var rustCode = lazyregexp.New(`^E\d{4}$`)

// place maps the file of f to one of the repository. The class name can identify the file better
// than a base name from a stack trace; a file found only by its class has no line.
func (c *classifier) place(f *routing.Failure) {
	t := c.opt.Tree
	if t == nil {
		return
	}
	if f.File != "" {
		if p, ok := t.Map(f.File); ok {
			f.File = p
			return
		}
		if strings.ContainsAny(f.File, `/\`) {
			return
		}
	}
	for part := range strings.SplitSeq(f.Suite, " > ") {
		p, ok := t.MapClass(part)
		if ok && (f.File == "" || strings.HasSuffix(p, "/"+f.File)) {
			if f.File == "" {
				f.Line = 0
			}
			f.File = p
			return
		}
	}
}

// complete fills in the fields that every failure has.
func (c *classifier) complete(f routing.Failure, x finding, typ, trace string, at int) routing.Failure {
	f.Class = x.class
	f.Evidence = []routing.Evidence{{Line: at, Text: cutLine(oneLine(x.text), 500), Signal: x.signal}}
	f.Message = truncate.Counted(strings.TrimSpace(f.Message), 4<<10)
	read := c.traces.of(trace)
	f.Trace = read.trimmed
	frame := Location{File: f.File}
	for _, p := range related(&f, read) {
		if p.Project {
			if f.File == "" {
				f.File, f.Line = p.File, p.Line
			}
			if frame.File == "" || p.Func != "" && frame.Func == "" {
				frame = p
			}
		}
	}
	f.Fingerprint = fingerprint(f, typ, frame)
	c.place(&f)
	if !c.opt.Brief {
		f.Suggestion, f.Certain = c.advice.suggest(&f, x.rule, x.match)
	}
	return f
}
