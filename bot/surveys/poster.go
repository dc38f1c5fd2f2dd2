package surveys

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/bot/render/surveyview"
	"github.com/switchback-ci/switchback/routing/marker"
	"github.com/switchback-ci/switchback/routing/survey"
)

// poster writes to the issues of the surveys.
type poster struct {
	issues       Issues
	comments     Comments
	repositories Repositories
	repo         github.Repo
	key          func(survey string) string // of the marker of a survey's issue
	assignees    []string
	mention      string // in reminders
	render       render.Options
}

// The generations of an issue's body.
const (
	genAsked = 1
	genDone  = 2
)

// do carries out one piece of work and returns what stands outside.
func (d *poster) do(ctx context.Context, p survey.Survey, work string, fresh bool) (ref, url string, err error) {
	switch {
	case work == survey.WorkIssue:
		i, _, err := d.issues.Upsert(ctx, d.repo, marker.Format(d.key(p.ID), genAsked), github.IssueSpec{
			Title: surveyview.Title(p, d.render), Body: surveyview.Body(p, d.render), Assignees: d.assignees,
			Labels: []github.LabelSpec{{Name: "switchback:feedback", Color: "1d76db", Description: "Switchback asks for feedback"}},
		}, "")
		return fmt.Sprint(i.Number), i.URL, err
	case work == survey.WorkAnswer:
		err = d.finish(ctx, p, work, "completed", surveyview.Acknowledged(p, d.render), fresh)
	case work == survey.WorkTimeout:
		err = d.finish(ctx, p, work, "not_planned", surveyview.TimedOut(p, d.render), fresh)
	case strings.HasPrefix(work, survey.WorkReminder):
		o := d.render
		o.Mention = d.mention
		ref, _, err = d.comments.PostOnce(ctx, d.repo, p.Number, d.marker(p.ID, work), surveyview.Reminder(p, p.Reminded, o), fresh)
	default:
		err = fmt.Errorf("%q is no work that is known", work)
	}
	if err != nil {
		err = d.repositories.Absent(ctx, d.repo, err)
	}
	if !errors.Is(err, github.ErrAbsent) && (errors.Is(err, github.ErrMoved) || errors.Is(err, github.ErrNotFound)) {
		return "gone", "", nil // the issue was deleted or transferred: there is nobody to tell
	}
	return ref, "", err
}

func (d *poster) marker(id, work string) string { return marker.Format(d.key(id)+"/"+work, 0) }

// finish says how a survey ended, shows it in the issue, and closes that.
func (d *poster) finish(ctx context.Context, p survey.Survey, work, reason string, text markdown.Text, fresh bool) error {
	if _, _, err := d.comments.PostOnce(ctx, d.repo, p.Number, d.marker(p.ID, work), text, fresh); err != nil {
		return err
	}
	_, _, err := d.issues.Rewrite(ctx, d.repo, p.Number, marker.Format(d.key(p.ID), genDone), func(string) markdown.Text { return surveyview.Closed(p, d.render) })
	if err != nil {
		return err
	}
	_, err = d.issues.CloseAs(ctx, d.repo, p.Number, reason, "", "")
	return err
}

// reply posts text on the survey's issue, once for what it replies to.
func (d *poster) reply(ctx context.Context, p survey.Survey, to string, text markdown.Text) error {
	_, _, err := d.comments.PostOnce(ctx, d.repo, p.Number, d.marker(p.ID, "reply/"+to), text, false)
	return err
}

// rewrite changes the body of a survey's issue to what write makes of the live one.
func (d *poster) rewrite(ctx context.Context, p survey.Survey, write func(live string) markdown.Text) error {
	gen := genAsked
	if !p.Open() {
		gen = genDone
	}
	_, _, err := d.issues.Rewrite(ctx, d.repo, p.Number, marker.Format(d.key(p.ID), gen), write)
	return err
}
