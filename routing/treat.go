package routing

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing/history"
)

// treatment is what humans and the configuration said of failures: which tests
// do not count, and which class a failure is of. Verdicts are kept as they came
// and treated each time they are looked at.
type treatment struct {
	at    time.Time             // of the decision
	tests []string              // of the configuration
	acts  []Quarantined         // by people, in this case
	fixes map[string]Correction // by fingerprint, the newest
	runs  map[string]Correction // by checkpoint and run, the newest
}

// treatment returns that of a case for a decision at a time; more are tests that do not count
// besides.
func (c Case) treatment(at time.Time, more []string) treatment {
	t := treatment{at: at, tests: more, acts: c.Quarantine, fixes: map[string]Correction{}, runs: map[string]Correction{}}
	for _, name := range c.Names() {
		for _, fix := range c.Checkpoints[name].Corrections {
			if old, ok := t.fixes[fix.Fingerprint]; fix.Fingerprint != "" && (!ok || !fix.At.Before(old.At)) {
				t.fixes[fix.Fingerprint] = fix
			}
			t.runs[name+" "+fix.Run] = fix
		}
	}
	return t
}

func (t treatment) all(vs []Verdict) []Verdict {
	out := make([]Verdict, len(vs))
	for i, v := range vs {
		out[i] = t.of(v)
	}
	return out
}

// of returns v with what was said of its failures.
func (t treatment) of(v Verdict) Verdict {
	if v.Result == Pass || v.Result.Silent() || len(t.tests)+len(t.acts)+len(t.runs) == 0 && v.Register == nil {
		return v
	}
	v.Failures, v.Cut = append([]Failure(nil), v.Failures...), append(CutFailures(nil), v.Cut...)
	return t.excuse(t.correct(v))
}

func (t treatment) correct(v Verdict) Verdict {
	fix, own := t.runs[v.Checkpoint+" "+v.Run.Key()]
	own = own && v.Class == fix.From
	by, to := fix.By, fix.To
	for i := range v.Failures {
		f := &v.Failures[i]
		c, ok := t.fixes[f.Fingerprint]
		if !ok || f.Class == c.To {
			continue
		}
		f.Was, f.Class = f.Class, c.To
		if !own && (f.Decisive || outranks(c.To, v.Class)) {
			own, by, to = true, c.By, c.To
		}
	}
	if own {
		v.Reason = strings.TrimPrefix(fmt.Sprintf("%s; %s said that it is %s, not %s", v.Reason, orElse(by, "a person"), to, v.Class), "; ")
		v.Class, v.Result = to, Fail
	}
	return v
}

// outranks reports whether a comes before b in the order of precedence.
func outranks(a, b Class) bool {
	for _, c := range Classes() {
		if c == b {
			return false
		}
		if c == a {
			return true
		}
	}
	return false
}

// excuse marks the failures that do not count. A verdict passes if nothing
// else failed, and nothing was cut that might have.
func (t treatment) excuse(v Verdict) Verdict {
	if v.Review != nil {
		return v
	}
	var names []string
	var left []int
	for i := range v.Failures {
		f := &v.Failures[i]
		if !t.excuses(v, *f) {
			left = append(left, i)
			continue
		}
		f.Quarantined, f.Standing = true, history.StandingQuarantined
		f.Quarantine = v.Register.entry(*f, t.at)
		names = append(names, f.Name)
	}
	cut := 0
	for i := range v.Cut {
		if f := &v.Cut[i]; t.excuses(v, f.failure()) {
			f.Quarantined = true
			names = append(names, f.Name)
			cut++
		}
	}
	if len(names) == 0 {
		return v
	}
	v.Counts.Quarantined += min(len(names), v.Counts.Failed)
	v.Counts.Failed = max(0, v.Counts.Failed-len(names))
	switch {
	case v.Result != Fail:
	case len(left) == 0 && v.Dropped == cut && v.Counts.Failed == 0 && len(v.Notes) == 0 && !v.Partial:
		v.Result, v.Class = Pass, ""
		v.Reason = fmt.Sprintf("%d of %d tests passed; what failed is in quarantine: %s", v.Counts.Passed, v.Counts.Tests, list(names, 5))
	case len(left) > 0:
		v.lead(left)
	}
	return v
}

// lead makes the gravest of the failures left decisive, where the decisive one
// does not count any more.
func (v *Verdict) lead(left []int) {
	best := left[0]
	for _, i := range left {
		if v.Failures[i].Decisive {
			return
		}
		if outranks(v.Failures[i].Class, v.Failures[best].Class) {
			best = i
		}
	}
	for i := range v.Failures {
		v.Failures[i].Decisive = i == best
	}
	f := v.Failures[best]
	v.Class = f.Class
	v.Reason = orElse(f.Message, f.Name)
	if f.Evidence != nil {
		v.Evidence = f.Evidence
	}
}

// excuses reports whether a failure of v does not count. What the quarantine of the repository says
// of a run is recorded with it; what a person said later in the case holds for it as well.
func (t treatment) excuses(v Verdict, f Failure) bool {
	if slices.ContainsFunc(t.tests, f.IsTest) || v.Register.entry(f, t.at) != nil {
		return true
	}
	return slices.ContainsFunc(t.acts, func(q Quarantined) bool {
		return t.at.Before(q.Until) && (v.Register == nil || !v.At.After(q.At)) && f.IsTest(q.Test)
	})
}

// excused returns those of tests whose failures are among those of vs.
func excused(tests []string, vs []Verdict) []string {
	var out []string
	for _, test := range tests {
		t := treatment{tests: []string{test}}
		for _, v := range vs {
			if marked(t.of(v).Failures) {
				out = append(out, test)
				break
			}
		}
	}
	return out
}

func marked(fs []Failure) bool {
	for _, f := range fs {
		if f.Quarantined {
			return true
		}
	}
	return false
}

// noTest are the kinds of failures that are not of a test.
var noTest = map[string]bool{
	"build": true, "package": true, "truncated": true, "empty": true, "coverage": true, "lint": true, "exit": true, "tests": true,
	"diagnostic": true, "problem": true,
}

// IsTest reports whether f is a failure of the test of that name: its own name,
// or with that of its suite before it.
func (f Failure) IsTest(name string) bool {
	name = strings.TrimSpace(name)
	if name == "" || noTest[f.Kind] {
		return false
	}
	if name == f.Name {
		return true
	}
	rest, ok := strings.CutPrefix(name, f.Suite)
	if f.Suite == "" || !ok {
		return false
	}
	for _, sep := range []string{"::", ".", "/", " > ", " › ", " "} {
		if rest == sep+f.Name {
			return true
		}
	}
	return false
}

func list(names []string, n int) string {
	if len(names) > n {
		return strings.Join(names[:n], ", ") + fmt.Sprintf(" and %d more", len(names)-n)
	}
	return strings.Join(names, ", ")
}

// green reports whether a verdict is a pass with all criteria met.
func (v Verdict) green() bool { return v.Result == Pass && len(v.Unmet) == 0 }

// newest returns the verdict of the newest run of a checkpoint, its parts
// treated and merged.
func (c Case) newest(cp Checkpoint) (Verdict, bool) {
	run := cp.newestRun()
	parts := run.Parts
	if len(parts) == 0 {
		return Verdict{}, false
	}
	v := parts[sortedKeys(parts)[0]]
	t := c.treatment(run.At, run.Decision.Excused)
	return merge(t.all(append([]Verdict{v}, otherParts(cp.Runs, v)...))), true
}
