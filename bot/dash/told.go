package dash

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/routing/feedback"
	"github.com/switchback-ci/switchback/routing/live"
	"github.com/switchback-ci/switchback/routing/port"
)

// told says in a sentence what an event of a plan changed.
func told(e live.Event) string {
	switch e.Type {
	case live.PlanStart:
		return "A build of the plan began"
	case live.PlanPort:
		x := read[live.Stands](e)
		out := fmt.Sprintf("%s is %s", e.Port, x.Standing)
		if x.Reason != "" {
			out += ": " + x.Reason
		}
		return out
	case live.PairChanged:
		x := read[live.Pair](e)
		if x.Status != port.Running {
			return fmt.Sprintf("%s: its pair ended: %s %s", e.Port, x.Status, x.Reason)
		}
		return fmt.Sprintf("%s: turn %d, %s", e.Port, x.Turn, x.Phase)
	case live.WorkerProgress:
		x := read[port.Progress](e)
		return strings.TrimRight(fmt.Sprintf("%s is at %d%%: %s", e.Port, int(x.Progress*100), x.Task), ": ")
	case live.WorkerSpawn:
		return fmt.Sprintf("%s: the %s worker began", e.Port, role(e))
	case live.WorkerComplete:
		x := read[port.Exit](e)
		if x.OK {
			return fmt.Sprintf("%s: the %s worker is done", e.Port, x.Role)
		}
		return strings.TrimRight(fmt.Sprintf("%s: the %s worker failed: %s", e.Port, x.Role, x.Reason), ": ")
	case live.WorkerFeedback:
		x := read[port.TestFeedback](e)
		if x.Success {
			return e.Port + ": its tests passed"
		}
		return fmt.Sprintf("%s: %d of its tests failed", e.Port, len(x.FailedTests))
	case live.DirectMessage:
		x := read[port.Message](e)
		return fmt.Sprintf("%s: a message from %s to %s", e.Port, last(x.From), last(x.To))
	case live.EscalationNew:
		return fmt.Sprintf("%s calls a human: %s", e.Port, read[port.Call](e).Title)
	case live.EscalationResolved:
		return fmt.Sprintf("%s: %s answered", e.Port, read[port.Call](e).ResolvedBy)
	case live.FeedbackChanged:
		x := read[feedback.Line](e)
		return fmt.Sprintf("%s from %s to %s, round %d: %s", x.Type, x.Source, x.Target, x.Round, x.Status)
	case live.SessionStart:
		return e.Port + " began"
	case live.SessionEnd:
		return e.Port + " ended"
	case live.HumanActed:
		return e.Port + ": a human answered"
	}
	return string(e.Type)
}

// read returns the data of an event. What is not readable as such is empty: it is
// shown and decides nothing.
func read[T any](e live.Event) (x T) {
	_ = json.Unmarshal(e.Data, &x)
	return x
}

func role(e live.Event) port.Role {
	return read[struct {
		Role port.Role `json:"role"`
	}](e).Role
}

// last is the end of a session's name, e.g. impl of b1/api/impl.
func last(session string) string { return session[strings.LastIndex(session, "/")+1:] }
