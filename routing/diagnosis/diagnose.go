// Package diagnosis says what a run died of: it classifies what a report and a
// log hold, names the failure that decided, and fingerprints each. It is pure;
// its rules are data, see rules.yaml.
package diagnosis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/testreport"
)

// Options say what is known of a run beside its output.
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

// Diagnosis is what a run said.
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

// Diagnose says what the run of rep and col died of. Either may be nil. Only
// positive evidence makes a pass: tests that passed, none that failed, no
// problem, and nothing at the end of the log that says otherwise.
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

// locate corrects the line of evidence to that which holds its text: a runner
// reports a failure (`--- FAIL`) near what the test said, not where it said it.
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

// lineOf returns the kept line nearest to at that holds text, 0 if none near does.
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

// found is a failure with where it stands in the input.
type found struct {
	routing.Failure
	at     int
	weight int // rank among failures of one class
}

// failures turns the report into failures and folds what says the same twice.
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
			continue // it failed because of what is listed
		}
		d.found = append(d.found, found{f, p.At, 1})
	}
	d.found = foldFailures(d.found)
}

// tolerated reports whether errors of compilers and linters did not matter:
// the run succeeded, tests passed and nothing else failed. A script may probe
// a compiler, or look at a linter's findings and go on.
func (d *diagnoser) tolerated() bool {
	return d.opt.Conclusion == "success" && d.rep.Green()
}

// log adds a failure for the line of the log that decided, where the report
// holds none, or where the machine stopped the run whatever tests said.
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

// environment reports whether r names a fault of the environment for which the
// code could not be built: a JDK too old, a dependency that was not fetched.
// The compiler's errors then only follow from it.
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

// failed reports whether something beside the tests says that the run failed.
func (d *diagnoser) failed() bool {
	if d.opt.Conclusion == "failure" || d.opt.ExitCode != nil && *d.opt.ExitCode != 0 {
		return true
	}
	return d.opt.Conclusion == "" && d.block.found
}

// believed reports whether a line may decide: in a run that failed always, in
// one whose tests passed only what kills a run and stands at its very end.
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

// decide marks the failure that stopped the run: the machine's own word if
// there is one, else the first of the highest class in order of precedence.
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

// withoutFailure analyzes a run in which nothing was found to have failed.
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

// passed says what passed: tests, and packages whose tests were not named.
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
