// Package testhistory reads what a ledger knows of the tests of a repository: how each ended in every
// run that is kept, and what it is called.
package testhistory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/history"
	"github.com/switchback-ci/switchback/routing/quarantine"
	"github.com/switchback-ci/switchback/routing/suggest"
)

// The bounds of what is read of a repository.
const (
	mostCases = 500 // pull requests, those of the highest numbers
	mostBlobs = 24  // of inventories, those of the newest runs of branches first
)

// Test is a test with its name.
type Test struct {
	ID history.ID
	routing.TestRef
	Owner string // logins and teams with "@", as CODEOWNERS named them when its name was kept
}

// Key returns the id of a test as the pages and the quarantine write it.
func (t Test) Key() string { return quarantine.IDOf(t.TestRef) }

// Title is the test with its suite.
func (t Test) Title() string { return routing.TestName(t.Suite, t.Name) }

// Set is what is known of the tests of a repository.
type Set struct {
	Repo  string
	tests map[history.ID]Test
	runs  map[string][]run // by checkpoint
	state quarantine.State
}

type run struct {
	history.Run
	of   routing.Run
	key  string // of the case
	base bool

	incident bool // it was on hold for one
}

// Load reads the history of a repository's tests.
func Load(ctx context.Context, l ledger.Ledger, repo string) (*Set, error) {
	keys, err := l.Keys(ctx)
	if err != nil {
		return nil, err
	}
	s := &Set{Repo: repo, tests: map[history.ID]Test{}, runs: map[string][]run{}}
	var whole []wanted
	for _, key := range chosen(keys, repo) {
		events, _, err := l.Load(ctx, key)
		if err != nil {
			return nil, err
		}
		if key == routing.StreamKey(repo, routing.StreamQuarantine) {
			if s.state, err = quarantine.Fold(events); err != nil {
				return nil, fmt.Errorf("%s: %w", key, err)
			}
			continue
		}
		c, err := routing.Fold(key, events)
		if err != nil {
			return nil, err
		}
		whole = append(whole, s.add(c)...)
	}
	for _, e := range s.state.Entries {
		s.name(e.TestRef)
	}
	if err := s.read(ctx, ledger.BlobsOf(l), whole); err != nil {
		return nil, err
	}
	for _, runs := range s.runs {
		slices.SortStableFunc(runs, func(a, b run) int { return a.At.Compare(b.At) })
	}
	return s, nil
}

// chosen returns the streams of a repository that tell of tests: the quarantine, its branches, and the
// newest of its pull requests.
func chosen(keys []string, repo string) []string {
	var out, pulls []string
	for _, key := range keys {
		rest, ok := strings.CutPrefix(key, repo)
		switch {
		case !ok || rest == "":
		case rest[0] == '@', key == routing.StreamKey(repo, routing.StreamQuarantine):
			out = append(out, key)
		case rest[0] == '#':
			pulls = append(pulls, key)
		}
	}
	slices.SortFunc(pulls, func(a, b string) int { // the highest numbers first
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(b, a)
	})
	return append(out, pulls[:min(len(pulls), mostCases)]...)
}

// wanted is a blob that says more of a run than its event.
type wanted struct {
	stream, name, checkpoint string
	at                       time.Time
	base, names              bool
	place                    int // of the run
}

// add adds the runs of a case, and returns the blobs that say more of them.
func (s *Set) add(c routing.Case) []wanted {
	var out []wanted
	base := strings.HasPrefix(strings.TrimPrefix(c.Key, s.Repo), "@")
	for _, name := range c.Names() {
		for _, rs := range c.Checkpoints[name].Runs {
			for _, v := range rs.Parts {
				if v.Result.Silent() || v.Review != nil {
					continue
				}
				for _, t := range v.Tests() {
					t.Checkpoint = name
					s.name(t)
				}
				r := run{Run: history.Run{SHA: v.Run.SHA, At: v.At, Passed: v.Result == routing.Pass}, of: v.Run, key: c.Key, base: base, incident: rs.Decision.Kind == routing.KindIncident}
				inv, err := history.Unpack(v.Inventory)
				if r.Inventory = inv; err != nil {
					r.Inventory, r.Lost = history.New(routing.FailedTests(name, v), true), true
				}
				s.runs[name] = append(s.runs[name], r)
				if v.Whole != "" {
					out = append(out, wanted{c.Key, v.Whole, name, v.At, base, false, len(s.runs[name]) - 1})
				}
				if v.Names != "" {
					out = append(out, wanted{c.Key, v.Names, name, v.At, base, true, 0})
				}
			}
		}
	}
	return out
}

func (s *Set) name(t routing.TestRef) {
	id := history.TestID(t.Checkpoint, t.Suite, t.Name)
	if known, ok := s.tests[id]; !ok || known.File == "" {
		s.tests[id] = Test{id, t, known.Owner}
	}
}

