// Package diagnosis determines why a run failed: it gives each failure of a report and a log a
// class and a fingerprint, and selects the decisive one. It uses no clock, network or file; its
// rules are data, in rules.yaml.
package diagnosis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/testreport"
)

// Options are what is known of a run besides its output.
type Options struct {
	Conclusion      string   // GitHub's: success, failure, timed_out, …; "" if unknown
	ExitCode        *int     // of the command that ran the tests, nil if unknown
	PassedElsewhere []string // full names of tests that passed in another attempt on the same commit
	Tree            *Tree    // files of the repository; nil leaves paths as printed
	Language        string   // of suggestions: "en" (default) or "ko"
	Brief           bool     // class, evidence and fingerprint only: no trace and no suggestion
}

// Line is a line of the input.
type Line struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

// Diagnosis is the result of [Diagnose].
type Diagnosis struct {
	Result     routing.Result     `json:"verdict"` // never Errored
	Class      routing.Class      `json:"class"`   // of the decisive failure; on a pass "", or FLAKY if it took another attempt
	Reason     string             `json:"reason"`
	Evidence   []routing.Evidence `json:"evidence"`
	ErrorLines []Line             `json:"error_lines"` // best first, at most 20
	Failures   []routing.Failure  `json:"failures"`
	Counts     testreport.Counts  `json:"counts"`
}

const maxErrorLines = 20

// Diagnose determines the verdict and the failures of a run from its report and its log; either can
// be nil. A pass needs positive evidence: tests that passed, none that failed, no problem, and no
// failure at the end of the log.
func Diagnose(rep *testreport.Report, col *Collector, opt Options) Diagnosis {
	if rep == nil {
		rep = &testreport.Report{}
	}
	if col == nil {
		col = NewCollector(nil)
	}
	col.finish()
	d := &diagnoser{rep: rep, col: col, opt: opt, classifier: newClassifier(col.rules.rules, opt)}
	d.block = col.decisiveBlock()
	d.ranked = col.rank(d.block)
	d.failures()
	d.log()
	d.decide()
	d.locate()
	return d.diagnosis()
}

// locate corrects the line of evidence to the one that contains its text: a runner reports a
// failure (`--- FAIL`) after the output of the test, not where the test wrote it.
func (d *diagnoser) locate() {
	for i := range d.found {
		f := &d.found[i]
		for j := range f.Evidence {
			n := d.lineOf(f.Evidence[j].Text, f.at)
			if n == 0 {
				continue
			}
			f.Evidence[j].Line = n
			if j == 0 {
				f.at = n
			}
		}
	}
}

// lineOf returns the kept line closest to at that contains text, 0 if none is close.
func (d *diagnoser) lineOf(text string, at int) int {
	const near = 500
	text = strings.TrimSpace(text)
	if at == 0 || len(text) < 4 {
		return 0
	}
	best, dist := 0, near
	for _, r := range d.ranked {
		if n := max(r.no-at, at-r.no); n < dist && strings.Contains(r.text, text) {
			best, dist = r.no, n
		}
	}
	return best
}

type diagnoser struct {
	rep        *testreport.Report
	col        *Collector
	opt        Options
	classifier *classifier
	block      block
	ranked     []ranked
	found      []found
	out        Diagnosis
}

// found is a failure with its line in the input.
type found struct {
	routing.Failure
	at     int
	weight int // rank among failures of one class
}

// failures adds the failures of the report and merges duplicates.
func (d *diagnoser) failures() {
	for _, t := range foldTests(d.rep.Failing) {
		d.found = append(d.found, found{d.classifier.test(t), t.At, 3})
	}
	real := len(d.found) > 0
	for _, g := range d.rep.Diagnostics {
		if (g.Severity == testreport.SevError || g.Severity == "") && !d.tolerated() {
			d.found = append(d.found, found{d.classifier.diagnostic(g), g.At, 2})
			real = true
		}
	}
	for _, p := range d.rep.Problems {
		f := d.classifier.problem(p)
		if real && f.Class == routing.Unknown && (p.Kind == testreport.KindPackage || p.Kind == testreport.KindExit) {
			continue // a consequence of the failures listed
		}
		d.found = append(d.found, found{f, p.At, 1})
	}
	d.found = foldFailures(d.found)
}

