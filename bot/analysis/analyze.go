// Package analysis turns what a run left behind (reports, logs, a conclusion)
// into one verdict: it reads, diagnoses, asks the criteria, and cuts what is
// kept to what a ledger and a comment can hold, with secrets redacted.
package analysis

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/diagnosis"
	"github.com/switchback-ci/switchback/routing/history"
	"github.com/switchback-ci/switchback/routing/redact"
	"github.com/switchback-ci/switchback/routing/testreport"
)

// AwaitsApproval is the conclusion of a run that has not begun: of the change of a first-time
// contributor, or of one that an environment guards. Its result comes under the same id and attempt.
const AwaitsApproval = "action_required"

// Source is one file of test output: a report, a captured log, a review. An error of Open or of
// reading that may be over later (advice.Later) ends the analysis; any other is a finding.
type Source struct {
	Name   string
	Open   func() (io.ReadCloser, error)
	JobLog string // name of the job whose log it is: of other runs other logs may be read. "" for a file
}

// Input is what a run left behind.
type Input struct {
	Sources    []Source
	Looked     []string      // globs of the reports, if any; sources that are no job's log are what they matched
	Nearby     func() Nearby // what is there where they match nothing; may be nil
	Format     string        // of all sources, "" or "auto" to detect
	Conclusion string        // in GitHub's words, "" if unknown
	Rules      *diagnosis.Rules
	Criteria   config.Criteria
	FailOn     routing.FailOn
	Reviews    bool                              // a review document among Sources decides; otherwise it cannot be read
	ReadFile   func(path string) ([]byte, error) // a file of the repository at the run's commit; may be nil
	Tree       *diagnosis.Tree                   // the repository's files; may be nil
	Language   string                            // of suggestions
	Limits     testreport.Limits
	Tests      Tests  // takes every test of every source; may be nil
	Checkpoint string // whose history the tests become part of, "" to keep no inventory of them
	Names      bool   // the names of the tests are kept too

	// Owner says who owns a file; it is asked for those of the names that are kept. May be nil.
	Owner func(file string) string

	// Baseline returns the log of the last run of the same job that passed, nil if there is none. It
	// is asked if the run did not succeed. May be nil.
	Baseline func() *diagnosis.Baseline

	// Ended is asked once the sources are read, for a run that is read while it
	// goes on: its conclusion, and what else it left behind. May be nil.
	Ended func() (conclusion string, left []Source)
}

// Tests takes the tests of all sources as they are read.
type Tests interface {
	Source()              // what is added from now on is the next source's
	Add(*testreport.Test) // a test of the present source
	Leave(source int)     // source, counted from 0, says only what another one says
}

// Output is the verdict and what it was made of.
type Output struct {
	Verdict   routing.Verdict // without checkpoint, run and head
	Diagnosis diagnosis.Diagnosis
	Inventory []byte             // of all tests, where they are too many for the verdict; nil otherwise
	Names     []byte             // of all tests, where they are asked for
	Ran       func() history.Ran // its tests with their names, put in order when they are asked for; nil if they cannot be
	Report    *testreport.Report
	Unmatched string // where Input.Looked matches nothing: says so, what looks like a report, and what to do
}

// Analyze reads all sources and says what the run said. What cannot be read is
// never taken for a pass: it stands in the verdict's notes and reason. The
// error is of Input itself (an unknown format), not of what was read.
func Analyze(in Input) (Output, error) {
	rules := in.Rules
	if rules == nil {
		rules = diagnosis.Default()
	}
	col := diagnosis.NewCollector(rules)
	inv := &inventory{checkpoint: in.Checkpoint, next: in.Tests, naming: in.Names, owner: in.Owner}
	if in.Checkpoint != "" {
		in.Tests = inv
	}
	st := &state{in: in, rules: rules, col: col, unmatched: in.unmatched()}
	for _, s := range in.Sources {
		if err := st.read(s); err != nil {
			return Output{}, err
		}
	}
	if in.Ended != nil {
		var left []Source
		in.Conclusion, left = in.Ended()
		st.in.Conclusion = in.Conclusion
		for _, s := range left {
			if err := st.read(s); err != nil {
				return Output{}, err
			}
		}
	}
	if st.review != nil && len(st.docs)+len(st.logs) == 0 {
		return Output{Verdict: Bound(redact.Verdict(st.reviewOnly())), Report: &testreport.Report{}}, nil
	}
	rep := st.merged()
	opt := diagnosis.Options{Conclusion: in.Conclusion, Tree: in.Tree, Language: in.Language}
	if in.Baseline != nil && in.Conclusion != "success" {
		opt.Baseline = in.Baseline()
	}
	diag := diagnosis.Diagnose(rep, col, opt)
	v := Bound(redact.Verdict(few(st.withReview(st.verdict(rep, diag)))))
	var whole []byte
	v.Inventory, whole = inv.packed(v)
	v.Logs, v.Logged = inv.logged(st.begun, v)
	out := Output{Verdict: v, Diagnosis: diag, Inventory: whole, Names: inv.packedNames(), Report: rep, Unmatched: st.unmatched}
	if in.Checkpoint != "" && (v.Result == routing.Pass || v.Result == routing.Fail) { // what failed may be in quarantine
		out.Ran = sync.OnceValue(func() history.Ran { return inv.ran(v) })
	}
	return out, nil
}