// read reads the names, and the newest of the inventories. What is lost says nothing.
func (s *Set) read(ctx context.Context, blobs ledger.Blobs, all []wanted) error {
	if blobs == nil {
		return nil
	}
	slices.SortStableFunc(all, func(a, b wanted) int {
		switch {
		case a.names != b.names && a.names, a.names == b.names && a.base != b.base && a.base:
			return -1
		case a.names != b.names, a.base != b.base:
			return 1
		}
		return b.at.Compare(a.at)
	})
	seen, left := map[string]bool{}, mostBlobs
	for _, w := range all {
		if w.names && seen[w.name] {
			continue
		}
		if left--; left < 0 && !w.names {
			break
		}
		seen[w.name] = true
		data, err := blobs.Get(ctx, w.stream, w.name)
		if err != nil {
			return err
		}
		if w.names {
			if names, err := history.UnpackNames(data); err == nil {
				for _, n := range names.Tests {
					s.name(routing.TestRef{Checkpoint: w.checkpoint, Suite: n.Suite, Name: n.Name, File: n.File})
					id := history.TestID(w.checkpoint, n.Suite, n.Name)
					if t := s.tests[id]; t.Owner == "" {
						t.Owner = n.Owner
						s.tests[id] = t
					}
				}
			}
			continue
		}
		if inv, err := history.Unpack(data); err == nil {
			s.runs[w.checkpoint][w.place].Inventory, s.runs[w.checkpoint][w.place].Lost = inv, false
		}
	}
	return nil
}

// Test returns the test of a key.
func (s *Set) Test(key string) (Test, bool) {
	for _, t := range s.tests {
		if t.Key() == key {
			return t, true
		}
	}
	return Test{}, false
}

// Find returns the tests that a person means by written: by their name, with or without the suite, or
// by their key. Where there is none, nearest is the name that comes nearest, "" if none does.
func (s *Set) Find(written string) (found []Test, nearest string) {
	var names []string
	for _, t := range s.tests {
		if t.Names(written) || t.Key() == written {
			found = append(found, t)
		}
		names = append(names, t.Name)
	}
	if len(found) == 0 {
		low := strings.ToLower(written)
		for _, t := range s.tests {
			if strings.ToLower(t.Name) == low || strings.ToLower(t.Title()) == low {
				found = append(found, t)
			}
		}
	}
	sortTests(found)
	if len(found) == 0 {
		slices.Sort(names)
		nearest = suggest.Nearest(written, slices.Compact(names))
	}
	return found, nearest
}

func sortTests(ts []Test) {
	slices.SortFunc(ts, func(a, b Test) int {
		if c := strings.Compare(a.Checkpoint, b.Checkpoint); c != 0 {
			return c
		}
		return strings.Compare(a.Title(), b.Title())
	})
}

// Owners returns who owns a test, as far as that was recorded.
func (s *Set) Owners(t Test) []string {
	if e, ok := s.Entry(t); ok && len(e.Owners) > 0 {
		return e.Owners
	}
	return strings.Fields(t.Owner)
}

// Known is how many tests have a name.
func (s *Set) Known() int { return len(s.tests) }

// Entry returns what the quarantine knows of a test.
func (s *Set) Entry(t Test) (quarantine.Entry, bool) { return s.state.Entry(t.Key()) }

// Entries returns all that the quarantine knows.
func (s *Set) Entries() []quarantine.Entry { return s.state.Entries }

// Observations returns how a test ended in the runs, oldest first.
func (s *Set) Observations(t Test) []history.Observation {
	var out []history.Observation
	for _, r := range s.runs[t.Checkpoint] {
		if status, steps, timed, ran := r.Observe(t.ID); ran {
			out = append(out, history.Observation{
				Case: r.key, Base: r.base, Run: r.of.ID, URL: r.of.URL, SHA: r.SHA, At: r.At, Status: status, Steps: steps, Timed: timed, Incident: r.incident,
			})
		}
	}
	return out
}

// Ranked is a test of a list.
type Ranked struct {
	Test
	history.Summary
}

// Slowest returns the n tests that take longest.
func (s *Set) Slowest(n int) []Ranked {
	longest := map[history.ID]uint8{}
	for _, runs := range s.runs {
		for _, r := range runs {
			for _, t := range r.Inventory.Tests {
				longest[t.ID] = max(longest[t.ID], t.Steps)
			}
		}
	}
	ids := make([]history.ID, 0, len(longest))
	for id := range longest {
		if _, named := s.tests[id]; named && longest[id] > 0 {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b history.ID) int { return int(longest[b]) - int(longest[a]) })
	return s.ranked(ids[:min(len(ids), 20*n)], func(all []history.Ranked) []history.Ranked { return history.Slowest(all, n) })
}

// Flakiest returns the n tests that failed and passed on the most commits.
func (s *Set) Flakiest(n int) []Ranked {
	failed := map[history.ID]bool{}
	var ids []history.ID
	for _, runs := range s.runs {
		for _, r := range runs {
			for _, t := range r.Inventory.Tests {
				if _, named := s.tests[t.ID]; named && !failed[t.ID] && (t.Status == history.Failed || t.Status == history.Flaky) {
					failed[t.ID] = true
					ids = append(ids, t.ID)
				}
			}
		}
	}
	return s.ranked(ids, func(all []history.Ranked) []history.Ranked { return history.Flakiest(all, n) })
}

func (s *Set) ranked(ids []history.ID, top func([]history.Ranked) []history.Ranked) []Ranked {
	all := make([]history.Ranked, 0, len(ids))
	for _, id := range ids {
		all = append(all, history.Ranked{Test: id, Summary: history.Summarize(s.Observations(s.tests[id]))})
	}
	var out []Ranked
	for _, r := range top(all) {
		out = append(out, Ranked{s.tests[r.Test], r.Summary})
	}
	return out
}
