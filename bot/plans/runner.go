// Package plans runs a plan of ports in rounds: it assigns the ports that are ready, records their
// results, and shows the status of the plan in an issue. All state is in a ledger, so that any run
// can continue.
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
	Get(ctx context.Context, r github.Repo, number int) (github.Issue, error)
	Upsert(ctx context.Context, r github.Repo, marker string, spec github.IssueSpec, ref string) (github.Issue, bool, error)
	CloseAs(ctx context.Context, r github.Repo, number int, reason string, comment markdown.Text, marker string) (bool, error)
	Reopen(ctx context.Context, r github.Repo, number int, comment markdown.Text, marker string) (bool, error)
}

// Labels is what a Runner does to the labels of its issue.
type Labels interface {
	Sync(ctx context.Context, r github.Repo, issue int, current []string, add, remove []github.LabelSpec) (bool, error)
}

// Starts is how a Runner goes on in another run.
type Starts interface {
	StartWorkflow(ctx context.Context, r github.Repo, workflow, ref string, inputs map[string]string) error
	HasRunSince(ctx context.Context, r github.Repo, event string, since time.Time, needle string) (bool, error)
}

// Runner runs the builds of a plan in rounds.
type Runner struct {
	Ledger    ledger.Ledger
	Issues    Issues // nil: the plan is not shown
	Labels    Labels // nil only if Issues is
	Starts    Starts
	Checks    Checks    // nil: it is not shown on commits
	Escalator Escalator // nil: nothing is escalated
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
	Shard     int         // jobs of a round, plan.ShardSize if 0
	Now       func() time.Time

	// LeaseTTL is how long others leave to a process what it has begun on GitHub; 0: there are no
	// others.
	LeaseTTL time.Duration
}

// Round is what is to be run next.
type Round struct {
	plan.Matrix
	Build string
	// Feedback is under what the feedback of the build stands in the stream of feedback requests.
	Feedback string
	Level    int  // the number of the round, counted from 1 in a build
	More     bool // ports are left that may still run, those of the matrix included
	Board    plan.Board
}

// Store returns the stream of the plan.
func (d *Runner) Store() Store { return Store{ledger: d.Ledger, repo: d.Repo.String(), plan: d.Name} }

// Results returns what records the results of ports.
func (d *Runner) Results() Results {
	return Results{store: d.Store(), requests: d.requests(), plan: d.Plan, now: d.Now}
}

// Served returns the build as a server drives it.
func (d *Runner) Served() ServedBuild {
	return ServedBuild{
		store: d.Store(), results: d.Results(), requests: d.requests(), schedule: scheduleOf(d), next: plan.Build{URL: d.URL, SHA: d.SHA}, now: d.Now,
	}
}

// Starter returns what starts the workflow of the plan.
func (d *Runner) Starter() Starter {
	return Starter{store: d.Store(), requests: d.requests(), schedule: scheduleOf(d), dispatcher: dispatcherOf(d)}
}

// Issue returns the issue of the plan.
func (d *Runner) Issue() TrackingIssue {
	return TrackingIssue{
		issues: d.Issues, labels: d.Labels, checks: d.Checks, escalator: d.Escalator, store: d.Store(), requests: d.requests(), schedule: scheduleOf(d),
		dispatcher: dispatcherOf(d), repo: d.Repo, render: d.Render, run: d.Run, now: d.Now,
	}
}

func (d *Runner) requests() feedbackRequests {
	return feedbackRequests{ledger: d.Ledger, repo: d.Repo.String(), name: d.Name, plan: d.Plan, now: d.Now}
}

func scheduleOf(d *Runner) schedule {
	return schedule{plan: d.Plan, settings: d.Settings, hashes: d.Hashes, shard: d.Shard}
}

func dispatcherOf(d *Runner) dispatcher {
	return dispatcher{store: d.Store(), starts: d.Starts, repo: d.Repo, leaseTTL: d.LeaseTTL, now: d.Now}
}

// Begin continues a build, or, with "" or if another has begun since, begins one, and assigns the
// ports that are ready. Results that an earlier run left unrecorded are recorded first.
func (d *Runner) Begin(ctx context.Context, build string) (Round, error) {
	reg, err := d.Store().State(ctx)
	if err != nil {
		return Round{}, err
	}
	found, err := d.Results().read(ctx, reg, func(_ string, k plan.Known) bool { return k.Standing == plan.IsRunning })
	if err != nil {
		return Round{}, err
	}
	if reg, err = d.Results().record(ctx, found); err != nil {
		return Round{}, err
	}
	if own := ownBuild(d); build == "" || build != reg.Build.ID {
		feedback, err := d.requests().nameFor(ctx, reg, own)
		if err != nil {
			return Round{}, err
		}
		reg, err = d.Store().change(ctx, func(r plan.BuildState) ([]routing.Event, error) {
			if r.Build.ID == own { // this very step, again
				return nil, nil
			}
			return []routing.Event{r.Begin(plan.Build{ID: own, Run: d.Run, URL: d.URL, SHA: d.SHA, At: d.Now(), Feedback: feedback, Start: d.Start, Plan: d.Plan.Digest()})}, nil
		})
		if err != nil {
			return Round{}, err
		}
	}
	return d.assign(ctx, reg, reg.Build.Rounds+1)
}

