package handler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/quarantine"
)

// reconcile finishes interrupted work, and looks for what no event said.
type reconcile struct{ Deps }

// Handle implements Handler.
func (h reconcile) Handle(ctx context.Context, _ *Event) (bool, error) {
	return true, Reconcile(ctx, h.Deps)
}

// Reconcile applies pending effects of cases, looks after open escalation issues, reminds of surveys
// and closes them, and continues the ports of plans. What fails does not keep the rest from it.
func Reconcile(ctx context.Context, d Deps) error {
	return errors.Join(reconcileLedger(ctx, d), d.Builds.Reconcile(ctx, d))
}

func reconcileLedger(ctx context.Context, d Deps) error {
	keys, err := d.Ledger.Keys(ctx)
	if err != nil {
		return fmt.Errorf("listing the ledger: %w", err)
	}
	var failed error
	bases, needed := bases{}, map[string]map[string]bool{}
	quarantined := slices.Contains(keys, routing.StreamKey(d.Repo.String(), routing.StreamQuarantine))
	flakes := newFlakeSearch(quarantine.State{})
	if quarantined {
		st, err := Quarantine(d).State(ctx)
		failed, flakes = err, newFlakeSearch(st)
	}
	for _, key := range keys {
		switch {
		case key == routing.StreamKey(d.Repo.String(), routing.StreamSurveys):
			failed = errors.Join(failed, reconcileSurveys(ctx, d))
		case !routing.IsRepositoryStream(key):
			failed = errors.Join(failed, reconcileCase(ctx, d, key, bases, needed, flakes))
		}
	}
	failed = errors.Join(failed, ledger.ForgetBlobs(ctx, d.Ledger, needed, mostForgotten), reconcileQuarantine(ctx, d, quarantined, flakes))
	if slices.Contains(keys, routing.StreamKey(d.Repo.String(), routing.StreamEscalations)) {
		failed = errors.Join(failed, newEscalationReconciler(d).reconcile(ctx))
	}
	return failed
}

// reconcileCase applies what is pending for a case, resumes it if its base passes what it is on hold
// for, and follows its hand-off. It notes the blobs that the case needs, by their folder, and which of its tests flake.
func reconcileCase(ctx context.Context, d Deps, key string, known bases, needed map[string]map[string]bool, flakes *flakeSearch) error {
	events, _, err := d.Ledger.Load(ctx, key)
	if err != nil {
		return err
	}
	c, err := routing.Fold(key, events)
	if err != nil {
		return err
	}
	flakes.add(c)
	if hadBlobs(events) {
		needed[ledger.BlobFolder(key)] = routing.KeptBlobs(c)
	}
	if err := known.resume(ctx, d, c); err != nil {
		return err
	}
	if len(c.Pending) > 0 {
		if err := finish(ctx, d, c); err != nil {
			return err
		}
		d.notice("finished what was pending for %s", key)
		if c, err = load(ctx, d, key); err != nil {
			return err
		}
	}
	return handoffs{d}.follow(ctx, c)
}

func newEscalationReconciler(d Deps) escalationReconciler {
	return escalationReconciler{newAnswerer(d), issueState{newCases(d)}}
}

// unheard is how long Submit is ticked, or an issue closed, before its event counts as lost.
const unheard = 5 * time.Minute

// escalationReconciler looks after the issues of escalations.
type escalationReconciler struct {
	answerer
	state issueState
}

// reconcile finishes answers whose process was killed, and looks after the open issues. Where Submit
// is ticked and its event was lost, nobody knows who ticked it: it is unticked, with a reply that
// asks for it again. Questions that an edit removed are restored. An issue that was closed or
// deleted without an event is handled as if the event had come.
func (h escalationReconciler) reconcile(ctx context.Context) error {
	reg, err := h.register(ctx)
	if err != nil {
		return err
	}
	var failed error
	for _, rec := range reg.Records {
		for _, a := range rec.Answers {
			if !a.Fanned {
				failed = errors.Join(failed, h.give(ctx, rec, a.Generation))
			}
		}
		if rec.Open() && rec.Number > 0 {
			failed = errors.Join(failed, h.gone(ctx, h.lookAfter(ctx, rec)))
		}
	}
	return failed
}

func (h escalationReconciler) lookAfter(ctx context.Context, rec escalation.Record) error {
	i, err := h.GitHub.Issues.Get(ctx, h.Repo, rec.Number)
	switch {
	case errors.Is(err, github.ErrMoved):
		return h.state.lost(ctx, rec, "deleted")
	case err != nil || h.Now().Sub(i.UpdatedAt) < unheard:
		return err
	case i.State == "closed" && !i.ClosedByBot:
		return h.state.closedUnheard(ctx, rec, i)
	case i.State != "open" || !rec.DismissedAt.IsZero():
		return nil
	}
	p, ok := answers.Parse(i.Body)
	once := fmt.Sprintf("reconcile/%d/%d", rec.Number, i.UpdatedAt.Unix())
	switch {
	case !ok:
		if err := redraw(ctx, h.Deps, rec, func(live string) string { return live }); err != nil {
			return err
		}
		return h.reply(ctx, rec.Number, once, render.Restored(h.words()))
	case p.Submitted():
		if err := touch(ctx, h.Deps, rec, func(live string) string { return answers.Untick(live, answers.Submit) }); err != nil {
			return err
		}
		return h.reply(ctx, rec.Number, once, render.Unheard(h.words()))
	}
	return nil
}
