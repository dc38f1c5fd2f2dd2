package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/switchback-ci/switchback/bot/testhistory"
	"github.com/switchback-ci/switchback/routing/history"
	"github.com/switchback-ci/switchback/routing/quarantine"
)

type getTestHistoryIn struct {
	Repository string `json:"repository" jsonschema:"owner/name"`
	Test       string `json:"test" jsonschema:"name of the test, with or without its suite, or its id"`
	Checkpoint string `json:"checkpoint,omitempty" jsonschema:"only this checkpoint"`
	page
}

// testRow is a test with what the runs that are kept say of it.
type testRow struct {
	ID         string   `json:"id"`
	Checkpoint string   `json:"checkpoint"`
	Suite      string   `json:"suite,omitempty"`
	Name       string   `json:"name"`
	File       string   `json:"file,omitempty"`
	Owners     []string `json:"owners,omitempty" jsonschema:"as CODEOWNERS names them"`

	Runs      int     `json:"runs" jsonschema:"that ran it"`
	Failed    int     `json:"failed"`
	Incident  int     `json:"incident,omitempty" jsonschema:"of the failed, in runs that were on hold for an incident"`
	PassRate  float64 `json:"pass_rate"`
	Commits   int     `json:"commits"`
	FlakyOn   int     `json:"flaky_commits" jsonschema:"commits on which it failed and passed"`
	MedianMS  int64   `json:"median_ms" jsonschema:"about how long it takes"`
	Failing   bool    `json:"failing" jsonschema:"in the newest run"`
	FirstFail string  `json:"first_failing,omitempty" jsonschema:"commit since which it fails, or at which it first failed"`

	Quarantine string     `json:"quarantine,omitempty" jsonschema:"standing of its quarantine"`
	Until      *time.Time `json:"quarantine_until,omitempty"`

	Newest []testRunRow `json:"newest" jsonschema:"its newest runs, the newest first"`
}

type testRunRow struct {
	At       time.Time `json:"at"`
	Case     string    `json:"case"`
	Status   string    `json:"status" jsonschema:"passed, failed, flaky, skipped"`
	SHA      string    `json:"sha,omitempty"`
	Run      string    `json:"run,omitempty"`
	Incident bool      `json:"incident,omitempty" jsonschema:"the run was on hold for an incident"`
}

type getTestHistoryOut struct {
	answer
	Repository string    `json:"repository"`
	Total      int       `json:"total" jsonschema:"how many tests there are of that name, on all pages"`
	Tests      []testRow `json:"tests"`
}

func (o *getTestHistoryOut) rows() int  { return len(o.Tests) }
func (o *getTestHistoryOut) keep(n int) { o.Tests = o.Tests[:n] }

// mostRuns is how many runs of a test an answer has.
const mostRuns = 10

func (r reader) getTestHistory(ctx context.Context, in getTestHistoryIn) (out getTestHistoryOut, err error) {
	skip, n, err := in.of()
	if err != nil {
		return out, err
	}
	if in.Repository == "" || in.Test == "" {
		return out, errors.New("name the repository, such as acme/shop, and the test")
	}
	repos, err := r.repositories(in.Repository)
	if err != nil {
		return out, err
	}
	set, err := r.Tests.Of(ctx, repos[0])
	if err != nil {
		return out, err
	}
	found, nearest := set.Find(in.Test)
	found = slices.DeleteFunc(found, func(t testhistory.Test) bool { return in.Checkpoint != "" && t.Checkpoint != in.Checkpoint })
	if len(found) == 0 {
		hint := ""
		if nearest != "" {
			hint = fmt.Sprintf("; the nearest is %q", clean(nearest, 300))
		}
		return out, fmt.Errorf("no test of %s is called %q%s", in.Repository, in.Test, hint)
	}
	out = getTestHistoryOut{Repository: clean(r.Names.Now(repos[0]), 200), Total: len(found), Tests: []testRow{}}
	for _, t := range part(found, skip, n) {
		out.Tests = append(out.Tests, r.testRow(set, t))
	}
	return out, nil
}

func (r reader) testRow(set *testhistory.Set, t testhistory.Test) testRow {
	obs := set.Observations(t)
	s := history.Summarize(obs)
	row := testRow{
		ID: t.Key(), Checkpoint: clean(t.Checkpoint, 200), Suite: clean(t.Suite, 300), Name: clean(t.Name, 300), File: clean(t.File, 300), Owners: cleanAll(set.Owners(t), mostNames, 100),
		Runs: s.Runs, Failed: s.Failed, Incident: s.Incident, PassRate: s.PassRate(), Commits: s.Commits, FlakyOn: s.Flaky, MedianMS: s.Median.Milliseconds(),
		Failing: s.Failing, FirstFail: clean(s.FirstFailing.SHA, 100), Newest: []testRunRow{},
	}
	if e, ok := set.Entry(t); ok && e.Standing != quarantine.Seen {
		row.Quarantine = string(e.Standing)
		if !e.Until.IsZero() {
			until := e.Until.UTC()
			row.Until = &until
		}
	}
	for _, o := range slices.Backward(obs[max(0, len(obs)-mostRuns):]) {
		row.Newest = append(row.Newest, testRunRow{o.At.UTC(), clean(r.now(o.Case), 300), o.Status.String(), clean(o.SHA, 100), clean(o.URL, 300), o.Incident})
	}
	return row
}