// tolerated reports whether errors of compilers and linters had no effect: the run succeeded, tests
// passed and nothing else failed. A script can probe a compiler, or run a linter without failing on
// its findings.
func (d *diagnoser) tolerated() bool {
	return d.opt.Conclusion == "success" && d.rep.Green()
}

// log adds the failure of the decisive line of the log, if the report has no failure with a class
// or if the machine stopped the run, whatever the tests reported.
func (d *diagnoser) log() {
	r, ok := d.block.decide(d.ranked)
	switch {
	case ok && r.rule.Fatal && d.believed(r):
	case ok && d.environment(r) && d.believed(r):
	case d.hasClass():
		return
	case ok && d.believed(r):
	case d.failed():
		r, ok = d.bestLine()
		if !ok {
			return
		}
	default:
		return
	}
	d.found = append(d.found, found{d.logFailure(r), r.no, 9})
}

// environment reports whether r states a fault of the environment because of which the code was not
// built: a JDK too old, a dependency that was not downloaded. The compiler's errors are then only
// its consequence.
func (d *diagnoser) environment(r ranked) bool {
	const certain = 90
	return r.rule.Class == routing.EnvIssue && r.rule.Priority >= certain && len(d.found) > 0 &&
		!slices.ContainsFunc(d.found, func(f found) bool {
			return f.Kind != "diagnostic" && f.Kind != "problem" || f.Class != routing.TypeError && f.Class != routing.Unknown
		})
}

func (d *diagnoser) hasClass() bool {
	return slices.ContainsFunc(d.found, func(f found) bool { return f.Class != routing.Unknown })
}

// failed reports whether anything besides the tests indicates that the run failed.
func (d *diagnoser) failed() bool {
	if d.opt.Conclusion == "failure" || d.opt.ExitCode != nil && *d.opt.ExitCode != 0 {
		return true
	}
	return d.opt.Conclusion == "" && d.block.found
}

// believed reports whether the line r can decide. In a run that failed it always can; in one whose
// tests passed only a fatal line at the very end can.
func (d *diagnoser) believed(r ranked) bool {
	switch {
	case d.failed() || d.opt.Conclusion == "timed_out":
		return true
	case d.opt.Conclusion != "":
		return false
	case d.rep.Green():
		return r.rule.Fatal && d.col.last-r.no <= 50
	}
	return r.score >= 60
}

func (d *diagnoser) bestLine() (ranked, bool) {
	for _, r := range d.ranked {
		return r, true
	}
	return ranked{}, false
}

func (d *diagnoser) logFailure(r ranked) routing.Failure {
	f := routing.Failure{Name: cutLine(strings.TrimSpace(r.text), 160), Kind: "log", Message: strings.TrimSpace(r.text)}
	x := finding{class: routing.Unknown, text: r.text, signal: "last words", rule: r.rule, match: r.match()}
	if r.rule != nil {
		x.signal = r.rule.ID
		if r.rule.Class != "" {
			x.class = r.rule.Class
		}
	}
	return d.classifier.complete(f, x, x.signal, r.text, r.no)
}

// decide marks the decisive failure: the line by which the machine stopped the run if there is one,
// else the first failure of the class with the highest precedence.
func (d *diagnoser) decide() {
	best := -1
	for i, f := range d.found {
		if best < 0 || d.before(f, d.found[best]) {
			best = i
		}
	}
	if best >= 0 {
		d.found[best].Decisive = true
	}
}

func (d *diagnoser) before(a, b found) bool {
	if (a.weight == 9) != (b.weight == 9) {
		return a.weight == 9
	}
	return rankOf(a.Class) < rankOf(b.Class)
}

func rankOf(c routing.Class) int { return slices.Index(routing.Classes(), c) }

func (d *diagnoser) diagnosis() Diagnosis {
	o := &d.out
	o.Counts = d.rep.Counts
	var decisive *routing.Failure
	for i := range d.found {
		o.Failures = append(o.Failures, d.found[i].Failure)
		if d.found[i].Decisive {
			decisive = &d.found[i].Failure
		}
	}
	d.result(decisive)
	if o.Result != routing.Pass {
		o.ErrorLines = d.errorLines()
	}
	return *o
}

