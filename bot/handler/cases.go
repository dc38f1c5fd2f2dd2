package handler

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/bot/pipeline"
	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
)

// cases records what people decide about cases, and applies what follows.
type cases struct {
	Deps
	plans planActions
}

func newCases(d Deps) cases { return cases{Deps: d, plans: planFeedback{d}} }

// planActions are what people may do to plans of ports. A port, and feedback for the root of a
// plan, stand in the register of escalations under keys that are no case's.
type planActions interface {
	// Act records what a person decided about what is recorded under key, and does what follows.
	Act(ctx context.Context, key string, e routing.HumanActed) error
	// PlanOf returns the plan that an issue shows, "" if it is none's.
	PlanOf(ctx context.Context, is Issue) (string, error)
	// Targets returns the port of a plan that a command names, or the only one that waits.
	Targets(ctx context.Context, plan, name string) ([]target, error)
	// Send queues the feedback of a comment, and returns what could not be done.
	Send(ctx context.Context, c feedbackCommand) ([]markdown.Text, error)
	// Status describes a plan, and its open feedback.
	Status(ctx context.Context, plan string) ([]markdown.Text, error)
}

// target is a checkpoint of a case, or a port of a plan, that a command is about.
type target struct{ key, checkpoint string }

// load returns a case; of what belongs to a plan only its key.
func load(ctx context.Context, d Deps, key string) (routing.Case, error) {
	if routing.IsRepositoryStream(key) { // of a plan
		return routing.Case{Key: key}, nil
	}
	events, _, err := d.Ledger.Load(ctx, key)
	if err != nil {
		return routing.Case{Key: key}, fmt.Errorf("reading the ledger: %w", err)
	}
	return routing.Fold(key, events)
}

// act records what a person did to a case, and applies what follows. An answer that was recorded
// before is applied to its end, and is no error.
func (c cases) act(ctx context.Context, key string, e routing.HumanActed) (pipeline.Recorded, error) {
	if routing.IsRepositoryStream(key) {
		return pipeline.Recorded{Case: routing.Case{Key: key}}, c.plans.Act(ctx, key, e)
	}
	subject, err := subjectOf(ctx, c.Deps, key)
	if err != nil {
		return pipeline.Recorded{}, err
	}
	if e.Action == routing.HumanQuarantine {
		now, err := load(ctx, c.Deps, key)
		if err != nil {
			return pipeline.Recorded{}, err
		}
		if _, taken := now.Answered[e.Answer]; !taken || e.Answer == "" {
			if e, err = c.enter(ctx, now, e); err != nil {
				return pipeline.Recorded{}, err
			}
		}
	}
	if e.Action == routing.HumanAck || e.Action == routing.HumanResume {
		e.Clock = c.GitHub.Time()
	}
	line := newLine(c.Deps, subject, c.Effects(subject, ""))
	rec, err := line.Act(ctx, key, e, policies(c.Deps, subject))
	if err != nil {
		return rec, err
	}
	rec.Case, err = line.Apply(ctx, rec)
	return rec, err
}

// effectsOf applies effects of the case of a key. What belongs to a plan has no subject.
func effectsOf(ctx context.Context, d Deps, key string) (*effect.GitHub, error) {
	var subject effect.Subject
	if !routing.IsRepositoryStream(key) {
		var err error
		if subject, err = subjectOf(ctx, d, key); err != nil {
			return nil, err
		}
	}
	return d.Effects(subject, ""), nil
}

// Finish applies what is pending for the case of a key.
func Finish(ctx context.Context, d Deps, key string) error {
	c, err := load(ctx, d, key)
	if err != nil || len(c.Pending) == 0 {
		return err
	}
	return finish(ctx, d, c)
}

// finish applies the pending effects of a case.
func finish(ctx context.Context, d Deps, c routing.Case) error {
	subject, err := subjectOf(ctx, d, c.Key)
	if err != nil {
		return err
	}
	c, err = newLine(d, subject, effects(d, subject, "")).Apply(ctx, pipeline.Recorded{Case: c})
	return errors.Join(err, handoffs{d}.overdue(ctx, c))
}

// subjectOf returns the subject of the case of a key, a pull request as it is now.
func subjectOf(ctx context.Context, d Deps, key string) (effect.Subject, error) {
	s, err := effect.ParseSubject(d.Repo, key)
	if err != nil || s.Number == 0 {
		return s, err
	}
	pr, err := d.GitHub.PullRequests.Get(ctx, d.Repo, s.Number)
	if err != nil {
		return s, err
	}
	return d.trusted(ctx, effect.PullRequest(pr, d.DefaultBranch))
}

// policies gives the policies of the checkpoints of a subject.
func policies(d Deps, s effect.Subject) pipeline.Policies {
	label, config := overrideLabel(s.Labels), d.Config.At(d.Now())
	return func(checkpoint string) routing.Policy {
		return approvals(config.Policy(checkpoint, s.Ref(), label), config, s)
	}
}

// overrideLabel reads the label "switchback:max=5" of a pull request.
func overrideLabel(labels []string) *int {
	for _, l := range labels {
		rest, ok := strings.CutPrefix(strings.ToLower(l), "switchback:max=")
		if n, err := strconv.Atoi(rest); ok && err == nil && n >= 0 && n <= routing.HardCap {
			return &n
		}
	}
	return nil
}

// newLine returns a pipeline of a subject that applies effects with eff, and counts them.
func newLine(d Deps, s effect.Subject, eff pipeline.Effector) *pipeline.Pipeline {
	return &pipeline.Pipeline{
		Ledger: d.Ledger, Effector: counter{eff, d.Metrics}, Advise: effect.Advise, Owner: d.owner(), LeaseTTL: d.LeaseTTL,
		Now: d.Now, Clock: d.GitHub.Time, Sleep: d.Waiter.Pause, Log: d.Log, Policies: policies(d, s), MaxActions: d.Config.Policy("", "", nil).MaxActions,
		Deferred: d.Waiter.Defers(),
	}
}

// counter counts the effects of an Effector.
type counter struct {
	pipeline.Effector
	metrics Metrics
}

// Do implements pipeline.Effector.
func (n counter) Do(ctx context.Context, c routing.Case, e routing.Effect, fresh bool) (string, error) {
	ref, err := n.Effector.Do(ctx, c, e, fresh)
	n.metrics.Applied(e.Kind, err)
	return ref, err
}

// refused reports whether err is a refusal that the person is shown, and not a failure of the
// handler.
func refused(err error) bool {
	var refusal *routing.RefusedError
	var stale *routing.StaleAnswerError
	return errors.As(err, &refusal) || errors.As(err, &stale)
}
