package action

import (
	"errors"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/pipeline"
	"github.com/switchback-ci/switchback/routing"
)

func TestDeliverIncomplete(t *testing.T) {
	t.Parallel()
	w := Work{Repo: github.Repo{Owner: "octo", Name: "app"}, Ledger: &ledger.Memory{}}
	for event, payload := range map[string]string{
		"workflow_run":        `{"action":"completed"}`,
		"check_run":           `{"action":"rerequested"}`,
		"check_suite":         `{"action":"rerequested"}`,
		"pull_request":        `{"action":"closed","pull_request":{}}`,
		"pull_request_review": `{"action":"submitted","pull_request":{"number":1}}`,
		"issues":              `{"action":"edited"}`,
		"issue_comment":       `{"action":"created","issue":{"number":3}}`,
		"push":                `{"ref":`,
	} {
		if _, err := Deliver(t.Context(), w, event, []byte(payload)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", event, err)
		}
	}
	for event, payload := range map[string]string{
		"workflow_run": `{"action":"requested","workflow_run":{"id":5}}`,
		"check_run":    `{"action":"created","check_run":{}}`,
		"star":         `{"action":"created"}`,
	} {
		if left, err := Deliver(t.Context(), w, event, []byte(payload)); err != nil || left != nil {
			t.Errorf("%s is not left alone: %v %v", event, left, err)
		}
	}
}

// What is to be done a while after a delivery came is done then, however often
// the work on it begins again.
func TestDelayInTheApp(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	f := func(after time.Duration) *face {
		return &face{app: &inside{Work: Work{Received: at}}, env: Env{Now: func() time.Time { return at.Add(after) }}}
	}
	what := advice.Of(f(10*time.Second).delay(t.Context(), time.Minute))
	if what.Kind != advice.Later || what.After != 50*time.Second {
		t.Errorf("%+v", what)
	}
	for _, after := range []time.Duration{time.Minute, time.Hour} {
		if err := f(after).delay(t.Context(), time.Minute); err != nil {
			t.Errorf("%v later: %v", after, err)
		}
	}
	stuck := &pipeline.StuckError{Pending: []routing.Effect{{}}, Err: f(0).pause(t.Context(), time.Minute)}
	if what := advice.Of(stuck); what.Kind != advice.Later || what.After != time.Minute {
		t.Errorf("%+v", what)
	}
}