// result sets the verdict, the class and the reason.
func (d *diagnoser) result(f *routing.Failure) {
	o := &d.out
	switch {
	case d.opt.Conclusion == "timed_out":
		o.Result, o.Class, o.Reason = routing.TimedOut, routing.Timeout, "the run was stopped by its limit of time"
		o.Evidence = []routing.Evidence{{Text: d.opt.Conclusion, Signal: "conclusion"}}
	case f != nil && f.Class == routing.Timeout:
		o.Result, o.Class = routing.TimedOut, f.Class
	case f != nil && f.Class == routing.Unknown:
		o.Result, o.Class = routing.Unclear, f.Class
	case f != nil:
		o.Result, o.Class = routing.Fail, f.Class
	default:
		d.withoutFailure()
	}
	if f != nil {
		o.Evidence = append(o.Evidence, f.Evidence...)
		if o.Reason == "" {
			o.Reason = reason(*f, len(o.Failures))
		}
	}
}

func reason(f routing.Failure, n int) string {
	what := f.Name
	if f.Suite != "" {
		what = f.Suite + " > " + f.Name
	}
	s := fmt.Sprintf("%s: %s", f.Class, cutLine(what, 200))
	if len(f.Evidence) > 0 {
		s += " (" + f.Evidence[0].Signal + ")"
	}
	if n > 1 {
		s += fmt.Sprintf(", and %d more", n-1)
	}
	return s
}

// withoutFailure sets the verdict of a run in which no failure was found.
func (d *diagnoser) withoutFailure() {
	o, c := &d.out, d.opt.Conclusion
	o.Result, o.Class = routing.Unclear, routing.Unknown
	n := d.rep.Counts
	switch {
	case c != "" && c != "success":
		o.Reason = "the run ended as " + c + " and its output does not say why"
	case d.opt.ExitCode != nil && *d.opt.ExitCode != 0:
		o.Reason = fmt.Sprintf("the command exited with %d and its output does not say why", *d.opt.ExitCode)
	case n.Failed > 0 || len(d.rep.Problems) > 0:
		o.Reason = "the report counts failures that it does not list"
	case n.Tests+n.Groups == 0:
		o.Reason = "no test ran, or none was reported"
	case n.Passed+n.Groups == 0:
		o.Reason = fmt.Sprintf("%d tests were reported and none passed", n.Tests)
	case c == "" && d.block.found:
		o.Reason = "tests passed, but the log ends in a failure it does not explain"
	case c == "" && d.lastWords() != "":
		o.Reason = "tests passed, but the last words of the log are: " + cutLine(d.lastWords(), 200)
	default:
		o.Result, o.Class = routing.Pass, ""
		o.Reason = passed(n)
		o.Evidence = []routing.Evidence{{Text: o.Reason, Signal: "counts"}}
		d.flaky()
	}
}

// passed describes what passed: tests, and packages whose tests are not named.
func passed(n testreport.Counts) string {
	switch {
	case n.Groups == 0:
		return fmt.Sprintf("%d of %d tests passed, none failed", n.Passed, n.Tests)
	case n.Tests == 0:
		return fmt.Sprintf("%d packages passed, none failed", n.Groups)
	}
	return fmt.Sprintf("%d of %d named tests and %d packages passed, none failed", n.Passed, n.Tests, n.Groups)
}

// flaky marks a pass in which tests failed first and passed on a retry.
func (d *diagnoser) flaky() {
	if len(d.rep.Flaky) == 0 {
		return
	}
	d.out.Class = routing.Flaky
	d.out.Reason += fmt.Sprintf("; %d passed only on another attempt", len(d.rep.Flaky))
	for _, t := range d.rep.Flaky[:min(10, len(d.rep.Flaky))] {
		d.out.Evidence = append(d.out.Evidence, routing.Evidence{Line: t.At, Text: cutLine(t.FullName(), 300), Signal: "passed on the same commit"})
	}
}
