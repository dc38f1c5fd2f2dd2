package routing

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/switchback-ci/switchback/routing/history"
	"github.com/switchback-ci/switchback/routing/truncate"
)

// failureID is one failure as it is compared between commits.
type failureID struct {
	test        history.ID
	fingerprint uint64
}

// failureSet returns the failures of a verdict that are the change's, false where they cannot be
// compared: none is named, or some are known to be missing.
func (v Verdict) failureSet() (map[failureID]bool, bool) {
	if v.Review != nil || v.Unlisted() > 0 {
		return nil, false
	}
	set := map[failureID]bool{}
	named := false
	add := func(suite, name, kind string, print uint64, exact bool) {
		named = named || exact
		if !exact {
			suite = kind + "\x00" + suite // beside a test, what else failed has to be the same too
		}
		set[failureID{history.TestID(v.Checkpoint, suite, name), print}] = true
	}
	for _, f := range v.Failures {
		switch {
		case f.Kind == "truncated":
			return nil, false
		case !f.Quarantined && f.Standing != history.StandingPreExisting:
			add(f.Suite, f.Name, f.Kind, history.FingerprintOf(f.Fingerprint), f.comparable())
		}
	}
	for _, f := range v.Cut {
		if !f.Quarantined && !f.PreExisting {
			add(f.Suite, f.Name, f.Kind, f.Print, f.comparable())
		}
	}
	return set, named
}

// commitTurn is what one commit of a streak came to.
type commitTurn struct {
	verdict  Verdict
	failures map[failureID]bool
	known    bool // failures can be compared
}

// commitTurns returns the commits that were returned for a fix since the last escalation of the
// streak, oldest first, and the present one last. It is empty where that is not known to be new.
func (s input) commitTurns() []commitTurn {
	sha := s.m.Run.SHA
	if sha == "" {
		return nil
	}
	var turns []commitTurn
	seen := map[string]bool{sha: true}
	for _, t := range slices.Backward(s.cp.Attempts) {
		if t.Streak != s.cp.Streak || t.answered() {
			break
		}
		if at := t.Verdict.Run.SHA; t.Kind == KindRetry && !t.Undone && at != "" && !seen[at] {
			seen[at] = true
			turns = append(turns, turnOf(t.Verdict))
		}
	}
	slices.Reverse(turns)
	return append(turns, turnOf(s.m))
}

func turnOf(v Verdict) commitTurn {
	set, ok := v.failureSet()
	return commitTurn{v, set, ok}
}

// stalled counts the commits in a row, up to the last one, that changed nothing: that fail as the
// commit before did, that return to how the one before that failed, or whose tree is that of an
// earlier one. A commit whose failures cannot be compared counts neither way.
func stalled(turns []commitTurn) int {
	var known []commitTurn // whose failures can be compared
	trees := map[string]bool{}
	count, before := 0, 0 // before: the count that a return to the commit before the last goes on from
	for i, t := range turns {
		tree := t.verdict.Run.Tree
		same := tree != "" && trees[tree]
		trees[tree] = true
		n := len(known)
		switch {
		case i == 0:
		case same:
			count, before = count+1, count
		case !t.known:
			continue
		case n > 0 && maps.Equal(known[n-1].failures, t.failures):
			count, before = count+1, count
		case n > 1 && maps.Equal(known[n-2].failures, t.failures):
			count, before = max(count, before+1)+1, max(count, before+1)
		default:
			count, before = 0, count
		}
		if t.known {
			known = append(known, t)
		}
	}
	return count
}

// decideNoProgress stops before the limit where further attempts change nothing.
func decideNoProgress(s input) (Decision, bool) {
	if s.p.NoProgress <= 0 || s.cp.Retries >= s.limit || s.m.Result != Fail {
		return Decision{}, false
	}
	turns := s.commitTurns()
	n := stalled(turns)
	if n < s.p.NoProgress {
		return Decision{}, false
	}
	reason := fmt.Sprintf("%d new commits in a row changed nothing: %s", n, failuresInWords(turns[len(turns)-1]))
	if n == 1 {
		reason = "a new commit changed nothing: " + failuresInWords(turns[len(turns)-1])
	}
	return escalate(KindNoProgress, fmt.Sprintf("%s; %d of %d fix attempts are left", reason, s.limit-s.cp.Retries, s.limit)), true
}

func failuresInWords(t commitTurn) string {
	commit := "commit " + truncate.ShortSHA(t.verdict.Run.SHA)
	if len(t.failures) == 1 {
		return commit + " fails as one before it did, in " + orElse(firstName(t.verdict), "one place")
	}
	return fmt.Sprintf("%s has the same %d failures as one before it", commit, cmp.Or(len(t.failures), t.verdict.Counts.Failed))
}

func firstName(v Verdict) string {
	for _, f := range v.Failures {
		if f.Name != "" && !f.Quarantined && f.Standing != history.StandingPreExisting {
			return f.Name
		}
	}
	return ""
}

// Saved returns how many fix attempts were left when attempts stopped making progress.
func (d Decision) Saved() int {
	if d.Kind != KindNoProgress {
		return 0
	}
	return max(0, d.Max-d.Iteration)
}
