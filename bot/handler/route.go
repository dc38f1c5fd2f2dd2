package handler

import (
	"context"
	"errors"
	"fmt"

	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/redact"
)

// CheckpointRun is a run of a checkpoint, with what it left behind to be analyzed.
type CheckpointRun struct {
	Subject    effect.Subject
	Checkpoint string
	Run        routing.Run
	Head       string // newest commit of the subject, "" if unknown
	Input      analysis.Input
	Review     *routing.ReviewResult // of a review, which has no Input
}

// Routed is what came of a run that was analyzed.
type Routed struct {
	CheckpointRun
	Output   analysis.Output
	Decision routing.Decision
	Case     routing.Case   // with the decision
	Render   render.Options // of texts about the run
	ReadOnly error          // why nothing was recorded or posted: GitHub refuses writes; nil if it does not
}

// Route analyzes a run, records the decision, applies its effects and reports what came of it.
func Route(ctx context.Context, d Deps, t CheckpointRun) error {
	out, err := analyze(d, t)
	if err != nil {
		return err
	}
	v := out.Verdict
	v.Checkpoint, v.Run, v.Head = t.Checkpoint, t.Run, t.Head
	if v.Result == routing.Pass && t.Subject.Number > 0 && t.Review == nil {
		if v.Workflows, err = workflowFiles(ctx, d, t.Subject.Number); err != nil {
			return err
		}
	}
	r := Routed{CheckpointRun: t, Output: out, Render: d.Render(t.Run.URL)}
	key := t.Subject.Key(d.Repo)
	line := newLine(d, d.Effects(t.Subject, t.Run.URL))
	rec, err := line.Record(ctx, key, v, policies(d, t.Subject))
	r.Decision, r.Case = rec.Decision, rec.Case
	var stuck error
	switch {
	case err != nil && !ReadOnly(err):
		return fmt.Errorf("recording the decision: %w", err)
	case err != nil:
		r.ReadOnly = fmt.Errorf("recording the decision: %w", err)
		if r.Case, r.Decision, err = decide(ctx, d, t, v); err != nil {
			return err
		}
	default:
		if !rec.Decision.Repeated {
			d.Metrics.Decided(rec.Decision, v.Class)
		}
		if d.Waiter.Defer(key) {
			break
		}
		if r.Case, stuck = line.Apply(ctx, rec); ReadOnly(stuck) {
			r.ReadOnly, stuck = stuck, nil
		}
	}
	if err := d.Reporter.Routed(r); err != nil {
		return err
	}
	return stuck
}

// ReadOnly reports whether GitHub refused the request of err because the token may not write. The
// ledger's errors are those of the client below github.Hub.
func ReadOnly(err error) bool {
	return errors.Is(github.Wrap("", err), github.ErrReadOnly)
}

// decide decides without recording, for a token that may not write.
func decide(ctx context.Context, d Deps, t CheckpointRun, v routing.Verdict) (routing.Case, routing.Decision, error) {
	key := t.Subject.Key(d.Repo)
	c, err := load(ctx, d, key)
	if err != nil {
		return c, routing.Decision{}, err
	}
	decision := routing.Decide(c, v, policies(d, t.Subject)(v.Checkpoint), d.Now())
	if decision.Repeated {
		return c, decision, nil
	}
	c, err = c.Apply(routing.RunEvent(key, v, decision, d.Now()))
	return c, decision, err
}

// analyze returns the verdict of a run, and what it is made from.
func analyze(d Deps, t CheckpointRun) (analysis.Output, error) {
	failOn := d.Config.Policy(t.Checkpoint, "", nil).FailOn
	if t.Review != nil {
		v := routing.ReviewVerdict(t.Checkpoint, t.Run, *t.Review, failOn)
		return analysis.Output{Verdict: analysis.Bound(redact.Verdict(v))}, nil
	}
	in := t.Input
	in.Rules, in.Criteria, in.Language = d.Rules, d.Config.CriteriaOf(t.Checkpoint), d.Config.Language
	in.FailOn, in.Reviews = failOn, d.Config.AcceptsReviews(t.Checkpoint)
	in.Tests = d.Reporter.Tests()
	return analysis.Analyze(in)
}
