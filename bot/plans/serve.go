package plans

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan"
)

// A build that a server drives has no rounds that anybody waits for. Many processes
// may work at it at once: what each of them does is one append, and whoever comes
// second finds it done.

// BeginServed begins a build that a server drives, under a name that no build had
// before, unless refuse says that it is not wanted; it is asked with the newest state
// of the register. What ended in the build before is taken in first; what is at work
// is gone on with.
func (d *Runner) BeginServed(ctx context.Context, id string, refuse func(plan.BuildState) bool) error {
	if err := d.TakeIn(ctx); err != nil {
		return err
	}
	reg, err := d.State(ctx)
	if err != nil {
		return err
	}
	feedback, err := d.goesOn(ctx, reg, id)
	if err != nil {
		return err
	}
	_, err = d.change(ctx, func(r plan.BuildState) ([]routing.Event, error) {
		if r.Begun[id] || refuse != nil && refuse(r) {
			return nil, nil
		}
		b := plan.Build{ID: id, URL: d.URL, SHA: d.SHA, At: d.Now(), Feedback: feedback, Start: r.Build.Start, Plan: d.Plan.Digest(), Served: true}
		return []routing.Event{r.Begin(b)}, nil
	})
	return err
}

// Served is a port of a build that a server drives, as it was handed out, and how its
// pair stands.
type Served struct {
	ID      string
	Known   plan.Known
	Journal plan.Journal
}

// Ended reports whether the pair that the port was handed out to has ended.
func (s Served) Ended() bool {
	return s.Known.Begun(s.Journal) && s.Journal.Loop.Status != plan.Running
}

// Served returns the ports that are handed out and were not taken in since, in the
// order of the plan; none if no server drives the newest build.
func (d *Runner) Served(ctx context.Context) (plan.BuildState, []Served, error) {
	reg, err := d.State(ctx)
	if err != nil || !reg.Build.Served {
		return reg, nil, err
	}
	var out []Served
	for _, id := range d.Plan.Order() {
		k := reg.Ports[id]
		if k.Standing != plan.IsRunning || k.Build != reg.Build.ID {
			continue
		}
		j, err := d.Journal(ctx, id)
		if err != nil {
			return reg, nil, err
		}
		out = append(out, Served{id, k, j})
	}
	return reg, out, nil
}

// TakeIn takes in what came of the ports whose pairs have ended, and in which turn the
// others are.
func (d *Runner) TakeIn(ctx context.Context) error {
	_, all, err := d.Served(ctx)
	if err != nil {
		return err
	}
	var ended []string
	turns := map[string]Served{}
	for _, s := range all {
		switch {
		case s.Ended():
			ended = append(ended, s.ID)
		case s.Known.Begun(s.Journal) && s.Journal.Loop.Attempt > s.Known.Attempts:
			turns[s.ID] = s
		}
	}
	if len(ended) > 0 {
		if _, err := d.Ended(ctx, ended); err != nil {
			return err
		}
	}
	if len(turns) == 0 {
		return nil
	}
	_, err = d.change(ctx, func(r plan.BuildState) (add []routing.Event, _ error) {
		for id, s := range turns {
			add = append(add, r.Turned(id, s.Known.Run, s.Journal.Loop.Attempt, d.Now())...)
		}
		return add, nil
	})
	return err
}

// HandReady hands out what is ready in a build that a server drives, no more than may
// run at once, and returns how many ports these are.
func (d *Runner) HandReady(ctx context.Context) (int, error) {
	reg, err := d.State(ctx)
	if err != nil || !reg.Build.Served {
		return 0, err
	}
	build := reg.Build.ID
	open, err := d.deliver(ctx, reg)
	if err != nil {
		return 0, err
	}
	handed := 0
	_, err = d.change(ctx, func(r plan.BuildState) ([]routing.Event, error) {
		if handed = 0; r.Build.ID != build {
			return nil, nil // whoever began that hands out
		}
		r.Requests = open
		free := d.Settings.Concurrency()
		for id, k := range r.Ports {
			if k.Standing == plan.IsRunning && k.Build == build && d.Plan.Has(id) {
				free--
			}
		}
		level := r.Build.Rounds + 1
		add := r.Read(d.Plan.Links(), d.Now())
		if ready := d.Plan.Round(d.Settings, r, d.Hashes, level, max(0, free)).Matrix.Include; len(ready) > 0 {
			handed = len(ready)
			add = append(add, r.Hand(ready, level, build, "", d.Now()))
		}
		return add, nil
	})
	return handed, err
}

// Broke records that a port could not be run, and why.
func (d *Runner) Broke(ctx context.Context, id string, why error) error {
	reg, err := d.State(ctx)
	if err != nil {
		return err
	}
	k := reg.Ports[id]
	k.Standing, k.Reason, k.Passed = plan.IsFailed, why.Error(), false
	_, err = d.end(ctx, map[string]plan.Known{id: k})
	return err
}

// claimed returns that something is to be tried later, as another process may be at
// it.
func (d *Runner) claimed(since time.Time, what string) error {
	if left := d.Claim - d.Now().Sub(since); left > 0 {
		return &github.Error{Kind: advice.Later, After: left, Op: what, Message: "another process may have begun that"}
	}
	return nil
}

// files notes that this process files the plan's issue, or returns that another one
// may be at it.
func (d *Runner) files(ctx context.Context) error {
	const key = "issue"
	if err := d.ask(ctx, key, "show plan "+d.Name); err != nil {
		return err
	}
	reg, err := d.State(ctx)
	if err == nil && reg.Issue > 0 {
		err = &github.Error{Kind: advice.Later, After: time.Second, Op: "show plan " + d.Name, Message: "another process has filed its issue"}
	}
	return err
}

// ask records that something is about to be asked of GitHub, unless another process has
// a claim on that.
func (d *Runner) ask(ctx context.Context, key, what string) error {
	_, err := d.change(ctx, func(r plan.BuildState) ([]routing.Event, error) {
		if at, taken := r.Sent[key]; taken {
			if err := d.claimed(at, what); err != nil {
				return nil, err
			}
		}
		return []routing.Event{r.Send(key, d.Now())}, nil
	})
	return err
}

// Begins starts the workflow of the plan, which begins a build by itself, once by its
// key. It returns the file, "" if it is not known which one that is: file says so, else
// the newest build that a workflow began.
func (d *Runner) Begins(ctx context.Context, key, file, ref string) (string, error) {
	reg, err := d.State(ctx)
	if err != nil {
		return "", err
	}
	var inputs map[string]string
	if s := reg.Build.Start; s != nil {
		if file == "" || file == s.Workflow {
			inputs = s.Inputs
		}
		file = cmp.Or(file, s.Workflow)
	}
	if file == "" {
		return "", nil
	}
	if err := d.start(ctx, reg, key, file, ref, inputs); err != nil {
		return file, fmt.Errorf("starting the workflow of plan %s: %w", d.Name, err)
	}
	return file, nil
}
