package plans

import (
	"context"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan"
)

// mostLive is how many ports of a round may show their turns as they go: each
// showing costs about six requests of GitHub's API, and a repository has 1,000 an
// hour. Of a larger round it is shown at its end how it went.
const mostLive = 10

// ShowProgress shows in the plan's issue that a port which is assigned to this run is in a
// turn, or, with turn 0, how it ended. What is known already, or is older than what
// is shown, changes nothing.
func (t TrackingIssue) ShowProgress(ctx context.Context, id string, turn int) error {
	if t.issues == nil {
		return nil
	}
	news := false
	reg, err := t.store.change(ctx, func(r plan.BuildState) ([]routing.Event, error) {
		news = false
		if !live(r) {
			return nil, nil
		}
		add, err := t.progress(ctx, r, id, turn)
		news = len(add) > 0
		return add, err
	})
	if err != nil || !news {
		return err
	}
	if reg.Requests, err = t.requests.open(ctx, reg); err != nil {
		return err
	}
	b := t.schedule.board(reg)
	calls, err := t.link(ctx, b)
	if err != nil {
		return err
	}
	_, err = t.draw(ctx, reg, b, calls)
	return err
}

// live reports whether the newest round of a build shows turns.
func live(r plan.BuildState) bool {
	n := 0
	for _, k := range r.Ports {
		if k.Build == r.Build.ID && k.Round == r.Build.Rounds {
			n++
		}
	}
	return r.Issue > 0 && n <= mostLive
}

// progress returns what to record of a port in a turn, or at its end. A port whose
// process ended without saying how is left to the end of the round.
func (t TrackingIssue) progress(ctx context.Context, r plan.BuildState, id string, turn int) ([]routing.Event, error) {
	if turn > 0 {
		return r.Turned(id, t.run, turn, t.now()), nil
	}
	k, ok := r.Ports[id]
	if !ok || k.Standing != plan.IsRunning || k.Build != r.Build.ID || k.Run != t.run {
		return nil, nil
	}
	j, err := t.store.Journal(ctx, id)
	if err != nil || j.Loop == nil || j.Loop.Status == plan.Running || len(j.Loop.Requests) > 0 {
		return nil, err // what it ran for is settled with the round
	}
	now := k.Heard(j)
	if now.Standing == plan.IsRunning || now.Pair != j.Loop.ID {
		return nil, nil
	}
	return []routing.Event{r.End(t.schedule.plan.As(map[string]plan.Known{id: now}), t.now())}, nil
}

// link notes in b which issues escalate its ports. It returns how many events the escalations have.
func (t TrackingIssue) link(ctx context.Context, b plan.Board) (int, error) {
	if t.escalator == nil {
		return 0, nil
	}
	esc, err := t.escalator.Escalations(ctx)
	if err != nil {
		return 0, err
	}
	for i, row := range b.Rows {
		for _, rec := range esc.Open(t.store.portKey(row.ID), row.ID) {
			b.Rows[i].Issue = rec.Number
		}
	}
	return esc.Version, nil
}
