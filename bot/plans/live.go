package plans

import (
	"context"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/marker"
	"github.com/switchback-ci/switchback/routing/plan"
)

// mostLive is how many ports of a round may show their turns as they go: each
// showing costs about six requests of GitHub's API, and a repository has 1,000 an
// hour. Of a larger round it is shown at its end how it went.
const mostLive = 10

// Live shows in the plan's issue that a port which this run was handed is in a
// turn, or, with turn 0, how it ended. What is known already, or is older than what
// is shown, changes nothing.
func (d *Runner) Live(ctx context.Context, id string, turn int) error {
	if d.Issues == nil {
		return nil
	}
	news := false
	reg, err := d.change(ctx, func(r plan.BuildState) ([]routing.Event, error) {
		news = false
		if !live(r) {
			return nil, nil
		}
		add, err := d.turned(ctx, r, id, turn)
		news = len(add) > 0
		return add, err
	})
	if err != nil || !news {
		return err
	}
	if reg.Requests, err = d.open(ctx, reg); err != nil {
		return err
	}
	b := d.Plan.Board(d.Settings, reg, d.Hashes)
	calls, err := d.lead(ctx, b)
	if err != nil {
		return err
	}
	_, err = d.draw(ctx, reg, b, calls)
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

// turned returns what to record of a port in a turn, or at its end. A port whose
// process ended without saying how is left to the end of the round.
func (d *Runner) turned(ctx context.Context, r plan.BuildState, id string, turn int) ([]routing.Event, error) {
	if turn > 0 {
		return r.Turned(id, d.Run, turn, d.Now()), nil
	}
	k, ok := r.Ports[id]
	if !ok || k.Standing != plan.IsRunning || k.Build != r.Build.ID || k.Run != d.Run {
		return nil, nil
	}
	events, _, err := d.Ledger.Load(ctx, d.portKey(id))
	if err != nil {
		return nil, err
	}
	j, err := plan.FoldJournal(events)
	if err != nil || j.Loop == nil || j.Loop.Status == plan.Running || len(j.Loop.Requests) > 0 {
		return nil, err // what it ran for is settled with the round
	}
	now := k.Heard(j)
	if now.Standing == plan.IsRunning || now.Pair != j.Loop.ID {
		return nil, nil
	}
	return []routing.Event{r.End(d.Plan.As(map[string]plan.Known{id: now}), d.Now())}, nil
}

// lead notes in b which issues call people to its ports. It returns how many
// events the register of those has.
func (d *Runner) lead(ctx context.Context, b plan.Board) (int, error) {
	if d.Escalator == nil {
		return 0, nil
	}
	esc, err := d.Escalator.Escalations(ctx)
	if err != nil {
		return 0, err
	}
	for i, row := range b.Rows {
		for _, rec := range esc.Open(d.portKey(row.ID), row.ID) {
			b.Rows[i].Issue = rec.Number
		}
	}
	return esc.Version, nil
}

// marker orders what the plan's issue says: both registers grow with every change,
// so an older state never replaces a newer.
func (d *Runner) marker(reg plan.BuildState, calls int) string {
	return marker.Format(d.Key(), reg.Version+calls)
}
