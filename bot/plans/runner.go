// Package plans walks through a plan of ports in rounds: it hands out the ports
// that are ready, takes in what came of them, and shows how the plan stands in an
// issue. What it knows stands in a ledger, so that any run can go on.
package plans

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan"
)

// Issues is what a Runner does to issues.
type Issues interface {
	Issue(ctx context.Context, r github.Repo, number int) (github.Issue, error)
	UpsertIssue(ctx context.Context, r github.Repo, marker string, spec github.IssueSpec, ref string) (github.Issue, bool, error)
	SyncLabels(ctx context.Context, r github.Repo, issue int, current []string, add, remove []github.LabelSpec) (bool, error)
	CloseIssueAs(ctx context.Context, r github.Repo, number int, reason string, comment markdown.Text, marker string) (bool, error)
	ReopenIssue(ctx context.Context, r github.Repo, number int, comment markdown.Text, marker string) (bool, error)
}

// Starts is how a Runner goes on in another run.
type Starts interface {
	DispatchWorkflow(ctx context.Context, r github.Repo, workflow, ref string, inputs map[string]string) error
	DispatchedSince(ctx context.Context, r github.Repo, event string, since time.Time, needle string) (bool, error)
}

// Runner is where a build of a plan is run from.
type Runner struct {
	Ledger    ledger.Ledger
	Issues    Issues // nil: the plan is not shown
	Starts    Starts
	Checks    Checks    // nil: it is not shown on commits
	Escalator Escalator // nil: nobody is called
	Repo      github.Repo
	Name      string // of the plan, in the ledger
	Plan      plan.Plan
	Settings  plan.Settings
	Hashes    map[string]string
	Render    render.Options
	Run       string // of GitHub Actions
	Attempt   int
	URL       string      // of the run
	SHA       string      // commit that the plan was read from, "" if unknown
	Start     *plan.Start // how another build is begun, nil if it cannot be
	ID        string      // of a build that it begins, if no run names it
	Most      int         // jobs of a round, port.ShardSize if 0
	Now       func() time.Time

	// Claim is how long what a process has begun on GitHub is left to it by others; 0:
	// no others are there.
	Claim time.Duration
}

// Round is what is to be run next.
type Round struct {
	plan.Matrix
	Build string
	// Feedback is under what the feedback of the build stands in the register of edges.
	Feedback string
	Level    int  // the number of the round, counted from 1 in a build
	More     bool // ports are left that may still run, those of the matrix included
	Board    plan.Board
}

// Key is the ledger key of the plan's register.
func (d *Runner) Key() string { return routing.PlanKey(d.Repo.String(), d.Name) }

// State reads the register.
func (d *Runner) State(ctx context.Context) (plan.BuildState, error) {
	return d.change(ctx, func(plan.BuildState) ([]routing.Event, error) { return nil, nil })
}

func (d *Runner) change(ctx context.Context, step func(plan.BuildState) ([]routing.Event, error)) (plan.BuildState, error) {
	r, err := ledger.Of(d.Ledger, d.Key(), plan.Projection).Update(ctx, step)
	if err != nil {
		return plan.BuildState{}, fmt.Errorf("the register of plan %s: %w", d.Name, err)
	}
	return r, nil
}

// Begin goes on with a build, or, with "" or if another has begun since, begins
// one, and hands out what is ready. What an earlier run handed out and never
// took in is taken in first.
func (d *Runner) Begin(ctx context.Context, build string) (Round, error) {
	reg, err := d.State(ctx)
	if err != nil {
		return Round{}, err
	}
	heard, err := d.hear(ctx, reg, func(_ string, k plan.Known) bool { return k.Standing == plan.IsRunning })
	if err != nil {
		return Round{}, err
	}
	if reg, err = d.end(ctx, heard); err != nil {
		return Round{}, err
	}
	if own := d.own(); build == "" || build != reg.Build.ID {
		feedback, err := d.goesOn(ctx, reg, own)
		if err != nil {
			return Round{}, err
		}
		reg, err = d.change(ctx, func(r plan.BuildState) ([]routing.Event, error) {
			if r.Build.ID == own { // this very step, again
				return nil, nil
			}
			return []routing.Event{r.Begin(plan.Build{ID: own, Run: d.Run, URL: d.URL, SHA: d.SHA, At: d.Now(), Feedback: feedback, Start: d.Start, Plan: d.Plan.Digest()})}, nil
		})
		if err != nil {
			return Round{}, err
		}
	}
	return d.hand(ctx, reg, reg.Build.Rounds+1)
}

