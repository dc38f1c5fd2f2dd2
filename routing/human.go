package routing

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Answered is an answer that has been taken: who gave it, and what it did.
type Answered struct {
	Action HumanAction `json:"action"`
	By     string      `json:"by,omitempty"`
	At     time.Time   `json:"at"`
}

// Act is one thing that a human did to a checkpoint.
type Act struct {
	Action HumanAction `json:"action"`
	By     string      `json:"by,omitempty"`
	At     time.Time   `json:"at"`
	N      int         `json:"n,omitempty"`
	Phase  Phase       `json:"phase,omitempty"`
	Test   string      `json:"test,omitempty"`
	From   Class       `json:"from,omitempty"` // of wrong: what it was taken for
	Class  Class       `json:"class,omitempty"`
	SHA    string      `json:"sha,omitempty"` // the newest commit then
}

// Quarantined is a test whose failures do not count in a case until a time, as a human said. It
// holds for runs that were recorded before, and for those of which the quarantine of the repository
// was not read.
type Quarantined struct {
	Test  string    `json:"test"`
	By    string    `json:"by,omitempty"`
	At    time.Time `json:"at"`
	Until time.Time `json:"until"`
}

// Correction says that a failure was taken for the wrong class. Without a
// fingerprint it is of its run only.
type Correction struct {
	Run         string    `json:"run"` // Run.Key of the run that was corrected
	SHA         string    `json:"sha,omitempty"`
	Fingerprint string    `json:"fingerprint,omitempty"`
	From        Class     `json:"from"`
	To          Class     `json:"to"`
	By          string    `json:"by,omitempty"`
	At          time.Time `json:"at"`
}

func (c Case) applyHuman(e HumanActed, at time.Time) (Case, error) {
	cp, ok := c.Checkpoints[e.Checkpoint]
	if !ok {
		return c, unknownCheckpoint(c, e.Checkpoint)
	}
	h := humanChange{c: c, was: cp, cp: cp.clone(), e: e, at: at}
	if err := h.apply(); err != nil {
		return c, err
	}
	return h.c, nil
}

// humanChange carries out on a case what a human did to a checkpoint of it. Its
// methods change c and cp, which have to be clones.
type humanChange struct {
	c   Case
	was Checkpoint // before the act
	cp  Checkpoint
	e   HumanActed
	at  time.Time
}

func (h *humanChange) apply() error {
	cp, e := &h.cp, h.e
	cp.Updated = h.at
	act := Act{Action: e.Action, By: e.By, At: h.at, N: e.N, Phase: e.Phase, Test: e.Test, Class: e.Class, SHA: cp.Last.SHA}
	switch e.Action {
	case HumanPause:
		cp.Paused = true
	case HumanSkip:
		cp.Skipped, cp.Paused, cp.WontFix = true, false, nil
		cp.Escalation = nil // nobody is called any more: a later failure opens no issue
	case HumanResume, HumanReset, HumanExtend, HumanPhase, HumanRerun, HumanAccept:
		h.resume()
	case HumanQuarantine:
		h.quarantine()
	case HumanWrong:
		act.From = h.correct()
	case HumanWontFix:
		cp.WontFix = &act
	case HumanAck:
		h.acknowledge()
	case HumanHandoff:
		if !cp.Waiting {
			return Refuse("nothing-waits", "checkpoint {cp} has no hand-off that waits", "cp", cp.Name)
		}
		start := cp.Withheld
		if len(start) == 0 {
			start = []Effect{handoffEffect(h.c.Key, *cp, 0)}
			if len(cp.Workers) > 0 {
				start = []Effect{handoffEffect(h.c.Key, *cp, caseHandoff{&h.c}.place(cp.Name, cp.Last.SHA))}
				caseHandoff{&h.c}.begin(cp.Name, cp.Last.SHA, cp.Workers)
			}
		}
		cp.wait(Decision{})
		h.c.queue(start)
	default:
		return fmt.Errorf("unknown action %q", e.Action)
	}
	cp.Acts = append(cp.Acts, act)
	h.c.Checkpoints[cp.Name] = *cp
	if e.Answer != "" {
		h.c.Answered[e.Answer] = Answered{e.Action, e.By, h.at}
	}
	h.resumedHandoff()
	caseHandoff{&h.c}.keep()
	h.c.queue(h.effects())
	return nil
}

// resume resolves what waited for a human. What was recorded in between, and
// what the human returns for a fix, is decided anew.
func (h *humanChange) resume() {
	cp, e := &h.cp, h.e
	redo := &Redo{Action: e.Action, Phase: e.Phase, By: e.By}
	if cp.Escalation != nil {
		redo.Resolved = cp.Escalation.Kind
	}
	cp.Paused, cp.Escalation, cp.Skipped, cp.LastError, cp.WontFix = false, nil, false, "", nil
	if cp.State == Escalated {
		cp.State = InProgress
	}
	recorded := cp.newestRun().onlyRecorded()
	again := recorded || cp.State != Completed
	switch e.Action {
	case HumanResume:
		cp.Rebased = true
		if cp.Redo != nil { // asked for while it was paused
			return
		}
		again = recorded
	case HumanRerun:
		again = recorded
	case HumanReset:
		again = recorded || (again && cp.newestRun().failed())
		cp.Rebased = true
		cp.wait(Decision{})
		cp.beginAgain()
	case HumanExtend:
		cp.Extra += max(0, e.N)
		cp.Floor = max(cp.Floor, cp.Retries+max(1, e.N))
	case HumanPhase:
		cp.Floor = max(cp.Floor, cp.Retries+1)
	}
	cp.Redo = nil
	if again {
		cp.ask(redo)
	}
}

