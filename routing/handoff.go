package routing

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Worker is one of those who are told in turn about a failure that is returned for a fix.
type Worker struct {
	Name    string        `json:"name"`                     // as people read it, such as claude or fix.yml, without @
	Ack     time.Duration `json:"ack_within,omitempty"`     // for an acknowledgement; 0: none is asked for
	Deliver time.Duration `json:"deliver_within,omitempty"` // for a new commit; 0: any time
}

// Handoff is the active hand-off of a case whose workers are told in turn: one of them holds it, for
// all checkpoints of a commit that were returned for a fix. Its times are GitHub's, so that processes
// whose clocks differ agree on when a worker's time is over.
type Handoff struct {
	Number      int          `json:"number"` // of the hand-offs of the case, from 1
	SHA         string       `json:"sha,omitempty"`
	Checkpoints []string     `json:"checkpoints"`
	Workers     []Worker     `json:"workers"`
	Place       int          `json:"place"`                 // index of the worker who holds it
	Told        time.Time    `json:"told,omitzero"`         // when that worker was told; zero: not yet
	From        time.Time    `json:"from,omitzero"`         // from when that worker's time counts: Told, and what was waited since
	Unreached   bool         `json:"unreached,omitempty"`   // that worker could not be told
	Acknowledge *HandoffAck  `json:"acknowledge,omitempty"` // by that worker, nil as long as there is none
	Pushed      string       `json:"pushed,omitempty"`      // newer commit; its run ends the hand-off
	Waits       *HandoffWait `json:"waits,omitempty"`       // a run waits for an approval
	Passed      []PassedOver `json:"passed,omitempty"`      // workers whose time ran out, in their order
}

// HandoffAck is the acknowledgement of a hand-off.
type HandoffAck struct {
	How AckHow    `json:"how"`
	By  string    `json:"by,omitempty"` // login, "" if unknown
	At  time.Time `json:"at"`
}

// AckHow says by what a hand-off was acknowledged.
type AckHow string

// The ways to acknowledge a hand-off.
const (
	AckRun      AckHow = "run"      // a run that carries its key has begun
	AckReaction AckHow = "reaction" // of the worker's login to the comment that tells
	AckComment  AckHow = "comment"  // of the worker's login
	AckPush     AckHow = "push"     // of a newer commit, by anybody
	AckCommand  AckHow = "command"  // of a person
)

// HandoffWait is the wait of a run for an approval, while which no worker's time passes.
type HandoffWait struct {
	URL   string    `json:"url,omitempty"` // of the run
	Since time.Time `json:"since"`
}

// PassedOver is a worker whose time ran out.
type PassedOver struct {
	Worker Worker    `json:"worker"`
	Why    ExpiredBy `json:"why"`
	At     time.Time `json:"at"`
}

// ExpiredBy says which time of a worker ran out.
type ExpiredBy string

// The times of a worker.
const (
	ExpiredAck     ExpiredBy = "ack"
	ExpiredDeliver ExpiredBy = "deliver"
	ExpiredAtOnce  ExpiredBy = "unreached" // the worker could not be told
)

// Worker returns the worker who holds the hand-off.
func (h Handoff) Worker() Worker { return h.Workers[h.Place] }

// Deadline returns when the worker who holds the hand-off is passed over, and by which of the times.
// It is not ok as long as no time passes: before the worker is told, while a run waits for an
// approval, once a newer commit is pushed, and for a worker without limits.
func (h Handoff) Deadline() (at time.Time, by ExpiredBy, ok bool) {
	w := h.Worker()
	switch {
	case h.Told.IsZero() || h.Waits != nil || h.Pushed != "":
		return time.Time{}, "", false
	case h.Unreached:
		return h.Told, ExpiredAtOnce, true
	case h.Acknowledge == nil && w.Ack > 0 && (w.Deliver <= 0 || w.Ack <= w.Deliver):
		return h.From.Add(w.Ack), ExpiredAck, true
	case w.Deliver > 0:
		return h.From.Add(w.Deliver), ExpiredDeliver, true
	}
	return time.Time{}, "", false
}

// Key returns the key of the effect that told the worker who holds the hand-off about a checkpoint.
// A run that carries it is the worker's.
func (h Handoff) Key(c Case, checkpoint string) string {
	return handoffEffect(c.Key, c.Checkpoints[checkpoint], h.Place+1).Key
}

