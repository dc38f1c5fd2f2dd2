package github

import (
	"context"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/e2e"
)

func TestDispatchedRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"README.md": "x\n"})
	ctx := context.Background()
	run := func(title, file, event string) *e2e.Run {
		return w.repo.AddRun(e2e.Run{HeadSHA: w.repo.SHA(t, "main"), HeadBranch: "main", Event: event, Name: "Agent", Title: title, Path: ".github/workflows/" + file, Status: "in_progress"})
	}
	want := run("Agent key=abc", "agent.yml", "workflow_dispatch")
	run("Agent key=abc", "other.yml", "workflow_dispatch")
	run("a pull request named key=abc", "agent.yml", "pull_request")
	for i := range 120 { // beyond a page
		run("Agent key="+string(rune('a'+i%26))+"x", "agent.yml", "workflow_dispatch")
	}
	got, found, err := w.Dispatches.FindRun(ctx, w.r, "agent.yml", time.Now().Add(-time.Minute), "key=abc")
	if err != nil || !found || got.ID != want.ID || got.Status != "in_progress" || got.Conclusion != "" || got.Title != "Agent key=abc" {
		t.Errorf("%+v %v %v", got, found, err)
	}
	if _, found, err := w.Dispatches.FindRun(ctx, w.r, "agent.yml", time.Now().Add(time.Hour), "key=abc"); err != nil || found {
		t.Errorf("found one from before: %v", err)
	}
	if _, found, err := w.Dispatches.FindRun(ctx, w.r, "agent.yml", time.Now().Add(-time.Minute), "key=abd"); err != nil || found {
		t.Errorf("found another: %v", err)
	}
	if _, _, err := w.Dispatches.FindRun(ctx, w.r, "agent.yml", time.Now(), ""); err == nil {
		t.Error("anything was found by nothing")
	}
	if err := w.Runs.Cancel(ctx, w.r, want.ID); err != nil {
		t.Error(err)
	}
	if d := w.repo.Dispatches(); len(d) != 1 || d[0].Kind != "cancel" {
		t.Errorf("%+v", d)
	}
	w.view.Fault(e2e.Fault{Method: "POST", Status: 409})
	if err := w.Runs.Cancel(ctx, w.r, want.ID); err != nil {
		t.Errorf("a run that has ended: %v", err)
	}
	if got := ok(w.Repositories.DefaultBranch(ctx, w.r))(t); got != "main" {
		t.Errorf("%q", got)
	}
	w.repo.SetRun(want.ID, func(r *e2e.Run) {
		r.Status, r.Conclusion, r.Ended = "completed", "success", r.Started.Add(2*time.Minute)
	})
	if x := ok(w.Runs.Get(ctx, w.r, want.ID, 0))(t); x.Conclusion != "success" || x.UpdatedAt.Sub(x.StartedAt) != 2*time.Minute {
		t.Errorf("%+v", x)
	}
}
