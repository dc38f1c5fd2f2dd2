package plans

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/bot/render/planview"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// Escalator is how people are called: by issues, of which a repository has one
// register.
type Escalator interface {
	Escalations(ctx context.Context) (escalation.State, error)
	Escalate(ctx context.Context, request escalation.Request) (string, error)
	Release(ctx context.Context, key, checkpoint string, how escalation.How, by string, comment markdown.Text) error
}

// escalations are the issues of the ports of a plan that are escalated, and of the feedback requests
// that people are to act on.
type escalations struct {
	escalator Escalator
	store     Store
	requests  feedbackRequests
	render    render.Options
}

// sync brings the issues of the ports and of the feedback that wait for people to
// how the plan stands. One that cannot be brought there keeps none of the others.
func (e escalations) sync(ctx context.Context, reg plan.BuildState, b plan.Board) error {
	esc, err := e.escalator.Escalations(ctx)
	if err != nil {
		return err
	}
	asks, all, err := e.asked(ctx, reg)
	if err != nil {
		return err
	}
	return errors.Join(e.release(ctx, esc, b, asks, all), e.escalatePorts(ctx, esc, b), e.askPlanner(ctx, esc, asks))
}

// escalatePorts opens an escalation for each port that needs one, once for each time
// that it was.
func (e escalations) escalatePorts(ctx context.Context, esc escalation.State, b plan.Board) error {
	var failed error
	for _, row := range b.Rows {
		if row.Standing != plan.IsEscalated {
			continue
		}
		key := e.store.portKey(row.ID)
		j, err := e.store.Journal(ctx, row.ID)
		c, calls := plan.EscalationRequestOf(key, j, row.URL)
		if err == nil && calls && !told(esc, c.Member) {
			c.Facts.Title = planview.PortTitle(key, c.Facts.Type, e.render)
			_, err = e.escalator.Escalate(ctx, c)
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("escalating port %s: %w", row.ID, err))
		}
	}
	return failed
}

// told reports whether an issue says of a member what it is to say.
func told(esc escalation.State, m escalation.Member) bool {
	for _, rec := range esc.Open(m.Case, m.Checkpoint) {
		for _, have := range rec.Members {
			if have.Key() == m.Key() && have.Run == m.Run && have.Gen == m.Gen && (rec.Number > 0 || !rec.DismissedAt.IsZero()) {
				return true
			}
		}
	}
	return false
}

// asked delivers to people the feedback that they are to act on, and returns it,
// with all other feedback.
func (e escalations) asked(ctx context.Context, reg plan.BuildState) (map[string]feedback.Record, feedback.State, error) {
	build := reg.Build.Feedback
	r, err := e.requests.of(reg).Change(ctx, func(r feedback.State) ([]routing.Event, error) {
		if len(r.Of(build).ForPeople(e.requests.plan.Root())) == 0 {
			return nil, nil
		}
		return r.Lifecycle(nil, e.requests.now()).Receive(build, e.requests.plan.Root())
	})
	if err != nil {
		return nil, r, fmt.Errorf("the feedback requests: %w", err)
	}
	out := map[string]feedback.Record{}
	for _, x := range r.Of(build).ForPeople(e.requests.plan.Root()) {
		out[x.ID] = x
	}
	return out, r, nil
}

func (e escalations) askPlanner(ctx context.Context, esc escalation.State, asks map[string]feedback.Record) error {
	var failed error
	for _, id := range slices.Sorted(maps.Keys(asks)) {
		x := asks[id]
		request := x.Asks(routing.FeedbackRequestKey(e.store.repo, e.store.plan, id))
		if told(esc, request.Member) {
			continue
		}
		request.Facts.Title = planview.RequestTitle(x, e.render)
		if _, err := e.escalator.Escalate(ctx, request); err != nil {
			failed = errors.Join(failed, fmt.Errorf("asking people about feedback %s: %w", id, err))
		}
	}
	return failed
}

// release takes out of the issues what waits for nobody any more: ports that
// have passed, that a human decided about, or that the plan has no more, and
// feedback that has ended.
func (e escalations) release(ctx context.Context, esc escalation.State, b plan.Board, asks map[string]feedback.Record, all feedback.State) error {
	rows := map[string]plan.Row{}
	for _, r := range b.Rows {
		rows[r.ID] = r
	}
	var failed error
	for _, rec := range append(esc.AllOpen(), unsettled(esc)...) {
		for _, m := range members(rec) {
			failed = errors.Join(failed, e.releaseOne(ctx, m, rows, asks, all))
		}
	}
	return failed
}

// unsettled are the records whose issue does not show yet that they are resolved.
func unsettled(esc escalation.State) []escalation.Record {
	var out []escalation.Record
	for _, rec := range esc.Records {
		if !rec.Open() && !rec.Settled && len(rec.Left) > 0 && routing.IsRepositoryStream(rec.Host().Case) {
			out = append(out, rec)
		}
	}
	return out
}

// members are those of a record; of a resolved one, which it held last.
func members(rec escalation.Record) []escalation.Member {
	if rec.Open() {
		return rec.Members
	}
	return []escalation.Member{rec.Host()}
}

func (e escalations) releaseOne(ctx context.Context, m escalation.Member, rows map[string]plan.Row, asks map[string]feedback.Record, all feedback.State) error {
	if plan, id, ok := routing.ParseFeedbackRequestKey(m.Case); ok && plan == e.store.plan {
		if _, waits := asks[id]; waits {
			return nil
		}
		x, _ := all.ByID(id)
		return e.escalator.Release(ctx, m.Case, m.Checkpoint, escalation.Released, "", planview.RequestDone(x, "", e.render))
	}
	name, id, ok := routing.ParsePortKey(m.Case)
	if !ok || name != e.store.plan {
		return nil
	}
	row, there := rows[id]
	switch {
	case !there:
		return e.escalator.Release(ctx, m.Case, m.Checkpoint, escalation.Released, "", planview.PortGone(id, e.render))
	case row.Decided != nil:
		how := escalation.Released
		if row.Decided.Action == routing.HumanWontFix {
			how = escalation.WontFix
		}
		return e.escalator.Release(ctx, m.Case, m.Checkpoint, how, row.Decided.By, planview.PortDecided(id, *row.Decided, e.render))
	case row.Standing == plan.IsPassed:
		return e.escalator.Release(ctx, m.Case, m.Checkpoint, escalation.Passed, "", planview.PortPassed(row, e.render))
	}
	return nil
}
