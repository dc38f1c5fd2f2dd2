package routing

import (
	"fmt"
	"sort"
	"time"
)

// State is where a checkpoint stands. A retry is a transition, not a state.
type State string

// The states.
const (
	Pending    State = "pending"     // waits for the checkpoints it needs
	InProgress State = "in_progress" // being worked on or reworked
	Completed  State = "completed"   // passed; terminal for its commit
	Escalated  State = "escalated"   // waits for a human
)

// transitions lists where a state may go; anything else is refused.
var transitions = map[State][]State{
	"":         {Pending, InProgress},
	Pending:    {Pending, InProgress},
	InProgress: {InProgress, Completed, Escalated},
	Escalated:  {Escalated, InProgress, Completed},
	Completed:  {InProgress}, // a new commit, or a late failing part of the green run
}

// to returns cp in state next, or an error if that is not a transition.
func (cp Checkpoint) to(next State) (Checkpoint, error) {
	if cp.State == next {
		return cp, nil
	}
	for _, ok := range transitions[cp.State] {
		if ok == next {
			cp.State = next
			return cp, nil
		}
	}
	return cp, fmt.Errorf("checkpoint %q: no transition from %q to %q", cp.Name, cp.State, next)
}

// Case is the routing state of one subject (a pull request, a branch, a port)
// over all its checkpoints: the fold of the events of one ledger stream.
// A Case is a value: Apply returns a new one and never changes the old.
type Case struct {
	Key         string                `json:"key"`
	Version     int                   `json:"version"`    // events folded
	Generation  int                   `json:"generation"` // events that change what is shown: runs, human acts, and issues that were opened
	Checkpoints map[string]Checkpoint `json:"checkpoints"`
	Pending     []Effect              `json:"pending,omitempty"` // effects decided and not yet done, oldest first
	Done        map[string]string     `json:"done,omitempty"`    // effect slot → reference of what stands outside
	Lease       *Lease                `json:"lease,omitempty"`   // of the process that applies Pending
	Opened      time.Time             `json:"opened"`
	Updated     time.Time             `json:"updated"`
	Complete    bool                  `json:"complete"` // every checkpoint passed or was skipped
	Answered    map[string]Answered   `json:"answered,omitempty"`
	Handoff     *Handoff              `json:"handoff,omitempty"`     // active, of workers who are told in turn; replaced, never changed
	Handoffs    int                   `json:"handoffs,omitempty"`    // hand-offs to such workers so far
	Quarantine  []Quarantined         `json:"quarantine,omitempty"`  // tests whose failures do not count in this case
	Quarantines bool                  `json:"quarantines,omitempty"` // of a default branch: the repository has, or had, a quarantine
}

// Checkpoint is the state of one thing that has to pass.
type Checkpoint struct {
	Name       string              `json:"name"`
	State      State               `json:"state"`
	Limit      int                 `json:"limit"`   // reworks allowed, kept from when the streak opened
	Limited    bool                `json:"limited"` // Limit is set
	Retries    int                 `json:"refinement_count"`
	Iterations []Iteration         `json:"refinement_iterations,omitempty"`
	History    []Entry             `json:"routing_history,omitempty"`
	Attempts   []Attempt           `json:"attempts,omitempty"`
	Streak     int                 `json:"streak"` // grows with every green and every reset
	Runs       map[string]RunState `json:"runs,omitempty"`
	Last       Run                 `json:"last"`               // newest run that decided something
	Returned   map[string]int      `json:"returned,omitempty"` // commit → turn in which it was returned for a fix, this streak
	Phases     map[Phase]bool      `json:"phases,omitempty"`   // what is done
	LastError  string              `json:"last_error,omitempty"`
	Green      string              `json:"green,omitempty"` // commit that passed last
	Escalation *Escalation         `json:"escalation,omitempty"`
	Paused     bool                `json:"paused,omitempty"`  // by a human
	Rebased    bool                `json:"rebased,omitempty"` // a human went on: the next green sets the number of tests anew
	Skipped    bool                `json:"skipped,omitempty"`
	Held       []Verdict           `json:"held,omitempty"`     // verdicts of one run that wait for other checkpoints
	Extra      int                 `json:"extra,omitempty"`    // turns granted by a human on top of Limit
	Waiting    bool                `json:"waiting,omitempty"`  // a manual rework waits for its call
	Approval   bool                `json:"approval,omitempty"` // what waits needs a maintainer's approval of the newest commit
	Workers    []Worker            `json:"workers,omitempty"`  // who is told in turn once a hand-off that waits is released
	Withheld   []Effect            `json:"withheld,omitempty"` // effects that the call queues in place of a hand-off
	Notes      []string            `json:"notes,omitempty"`    // refinement notes, oldest first
	Opened     time.Time           `json:"opened"`
	Updated    time.Time           `json:"updated"`

	NoRerun bool `json:"no_rerun,omitempty"` // GitHub refused to run failed jobs again

	Floor       int          `json:"floor,omitempty"`  // turns up to which a human granted, whatever the limit
	Undone      int          `json:"undone,omitempty"` // turns that were taken back: their numbers are given again
	Redo        *Redo        `json:"redo,omitempty"`   // the newest run is to be decided anew
	WontFix     *Act         `json:"wont_fix,omitempty"`
	Corrections []Correction `json:"corrections,omitempty"`
	Acts        []Act        `json:"acts,omitempty"` // what humans did, oldest first
}