// ownBuild is the name of a build that this run begins.
func ownBuild(d *Runner) string {
	if d.ID != "" {
		return d.ID
	}
	if d.Attempt > 1 {
		return fmt.Sprintf("run-%s-%d", d.Run, d.Attempt)
	}
	return "run-" + d.Run
}

// Collect records the results of the rounds of a build up to level, and assigns the next one. It may
// be done again. A build that is not the newest is an error.
func (d *Runner) Collect(ctx context.Context, build string, level int) (Round, error) {
	reg, err := d.collect(ctx, build, level)
	if err != nil {
		return Round{}, err
	}
	return d.assign(ctx, reg, level+1)
}

// CollectAll records the result of every port that ran in this run, as a workflow does that has no
// rounds, and assigns nothing.
func (d *Runner) CollectAll(ctx context.Context) (Round, error) {
	own := ownBuild(d)
	reg, err := d.Store().State(ctx)
	if err != nil {
		return Round{}, err
	}
	feedback, err := d.requests().nameFor(ctx, reg, own)
	if err != nil {
		return Round{}, err
	}
	reg, err = d.Store().change(ctx, func(r plan.BuildState) ([]routing.Event, error) {
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
	if reg.Requests, err = d.requests().deliver(ctx, reg); err != nil {
		return Round{}, err
	}
	return scheduleOf(d).round(reg, reg.Build.Rounds+1), nil
}

func (d *Runner) collect(ctx context.Context, build string, level int) (plan.BuildState, error) {
	reg, err := d.Store().State(ctx)
	if err != nil {
		return reg, err
	}
	if reg.Build.ID != build {
		return reg, fmt.Errorf("build %s of plan %s: %w (%s)", build, d.Name, plan.ErrNoBuild, reg.Build.ID)
	}
	found, err := d.Results().read(ctx, reg, func(_ string, k plan.Known) bool {
		if k.Build != build || k.Round > level {
			return false
		}
		return k.Standing == plan.IsRunning || k.Standing != plan.IsPassed && k.Run == d.Run && d.Attempt > 1
	})
	if err != nil {
		return reg, err
	}
	return d.Results().record(ctx, found)
}

// assign assigns a round, unless that is done already.
func (d *Runner) assign(ctx context.Context, reg plan.BuildState, level int) (Round, error) {
	build := reg.Build.ID
	var out Round
	open, err := d.requests().deliver(ctx, reg)
	if err != nil {
		return Round{}, err
	}
	reg, err = d.Store().change(ctx, func(r plan.BuildState) ([]routing.Event, error) {
		if r.Build.ID != build {
			return nil, plan.ErrNoBuild
		}
		r.Requests = open
		out = scheduleOf(d).round(r, level)
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
	out.Board = scheduleOf(d).board(reg)
	return out, nil
}

// Continue records the results of a level, assigns nothing, and, if ports are left,
// starts the workflow on ref anew, which continues the build. A run is started
// once: a dispatch whose answer was lost is looked for by its key, which the
// workflow shows in its run-name.
func (d *Runner) Continue(ctx context.Context, build string, level int, workflow, ref string, inputs map[string]string) (Round, error) {
	reg, err := d.collect(ctx, build, level)
	if err != nil {
		return Round{}, err
	}
	if reg.Requests, err = d.requests().deliver(ctx, reg); err != nil {
		return Round{}, err
	}
	out := scheduleOf(d).round(reg, level+1)
	if out.Empty {
		return out, nil
	}
	return out, dispatcherOf(d).start(ctx, reg, fmt.Sprintf("%s/%d", build, level+1), workflow, ref, inputs)
}

// Board returns the status of the plan in its newest build.
func (d *Runner) Board(ctx context.Context) (plan.Board, error) {
	reg, err := d.Store().State(ctx)
	if err != nil {
		return plan.Board{}, err
	}
	r, err := d.status(ctx, reg)
	return r.Board, err
}

// status returns the status of the plan, and assigns nothing.
func (d *Runner) status(ctx context.Context, reg plan.BuildState) (r Round, err error) {
	if reg.Requests, err = d.requests().open(ctx, reg); err != nil {
		return Round{}, err
	}
	r = Round{Build: reg.Build.ID, Feedback: reg.Build.Feedback, Board: scheduleOf(d).board(reg)}
	return r, nil
}