// own is the name of a build that this run begins.
func (d *Runner) own() string {
	if d.ID != "" {
		return d.ID
	}
	if d.Attempt > 1 {
		return fmt.Sprintf("run-%s-%d", d.Run, d.Attempt)
	}
	return "run-" + d.Run
}

// Collect takes in what came of the rounds of a build up to level, and hands
// out the next one. It may be done again. A build that is not the newest is an
// error.
func (d *Runner) Collect(ctx context.Context, build string, level int) (Round, error) {
	reg, err := d.collect(ctx, build, level)
	if err != nil {
		return Round{}, err
	}
	return d.hand(ctx, reg, level+1)
}

// CollectAll takes in what came of every port that ran in this run, as a
// workflow does that has no rounds, and hands out nothing.
func (d *Runner) CollectAll(ctx context.Context) (Round, error) {
	own := d.own()
	reg, err := d.State(ctx)
	if err != nil {
		return Round{}, err
	}
	feedback, err := d.goesOn(ctx, reg, own)
	if err != nil {
		return Round{}, err
	}
	reg, err = d.change(ctx, func(r plan.BuildState) ([]routing.Event, error) {
		if r.Build.ID == own {
			return nil, nil
		}
		b := plan.Build{ID: own, Run: d.Run, URL: d.URL, SHA: d.SHA, At: d.Now(), Feedback: feedback, Start: d.Start, Plan: d.Plan.Digest()}
		r.Build = b
		return []routing.Event{r.Begin(b), r.Hand(d.Plan.Jobs(d.Settings, d.Plan.State(r, d.Hashes), d.Hashes, false).Matrix.Include, 1, d.Run, d.URL, d.Now())}, nil
	})
	if err != nil {
		return Round{}, err
	}
	if reg, err = d.collect(ctx, own, reg.Build.Rounds); err != nil {
		return Round{}, err
	}
	if reg.Requests, err = d.deliver(ctx, reg); err != nil {
		return Round{}, err
	}
	return d.round(reg, reg.Build.Rounds+1), nil
}

func (d *Runner) collect(ctx context.Context, build string, level int) (plan.BuildState, error) {
	reg, err := d.State(ctx)
	if err != nil {
		return reg, err
	}
	if reg.Build.ID != build {
		return reg, fmt.Errorf("build %s of plan %s: %w (%s)", build, d.Name, plan.ErrNoBuild, reg.Build.ID)
	}
	heard, err := d.hear(ctx, reg, func(_ string, k plan.Known) bool {
		if k.Build != build || k.Round > level {
			return false
		}
		return k.Standing == plan.IsRunning || k.Standing != plan.IsPassed && k.Run == d.Run && d.Attempt > 1
	})
	if err != nil {
		return reg, err
	}
	return d.end(ctx, heard)
}

// hear reads the journals of those ports that which chooses, and returns what
// is known of them then.
func (d *Runner) hear(ctx context.Context, reg plan.BuildState, which func(string, plan.Known) bool) (map[string]plan.Known, error) {
	heard := map[string]plan.Known{}
	for id, k := range reg.Ports {
		if !which(id, k) {
			continue
		}
		events, _, err := d.Ledger.Load(ctx, routing.PortKey(d.Repo.String(), d.Name, id))
		if err != nil {
			return nil, fmt.Errorf("the journal of port %s: %w", id, err)
		}
		j, err := plan.FoldJournal(events)
		if err != nil {
			return nil, fmt.Errorf("the journal of port %s: %w", id, err)
		}
		now := k.Heard(j)
		if now != k {
			heard[id] = now
		}
		if j.Loop != nil && now.Pair == j.Loop.ID {
			if err := d.book(reg).Settle(ctx, *j.Loop, j.Output()); err != nil {
				return nil, fmt.Errorf("the feedback that port %s ran for: %w", id, err)
			}
		}
	}
	return heard, nil
}

