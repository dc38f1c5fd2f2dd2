package handler

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/bot/render/surveyview"
	"github.com/switchback-ci/switchback/bot/surveys"
	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/marker"
	"github.com/switchback-ci/switchback/routing/survey"
)

// Surveys asks people about the results of optimization cycles, and records what they answer.
func Surveys(d Deps) *surveys.Service {
	return &surveys.Service{
		Ledger: d.Ledger, Issues: d.GitHub.Issues, Comments: d.GitHub.Comments, Repositories: d.GitHub.Repositories, Starts: d.GitHub.Dispatches, Repo: d.Repo.String(), Config: d.Config, Render: d.words(),
		DefaultBranch: d.DefaultBranch, Owner: d.owner(), TTL: d.LeaseTTL, Now: d.Now,
	}
}

// surveyAnswer records answers to the survey of an issue. It is done with the events of such an issue
// alone.
type surveyAnswer struct{ Deps }

// Handle implements Handler.
func (h surveyAnswer) Handle(ctx context.Context, e *Event) (bool, error) {
	is := e.Issue
	if is == nil || is.PullRequest != nil {
		return false, nil
	}
	d := Surveys(h.Deps)
	reg, err := d.State(ctx)
	if err != nil {
		return true, err
	}
	p, ok := reg.ByNumber(is.Number)
	if !ok {
		return false, nil
	}
	switch {
	case e.Comment != nil:
		return true, h.comment(ctx, e, d, p)
	case e.Changes.Body != nil:
		return true, h.edit(ctx, e, d, p)
	}
	return true, nil
}

// comment records a comment as an answer, if it is one.
func (h surveyAnswer) comment(ctx context.Context, e *Event, d *surveys.Service, p survey.Survey) error {
	c := e.Comment
	a, is, bad := p.ReadComment(c.Body, e.Issue.Body)
	if e.Action != "created" || !is && len(answers.Commands(c.Body)) == 0 {
		return nil
	}
	who, err := h.sender(ctx, e, h.Config.Feedback.Role())
	if err != nil || who.ignored {
		return err
	}
	source := "comment/" + strconv.FormatInt(c.ID, 10)
	switch {
	case !who.may:
		return h.refuse(ctx, p.Number, who, false)
	case !is && p.Open(): // a command, but none that answers
		bad = &survey.Refused{Why: survey.NoLevel}
	case !is:
		a = survey.Answer{} // too late for any answer
	}
	if bad != nil {
		return d.Reply(ctx, p, source, surveyview.Refused(p, bad, d.Render))
	}
	return h.take(ctx, d, p, survey.Said{Answer: a, By: who.login, Source: source, At: saidAt(h.Now(), c.CreatedAt)})
}

// edit records an edit of the survey's body as an answer once Submit is ticked. What a person who may
// not answer did is undone.
func (h surveyAnswer) edit(ctx context.Context, e *Event, d *surveys.Service, p survey.Survey) error {
	who, err := h.sender(ctx, e, h.Config.Feedback.Role())
	if err != nil || who.ignored {
		return err
	}
	from, to := e.Changes.Body.From, e.Issue.Body
	sum := sha256.Sum256([]byte(e.Issue.UpdatedAt + "\x00" + who.login + "\x00" + to))
	source := "body/" + hex.EncodeToString(sum[:8])
	before, _ := answers.Parse(from)
	after, _ := answers.Parse(to)
	change := answers.Diff(before, after)
	touched := !change.Empty() || answers.BodyText(from) != answers.BodyText(to)
	a, submitted, bad := p.ReadBody(to)
	switch {
	case !touched && (!submitted || !who.may):
		return h.restore(ctx, e, d, p, source)
	case !who.may:
		err := d.Rewrite(ctx, p, func(live string) markdown.Text {
			if plain(live) == plain(to) { // nobody has edited since: restore all of it
				return markdown.Text(from)
			}
			return markdown.Text(answers.SwapText(answers.Undo(live, change), answers.BodyText(to), answers.BodyText(from)))
		})
		if err != nil {
			return err
		}
		return h.refuse(ctx, p.Number, who, true)
	case !submitted:
		return h.restore(ctx, e, d, p, source)
	case bad != nil && p.Open():
		if err := d.Reply(ctx, p, source, surveyview.Refused(p, bad, d.Render)); err != nil {
			return err
		}
		return d.Rewrite(ctx, p, func(live string) markdown.Text { return markdown.Text(answers.Untick(live, answers.Submit)) })
	case bad != nil:
		a = survey.Answer{} // too late for any answer
	}
	return h.take(ctx, d, p, survey.Said{Answer: a, By: who.login, Source: source, At: saidAt(h.Now(), e.Issue.UpdatedAt)})
}