type state struct {
	in     Input
	rules  *diagnosis.Rules
	col    *diagnosis.Collector
	docs   []*testreport.Report // of documents made for machines
	logs   []*testreport.Report // of consoles
	logAt  []int                // of each of logs, which source it is
	begun  []Source             // the sources in the order in which their tests are taken
	seen   int                  // sources begun
	found  int                  // sources with something in them
	unread []string             // why a source could not be used
	notes  []string
	review *routing.ReviewResult

	failing   bool   // a test that failed was read
	unmatched string // see Output
}

func (st *state) read(s Source) error {
	f, err := s.Open()
	if advice.Of(err).Kind == advice.Later {
		return fmt.Errorf("%s cannot be opened yet: %w", s.Name, err)
	}
	if err != nil {
		st.problem(s.Name, "could not be opened: "+err.Error())
		return nil
	}
	defer f.Close()
	failing := &FailingReader{R: f}
	err = st.readOpened(s, failing)
	if advice.Of(failing.Err).Kind == advice.Later {
		return fmt.Errorf("%s cannot be read yet: %w", s.Name, failing.Err)
	}
	return err
}

func (st *state) readOpened(s Source, f io.Reader) error {
	head, r := peek(f, 1<<20)
	if rv, ok, err := asReview(head); err != nil {
		st.problem(s.Name, "is no valid review: "+err.Error())
		return nil
	} else if ok {
		if !st.in.Reviews {
			st.problem(s.Name, "is a review document, and this checkpoint is not declared as a review (review.checkpoint, or review: true of the checkpoint)")
			return nil
		}
		st.found++
		st.addReview(*rv)
		return nil
	}
	c := testreport.NewCollector(st.in.Limits)
	if st.in.Tests != nil {
		st.in.Tests.Source()
	}
	c.OnTest = st.onTest
	st.begun = append(st.begun, s)
	st.seen++
	info, err := testreport.Read(r, testreport.Options{Format: st.in.Format, Limits: st.in.Limits, OnLine: st.col.Line}, c)
	rep := c.Finish(info)
	switch {
	case errors.Is(err, testreport.ErrEmpty):
		st.problem(s.Name, "is empty")
		return nil
	case errors.Is(err, testreport.ErrUnknownFormat):
		st.notes = append(st.notes, fmt.Sprintf("%s holds no test output of a known format; it was read as a log", s.Name))
	case err != nil && strings.HasPrefix(err.Error(), "unknown format"):
		return err
	case err != nil:
		st.problem(s.Name, "could not be read: "+err.Error())
		if info.Bytes == 0 {
			return nil
		}
	}
	st.found++
	for _, n := range rep.Cut {
		st.notes = append(st.notes, s.Name+": "+n)
	}
	if machineMade(rep.Formats) {
		st.docs = append(st.docs, rep)
	} else {
		st.logs, st.logAt = append(st.logs, rep), append(st.logAt, st.seen-1)
	}
	return nil
}

// onTest takes a test as it is read. A failing one will be diagnosed: the rules for that are
// compiled while the rest is read.
func (st *state) onTest(t *testreport.Test) {
	if t.Status == testreport.Failed && !st.failing {
		st.failing = true
		first := testreport.Test{Kind: t.Kind, Type: t.Type}
		go st.rules.Prepare(&first)
	}
	if st.in.Tests != nil {
		st.in.Tests.Add(t)
	}
}

func (st *state) problem(name, what string) {
	st.unread = append(st.unread, name+" "+what)
	st.notes = append(st.notes, name+" "+what)
}

// machineMade reports whether a report was written for machines; where one
// exists, the same tests in a captured console are not counted again.
func machineMade(formats []string) bool { return slices.ContainsFunc(formats, testreport.Machine) }

func (st *state) verdict(rep *testreport.Report, d diagnosis.Diagnosis) routing.Verdict {
	v := routing.Verdict{
		Result: routing.Result(d.Result), Class: d.Class, Reason: d.Reason, Evidence: d.Evidence,
		Failures: d.Failures, Notes: st.notes,
		Counts: routing.Counts{Tests: rep.Counts.Tests, Passed: rep.Counts.Passed, Failed: rep.Counts.Failed, Skipped: rep.Counts.Skipped, Flaky: rep.Counts.Flaky},
	}
	if n := len(rep.Failing); n >= st.in.Limits.WithDefaults().Failing {
		v.Dropped = max(0, rep.Counts.Failed-n)
	}
	st.missing(&v, rep)
	if st.unmatched != "" && v.Result == routing.Unclear && len(v.Failures)+len(st.unread) == 0 && st.ended() == "" {
		v.Unmatched = true
		if st.found > 0 {
			said := "the log says nothing of tests"
			if st.in.Conclusion != "success" && v.Reason != "" {
				said = v.Reason
			}
			v.Reason = said + ", and no report was found (looked for " + strings.Join(st.in.Looked, ", ") + "): " + st.unmatched
		}
	}
	if v.Result == routing.Pass {
		v.Unmet = st.in.Criteria.Unmet(v.Counts)
	}
	sortDecisive(v.Failures)
	st.excerpts(v.Failures)
	return v
}

