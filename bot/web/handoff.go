package web

import (
	"fmt"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// handoffView is who of the workers that are told in turn holds a case.
type handoffView struct {
	Worker string
	N, Of  int
	Told   time.Time // zero: not yet
	How    string    // it stands, in words
	Until  time.Time // when the next worker is told, zero if no time passes
	Passed []string  // workers who did not answer in time
}

// handoffOf returns the view of a case's active hand-off, nil without one.
func handoffOf(c routing.Case) *handoffView {
	h := c.Handoff
	if h == nil {
		return nil
	}
	v := &handoffView{Worker: h.Worker().Name, N: h.Place + 1, Of: len(h.Workers), Told: h.Told, How: "not acknowledged yet"}
	if at, _, ok := h.Deadline(); ok {
		v.Until = at
	}
	switch {
	case h.Waits != nil:
		v.How = "a run waits for a maintainer's approval, and no time passes"
	case h.Pushed != "":
		v.How = "a commit was pushed, and its run decides"
	case h.Acknowledge != nil:
		v.How = "acknowledged by " + ackText(h.Acknowledge.How, h.Acknowledge.By)
	}
	for _, p := range h.Passed {
		v.Passed = append(v.Passed, p.Worker.Name)
	}
	return v
}

func ackText(how routing.AckHow, by string) string {
	text := "a " + string(how)
	if by != "" && how != routing.AckRun {
		text += " of " + OneLine(by)
	}
	return text
}

// handoffText describes what happened to a hand-off, "" for nothing that is shown.
func handoffText(was, is routing.Case, p routing.HandoffChanged) string {
	h := was.Handoff
	if h == nil || h.Number != p.Number || h.Place != p.Place {
		return ""
	}
	worker := OneLine(h.Worker().Name)
	switch p.Change {
	case routing.HandoffAcknowledged:
		return "The hand-off to " + worker + " was acknowledged by " + ackText(p.How, p.By)
	case routing.HandoffWaits:
		return "A run of " + worker + " waits for a maintainer's approval"
	case routing.HandoffContinues:
		return "The run of " + worker + " waits no longer"
	case routing.HandoffExpired:
		if is.Handoff == nil {
			return worker + " did not answer in time, and there is no further worker"
		}
		return fmt.Sprintf("%s did not answer in time: %s is told", worker, OneLine(is.Handoff.Worker().Name))
	case routing.HandoffEnded:
		return "The hand-off ended: there is nothing to fix any more"
	}
	return ""
}
