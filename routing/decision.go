package routing

import (
	"fmt"
	"strconv"
	"time"
)

// Kind is what the router chose.
type Kind string

// The decisions. None records a run and does nothing.
const (
	KindPass     Kind = "PASS"
	KindRetry    Kind = "RETRY"
	KindDesign   Kind = "ESCALATE_DESIGN"
	KindEnv      Kind = "ESCALATE_ENV"
	KindTimeout  Kind = "ESCALATE_TIMEOUT"
	KindUnclear  Kind = "ESCALATE_UNCLEAR"
	KindMaxRetry Kind = "ESCALATE_MAX_RETRY"
	KindNone     Kind = "NONE"

	KindNoProgress  Kind = "ESCALATE_NO_PROGRESS"
	KindNoAnswer    Kind = "ESCALATE_NO_ANSWER" // no worker answered the hand-off
	KindRerun       Kind = "RERUN"              // failed jobs are run again, and nothing is returned
	KindPreExisting Kind = "PRE_EXISTING"       // only what stands on the base failed
	KindIncident    Kind = "INCIDENT"           // an incident explains all that failed: on hold until that is over
	KindInteraction Kind = "INTERACTION"        // the pull requests of a merge group pass alone and fail together
	KindGroupFailed Kind = "GROUP_FAILED"       // a merge group fails, and nobody can say by which of its pull requests
	KindSuspect     Kind = "SUSPECT"            // green, but the evidence shrank or was edited: a maintainer is asked
)

// Escalates reports whether k opens an escalation.
func (k Kind) Escalates() bool {
	switch k {
	case KindDesign, KindEnv, KindTimeout, KindUnclear, KindMaxRetry, KindNoProgress, KindNoAnswer, KindSuspect:
		return true
	}
	return false
}

// Decision is what is to be done about one verdict, with the rule and the
// reason that chose it.
type Decision struct {
	Kind      Kind          `json:"kind"`
	Rule      string        `json:"rule"`
	Reason    string        `json:"reason"`
	Iteration int           `json:"iteration"`       // reworks returned for a fix, this one included
	Max       int           `json:"max_iterations"`  // reworks allowed
	Phase     Phase         `json:"phase,omitempty"` // where a rework goes back to
	Verdict   Verdict       `json:"-"`               // of the whole run, its parts merged
	Effects   []Effect      `json:"effects,omitempty"`
	OnMax     OnMax         `json:"on_max,omitempty"`
	Delay     time.Duration `json:"delay,omitempty"`     // waited before the hand-off
	Ready     []string      `json:"ready,omitempty"`     // dependents that may start now
	Complete  bool          `json:"complete,omitempty"`  // the whole case is complete
	Repeated  bool          `json:"repeated,omitempty"`  // this run was decided before; nothing is recorded
	Held      bool          `json:"held,omitempty"`      // the verdict waits for needed checkpoints
	Manual    bool          `json:"manual,omitempty"`    // the rework waits for a call of its own
	Approval  bool          `json:"approval,omitempty"`  // Manual for want of a maintainer's approval: the change comes from outside
	Withheld  []Effect      `json:"withheld,omitempty"`  // effects of a green run that the approval queues
	NoNotify  bool          `json:"no_notify,omitempty"` // an escalation that mentions nobody
	Again     bool          `json:"again,omitempty"`     // brings a turn already taken up to date; no new turn
	Redo      HumanAction   `json:"redo,omitempty"`      // a run decided anew, for what a human did
	Kept      bool          `json:"kept,omitempty"`      // a run decided anew, as before: nothing is taken back
	Excused   []string      `json:"excused,omitempty"`   // tests whose failures did not count, being in quarantine
	Label     *int          `json:"label,omitempty"`     // the limit that a label of the case gave, which stands nowhere else
	Flaky     []string      `json:"flaky,omitempty"`     // tests that failed and passed on the commit, or for which KindRerun is
	TakeBack  bool          `json:"take_back,omitempty"` // of a pass: the attempt that its commit was returned for is no attempt
	Budget    Budget        `json:"budget,omitempty"`    // that is used up
	Suspect   []Suspicion   `json:"suspect,omitempty"`   // why a green run is not trusted
	Listed    []Suspicion   `json:"listed,omitempty"`    // what was noticed about a green run besides
	Pushers   []string      `json:"pushers,omitempty"`   // logins of those who may not accept KindSuspect
	Workers   []Worker      `json:"workers,omitempty"`   // who is told in turn about KindRetry; none: all at once
	Check     string        `json:"check,omitempty"`     // conclusion of the check of KindPreExisting
	Waits     bool          `json:"waits,omitempty"`     // recorded while a human is awaited or the checkpoint is skipped; the commit's check says so
}

// EffectKind names one thing to be done outside.
type EffectKind string

