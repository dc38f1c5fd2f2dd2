package stats

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/history"
)

// told plays a story on one checkpoint, a step every ten minutes, and returns its events. A word is
// a run, the letter of its commit and how it ended (p passed, P passed when a test was repeated, the
// digit of a failure, e environment, d design, t timeout, u unclear), or what a person did: "!resume".
func told(t *testing.T, key, story string, most int) []routing.Event {
	t.Helper()
	p := routing.DefaultPolicy()
	p.Max = most
	c, now := routing.Case{Key: key}, time.Date(2026, 3, 1, 23, 0, 0, 0, time.UTC)
	var events []routing.Event
	record := func(e routing.Event) {
		next, err := c.Apply(e)
		if err != nil {
			t.Fatalf("%s: %v", story, err)
		}
		events = append(events, e)
		next, more, err := routing.Release(next, func(string) routing.Policy { return p }, now)
		if err != nil {
			t.Fatalf("%s: %v", story, err)
		}
		c, events = next, append(events, more...)
	}
	for i, word := range strings.Fields(story) {
		now = now.Add(10 * time.Minute)
		if act, human := strings.CutPrefix(word, "!"); human {
			record(routing.HumanEvent(key, routing.HumanActed{
				Checkpoint: "unit", Action: routing.HumanAction(act), By: "mona", N: 1, Class: routing.Quality, Answer: fmt.Sprint("comment/", i, "/1"),
			}, now))
			continue
		}
		v := routing.Verdict{Checkpoint: "unit", Run: routing.Run{Repository: "acme/app", ID: fmt.Sprint(i + 1), SHA: strings.Repeat(word[:1], 7)}, Result: routing.Fail}
		class := routing.LogicError
		switch word[1] {
		case 'p', 'P':
			v.Result, v.Counts = routing.Pass, routing.Counts{Tests: 2, Passed: 2}
			if word[1] == 'P' {
				v.Counts.Flaky = 1
			}
		case 't':
			v.Result = routing.TimedOut
		case 'u':
			v.Result = routing.Unclear
		case 'e':
			class = routing.EnvIssue
		case 'd':
			class = routing.DesignMismatch
		}
		if v.Result == routing.Fail {
			v.Class, v.Counts = class, routing.Counts{Tests: 2, Passed: 1, Failed: 1}
			v.Evidence = []routing.Evidence{{Line: 1, Text: "it fails", Signal: "rule-" + word[1:]}}
			v.Failures = []routing.Failure{{Name: "T" + word[1:], Class: class, Kind: "test", Fingerprint: "v1:" + word[1:], Decisive: true}}
		}
		record(routing.RunEvent(key, v, routing.Decide(c, v, p, now), now))
	}
	return events
}

// figures are the fields of a row that say something, in the order of their names.
func figures(t *testing.T, r Row) string {
	t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, k := range slices.Sorted(maps.Keys(all)) {
		switch v := all[k].(type) {
		case nil:
		case float64:
			if v != 0 || strings.HasSuffix(k, "_percent") {
				out = append(out, fmt.Sprintf("%s %v", k, v))
			}
		case string:
			out = append(out, v)
		case map[string]any:
			for _, k2 := range slices.Sorted(maps.Keys(v)) {
				if v[k2] != nil && v[k2] != 0.0 {
					out = append(out, fmt.Sprintf("%s.%s %v", k, k2, v[k2]))
				}
			}
		}
	}
	return strings.Join(out, "; ")
}

