package worker

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/sleep"
	"github.com/switchback-ci/switchback/routing/plan"
)

// ErrNotAwaited says that the end of a dispatched workflow was heard of that the
// port does not wait for: it has gone on since, or its job waits itself.
var ErrNotAwaited = errors.New("the port does not wait for this")

// errLeft ends a run of a pair whose worker goes on without it.
var errLeft = errors.New("a workflow is at work")

// Workflows is where workers that are workflows run.
type Workflows struct {
	GitHub   *github.Client
	Repo     github.Repo
	Ref      string        // that they run on if the port names none; "": the default branch
	LeaseTTL time.Duration // how long a dispatch is left to the process that recorded it; 0: a minute
	First    time.Duration // between two looks at a run, longer with each; 0: 5 seconds
	Most     time.Duration // at most; 0: a minute
	Leave    bool          // do not wait: whoever hears of the end goes on

	// Patience is how long is waited on the spot for what is over soon, such as another
	// process's dispatch; longer it is a *github.Error with the advice Later. 0: as long as it takes.
	Patience time.Duration
}

// skew is how far the clocks of this machine and of GitHub may be apart.
const skew = 10 * time.Minute

// Away reports whether all workers of a port are workflows.
func Away(s plan.Spec) bool {
	return s.Dispatched()
}

// await is one worker that is a workflow, until it has ended.
type await struct {
	workflows *Workflows
	recorder  *loopRecorder
	dispatch  dispatchRecord
	inbox     *inbox
	root, dir string
	ref       string              // that the workflow runs on if its command names none
	expect    string              // see Pair.Expect
	heard     *github.WorkflowRun // see Pair.Heard
	analyze   analysis.Input      // how the run of a testing worker is analyzed
	loop      plan.Loop
	role      plan.Role
	c         *plan.Command
	fresh     bool // this process recorded that it dispatches, and no other can have
	found     github.WorkflowRun
	later     error // of GitHub's, in the newest step
}

// await returns the worker of a role, which is a workflow.
func (p *Pair) await(rec *loopRecorder, in *inbox, ref string, l plan.Loop, role plan.Role, c *plan.Command) *await {
	return &await{
		workflows: p.Workflows, recorder: rec, inbox: in, root: p.Root, dir: p.Dir, ref: ref, expect: p.Expect, heard: p.Heard, loop: l, role: role, c: c,
		dispatch: dispatchRecord{recorder: rec, loop: l, role: role, leave: p.Workflows.Leave},
		analyze:  analysis.Input{Rules: p.Rules, Criteria: p.Criteria, Language: p.Language},
	}
}

// run dispatches the workflow, once, and waits for the end of its run. It asks
// GitHub less and less often. The dispatch is recorded before it is sent and
// after; in between it is left to the process that recorded it for the time of a
// lease. Another one looks for the run, which shows the key, until that is over,
// and sends it only then.
func (a *await) run(ctx context.Context) (worked, error) {
	sent := a.recorder.worker
	if sent == nil || sent.Key == "" {
		return worked{}, fmt.Errorf("port %s: a workflow is in progress that nobody recorded", a.loop.Port) // unreachable: the step before did
	}
	a.fresh = sent.Mark == a.recorder.mark && !sent.Sent
	wait, began := newBackoff(a.workflows), time.Now()
	for {
		again, w, err := a.step(ctx)
		if w != nil || err != nil {
			return orZeroWorked(w), err
		}
		if s := a.limits(ctx); s != nil {
			return a.ended(s), nil
		}
		if a.workflows.Leave && a.recorder.worker.Sent {
			if err := a.dispatch.end(ctx); a.later == nil || a.workflows.Patience == 0 || !errors.Is(err, errLeft) {
				return worked{}, err
			}
			return worked{}, a.later // who heard of the end is to hear of it again
		}
		d := a.before(max(wait.next(), again))
		if x := a.workflows; x.Patience > 0 && time.Since(began)+d > x.Patience {
			return worked{}, a.giveUp(ctx, d)
		}
		_ = sleep.For(ctx, d) // the loop looks at ctx
	}
}

// giveUp lets whoever comes back after a time go on.
func (a *await) giveUp(ctx context.Context, after time.Duration) error {
	if err := a.dispatch.end(ctx); !errors.Is(err, errLeft) {
		return err
	}
	return &github.Error{Kind: advice.Later, After: max(after, time.Second), Op: "go on with port " + a.recorder.spec.ID, Message: "its workflow is not dispatched yet"}
}

// before returns a time to wait that does not go beyond the pair's own.
func (a *await) before(d time.Duration) time.Duration {
	if a.loop.Timeout <= 0 {
		return d
	}
	return max(0, min(d, a.loop.StartedAt.Add(a.loop.Timeout).Sub(a.recorder.journal.Now())+time.Millisecond))
}