// RunState is what is known of one run: the verdicts of its parts and the
// gravest decision taken on it.
type RunState struct {
	Parts    map[string]Verdict `json:"parts"`
	Decision Decision           `json:"decision"`
	Decided  bool               `json:"decided"`
	At       time.Time          `json:"at,omitzero"`      // of Decision
	Seq      int                `json:"seq,omitempty"`    // 1-based place of the run among those of the checkpoint
	Streak   int                `json:"streak,omitempty"` // of the checkpoint when the run was recorded
}

// onlyRecorded is true if the run came while the checkpoint waited for a human,
// and was not decided.
func (r RunState) onlyRecorded() bool {
	return r.Decision.Kind == KindNone && (r.Decision.Waits || r.Decision.Again)
}

// Awaits reports whether nothing is known of the run but that it waits for an approval.
func (r RunState) Awaits() bool {
	for _, p := range r.Parts {
		if p.Result != Awaiting {
			return false
		}
	}
	return true
}

// failed reports whether the run is known and some part of it failed.
func (r RunState) failed() bool {
	for _, p := range r.Parts {
		if p.Result != Pass && !p.Result.Silent() {
			return true
		}
	}
	return false
}

// hasFailing reports whether a test failed in some part of the run.
func (r RunState) hasFailing(test string) bool {
	for _, p := range r.Parts {
		for _, f := range p.Failures {
			if f.IsTest(test) {
				return true
			}
		}
	}
	return false
}

// Iteration is one rework, as the source document's refinement_iterations.
type Iteration struct {
	Iteration      int       `json:"iteration"`
	AgentType      Phase     `json:"agent_type"`
	StartedAt      time.Time `json:"started_at"`
	ReviewFeedback string    `json:"review_feedback"`
	Result         string    `json:"result"` // in_progress, failed, success
	Streak         int       `json:"streak"`
}

// Entry is one line of a checkpoint's routing history.
type Entry struct {
	Iteration int       `json:"iteration"` // 1 for the first run analyzed
	Result    Kind      `json:"result"`
	Reason    string    `json:"reason,omitempty"` // the class, "" for PASS
	At        time.Time `json:"at"`
	Undone    bool      `json:"undone,omitempty"` // taken back by a human's answer
}

// Attempt is one decision that was taken, with the verdict it was taken on.
type Attempt struct {
	Streak    int       `json:"streak"`
	Iteration int       `json:"iteration"` // reworks returned for a fix, this one included
	Kind      Kind      `json:"kind"`
	Rule      string    `json:"rule"`
	Reason    string    `json:"reason,omitempty"`
	Phase     Phase     `json:"phase,omitempty"`
	Verdict   Verdict   `json:"verdict"`
	At        time.Time `json:"at"`
	Undone    bool      `json:"undone,omitempty"`     // taken back by a human's answer, or since its commit passed; it counts for nothing
	Flaky     []string  `json:"flaky,omitempty"`      // tests that failed and passed on its commit
	BaseFixed string    `json:"base_fixed,omitempty"` // commit of the base that passes what this was on hold for
}

// Escalation is the open call for a human of a checkpoint.
type Escalation struct {
	Kind     Kind      `json:"kind"`
	SHA      string    `json:"sha,omitempty"`
	Reason   string    `json:"reason"`
	OpenedAt time.Time `json:"opened_at"`
}

// clone returns a copy whose maps and slices may be changed.
func (c Case) clone() Case {
	cps := make(map[string]Checkpoint, len(c.Checkpoints))
	for k, v := range c.Checkpoints {
		cps[k] = v
	}
	c.Checkpoints = cps
	done := make(map[string]string, len(c.Done))
	for k, v := range c.Done {
		done[k] = v
	}
	c.Done = done
	c.Pending = append([]Effect(nil), c.Pending...)
	answered := make(map[string]Answered, len(c.Answered)+1)
	for k, v := range c.Answered {
		answered[k] = v
	}
	c.Answered = answered
	c.Quarantine = append([]Quarantined(nil), c.Quarantine...)
	return c
}

