package mcp

import (
	"context"
	"errors"
	"time"

	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/history"
	"github.com/switchback-ci/switchback/routing/truncate"
)

type listFailuresIn struct {
	caseIn
	page
}

type failureRow struct {
	Checkpoint  string        `json:"checkpoint"`
	Name        string        `json:"name"`
	Suite       string        `json:"suite,omitempty"`
	Class       routing.Class `json:"class"`
	Standing    string        `json:"standing,omitempty" jsonschema:"new: this change has to fix it. pre_existing: the base fails like this too. flaky: it also passed on this commit. quarantined: it does not count. Missing: not compared with a base"`
	Since       string        `json:"since,omitempty" jsonschema:"of pre_existing: the first commit of the base that fails like this"`
	File        string        `json:"file,omitempty"`
	Line        int           `json:"line,omitempty"`
	Message     string        `json:"message,omitempty"`
	Expected    string        `json:"expected,omitempty"`
	Actual      string        `json:"actual,omitempty"`
	Trace       string        `json:"trace,omitempty"`
	Suggestion  string        `json:"suggestion,omitempty"`
	Fingerprint string        `json:"fingerprint,omitempty" jsonschema:"identifies the same failure across runs; search_failures takes it"`
	Decisive    bool          `json:"decisive,omitempty" jsonschema:"what stopped the run"`
}

type listFailuresOut struct {
	answer
	Case     string       `json:"case"`
	Total    int          `json:"total" jsonschema:"how many there are, on all pages"`
	Failures []failureRow `json:"failures"`
}

func (o *listFailuresOut) rows() int  { return len(o.Failures) }
func (o *listFailuresOut) keep(n int) { o.Failures = o.Failures[:n] }

func (r reader) listFailures(ctx context.Context, in listFailuresIn) (out listFailuresOut, err error) {
	skip, n, err := in.of()
	if err != nil {
		return out, err
	}
	c, _, err := r.load(ctx, in.Case)
	if err != nil {
		return out, err
	}
	names, err := checkpoints(c, in.Checkpoint)
	if err != nil {
		return out, err
	}
	var all []failureRow
	for _, name := range names {
		all = append(all, failing(c.Checkpoints[name])...)
	}
	return listFailuresOut{Case: clean(r.now(c.Key), 300), Total: len(all), Failures: part(all, skip, n)}, nil
}

// failing returns what failed in the newest run of a checkpoint that was decided: the decisive
// failure first, and those of which only names are kept last.
func failing(cp routing.Checkpoint) []failureRow {
	out := []failureRow{}
	if len(cp.Attempts) == 0 {
		return out
	}
	v := cp.Attempts[len(cp.Attempts)-1].Verdict
	name := clean(cp.Name, 200)
	for _, decisive := range []bool{true, false} {
		for _, f := range v.Failures {
			if f.Decisive == decisive {
				out = append(out, rowOf(name, f))
			}
		}
	}
	for _, f := range v.Cut {
		row := failureRow{Checkpoint: name, Name: clean(f.Name, 300), Suite: clean(f.Suite, 200), Class: f.Class}
		switch {
		case f.Quarantined:
			row.Standing = quarantined
		case f.PreExisting:
			row.Standing = string(history.StandingPreExisting)
		case v.Base != nil:
			row.Standing = string(history.StandingNew)
		}
		out = append(out, row)
	}
	return out
}

const quarantined = "quarantined"

func rowOf(checkpoint string, f routing.Failure) failureRow {
	row := failureRow{Checkpoint: checkpoint, Name: clean(f.Name, 300), Suite: clean(f.Suite, 200), Class: f.Class, Standing: string(f.Standing), Since: clean(f.Since, 100),
		File: clean(f.File, 300), Line: f.Line, Message: clean(f.Message, 1500), Expected: clean(f.Expected, 600), Actual: clean(f.Actual, 600),
		Trace: clean(f.Trace, 1500), Suggestion: clean(f.Suggestion, 600), Fingerprint: clean(f.Fingerprint, 100), Decisive: f.Decisive}
	if f.Quarantined {
		row.Standing = quarantined
	}
	return row
}

type searchIn struct {
	Text       string `json:"text,omitempty" jsonschema:"a text in the name, suite or file of the test"`
	Finger     string `json:"fingerprint,omitempty" jsonschema:"the fingerprint of a failure, as list_failures gives it"`
	Repository string `json:"repository,omitempty" jsonschema:"only in this repository, owner/name"`
	page
}

type seenRow struct {
	Case       string    `json:"case"`
	Checkpoint string    `json:"checkpoint"`
	First      time.Time `json:"first"`
	Last       time.Time `json:"last"`
	Fixed      bool      `json:"fixed"`
	Iterations int       `json:"iterations,omitempty" jsonschema:"fix attempts that it took"`
}

type clusterRow struct {
	Fingerprint string        `json:"fingerprint"`
	Name        string        `json:"name"`
	Suite       string        `json:"suite,omitempty"`
	File        string        `json:"file,omitempty"`
	Class       routing.Class `json:"class"`
	First       time.Time     `json:"first"`
	Last        time.Time     `json:"last"`
	Cases       int           `json:"cases"`
	Open        int           `json:"open" jsonschema:"in how many checkpoints of cases it still fails"`
	Runs        int           `json:"runs"`
	Flaky       int           `json:"flaky" jsonschema:"in how many of the runs it also passed"`
	Seen        []seenRow     `json:"seen" jsonschema:"the last cases"`
}

type searchOut struct {
	answer
	Failures []clusterRow `json:"failures"`
	More     bool         `json:"more" jsonschema:"there are further ones; skip these to see them"`
}

func (o *searchOut) rows() int  { return len(o.Failures) }
func (o *searchOut) keep(n int) { o.Failures = o.Failures[:n] }

const (
	mostSought = 200 // bytes of a search
	mostSeen   = 5   // cases of each failure
)

func (r reader) searchFailures(ctx context.Context, in searchIn) (out searchOut, err error) {
	skip, n, err := in.of()
	if err != nil {
		return out, err
	}
	if in.Text == "" && in.Finger == "" {
		return out, errors.New("give text, which is in the name, suite or file of the test, or fingerprint")
	}
	repos, err := r.repositories(in.Repository)
	if err != nil {
		return out, err
	}
	out.Failures = []clusterRow{}
	var list []eventstream.Cluster
	if in.Finger != "" {
		one, ok, err := r.Store.Failures.Cluster(ctx, repos, in.Finger)
		if err != nil {
			return out, err
		}
		if ok {
			list = append(list, one)
		}
	} else {
		w := eventstream.Wanted{Repos: repos, Text: truncate.Head(in.Text, mostSought, "")}
		if list, err = r.Store.Failures.Clusters(ctx, w, skip, n+1); err != nil {
			return out, err
		}
	}
	out.More = len(list) > n
	for _, c := range list[:min(len(list), n)] {
		seen, err := r.Store.Failures.Seen(ctx, repos, c.Fingerprint, mostSeen)
		if err != nil {
			return out, err
		}
		row := clusterRow{clean(c.Fingerprint, 100), clean(c.Name, 300), clean(c.Suite, 200), clean(c.File, 300), c.Class, c.First.UTC(), c.Last.UTC(),
			c.Cases, c.Open, c.Runs, c.Flaky, []seenRow{}}
		for _, s := range seen {
			row.Seen = append(row.Seen, seenRow{clean(r.now(s.Key), 300), clean(s.Checkpoint, 200), s.First.UTC(), s.Last.UTC(), !s.Fixed.IsZero(), s.Iterations})
		}
		out.Failures = append(out.Failures, row)
	}
	return out, nil
}
