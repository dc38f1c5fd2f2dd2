package routing

import (
	"fmt"
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

// Quarantined is a test whose failures do not count in a case, as a human said.
type Quarantined struct {
	Test string    `json:"test"`
	By   string    `json:"by,omitempty"`
	At   time.Time `json:"at"`
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

// Admit returns why a human's act cannot be taken now: a *StaleAnswerError or
// a *RefusedError. An answer that was taken before is no error; it does nothing.
// What a ledger holds was admitted when it was written, so Apply does not ask.
func (c Case) Admit(e HumanActed) error {
	if _, known := c.Answered[e.Answer]; known {
		return nil
	}
	cp, ok := c.Checkpoints[e.Checkpoint]
	if !ok {
		return c.unknown(e.Checkpoint)
	}
	if e.SHA != "" && cp.Last.SHA != "" && e.SHA != cp.Last.SHA {
		return &StaleAnswerError{cp.Name, e.SHA, cp.Last.SHA}
	}
	switch e.Action {
	case HumanExtend:
		return cp.admitTurn()
	case HumanPhase:
		return c.admitPhase(cp, e.Phase)
	case HumanRerun:
		return cp.admitRerun()
	case HumanWrong:
		return c.admitWrong(cp, e.Class)
	case HumanQuarantine:
		if strings.TrimSpace(e.Test) == "" {
			return Refuse("no-test", "name the test to put into quarantine")
		}
	case HumanWontFix:
		if cp.State != Escalated {
			return Refuse("not-escalated", "checkpoint {cp} is not escalated, so there is nothing to leave unfixed", "cp", cp.Name)
		}
	}
	return nil
}

func (c Case) unknown(checkpoint string) error {
	return Refuse("no-checkpoint", "no checkpoint {cp}; known are {known}", "cp", checkpoint, "known", c.Names())
}

// admitTurn refuses a turn beyond the cap that no human lifts either.
func (cp Checkpoint) admitTurn() error {
	if cp.Retries >= HardCap && !cp.Waiting {
		return Refuse("hard-cap", "checkpoint {cp} was returned for a fix {n} times, the most there may be is {max}; reset it first", "n", cp.Retries, "max", HardCap, "cp", cp.Name)
	}
	return nil
}

func (c Case) admitPhase(cp Checkpoint, p Phase) error {
	switch p {
	case Research, Plan, Implement:
	default:
		return Refuse("no-phase", "{phase} is not a phase that work can be sent back to; known are {known}", "phase", string(p), "known", []string{string(Research), string(Plan), string(Implement)})
	}
	if v, ok := c.newest(cp); !ok || v.green() || cp.settled() {
		return Refuse("nothing-failed", "checkpoint {cp} has no failure to send back", "cp", cp.Name)
	}
	return cp.admitTurn()
}

func (cp Checkpoint) admitRerun() error {
	run := cp.Runs[cp.Last.Key()]
	for _, p := range run.Parts {
		if p.Review != nil {
			return Refuse("review-rerun", "the newest verdict of checkpoint {cp} is a review, which cannot be run again", "cp", cp.Name)
		}
	}
	if _, err := strconv.ParseInt(cp.Last.ID, 10, 64); err != nil || len(run.Parts) == 0 {
		return Refuse("no-rerun", "checkpoint {cp} has no run that can be run again", "cp", cp.Name)
	}
	if cp.settled() {
		return Refuse("passed", "checkpoint {cp} has passed", "cp", cp.Name)
	}
	return nil
}

func (c Case) admitWrong(cp Checkpoint, to Class) error {
	switch {
	case !to.Valid():
		return Refuse("no-class", "{class} is not a class; known are {known}", "class", string(to), "known", classNames())
	case to == Flaky || to == Unknown:
		return Refuse("class-not-routed", "{class} is not a class that failures are routed by; for a flaky test use `quarantine TEST`", "class", string(to))
	}
	v, ok := c.newest(cp)
	if !ok || v.Result == Pass || cp.settled() {
		return Refuse("no-class-to-correct", "the newest run of checkpoint {cp} has no failure whose class could be wrong", "cp", cp.Name)
	}
	if v.Class == to {
		return Refuse("same-class", "the failure is already classified as {class}", "class", string(to))
	}
	return nil
}

func classNames() []string {
	var out []string
	for _, k := range Classes() {
		if k != Flaky && k != Unknown {
			out = append(out, string(k))
		}
	}
	return out
}

// settled is true for a checkpoint that has passed, and of which no run has
// been recorded since that waits to be decided.
func (cp Checkpoint) settled() bool { return cp.State == Completed && !cp.onlyRecorded() }

// onlyRecorded is true if the newest run came while the checkpoint waited for
// a human, and was not decided.
func (cp Checkpoint) onlyRecorded() bool {
	d := cp.Runs[cp.Last.Key()].Decision
	return d.Kind == KindNone && (d.Waits || d.Again)
}

func (c Case) applyHuman(e HumanActed, at time.Time) (Case, error) {
	cp, ok := c.Checkpoints[e.Checkpoint]
	if !ok {
		return c, c.unknown(e.Checkpoint)
	}
	was := cp
	cp = cp.clone()
	cp.Updated = at
	act := Act{Action: e.Action, By: e.By, At: at, N: e.N, Phase: e.Phase, Test: e.Test, Class: e.Class, SHA: cp.Last.SHA}
	switch e.Action {
	case HumanPause:
		cp.Paused = true
	case HumanSkip:
		cp.Skipped, cp.Paused, cp.WontFix = true, false, nil
		cp.Escalation = nil // nobody is called any more: a later failure opens no issue
	case HumanResume, HumanReset, HumanExtend, HumanPhase, HumanRerun:
		cp.goOn(e)
	case HumanQuarantine:
		c.quarantine(&cp, e, at)
	case HumanWrong:
		act.From = c.correct(&cp, e, at)
	case HumanWontFix:
		cp.WontFix = &act
	case HumanHandoff:
		if !cp.Waiting {
			return c, Refuse("nothing-waits", "checkpoint {cp} has no hand-off that waits", "cp", cp.Name)
		}
		cp.Waiting = false
		c.queue([]Effect{handoffEffect(c.Key, cp)})
	default:
		return c, fmt.Errorf("unknown action %q", e.Action)
	}
	cp.Acts = append(cp.Acts, act)
	c.Checkpoints[cp.Name] = cp
	if e.Answer != "" {
		c.Answered[e.Answer] = Answered{e.Action, e.By, at}
	}
	c.queue(c.humanEffects(was, cp, e))
	return c, nil
}

// goOn resolves what waited for a human. What was recorded in between, and
// what the human returns for a fix, is decided anew.
func (cp *Checkpoint) goOn(e HumanActed) {
	redo := &Redo{Action: e.Action, Phase: e.Phase, By: e.By}
	if cp.Escalation != nil {
		redo.Resolved = cp.Escalation.Kind
	}
	cp.Paused, cp.Escalation, cp.Skipped, cp.LastError, cp.WontFix = false, nil, false, "", nil
	if cp.State == Escalated {
		cp.State = InProgress
	}
	recorded := cp.onlyRecorded()
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
		again = recorded || (again && cp.failed())
		cp.Rebased, cp.Waiting = true, false
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

// failed reports whether the newest run is known and some part of it failed.
func (cp Checkpoint) failed() bool {
	for _, p := range cp.Runs[cp.Last.Key()].Parts {
		if p.Result != Pass && p.Result != Errored {
			return true
		}
	}
	return false
}

// ask wants the newest run decided anew; one that is held is newer still, and
// is decided when nothing holds it.
func (cp *Checkpoint) ask(r *Redo) {
	if len(cp.Runs[cp.Last.Key()].Parts) > 0 && len(cp.Held) == 0 {
		cp.Redo = r
	}
}

// quarantine takes a test out of the count; the newest run is decided anew if
// the test failed in it.
func (c *Case) quarantine(cp *Checkpoint, e HumanActed, at time.Time) {
	for _, q := range c.Quarantine {
		if q.Test == e.Test {
			return
		}
	}
	c.Quarantine = append(c.Quarantine, Quarantined{e.Test, e.By, at})
	for _, name := range c.Names() {
		other := c.Checkpoints[name]
		if name == cp.Name {
			other = *cp
		}
		if other.settled() || !other.hasFailing(e.Test) {
			continue
		}
		other.ask(&Redo{Action: e.Action, By: e.By})
		if name == cp.Name {
			*cp = other
		}
		c.Checkpoints[name] = other
	}
}

func (cp Checkpoint) hasFailing(test string) bool {
	for _, p := range cp.Runs[cp.Last.Key()].Parts {
		for _, f := range p.Failures {
			if f.IsTest(test) {
				return true
			}
		}
	}
	return false
}

// correct notes the right class of the newest run's decisive failures, and
// returns what they were taken for.
func (c Case) correct(cp *Checkpoint, e HumanActed, at time.Time) Class {
	v, ok := c.newest(*cp)
	if !ok {
		return ""
	}
	fix := Correction{Run: cp.Last.Key(), SHA: cp.Last.SHA, From: v.Class, To: e.Class, By: e.By, At: at}
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

// humanEffects show what a human did: on the pull request, on the check, and
// on the issue that called for it.
func (c Case) humanEffects(was, cp Checkpoint, e HumanActed) []Effect {
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
	case HumanPause:
		show(EffectComment, EffectLabel)
	case HumanQuarantine, HumanWrong:
		show(EffectComment)
		if was.Escalation != nil && cp.Redo != nil && !cp.Paused {
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

func handoffEffect(key string, cp Checkpoint) Effect {
	return Effect{
		Kind: EffectHandoff, Key: effectKey(key, cp, cp.Retries, EffectHandoff),
		Slot: cp.Name + "/" + string(EffectHandoff), Checkpoint: cp.Name, Iteration: cp.Retries, SHA: cp.Last.SHA,
	}
}