// HandoffDue reports whether the time of the worker who holds the hand-off of a case is over at now,
// which is GitHub's. No time passes while people paused all that was handed off.
func HandoffDue(c Case, now time.Time) bool {
	h := c.Handoff
	if h == nil || !slices.ContainsFunc(h.Checkpoints, func(name string) bool { return !c.Checkpoints[name].Paused }) {
		return false
	}
	at, _, ok := h.Deadline()
	return ok && !now.Before(at)
}

// TellsHolder reports whether an effect tells the worker who holds the hand-off of a case, or does not
// belong to workers who are told in turn.
func TellsHolder(c Case, e Effect) bool {
	if e.Kind != EffectHandoff || e.Target == "" {
		return true
	}
	h := c.Handoff
	return h != nil && e.Target == strconv.Itoa(h.Place+1) && slices.Contains(h.Checkpoints, e.Checkpoint)
}

// HandoffChange is what happened to an active hand-off.
type HandoffChange string

// What happens to a hand-off.
const (
	HandoffAcknowledged HandoffChange = "acknowledged"
	HandoffWaits        HandoffChange = "waits"     // a run waits for an approval
	HandoffContinues    HandoffChange = "continues" // that run waits no longer
	HandoffExpired      HandoffChange = "expired"   // the worker's time is over; the next one holds it
	HandoffEnded        HandoffChange = "ended"     // nobody needs to be told: the pull request is closed
)

// HandoffChanged is the payload of EventHandoff.
type HandoffChanged struct {
	Number int           `json:"number"` // of the hand-off
	Place  int           `json:"place"`  // of the worker who holds it
	Change HandoffChange `json:"change"`
	How    AckHow        `json:"how,omitempty"` // of an acknowledgement
	By     string        `json:"by,omitempty"`  // login of who acknowledged
	SHA    string        `json:"sha,omitempty"` // of a push: the newer commit
	URL    string        `json:"url,omitempty"` // of the run that waits
	At     time.Time     `json:"at"`            // as GitHub has it
	Lease  *Lease        `json:"lease,omitempty"`
}

// HandoffEvent returns the event that records what happened to a hand-off.
func HandoffEvent(caseKey string, p HandoffChanged, now time.Time) Event {
	return Event{Type: EventHandoff, At: now, Stream: caseKey, Data: p}
}

// Handoff returns what happened to a hand-off, and false for any other event.
func (e Event) Handoff() (HandoffChanged, bool) {
	p, err := PayloadOf[HandoffChanged](e)
	return p, err == nil && e.Type == EventHandoff
}

// Changes reports whether p says something of the case's active hand-off that is not known.
func (p HandoffChanged) Changes(c Case) bool {
	h := c.Handoff
	if h == nil || h.Number != p.Number || h.Place != p.Place {
		return false
	}
	switch p.Change {
	case HandoffAcknowledged:
		return h.Acknowledge == nil || p.How == AckPush && h.Pushed != p.SHA
	case HandoffWaits:
		return h.Waits == nil
	case HandoffContinues:
		return h.Waits != nil
	case HandoffExpired:
		return HandoffDue(c, p.At)
	}
	return true
}

// applyHandoff notes what happened to the active hand-off. The next worker is told by an effect.
func applyHandoff(c Case, p HandoffChanged) Case {
	if c.Handoff == nil || c.Handoff.Number != p.Number || c.Handoff.Place != p.Place {
		return c
	}
	own := caseHandoff{&c}
	h := own.change()
	told := h.Checkpoints
	switch p.Change {
	case HandoffAcknowledged:
		if h.Acknowledge == nil {
			h.Acknowledge = &HandoffAck{p.How, p.By, p.At}
		}
		if p.How == AckPush {
			h.Pushed = p.SHA
		}
	case HandoffWaits:
		h.Waits = &HandoffWait{p.URL, p.At}
	case HandoffContinues:
		h.resume(p.At)
	case HandoffExpired:
		own.passOver(p.At)
		return c
	case HandoffEnded:
		c.Handoff = nil
	}
	own.show(told)
	return c
}

// caseHandoff changes the active hand-off of a case, which has to be a clone.
type caseHandoff struct{ *Case }

// change returns a copy of the hand-off that may be changed, which is the case's from then on.
func (c caseHandoff) change() *Handoff {
	h := *c.Handoff
	h.Checkpoints, h.Passed = slices.Clone(h.Checkpoints), slices.Clone(h.Passed)
	c.Handoff = &h
	return &h
}

// resume lets the worker's time pass again: what was waited does not count.
func (h *Handoff) resume(at time.Time) {
	if h.Waits == nil {
		return
	}
	if !h.Told.IsZero() {
		h.From = h.From.Add(max(0, at.Sub(h.Waits.Since)))
	}
	h.Waits = nil
}

