package effect

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/marker"
)

// close takes the checkpoint out of what holds it. An issue that holds nothing
// any more is closed with what fixed it; one that holds others goes on about
// them.
func (g *GitHub) close(ctx context.Context, c routing.Case, e routing.Effect) error {
	cp := c.Checkpoints[e.Checkpoint]
	if cp.Escalation != nil && cp.State == routing.Escalated && !cp.Skipped && cp.WontFix == nil {
		return nil // it called again since
	}
	how, by, fix := wayOut(cp)
	var kept []escalation.Record
	reg, err := g.change(ctx, func(r escalation.State) ([]routing.Event, error) {
		kept = nil
		var events []routing.Event
		for _, rec := range r.Open(c.Key, e.Checkpoint) {
			if how == escalation.Passed && !rec.Fuse && !g.Config.Escalation.Resolves(rec.Type) && rec.DismissedAt.IsZero() {
				kept = append(kept, rec)
				continue
			}
			add, err := r.Leave(rec.ID, c.Key, e.Checkpoint, how, by, fix, g.now())
			if err != nil {
				return nil, err
			}
			events = append(events, add...)
		}
		return events, nil
	})
	if err != nil {
		return err
	}
	for _, rec := range kept {
		if err := g.leftover(ctx, c, e, rec); err != nil {
			return err
		}
	}
	bye := farewell{comment: render.Fixed(c, e.Checkpoint, g.Render), reason: "completed"}
	if c.Checkpoints[e.Checkpoint].WontFix != nil {
		bye.reason = "not_planned"
	}
	for _, rec := range reg.Records {
		if err := g.after(ctx, c, e.Checkpoint, rec, bye); err != nil {
			return err
		}
	}
	return g.unregistered(ctx, c, e, reg)
}

// wayOut says how a checkpoint ceased to wait, who ended it, and at which
// commit.
func wayOut(cp routing.Checkpoint) (how escalation.How, by, fix string) {
	if cp.State == routing.Completed {
		return escalation.Passed, "", cp.Green
	}
	by = "a person"
	if n := len(cp.Acts); n > 0 && cp.Acts[n-1].By != "" {
		by = cp.Acts[n-1].By
	}
	if cp.WontFix != nil {
		return escalation.WontFix, by, cp.Last.SHA
	}
	return escalation.Released, by, cp.Last.SHA
}

// leftover says on an issue that people close that its case passes. Where they
// have closed it, the case leaves.
func (g *GitHub) leftover(ctx context.Context, c routing.Case, e routing.Effect, rec escalation.Record) error {
	if rec.Number == 0 {
		return nil
	}
	i, err := g.Hub.Issue(ctx, g.Repo, rec.Number)
	if err != nil {
		return g.unlessGone(ctx, err)
	}
	if i.State != "closed" {
		_, _, err = g.Hub.PostOnce(ctx, g.Repo, rec.Number, marker.Format(e.Key+"/passes", 0), render.Leftover(c, e.Checkpoint, g.Render), false)
		return g.unlessGone(ctx, err)
	}
	_, err = g.change(ctx, func(r escalation.State) ([]routing.Event, error) {
		return r.Leave(rec.ID, c.Key, e.Checkpoint, escalation.Released, i.ClosedBy, c.Checkpoints[e.Checkpoint].Green, g.now())
	})
	return err
}

// farewell is what an issue is closed with.
type farewell struct {
	comment markdown.Text
	reason  string
}

