package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/plans/planfile"
	"github.com/switchback-ci/switchback/bot/plans/requests"
	"github.com/switchback-ci/switchback/routing/diagnosis"
	"github.com/switchback-ci/switchback/routing/plan"
)

// Pair runs the two workers of one port in turn until the test passes or someone
// else is needed.
type Pair struct {
	Journal  *Journal
	Plan     string
	Spec     plan.Spec
	Settings plan.Settings
	Build    string          // the session of the build it belongs to
	Requests *requests.Store // feedback between the ports of the plan; nil: none
	Root     string          // where commands run
	Dir      string          // what is kept of the port, an absolute path
	Env      []string
	Me       plan.Runner
	Again    bool          // although the same content passed
	TakeOver bool          // although another process is recorded to run it
	Grace    time.Duration // between the signals that ask a worker to end and that end it

	// Hash returns the hash of a port's content; nil: that of the files below Root.
	Hash func(plan.Spec) (string, error)

	Workflows *Workflows          // where workers that are workflows run; nil: nowhere
	Expect    string              // the key of the dispatch that is to be at work, else ErrNotAwaited; "" for whatever is
	Heard     *github.WorkflowRun // the run of that, once it has ended
	Handed    *plan.Known         // as what the port was handed out: a pair is begun once for it; nil: for nothing
	Silent    time.Duration       // after which a process that goes on by events counts as ended, wherever it is; 0: never

	Rules    *diagnosis.Rules // nil: those built in
	Criteria config.Criteria
	Language string
}

// Check returns why a port cannot be run; workflows says whether workflows can be
// dispatched.
func Check(s plan.Spec, workflows bool) error {
	switch {
	case s.Test == nil:
		return fmt.Errorf("port %s has no test; without one nothing says that it is done", s.ID)
	case !workflows && (s.Test.Workflow != "" || s.Impl != nil && s.Impl.Workflow != ""):
		return fmt.Errorf("port %s is done by a workflow that is dispatched; set SWITCHBACK_GITHUB_TOKEN to a token that may start it (actions: write), and name the repository with --repo", s.ID)
	case s.Status == plan.Held || s.Status == plan.Completed:
		return fmt.Errorf("port %s is %s; set its status to pending to run it", s.ID, s.Status)
	}
	return nil
}

// Run runs the pair, or continues the one that a process before left, and
// returns how it ended. A pass of the same content is returned as it is. When
// ctx ends, the workers are ended and the pair has failed. The error says that
// the port could not be run, or that the ledger could not be written; ErrBusy and
// ErrTaken that another process runs it. A pair that still runs is one whose
// worker is a workflow that is not waited for.
func (p *Pair) Run(ctx context.Context) (plan.Result, error) {
	if err := Check(p.Spec, p.Workflows != nil); err != nil {
		return plan.Result{}, err
	}
	hash, err := p.hash()
	if err != nil {
		return plan.Result{}, err
	}
	in, err := p.openInbox(ctx)
	if err != nil {
		return plan.Result{}, err
	}
	rec := &loopRecorder{journal: p.Journal, plan: p.Plan, spec: p.Spec, me: p.Me, mark: newID()}
	j, passed, err := p.begin(ctx, rec, in.Requests, hash)
	if err != nil || passed {
		if passed {
			return *j.Result, p.keep(*j.Result)
		}
		return plan.Result{}, err
	}
	run := &loopRun{
		spec: p.Spec, root: p.Root, files: files{p.Dir}, hash: p.hash, inbox: in, recorder: rec, commands: p.commands(in.buildName()),
		workflow: func(l plan.Loop, role plan.Role, c *plan.Command) *await {
			return p.await(rec, in, j.Runner.Ref, l, role, c)
		},
	}
	over := make(chan struct{})
	defer close(over)
	if !Away(p.Spec) { // the channel is for commands
		relay, err := newRelay(p.Journal, *j.Loop, in.routes(), func(session string, x Raised) error {
			q := raising{session, x, make(chan error, 1)}
			select {
			case run.commands.raises <- q:
				return <-q.answer
			case <-over:
				return errors.New("the pair has ended")
			}
		})
		if err != nil {
			return plan.Result{}, err
		}
		defer relay.close()
		run.commands.relay = relay
	}
	l := *j.Loop
	for l.Status == plan.Running {
		if l, err = run.next(ctx, l); errors.Is(err, errLeft) {
			return plan.ResultOf(l, ""), p.keep(plan.ResultOf(l, ""))
		} else if err != nil {
			return plan.Result{}, err
		}
	}
	if j, err = p.Journal.Load(context.WithoutCancel(ctx)); err != nil {
		return plan.Result{}, err
	}
	if err := in.settle(ctx, j); err != nil {
		return plan.Result{}, err
	}
	return *j.Result, p.keep(*j.Result)
}

func (p *Pair) hash() (string, error) {
	if p.Hash != nil {
		return p.Hash(p.Spec)
	}
	return planfile.Hash(p.Root, p.Spec)
}