// passOver gives the hand-off to the next worker. After the last one its checkpoints are decided anew:
// a maintainer is asked.
func (c caseHandoff) passOver(at time.Time) {
	h := c.change()
	_, why, _ := h.Deadline()
	h.Passed = append(h.Passed, PassedOver{h.Worker(), why, at})
	h.Told, h.From, h.Unreached, h.Acknowledge, h.Waits = time.Time{}, time.Time{}, false, nil, nil
	if h.Place+1 == len(h.Workers) {
		c.Handoff = nil
		for _, name := range h.Checkpoints {
			cp := c.Checkpoints[name].clone()
			cp.ask(&Redo{Action: redoUnanswered, Why: unanswered(h.Passed)})
			c.Checkpoints[name] = cp
		}
		return
	}
	h.Place++
	for _, name := range h.Checkpoints {
		c.queue([]Effect{handoffEffect(c.Key, c.Checkpoints[name], h.Place+1)})
	}
	c.show(h.Checkpoints)
}

// show brings the comments of checkpoints up to date.
func (c caseHandoff) show(checkpoints []string) {
	for _, name := range checkpoints {
		cp := c.Checkpoints[name]
		c.queue([]Effect{{
			Kind: EffectComment, Key: fmt.Sprintf("%s/%d", effectKey(c.Key, cp, cp.Retries, EffectComment), c.Generation),
			Slot: name + "/" + string(EffectComment), Checkpoint: name, Iteration: cp.Retries, SHA: cp.Last.SHA,
		}})
	}
}

// unanswered says in words who was told, and what they did not do.
func unanswered(passed []PassedOver) string {
	out := make([]string, 0, len(passed))
	for _, p := range passed {
		switch p.Why {
		case ExpiredAck:
			out = append(out, fmt.Sprintf("%s did not acknowledge within %s", p.Worker.Name, ShortDuration(p.Worker.Ack)))
		case ExpiredDeliver:
			out = append(out, fmt.Sprintf("%s did not push within %s", p.Worker.Name, ShortDuration(p.Worker.Deliver)))
		default:
			out = append(out, p.Worker.Name+" could not be told")
		}
	}
	return strings.Join(out, "; ")
}

// redoUnanswered decides a run anew whose workers did not answer.
const redoUnanswered HumanAction = "unanswered"

// decideUnanswered asks a maintainer where every worker was told in vain.
func decideUnanswered(s input) (Decision, bool) {
	if s.redo == nil || s.redo.Action != redoUnanswered || s.m.green() {
		return Decision{}, false
	}
	return escalate(KindNoAnswer, orElse(s.redo.Why, "nobody answered the hand-off")), true
}

// noAnswer reports whether a checkpoint waits for a maintainer because no worker answered. Whoever
// pushes a commit nevertheless has it decided as ever.
func noAnswer(cp Checkpoint) bool {
	return cp.State == Escalated && cp.Escalation != nil && cp.Escalation.Kind == KindNoAnswer
}

// answered reports whether an attempt is an escalation that only an answer can have ended: what came
// after it begins anew. A new commit ends the others by itself.
func (t Attempt) answered() bool {
	return t.Kind.Escalates() && t.Kind != KindSuspect && t.Kind != KindNoAnswer && !t.Undone
}

// lateDelivery reports whether v is of a newer commit than the one that no worker answered to.
func lateDelivery(s input) bool {
	return noAnswer(s.cp) && !s.cp.Paused && s.v.Run.SHA != "" && s.v.Run.SHA != s.cp.Escalation.SHA
}

// place returns the place, from 1, of the worker who is told about a checkpoint: the one who holds the
// case for the commit already, or the first.
func (c caseHandoff) place(checkpoint, sha string) int {
	if c.joins(checkpoint, sha) {
		return c.Handoff.Place + 1
	}
	return 1
}

// joins reports whether a checkpoint is handed off to whoever holds the case for the commit already.
func (c caseHandoff) joins(checkpoint, sha string) bool {
	h := c.Handoff
	return h != nil && sha != "" && h.SHA == sha && !slices.Contains(h.Checkpoints, checkpoint)
}

