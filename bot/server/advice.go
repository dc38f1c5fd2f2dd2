package server

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/handler"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/bot/server/queue"
	"github.com/switchback-ci/switchback/routing/plan"
)

// What is waited where nobody says how long.
const (
	whileSuspended = 15 * time.Minute // somebody may let the App work again
	whileArchived  = time.Hour        // somebody may take the repository out of the archive
	whileReadOnly  = 15 * time.Minute // somebody may give the App the permission
	whileWrong     = 10 * time.Minute // somebody may fix the configuration
	whileBusy      = time.Second      // the case is being worked on
)

// verdict returns what err means for the work on a delivery, when it is tried again,
// and what the error is called in the metrics.
func advice(err error) (v queue.Verdict, after time.Duration, kind string) {
	var wrong *config.Error
	var unplanned *plan.Error // a plan that says something wrong
	var early *effect.WaitError
	var busy *busyError
	switch {
	case errors.Is(err, handler.ErrMalformed):
		return queue.VerdictPoison, 0, "malformed"
	case errors.As(err, &wrong), errors.As(err, &unplanned):
		return queue.VerdictLater, whileWrong, "configuration"
	case errors.Is(err, github.ErrSuspended):
		return queue.VerdictLater, whileSuspended, "suspended"
	case errors.Is(err, github.ErrArchived):
		return queue.VerdictLater, whileArchived, "archived"
	case errors.As(err, &early):
		return queue.VerdictLater, max(time.Until(early.Until), time.Second), "early"
	case errors.As(err, &busy):
		return queue.VerdictLater, whileBusy + rand.N(busy.spread), "busy"
	case errors.Is(err, ledger.ErrConflict):
		return queue.VerdictLater, whileBusy, "conflict"
	case errors.Is(err, context.Canceled): // the server stops
		return queue.VerdictLater, time.Second, "cut off"
	case errors.Is(err, context.DeadlineExceeded):
		return queue.VerdictFail, 0, "cut off"
	}
	k, after := github.Verdict(err)
	switch k {
	case github.Later:
		return queue.VerdictLater, after, string(k) // nobody knows for how long GitHub is away
	case github.Gone:
		return queue.VerdictGone, 0, string(k)
	case github.ReadOnly:
		return queue.VerdictLater, whileReadOnly, string(k)
	}
	return queue.VerdictFail, 0, string(k)
}
