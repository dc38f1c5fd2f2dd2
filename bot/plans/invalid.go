package plans

import (
	"errors"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/routing/plan"
)

// whileInvalid is when an invalid plan is read again: somebody may have fixed it.
const whileInvalid = 10 * time.Minute

// InvalidError says that a plan is invalid. It wraps a *plan.Error.
type InvalidError struct{ err error }

// Invalid returns err as an *InvalidError if it is a *plan.Error, else as it is.
func Invalid(err error) error {
	var invalid *plan.Error
	if errors.As(err, &invalid) {
		return &InvalidError{err}
	}
	return err
}

func (e *InvalidError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *InvalidError) Unwrap() error { return e.err }

// Advice implements advice.Adviser: somebody has to fix the plan.
func (e *InvalidError) Advice() advice.Advice {
	return advice.Advice{Kind: advice.Blocked, After: whileInvalid, Reason: "configuration"}
}