// after brings the issue of a record that the checkpoint has left up to date.
// What was done before a process was killed is done again, and changes nothing.
func (g *GitHub) after(ctx context.Context, c routing.Case, checkpoint string, rec escalation.Record, bye farewell) error {
	left := slices.ContainsFunc(rec.Left, func(m escalation.Member) bool {
		return m.Case == c.Key && m.Checkpoint == checkpoint && m.How != escalation.Moved
	})
	switch {
	case !left || rec.Holds(c.Key, checkpoint) || !rec.Open() && rec.Settled:
		return nil
	case rec.Open():
		if rec.Number == 0 || rec.Gone || !rec.DismissedAt.IsZero() {
			return nil
		}
		_, err := g.show(ctx, c, rec, escalation.Placed{ID: rec.ID})
		return g.unlessGone(ctx, err)
	}
	if rec.Number == 0 && !rec.Gone { // filed by a process that ended before it said so?
		i, found, err := g.Hub.FindIssue(ctx, g.Repo, marker.Format(rec.ID, rec.Mark()))
		if err != nil {
			return err
		}
		if found {
			rec.Number = i.Number
		}
	}
	if rec.Number > 0 {
		mark := marker.Format(rec.ID+"/close/"+strconv.Itoa(rec.Reopened), 0)
		closed, err := g.Hub.CloseIssueAs(ctx, g.Repo, rec.Number, bye.reason, bye.comment, mark)
		if g.unlessGone(ctx, err) != nil {
			return err
		}
		if err == nil && !closed {
			if err := g.closedBefore(ctx, rec); err != nil {
				return err
			}
		}
	}
	_, err := g.change(ctx, func(r escalation.State) ([]routing.Event, error) {
		if now, ok := r.ByID(rec.ID); !ok || now.Open() {
			return nil, nil // opened again in between
		}
		return r.Settle(rec.ID, g.now())
	})
	return err
}

// leave closes the issues of the records that the call moved out of, in favour
// of that of to.
func (g *GitHub) leave(ctx context.Context, recs []escalation.Record, to github.Issue) error {
	for _, rec := range recs {
		if rec.Number > 0 && rec.Number != to.Number {
			mark := marker.Format(rec.ID+"/moved/"+strconv.Itoa(rec.Reopened), 0)
			if _, err := g.Hub.CloseIssueAs(ctx, g.Repo, rec.Number, "not_planned", markdown.Text("→ #"+strconv.Itoa(to.Number)), mark); g.unlessGone(ctx, err) != nil {
				return err
			}
		}
		if _, err := g.change(ctx, func(r escalation.State) ([]routing.Event, error) { return r.Settle(rec.ID, g.now()) }); err != nil {
			return err
		}
	}
	return nil
}

// closedBefore notes that a person had closed the issue before it was resolved:
// for its commit it stays closed.
func (g *GitHub) closedBefore(ctx context.Context, rec escalation.Record) error {
	i, err := g.Hub.Issue(ctx, g.Repo, rec.Number)
	if err != nil || i.State != "closed" || i.ClosedByBot || !rec.DismissedAt.IsZero() {
		return g.unlessGone(ctx, err)
	}
	_, err = g.change(ctx, func(r escalation.State) ([]routing.Event, error) {
		return r.Dismiss(rec.ID, rec.Host().SHA, i.ClosedBy, i.ClosedAt)
	})
	return err
}

// unregistered closes issues that the case knows and the register does not:
// filed before there was one, or by a ledger that was deleted.
func (g *GitHub) unregistered(ctx context.Context, c routing.Case, e routing.Effect, reg escalation.State) error {
	prefix := issueSlot(e.Checkpoint, "")
	slots := make([]string, 0, 2)
	for slot := range c.Done {
		if strings.HasPrefix(slot, prefix) {
			slots = append(slots, slot)
		}
	}
	slices.Sort(slots)
	for _, slot := range slots {
		number, _, _ := strings.Cut(c.Done[slot], " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			continue
		}
		if _, known := reg.ByNumber(n); known {
			continue
		}
		_, err = g.Hub.CloseIssue(ctx, g.Repo, n, render.Fixed(c, e.Checkpoint, g.Render), marker.Format(e.Key+"/"+number, 0))
		if g.unlessGone(ctx, err) != nil {
			return err
		}
	}
	return nil
}

// unlessGone takes it for done that something is to be done about an issue that is
// not there any more, as long as its repository is.
func (g *GitHub) unlessGone(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	err = g.Hub.Absent(ctx, g.Repo, err)
	if kind := advice.Of(err).Kind; !errors.Is(err, github.ErrAbsent) && (kind == advice.Gone || errors.Is(err, github.ErrMoved)) {
		return nil
	}
	return err
}