func orZeroWorked(w *worked) worked {
	if w == nil {
		return worked{}
	}
	return *w
}

// step looks for the run, or sends the dispatch. It returns what the worker
// left once it has ended, and how long to wait at least until the next step.
func (a *await) step(ctx context.Context) (again time.Duration, w *worked, err error) {
	if a.later = nil; ctx.Err() != nil {
		return 0, nil, nil
	}
	if !a.fresh {
		if again, w, err = a.look(ctx); w != nil || err != nil || a.found.ID != 0 || again > 0 {
			return again, w, err
		}
	}
	if a.recorder.worker.Sent {
		return 0, nil, nil
	}
	if left := a.recorder.journal.Now().Sub(a.recorder.worker.At) - a.leaseTTL(); !a.fresh && left < 0 {
		return 0, nil, nil
	}
	return a.send(ctx)
}

func (a *await) leaseTTL() time.Duration { return cmp.Or(a.workflows.LeaseTTL, time.Minute) }

// look asks how the run is.
func (a *await) look(ctx context.Context) (time.Duration, *worked, error) {
	x, known, err := a.workflows, a.found.ID, error(nil)
	switch {
	case known != 0:
		a.found, err = x.GitHub.Runs.Get(ctx, x.Repo, known, 0)
	case a.heard != nil && a.recorder.worker.Key == a.expect:
		a.found = *a.heard
	default:
		a.found, _, err = a.find(ctx)
	}
	if err == nil && known == 0 && a.found.ID != 0 && !a.recorder.worker.Sent {
		if err := a.dispatch.sent(ctx); err != nil {
			return 0, nil, err
		}
	}
	if err == nil && a.found.Status == "completed" && a.found.Conclusion != "" {
		var w worked
		if w, err = a.result().read(ctx); err == nil {
			return 0, &w, nil
		}
	}
	return a.trouble(ctx, err)
}

func (a *await) find(ctx context.Context) (github.WorkflowRun, bool, error) {
	x := a.workflows
	return x.GitHub.Dispatches.FindRun(ctx, x.Repo, a.recorder.worker.Workflow, a.recorder.worker.At.Add(-skew), a.recorder.worker.Mark)
}

// trouble says what to do about an error of GitHub's: what may be over later is
// waited for, as long as the pair may take.
func (a *await) trouble(ctx context.Context, err error) (time.Duration, *worked, error) {
	what := advice.Of(err)
	switch {
	case err == nil || ctx.Err() != nil:
		return 0, nil, nil
	case what.Kind == advice.Later:
		a.later = err
		return max(what.After, time.Second), nil, nil
	}
	return 0, &worked{err: err, tape: NewTape(0, 0), url: a.found.URL}, nil
}

// send dispatches the workflow, after it has recorded so. An answer that is lost
// is waited for as another process would.
func (a *await) send(ctx context.Context) (time.Duration, *worked, error) {
	x := a.workflows
	if now := a.recorder.journal.Now(); now.Sub(a.recorder.worker.At) >= a.leaseTTL()/2 {
		w := *a.recorder.worker
		w.At = now
		if err := a.dispatch.note(ctx, plan.WorkerSpawn, w); err != nil {
			return 0, nil, err
		}
	}
	a.fresh = false
	ref := cmp.Or(a.c.Ref, a.ref)
	sctx, stop := context.WithTimeout(ctx, a.leaseTTL()/2)
	defer stop()
	var err error
	if ref == "" {
		if ref, err = x.GitHub.Repositories.DefaultBranch(sctx, x.Repo); err != nil {
			return a.trouble(ctx, err)
		}
	}
	d := plan.Dispatch{Plan: a.recorder.plan, Port: a.recorder.spec.ID, Role: a.role, Turn: a.loop.Attempt, Mark: a.recorder.worker.Mark}
	if err = x.GitHub.Dispatches.StartWorkflow(sctx, x.Repo, a.recorder.worker.Workflow, ref, a.inputs(d)); err != nil {
		return a.trouble(ctx, err)
	}
	return 0, nil, a.dispatch.sent(ctx)
}

// inputs are what a worker would read from its files.
func (a *await) inputs(d plan.Dispatch) map[string]string {
	_, data := a.inbox.feed(a.loop, a.root)
	if data == nil {
		return d.Inputs(a.loop, a.recorder.spec, nil, nil)
	}
	var f struct {
		plan.TestFeedback
		Requests json.RawMessage `json:"requests"`
	}
	if err := json.Unmarshal(data, &f); err != nil {
		panic(err) // unreachable: it was just written
	}
	var requests bytes.Buffer
	if len(f.Requests) > 0 {
		_ = json.Compact(&requests, f.Requests) // as above
	}
	return d.Inputs(a.loop, a.recorder.spec, &f.TestFeedback, requests.Bytes())
}