// TestStories: stories so small that a person can count every figure.
func TestStories(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ story, want string }{
		{"ap", "cases 1; feedback_none 1; green_at_once 1; passes 1; runs 1"},
		{"aP", "cases 1; feedback_none 1; flaky_runs 1; green_at_once 1; passes 1; runs 1"},
		{"a1", "cases 1; failing_runs_acted_upon 1; feedback_none 1; precision_percent 100; retries 1; runs 1; streaks 1"},
		{"a1 bp", "attempts_to_green.mean 1; attempts_to_green.median 1; attempts_to_green.n 1; attempts_to_green.p90 1; cases 1; changed_nothing_percent 0; failing_runs_acted_upon 1; feedback_effective 1; fixed 1; fixed_without_escalation 1; passes 1; precision_percent 100; retries 1; retries_followed 1; runs 2; seconds_to_green.mean 600; seconds_to_green.median 600; seconds_to_green.n 1; seconds_to_green.p90 600; streaks 1; without_escalation_percent 100"},
		{"a1 b1 cp", "attempts_to_green.mean 2; attempts_to_green.median 2; attempts_to_green.n 1; attempts_to_green.p90 2; cases 1; changed_nothing_percent 50; failing_runs_acted_upon 2; feedback_effective 1; fixed 1; fixed_without_escalation 1; passes 1; precision_percent 100; retries 2; retries_followed 2; retries_that_changed_nothing 1; runs 3; seconds_to_green.mean 1200; seconds_to_green.median 1200; seconds_to_green.n 1; seconds_to_green.p90 1200; streaks 1; without_escalation_percent 100"},
		{"a1 b2 cp dp", "attempts_to_green.mean 2; attempts_to_green.median 2; attempts_to_green.n 1; attempts_to_green.p90 2; cases 1; changed_nothing_percent 0; failing_runs_acted_upon 2; feedback_none 1; fixed 1; fixed_without_escalation 1; green_at_once 1; passes 2; precision_percent 100; retries 2; retries_followed 2; runs 4; seconds_to_green.mean 1200; seconds_to_green.median 1200; seconds_to_green.n 1; seconds_to_green.p90 1200; streaks 1; without_escalation_percent 100"},
		{"a1 b1 c1", "cases 1; changed_nothing_percent 100; escalated_or_answered 1; escalations 1; escalations_by_type.ESCALATE_MAX_RETRY 1; failing_runs_acted_upon 3; feedback_ineffective 1; precision_percent 100; retries 2; retries_followed 2; retries_that_changed_nothing 2; runs 3; streaks 1; without_escalation_percent 0"},
		{"a1 b1 c1 !resume dp", "attempts_to_green.mean 2; attempts_to_green.median 2; attempts_to_green.n 1; attempts_to_green.p90 2; cases 1; changed_nothing_percent 100; escalated_or_answered 1; escalations 1; escalations_by_type.ESCALATE_MAX_RETRY 1; failing_runs_acted_upon 3; feedback_effective 1; fixed 1; passes 1; precision_percent 100; retries 2; retries_followed 2; retries_that_changed_nothing 2; runs 4; seconds_to_green.mean 2400; seconds_to_green.median 2400; seconds_to_green.n 1; seconds_to_green.p90 2400; streaks 1; without_escalation_percent 0"},
		{"ae", "cases 1; escalated_or_answered 1; escalations 1; escalations_by_type.ESCALATE_ENV 1; failing_runs_acted_upon 1; feedback_none 1; precision_percent 100; runs 1; streaks 1; without_escalation_percent 0"},
		{"ae !resume bp", "attempts_to_green.n 1; cases 1; escalated_or_answered 1; escalations 1; escalations_by_type.ESCALATE_ENV 1; failing_runs_acted_upon 1; feedback_none 1; fixed 1; passes 1; precision_percent 100; runs 2; seconds_to_green.mean 1200; seconds_to_green.median 1200; seconds_to_green.n 1; seconds_to_green.p90 1200; streaks 1; without_escalation_percent 0"},
		{"ad !resume bp", "attempts_to_green.n 1; cases 1; escalated_or_answered 1; escalations 1; escalations_by_type.ESCALATE_DESIGN 1; failing_runs_acted_upon 1; feedback_none 1; fixed 1; passes 1; precision_percent 100; runs 2; seconds_to_green.mean 1200; seconds_to_green.median 1200; seconds_to_green.n 1; seconds_to_green.p90 1200; streaks 1; without_escalation_percent 0"},
		{"at bp", "attempts_to_green.mean 1; attempts_to_green.median 1; attempts_to_green.n 1; attempts_to_green.p90 1; cases 1; changed_nothing_percent 0; failing_runs_acted_upon 1; feedback_effective 1; fixed 1; fixed_without_escalation 1; passes 1; precision_percent 100; retries 1; retries_followed 1; runs 2; seconds_to_green.mean 600; seconds_to_green.median 600; seconds_to_green.n 1; seconds_to_green.p90 600; streaks 1; without_escalation_percent 100"},
		{"au !resume bp", "attempts_to_green.n 1; cases 1; escalated_or_answered 1; escalations 1; escalations_by_type.ESCALATE_UNCLEAR 1; failing_runs_acted_upon 1; feedback_none 1; fixed 1; passes 1; precision_percent 100; runs 2; seconds_to_green.mean 1200; seconds_to_green.median 1200; seconds_to_green.n 1; seconds_to_green.p90 1200; streaks 1; without_escalation_percent 0"},
		{"a1 !wrong bp", "attempts_to_green.mean 1; attempts_to_green.median 1; attempts_to_green.n 1; attempts_to_green.p90 1; cases 1; changed_nothing_percent 0; escalated_or_answered 1; failing_runs_acted_upon 1; feedback_effective 1; fixed 1; marked_wrong 1; passes 1; precision_percent 0; retries 2; retries_followed 1; runs 2; seconds_to_green.mean 1200; seconds_to_green.median 1200; seconds_to_green.n 1; seconds_to_green.p90 1200; streaks 1; without_escalation_percent 0"},
		{"a1 ap", "cases 1; failing_runs_acted_upon 1; feedback_none 1; flaky_runs 1; green_at_once 1; passes 1; precision_percent 100; retries 1; runs 2"},
		{"a1 bp c2 dp", "attempts_to_green.mean 1; attempts_to_green.median 1; attempts_to_green.n 2; attempts_to_green.p90 1; cases 1; changed_nothing_percent 0; failing_runs_acted_upon 2; feedback_effective 1; fixed 2; fixed_without_escalation 2; passes 2; precision_percent 100; retries 2; retries_followed 2; runs 4; seconds_to_green.mean 600; seconds_to_green.median 600; seconds_to_green.n 2; seconds_to_green.p90 600; streaks 2; without_escalation_percent 100"},
		{"a1 !pause b1 !resume cp", "attempts_to_green.mean 2; attempts_to_green.median 2; attempts_to_green.n 1; attempts_to_green.p90 2; cases 1; changed_nothing_percent 50; escalated_or_answered 1; failing_runs_acted_upon 1; feedback_effective 1; fixed 1; passes 1; precision_percent 100; recorded_only 1; retries 2; retries_followed 2; retries_that_changed_nothing 1; runs 3; seconds_to_green.mean 2400; seconds_to_green.median 2400; seconds_to_green.n 1; seconds_to_green.p90 2400; streaks 1; without_escalation_percent 0"},
		{"a1 b1 c1 !extend d1 ep", "attempts_to_green.mean 3; attempts_to_green.median 3; attempts_to_green.n 1; attempts_to_green.p90 3; cases 1; changed_nothing_percent 100; escalated_or_answered 1; escalations 2; escalations_by_type.ESCALATE_MAX_RETRY 2; failing_runs_acted_upon 4; feedback_effective 1; fixed 1; passes 1; precision_percent 100; retries 3; retries_followed 3; retries_that_changed_nothing 3; runs 5; seconds_to_green.mean 3000; seconds_to_green.median 3000; seconds_to_green.n 1; seconds_to_green.p90 3000; streaks 1; without_escalation_percent 0"},
		{"a1 !skip", "cases 1; escalated_or_answered 1; failing_runs_acted_upon 1; feedback_none 1; precision_percent 100; retries 1; runs 1; streaks 1; without_escalation_percent 0"},
		{"a1 !reset b1 cp", "attempts_to_green.mean 3; attempts_to_green.median 3; attempts_to_green.n 1; attempts_to_green.p90 3; cases 1; changed_nothing_percent 66; escalated_or_answered 1; failing_runs_acted_upon 2; feedback_effective 1; fixed 1; passes 1; precision_percent 100; retries 3; retries_followed 3; retries_that_changed_nothing 2; runs 3; seconds_to_green.mean 1800; seconds_to_green.median 1800; seconds_to_green.n 1; seconds_to_green.p90 1800; streaks 1; without_escalation_percent 0"},
	} {
		all := New(Window{})
		if err := all.Add("acme/app#1", told(t, "acme/app#1", c.story, 2)); err != nil {
			t.Fatal(err)
		}
		if got := figures(t, all.All().Total.Row("")); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.story, got, c.want)
		}
	}
}

