package planpages

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/routing/activity"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// eventText describes an event of a plan in a sentence.
func eventText(e activity.Event) string {
	switch e.Type {
	case activity.PlanStart:
		return "A build of the plan began"
	case activity.PlanPort:
		x := read[activity.Stands](e)
		out := fmt.Sprintf("%s is %s", e.Port, x.Standing)
		if x.Reason != "" {
			out += ": " + x.Reason
		}
		return out
	case activity.PairChanged:
		x := read[activity.Pair](e)
		if x.Status != plan.Running {
			return fmt.Sprintf("%s: its workers ended: %s %s", e.Port, x.Status, x.Reason)
		}
		return fmt.Sprintf("%s: attempt %d, %s", e.Port, x.Attempt, x.Phase)
	case activity.WorkerProgress:
		x := read[plan.Progress](e)
		return strings.TrimRight(fmt.Sprintf("%s is at %d%%: %s", e.Port, int(x.Progress*100), x.Task), ": ")
	case activity.WorkerSpawn:
		return fmt.Sprintf("%s: the %s worker began", e.Port, role(e))
	case activity.WorkerComplete:
		x := read[plan.Exit](e)
		if x.OK {
			return fmt.Sprintf("%s: the %s worker is done", e.Port, x.Role)
		}
		return strings.TrimRight(fmt.Sprintf("%s: the %s worker failed: %s", e.Port, x.Role, x.Reason), ": ")
	case activity.WorkerFeedback:
		x := read[plan.TestFeedback](e)
		if x.Success {
			return e.Port + ": its tests passed"
		}
		return fmt.Sprintf("%s: %d of its tests failed", e.Port, len(x.FailedTests))
	case activity.DirectMessage:
		x := read[plan.Message](e)
		return fmt.Sprintf("%s: a message from %s to %s", e.Port, last(x.From), last(x.To))
	case activity.EscalationNew:
		return fmt.Sprintf("%s asks a maintainer: %s", e.Port, read[plan.Escalation](e).Title)
	case activity.EscalationResolved:
		return fmt.Sprintf("%s: %s answered", e.Port, read[plan.Escalation](e).ResolvedBy)
	case activity.FeedbackChanged:
		x := read[feedback.Line](e)
		return fmt.Sprintf("%s from %s to %s, round %d: %s", x.Type, x.Source, x.Target, x.Round, x.Status)
	case activity.SessionStart:
		return e.Port + " began"
	case activity.SessionEnd:
		return e.Port + " ended"
	case activity.HumanActed:
		return e.Port + ": a person answered"
	}
	return string(e.Type)
}

// read returns the data of an event, empty if they cannot be decoded: no decision depends on them.
func read[T any](e activity.Event) (x T) {
	_ = json.Unmarshal(e.Data, &x)
	return x
}

func role(e activity.Event) plan.Role {
	return read[struct {
		Role plan.Role `json:"role"`
	}](e).Role
}

// last returns the end of a session's name, e.g. impl of b1/api/impl.
func last(session string) string { return session[strings.LastIndex(session, "/")+1:] }
