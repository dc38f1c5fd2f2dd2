package server

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/routing/plan"
)

const (
	whileWrong = 10 * time.Minute // somebody may fix the plan
	whileBusy  = time.Second      // another process works on the case
)

// advise says what to do about an error of the work on a delivery.
func advise(err error) advice.Advice {
	var wrong *plan.Error
	switch {
	case errors.As(err, &wrong):
		return advice.Advice{Kind: advice.Blocked, After: whileWrong, Reason: "configuration"}
	case errors.Is(err, context.DeadlineExceeded): // of the delivery itself: it may never end
		return advice.Advice{Kind: advice.Fail, Reason: "cut off"}
	}
	return advice.Of(err)
}

// Advice implements advice.Adviser.
func (e *busyError) Advice() advice.Advice {
	return advice.Advice{Kind: advice.Later, After: whileBusy + rand.N(e.spread), Reason: "busy"}
}