// TestNothingCounted: what lies outside the window leaves no row, and neither does what was merged.
func TestNothingCounted(t *testing.T) {
	t.Parallel()
	events := told(t, "acme/app#1", "a1 b2 cp", 2)
	for _, w := range []Window{{Since: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)}, {Until: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)}} {
		all := New(w)
		if err := all.Add("acme/app#1", events); err != nil {
			t.Fatal(err)
		}
		more := New(w)
		more.Merge(all)
		for _, r := range []Report{all.Report(), more.Report()} {
			if len(r.Repositories) != 0 || figures(t, r.Total) != "" {
				t.Errorf("%+v", r)
			}
			for _, table := range r.Tables {
				if len(table.Rows) != 0 {
					t.Errorf("%s: %+v", table.Dimension, table.Rows)
				}
			}
		}
	}
}

// TestTables: the keys under which a story is counted, and how often.
func TestTables(t *testing.T) {
	t.Parallel()
	all := New(Window{})
	if err := all.Add("acme/app#1", told(t, "acme/app#1", "a1 be !resume cp", 2)); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, table := range all.Report().Tables {
		for _, r := range table.Rows {
			got = append(got, fmt.Sprintf("%s %s: %d runs, %d streaks", table.Dimension, r.Key, r.Runs, r.Streaks))
		}
	}
	want := []string{
		"class -: 1 runs, 0 streaks", "class ENV_ISSUE: 1 runs, 0 streaks", "class LOGIC_ERROR: 1 runs, 1 streaks",
		"rule environment: 1 runs, 0 streaks", "rule fixable: 1 runs, 1 streaks", "rule pass: 1 runs, 0 streaks",
		"signal -: 1 runs, 0 streaks", "signal rule-1: 1 runs, 1 streaks", "signal rule-e: 1 runs, 0 streaks",
		"checkpoint unit: 3 runs, 1 streaks", "day 2026-03-01: 3 runs, 1 streaks",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestSignal(t *testing.T) {
	t.Parallel()
	said := func(signal string) []routing.Evidence { return []routing.Evidence{{Signal: signal}} }
	for _, c := range []struct {
		v    routing.Verdict
		want string
	}{
		{routing.Verdict{}, None},
		{routing.Verdict{Evidence: said("a"), Failures: []routing.Failure{{Decisive: true, Evidence: said("b")}}}, "a"},
		{routing.Verdict{Evidence: said(""), Failures: []routing.Failure{{Evidence: said("c")}, {Decisive: true, Evidence: said("b")}}}, "b"},
		{routing.Verdict{Failures: []routing.Failure{{Evidence: said("c")}}}, None},
		{routing.Verdict{Failures: []routing.Failure{{Decisive: true}}}, None},
		{routing.Verdict{Failures: []routing.Failure{{Decisive: true, Evidence: said("")}}}, None},
	} {
		if got := signal(c.v); got != c.want {
			t.Errorf("%+v: %q, want %q", c.v, got, c.want)
		}
	}
}

func TestSameFailures(t *testing.T) {
	t.Parallel()
	of := func(dropped int, prints ...string) routing.Verdict {
		v := routing.Verdict{Dropped: dropped}
		for _, p := range prints {
			v.Failures = append(v.Failures, routing.Failure{Name: "T", Fingerprint: strings.TrimPrefix(p, "q"), Quarantined: p[0] == 'q'})
		}
		return v
	}
	for _, c := range []struct {
		a, b routing.Verdict
		want bool
	}{
		{of(0, "1", "2"), of(0, "2", "1"), true},
		{of(0, "1"), of(0, "2"), false},
		{of(0, "1"), of(0, "1", "2"), false},
		{of(0, "1"), of(0, "1", "q2"), true},
		{of(0), of(0), false},
		{of(0, "q1"), of(0, "q1"), false},
		{of(1, "1"), of(0, "1"), false},
		{of(0, "1"), of(1, "1"), false},
	} {
		if got := sameFailures(c.a, c.b); got != c.want {
			t.Errorf("%+v and %+v: %v", c.a, c.b, got)
		}
	}
}

func TestRepositoryOf(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"acme/app#1": "acme/app", "acme/app@main": "acme/app", "acme/app!reruns": "acme/app", "acme/app": "acme/app", "acme": "acme", "acme/#1": "acme/",
	} {
		if got := RepositoryOf(key); got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}

func TestFlakyRuns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		v    routing.Verdict
		d    routing.Decision
		want bool
	}{
		{"nothing", routing.Verdict{Result: routing.Fail, Failures: []routing.Failure{{}}}, routing.Decision{Rule: "fixable"}, false},
		{"a repeated test", routing.Verdict{Counts: routing.Counts{Flaky: 1}}, routing.Decision{}, true},
		{"tests that the decision names", routing.Verdict{}, routing.Decision{Flaky: []string{"T"}}, true},
		{"the class", routing.Verdict{Class: routing.Flaky}, routing.Decision{}, true},
		{"a commit that passed before", routing.Verdict{Result: routing.Fail}, routing.Decision{Rule: "completed-commit"}, true},
		{"a commit that passes again", routing.Verdict{Result: routing.Pass}, routing.Decision{Rule: "completed-commit"}, false},
		{"another failing run", routing.Verdict{Result: routing.Fail}, routing.Decision{Rule: "repeat"}, false},
		{"a failure that is marked", routing.Verdict{Failures: []routing.Failure{{}, {Flaky: true}}}, routing.Decision{}, true},
	} {
		if got := flaky(c.v, c.d); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestPreExistingFailures: those that stand on the base are counted apart, and begin no streak where
// nothing else failed.
func TestPreExistingFailures(t *testing.T) {
	t.Parallel()
	key := "acme/app#1"
	v := routing.Verdict{Checkpoint: "unit", Result: routing.Fail, Class: routing.LogicError, Run: routing.Run{ID: "1", SHA: "aaaaaaa"}, Counts: routing.Counts{Tests: 3, Passed: 1, Failed: 2}}
	for _, name := range []string{"A", "B"} {
		v.Failures = append(v.Failures, routing.Failure{Name: name, Class: v.Class, Kind: "test", Fingerprint: "v1:" + name, Standing: history.StandingPreExisting})
	}
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	c := routing.Case{Key: key}
	all := New(Window{})
	if err := all.Add(key, []routing.Event{routing.RunEvent(key, v, routing.Decide(c, v, routing.DefaultPolicy(), at), at)}); err != nil {
		t.Fatal(err)
	}
	if got, want := figures(t, all.All().Total.Row("")), "cases 1; feedback_none 1; pre_existing_failures 2; pre_existing_runs 1; runs 1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestQuarantinedFailures: those that do not count are counted apart (S5-56).
func TestQuarantinedFailuresS5_56(t *testing.T) {
	t.Parallel()
	key, at := "acme/app#1", time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	v := routing.Verdict{Checkpoint: "unit", Result: routing.Fail, Class: routing.LogicError, Run: routing.Run{ID: "1", SHA: "aaaaaaa"}, Counts: routing.Counts{Tests: 3, Passed: 2, Failed: 1}}
	v.Failures = []routing.Failure{{Name: "A", Class: v.Class, Kind: "test", Fingerprint: "v1:A"}}
	v.Register = &routing.Register{Entries: []routing.QuarantineEntry{{Name: "A", Until: at.Add(time.Hour)}}}
	c := routing.Case{Key: key}
	all := New(Window{})
	if err := all.Add(key, []routing.Event{routing.RunEvent(key, v, routing.Decide(c, v, routing.DefaultPolicy(), at), at)}); err != nil {
		t.Fatal(err)
	}
	if got := all.All().Total.Row("").QuarantinedFailures; got != 1 {
		t.Errorf("S5-56: %d failures in quarantine", got)
	}
}

// TestReportNamesItsWindow: a bound that is not set is not told.
func TestReportNamesItsWindow(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	if r := New(Window{Since: at}).Report(); r.Since == nil || !r.Since.Equal(at) || r.Until != nil {
		t.Errorf("%+v", r)
	}
	if r := New(Window{Until: at}).Report(); r.Until == nil || !r.Until.Equal(at) || r.Since != nil {
		t.Errorf("%+v", r)
	}
}
