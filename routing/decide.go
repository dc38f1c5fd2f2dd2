package routing

import (
	"fmt"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing/truncate"
)

type rule struct {
	name   string
	decide func(s input) (Decision, bool)
}

// rules in their order; the first that applies wins. Above "pass" stand those
// that keep a run from counting, below them the precedence of the acceptance
// table: SUSPECT > PASS > INCIDENT > PRE_EXISTING > RERUN > DESIGN > ENV > TIMEOUT/UNCLEAR > MAX_RETRY >
// NO_PROGRESS > RETRY. Those of a merge group take all its runs, so that none is returned for a fix.
var rules = []rule{
	{"answered", decideAnswered},
	{"unanswered", decideUnanswered},
	{"repeat", decideRepeat},
	{"waits-for-approval", decideAwaiting},
	{"analyze-failed", decideErrored},
	{"stale-commit", decideStaleCommit},
	{"stale-run", decideStaleRun},
	{"group-ended", decideGroupEnded},
	{"waiting-for-needs", decideNeeds},
	{"held-by-escalation", decideHeld},
	{"completed-commit", decideCompletedCommit},
	{"matrix-incomplete", decideIncomplete},
	{"run-already-decided", decideDecided},
	{"group-passed", decideGroupPassed},
	{"group-on-base", decideGroupOnBase},
	{"interaction", decideInteraction},
	{"group-failed", decideGroupFailed},
	{"skipped", decideSkipped},
	{"suspect", decideSuspect},
	{"pass", decidePass},
	{"incident", decideIncident},
	{"pre-existing", decidePreExisting},
	{"flaky-commit", decideFlakyCommit},
	{"flake-evidence", decideRerun},
	{"design", decideDesign},
	{"environment", decideEnv},
	{"timeout", decideTimeout},
	{"criteria-unmet", decideUnmet},
	{RuleReportsUnmatched, decideUnmatched},
	{"unclear", decideUnclear},
	{"same-commit", decideSameCommit},
	{"limit-reached", decideLimit},
	{"budget-reached", decideBudget},
	{"no-progress", decideNoProgress},
	{"fixable", decideRetry},
}

// Decide returns what to do with verdict v of case c under policy p.
// It is a pure function: replaying a ledger gives the same decisions.
// The first rule that applies wins; see rules for their order.
func Decide(c Case, v Verdict, p Policy, now time.Time) Decision {
	if v.At.IsZero() {
		v.At = now
	}
	s := newInput(c, v, p, now)
	for _, r := range rules {
		if d, ok := r.decide(s); ok {
			return complete(s, s.unchanged(d), r.name)
		}
	}
	return complete(s, escalate(KindUnclear, "no rule applies"), "no-rule") // unreachable: decideRetry takes all
}

// RuleReportsUnmatched is the rule of a first run of which no report was found where its globs look.
const RuleReportsUnmatched = "reports-unmatched"

// RuleNames returns the names of the rules in their order.
func RuleNames() []string {
	names := make([]string, len(rules))
	for i, r := range rules {
		names[i] = r.name
	}
	return names
}

// Limit returns the number of reworks allowed now: the case's own override,
// else what its streak began with, else the policy's; and what a human granted
// on top. It never exceeds HardCap.
func Limit(cp Checkpoint, p Policy) int {
	base := p.limit()
	if cp.Limited && p.Override == nil {
		base = cp.Limit
	}
	return min(max(base+cp.Extra, cp.Floor), HardCap)
}

// complete fills in what every decision carries.
func complete(s input, d Decision, name string) Decision {
	if d.Repeated {
		return d
	}
	d.Rule = name
	d.Verdict = s.m
	d.Max = s.limit
	d.Excused = s.excused
	if d.Flaky == nil {
		d.Flaky = s.flakes.names()
	}
	if d.Flaky = d.Flaky[:min(len(d.Flaky), mostFlaky)]; len(d.Flaky) > 0 {
		d.Verdict = d.Verdict.markFlaky(d.Flaky)
	}
	if s.p.Labelled {
		d.Label = s.p.Override
	}
	if s.redo != nil {
		d.Redo = s.redo.Action
	}
	if d.Iteration == 0 && !d.TakeBack {
		d.Iteration = s.cp.Retries
	}
	if d.Kind.Escalates() {
		d.NoNotify = !s.p.Notify
		d.OnMax = OnMaxManual
		if d.Kind == KindMaxRetry || d.Kind == KindNoProgress {
			d.OnMax = s.p.OnMax
		}
		d.Phase = TargetPhase(s.m)
	}
	place := 0
	if d.Kind == KindRetry && !d.Again && len(s.p.Workers) > 0 {
		d.Workers, place = s.p.Workers, caseHandoff{&s.c}.place(s.v.Checkpoint, s.v.Run.SHA)
	}
	d.Effects = append(effects(s.c.Key, s.cp, d, place), d.Effects...)
	return s.withhold(d)
}

