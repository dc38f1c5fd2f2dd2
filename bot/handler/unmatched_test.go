package handler

import (
	"context"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/routing"
)

// Where the base has runs of the checkpoint, its globs are right: a missing report is a finding about
// the run, also the first one.
func TestFirstUnmatched(t *testing.T) {
	t.Parallel()
	ctx, repo, now := context.Background(), github.Repo{Owner: "acme", Name: "app"}, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	led := &ledger.Memory{}
	v := routing.Verdict{Checkpoint: "unit", Result: routing.Pass, Run: routing.Run{ID: "1", SHA: "abc"}, At: now}
	d := routing.Decide(routing.Case{Key: "acme/app@main"}, v, routing.DefaultPolicy(), now)
	if _, err := led.Append(ctx, "acme/app@main", "", []routing.Event{routing.RunEvent("acme/app@main", v, d, now)}); err != nil {
		t.Fatal(err)
	}
	deps := Deps{Repo: repo, Ledger: led}
	for _, c := range []struct {
		name    string
		subject effect.Subject
		at      string // the checkpoint
		v       routing.Verdict
		want    bool
	}{
		{"the base has runs of the checkpoint", effect.Subject{Number: 1, Base: "main"}, "unit", routing.Verdict{Unmatched: true}, false},
		{"the base has runs of another checkpoint", effect.Subject{Number: 1, Base: "main"}, "e2e", routing.Verdict{Unmatched: true}, true},
		{"the base has no runs", effect.Subject{Number: 1, Base: "next"}, "unit", routing.Verdict{Unmatched: true}, true},
		{"a branch", effect.Subject{Branch: "main"}, "unit", routing.Verdict{Unmatched: true}, true},
		{"a merge group", effect.Subject{Branch: "gh-readonly-queue/main/pr-1-abc"}, "unit", routing.Verdict{Unmatched: true}, false},
		{"a report was found", effect.Subject{Number: 1, Base: "next"}, "unit", routing.Verdict{}, false},
	} {
		got, err := firstUnmatched(ctx, deps, CheckpointRun{Subject: c.subject, Checkpoint: c.at}, c.v)
		if err != nil || got != c.want {
			t.Errorf("%s: %v %v", c.name, got, err)
		}
	}
}
