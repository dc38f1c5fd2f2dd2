package server

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
)

// whileBusy is when to try again what another process works on.
const whileBusy = time.Second

// advise says what to do about an error of the work on a delivery.
func advise(err error) advice.Advice {
	if errors.Is(err, context.DeadlineExceeded) { // of the delivery itself: it may never end
		return advice.Advice{Kind: advice.Fail, Reason: "cut off"}
	}
	return advice.Of(err)
}

// Advice implements advice.Adviser.
func (e *busyError) Advice() advice.Advice {
	return advice.Advice{Kind: advice.Later, After: whileBusy + rand.N(e.spread), Reason: "busy"}
}
