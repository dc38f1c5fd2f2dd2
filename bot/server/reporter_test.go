package server

import (
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/pipeline"
	"github.com/switchback-ci/switchback/routing"
)

// An effect that is due a while after a delivery came is applied then, however often the delivery is
// handled again.
func TestDelayInTheApp(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	w := func(after time.Duration) *waiter {
		return &waiter{received: at, now: func() time.Time { return at.Add(after) }}
	}
	kind, wait := github.Verdict(w(10*time.Second).Delay(t.Context(), time.Minute))
	if kind != github.Later || wait != 50*time.Second {
		t.Errorf("%s after %v", kind, wait)
	}
	for _, after := range []time.Duration{time.Minute, time.Hour} {
		if err := w(after).Delay(t.Context(), time.Minute); err != nil {
			t.Errorf("%v later: %v", after, err)
		}
	}
	stuck := &pipeline.StuckError{Pending: []routing.Effect{{}}, Err: w(0).Pause(t.Context(), time.Minute)}
	if kind, wait := github.Verdict(stuck); kind != github.Later || wait != time.Minute {
		t.Errorf("%s after %v", kind, wait)
	}
}