func (d *Runner) end(ctx context.Context, heard map[string]plan.Known) (plan.BuildState, error) {
	return d.change(ctx, func(r plan.BuildState) ([]routing.Event, error) {
		add := map[string]plan.Known{}
		for id, k := range heard {
			if have := r.Ports[id]; have != k && have.Build == k.Build && have.Round == k.Round {
				add[id] = k
			}
		}
		if len(add) == 0 {
			return nil, nil
		}
		return []routing.Event{r.End(d.Plan.As(add), d.Now())}, nil
	})
}

// hand hands out a round, unless that is done already.
func (d *Runner) hand(ctx context.Context, reg plan.BuildState, level int) (Round, error) {
	build := reg.Build.ID
	var out Round
	open, err := d.deliver(ctx, reg)
	if err != nil {
		return Round{}, err
	}
	reg, err = d.change(ctx, func(r plan.BuildState) ([]routing.Event, error) {
		if r.Build.ID != build {
			return nil, plan.ErrNoBuild
		}
		r.Requests = open
		out = d.round(r, level)
		fresh := slices.DeleteFunc(slices.Clone(out.Matrix.Matrix.Include), func(e plan.Entry) bool {
			k := r.Ports[e.ID]
			return k.Build == build && k.Standing == plan.IsRunning && k.Run == d.Run
		})
		add := r.Read(d.Plan.Links(), d.Now())
		if len(fresh) > 0 {
			add = append(add, r.Hand(fresh, level, d.Run, d.URL, d.Now()))
		}
		return add, nil
	})
	if err != nil {
		return Round{}, err
	}
	reg.Requests = open
	out.Board = d.Plan.Board(d.Settings, reg, d.Hashes)
	return out, nil
}

func (d *Runner) round(r plan.BuildState, level int) Round {
	most := d.Most
	if most <= 0 {
		most = plan.ShardSize
	}
	m := d.Plan.Round(d.Settings, r, d.Hashes, level, most)
	m.Empty = len(m.Matrix.Include) == 0
	return Round{Matrix: m, Build: r.Build.ID, Feedback: r.Build.Feedback, Level: level, More: !m.Empty, Board: d.Plan.Board(d.Settings, r, d.Hashes)}
}

// GoOn takes in what came of a level, hands out nothing, and, if ports are left,
// starts the workflow on ref anew, which goes on with the build. A run is started
// once: a dispatch whose answer was lost is looked for by its key, which the
// workflow shows in its run-name.
func (d *Runner) GoOn(ctx context.Context, build string, level int, workflow, ref string, inputs map[string]string) (Round, error) {
	reg, err := d.collect(ctx, build, level)
	if err != nil {
		return Round{}, err
	}
	if reg.Requests, err = d.deliver(ctx, reg); err != nil {
		return Round{}, err
	}
	out := d.round(reg, level+1)
	if out.Empty {
		return out, nil
	}
	return out, d.start(ctx, reg, fmt.Sprintf("%s/%d", build, level+1), workflow, ref, inputs)
}

// start starts the workflow that goes on with a build, once by its key.
func (d *Runner) start(ctx context.Context, reg plan.BuildState, key, workflow, ref string, inputs map[string]string) error {
	before, asked := reg.Sent[key]
	if asked {
		if err := d.claimed(before, "start "+workflow); err != nil {
			return err
		}
		if there, err := d.Starts.DispatchedSince(ctx, d.Repo, "workflow_dispatch", before, key); err != nil || there {
			return err
		}
	} else if err := d.ask(ctx, key, "start "+workflow); err != nil {
		return err
	}
	all := map[string]string{"build": key}
	for k, v := range inputs {
		all[k] = v
	}
	return d.Starts.DispatchWorkflow(ctx, d.Repo, workflow, ref, all)
}
