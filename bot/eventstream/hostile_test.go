package eventstream_test

import (
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/internal/sample"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan"
)

// Invalid streams on the branch of a ledger are skipped, and the others are projected (S2-85).
func TestHostileBranch(t *testing.T) {
	t.Parallel()
	on(t, func(t *testing.T, db *database.DB, _ func() *database.DB) {
		led := new(ledger.Memory)
		beyond := time.Date(9999, 12, 31, 23, 59, 59, 0, time.FixedZone("", -12*3600)) // in UTC a year of five digits
		pair := plan.Event{Kind: plan.PairChanged, At: beyond, Pair: &plan.Loop{ID: "l", Status: plan.Running, Attempt: 1}}
		bad := map[string]routing.Event{
			routing.StreamKey("acme/shop", routing.StreamFeedbackRequests): {Type: "feedback.queued", At: beyond, Data: json.RawMessage(`{"feedback_id":"f"}`)},
			routing.PortKey("acme/shop", "p", "api"):                       pair.Record(),
		}
		for key, e := range bad {
			if _, err := led.Append(t.Context(), key, "", []routing.Event{e}); err != nil {
				t.Fatal(err)
			}
		}
		for _, s := range sample.Plan(sample.PlanOptions{Seed: 1, Repo: "acme/web", Name: "p", Ports: 3, Begun: 2, Start: beyond.AddDate(-7973, 0, 0)}) {
			if _, err := led.Append(t.Context(), s.Key, "", s.Events); err != nil {
				t.Fatal(err)
			}
		}
		f := eventstream.New(db)
		n, err := eventstream.NewMirror(f.Projector, led, "", slog.New(slog.DiscardHandler)).Look(t.Context())
		if err != nil || n == 0 {
			t.Fatal(n, err)
		}
		told, err := f.Log.After(t.Context(), 0, 1000)
		if err != nil || len(told) != n {
			t.Fatal(len(told), n, err)
		}
		for _, e := range told {
			if e.Repo != "acme/web" {
				t.Errorf("%+v", e)
			}
		}
	})
}