// silent reports whether who runs the pair has recorded nothing for so long that it
// has ended.
func (p *Pair) silent(j plan.Journal, now time.Time) bool {
	return p.Silent > 0 && j.Runner.Events && now.Sub(j.Updated) >= p.Silent
}

func (p *Pair) keep(r plan.Result) error { return files{p.Dir}.write("result.json", asJSON(r)) }

// begin takes the port over from the process that ran it before, and begins a loop or continues the
// one that is there, for the wanted feedback requests.
func (p *Pair) begin(ctx context.Context, rec *loopRecorder, wanted []plan.WorkerRequest, hash string) (j plan.Journal, passed bool, err error) {
	var orphan *plan.Spawn
	j, _, err = p.Journal.Record(ctx, func(j plan.Journal) ([]plan.Event, error) {
		now := p.Journal.Now()
		passed, orphan = false, j.Worker
		if err := p.expected(j); err != nil {
			return nil, err
		}
		switch {
		case j.Loop != nil && j.Loop.Status == plan.Running:
			if j.Runner != nil && !p.TakeOver && !p.silent(j, now) {
				if err := mayTake(p.Me, *j.Runner); err != nil {
					return nil, err
				}
			}
			l := j.Resumed(now)
			l.Requests = wanted
			out := []plan.Event{{Kind: plan.RunnerChanged, At: now, Runner: p.taking(j)}, {Kind: plan.PairChanged, At: now, Pair: &l}}
			if dispatched(p.Spec, j.Worker, l) {
				return out, nil // it is in progress
			}
			return append(out, rec.spawn(l, now)...), nil
		case j.Passed != "" && j.Passed == hash && j.Result != nil && j.Result.Status == plan.Success && !p.Again && len(wanted) == 0:
			passed = true
			return nil, nil
		}
		return p.first(j, rec, wanted, now), nil
	})
	if err == nil && !passed {
		endOrphans(p.Me, orphan)
		rec.worker, rec.since = j.Worker, j.Updated
	}
	return j, passed, err
}

// first are the events with which a pair begins.
func (p *Pair) first(j plan.Journal, rec *loopRecorder, wanted []plan.WorkerRequest, now time.Time) []plan.Event {
	build := p.Build
	if j.Pairs > 0 {
		build = fmt.Sprintf("%s~%d", build, j.Pairs+1)
	}
	l, acts := plan.NewLoop(build, p.Spec, p.Settings, now)
	l = j.GoOn(l)
	l.Requests = wanted
	out := []plan.Event{{Kind: plan.RunnerChanged, At: now, Runner: p.me()}}
	operator, impl, test := plan.PairSessions(build, p.Spec.ID)
	for _, s := range []plan.Session{{ID: build, Kind: plan.BuildSession}, operator, impl, test} {
		out = append(out, plan.Event{Kind: plan.SessionStart, At: now, Session: s.ID, Started: &s})
	}
	return append(out, rec.step(l, acts, plan.Journal{}, "", now)...)
}

// expected returns why the pair does not wait for what Expect says.
func (p *Pair) expected(j plan.Journal) error {
	switch h := p.Heard; {
	case p.Expect == "" && p.Handed != nil && p.Handed.Begun(j):
		return fmt.Errorf("port %s: %w: it was begun", p.Spec.ID, ErrNotAwaited)
	case p.Expect == "":
		return nil
	case j.Loop == nil || j.Loop.Status != plan.Running || j.Worker == nil || j.Worker.Key != p.Expect:
		return fmt.Errorf("%s: %w", p.Expect, ErrNotAwaited)
	case j.Runner == nil || !j.Runner.Events:
		return fmt.Errorf("%s: %w: its job does", p.Expect, ErrNotAwaited)
	case h != nil && (h.Event != "workflow_dispatch" || path.Base(h.WorkflowPath) != j.Worker.Workflow || !strings.EqualFold(h.HeadRepo, p.Workflows.Repo.String()) || !strings.Contains(h.Title, p.Expect)):
		return fmt.Errorf("%s: %w: run %d is none of %s", p.Expect, ErrNotAwaited, h.ID, j.Worker.Workflow) // whoever may name a run may write anything there
	}
	return nil
}

// taking is who runs the pair from now on. Whoever goes on with it because of an
// event does so for the run that the port was handed out to.
func (p *Pair) taking(j plan.Journal) *plan.Runner {
	me := p.me()
	if p.Expect != "" && j.Runner != nil {
		me.Of, me.Ref = cmp.Or(j.Runner.Of, j.Runner.Run), j.Runner.Ref
	}
	return me
}

// me is this process as it runs a pair by itself.
func (p *Pair) me() *plan.Runner {
	me := p.Me
	if p.Workflows != nil {
		me.Events, me.Ref = p.Workflows.Leave, p.Workflows.Ref
	}
	return &me
}
