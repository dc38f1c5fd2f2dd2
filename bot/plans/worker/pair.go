package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	Edges    *requests.Store // feedback between the ports of the plan; nil: none
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

	edges  *inbox
	raises chan raising
	mark   string      // of the worker that is begun next
	worker *plan.Spawn // that is at work, as it is recorded
	since  time.Time   // of the last event that is recorded
	ref    string      // that workflows run on whose command names none
}

type raising struct {
	session string
	Raised
	answer chan error
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

// Run runs the pair, or goes on with the one that a process before left, and
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
	if p.edges, err = p.openInbox(ctx); err != nil {
		return plan.Result{}, err
	}
	j, passed, err := p.begin(ctx, hash)
	if err != nil || passed {
		if passed {
			return *j.Result, p.keep(*j.Result)
		}
		return plan.Result{}, err
	}
	p.raises = make(chan raising)
	over := make(chan struct{})
	defer close(over)
	var r *relay
	if !Away(p.Spec) { // the channel is for commands
		if r, err = newRelay(p.Journal, *j.Loop, p.edges.routes(p.Spec.ID), func(session string, x Raised) error {
			q := raising{session, x, make(chan error, 1)}
			select {
			case p.raises <- q:
				return <-q.answer
			case <-over:
				return errors.New("the pair has ended")
			}
		}); err != nil {
			return plan.Result{}, err
		}
		defer r.close()
	}
	l := *j.Loop
	for l.Status == plan.Running {
		why, err := p.waits(ctx, p.edges)
		if err != nil {
			return plan.Result{}, err
		}
		if why != "" && !p.dispatched(p.worker, l) {
			l, err = p.pause(ctx, l, why)
		} else {
			l, err = p.turn(ctx, l, roleOf(l), r)
		}
		if errors.Is(err, errLeft) {
			return l.Result(""), p.keep(l.Result(""))
		}
		if err != nil {
			return plan.Result{}, err
		}
	}
	if j, err = p.Journal.Load(context.WithoutCancel(ctx)); err != nil {
		return plan.Result{}, err
	}
	if err := p.settleEdges(ctx, j); err != nil {
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

// begin takes the port over from whoever ran it before, and begins a pair or
// goes on with the one that is there.
func (p *Pair) begin(ctx context.Context, hash string) (j plan.Journal, passed bool, err error) {
	var orphan *plan.Spawn
	p.mark = newID()
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
			l.Requests = p.edges.Requests
			out := []plan.Event{{Kind: plan.RunnerChanged, At: now, Runner: p.taking(j)}, {Kind: plan.PairChanged, At: now, Pair: &l}}
			if p.dispatched(j.Worker, l) {
				return out, nil // it is at work
			}
			return append(out, p.spawn(l, now)...), nil
		case j.Passed != "" && j.Passed == hash && j.Result != nil && j.Result.Status == plan.Success && !p.Again && len(p.edges.Requests) == 0:
			passed = true
			return nil, nil
		}
		return p.first(j, now), nil
	})
	if err == nil && !passed {
		endOrphans(p.Me, orphan)
		p.worker, p.since, p.ref = j.Worker, j.Updated, j.Runner.Ref
	}
	return j, passed, err
}

// first are the events with which a pair begins.
func (p *Pair) first(j plan.Journal, now time.Time) []plan.Event {
	build := p.Build
	if j.Pairs > 0 {
		build = fmt.Sprintf("%s~%d", build, j.Pairs+1)
	}
	l, acts := plan.NewLoop(build, p.Spec, p.Settings, now)
	l = l.GoOn(j)
	l.Requests = p.edges.Requests
	out := []plan.Event{{Kind: plan.RunnerChanged, At: now, Runner: p.me()}}
	operator, impl, test := plan.PairSessions(build, p.Spec.ID)
	for _, s := range []plan.Session{{ID: build, Kind: plan.BuildSession}, operator, impl, test} {
		out = append(out, plan.Event{Kind: plan.SessionStart, At: now, Session: s.ID, Started: &s})
	}
	return append(out, p.events(l, acts, plan.Journal{}, "", now)...)
}

