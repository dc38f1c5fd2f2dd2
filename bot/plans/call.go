package plans

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

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
	EscalatePort(ctx context.Context, call escalation.Request) (string, error)
	AskPlanner(ctx context.Context, plan string, x feedback.Record) (string, error)
	Release(ctx context.Context, key, checkpoint string, how escalation.How, by string, comment markdown.Text) error
}

// call brings the issues of the ports and of the feedback that wait for people to
// how the plan stands. One that cannot be brought there keeps none of the others.
func (d *Runner) call(ctx context.Context, reg plan.BuildState, b plan.Board) error {
	if d.Escalator == nil {
		return nil
	}
	esc, err := d.Escalator.Escalations(ctx)
	if err != nil {
		return err
	}
	asks, all, err := d.asked(ctx, reg)
	if err != nil {
		return err
	}
	return errors.Join(d.release(ctx, esc, b, asks, all), d.callForPorts(ctx, esc, b), d.askPlanner(ctx, esc, asks))
}

func (d *Runner) portKey(id string) string { return routing.PortKey(d.Repo.String(), d.Name, id) }

// callForPorts opens an escalation for each port that needs one, once for each time
// that it was.
func (d *Runner) callForPorts(ctx context.Context, esc escalation.State, b plan.Board) error {
	var failed error
	for _, row := range b.Rows {
		if row.Standing != plan.IsEscalated {
			continue
		}
		key := d.portKey(row.ID)
		events, _, err := d.Ledger.Load(ctx, key)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		j, err := plan.FoldJournal(events)
		c, calls := plan.EscalationRequestOf(key, j, row.URL)
		if err == nil && calls && !told(esc, c.Member) {
			_, err = d.Escalator.EscalatePort(ctx, c)
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("calling a human to port %s: %w", row.ID, err))
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
func (d *Runner) asked(ctx context.Context, reg plan.BuildState) (map[string]feedback.Record, feedback.State, error) {
	build := reg.Build.Feedback
	r, err := d.book(reg).Change(ctx, func(r feedback.State) ([]routing.Event, error) {
		if len(r.ForPeople(build, d.Plan.Root())) == 0 {
			return nil, nil
		}
		return r.Receive(build, d.Plan.Root(), d.Now())
	})
	if err != nil {
		return nil, r, fmt.Errorf("the register of edges: %w", err)
	}
	out := map[string]feedback.Record{}
	for _, x := range r.ForPeople(build, d.Plan.Root()) {
		out[x.ID] = x
	}
	return out, r, nil
}

func (d *Runner) askPlanner(ctx context.Context, esc escalation.State, asks map[string]feedback.Record) error {
	var failed error
	for _, id := range slices.Sorted(maps.Keys(asks)) {
		x := asks[id]
		if told(esc, x.Asks(routing.FeedbackRequestKey(d.Repo.String(), d.Name, id)).Member) {
			continue
		}
		if _, err := d.Escalator.AskPlanner(ctx, d.Name, x); err != nil {
			failed = errors.Join(failed, fmt.Errorf("asking people about feedback %s: %w", id, err))
		}
	}
	return failed
}

// release takes out of the issues what waits for nobody any more: ports that
// have passed, that a human decided about, or that the plan has no more, and
// feedback that has ended.
func (d *Runner) release(ctx context.Context, esc escalation.State, b plan.Board, asks map[string]feedback.Record, all feedback.State) error {
	rows := map[string]plan.Row{}
	for _, r := range b.Rows {
		rows[r.ID] = r
	}
	var failed error
	for _, rec := range append(esc.AllOpen(), unsettled(esc)...) {
		for _, m := range members(rec) {
			failed = errors.Join(failed, d.releaseOne(ctx, m, rows, asks, all))
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

func (d *Runner) releaseOne(ctx context.Context, m escalation.Member, rows map[string]plan.Row, asks map[string]feedback.Record, all feedback.State) error {
	if plan, id, ok := routing.ParseFeedbackRequestKey(m.Case); ok && plan == d.Name {
		if _, waits := asks[id]; waits {
			return nil
		}
		x, _ := all.ByID(id)
		return d.Escalator.Release(ctx, m.Case, m.Checkpoint, escalation.Released, "", planview.RequestDone(x, "", d.Render))
	}
	name, id, ok := routing.ParsePortKey(m.Case)
	if !ok || name != d.Name {
		return nil
	}
	row, there := rows[id]
	switch {
	case !there:
		return d.Escalator.Release(ctx, m.Case, m.Checkpoint, escalation.Released, "", planview.PortGone(id, d.Render))
	case row.Decided != nil:
		how := escalation.Released
		if row.Decided.Action == routing.HumanWontFix {
			how = escalation.WontFix
		}
		return d.Escalator.Release(ctx, m.Case, m.Checkpoint, how, row.Decided.By, planview.PortDecided(id, *row.Decided, d.Render))
	case row.Standing == plan.IsPassed:
		return d.Escalator.Release(ctx, m.Case, m.Checkpoint, escalation.Passed, "", planview.PortPassed(row, d.Render))
	}
	return nil
}
