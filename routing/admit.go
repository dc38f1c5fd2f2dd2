package routing

import (
	"strconv"
	"strings"
)

// Admit returns why a human's act cannot be taken now: a *StaleAnswerError or
// a *RefusedError. An answer that was taken before is no error; it does nothing.
// What a ledger holds was admitted when it was written, so Apply does not ask.
func (c Case) Admit(e HumanActed) error {
	if _, known := c.Answered[e.Answer]; known {
		return nil
	}
	cp, ok := c.Checkpoints[e.Checkpoint]
	if !ok {
		return unknownCheckpoint(c, e.Checkpoint)
	}
	if e.SHA != "" && cp.Last.SHA != "" && e.SHA != cp.Last.SHA {
		return &StaleAnswerError{cp.Name, e.SHA, cp.Last.SHA}
	}
	a := admission{cp: cp, e: e}
	a.newest, a.known = c.newest(cp)
	switch e.Action {
	case HumanExtend:
		return a.turn()
	case HumanPhase:
		return a.phase()
	case HumanRerun:
		return a.rerun()
	case HumanWrong:
		return a.wrong()
	case HumanAccept:
		return a.accept()
	case HumanAck:
		return a.ack(c)
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

func unknownCheckpoint(c Case, name string) error {
	return Refuse("no-checkpoint", "no checkpoint {cp}; known are {known}", "cp", name, "known", c.Names())
}

// admission is the question whether a human's act on a checkpoint can be taken
// now. Each method answers it for one action.
type admission struct {
	cp     Checkpoint
	e      HumanActed
	newest Verdict // of the newest run
	known  bool    // there is a newest run
}

// turn refuses a turn beyond the cap that no human lifts either.
func (a admission) turn() error {
	if a.cp.Retries >= HardCap && !a.cp.Waiting {
		return Refuse("hard-cap", "checkpoint {cp} was returned for a fix {n} times, the most there may be is {max}; reset it first", "n", a.cp.Retries, "max", HardCap, "cp", a.cp.Name)
	}
	return nil
}

func (a admission) phase() error {
	switch a.e.Phase {
	case Research, Plan, Implement:
	default:
		return Refuse("no-phase", "{phase} is not a phase that work can be sent back to; known are {known}", "phase", string(a.e.Phase), "known", []string{string(Research), string(Plan), string(Implement)})
	}
	if !a.known || a.newest.green() || a.cp.settled() {
		return Refuse("nothing-failed", "checkpoint {cp} has no failure to send back", "cp", a.cp.Name)
	}
	return a.turn()
}

func (a admission) rerun() error {
	run := a.cp.newestRun()
	for _, p := range run.Parts {
		if p.Review != nil {
			return Refuse("review-rerun", "the newest verdict of checkpoint {cp} is a review, which cannot be run again", "cp", a.cp.Name)
		}
	}
	if _, err := strconv.ParseInt(a.cp.Last.ID, 10, 64); err != nil || len(run.Parts) == 0 {
		return Refuse("no-rerun", "checkpoint {cp} has no run that can be run again", "cp", a.cp.Name)
	}
	if a.cp.settled() {
		return Refuse("passed", "checkpoint {cp} has passed", "cp", a.cp.Name)
	}
	return nil
}

func (a admission) wrong() error {
	to := a.e.Class
	switch {
	case !to.Valid():
		return Refuse("no-class", "{class} is not a class; known are {known}", "class", string(to), "known", classNames())
	case to == Flaky || to == Unknown:
		return Refuse("class-not-routed", "{class} is not a class that failures are routed by; for a flaky test use `quarantine TEST`", "class", string(to))
	case !a.known || a.newest.Result == Pass || a.cp.settled():
		return Refuse("no-class-to-correct", "the newest run of checkpoint {cp} has no failure whose class could be wrong", "cp", a.cp.Name)
	case a.newest.Class == to:
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
