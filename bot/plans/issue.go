package plans

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/planview"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/marker"
	"github.com/switchback-ci/switchback/routing/plan"
)

// TrackingIssue is the issue that shows the status of a plan, with its check.
type TrackingIssue struct {
	issues     Issues    // nil: none
	labels     Labels    // nil only if issues is
	checks     Checks    // nil: it is not shown on commits
	escalator  Escalator // nil: nothing is escalated
	store      Store
	requests   feedbackRequests
	schedule   schedule
	dispatcher dispatcher
	repo       github.Repo
	render     render.Options
	run        string // whose ports may show their progress
	now        func() time.Time
}

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

// Show escalates what waits for people, and brings the plan's issue to how the
// plan stands now. It returns the issue's number, 0 for a plan
// without ports. An issue that was deleted or transferred is filed anew. Once all
// has passed it is closed; one that a person closed stays closed.
func (t TrackingIssue) Show(ctx context.Context) (int, error) {
	if t.issues == nil || t.schedule.plan.Len() == 0 {
		return 0, nil
	}
	reg, err := t.store.State(ctx)
	if err != nil {
		return 0, err
	}
	if reg.Requests, err = t.requests.open(ctx, reg); err != nil {
		return 0, err
	}
	b := t.schedule.board(reg)
	called := t.escalate(ctx, reg, b) // what is not told now is told with the next round
	calls, err := t.link(ctx, b)
	if err != nil {
		return 0, err
	}
	issue, err := t.draw(ctx, reg, b, calls)
	if err != nil {
		return 0, err
	}
	add, remove := labels(b)
	if _, err := t.labels.Sync(ctx, t.repo, issue.Number, issue.Labels, add, remove); err != nil {
		return 0, err
	}
	return issue.Number, errors.Join(t.close(ctx, issue, b), called)
}

// escalate brings the escalation issues of the plan up to date.
func (t TrackingIssue) escalate(ctx context.Context, reg plan.BuildState, b plan.Board) error {
	if t.escalator == nil {
		return nil
	}
	return escalations{escalator: t.escalator, store: t.store, requests: t.requests, render: t.render}.sync(ctx, reg, b)
}

// draw brings the body of the plan's issue to how the plan stands, and files the
// issue where there is none.
func (t TrackingIssue) draw(ctx context.Context, reg plan.BuildState, b plan.Board, calls int) (github.Issue, error) {
	add, _ := labels(b)
	spec := github.IssueSpec{Title: planview.Title(t.store.plan, t.render), Body: planview.Body(t.store.plan, b, t.render), Labels: append([]github.LabelSpec{label}, add...)}
	ref := ""
	if reg.Issue > 0 {
		ref = strconv.Itoa(reg.Issue)
	}
	issue, err := t.upsert(ctx, t.marker(reg, calls), spec, ref)
	if err != nil {
		return issue, err
	}
	if err := t.check(ctx, reg, b); err != nil || issue.Number == reg.Issue {
		return issue, err
	}
	_, err = t.store.change(ctx, func(r plan.BuildState) ([]routing.Event, error) {
		return []routing.Event{r.Show(issue.Number, t.now())}, nil
	})
	return issue, err
}

// upsert brings the plan's issue up to date, and files it where there is none.
func (t TrackingIssue) upsert(ctx context.Context, marker string, spec github.IssueSpec, ref string) (github.Issue, error) {
	if ref == "" && t.dispatcher.leaseTTL > 0 {
		bounded, cancel := t.dispatcher.bounded(ctx)
		defer cancel()
		ctx = bounded
		if err := t.reserve(ctx); err != nil {
			return github.Issue{}, err
		}
	}
	issue, _, err := t.issues.Upsert(ctx, t.repo, marker, spec, ref)
	if errors.Is(err, github.ErrMoved) && ref != "" {
		return t.upsert(ctx, marker, spec, "")
	}
	return issue, err
}

// reserve records that this process creates the plan's issue, or returns that another one may be
// doing so.
func (t TrackingIssue) reserve(ctx context.Context) error {
	const key = "issue"
	if err := t.dispatcher.reserve(ctx, key, "show plan "+t.store.plan); err != nil {
		return err
	}
	reg, err := t.store.State(ctx)
	if err == nil && reg.Issue > 0 {
		err = &github.Error{Kind: advice.Later, After: time.Second, Op: "show plan " + t.store.plan, Message: "another process has filed its issue"}
	}
	return err
}

// marker orders what the plan's issue says: both registers grow with every change,
// so an older state never replaces a newer.
func (t TrackingIssue) marker(reg plan.BuildState, calls int) string {
	return marker.Format(t.store.Key(), reg.Version+calls)
}

func (t TrackingIssue) close(ctx context.Context, issue github.Issue, b plan.Board) error {
	_, passed := b.Done()
	var err error
	switch {
	case passed && issue.State == "open":
		_, err = t.issues.CloseAs(ctx, t.repo, issue.Number, "completed", "", "")
	case !passed && issue.State == "closed":
		var live github.Issue // a listing does not say who closed it
		if live, err = t.issues.Get(ctx, t.repo, issue.Number); err == nil && live.ClosedByBot {
			_, err = t.issues.Reopen(ctx, t.repo, issue.Number, "", "")
		}
	}
	return err
}