func (cp Checkpoint) clone() Checkpoint {
	runs := make(map[string]RunState, len(cp.Runs)+1)
	for k, v := range cp.Runs {
		runs[k] = v
	}
	cp.Runs = runs
	returned := make(map[string]int, len(cp.Returned)+1)
	for k, v := range cp.Returned {
		returned[k] = v
	}
	cp.Returned = returned
	phases := make(map[Phase]bool, 4)
	for k, v := range cp.Phases {
		phases[k] = v
	}
	cp.Phases = phases
	cp.Iterations = append([]Iteration(nil), cp.Iterations...)
	cp.History = append([]Entry(nil), cp.History...)
	cp.Attempts = append([]Attempt(nil), cp.Attempts...)
	cp.Notes = append([]string(nil), cp.Notes...)
	cp.Corrections = append([]Correction(nil), cp.Corrections...)
	cp.Acts = append([]Act(nil), cp.Acts...)
	return cp
}

// newestRun returns what is known of the newest run that decided something.
// asksToAccept reports whether a maintainer is asked about a green run. A new commit is decided anew.
func asksToAccept(cp Checkpoint) bool {
	return cp.State == Escalated && cp.Escalation != nil && cp.Escalation.Kind == KindSuspect
}

func (cp Checkpoint) newestRun() RunState { return cp.Runs[cp.Last.Key()] }

// wait notes whether what d starts waits for a call.
func (cp *Checkpoint) wait(d Decision) {
	cp.Waiting, cp.Approval, cp.Withheld, cp.Workers = d.Manual, d.Approval, d.Withheld, nil
	if d.Manual {
		cp.Workers = d.Workers
	}
}

// Approved reports whether a maintainer let agents be started for a commit.
func (cp Checkpoint) Approved(sha string) bool {
	for _, a := range cp.Acts {
		if a.Action == HumanHandoff && a.SHA == sha && sha != "" {
			return true
		}
	}
	return false
}

// beginAgain opens a new streak: counts and the kept limit start afresh.
func (cp *Checkpoint) beginAgain() {
	cp.Streak++
	cp.Retries, cp.Limit, cp.Limited, cp.Extra, cp.Floor, cp.Undone = 0, 0, false, 0, 0, 0
	cp.Returned = map[string]int{}
}

// settled is true for a checkpoint that has passed, and of which no run has
// been recorded since that waits to be decided.
func (cp Checkpoint) settled() bool { return cp.State == Completed && !cp.newestRun().onlyRecorded() }

// Story returns the attempts of the streak that the last attempt belongs to.
func (cp Checkpoint) Story() []Attempt {
	if len(cp.Attempts) == 0 {
		return nil
	}
	last := cp.Attempts[len(cp.Attempts)-1].Streak
	i := len(cp.Attempts)
	for i > 0 && cp.Attempts[i-1].Streak == last {
		i--
	}
	return cp.Attempts[i:]
}

// Names returns the names of the case's checkpoints, sorted.
func (c Case) Names() []string { return sortedKeys(c.Checkpoints) }

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// unmetNeeds returns the checkpoints that name waits for.
func (c Case) unmetNeeds(name string, p Policy) []string {
	var out []string
	for _, n := range p.Needs[name] {
		cp, ok := c.Checkpoints[n]
		if !ok || (cp.State != Completed && !cp.Skipped) {
			out = append(out, n)
		}
	}
	return out
}

// holder returns the checkpoint whose escalation or pause also holds name, ""
// if none does: name itself, one it needs (at any distance), or, with the
// scope of a case, any.
func (c Case) holder(name string, p Policy) string {
	if cp := c.Checkpoints[name]; cp.halted() {
		return name
	}
	if p.Scope == ScopeCase {
		for _, n := range c.Names() {
			if c.Checkpoints[n].halted() {
				return n
			}
		}
		return ""
	}
	seen := map[string]bool{name: true}
	queue := append([]string(nil), p.Needs[name]...)
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		if seen[n] {
			continue
		}
		seen[n] = true
		if c.Checkpoints[n].halted() {
			return n
		}
		queue = append(queue, p.Needs[n]...)
	}
	return ""
}

func (cp Checkpoint) halted() bool {
	return (cp.State == Escalated && !cp.Skipped) || cp.Paused
}