// withhold takes the effects that start others out of a green run's, where they need an approval.
func (s input) withhold(d Decision) Decision {
	var kept []Effect
	for _, e := range d.Effects {
		if (e.Kind == EffectReview || e.Kind == EffectReady) && s.p.ApproveStart[e.Target] {
			d.Withheld = append(d.Withheld, e)
			continue
		}
		kept = append(kept, e)
	}
	if len(d.Withheld) > 0 {
		d.Effects, d.Manual, d.Approval = kept, true, true
	}
	return d
}

func none(format string, a ...any) Decision {
	return Decision{Kind: KindNone, Reason: fmt.Sprintf(format, a...)}
}

func escalate(k Kind, reason string) Decision { return Decision{Kind: k, Reason: reason} }

// decideRepeat returns what was decided when this part of this run came first.
func decideRepeat(s input) (Decision, bool) {
	if s.redo != nil {
		return Decision{}, false
	}
	if s.heldBefore() {
		d := none("run %s waits already", s.v.Run.ID)
		d.Repeated, d.Held, d.Iteration, d.Max, d.Rule, d.Verdict = true, true, s.cp.Retries, s.limit, "repeat", s.m
		return d, true
	}
	before, seen := s.run.Parts[s.v.Run.Part]
	if !seen || before.Result == Awaiting && s.v.Result != Awaiting || s.held() || gravity(s.v) > gravity(before) || s.passedOverNew() || s.passedOverOther() || passedOverIncident(s) {
		return Decision{}, false // new, held until now, or a second step of the same job that says worse
	}
	d := s.run.Decision
	if d.Kind == KindPass && s.v.Result != Pass { // a leg that came too late to count
		d = none("run %s is decided and superseded", s.v.Run.ID)
	}
	d.Repeated, d.Verdict = true, s.m
	return d, true
}

// held is true for a verdict that was held when it came.
func (s input) held() bool {
	for _, h := range s.cp.Held {
		if h.Run.Key() == s.v.Run.Key() && h.Run.Part == s.v.Run.Part {
			return true
		}
	}
	return false
}

// heldBefore is true for a verdict that is held and must go on being so.
func (s input) heldBefore() bool {
	return s.held() && (len(s.c.unmetNeeds(s.v.Checkpoint, s.p)) > 0 || s.c.holder(s.v.Checkpoint, s.p) != "")
}

// overtaken returns a run of another commit that certainly began after a held
// one, of whatever checkpoint: the head that the held verdict knew is history.
func (s input) overtaken() (Run, bool) {
	if !s.held() || s.v.Run.SHA == "" {
		return Run{}, false
	}
	for _, n := range s.c.Names() {
		last := s.c.Checkpoints[n].Last
		if last.SHA != "" && last.SHA != s.v.Run.SHA && last.Repository == s.v.Run.Repository && s.v.Run.olderThan(last) {
			return last, true
		}
	}
	return Run{}, false
}

// decideAwaiting: the run has not begun. Its result comes under the same id and attempt.
func decideAwaiting(s input) (Decision, bool) {
	return none("run %s waits for a maintainer's approval; it is analyzed when it has ended", s.v.Run.ID), s.v.Result == Awaiting || s.m.Result == Awaiting
}

// decideErrored: neither a failed analyze nor a run of which a part has no
// verdict yet says anything of the work, unless another part failed.
func decideErrored(s input) (Decision, bool) {
	return none("the analysis itself failed (%s); no turn is spent", orElse(s.v.Reason, orElse(s.m.Reason, "no reason given"))),
		s.v.Result == Errored || s.m.Result == Errored
}

