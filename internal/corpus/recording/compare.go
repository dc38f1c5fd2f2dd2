package recording

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/diagnosis"
)

// Compare reads the recording in the form f as `switchback diagnose` does,
// without a conclusion, and returns how that differs from the truth: nothing if
// it is exact.
func (r Recording) Compare(f Form) ([]string, error) {
	text, err := r.Text(f)
	if err != nil {
		return nil, err
	}
	want, err := r.Truth(f)
	if err != nil {
		return nil, err
	}
	got, err := analysis.Analyze(analysis.Input{
		Sources: []analysis.Source{{Name: r.ID, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }}},
	})
	if err != nil {
		return nil, err
	}
	c := comparison{want: want, got: got}
	c.result()
	c.counts()
	c.failing()
	c.errorLines()
	return c.diffs, nil
}

type comparison struct {
	want  Case
	got   analysis.Output
	diffs []string
}

func (c *comparison) differ(format string, args ...any) {
	c.diffs = append(c.diffs, fmt.Sprintf(format, args...))
}

func (c *comparison) lacks(what string) bool { return slices.Contains(c.want.Lacks, what) }

func (c *comparison) result() {
	v := c.got.Verdict
	if !slices.Contains(c.want.Verdict, v.Result) {
		c.differ("verdict %s, want %s", v.Result, join(c.want.Verdict))
	}
	if len(c.want.Class) > 0 && !slices.Contains(c.want.Class, v.Class) {
		c.differ("class %s, want %s", orNone(string(v.Class)), join(c.want.Class))
	}
	if len(c.want.Class) == 0 && v.Result == routing.Pass && v.Class != "" && v.Class != routing.Flaky {
		c.differ("class %s of a pass", v.Class)
	}
}

func (c *comparison) counts() {
	n := c.got.Report.Counts
	got := Counts{n.Tests, n.Passed, n.Failed, n.Skipped}
	wants := c.want.Alt
	if c.want.Counts != nil {
		wants = append([]Counts{*c.want.Counts}, wants...)
	}
	if len(wants) == 0 {
		if got.Tests > 0 {
			c.differ("counts %v, want no tests", got)
		}
		return
	}
	for _, w := range wants {
		if c.near(got, w) {
			return
		}
	}
	c.differ("counts %+v, want %+v", got, wants[0])
}

// near reports whether got is w, aside from what the output lacks.
func (c *comparison) near(got, w Counts) bool {
	if c.lacks("counts") {
		return got.Tests <= w.Tests && got.Passed <= w.Passed && got.Failed <= w.Failed && got.Skipped <= w.Skipped
	}
	if c.lacks("passed") && got.Passed == 0 {
		got.Tests += w.Passed
		got.Passed = w.Passed
	}
	if c.lacks("skipped") && got.Skipped == 0 {
		got.Tests += w.Skipped
		got.Skipped = w.Skipped
	}
	return got == w
}

// found is a failure as the program reports it.
type found struct {
	kind, name, suite, file, message string
	line                             int
	class                            routing.Class
	used                             bool
}

func (c *comparison) failing() {
	rep := c.got.Report
	var all []*found
	for _, t := range rep.Failing {
		if !t.Parent {
			all = append(all, &found{name: t.Name, suite: t.Suite, file: t.File, line: t.Line, message: t.Message})
		}
	}
	for _, p := range rep.Problems {
		all = append(all, &found{kind: "problem", name: p.Name, file: p.File, line: p.Line, message: p.Message})
	}
	for _, d := range rep.Diagnostics {
		all = append(all, &found{kind: "diagnostic", name: d.Code, file: d.File, line: d.Line, message: d.Code + " " + d.Message})
	}
	for _, f := range c.got.Verdict.Failures {
		for _, g := range all {
			if g.class == "" && f.Name == g.name && f.Suite == g.suite && (g.line == 0 || f.Line == g.line) {
				g.class = f.Class
				break
			}
		}
	}
	c.compareFailing(all)
	if slices.Contains(c.want.Verdict, routing.Pass) && c.got.Verdict.Result == routing.Pass {
		for _, f := range c.got.Verdict.Failures {
			c.differ("a pass with the failure %q", f.Name)
		}
	}
}

// compareFailing compares what has to fail with all that was found. A problem
// or diagnostic beyond them is no phantom: it can be another view of the same.
func (c *comparison) compareFailing(all []*found) {
	for _, w := range c.want.Failing {
		c.one(w, all)
	}
	for _, g := range all {
		if !g.used && g.kind == "" {
			c.differ("failing test %q is none", strings.TrimPrefix(g.suite+" > "+g.name, " > "))
		}
	}
}

