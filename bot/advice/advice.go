// Package advice classifies errors by what to do about them: try again later (and when), give up
// because what the work was about is gone, or fail. An error carries its own advice; the pipeline,
// the queue and the runners of ports ask Of and never look at GitHub's answers themselves.
package advice

import (
	"cmp"
	"context"
	"errors"
	"time"
)

// Kind is what to do about an error.
type Kind string

// The kinds. That of a nil error is "".
const (
	// Later: it is temporary. The same process may try again after Advice.After.
	Later Kind = "later"
	// NotYet: nothing is wrong; the work has to wait for a time that is known. It is for a later
	// run of the program, not before Advice.After.
	NotYet Kind = "not-yet"
	// Blocked: it fails until something outside changes: a permission, a setting, the
	// configuration. Another attempt after Advice.After may succeed.
	Blocked Kind = "blocked"
	// Gone: what the work was about is not there, and waiting will not help.
	Gone Kind = "gone"
	// Fail: it is refused, wrong or unknown.
	Fail Kind = "fail"
	// Invalid: the input is wrong, and would be the same each time.
	Invalid Kind = "invalid"
)

// whileBlocked is when to try again what is blocked if nobody says: somebody has to act first.
const whileBlocked = 15 * time.Minute

// Advice is what to do about one error.
type Advice struct {
	Kind   Kind
	After  time.Duration // the least time to wait before another attempt; 0: nobody knows
	Reason string        // what the error is called in metrics; "": like its kind
}

// Name returns what the error is called in metrics.
func (a Advice) Name() string { return cmp.Or(a.Reason, string(a.Kind)) }

// Adviser is an error that says what to do about it.
type Adviser interface {
	error
	Advice() Advice
}

// New returns an error with a text and advice, for errors.Is.
func New(text string, a Advice) error { return &advised{text, a} }

type advised struct {
	text   string
	advice Advice
}

func (e *advised) Error() string { return e.text }

// Advice implements Adviser.
func (e *advised) Advice() Advice { return e.advice }

// Of returns the advice of the first Adviser that err is or wraps. A context that was cancelled is
// Later: the process ends. So is one that timed out, if nothing says otherwise. Any other error is
// Fail.
func Of(err error) Advice {
	var a Adviser
	switch {
	case err == nil:
		return Advice{}
	case errors.Is(err, context.Canceled):
		return Advice{Later, time.Second, "cut off"}
	case errors.As(err, &a):
		out := a.Advice()
		if out.Kind == Blocked {
			out.After = cmp.Or(out.After, whileBlocked)
		}
		return out
	case errors.Is(err, context.DeadlineExceeded):
		return Advice{Kind: Later, Reason: "cut off"}
	}
	return Advice{Kind: Fail}
}