// plain is a body without regard to its line ends.
func plain(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }

// restore writes the issue anew if a part of the questions is gone: then it is not what was asked any
// more. What was ticked and written stays, also what this edit removed.
func (h surveyAnswer) restore(ctx context.Context, e *Event, d *surveys.Service, p survey.Survey, source string) error {
	is, from := e.Issue.Body, e.Changes.Body.From
	m, ok := marker.Parse(is)
	if ok && m.Key == d.SurveyKey(p.ID) && (!p.Open() || whole(p, is)) {
		return nil
	}
	before, _ := answers.Parse(from)
	err := d.Rewrite(ctx, p, func(live string) markdown.Text {
		if !p.Open() {
			return surveyview.Closed(p, d.Render)
		}
		boxes, _ := answers.Parse(live)
		ticked := boxes.Ticked
		for _, id := range before.Ticked {
			if !slices.Contains(boxes.Boxes, id) {
				ticked = append(ticked, id)
			}
		}
		text := answers.BodyText(live)
		if !strings.Contains(live, answers.TextBegin) || !strings.Contains(live, answers.TextEnd) {
			text = answers.BodyText(from)
		}
		return markdown.Text(answers.SwapText(answers.Keep(string(surveyview.Body(p, d.Render)), ticked), "", text))
	})
	if err != nil {
		return err
	}
	return d.Reply(ctx, p, source, surveyview.Restored(p))
}

// whole reports whether a body has all the boxes and fields of an answer.
func whole(p survey.Survey, body string) bool {
	boxes, _ := answers.Parse(body)
	want := []string{answers.Submit}
	for _, c := range survey.Choices {
		want = append(want, survey.LevelBox(c))
	}
	for _, s := range p.Result.Suggestions {
		want = append(want, survey.SuggestionBox(s))
	}
	return strings.Contains(body, answers.TextBegin) && strings.Contains(body, answers.TextEnd) &&
		!slices.ContainsFunc(want, func(id string) bool { return !slices.Contains(boxes.Boxes, id) })
}

// take records an answer, and replies to one that does not count.
func (h surveyAnswer) take(ctx context.Context, d *surveys.Service, p survey.Survey, said survey.Said) error {
	out, p, err := d.Answer(ctx, p.ID, said)
	if err != nil {
		return err
	}
	switch out {
	case survey.Second:
		return d.Reply(ctx, p, said.Source, surveyview.Second(p, d.Render))
	case survey.Late:
		err = d.Reply(ctx, p, said.Source, surveyview.Late(p, d.Render))
	}
	return errors.Join(err, h.Goals.WriteGoals(p))
}

// saidAt parses GitHub's time of an answer. It is now if that is unknown or later.
func saidAt(now time.Time, text string) time.Time {
	if t, err := time.Parse(time.RFC3339, text); err == nil && t.Before(now) {
		return t
	}
	return now
}

// reconcileSurveys reminds of surveys, closes those that are over their time, and finishes what was
// interrupted.
func reconcileSurveys(ctx context.Context, d Deps) error {
	ps, err := Surveys(d).Reconcile(ctx)
	for _, p := range ps {
		d.notice("nobody answered survey %s in time", p.ID)
	}
	return errors.Join(err, d.Goals.WriteGoals(ps...))
}

// surveyCycle starts the next cycle when a run has completed, if one is due. It leaves the run to the
// handlers behind it.
type surveyCycle struct{ Deps }

// Handle implements Handler.
func (h surveyCycle) Handle(ctx context.Context, event *Event) (bool, error) {
	e := event.WorkflowRun
	if e == nil || !h.Config.Feedback.Reenters() {
		return false, nil
	}
	run := survey.Completed{ID: strconv.FormatInt(e.ID, 10), Workflow: e.Name}
	run.At, _ = time.Parse(time.RFC3339, e.UpdatedAt) // zero if unknown
	if e.Event == "workflow_dispatch" || e.Event == "repository_dispatch" {
		login, err := h.GitHub.Users.Login(ctx)
		if err != nil {
			return false, err
		}
		run.Own = surveys.Own(e.Event, e.Title, e.Actor.Login, login)
	}
	started, err := Surveys(h.Deps).Reenter(ctx, run)
	if err != nil {
		return false, fmt.Errorf("starting the next cycle: %w", err)
	}
	if started {
		h.notice("run %s of %s starts the next cycle", run.ID, strings.TrimSpace(e.Name))
	}
	return false, nil
}