// ask wants the newest run decided anew; one that is held is newer still, and
// is decided when nothing holds it.
func (cp *Checkpoint) ask(r *Redo) {
	if len(cp.newestRun().Parts) > 0 && len(cp.Held) == 0 {
		cp.Redo = r
	}
}

// quarantine takes a test out of the count; the newest run is decided anew if
// the test failed in it.
func (h *humanChange) quarantine() {
	c, cp, e := &h.c, &h.cp, h.e
	until := e.Until
	if until.IsZero() {
		until = h.at.Add(DefaultQuarantine)
	}
	if latest := h.at.Add(MaxQuarantine); until.After(latest) {
		until = latest
	}
	for _, q := range c.Quarantine {
		if q.Test == e.Test && h.at.Before(q.Until) && !until.After(q.Until) {
			return
		}
	}
	c.Quarantine = slices.DeleteFunc(c.Quarantine, func(q Quarantined) bool { return q.Test == e.Test })
	c.Quarantine = append(c.Quarantine, Quarantined{e.Test, e.By, h.at, until})
	for _, name := range c.Names() {
		other := c.Checkpoints[name]
		if name == cp.Name {
			other = *cp
		}
		if other.settled() || !other.newestRun().hasFailing(e.Test) {
			continue
		}
		other.ask(&Redo{Action: e.Action, By: e.By})
		if name == cp.Name {
			*cp = other
		}
		c.Checkpoints[name] = other
	}
}

// correct notes the right class of the newest run's decisive failures, and
// returns what they were taken for.
func (h *humanChange) correct() Class {
	cp, e := &h.cp, h.e
	v, ok := h.c.newest(*cp)
	if !ok {
		return ""
	}
	fix := Correction{Run: cp.Last.Key(), SHA: cp.Last.SHA, From: v.Class, To: e.Class, By: e.By, At: h.at}
	prints := map[string]bool{}
	for _, f := range v.Failures {
		if f.Decisive && f.Class == v.Class && !f.Quarantined {
			prints[f.Fingerprint] = true
		}
	}
	if len(prints) == 0 {
		prints[""] = true
	}
	for _, p := range sortedKeys(prints) {
		fix.Fingerprint = p
		cp.Corrections = append(cp.Corrections, fix)
	}
	cp.ask(&Redo{Action: e.Action, By: e.By})
	return v.Class
}

// effects show what a human did: on the pull request, on the check, and on the
// issue that called for it.
func (h *humanChange) effects() []Effect {
	c, cp, e := h.c, h.cp, h.e
	mk := func(k EffectKind, slot string) Effect {
		return Effect{
			Kind: k, Key: fmt.Sprintf("%s/%d", effectKey(c.Key, cp, cp.Retries, k), c.Generation),
			Slot: cp.Name + "/" + slot, Checkpoint: cp.Name, Iteration: cp.Retries, SHA: cp.Last.SHA,
		}
	}
	var out []Effect
	show := func(kinds ...EffectKind) {
		for _, k := range kinds {
			slot := string(k)
			if k == EffectCheck {
				if cp.Last.SHA == "" {
					continue
				}
				slot += "/" + cp.Last.SHA
			}
			out = append(out, mk(k, slot))
		}
	}
	switch e.Action {
	case HumanHandoff:
		if h.was.Approval {
			show(EffectComment) // which says that it waits
		}
	case HumanPause:
		show(EffectComment, EffectLabel)
	case HumanAck:
		show(EffectComment)
	case HumanQuarantine, HumanWrong:
		show(EffectComment)
		if h.was.Escalation != nil && cp.Redo != nil && !cp.Paused {
			show(EffectLabel, EffectClose)
		}
	default:
		show(EffectComment, EffectCheck, EffectLabel, EffectClose)
	}
	if e.Action == HumanRerun {
		again := mk(EffectRerun, string(EffectRerun))
		again.Target = fmt.Sprintf("%s/%d", cp.Last.ID, max(cp.Last.Attempt, 1))
		again.Key = fmt.Sprintf("%s/%s/%s/rerun", c.Key, cp.Name, cp.Last.Key())
		out = append(out, again)
	}
	if id := commentOf(e.Answer); id != "" {
		out = append(out, Effect{
			Kind: EffectReact, Key: fmt.Sprintf("%s/react/%s", c.Key, id), Slot: "react/" + id, Checkpoint: cp.Name, Target: id,
		})
	}
	return out
}

// commentOf returns the id of the comment that an answer was given by, "" if
// it was given otherwise.
func commentOf(answer string) string {
	rest, ok := strings.CutPrefix(answer, "comment/")
	if !ok {
		return ""
	}
	id, _, _ := strings.Cut(rest, "/")
	return id
}

// handoffEffect returns the effect that hands a checkpoint off: to the worker at a place, from 1, of
// those who are told in turn, or with 0 to all at once.
func handoffEffect(key string, cp Checkpoint, place int) Effect {
	e := Effect{
		Kind: EffectHandoff, Key: effectKey(key, cp, cp.Retries, EffectHandoff),
		Slot: cp.Name + "/" + string(EffectHandoff), Checkpoint: cp.Name, Iteration: cp.Retries, SHA: cp.Last.SHA,
	}
	if place > 0 {
		e.Target = strconv.Itoa(place)
		e.Key += "/" + e.Target
	}
	return e
}
