package quarantine

import (
	"slices"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/history"
)

// The figures of a quarantine.
const (
	ProposedAfter = 2                   // pull requests in which a test failed and passed on one commit
	EvidenceLasts = 30 * 24 * time.Hour // after which it no longer leads to a proposal
	RemindBefore  = 3 * 24 * time.Hour  // of the end
	ReleaseAfter  = 20                  // passes in a row after which release is proposed
)

// Steps are the questions to a repository's quarantine: what is to be recorded of what happened, at
// Now. Each returns the payloads to append to the state it was asked of; a step that was made before
// returns none.
type Steps struct {
	State
	Now        time.Time
	Lease      *routing.Lease // of the process that does what follows
	Configured int            // tests in quarantine by the configuration, which count for the limit too
}

// Flaked records flake evidence, and proposes the quarantine of tests that have enough of it.
func (s Steps) Flaked(flips []Flaked) []Payload {
	var out []Payload
	for _, f := range flips {
		if s.Now.Sub(f.Evidence.At) > EvidenceLasts || s.knows(f) {
			continue
		}
		next, err := s.Apply(Events([]Payload{f}, "", s.Now)[0])
		if err != nil {
			continue
		}
		s.State = next
		out = append(out, f)
	}
	return append(out, s.proposals()...)
}

func (s Steps) knows(f Flaked) bool {
	e, _ := s.Entry(IDOf(f.Test))
	return slices.ContainsFunc(e.Evidence, func(k Evidence) bool {
		return k.Case == f.Evidence.Case && k.Passed.ID != "" && k.Failed.SHA == f.Evidence.Failed.SHA && k.Failed.Part == f.Evidence.Failed.Part
	})
}

// proposals are those of tests with enough evidence, up to the limit.
func (s Steps) proposals() []Payload {
	open := s.Configured
	for _, e := range s.Entries {
		if e.Open() {
			open++
		}
	}
	var out []Payload
	for _, e := range s.Entries {
		if open >= routing.MaxQuarantined {
			break
		}
		if !e.Open() && e.flakedIn(s.Now) >= ProposedAfter {
			open++
			out = append(out, Proposed{ID: e.ID, Lease: s.Lease})
		}
	}
	return out
}

// flakedIn counts the pull requests in which the test failed and passed on one commit, lately and
// since it was released.
func (e Entry) flakedIn(now time.Time) int {
	in := map[string]bool{}
	for _, x := range e.Evidence {
		if x.Passed.ID != "" && strings.Contains(x.Case, "#") && now.Sub(x.At) <= EvidenceLasts && x.At.After(e.Declined) {
			in[x.Case] = true
		}
	}
	return len(in)
}

// PullRequests counts the pull requests in which the test failed and passed on one commit.
func (e Entry) PullRequests() int {
	in := map[string]bool{}
	for _, x := range e.Evidence {
		if x.Passed.ID != "" && strings.Contains(x.Case, "#") {
			in[x.Case] = true
		}
	}
	return len(in)
}

// Request asks to put a test into quarantine, or to keep it there.
type Request struct {
	Test     routing.TestRef
	Evidence []Evidence
	For      time.Duration
	Source   string // names what the person said
	Broken   string // where the test fails consistently, "" if it does not
}

// Quarantine puts a test into quarantine. What cannot be done is a *routing.RefusedError.
func (s Steps) Quarantine(r Request) ([]Payload, error) {
	e, _ := s.Entry(IDOf(r.Test))
	if e.Heard(r.Source) {
		return nil, nil
	}
	excused := s.Configured
	for _, x := range s.Excused(s.Now) {
		if x.ID != e.ID {
			excused++
		}
	}
	switch {
	case r.Broken != "":
		return nil, routing.Refuse("quarantine-broken", "{test} failed in each of the newest {n} runs that ran it ({where}). That is broken, not flaky: it has to be fixed", "test", r.Test.Name, "n", history.Consistent, "where", r.Broken)
	case excused >= routing.MaxQuarantined:
		return nil, routing.Refuse("quarantine-full", "{n} tests are in quarantine, and no more may be. Fix or release some of them first", "n", excused)
	}
	return []Payload{Began{Test: r.Test, Evidence: r.Evidence, Until: s.Now.Add(min(r.For, routing.MaxQuarantine)), Source: r.Source, Lease: s.Lease}}, nil
}

// Fix has a test fixed.
func (s Steps) Fix(id, source string) []Payload {
	e, ok := s.Entry(id)
	if !ok || !e.Open() || e.Heard(source) {
		return nil
	}
	return []Payload{Fixing{ID: id, Source: source, Lease: s.Lease}}
}

// Release ends a quarantine, or declines it.
func (s Steps) Release(id, source string) []Payload {
	e, ok := s.Entry(id)
	if !ok || !e.Open() || e.Heard(source) {
		return nil
	}
	return []Payload{Released{ID: id, Source: source, Lease: s.Lease}}
}

// Due returns what the time brings about: reminders, expiries, and proposals that the limit kept back
// before. Passes are how often each test passed in a row since its quarantine began, or was proposed.
func (s Steps) Due(passes map[string]int) []Payload {
	var out []Payload
	for _, e := range s.Entries {
		switch {
		case e.Standing == Quarantined && !s.Now.Before(e.Until):
			out = append(out, Expired{ID: e.ID, Lease: s.Lease})
		case e.Standing == Quarantined && !e.Reminded && !s.Now.Before(remindAt(e)):
			out = append(out, Reminded{ID: e.ID, Until: e.Until, Lease: s.Lease})
		}
		if n := passes[e.ID]; e.Open() && !e.Offered && n >= ReleaseAfter {
			out = append(out, Passing{ID: e.ID, Passes: n, Lease: s.Lease})
		}
	}
	return append(out, s.proposals()...)
}

// remindAt is when people are reminded: three days before the end, or at half of a shorter time.
func remindAt(e Entry) time.Time {
	if at := e.Until.Add(-RemindBefore); at.After(e.Since) {
		return at
	}
	return e.Since.Add(e.Until.Sub(e.Since) / 2)
}

// WatchedSince returns from when on passes of an open entry's test are counted.
func (e Entry) WatchedSince() time.Time {
	if e.Standing == ProposedTest || e.Since.IsZero() {
		return e.Asked
	}
	return e.Since
}
