package plan

import (
	"slices"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
)

// Answer is what a human decided about a port.
type Answer struct {
	ID     string              `json:"id"` // names what the human wrote or ticked: it counts once
	Action routing.HumanAction `json:"action"`
	N      int                 `json:"n,omitempty"` // further turns, of extend
	By     string              `json:"by"`
	At     time.Time           `json:"at"`
	Hash   string              `json:"hash,omitempty"` // of the content that it is about
	Pair   string              `json:"pair,omitempty"` // that it is about, if it is about one
}

// Decide takes what a human decided about the port and returns what to append to
// its journal: nothing if it was taken before. A *routing.RefusedError says why it
// cannot be taken.
func (j Journal) Decide(a Answer) ([]Event, error) {
	if slices.ContainsFunc(j.Answers, func(old Answer) bool { return old.ID == a.ID }) {
		return nil, nil
	}
	switch {
	case j.Loop == nil:
		return nil, routing.Refuse("port.not-run", "the port has not been run yet")
	case j.Loop.Status == Running:
		return nil, routing.Refuse("port.running", "port {port} is being worked on", "port", j.Loop.Port)
	case j.Loop.Status == Success:
		return nil, routing.Refuse("port.passed", "port {port} has passed", "port", j.Loop.Port)
	}
	a.Pair = j.Loop.ID
	switch a.Action {
	case routing.HumanExtend:
		if most := j.Loop.MostTurns(); a.N < 1 || a.N > most {
			return nil, routing.Refuse("port.hard-cap", "port {port} can be given {n} more attempts; reset it to start the count again", "port", j.Loop.Port, "n", most)
		}
	case routing.HumanResume, routing.HumanReset, routing.HumanSkip, routing.HumanWontFix:
	default:
		return nil, routing.Refuse("port.action", "{action} does not apply to a port; use `retry`, `reset`, `resume`, `skip` or `wont-fix`", "action", string(a.Action))
	}
	out := []Event{{Kind: HumanAnswered, At: a.At, Session: j.Loop.Operator, Answer: &a}}
	for _, c := range j.Waiting() {
		c.ResolvedBy, c.ResolvedAt = a.By, a.At
		out = append(out, Event{Kind: EscalationResolved, At: a.At, Session: j.Loop.Operator, Escalation: &c})
	}
	return out, nil
}

// Goes reports whether an answer has the port run again.
func (a Answer) Goes() bool { return a.Action != routing.HumanWontFix && a.Action != routing.HumanSkip }

// granted returns the answer that gave the newest pair further turns.
func (j Journal) granted() (Answer, bool) {
	if j.Loop == nil || j.Loop.Status == Running || len(j.Answers) == 0 {
		return Answer{}, false
	}
	a := j.Answers[len(j.Answers)-1]
	return a, a.Action == routing.HumanExtend && a.Pair == j.Loop.ID
}

// GoOn has the first pair of l go on where the newest pair of j ended, if a human
// gave that further turns: its failures count, and its last feedback is handed
// over. Time and tokens are those of a new pair.
func (j Journal) GoOn(l Loop) Loop {
	a, ok := j.granted()
	if !ok {
		return l
	}
	old := *j.Loop
	l.CurrentTry, l.Last, l.Attempt = old.CurrentTry, old.Last, old.Attempt+1
	l.MaxRetries = min(max(0, old.CurrentTry+a.N-1), routing.HardCap)
	return l
}

// Attempt is one turn of a port as its journal tells it.
type Attempt struct {
	Pair   string
	Turn   int
	At     time.Time
	Failed []string // names of the tests that failed
	Reason string   // where no test says it
}

// Attempts returns the turns of a stream that failed, the oldest first.
func Attempts(events []routing.Event) []Attempt {
	var out []Attempt
	add := func(l Loop, at time.Time) {
		n := len(out)
		if l.CurrentTry == 0 || n > 0 && out[n-1].Pair == l.ID && out[n-1].Turn >= l.CurrentTry {
			return
		}
		a := Attempt{Pair: l.ID, Turn: l.CurrentTry, At: at}
		if l.Last != nil {
			for _, t := range l.Last.FailedTests {
				a.Failed = append(a.Failed, t.Name)
			}
		}
		if len(a.Failed) == 0 {
			a.Reason = l.Last.summary()
		}
		out = append(out, a)
	}
	carried := 0 // failures that a pair took over from the one before it
	pair := ""
	for _, e := range events {
		one, ours, err := Recorded(e)
		if err != nil || !ours || one.Pair == nil {
			continue
		}
		if one.Pair.ID != pair {
			pair, carried = one.Pair.ID, one.Pair.CurrentTry
		}
		if one.Pair.CurrentTry > carried {
			add(*one.Pair, one.At)
		}
	}
	return out
}

// EscalationRequestOf returns the escalation that the newest pair of a port ended in, as
// one of the escalations of its repository. key is that of the port's stream. ok
// is false where it called nobody, or a human has answered since.
func EscalationRequestOf(key string, j Journal, runURL string) (c escalation.Request, ok bool) {
	l := j.Loop
	if l == nil || l.Status != Raised || l.Escalation == nil || slices.ContainsFunc(j.Answers, func(a Answer) bool { return a.Pair == l.ID }) {
		return c, false
	}
	f := *l.Escalation
	m := escalation.Member{Case: key, Checkpoint: l.Port, Kind: f.Kind, Type: f.Type, Run: l.ID, RunURL: runURL, Gen: l.CurrentTry, Opened: l.EndedAt, At: l.EndedAt}
	if l.Last != nil && len(l.Last.FailedTests) > 0 {
		m.First = l.Last.FailedTests[0].Name
	}
	return escalation.Request{ID: key + "/" + string(f.Type), Member: m, Facts: f}, true
}