// limits returns how the pair ends if it was cancelled or its time is over.
func (a *await) limits(ctx context.Context) *step {
	if ctx.Err() != nil {
		return cancelled(a.loop, a.recorder.journal.Now())
	}
	l, acts, err := a.loop.Tick(0, a.recorder.journal.Now())
	if err != nil || l.Status == plan.Running {
		return nil
	}
	switch {
	case !a.recorder.worker.Sent:
		l = l.Explained(fmt.Sprintf("The workflow %s could not be dispatched in that time.", a.recorder.worker.Workflow), "See whether GitHub had an outage, and run the port again.")
	case a.found.ID == 0:
		l = l.Explained(fmt.Sprintf("The workflow %s was dispatched, but no run of it shows the key %s in its name.", a.recorder.worker.Workflow, a.recorder.worker.Key),
			fmt.Sprintf("Write `run-name: ${{ inputs.key }}` in %s, and see whether it began at all.", a.recorder.worker.Workflow))
	default:
		l = l.Explained("Its run was still at work: "+a.found.URL, "Read the run's log: "+a.found.URL)
	}
	return &step{l, acts}
}

// ended ends the run, as a process of a worker would be, and returns how the
// pair stands. A run that cannot be ended does no harm but for its cost.
func (a *await) ended(s *step) worked {
	w := worked{broken: s, tape: NewTape(0, 0), url: a.found.URL}
	if !a.recorder.worker.Sent && a.fresh {
		return w
	}
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	x, run, err := a.workflows, a.found, error(nil)
	if run.ID == 0 {
		run, _, err = a.find(ctx)
	}
	if err == nil && run.ID != 0 && run.Status != "completed" {
		err = x.GitHub.Runs.Cancel(ctx, x.Repo, run.ID)
	}
	if err != nil {
		w.notes = append(w.notes, "its run could not be ended: "+err.Error())
	}
	return w
}

// dispatchRecord records how far the dispatch of a worker is.
type dispatchRecord struct {
	recorder *loopRecorder
	loop     plan.Loop
	role     plan.Role
	leave    bool // do not wait for the run
	left     bool
}

// sent records that GitHub took the dispatch.
func (d *dispatchRecord) sent(ctx context.Context) error {
	w := *d.recorder.worker
	w.Sent = true
	return d.note(ctx, plan.WorkerDispatch, w)
}

func (d *dispatchRecord) note(ctx context.Context, kind plan.EventKind, w plan.Spawn) error {
	return d.recorder.record(ctx, func(j plan.Journal) []plan.Event {
		out := []plan.Event{{Kind: kind, Session: sessionOf(d.loop, d.role), Iteration: d.loop.Attempt, Spawn: &w}}
		if d.leave && w.Sent {
			out = append(out, leaving(j))
			d.left = true
		}
		return out
	})
}

// end lets whoever hears of the worker's end go on.
func (d *dispatchRecord) end(ctx context.Context) error {
	if !d.left {
		if err := d.recorder.record(ctx, func(j plan.Journal) []plan.Event { return []plan.Event{leaving(j)} }); err != nil {
			return err
		}
	}
	return errLeft
}

func leaving(j plan.Journal) plan.Event {
	me := *j.Runner
	me.Left = true
	return plan.Event{Kind: plan.RunnerChanged, Runner: &me}
}

// backoff is how long to wait between looks at a run.
type backoff struct{ at, most time.Duration }

func newBackoff(x *Workflows) *backoff {
	return &backoff{cmp.Or(x.First, 5*time.Second), cmp.Or(x.Most, time.Minute)}
}

func (b *backoff) next() time.Duration {
	d := b.at
	b.at = min(b.at*3/2, b.most)
	return d
}

// WorkflowsOf returns where workflows run, as the environment of a job says:
// they run on the job's own branch or tag, and without one on the default branch.
func WorkflowsOf(c *github.Client, repo github.Repo, getenv func(string) string) *Workflows {
	x := &Workflows{GitHub: c, Repo: repo}
	if ref := getenv("GITHUB_REF"); getenv("GITHUB_ACTIONS") == "true" && (strings.HasPrefix(ref, "refs/heads/") || strings.HasPrefix(ref, "refs/tags/")) {
		x.Ref = ref
	}
	x.LeaseTTL, _ = time.ParseDuration(getenv("SWITCHBACK_LEASE_TTL"))
	if d, err := time.ParseDuration(getenv("SWITCHBACK_POLL_INTERVAL")); err == nil && d > 0 {
		x.First, x.Most = d, 8*d
	}
	return x
}
