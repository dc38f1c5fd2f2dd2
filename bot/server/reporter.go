package server

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/handler"
	"github.com/switchback-ci/switchback/bot/sleep"
)

// reporter writes what handlers report to the log: nobody watches a delivery.
type reporter struct{ log *slog.Logger }

// Notice implements handler.Reporter.
func (r reporter) Notice(text string) { r.log.Info(text) }

// Warning implements handler.Reporter.
func (r reporter) Warning(text string) { r.log.Warn(text) }

// Tests implements handler.Reporter: the App writes no report of all tests.
func (reporter) Tests() analysis.Tests { return nil }

// Routed implements handler.Reporter. The App needs to write: the delivery is handled again once it may.
func (reporter) Routed(r handler.Routed) error { return cmp.Or(r.ReadOnly, r.Refused) }

// Replayed implements handler.Reporter.
func (reporter) Replayed(r handler.Replayed) error { return r.Err }

// waiter implements handler.Waiter for a delivery: what would take longer than a moment is an error
// that says when to handle the delivery again.
type waiter struct {
	received time.Time // when the delivery came
	now      func() time.Time
	hold     bool     // leaves the effects of cases to handler.Finish
	left     []string // the cases
}

// Pause implements handler.Waiter.
func (w *waiter) Pause(ctx context.Context, d time.Duration) error {
	if d > handler.Patience {
		return &github.Error{Kind: advice.Later, After: d, Message: "waits for its time"}
	}
	return sleep.For(ctx, d)
}

// Delay implements handler.Waiter. The time counts from when the delivery came, so that handling it
// again does not start it anew.
func (w *waiter) Delay(ctx context.Context, d time.Duration) error {
	if d > time.Second {
		d -= w.now().Sub(w.received)
	}
	return w.Pause(ctx, max(0, d))
}

// Defers implements handler.Waiter.
func (w *waiter) Defers() bool { return w.hold }

// Defer implements handler.Waiter.
func (w *waiter) Defer(caseKey string) bool {
	if w.hold {
		w.left = append(w.left, caseKey)
	}
	return w.hold
}
