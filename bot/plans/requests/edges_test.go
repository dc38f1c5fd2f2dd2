package requests

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

func newBook() Store {
	links := map[string]feedback.Links{"model": {}, "check": {DependsOn: []string{"model"}}}
	for i := range 20 {
		links[fmt.Sprintf("n%d", i)] = feedback.Links{DependsOn: []string{"model"}}
	}
	return Store{Ledger: &ledger.Memory{}, Repo: "acme/app", Build: "ports/run-1", Plan: feedback.Nodes{Top: "workflow-root", Links: links},
		Now: func() time.Time { return time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC) }}
}

func send(t *testing.T, b Store, from, to, kind string) Sent {
	t.Helper()
	s, err := b.Send(t.Context(), fmt.Appendf(nil, `{"from_node": %q, "to_node": %q, "feedback_type": %q, "message": "wrong", "priority": "low", "suggested_fix": "x", "suggested_action": "x", "requested_info": "x"}`, from, to, kind))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func status(t *testing.T, b Store, id string) feedback.Status {
	t.Helper()
	r, err := b.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	x, _ := r.ByID(id)
	return x.Status
}

func TestBook(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	t.Run("what a run is for, until it is settled, once (S3-42 S3-55 S3-57)", func(t *testing.T) {
		b := newBook()
		q := send(t, b, "check", "model", "CONTEXT_REQUEST")
		var first Before
		for i := range 2 { // a run that is lost is handed the same
			got, err := b.Before(ctx, "model")
			if err != nil || len(got.Requests) != 1 || len(got.Feedback) != 1 || got.Feedback[0].ID != q.ID || len(got.Waits) != 0 {
				t.Fatalf("%d: %+v %v", i, got, err)
			}
			first = got
		}
		if got, err := b.Before(ctx, "check"); err != nil || len(got.Requests) != 0 || len(got.Waits) != 1 {
			t.Errorf("%+v %v", got, err)
		}
		if _, err := b.Answer(ctx, "check", q.ID, "pay(amount)", nil); err == nil {
			t.Error("the sender answers itself")
		}
		if x, err := b.Answer(ctx, "model", q.ID, "pay(amount)", nil); err != nil || x.Status != feedback.Verifying {
			t.Errorf("%+v %v", x, err)
		}
		l := plan.Loop{Port: "model", Status: plan.Success, Attempt: 1, Requests: first.Requests}
		for range 2 { // it was answered, and is not answered again by the run's end
			if err := b.Settle(ctx, l, "done"); err != nil || status(t, b, q.ID) != feedback.Verifying {
				t.Errorf("%v %s", err, status(t, b, q.ID))
			}
		}
		got, err := b.Before(ctx, "check")
		if err != nil || len(got.Feedback) != 0 || len(got.Answers) != 1 || got.Requests[0].Do != feedback.Verify {
			t.Fatalf("%+v %v", got, err)
		}
		l = plan.Loop{Port: "check", Requests: got.Requests}
		for _, s := range []plan.LoopStatus{plan.Running, plan.Paused, plan.Failed} { // they say nothing of the work
			if l.Status = s; b.Settle(ctx, l, "") != nil || status(t, b, q.ID) != feedback.Verifying {
				t.Errorf("%s: %s", s, status(t, b, q.ID))
			}
		}
		for range 2 {
			if l.Status = plan.Success; b.Settle(ctx, l, "") != nil || status(t, b, q.ID) != feedback.Resolved {
				t.Errorf("%s", status(t, b, q.ID))
			}
		}
	})
	t.Run("an end counts for the round that its pair ran in alone", func(t *testing.T) {
		b := newBook()
		id := send(t, b, "check", "model", "FIX_REQUEST").ID
		before, err := b.Before(ctx, "model")
		if err != nil {
			t.Fatal(err)
		}
		old := plan.Loop{Port: "model", Status: plan.Success, Requests: before.Requests}
		if err := b.Settle(ctx, old, ""); err != nil {
			t.Fatal(err)
		}
		send(t, b, "check", "model", "FIX_REQUEST") // it did not help
		if _, err := b.Before(ctx, "model"); err != nil {
			t.Fatal(err)
		}
		if err := b.Settle(ctx, old, ""); err != nil || status(t, b, id) != feedback.Processing {
			t.Errorf("%v %s", err, status(t, b, id))
		}
	})
	t.Run("many senders at once lose nothing (S3-67 S3-18)", func(t *testing.T) {
		b := newBook()
		var all sync.WaitGroup
		for i := range 12 {
			all.Go(func() { send(t, b, fmt.Sprintf("n%d", i), "model", "FIX_REQUEST") })
		}
		all.Wait()
		if r, err := b.State(ctx); err != nil || len(r.Of("ports/run-1").Open()) != 12 {
			t.Errorf("%v", err)
		}
	})
	t.Run("the root's stands with people, and what is planned no longer is withdrawn (S3-24)", func(t *testing.T) {
		b := newBook()
		root, gone := send(t, b, "check", "workflow-root", "DEPENDENCY_MISSING").ID, send(t, b, "n1", "model", "FIX_REQUEST").ID
		links := b.Plan.(feedback.Nodes).Links
		delete(links, "n1")
		for range 2 {
			r, err := b.Hand(ctx)
			x, _ := r.ByID(gone)
			if err != nil || status(t, b, root) != feedback.Processing || x.Status != feedback.Failed || !strings.Contains(x.Withdrawn, "n1") {
				t.Errorf("%v %+v", err, x)
			}
		}
		if got, err := b.Receive(ctx, "workflow-root"); err != nil || len(got.Feedback) != 1 || got.Answers == nil {
			t.Errorf("%+v %v", got, err)
		}
	})
	t.Run("a register that is not readable is an error that says where", func(t *testing.T) {
		b := newBook()
		if _, err := b.Ledger.Append(ctx, routing.StreamKey("acme/app", routing.StreamFeedbackRequests), "", []routing.Event{{Type: "feedback.queued", Data: json.RawMessage(`{"feedback_id": "FB-009"}`)}}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Before(ctx, "model"); err == nil || !strings.Contains(err.Error(), "event 1 of stream acme/app!edges") {
			t.Error(err)
		}
	})
}