func decideStaleCommit(s input) (Decision, bool) {
	stale := s.v.Head != "" && s.v.Run.SHA != "" && s.v.Head != s.v.Run.SHA
	return none("commit %s is no longer the head (%s)", truncate.ShortSHA(s.v.Run.SHA), truncate.ShortSHA(s.v.Head)), stale
}

// decideStaleRun refuses an attempt older than one seen, a run that was held
// until a newer commit had been analyzed, and, where the head is not known, a run
// of another commit that began before the newest one.
func decideStaleRun(s input) (Decision, bool) {
	if newer, ok := s.overtaken(); ok {
		return none("run %s was held, and run %s of a newer commit has been analyzed since", s.v.Run.ID, newer.ID), true
	}
	last := s.cp.Last
	if last.ID == "" || !s.v.Run.olderThan(last) || (s.v.Run.Repository != "" && last.Repository != "" && s.v.Run.Repository != last.Repository) {
		return Decision{}, false
	}
	if last.ID == s.v.Run.ID {
		return none("attempt %d is older than attempt %d", max(s.v.Run.Attempt, 1), max(last.Attempt, 1)), true
	}
	stale := s.v.Head == "" && s.v.Run.SHA != last.SHA
	return none("run %s began before run %s, which was of another commit", s.v.Run.ID, last.ID), stale
}

func decideNeeds(s input) (Decision, bool) {
	needs := s.c.unmetNeeds(s.v.Checkpoint, s.p)
	if s.v.Group != nil {
		return Decision{}, false // a group is over with the first of its checkpoints that fails
	}
	d := none("waits for %s", strings.Join(needs, ", "))
	d.Held = true
	return d, len(needs) > 0
}

// decideHeld lets nothing but a green run through while a human is awaited.
func decideHeld(s input) (Decision, bool) {
	by := s.c.holder(s.v.Checkpoint, s.p)
	if by == "" {
		return Decision{}, false
	}
	if by == s.v.Checkpoint && (s.rearmed() || lateDelivery(s) || asksToAccept(s.cp) && !s.cp.Paused) {
		return Decision{}, false
	}
	green := s.m.Result == Pass && len(s.m.Unmet) == 0
	if green && by == s.v.Checkpoint && !s.cp.Paused {
		return Decision{}, false
	}
	d := none("%s waits for a human", by)
	d.Held = by != s.v.Checkpoint
	d.Again = !d.Held && s.m.Result != Pass && s.sameAsLastTurn()
	d.Waits = !d.Held && !d.Again
	return d, true
}

// sameAsLastTurn is true for a further verdict on what the last turn was about.
func (s input) sameAsLastTurn() bool {
	n := len(s.cp.Attempts)
	if n == 0 {
		return false
	}
	last := s.cp.Attempts[n-1].Verdict.Run
	return last.Key() == s.v.Run.Key() || (last.SHA != "" && last.SHA == s.v.Run.SHA)
}

// rearmed is true when the limit that was used up has been raised since: by
// the case's own override, as a human's act.
func (s input) rearmed() bool {
	e := s.cp.Escalation
	return !s.cp.Paused && e != nil && e.Kind == KindMaxRetry && s.p.Override != nil && s.cp.Retries < s.limit
}

// decideCompletedCommit: completed is terminal for its commit. A failure of a
// commit that passed is evidence of flakiness, not work for anyone.
func decideCompletedCommit(s input) (Decision, bool) {
	same := s.cp.State == Completed && s.cp.Green != "" && s.cp.Green == s.v.Run.SHA
	if !same || s.partOfGreenRun() {
		return Decision{}, false
	}
	if s.m.Result == Pass {
		return none("commit %s has passed before", truncate.ShortSHA(s.v.Run.SHA)), true
	}
	return none("commit %s has passed before; passing and failing on one commit means flaky", truncate.ShortSHA(s.v.Run.SHA)), true
}

// partOfGreenRun is true for a late failing leg of the very run that was taken
// for green; it must not be swallowed.
func (s input) partOfGreenRun() bool {
	return s.run.Decided && s.run.Decision.Kind == KindPass && s.m.Result != Pass
}

func decideIncomplete(s input) (Decision, bool) {
	quiet := s.m.Result == Pass && len(s.m.Unmet) == 0 || s.m.preExisting()
	waits := quiet && !s.complete()
	return none("%d of %d matrix jobs have reported", s.have, s.v.Run.Parts), waits
}

