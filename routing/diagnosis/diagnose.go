// Package diagnosis determines why a run failed: it gives each failure of a report and a log a
// class and a fingerprint, and selects the decisive one. It uses no clock, network or file; its
// rules are data, in rules.yaml.
package diagnosis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing"
	coursesteps "github.com/switchback-ci/switchback/routing/diagnosis/steps"
	"github.com/switchback-ci/switchback/routing/testreport"
)

// Options are what is known of a run besides its output.
type Options struct {
	Conclusion      string    // GitHub's: success, failure, timed_out, …; "" if unknown
	ExitCode        *int      // of the command that ran the tests, nil if unknown
	PassedElsewhere []string  // full names of tests that passed in another attempt on the same commit
	Tree            *Tree     // files of the repository; nil leaves paths as printed
	Baseline        *Baseline // of the last run of the job that passed; may be nil
	Language        string    // of suggestions: "en" (default) or "ko"
	Brief           bool      // class, evidence and fingerprint only: no trace and no suggestion
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
	Parents    int                `json:"-"` // of the failing tests that were counted, those that failed only because a subtest did
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
	course := col.course.Tree()
	stated := opt.Conclusion
	if stated == "" && opt.ExitCode == nil {
		opt.Conclusion = course.Conclusion() // the last status marker counts like a conclusion
	}
	col.forgive(course)
	b := col.decisiveBlock()
	d := &diagnoser{
		output:     output{rep: rep, col: col, opt: opt, stated: stated, course: course, block: b},
		classifier: newClassifier(col.rules.rules, opt),
	}
	d.failures()
	d.output.ranked, d.output.features = ranker{col}.rank(b, d.found, opt.Baseline)
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
			n := d.output.lineOf(f.Evidence[j].Text, f.at)
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

// output is what a run put out, with the block of the log that stopped it and the ranked lines.
type output struct {
	rep    *testreport.Report
	col    *Collector
	opt    Options
	stated string // the conclusion that was given, "" if none was
	course *coursesteps.Tree
	block  block
	ranked []ranked

	features *features
}

// lineOf returns the kept line closest to at that contains text, 0 if none is close.
func (o *output) lineOf(text string, at int) int {
	const near = 500
	text = strings.TrimSpace(text)
	if at == 0 || len(text) < 4 {
		return 0
	}
	best, dist := 0, near
	for _, r := range o.ranked {
		if n := max(r.no-at, at-r.no); n < dist && strings.Contains(r.text, text) {
			best, dist = r.no, n
		}
	}
	return best
}

// tolerated reports whether errors of compilers and linters had no effect: the run succeeded, and
// they stand in its log or beside tests that passed. A script can probe a compiler, or run a linter
// without failing on its findings.
func (o *output) tolerated() bool {
	return o.opt.Conclusion == "success" && (o.rep.Green() || !slices.ContainsFunc(o.rep.Formats, testreport.Machine))
}

// survived reports whether a problem had no effect in a run that succeeded: a build that was probed
// for, a package or a threshold that a script did not ask for. Tests that did not run, crashed or
// were cut short are never survived.
func (o *output) survived(p testreport.Problem) bool {
	if o.opt.Conclusion != "success" || slices.ContainsFunc(o.rep.Formats, testreport.Machine) {
		return false
	}
	switch p.Kind {
	case testreport.KindBuild, testreport.KindLint, testreport.KindCoverage, testreport.KindExit:
		return true
	}
	return false
}

// quoted reports whether results without totals had no effect: the run succeeded, and tests of
// another tool passed in it.
func (o *output) quoted() bool {
	n := o.rep.Counts
	return o.opt.Conclusion == "success" && n.Passed+n.Groups > o.rep.LoosePassed
}

// failed reports whether anything besides the tests indicates that the run failed.
func (o *output) failed() bool {
	if o.opt.Conclusion == "failure" || o.opt.ExitCode != nil && *o.opt.ExitCode != 0 {
		return true
	}
	return o.opt.Conclusion == "" && o.block.found
}

// believed reports whether the line r can decide. In a run that failed it always can; in one whose
// tests passed only a fatal line at the very end can. Where neither is known, the log must not go on
// to something that succeeds: a script tolerated the failure, or tried again.
func (o *output) believed(r ranked) bool {
	switch {
	case o.failed() || o.opt.Conclusion == "timed_out":
		return true
	case o.opt.Conclusion != "":
		return false
	case o.rep.Green():
		behind := max(o.col.good, o.col.runs.total) > r.no || o.col.recent.succeedsBehind(r.no)
		return r.rule.Fatal && o.col.last-r.no <= 50 && !behind
	}
	return r.score >= 60 && !o.col.recent.achieves(r.no)
}

// lastWords returns the failure that the very end of the log states, "" if none. In a run that
// succeeded a failing command was tolerated; a run that was cut short or crashed did not succeed,
// whatever its conclusion says.
func (o *output) lastWords() string {
	end, bad := o.col.recent.ending(o.col.complains)
	if bad && (end.final || o.opt.Conclusion == "") {
		return end.text
	}
	if o.opt.Conclusion != "" {
		return ""
	}
	said, _ := o.col.endsBadly()
	return said
}

// contradiction returns what the log says of the whole run against the tests that passed, "" if
// nothing: a status marker against the conclusion, a run of tests without totals or that was broken
// off, a command of tests without any result.
func (o *output) contradiction() string {
	if o.stated == "success" && o.course.Status().Bad() && !o.course.WentOn() {
		return "its log ends as " + string(o.course.Status())
	}
	if o.opt.Conclusion != "" {
		return ""
	}
	for _, l := range o.col.said.interrupted {
		return cutLine(l.Text, 200)
	}
	if l, ok := o.col.runs.unfinished(); ok {
		return "a run of tests has no totals: " + cutLine(strings.TrimSpace(l.Text), 200)
	}
	if u, ok := o.course.Pending(coursesteps.Test); ok && u.First > max(o.col.good, o.col.runs.total) && !o.col.recent.succeedsBehind(u.First) {
		return "a step of tests has no result: " + cutLine(firstText(u.Command, u.Name), 200)
	}
	if l, ok := o.col.recent.announces(); ok {
		return "the log ends as something begins: " + cutLine(strings.TrimSpace(l.Text), 200)
	}
	return ""
}

// diagnoser finds the failures of a run and the decisive one.
type diagnoser struct {
	output     output
	classifier *classifier
	found      []found
	parents    int // tests that failed only because a subtest did
}

// found is a failure with its line in the input.
type found struct {
	routing.Failure
	at     int
	weight int  // rank among failures of one class
	mute   bool // a test that says nothing of why it failed
}

// failures adds the failures of the report and merges duplicates.
func (d *diagnoser) failures() {
	quoted := d.output.quoted()
	failing := d.output.rep.Failing
	if quoted {
		failing = slices.DeleteFunc(slices.Clone(failing), func(t testreport.Test) bool { return t.Loose })
	}
	tests := foldTests(failing)
	d.parents = len(failing) - len(tests)
	for _, t := range tests {
		d.found = append(d.found, found{d.classifier.test(t), t.At, 3, mute(t)})
	}
	real := len(d.found) > 0
	for _, g := range d.output.rep.Diagnostics {
		if (g.Severity == testreport.SevError || g.Severity == "") && !d.output.tolerated() {
			d.found = append(d.found, found{d.classifier.diagnostic(g), g.At, 2, false})
			real = true
		}
	}
	for _, p := range d.output.rep.Problems {
		if d.output.survived(p) || p.Loose && quoted {
			continue
		}
		f := d.classifier.problem(p)
		if real && (p.Kind == testreport.KindTests || f.Class == routing.Unknown && (p.Kind == testreport.KindPackage || p.Kind == testreport.KindExit)) {
			continue // a consequence of the failures listed
		}
		d.found = append(d.found, found{f, p.At, 1, false})
	}
	d.gates()
	d.found = foldFailures(d.found)
}

// gates adds a threshold of coverage that the log says was missed, where no format reports one.
func (d *diagnoser) gates() {
	o := &d.output
	if o.opt.Conclusion == "success" || len(o.col.said.gates) == 0 || len(d.found) > 0 {
		return
	}
	l := o.col.said.gates[len(o.col.said.gates)-1]
	f := routing.Failure{Name: cutLine(strings.TrimSpace(l.Text), 160), Kind: "log", Message: strings.TrimSpace(l.Text)}
	x := finding{class: routing.Quality, text: l.Text, signal: "coverage threshold"}
	d.found = append(d.found, found{d.classifier.complete(f, x, x.signal, l.Text, l.No), l.No, 1, false})
}

// log adds the failure of the decisive line of the log, if the report has no failure with a class
// or if the machine stopped the run, whatever the tests reported.
func (d *diagnoser) log() {
	o := &d.output
	r, ok := o.block.decide(o.ranked)
	switch {
	case ok && r.rule.Fatal && o.believed(r):
	case ok && d.environment(r) && o.believed(r):
	case d.hasClass():
		if ok && o.believed(r) {
			d.speakFor(r)
		}
		return
	case ok && o.believed(r):
	case o.failed() && len(o.ranked) > 0:
		r = o.ranked[0]
	default:
		return
	}
	d.found = append(d.found, found{d.logFailure(r), r.no, 9, false})
}

// speakFor gives the tests that say nothing of why they failed the class of the log's line r, if
// there are no others: the runner saw only that a file could not be loaded, or an exit.
func (d *diagnoser) speakFor(r ranked) {
	if r.rule.Weak || slices.ContainsFunc(d.found, func(f found) bool { return !f.mute }) {
		return
	}
	for i := range d.found {
		f := &d.found[i]
		f.Class = r.rule.Class
		f.Evidence = append([]routing.Evidence{{Line: r.no, Text: cutLine(strings.TrimSpace(r.text), 500), Signal: r.rule.ID}}, f.Evidence...)
	}
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

func (d *diagnoser) logFailure(r ranked) routing.Failure {
	f := routing.Failure{Name: cutLine(strings.TrimSpace(r.text), 160), Kind: "log", Message: strings.TrimSpace(r.text)}
	x := finding{class: routing.Unknown, text: r.text, signal: "last words", rule: r.rule, match: r.match()}
	if r.rule != nil {
		x.signal = r.rule.ID
		if r.rule.Class != "" {
			x.class = r.rule.Class
		}
	}
	var more []routing.Evidence
	if x.class == routing.Unknown || r.rule.Weak {
		if by, at, ok := d.byRole(r); ok {
			x.class = by.class
			more = append(more, routing.Evidence{Line: at, Text: cutLine(oneLine(by.text), 500), Signal: by.signal})
		} else if x.rule != nil && x.rule.Scope != ScopeUnit {
			x.class = routing.Unknown // that a test failed does not tell what is wrong
		}
	}
	f = d.classifier.complete(f, x, x.signal, r.text, r.no)
	f.Evidence = append(f.Evidence, more...)
	return f
}

// decide marks the decisive failure: the line by which the machine stopped the run if there is one,
// else the first failure of the class that most failures have, of several the one with the highest
// precedence.
func (d *diagnoser) decide() {
	count := map[routing.Class]int{}
	for _, f := range d.found {
		if f.Class != routing.Unknown {
			count[f.Class]++
		}
	}
	best := -1
	for i, f := range d.found {
		if best < 0 || before(f, d.found[best], count) {
			best = i
		}
	}
	if best >= 0 {
		d.found[best].Decisive = true
	}
}

// before reports whether a rather than b is decisive, where count failures have a class.
func before(a, b found, count map[routing.Class]int) bool {
	if (a.weight == 9) != (b.weight == 9) {
		return a.weight == 9
	}
	if n, m := count[a.Class], count[b.Class]; n != m {
		return n > m
	}
	return rankOf(a.Class) < rankOf(b.Class)
}

func rankOf(c routing.Class) int { return slices.Index(routing.Classes(), c) }

func (d *diagnoser) diagnosis() Diagnosis {
	c := conclusion{output: &d.output}
	c.out.Counts, c.out.Parents = d.output.rep.Counts, d.parents
	var decisive *routing.Failure
	for i := range d.found {
		c.out.Failures = append(c.out.Failures, d.found[i].Failure)
		if d.found[i].Decisive {
			decisive = &d.found[i].Failure
		}
	}
	c.of(decisive)
	if c.out.Result != routing.Pass && (d.output.opt.Conclusion != "success" || len(d.found) > 0) {
		c.out.ErrorLines = d.errorLines()
	}
	return c.out
}

// conclusion draws the verdict from the output of a run and its failures.
type conclusion struct {
	output *output
	out    Diagnosis
}

// of sets the verdict, the class and the reason; f is the decisive failure, nil if there is none.
func (c *conclusion) of(f *routing.Failure) {
	o, opt := &c.out, &c.output.opt
	switch {
	case opt.Conclusion == "timed_out":
		o.Result, o.Class, o.Reason = routing.TimedOut, routing.Timeout, "the run was stopped by its limit of time"
		o.Evidence = []routing.Evidence{{Text: opt.Conclusion, Signal: "conclusion"}}
	case f != nil && f.Class == routing.Timeout:
		o.Result, o.Class = routing.TimedOut, f.Class
	case f != nil && f.Class == routing.Unknown:
		o.Result, o.Class = routing.Unclear, f.Class
	case f != nil:
		o.Result, o.Class = routing.Fail, f.Class
	default:
		c.withoutFailure()
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
func (c *conclusion) withoutFailure() {
	o, in := &c.out, c.output
	said := in.opt.Conclusion
	o.Result, o.Class = routing.Unclear, routing.Unknown
	n := in.rep.Counts
	quoted := in.quoted()
	if quoted {
		n.Failed -= in.rep.LooseFailed
		n.Tests -= in.rep.LooseFailed
	}
	switch {
	case said != "" && said != "success":
		o.Reason = "the run ended as " + said + " and its output does not say why"
	case in.opt.ExitCode != nil && *in.opt.ExitCode != 0:
		o.Reason = fmt.Sprintf("the command exited with %d and its output does not say why", *in.opt.ExitCode)
	case n.Failed > 0 || slices.ContainsFunc(in.rep.Problems, func(p testreport.Problem) bool { return !in.survived(p) && !(p.Loose && quoted) }):
		o.Reason = "the report counts failures that it does not list"
	case n.Other > 0:
		o.Reason = fmt.Sprintf("%d of %d tests ended in a status that is not known to be a pass", n.Other, n.Tests)
	case n.Tests+n.Groups == 0:
		o.Reason = "no test ran, or none was reported"
	case n.Passed+n.Groups == 0:
		o.Reason = fmt.Sprintf("%d tests were reported and none passed", n.Tests)
	case said == "" && in.block.found:
		o.Reason = "tests passed, but the log ends in a failure it does not explain"
	case in.contradiction() != "":
		o.Reason = "tests passed, but " + in.contradiction()
	case in.lastWords() != "":
		o.Reason = "tests passed, but the last words of the log are: " + cutLine(in.lastWords(), 200)
	default:
		o.Result, o.Class = routing.Pass, ""
		o.Reason = passed(n)
		o.Evidence = []routing.Evidence{{Text: o.Reason, Signal: "counts"}}
		c.flaky()
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
func (c *conclusion) flaky() {
	if len(c.output.rep.Flaky) == 0 {
		return
	}
	c.out.Class = routing.Flaky
	c.out.Reason += fmt.Sprintf("; %d passed only on another attempt", len(c.output.rep.Flaky))
	for _, t := range c.output.rep.Flaky[:min(10, len(c.output.rep.Flaky))] {
		c.out.Evidence = append(c.out.Evidence, routing.Evidence{Line: t.At, Text: cutLine(t.FullName(), 300), Signal: "passed on the same commit"})
	}
}
