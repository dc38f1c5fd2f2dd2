package handler

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/pipeline"
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
	Group      *MergeGroup           // of a merge group, where the event describes it
}

// Routed is what came of a run that was analyzed.
type Routed struct {
	CheckpointRun
	Output   analysis.Output
	Decision routing.Decision
	Case     routing.Case   // with the decision
	Render   render.Options // of texts about the run
	ReadOnly error          // why nothing was recorded or posted: GitHub refuses writes; nil if it does not
	// Missing are the permissions for want of which something was not posted or recorded, such as
	// "issues: write", and Refused is the error that says so. All else was.
	Missing []string
	Refused error
	// Unrecorded says that the decision was posted and not recorded: the token may not write the
	// ledger's branch. The next run does not know of it.
	Unrecorded bool
}

// Route analyzes a run, records the decision, applies its effects and reports what came of it.
func Route(ctx context.Context, d Deps, t CheckpointRun) error {
	if t.Subject.Group() && cancelled(t.Input.Conclusion) {
		d.notice("run %s of merge group %s was %s, which says nothing of it", t.Run.ID, t.Subject.Branch, t.Input.Conclusion)
		return nil
	}
	owner, err := ownersOf(ctx, d, t)
	if err != nil {
		return err
	}
	t.Input.Owner = owner
	out, err := analyze(d, t)
	if err != nil {
		return err
	}
	v := out.Verdict
	v.Checkpoint, v.Run, v.Head = t.Checkpoint, t.Run, t.Head
	if v, err = edited(ctx, d, t, v); err != nil {
		return err
	}
	if t.Subject, err = d.trusted(ctx, t.Subject); err != nil {
		return err
	}
	key := t.Subject.Key(d.Repo)
	if v.Whole, err = keepInventory(ctx, d, key, out.Inventory); err != nil {
		return err
	}
	if v.Names, err = keepInventory(ctx, d, key, out.Names); err != nil {
		return err
	}
	if t.Subject.Group() {
		if v.Group, err = groupOf(ctx, d, t, v); err != nil {
			return err
		}
		t.Subject.Base = v.Group.Base
	}
	base, err := baseOf(ctx, d, t, v)
	if err != nil {
		return err
	}
	if v.Unmatched, err = firstUnmatched(ctx, d, t, v); err != nil {
		return err
	}
	if v, err = withRegister(ctx, d, base, v); err != nil {
		return err
	}
	if v, err = base.compare(ctx, d, t, v); err != nil {
		return err
	}
	if v, err = base.size(ctx, d, t, v); err != nil {
		return err
	}
	if v, err = withIncident(ctx, d, t, v, base); err != nil {
		return err
	}
	r := Routed{CheckpointRun: t, Output: out, Render: d.Render(t.Run.URL)}
	line := newLine(d, t.Subject, effects(d, t.Subject, t.Run.URL))
	line.Compare = base.follow(d, out.Ran)
	rec, err := line.Record(ctx, key, v, policies(d, t.Subject))
	r.Decision, r.Case = rec.Decision, rec.Case
	var stuck error
	switch {
	case err != nil && !ReadOnly(err):
		return fmt.Errorf("recording the decision: %w", err)
	case err != nil:
		rec, posted, refused := unrecorded(ctx, d, t, v, line.Compare)
		if refused != nil && !ReadOnly(refused) {
			return refused
		}
		r.Decision, r.Case, r.Unrecorded = rec.Decision, rec.Case, refused == nil || posted
		if !r.Unrecorded {
			r.ReadOnly = refused
		}
		r.Missing = github.MissingPermissions(errors.Join(err, refused))
	default:
		if !rec.Decision.Repeated {
			d.Metrics.Decided(rec.Decision, v.Class)
		}
		if d.Waiter.Defer(key) {
			break
		}
		if r.Case, stuck = line.Apply(ctx, rec); ReadOnly(stuck) {
			if r.Missing = github.MissingPermissions(stuck); len(r.Missing) > 0 {
				r.Refused = stuck
			} else {
				r.ReadOnly = stuck
			}
			stuck = nil
		}
	}
	if err := d.Reporter.Routed(r); err != nil {
		return err
	}
	if r.ReadOnly != nil || r.Unrecorded || len(r.Missing) > 0 {
		return stuck
	}
	if t.Subject.Group() {
		return errors.Join(stuck, sawFlakes(ctx, d, r))
	}
	stuck = errors.Join(stuck, sawFlakes(ctx, d, r), afterIncident(ctx, d, r), handoffs{d}.overdue(ctx, r.Case))
	if t.Subject.Number == 0 {
		return errors.Join(stuck, resumeOnHold(ctx, d, t.Subject.Branch, r.Case, t.Checkpoint))
	}
	return errors.Join(stuck, base.resume(ctx, d, r.Case))
}

