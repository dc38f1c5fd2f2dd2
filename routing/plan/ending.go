package plan

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/switchback-ci/switchback/routing/escalation"
)

// encode returns a value of this package as JSON.
func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // unreachable: plain values
	}
	return b
}

// summary says in a few words what failed. f may be nil.
func (f *TestFeedback) summary() string {
	switch {
	case f == nil:
		return "no feedback"
	case len(f.FailedTests) > 0:
		first := f.FailedTests[0].Name
		if more := len(f.FailedTests) - 1; more > 0 {
			return fmt.Sprintf("%s, and %s more", first, count(more, "test"))
		}
		return first
	case len(f.Suggestions) > 0:
		return f.Suggestions[0]
	}
	return "it does not say of what"
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Result is what a pair left, for its file and for the plan.
type Result struct {
	Port     string            `json:"port_id"`
	Status   LoopStatus        `json:"status"`
	Outcome  Outcome           `json:"outcome"`
	Attempts int               `json:"attempts"`
	Retries  int               `json:"retries"`
	Max      int               `json:"max_iterations"`
	Seconds  float64           `json:"seconds"`
	Tokens   int64             `json:"tokens_used"`
	Hash     string            `json:"hash,omitempty"` // of the content it is about
	Reason   string            `json:"reason,omitempty"`
	Feedback *TestFeedback     `json:"feedback,omitempty"` // of the last turn
	Call     *escalation.Facts `json:"escalation,omitempty"`
}

// ResultOf returns what a pair left about content of a hash. A pair that still
// runs has no outcome.
func ResultOf(l Loop, hash string) Result {
	took := time.Duration(0)
	if !l.EndedAt.IsZero() {
		took = l.EndedAt.Sub(l.StartedAt)
	}
	return Result{l.Port, l.Status, l.Outcome, l.Attempt, l.Attempt - 1, l.MaxRetries, took.Seconds(), l.Tokens, hash, l.Reason, l.Last, l.Escalation}
}
