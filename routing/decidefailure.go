package routing

import (
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/routing/truncate"
)

func decideDesign(s input) (Decision, bool) {
	return escalate(KindDesign, orElse(s.m.Reason, "test and design contradict each other")),
		s.m.Result == Fail && s.m.Class == DesignMismatch && s.p.EscalateOnDesign
}

func decideEnv(s input) (Decision, bool) {
	return escalate(KindEnv, orElse(s.m.Reason, "the environment failed, not the work")),
		s.m.Result == Fail && s.m.Class == EnvIssue
}

// decideTimeout hands a timeout back while turns are left, then escalates.
func decideTimeout(s input) (Decision, bool) {
	if s.m.Result != TimedOut && (s.m.Result != Fail || s.m.Class != Timeout) {
		return Decision{}, false
	}
	if d, ok := decideSameCommit(s); ok {
		return d, true
	}
	if s.cp.Retries >= s.limit {
		return escalate(KindTimeout, fmt.Sprintf("time ran out again after %d of %d fix attempts", s.cp.Retries, s.limit)), true
	}
	if b, why := overBudget(s); b != "" {
		d := escalate(KindTimeout, why)
		d.Budget = b
		return d, true
	}
	return retry(s), true
}

func decideUnmet(s input) (Decision, bool) {
	return escalate(KindUnclear, "the tests passed, but a criterion is not met: "+strings.Join(s.m.Unmet, "; ")),
		s.m.Result == Pass
}

// decideUnmatched: where no run is known, globs that match nothing are a mistake in the set-up and no
// finding about the work. The check says so; from the second run on it is unclear.
func decideUnmatched(s input) (Decision, bool) {
	if s.m.Result != Unclear || !s.m.Unmatched {
		return Decision{}, false
	}
	for key, rs := range s.cp.Runs {
		if key != s.v.Run.Key() && !rs.Awaits() {
			return Decision{}, false
		}
	}
	return none("%s", s.m.Reason), true
}

func decideUnclear(s input) (Decision, bool) {
	fixable := s.m.Class.Fixable() || (s.m.Class == DesignMismatch && !s.p.EscalateOnDesign)
	return escalate(KindUnclear, orElse(s.m.Reason, "the run does not say what failed")),
		s.m.Result != Fail || !fixable
}

// decideSameCommit: a turn is spent per failing commit. A second run of a
// commit that was returned for a fix brings its turn up to date.
func decideSameCommit(s input) (Decision, bool) {
	n, back := s.cp.Returned[s.m.Run.SHA]
	if s.m.Run.SHA == "" || !back {
		if !s.run.Decided || s.run.Decision.Kind != KindRetry {
			return Decision{}, false
		}
		n = s.run.Decision.Iteration
	}
	d := Decision{Kind: KindRetry, Iteration: n, Again: true, Phase: TargetPhase(s.m),
		Reason: fmt.Sprintf("commit %s was returned for a fix before (%d/%d); no new turn is spent", orElse(truncate.ShortSHA(s.m.Run.SHA), "of run "+s.m.Run.ID), n, s.limit)}
	return d, true
}

func decideLimit(s input) (Decision, bool) {
	return escalate(KindMaxRetry, fmt.Sprintf("still failing after %d of %d fix attempts", s.cp.Retries, s.limit)),
		s.cp.Retries >= s.limit
}

func decideRetry(s input) (Decision, bool) { return retry(s), true }

func retry(s input) Decision {
	d := Decision{Kind: KindRetry, Iteration: s.cp.Retries + 1, Phase: TargetPhase(s.m), Delay: s.p.RetryDelay, Manual: s.p.Manual || s.p.ApproveHandoff, Approval: s.p.ApproveHandoff}
	d.Reason = orElse(s.m.Reason, string(s.m.Class)) + fmt.Sprintf("; returned for a fix %d/%d", d.Iteration, s.limit)
	return d
}

func orElse(s, t string) string {
	if s != "" {
		return s
	}
	return t
}