// The effects.
const (
	EffectComment EffectKind = "comment" // bring the sticky comment up to date
	EffectCheck   EffectKind = "check"   // bring the check run of the commit up to date
	EffectHandoff EffectKind = "handoff" // hand the rework to the worker
	EffectIssue   EffectKind = "issue"   // open or update the escalation issue
	EffectClose   EffectKind = "close"   // close the escalation issues
	EffectLabel   EffectKind = "label"   // bring the subject's labels up to date
	EffectReview  EffectKind = "review"  // start the reviewer
	EffectReady   EffectKind = "ready"   // start a dependent checkpoint
	EffectRerun   EffectKind = "rerun"   // run the failed jobs of the newest run again; Target is its id and attempt, "12/1"
	EffectUpdate  EffectKind = "update"  // bring the branch up to date with its base, or ask for that; Target is the base's commit
	EffectSection EffectKind = "section" // say in the comment of a pull request what its merge group came to; Target is its number
	EffectReact   EffectKind = "react"   // acknowledge a human's comment by a reaction; Target is its id
)

// Effect is one thing to be done outside, once. Key says what "once" means;
// Slot says which earlier effects it supersedes: of one slot only the newest
// that is not done is carried out.
type Effect struct {
	Kind       EffectKind `json:"kind"`
	Key        string     `json:"key"`
	Slot       string     `json:"slot"`
	Checkpoint string     `json:"checkpoint"`
	Iteration  int        `json:"iteration"`
	SHA        string     `json:"sha,omitempty"`
	Target     string     `json:"target,omitempty"` // e.g. the dependent, or the escalation's kind
	Gen        int        `json:"gen,omitempty"`    // generation of the case that asked for it, set by the fold
}

// effectKey returns the key of an effect: case, checkpoint, turn and kind. The
// turn is counted within a streak, which a green run or a reset ends; a turn
// whose number was given before, and taken back, has a key of its own.
func effectKey(caseKey string, cp Checkpoint, iteration int, kind EffectKind) string {
	turn := fmt.Sprintf("%d.%d", cp.Streak, iteration)
	if cp.Undone > 0 {
		turn += fmt.Sprintf(".%d", cp.Undone)
	}
	return fmt.Sprintf("%s/%s/%s/%s", caseKey, cp.Name, turn, kind)
}

// effects returns the effects of a decision in the order they are carried out:
// the feedback is sent before the worker is started again, who is the one at place, from 1, of those
// who are told in turn.
func effects(caseKey string, cp Checkpoint, d Decision, place int) []Effect {
	v := d.Verdict
	cp.Name = v.Checkpoint // a first run has none yet
	mk := func(kind EffectKind, target string) Effect {
		slot := fmt.Sprintf("%s/%s", v.Checkpoint, kind)
		switch kind {
		case EffectCheck:
			slot += "/" + v.Run.SHA
		case EffectReady, EffectIssue, EffectSection:
			slot += "/" + target
		}
		key := effectKey(caseKey, cp, d.Iteration, kind)
		if target != "" {
			key += "/" + target
		}
		if kind == EffectCheck || kind == EffectSection {
			key += "/" + orElse(v.Run.SHA, v.Run.ID)
		}
		return Effect{Kind: kind, Key: key, Slot: slot, Checkpoint: v.Checkpoint, Iteration: d.Iteration, SHA: v.Run.SHA, Target: target}
	}
	var out []Effect
	switch {
	case v.Group != nil && (d.Kind != KindNone || d.Again):
		for _, p := range v.Group.Pulls {
			if p.Told {
				out = append(out, mk(EffectSection, strconv.Itoa(p.Number)))
			}
		}
		return append(out, mk(EffectCheck, ""))
	case d.Kind == KindPass:
		out = append(out, mk(EffectComment, ""), mk(EffectCheck, ""), mk(EffectLabel, ""), mk(EffectClose, ""))
		for _, r := range d.Ready {
			out = append(out, mk(EffectReady, r))
		}
	case d.Kind == KindRetry:
		out = append(out, mk(EffectComment, ""), mk(EffectCheck, ""))
		if !d.Again && !d.Manual {
			target := ""
			if place > 0 {
				target = strconv.Itoa(place)
			}
			out = append(out, mk(EffectHandoff, target))
		}
	case d.Kind.Escalates():
		out = append(out, mk(EffectIssue, string(d.Kind)), mk(EffectComment, ""), mk(EffectCheck, ""), mk(EffectLabel, ""))
	case d.Again, d.Kind == KindPreExisting, d.Kind == KindRerun, d.Kind == KindIncident:
		out = append(out, mk(EffectComment, ""), mk(EffectCheck, ""))
	case d.Waits, d.Verdict.Result == Awaiting, d.Rule == RuleReportsUnmatched:
		out = append(out, mk(EffectCheck, ""))
	}
	if (asksToAccept(cp) || noAnswer(cp)) && (d.Kind == KindRetry || d.Kind == KindPreExisting || d.Kind == KindRerun || d.Kind == KindIncident) {
		out = append(out, mk(EffectLabel, ""), mk(EffectClose, "")) // a new commit ends the question
	}
	if called := cp.State == Escalated && cp.Escalation != nil; called && (d.Again || d.Waits) && !d.Kind.Escalates() {
		// The report shows the newest evidence, and asks about its commit.
		out = append([]Effect{mk(EffectIssue, string(cp.Escalation.Kind))}, out...)
	}
	return out
}
