package stats

import (
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// Row is the figures of one key as they are shown. Shares are whole percent,
// rounded down, and nil where there is nothing to have a share of.
type Row struct {
	Key         string               `json:"key,omitempty"`
	Cases       int                  `json:"cases"`
	Runs        int                  `json:"runs"`
	Passes      int                  `json:"passes"`
	Retries     int                  `json:"retries"`
	Escalations int                  `json:"escalations"`
	ByType      map[routing.Kind]int `json:"escalations_by_type"`
	Recorded    int                  `json:"recorded_only"` // decisions that did nothing
	Undone      int                  `json:"undone"`
	Saved       int                  `json:"iterations_saved"`
	Reruns      int                  `json:"reruns"`
	Flaky       int                  `json:"flaky_runs"`

	Suspect             int `json:"suspect_runs"`      // green runs that a maintainer was asked about
	PreExistingRuns     int `json:"pre_existing_runs"` // runs that failed by nothing but what stands on the base
	PreExistingFailures int `json:"pre_existing_failures"`
	QuarantinedFailures int `json:"quarantined_failures"` // of tests in quarantine
	Incident            int `json:"incident_runs"`        // on hold for an incident when they were recorded

	Failing   int  `json:"failing_runs_acted_upon"`
	Wrong     int  `json:"marked_wrong"`
	Precision *int `json:"precision_percent"`

	Followed       int  `json:"retries_followed"`
	Unchanged      int  `json:"retries_that_changed_nothing"`
	UnchangedShare *int `json:"changed_nothing_percent"`

	Streaks          int  `json:"streaks"`
	Green            int  `json:"fixed"`
	Unescalated      int  `json:"fixed_without_escalation"`
	Escalated        int  `json:"escalated_or_answered"`
	UnescalatedShare *int `json:"without_escalation_percent"`
	First            int  `json:"green_at_once"`

	Attempts Values `json:"attempts_to_green"`
	Time     Values `json:"seconds_to_green"`

	Effective   int `json:"feedback_effective"`
	Ineffective int `json:"feedback_ineffective"`
	NoFeedback  int `json:"feedback_none"`
}

// Values is a spread as it is shown; nil where it has no values.
type Values struct {
	N      int      `json:"n"`
	Mean   *float64 `json:"mean"`
	Median *int64   `json:"median"`
	P90    *int64   `json:"p90"`
}

func values(s Spread) Values {
	v := Values{N: s.N()}
	if mean, ok := s.Mean(); ok {
		v.Mean = &mean
	}
	if x, ok := s.Percentile(50); ok {
		v.Median = &x
	}
	if x, ok := s.Percentile(90); ok {
		v.P90 = &x
	}
	return v
}

// Row returns the figures as they are shown.
func (f *Figures) Row(key string) Row {
	r := Row{
		Key: key, Cases: f.Cases, Runs: f.Runs, Passes: f.Decisions[routing.KindPass], Retries: f.Retries(), Escalations: f.Escalations(),
		ByType: map[routing.Kind]int{}, Recorded: f.Decisions[routing.KindNone], Undone: f.Undone, Saved: f.Saved, Reruns: f.Decisions[routing.KindRerun], Flaky: f.Flaky,
		Suspect: f.Decisions[routing.KindSuspect], PreExistingRuns: f.Decisions[routing.KindPreExisting], PreExistingFailures: f.PreExisting, QuarantinedFailures: f.Quarantined, Incident: f.Decisions[routing.KindIncident],
		Failing: f.Failing, Wrong: f.Wrong, Precision: percent(f.Precision()),
		Followed: f.Followed, Unchanged: f.Unchanged, UnchangedShare: percent(f.UnchangedShare()),
		Streaks: f.Streaks, Green: f.Green, Unescalated: f.Unescalated, Escalated: f.Escalated, UnescalatedShare: percent(f.UnescalatedShare()), First: f.First,
		Attempts: values(f.Attempts), Time: values(f.Time),
		Effective: f.Effective, Ineffective: f.Ineffective, NoFeedback: f.NoFeedback,
	}
	for _, k := range Escalating() {
		r.ByType[k] = f.Decisions[k]
	}
	return r
}

func percent(n int, ok bool) *int {
	if !ok {
		return nil
	}
	return &n
}

// Escalating lists the decisions that open an escalation.
func Escalating() []routing.Kind {
	return []routing.Kind{routing.KindDesign, routing.KindEnv, routing.KindTimeout, routing.KindUnclear, routing.KindMaxRetry, routing.KindNoProgress, routing.KindNoAnswer, routing.KindSuspect}
}

// Table is the rows of one dimension, sorted by key.
type Table struct {
	Dimension Dimension `json:"dimension"`
	Rows      []Row     `json:"rows"`
}

// Report is a tally as it is shown.
type Report struct {
	Since            *time.Time     `json:"since"`
	Until            *time.Time     `json:"until"`
	Total            Row            `json:"total"`
	Repositories     []Row          `json:"repositories"`
	Tables           []Table        `json:"tables"`
	FeedbackRequests feedback.Stats `json:"feedback_requests"`

	Incidents map[routing.IncidentKind]Incidents `json:"incidents"`
}

// Report returns the tally as it is shown.
func (t *Tally) Report() Report {
	all := t.All()
	r := Report{Total: all.Total.Row(""), Repositories: []Row{}, Tables: all.Tables(), FeedbackRequests: t.FeedbackRequests(), Incidents: t.Incidents()}
	for at, to := range map[*time.Time]**time.Time{&t.Window.Since: &r.Since, &t.Window.Until: &r.Until} {
		if !at.IsZero() {
			*to = at
		}
	}
	for _, repo := range t.Repositories() {
		r.Repositories = append(r.Repositories, t.Of(repo).Total.Row(repo))
	}
	return r
}

// Tables returns the rows of each dimension.
func (g *Groups) Tables() []Table {
	var out []Table
	for _, d := range Dimensions() {
		t := Table{Dimension: d, Rows: []Row{}}
		for _, key := range g.Keys(d) {
			t.Rows = append(t.Rows, g.By[d][key].Row(key))
		}
		out = append(out, t)
	}
	return out
}
