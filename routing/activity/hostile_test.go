package activity_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/activity"
	"github.com/switchback-ci/switchback/routing/plan"
)

// Whoever may write to a repository may write anything to the branch of its ledger: it
// ends nothing.
func TestHostileStreams(t *testing.T) {
	beyond := time.Date(9999, 12, 31, 23, 59, 59, 0, time.FixedZone("", -12*3600)) // in UTC a year of five digits
	pair := func(l plan.Loop, at time.Time) []routing.Event {
		e := plan.Event{Kind: plan.PairChanged, At: at, Pair: &l}
		return []routing.Event{e.Record()}
	}
	for name, s := range map[string]struct {
		key     string
		events  []routing.Event
		refused bool
	}{
		"a time beyond what JSON has, in the data": {routing.StreamKey("acme/shop", routing.StreamFeedbackRequests),
			[]routing.Event{{Type: "feedback.queued", At: beyond, Data: json.RawMessage(`{"feedback_id":"f"}`)}}, true},
		"a time beyond what JSON has, of the event": {routing.PortKey("acme/shop", "p", "api"), pair(plan.Loop{ID: "l", Status: plan.Running, Attempt: 1}, beyond), true},
		"a share of no turns at all":                {routing.PortKey("acme/shop", "p", "api"), pair(plan.Loop{ID: "l", Status: plan.Running, Attempt: 1, MaxRetries: -1}, noon), false},
	} {
		t.Run(name, func(t *testing.T) {
			events, err := activity.Since(s.key, s.events, 0)
			for _, e := range events {
				if _, wrong := e.At.MarshalText(); wrong != nil {
					t.Error(wrong)
				}
			}
			if (err != nil) != s.refused {
				t.Errorf("%v, %+v", err, events)
			}
		})
	}
}
