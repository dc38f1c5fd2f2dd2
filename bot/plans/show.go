package plans

import (
	"context"
	"errors"
	"strconv"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/render/planview"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan"
)

// label is what the issue of a plan carries besides the label of all issues that
// the bot files.
var label = github.LabelSpec{Name: "switchback:plan", Color: "1d76db", Description: "How a plan of ports stands"}

// statusLabels are carried while some port stands so; passed once all do.
var statusLabels = []struct {
	standing plan.Standing
	label    github.LabelSpec
}{
	{plan.IsRunning, github.LabelSpec{Name: "ports:running", Color: "0969da", Description: "Ports of the plan are being worked on"}},
	{plan.IsPaused, github.LabelSpec{Name: "ports:paused", Color: "bf3989", Description: "Ports of the plan wait for feedback that one of them sent"}},
	{plan.IsEscalated, github.LabelSpec{Name: "ports:escalated", Color: "8250df", Description: "A port of the plan needs a human"}},
	{plan.IsFailed, github.LabelSpec{Name: "ports:failed", Color: "cf222e", Description: "A port of the plan could not be run to its end"}},
	{plan.IsBlocked, github.LabelSpec{Name: "ports:blocked", Color: "6e7781", Description: "Ports of the plan wait for one that did not pass"}},
	{plan.IsPassed, github.LabelSpec{Name: "ports:passed", Color: "1a7f37", Description: "Every port of the plan has passed"}},
}

// labels returns the status labels that a board has, and those it has not.
func labels(b plan.Board) (add, remove []github.LabelSpec) {
	_, passed := b.Done()
	for _, s := range statusLabels {
		if has := b.Counts[s.standing] > 0; has && (s.standing != plan.IsPassed || passed) {
			add = append(add, s.label)
		} else {
			remove = append(remove, s.label)
		}
	}
	return add, remove
}

// Show calls people to what waits for them, and brings the plan's issue to how the
// plan stands now. It returns the issue's number, 0 for a plan
// without ports. An issue that was deleted or transferred is filed anew. Once all
// has passed it is closed; one that a person closed stays closed.
func (d *Runner) Show(ctx context.Context) (int, error) {
	if d.Issues == nil || d.Plan.Len() == 0 {
		return 0, nil
	}
	reg, err := d.State(ctx)
	if err != nil {
		return 0, err
	}
	if reg.Requests, err = d.open(ctx, reg); err != nil {
		return 0, err
	}
	b := d.Plan.Board(d.Settings, reg, d.Hashes)
	called := d.call(ctx, reg, b) // what is not told now is told with the next round
	calls, err := d.lead(ctx, b)
	if err != nil {
		return 0, err
	}
	issue, err := d.draw(ctx, reg, b, calls)
	if err != nil {
		return 0, err
	}
	add, remove := labels(b)
	if _, err := d.Labels.Sync(ctx, d.Repo, issue.Number, issue.Labels, add, remove); err != nil {
		return 0, err
	}
	return issue.Number, errors.Join(d.close(ctx, issue, b), called)
}

// draw brings the body of the plan's issue to how the plan stands, and files the
// issue where there is none.
func (d *Runner) draw(ctx context.Context, reg plan.BuildState, b plan.Board, calls int) (github.Issue, error) {
	add, _ := labels(b)
	spec := github.IssueSpec{Title: planview.Title(d.Name, d.Render), Body: planview.Body(d.Name, b, d.Render), Labels: append([]github.LabelSpec{label}, add...)}
	ref := ""
	if reg.Issue > 0 {
		ref = strconv.Itoa(reg.Issue)
	}
	if reg.Issue == 0 && d.Claim > 0 {
		if err := d.files(ctx); err != nil {
			return github.Issue{}, err
		}
	}
	marker := d.marker(reg, calls)
	issue, _, err := d.Issues.Upsert(ctx, d.Repo, marker, spec, ref)
	if errors.Is(err, github.ErrMoved) {
		issue, _, err = d.Issues.Upsert(ctx, d.Repo, marker, spec, "")
	}
	if err != nil {
		return issue, err
	}
	if err := d.check(ctx, reg, b); err != nil || issue.Number == reg.Issue {
		return issue, err
	}
	_, err = d.change(ctx, func(r plan.BuildState) ([]routing.Event, error) {
		return []routing.Event{r.Show(issue.Number, d.Now())}, nil
	})
	return issue, err
}

func (d *Runner) close(ctx context.Context, issue github.Issue, b plan.Board) error {
	_, passed := b.Done()
	var err error
	switch {
	case passed && issue.State == "open":
		_, err = d.Issues.CloseAs(ctx, d.Repo, issue.Number, "completed", "", "")
	case !passed && issue.State == "closed":
		var live github.Issue // a listing does not say who closed it
		if live, err = d.Issues.Get(ctx, d.Repo, issue.Number); err == nil && live.ClosedByBot {
			_, err = d.Issues.Reopen(ctx, d.Repo, issue.Number, "", "")
		}
	}
	return err
}
