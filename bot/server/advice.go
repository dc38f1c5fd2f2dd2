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

// How long to wait where the error does not say.
const (
	whileSuspended = 15 * time.Minute // the installation may be unsuspended
	whileArchived  = time.Hour        // the repository may be unarchived
	whileReadOnly  = 15 * time.Minute // the App may get the permission
	whileWrong     = 10 * time.Minute // the configuration may be fixed
	whileBusy      = time.Second      // the case is being handled
)

// advice returns what an error means for a delivery, when it is tried again, and the name of the error
// in the metrics.
func advice(err error) (v queue.Verdict, after time.Duration, kind string) {
	var wrong *config.Error
	var unplanned *plan.Error // a plan that is invalid
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
		return queue.VerdictLater, after, string(k) // GitHub may be away for any time
	case github.Gone:
		return queue.VerdictGone, 0, string(k)
	case github.ReadOnly:
		return queue.VerdictLater, whileReadOnly, string(k)
	}
	return queue.VerdictFail, 0, string(k)
}