// missing corrects the verdict where there was nothing, or not everything, to read.
func (st *state) missing(v *routing.Verdict, rep *testreport.Report) {
	optional := st.in.Criteria.RequireReport != nil && !*st.in.Criteria.RequireReport
	nothing := st.found == 0
	if optional && st.in.Conclusion == "success" && len(st.unread) == 0 && (nothing || st.silent(v, rep)) {
		v.Result, v.Class, v.Reason = routing.Pass, "", "the run's conclusion is success; no report is required"
		return
	}
	switch {
	case nothing && st.in.Conclusion == AwaitsApproval:
		v.Result, v.Class, v.Reason = routing.Awaiting, "", "the run waits for a maintainer's approval (action_required)"
	case nothing && len(st.unread) > 0:
		v.Reason = st.ended() + "no report could be read: " + strings.Join(st.unread, "; ")
	case nothing:
		v.Reason = st.ended() + "no test report was found"
		if st.unmatched != "" {
			v.Reason += " (looked for " + strings.Join(st.in.Looked, ", ") + "): " + st.unmatched
		}
	case len(st.unread) > 0 && v.Result == routing.Pass:
		v.Reason = "what could be read passed, but " + strings.Join(st.unread, "; ")
	default:
		return
	}
	if v.Result == routing.Pass || (nothing && v.Result == routing.Fail && len(v.Failures) == 0) {
		v.Result, v.Class = routing.Unclear, routing.Unknown
	}
}

// silent reports whether only logs were read, and no test stands in them.
func (st *state) silent(v *routing.Verdict, rep *testreport.Report) bool {
	return len(st.docs) == 0 && v.Result == routing.Unclear && len(v.Failures) == 0 &&
		rep.Counts.Tests+rep.Counts.Failed == 0 && len(rep.Problems) == 0
}

// ended says how the run ended where that alone explains a missing report.
func (st *state) ended() string {
	if c := st.in.Conclusion; c != "" && c != "success" && c != "failure" {
		return "the run ended as " + c + "; "
	}
	return ""
}

// excerpts takes the code around the places of the first failures.
func (st *state) excerpts(fs []routing.Failure) {
	const most = 20
	taken := 0
	missing := map[string]bool{}
	for i := range fs[:min(len(fs), mostFailures)] { // no more are kept
		f := &fs[i]
		if st.in.ReadFile == nil || f.File == "" || f.Line <= 0 || taken >= most || strings.HasPrefix(f.File, "/") || strings.Contains(f.File, "..") || missing[f.File] {
			continue
		}
		content, err := st.in.ReadFile(f.File)
		if err != nil {
			missing[f.File] = true
			continue
		}
		f.Excerpt = diagnosis.ExcerptOf(f.File, content, f.Line, 4)
		taken++
	}
}

// sortDecisive puts the decisive failure first and leaves the rest in order.
func sortDecisive(fs []routing.Failure) {
	for i := range fs {
		if fs[i].Decisive && i > 0 {
			d := fs[i]
			copy(fs[1:i+1], fs[:i])
			fs[0] = d
			return
		}
	}
}

// maxBaselineLog bounds how much of a log of a run that passed is read, in bytes.
const maxBaselineLog = 16 << 20

// ReadBaseline reads the log of a run that passed. A log that cannot be read is none: what it could
// tell is only a help.
func ReadBaseline(open func() (io.ReadCloser, error)) *diagnosis.Baseline {
	f, err := open()
	if err != nil {
		return nil
	}
	defer f.Close()
	b := &diagnosis.Baseline{}
	if _, err := testreport.Parse(io.LimitReader(f, maxBaselineLog), testreport.Options{OnLine: b.Line}); err != nil &&
		!errors.Is(err, testreport.ErrUnknownFormat) || b.Empty() {
		return nil
	}
	return b
}

// Rules compiles the built-in rules of diagnosis with those of a configuration.
func Rules(f config.File) (*diagnosis.Rules, error) {
	user := make([]diagnosis.UserRule, 0, len(f.Rules))
	for _, r := range f.Rules {
		user = append(user, diagnosis.UserRule{Name: r.Name, Pattern: r.Pattern, Class: routing.Class(r.Class), Suggestion: r.Suggestion, Priority: r.Priority})
	}
	return diagnosis.Compile(user)
}