// decideDecided: a further part of a run adds its failures to the turn already
// taken, unless it is graver than what was decided.
func decideDecided(s input) (Decision, bool) {
	if !s.run.Decided || s.run.Decision.Kind == KindNone || s.run.Decision.Kind == KindSuspect || s.passedOverNew() || s.passedOverOther() || passedOverIncident(s) {
		return Decision{}, false
	}
	before := gravityOf(s.run)
	if gravity(s.m) > before && gravity(s.m) > gravity(Verdict{Result: Fail, Class: LogicError}) {
		return Decision{}, false
	}
	if before <= gravity(Verdict{Result: Pass}) && gravity(s.m) > before {
		return Decision{}, false
	}
	d := none("run %s is decided (%s); its failures were added", s.v.Run.ID, s.run.Decision.Kind)
	d.Iteration, d.Again = s.run.Decision.Iteration, true
	return d, true
}

func gravityOf(r RunState) int {
	g := 0
	for _, v := range r.Parts {
		g = max(g, gravity(v))
	}
	return g
}

// decideSkipped lets nothing but a green run through of a checkpoint that goes
// on without: nobody is asked to fix it and nobody is called again.
func decideSkipped(s input) (Decision, bool) {
	d := none("%s is skipped, until it passes or a human resumes it", s.v.Checkpoint)
	d.Waits = true
	green := s.m.Result == Pass && len(s.m.Unmet) == 0
	return d, s.cp.Skipped && !green && !s.rearmed()
}

func decidePass(s input) (Decision, bool) {
	if s.m.Result != Pass || len(s.m.Unmet) > 0 {
		return Decision{}, false
	}
	d := Decision{Kind: KindPass, TakeBack: s.returnedHere() > 0, Iteration: s.cp.Retries}
	if d.TakeBack {
		d.Iteration--
	}
	d.Reason = passReason(s, d.Iteration)
	after := s.c.clone()
	cp := s.cp
	cp.State = Completed
	after.Checkpoints[s.v.Checkpoint] = cp
	for _, dep := range s.p.dependents(s.v.Checkpoint) {
		if len(after.unmetNeeds(dep, s.p)) == 0 && after.Checkpoints[dep].State != Completed {
			d.Ready = append(d.Ready, dep)
		}
	}
	d.Complete = after.allDone(s.p)
	d.Verdict = s.m
	suspect, listed := greenRun{s}.doubts()
	if d.Listed = listed; (greenRun{s}).accepted() {
		d.Suspect = suspect
	}
	if s.p.Reviewer && s.p.RunReviewerOnPass && s.v.Review == nil {
		d.Effects = append(d.Effects, Effect{
			Kind: EffectReview, Key: fmt.Sprintf("%s/%s/%s/review", s.c.Key, s.v.Checkpoint, orElse(s.v.Run.SHA, s.v.Run.ID)),
			Slot: s.v.Checkpoint + "/review", Checkpoint: s.v.Checkpoint, Iteration: d.Iteration, SHA: s.v.Run.SHA,
		})
	}
	return d, true
}

func passReason(s input, attempts int) string {
	if s.v.Review != nil {
		return "the review approved"
	}
	r := orElse(s.m.Reason, fmt.Sprintf("%d tests passed, none failed", s.m.Counts.Passed))
	if n := s.m.Counts; s.have > 1 && n.Tests > 0 { // the reason is that of one leg
		r = fmt.Sprintf("%d of %d tests passed in %d matrix jobs, none failed", n.Passed, n.Tests, s.have)
	}
	if attempts > 0 {
		r += fmt.Sprintf(", after %d of %d fix attempts", attempts, s.limit)
	}
	if (greenRun{s}).accepted() {
		r += ", accepted by " + orElse(s.redo.By, "a person")
	}
	return r + flakyReason(s.m, s.flakes.names())
}

// allDone reports whether every checkpoint of the case has passed or was skipped.
func (c Case) allDone(p Policy) bool {
	names := p.Checkpoints
	if len(names) == 0 {
		names = c.Names()
	}
	for _, n := range names {
		if cp := c.Checkpoints[n]; cp.State != Completed && !cp.Skipped {
			return false
		}
	}
	return true
}
