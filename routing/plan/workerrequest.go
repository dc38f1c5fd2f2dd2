package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// WorkerRequest is a feedback that a pair runs for, in one round of it.
type WorkerRequest struct {
	Feedback string      `json:"feedback_id"`
	Round    int         `json:"round"`
	Do       feedback.Do `json:"do"` // verify, or what its target does
}

// WorkerRequestsOf returns what a run of a port is for now. Where the port verifies what
// it asked for, it is handed nothing else.
func WorkerRequestsOf(r feedback.State, plan, id string) []WorkerRequest {
	var targets, verifies []WorkerRequest
	for _, t := range r.Of(plan).Work() {
		x, ok := r.ByID(t.ID)
		switch {
		case t.Node != id || !ok:
		case t.Do == feedback.Verify:
			verifies = append(verifies, WorkerRequest{t.ID, x.Round, t.Do})
		default:
			targets = append(targets, WorkerRequest{t.ID, x.Round, t.Do})
		}
	}
	if len(verifies) > 0 {
		return verifies
	}
	return targets
}

// WaitsFor says in words what a port waits for.
func WaitsFor(all []feedback.Record) string {
	var out []string
	for _, x := range all {
		out = append(out, fmt.Sprintf("%s to %s (%s, round %d of %d)", x.ID, x.Message.To, x.Message.Type, x.Round, feedback.MaxRounds))
	}
	return "it waits for feedback " + strings.Join(out, ", ")
}

// Settle returns what the end of a pair means for the feedback that it ran for:
// what it was handed is to be verified or has failed, what it verified is
// resolved, or goes into its next round. A pair that waits, was cancelled, or
// could not be run says nothing. output is the end of what the work printed.
// What was settled before stays as it is. r is the newest state of the feedback requests.
func Settle(l Loop, r feedback.State, g feedback.Graph, output string, now time.Time) ([]routing.Event, error) {
	var out []routing.Event
	if l.Status != Success && l.Status != Raised {
		return nil, nil
	}
	for _, e := range l.Requests {
		x, ok := r.ByID(e.Feedback)
		if !ok || x.Round != e.Round {
			continue
		}
		var add []routing.Event
		var err error
		switch {
		case e.Do == feedback.Verify && x.Status == feedback.Verifying:
			add, err = r.Lifecycle(g, now).Verified(x.ID, outcomeFor(l, ""))
		case e.Do != feedback.Verify && x.Status == feedback.Processing:
			add, err = r.Lifecycle(g, now).Processed(x.ID, outcomeFor(l, output))
			if errors.Is(err, feedback.ErrAnswer) {
				add, err = r.Lifecycle(g, now).Processed(x.ID, feedback.Outcome{Trace: fmt.Sprintf("%s ran and passed, but gave no answer", l.Port)})
			}
		}
		if err != nil {
			return nil, fmt.Errorf("feedback %s: %w", x.ID, err)
		}
		for _, ev := range add {
			if r, err = r.Apply(ev); err != nil {
				return nil, fmt.Errorf("feedback %s: %w", x.ID, err)
			}
		}
		out = append(out, add...)
	}
	return out, nil
}

// outcomeFor is what a run came to, for the feedback that it was about.
func outcomeFor(l Loop, output string) feedback.Outcome {
	if l.Status == Success {
		said := fmt.Sprintf("%s passed in turn %d", l.Port, l.Attempt)
		if output = strings.TrimSpace(output); output != "" {
			said += ": " + output
		}
		return feedback.Outcome{OK: true, Summary: said}
	}
	o := feedback.Outcome{Summary: orElse(l.Reason, l.Last.summary())}
	if l.Last != nil && len(l.Last.FailedTests) > 0 {
		t := l.Last.FailedTests[0]
		o.Trace = strings.TrimSpace(t.Name + "\n" + t.StackTrace)
	}
	return o
}

// Pause ends a pair whose port has sent feedback and waits for what comes of it.
// Its work is kept as it is, and nothing is said of it.
func (l Loop) Pause(reason string, tokens int64, now time.Time) (Loop, []Action, error) {
	if l.Status != Running {
		return l, nil, fmt.Errorf("pair %s ended as %s", l.ID, l.Status)
	}
	l.Tokens += max(0, tokens)
	return l.end(Paused, Waiting, reason, now), []Action{{Kind: CloseDown}, {Kind: Report}}, nil
}

// mostOutput bounds what is told of a worker's output with the feedback that it
// worked at, in bytes.
const mostOutput = 500

// Output returns the end of what the implementing worker of the newest pair
// printed last.
func (j Journal) Output() string {
	if j.Loop == nil {
		return ""
	}
	for _, m := range slices.Backward(j.Mail.Messages) {
		if m.ChannelID == j.Loop.ChannelID && m.From == j.Loop.ImplSession && m.Type == ResultMessage {
			var in struct {
				Output string `json:"output"`
			}
			if json.Unmarshal(m.Payload, &in) != nil { // of another version
				return ""
			}
			out := strings.TrimSpace(in.Output)
			for i := max(0, len(out)-mostOutput); i < len(out); i++ {
				if utf8.RuneStart(out[i]) {
					return out[i:]
				}
			}
		}
	}
	return ""
}