// events are what a step of the pair is recorded as.
func (p *Pair) events(l plan.Loop, acts []plan.Action, j plan.Journal, hash string, now time.Time) []plan.Event {
	var out []plan.Event
	add := func(e plan.Event) { e.At = now; out = append(out, e) }
	channel := &plan.Channel{ID: l.ChannelID, SessionA: l.ImplSession, SessionB: l.TestSession, Status: plan.ChannelActive, CreatedAt: now}
	for _, a := range acts {
		switch a.Kind {
		case plan.OpenChannel:
			add(plan.Event{Kind: plan.ChannelOpened, Session: l.Operator, Channel: channel})
		case plan.Send:
			if a.Message.Type == plan.FeedbackMessage {
				add(plan.Event{Kind: plan.WorkerFeedback, Session: l.TestSession, Iteration: l.CurrentTry, Feedback: l.Last})
			}
			add(plan.Event{Kind: plan.DirectMessage, Session: a.Message.From, Message: a.Message})
		case plan.CloseDown:
			channel.Status = plan.ChannelClosed
			add(plan.Event{Kind: plan.ChannelShut, Session: l.Operator, Channel: channel})
		case plan.Escalate:
			c := callOf(l, now)
			add(plan.Event{Kind: plan.EscalationNew, Session: l.Operator, Escalation: &c})
		}
	}
	add(p.progress(l))
	changed := plan.Event{Kind: plan.PairChanged, At: now, Session: l.Operator, Pair: &l}
	if l.Status == plan.Running {
		return append(append(out, changed), p.spawn(l, now)...)
	}
	r := l.Result(hash)
	changed.Result = &r
	out = append(out, changed)
	if l.Status == plan.Success {
		for _, c := range j.Waiting() {
			c.ResolvedBy, c.ResolvedAt = "switchback", now
			add(plan.Event{Kind: plan.EscalationResolved, Session: l.Operator, Escalation: &c})
		}
	}
	for _, s := range []string{l.ImplSession, l.TestSession, l.Operator} {
		add(plan.Event{Kind: plan.SessionEnd, Session: s, Outcome: l.Outcome, Reason: l.Reason})
	}
	return out
}

// spawn is the worker that is begun next. It is recorded with the step before it,
// as every append takes its time, and before it runs, so that it can be found.
func (p *Pair) spawn(l plan.Loop, now time.Time) []plan.Event {
	role := roleOf(l)
	c := p.command(role)
	if c == nil {
		return nil
	}
	w := &plan.Spawn{Role: role, Mark: p.mark, Host: p.Me.Host}
	if c.Workflow != "" {
		w = &plan.Spawn{Role: role, Mark: p.mark, Workflow: c.Workflow, At: now,
			Key: plan.Dispatch{Plan: p.Plan, Port: p.Spec.ID, Role: role, Turn: l.Attempt, Mark: p.mark}.Key()}
	}
	return []plan.Event{{Kind: plan.WorkerSpawn, At: now, Session: sessionOf(l, role), Iteration: l.Attempt, Spawn: w}}
}

// roleOf is whose turn it is.
func roleOf(l plan.Loop) plan.Role {
	if l.Phase == plan.Testing {
		return plan.Test
	}
	return plan.Impl
}

func sessionOf(l plan.Loop, role plan.Role) string {
	if role == plan.Test {
		return l.TestSession
	}
	return l.ImplSession
}

func (p *Pair) command(role plan.Role) *plan.Command {
	if role == plan.Test {
		return p.Spec.Test
	}
	return p.Spec.Impl
}

func (p *Pair) progress(l plan.Loop) plan.Event {
	session, task := l.ImplSession, fmt.Sprintf("turn %d of %d: %s", l.Attempt, l.MaxRetries+1, l.Phase)
	if l.Phase == plan.Testing {
		session = l.TestSession
	}
	if l.Status != plan.Running {
		session, task = l.Operator, "ended: "+string(l.Outcome)
	}
	return plan.Event{Kind: plan.WorkerProgress, Session: session,
		Progress: &plan.Progress{Session: session, Port: l.Port, Progress: l.Share(), Task: task, Tokens: l.Tokens}}
}

func callOf(l plan.Loop, now time.Time) plan.Escalation {
	f := l.Escalation
	return plan.Escalation{ID: l.ID + "/escalation", Session: l.Operator, Port: l.Port, Type: f.Type, Severity: f.Severity, Title: f.Title, Text: f.Description,
		Context:   map[string]any{"kind": f.Kind, "text": f.Context, "iterations": l.CurrentTry, "tokens_used": l.Tokens},
		Suggested: orNone(slices.Clone(f.Suggested)), CreatedAt: now}
}

// record appends events, unless another process has taken over. It is done even
// if ctx has ended: what happened is to be known.
func (p *Pair) record(ctx context.Context, fn func(plan.Journal) []plan.Event) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
	defer stop()
	j, _, err := p.Journal.Record(ctx, func(j plan.Journal) ([]plan.Event, error) {
		if j.Runner == nil {
			return nil, ErrLost
		}
		if j.Runner.ID != p.Me.ID {
			return nil, ErrTaken
		}
		return fn(j), nil
	})
	if err == nil {
		p.worker, p.since = j.Worker, j.Updated
	}
	return err
}