// firstUnmatched reports whether no report of a run was found, and none is known to have been found
// before: a base whose runs are recorded shows that the globs are right.
func firstUnmatched(ctx context.Context, d Deps, t CheckpointRun, v routing.Verdict) (bool, error) {
	if !v.Unmatched || t.Subject.Group() || t.Subject.Base == "" {
		return v.Unmatched && !t.Subject.Group(), nil
	}
	c, err := load(ctx, d, effect.Subject{Branch: t.Subject.Base}.Key(d.Repo))
	if _, err := permanent(err); err != nil {
		return false, err
	}
	return len(c.Checkpoints[t.Checkpoint].Runs) == 0, nil
}

// ReadOnly reports whether GitHub refused the request of err because the token may not write. The
// ledger's errors are those of the client below github.Hub.
func ReadOnly(err error) bool {
	return errors.Is(github.Wrap("", err), github.ErrReadOnly)
}

// unrecorded decides on a run that cannot be recorded, and posts the decision. What ran before is
// known as far as it was recorded. Nothing is called or started: without a record, nothing would
// bound how often. An error that ReadOnly reports leaves the decision valid; posted says whether
// anything of it was posted all the same.
func unrecorded(ctx context.Context, d Deps, t CheckpointRun, v routing.Verdict, compare func(context.Context, routing.Case, routing.Verdict) (routing.Verdict, error)) (rec pipeline.Recorded, posted bool, err error) {
	key := t.Subject.Key(d.Repo)
	events, _, err := d.Ledger.Load(ctx, key)
	if err != nil {
		return rec, false, err
	}
	memory := &ledger.Memory{}
	if _, err := memory.Append(ctx, key, "", events); err != nil {
		return rec, false, err
	}
	d.Ledger, d.Config.Handoff = memory, config.Handoffs{}
	only := &posts{Effector: d.Effects(t.Subject, t.Run.URL), fork: t.Subject.Fork}
	line := newLine(d, t.Subject, only)
	line.Compare = compare
	if rec, err = line.Record(ctx, key, v, policies(d, t.Subject)); err != nil {
		return rec, false, fmt.Errorf("deciding: %w", err)
	}
	c, err := line.Apply(ctx, rec)
	if err == nil || only.posted {
		rec.Case = c
	}
	return rec, only.posted, err
}

// posts applies the effects that show a decision, and takes all others as done. None of them is
// fresh: a run that was not recorded may have applied it. Once GitHub has refused one for a fork, it
// asks for no other: the token of a pull request from there may write nothing.
type posts struct {
	pipeline.Effector
	fork    bool
	mu      sync.Mutex
	refused error
	posted  bool
}

// Do implements pipeline.Effector.
func (p *posts) Do(ctx context.Context, c routing.Case, e routing.Effect, _ bool) (string, error) {
	switch e.Kind {
	case routing.EffectComment, routing.EffectCheck, routing.EffectIssue, routing.EffectClose:
	default:
		return "", nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fork && p.refused != nil {
		return "", p.refused
	}
	ref, err := p.Effector.Do(ctx, c, e, false)
	if ReadOnly(err) {
		p.refused = err
	}
	p.posted = p.posted || err == nil && ref != ""
	return ref, err
}

// namesTests reports whether the names of the tests of a run are kept: those of the default branch,
// so that a repository keeps each once.
func namesTests(d Deps, s effect.Subject) bool {
	return s.Number == 0 && s.Branch != "" && !s.Group() && (d.DefaultBranch == "" || s.Branch == d.DefaultBranch) && ledger.BlobsOf(d.Ledger) != nil
}

// ownersOf returns who owns the files of the tests whose names are kept, nil where that cannot be read.
func ownersOf(ctx context.Context, d Deps, t CheckpointRun) (func(file string) string, error) {
	if t.Review != nil || !namesTests(d, t.Subject) {
		return nil, nil
	}
	of, err := d.GitHub.CodeOwners.Of(ctx, d.Repo, t.Run.SHA)
	why, err := permanent(err)
	if err != nil || why != nil || of == nil {
		return nil, err
	}
	return func(file string) string { return strings.Join(of(file), " ") }, nil
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
	in.Tests, in.Checkpoint, in.Names = d.Reporter.Tests(), t.Checkpoint, namesTests(d, t.Subject)
	return analysis.Analyze(in)
}