// one looks for the failure w and says what of it is wrong: that of the one
// that has the least.
func (c *comparison) one(w Failing, all []*found) {
	var best *found
	var wrong []string
	for _, g := range all {
		if g.used || !c.named(w, g) {
			continue
		}
		diff := c.wrong(w, g)
		if best == nil || len(diff) < len(wrong) {
			best, wrong = g, diff
		}
	}
	if best == nil {
		if !c.lacks("failing") {
			c.differ("%s is not named", w.title())
		}
		return
	}
	best.used = true
	for _, d := range wrong {
		c.differ("%s: %s", w.title(), d)
	}
}

func (w Failing) title() string {
	if w.Name != "" {
		return w.Name
	}
	return fmt.Sprintf("%s:%d", w.File, w.Line)
}

// named reports whether g can be the failure w: a diagnostic by its place, all
// else by its name.
func (c *comparison) named(w Failing, g *found) bool {
	if w.Kind == "" && g.kind != "" || w.Kind == "diagnostic" && g.kind == "" {
		return false
	}
	if w.Kind == "diagnostic" {
		return sameFile(w.File, g.file) && (w.Line == g.line || slices.Contains(w.LineAlt, g.line))
	}
	if w.Name == "" || c.lacks("names") {
		return true
	}
	full, name := " "+flat(g.suite+" > "+g.name), flat(w.Name)
	if w.Kind == "problem" {
		return strings.Contains(full, name) || strings.Contains(flat(g.file), name) || strings.Contains(flat(g.message), name)
	}
	if flat(g.name) != name && !strings.HasSuffix(full, " "+name) {
		return false
	}
	if w.Suite != "" && !c.lacks("suites") {
		return strings.HasSuffix(full, " "+flat(w.Suite)+" "+name)
	}
	return true
}

func (c *comparison) wrong(w Failing, g *found) []string {
	var out []string
	placed := slices.ContainsFunc(w.Places, func(p string) bool {
		file, line, _ := strings.Cut(p, ":")
		return sameFile(file, g.file) && strconv.Itoa(g.line) == line
	})
	if w.File != "" && !placed && !sameFile(w.File, g.file) && !(c.lacks("files") && g.file == "") {
		out = append(out, fmt.Sprintf("file %q, want %q", g.file, w.File))
	}
	if w.Line > 0 && !placed && w.Line != g.line && !slices.Contains(w.LineAlt, g.line) && !(c.lacks("lines") && g.line == 0) {
		out = append(out, fmt.Sprintf("line %d, want %d", g.line, w.Line))
	}
	if w.Message != "" && !strings.Contains(flat(g.message), flat(w.Message)) && !c.lacks("messages") {
		out = append(out, fmt.Sprintf("message %q, want %q in it", short(g.message), w.Message))
	}
	classes := w.Class
	if len(classes) == 0 {
		classes = c.want.Class
	}
	if w.Kind == "" && len(classes) > 0 && !slices.Contains(classes, g.class) {
		out = append(out, fmt.Sprintf("class %s, want %s", orNone(string(g.class)), join(classes)))
	}
	return out
}

func (c *comparison) errorLines() {
	lines := c.got.Diagnosis.ErrorLines
	if len(c.want.Lines) > 0 {
		hit := false
		for _, l := range lines[:min(3, len(lines))] {
			hit = hit || slices.ContainsFunc(c.want.Lines, func(piece string) bool { return strings.Contains(l.Text, piece) })
		}
		if !hit {
			first := "none"
			if len(lines) > 0 {
				first = fmt.Sprintf("%q", short(lines[0].Text))
			}
			c.differ("error lines begin with %s, want %q", first, c.want.Lines[0])
		}
	}
	for _, piece := range c.want.Absent {
		if i := slices.IndexFunc(lines, func(l diagnosis.Line) bool { return strings.Contains(l.Text, piece) }); i >= 0 {
			c.differ("error line %q explains nothing", short(lines[i].Text))
		}
	}
}

// sameFile reports whether got ends with the file want.
func sameFile(want, got string) bool {
	got = strings.ReplaceAll(got, `\`, "/")
	return got == want || strings.HasSuffix(got, "/"+want)
}

// flat returns s with the separators of suites and all white space as one blank.
func flat(s string) string {
	for _, sep := range []string{" > ", " › ", " » ", "::", " / ", " | "} {
		s = strings.ReplaceAll(s, sep, " ")
	}
	return strings.Join(strings.Fields(s), " ")
}

func short(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 100 {
		return string(r[:100]) + "…"
	}
	return s
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func join[S ~string](of []S) string {
	var words []string
	for _, s := range of {
		words = append(words, string(s))
	}
	return strings.Join(words, " or ")
}