// begin hands a checkpoint off to the first of its workers, or joins it to what the case has
// handed off of the commit.
func (c caseHandoff) begin(checkpoint, sha string, workers []Worker) {
	if c.joins(checkpoint, sha) {
		h := c.change()
		h.Checkpoints = append(h.Checkpoints, checkpoint)
		return
	}
	next := Handoff{SHA: sha, Checkpoints: []string{checkpoint}, Workers: workers}
	if h := c.Handoff; h != nil && h.SHA == sha && sha != "" { // begun again for one, it goes on for the others
		for _, name := range h.Checkpoints {
			if name != checkpoint {
				next.Checkpoints = append(next.Checkpoints, name)
			}
		}
	}
	c.Handoffs++
	next.Number = c.Handoffs
	c.Handoff = &next
}

// ran notes what a recorded run means for the active hand-off: one of a newer commit is what
// was waited for, whoever pushed it.
func (c caseHandoff) ran(v Verdict, d Decision, at time.Time) {
	h := c.Handoff
	if h == nil {
		return
	}
	newer := v.Run.SHA != h.SHA && d.Rule != "stale-commit" && d.Rule != "stale-run"
	switch {
	case newer && v.Result == Awaiting && h.Waits == nil:
		h = c.change()
		h.Waits, h.Pushed = &HandoffWait{v.Run.URL, at}, v.Run.SHA
		if h.Acknowledge == nil {
			h.Acknowledge = &HandoffAck{How: AckPush, At: at}
		}
		c.show(h.Checkpoints)
	case newer && !v.Result.Silent() && !d.Held, !newer && h.SHA == "" && slices.Contains(h.Checkpoints, v.Checkpoint) && !d.Again:
		c.Handoff = nil
	}
	c.keep()
}

// keep takes checkpoints out of the active hand-off of which nothing is to be fixed any more.
func (c caseHandoff) keep() {
	if c.Handoff == nil {
		return
	}
	kept := slices.DeleteFunc(slices.Clone(c.Handoff.Checkpoints), func(name string) bool { return !returned(c.Checkpoints[name]) })
	switch {
	case len(kept) == 0:
		c.Handoff = nil
	case len(kept) < len(c.Handoff.Checkpoints):
		c.change().Checkpoints = kept
	}
}

// returned reports whether a checkpoint was returned for a fix, and that is what it waits for.
func returned(cp Checkpoint) bool {
	n := len(cp.Attempts)
	return n > 0 && cp.State == InProgress && !cp.Skipped && cp.Attempts[n-1].Kind == KindRetry && !cp.Attempts[n-1].Undone
}

// told notes that the worker who holds the hand-off was told, or cannot be.
func (c caseHandoff) told(e EffectDone, at time.Time) {
	if e.Effect.Kind != EffectHandoff || e.Effect.Target == "" || !TellsHolder(*c.Case, e.Effect) || !c.Handoff.Told.IsZero() {
		return
	}
	h := c.change()
	h.Told = e.At
	if h.Told.IsZero() {
		h.Told = at
	}
	h.From, h.Unreached = h.Told, e.Ref == "" || e.Note != ""
}

// acknowledge notes that a person took over the hand-off of a checkpoint for its worker.
func (h *humanChange) acknowledge() {
	if h.c.Handoff == nil || h.c.Handoff.Acknowledge != nil || !slices.Contains(h.c.Handoff.Checkpoints, h.cp.Name) {
		return
	}
	caseHandoff{&h.c}.change().Acknowledge = &HandoffAck{AckCommand, h.e.By, h.clock()}
}

// clock returns when the person acted, as GitHub has it if that is known.
func (h *humanChange) clock() time.Time {
	if !h.e.Clock.IsZero() {
		return h.e.Clock
	}
	return h.at
}

// resumedHandoff lets the time of the worker begin anew whose checkpoint was paused.
func (h *humanChange) resumedHandoff() {
	if now := h.c.Handoff; now == nil || !h.was.Paused || h.cp.Paused || now.Told.IsZero() || !slices.Contains(now.Checkpoints, h.cp.Name) {
		return
	}
	if at := h.clock(); at.After(h.c.Handoff.From) {
		caseHandoff{&h.c}.change().From = at
	}
}

// ack refuses an acknowledgement of what is not handed off.
func (a admission) ack(c Case) error {
	if c.Handoff == nil || !slices.Contains(c.Handoff.Checkpoints, a.cp.Name) {
		return Refuse("no-handoff", "checkpoint {cp} is not handed off to workers who are told in turn, so there is nothing to acknowledge", "cp", a.cp.Name)
	}
	if c.Handoff.Acknowledge != nil {
		return Refuse("acknowledged", "the hand-off to {worker} is acknowledged already", "worker", c.Handoff.Worker().Name)
	}
	return nil
}
