package quarantines

import (
	"context"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/history"
	"github.com/switchback-ci/switchback/routing/quarantine"
)

// Enter puts the tests that a person names in a case into quarantine: all of that name that failed, or
// none. It returns what the person did with the end of the quarantine, and the entries. Base is the
// case of the default branch, or empty. What cannot be done is a *routing.RefusedError.
func (s *Service) Enter(ctx context.Context, c, base routing.Case, e routing.HumanActed) (routing.HumanActed, []quarantine.Entry, error) {
	if err := c.Admit(e); err != nil {
		return e, nil, err
	}
	asked := requests(c, e)
	for i := range asked {
		if asked[i].Broken = BrokenIn(s.Repo, asked[i].Test, c, base); asked[i].Broken != "" {
			asked = asked[i : i+1]
			break
		}
	}
	var entered []quarantine.Entry
	for _, r := range asked {
		entry, err := s.Quarantine(ctx, r, e.By)
		if err != nil {
			return e, entered, err
		}
		e.Until, entered = entry.Until, append(entered, entry)
	}
	return e, entered, nil
}

// requests are those for the tests that an act names, among what failed in a case.
func requests(c routing.Case, e routing.HumanActed) []quarantine.Request {
	var out []quarantine.Request
	for _, name := range c.Names() {
		cp := c.Checkpoints[name]
		var seen []routing.Verdict
		for _, p := range cp.Runs[cp.Last.Key()].Parts {
			seen = append(seen, p)
		}
		if name == e.Checkpoint {
			for _, t := range slices.Backward(cp.Attempts) {
				seen = append(seen, t.Verdict)
			}
		}
		for _, v := range seen {
			for _, t := range v.Tests() {
				known := slices.ContainsFunc(out, func(r quarantine.Request) bool { return quarantine.IDOf(r.Test) == quarantine.IDOf(t) })
				if !known && t.Names(e.Test) {
					out = append(out, quarantine.Request{Test: t, Source: e.Answer, Evidence: []quarantine.Evidence{{Case: c.Key, Failed: v.Run, At: v.At}}})
				}
			}
		}
	}
	return out
}

// BrokenIn says in which of some cases of a repository a test fails consistently, "" if it does in
// none.
func BrokenIn(repo string, t routing.TestRef, cases ...routing.Case) string {
	id := history.TestID(t.Checkpoint, t.Suite, t.Name)
	for _, c := range cases {
		if history.FailsConsistently(routing.TestRuns(c.Checkpoints[t.Checkpoint]), id) {
			return strings.TrimPrefix(c.Key, repo)
		}
	}
	return ""
}
