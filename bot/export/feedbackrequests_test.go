package export

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

func TestEdgeRows(t *testing.T) {
	ctx, led := context.Background(), new(ledger.Memory)
	g := feedback.Nodes{Top: "root", Links: map[string]feedback.Links{"test": {DependsOn: []string{"model"}}, "model": {}}}
	var all []routing.Event
	step := func(fn func(feedback.State) ([]routing.Event, error)) {
		t.Helper()
		reg, err := feedback.Fold(all)
		if err != nil {
			t.Fatal(err)
		}
		events, err := fn(reg)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, events...)
	}
	m := feedback.Message{From: "test", To: "model", Type: feedback.FixRequest, Text: "it fails", Priority: feedback.High, SuggestedFix: "fix it"}
	send := func(r feedback.State) ([]routing.Event, error) {
		s, err := r.Outbox("p", g, start).Send(m)
		return s.Events, err
	}
	step(send)
	step(func(r feedback.State) ([]routing.Event, error) { return r.Lifecycle(nil, start).Deliver("FB-001") })
	step(func(r feedback.State) ([]routing.Event, error) { return r.Lifecycle(nil, start).Begin("FB-001") })
	step(func(r feedback.State) ([]routing.Event, error) {
		return r.Lifecycle(g, start).Processed("FB-001", feedback.Outcome{OK: true})
	})
	step(func(r feedback.State) ([]routing.Event, error) {
		return r.Lifecycle(g, start).Verified("FB-001", feedback.Outcome{OK: true})
	})
	m.To = "nobody"
	step(send)
	m.To = "model"
	step(send)
	for _, repo := range []string{"acme/app", "acme/other"} { // whose numbers are the same
		if _, err := led.Append(ctx, routing.StreamKey(repo, routing.StreamFeedbackRequests), "", all); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "l.db")
	if _, err := Export(ctx, led, file); err != nil {
		t.Fatal(err)
	}
	db := open(t, file)
	for query, want := range map[string]string{
		"SELECT group_concat(feedback_id||' '||round||' '||status, ', ') FROM (SELECT * FROM feedback_requests WHERE id LIKE 'acme/app!%' ORDER BY id)": "FB-001 1 resolved, FB-002 0 rejected, FB-003 2 queued",
		"SELECT count(*) FROM feedback_requests":                                                       "6",
		"SELECT refusal FROM feedback_requests WHERE id = 'acme/app!feedback-requests/FB-002'":         "Target node 'nobody' not found in ancestors of 'test'",
		"SELECT type||' '||source||' '||target FROM feedback_requests WHERE id LIKE 'acme/app%FB-001'": "FIX_REQUEST test model",
		"SELECT count(*) FROM user_feedback":                                                           "0",
	} {
		if got := ask(t, db, query); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	again, err := Export(ctx, led, file)
	if err != nil {
		t.Fatal(err)
	}
	if last := again[len(again)-1]; last.Table != "feedback_requests" || last.Rows != 6 || last.Changed != 0 {
		t.Errorf("%+v", last)
	}
}
