package action

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/bot/pipeline"
	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
)

// Comment is a comment in an event.
type Comment struct {
	ID        int64  `json:"id"`
	Body      string `json:"body"`
	User      Sender `json:"user"`
	App       *App   `json:"performed_via_github_app"`
	CreatedAt string `json:"created_at"`
}

// Issue is an issue or pull request in an event.
type Issue struct {
	Number      int       `json:"number"`
	Body        string    `json:"body"`
	User        Sender    `json:"user"`
	PullRequest *struct{} `json:"pull_request"`
	StateReason string    `json:"state_reason"`
	UpdatedAt   string    `json:"updated_at"`
	ClosedAt    string    `json:"closed_at"`
}

// answer carries out what a person answered: by commands in a new comment, by
// the boxes of an escalation issue, by closing or opening it, by the label that
// pauses a pull request, or as feedback.
func (f *face) answer(ctx context.Context) (int, error) {
	if ours, err := f.answerPrompt(ctx); err != nil {
		return 1, err
	} else if ours {
		return 0, nil
	}
	var err error
	switch e := f.event; {
	case e.Comment != nil && e.Issue != nil:
		if e.Action == "created" {
			err = f.comment(ctx, *e.Comment, *e.Issue)
		}
	case e.Issue != nil:
		err = f.issueEvent(ctx, *e.Issue)
	case e.PullRequest != nil && e.Label != nil:
		err = f.pausedLabel(ctx, *e.PullRequest)
	default:
		err = errors.New("the event holds no answer; use `on: issue_comment` with `types: [created]` and `issues` with `types: [edited, closed, reopened, deleted, transferred]`")
	}
	if err != nil {
		return 1, err
	}
	return 0, nil
}

// isAnswer reports whether an event of this name and action may hold an answer.
func (f *face) isAnswer(event string) bool {
	switch event + "/" + f.event.Action {
	case "issue_comment/created", "issues/edited", "issues/closed", "issues/reopened", "issues/deleted", "issues/transferred":
		return true
	case "pull_request/labeled", "pull_request/unlabeled":
		return len(f.in.Reports) == 0
	case "pull_request_target/labeled", "pull_request_target/unlabeled":
		return len(f.in.Reports) == 0 || f.event.Label != nil && strings.EqualFold(f.event.Label.Name, effect.PausedLabel)
	}
	return false
}

func (f *face) issueEvent(ctx context.Context, is Issue) error {
	if is.PullRequest != nil {
		return nil
	}
	reg, err := f.register(ctx)
	if err != nil {
		return err
	}
	rec, ok := reg.ByNumber(is.Number)
	if !ok {
		return nil // none of ours
	}
	switch f.event.Action {
	case "edited":
		return f.edited(ctx, rec, is)
	case "closed":
		return f.closed(ctx, rec, is)
	case "reopened":
		return f.reopened(ctx, rec, is)
	case "deleted", "transferred":
		return f.lost(ctx, rec, f.event.Action)
	}
	return nil
}

// register returns the register of escalations.
func (f *face) register(ctx context.Context) (escalation.Register, error) {
	reg, err := effect.Register(ctx, f.led, f.repo.String())
	if err != nil {
		err = fmt.Errorf("reading the register of escalations: %w", err)
	}
	return reg, err
}

// change appends to the register what fn makes of its newest state, and
// returns it with that.
func (f *face) change(ctx context.Context, fn func(escalation.Register) ([]routing.Event, error)) (escalation.Register, error) {
	return effect.ChangeRegister(ctx, f.led, f.repo.String(), fn)
}

// load returns a case; of what belongs to a plan only its key.
func (f *face) load(ctx context.Context, key string) (routing.Case, error) {
	if routing.IsRegister(key) { // of a plan
		return routing.Case{Key: key}, nil
	}
	events, _, err := f.led.Load(ctx, key)
	if err != nil {
		return routing.Case{Key: key}, fmt.Errorf("reading the ledger: %w", err)
	}
	return routing.Fold(key, events)
}

// act records what a person did to a case, and carries out what follows. An
// answer that was taken before is carried out to its end, and is no error.
func (f *face) act(ctx context.Context, key string, e routing.HumanActed) (pipeline.Recorded, error) {
	if routing.IsRegister(key) {
		return pipeline.Recorded{Case: routing.Case{Key: key}}, f.actOnPlan(ctx, key, e)
	}
	eff, t, err := f.effector(ctx, key)
	if err != nil {
		return pipeline.Recorded{}, err
	}
	line := f.line(eff)
	rec, err := line.Act(ctx, key, e, f.policies(t))
	if err != nil {
		return rec, err
	}
	rec.Case, err = line.Carry(ctx, rec)
	return rec, err
}

// effector carries out effects of a case.
func (f *face) effector(ctx context.Context, key string) (*effect.GitHub, trigger, error) {
	var subject effect.Subject
	if !routing.IsRegister(key) {
		var err error
		if subject, err = f.subjectOf(ctx, key); err != nil {
			return nil, trigger{}, err
		}
	}
	t := trigger{subject: subject, labels: subject.Labels}
	return f.effects(t), t, nil
}

// reply posts once below an issue what an event is answered with.
func (f *face) reply(ctx context.Context, number int, once string, lines ...string) error {
	if len(lines) == 0 {
		return nil
	}
	_, _, err := f.hub.PostOnce(ctx, f.repo, number, render.Marker(f.key("reply", once), 0), strings.Join(lines, "\n\n"), false)
	return err
}

func (f *face) key(parts ...any) string {
	key := f.repo.String()
	for _, p := range parts {
		key += "/" + fmt.Sprint(p)
	}
	return key
}

// said reports whether err is a refusal that the person is told, and not a
// failure of this run.
func said(err error) bool {
	var refused *routing.RefusedError
	var stale *routing.StaleAnswerError
	return errors.As(err, &refused) || errors.As(err, &stale)
}
