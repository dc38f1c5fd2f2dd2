package app

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/switchback-ci/switchback/bot/action"
	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/effect"
	"github.com/switchback-ci/switchback/bot/hub"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/store"
	"github.com/switchback-ci/switchback/routing/port"
)

// What is waited where nobody says how long.
const (
	whileSuspended = 15 * time.Minute // somebody may let the App work again
	whileArchived  = time.Hour        // somebody may take the repository out of the archive
	whileReadOnly  = 15 * time.Minute // somebody may give the App the permission
	whileWrong     = 10 * time.Minute // somebody may mend the configuration
	whileBusy      = time.Second      // the case is being worked on
)

// verdict returns what err means for the work on a delivery, when it is tried again,
// and what the error is called in the metrics.
func verdict(err error) (v store.Verdict, after time.Duration, kind string) {
	var wrong *config.Error
	var unplanned *port.Error // a plan that says something wrong
	var early *effect.WaitError
	var busy *busyError
	switch {
	case errors.Is(err, action.ErrMalformed):
		return store.VerdictPoison, 0, "malformed"
	case errors.As(err, &wrong), errors.As(err, &unplanned):
		return store.VerdictLater, whileWrong, "configuration"
	case errors.Is(err, hub.ErrSuspended):
		return store.VerdictLater, whileSuspended, "suspended"
	case errors.Is(err, hub.ErrArchived):
		return store.VerdictLater, whileArchived, "archived"
	case errors.As(err, &early):
		return store.VerdictLater, max(time.Until(early.Until), time.Second), "early"
	case errors.As(err, &busy):
		return store.VerdictLater, whileBusy + rand.N(busy.spread), "busy"
	case errors.Is(err, ledger.ErrConflict):
		return store.VerdictLater, whileBusy, "conflict"
	case errors.Is(err, context.Canceled): // the server stops
		return store.VerdictLater, time.Second, "cut off"
	case errors.Is(err, context.DeadlineExceeded):
		return store.VerdictFail, 0, "cut off"
	}
	k, after := hub.Verdict(err)
	switch k {
	case hub.Later:
		return store.VerdictLater, after, string(k) // nobody knows for how long GitHub is away
	case hub.Gone:
		return store.VerdictGone, 0, string(k)
	case hub.ReadOnly:
		return store.VerdictLater, whileReadOnly, string(k)
	}
	return store.VerdictFail, 0, string(k)
}
