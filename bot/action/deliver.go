package action

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/sleep"
	"github.com/switchback-ci/switchback/routing"
)

// Work is what the App has for one delivery about a repository: whom it speaks
// as, where it records, and what the repository's default branch says.
type Work struct {
	AppID     int64 // of the GitHub App, 0 if unknown
	Repo      github.Repo
	Hub       *github.Hub
	Ledger    ledger.Ledger
	Config    config.File
	ServerURL string // where people see GitHub, "" for github.com
	Name      string // of this process and what it works on, among those that file issues
	ClaimTTL  time.Duration
	Now       func() time.Time
	Log       *slog.Logger

	// Plans keeps plans of ports between deliveries; it may be nil.
	Plans *PlanCache

	// Received is when the delivery came. What is to be done a while after it,
	// such as a hand-off, is done when that has passed since.
	Received time.Time
	// Hold records what is decided about runs and leaves its effects, for Finish:
	// of many runs of one case only the newest state is posted then.
	Hold bool
	// Decided is told of each decision about a run; it may be nil.
	Decided func(d routing.Decision, class routing.Class)
	// Done is told of each effect that was tried; it may be nil.
	Done func(kind routing.EffectKind, err error)
}

// patience is how long work is waited for on the spot. What takes longer comes
// back later, so that others get their turn.
const patience = 3 * time.Second

// ErrMalformed says that the payload of a delivery is not what its event says.
// Delivered again it would be the same.
var ErrMalformed = errors.New("the payload is malformed")

// Deliver does what an event of GitHub asks for, as the Action does when a
// workflow is started by it; what is none of its affair it leaves alone. It
// returns the keys of the cases whose effects it left, which are for Finish.
// hub.Verdict says what an error means and when to deliver again; delivered
// again, an event does nothing twice.
func Deliver(ctx context.Context, w Work, event string, payload []byte) (left []string, err error) {
	f, done, err := w.face(event, payload)
	if err != nil {
		return nil, err
	}
	defer done()
	command := f.command()
	switch {
	case f.incomplete(event):
		return nil, fmt.Errorf("%w: it lacks what the event %s is about", ErrMalformed, event)
	case event == "check_run" || event == "check_suite":
		return f.app.left, f.rerequested(ctx)
	case event == "push":
		return nil, f.pushed(ctx)
	case event == "pull_request" && f.event.Action == "closed":
		return nil, f.ended(ctx)
	case f.mayReplay(event):
		_, err = f.replay(ctx)
		return nil, err
	case command == "answer":
		_, err = f.answer(ctx)
		return f.app.left, err
	case command != "workflow-run" && command != "review":
		return nil, nil
	}
	var reentry error
	if command == "workflow-run" {
		if ours, err := f.workerEnded(ctx); ours || err != nil {
			return nil, err
		}
		reentry = f.reenter(ctx)
	}
	_, err = f.decide(ctx, command)
	return f.app.left, errors.Join(reentry, err)
}

// Finish carries out what is pending for a case.
func Finish(ctx context.Context, w Work, key string) error {
	f, done, err := w.face("", []byte("{}"))
	if err != nil {
		return err
	}
	defer done()
	c, err := f.load(ctx, key)
	if err != nil || len(c.Pending) == 0 {
		return err
	}
	return f.finish(ctx, c)
}

// Reconcile does what the time brings about in a repository: it finishes what was
// left, looks after open issues, and reminds of prompts and ends them.
func Reconcile(ctx context.Context, w Work) error {
	f, done, err := w.face("", []byte("{}"))
	if err != nil {
		return err
	}
	defer done()
	_, err = f.reconcileAll(ctx)
	return errors.Join(err, f.reconcilePorts(ctx))
}

// inside is the state of a delivery within the App's face.
type inside struct {
	Work
	left []string
}

// face builds the face for an event. What it returns second is to be called in
// the end.
func (w Work) face(event string, payload []byte) (*face, func(), error) {
	f := &face{app: &inside{Work: w}, repo: w.Repo, hub: w.Hub, led: w.Ledger, config: w.Config, process: w.Name, log: w.Log}
	if f.log == nil {
		f.log = slog.New(slog.DiscardHandler)
	}
	if err := json.Unmarshal(payload, &f.event); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	var err error
	if f.rules, err = analysis.Rules(w.Config); err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "switchback-delivery-")
	if err != nil {
		return nil, nil, err
	}
	given := map[string]string{
		"GITHUB_EVENT_NAME": event, "GITHUB_SERVER_URL": w.ServerURL, "RUNNER_TEMP": dir, "GITHUB_RUN_ID": w.Name,
	}
	if w.ClaimTTL > 0 {
		given["SWITCHBACK_CLAIM_TTL"] = w.ClaimTTL.String()
	}
	f.env = Env{Getenv: func(name string) string { return given[name] }, Stdout: io.Discard, Stderr: io.Discard, Now: w.Now}
	f.in = Inputs{Command: "auto", Workflows: w.Config.Workflows}
	return f, func() { _ = os.RemoveAll(dir) }, nil
}

// pause waits for others' work. The App does something else meanwhile and
// comes back.
func (f *face) pause(ctx context.Context, d time.Duration) error {
	if f.app != nil && d > patience {
		return &github.Error{Kind: github.Later, After: d, Message: "waits for its time"}
	}
	return sleep.For(ctx, d)
}

// delay waits before an effect. In the App it is counted from when the delivery
// came, so that coming back later does not begin it anew.
func (f *face) delay(ctx context.Context, d time.Duration) error {
	if f.app != nil && d > time.Second {
		d -= f.now().Sub(f.app.Received)
	}
	return f.pause(ctx, max(0, d))
}
