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

// issueCloser takes checkpoints out of escalation issues, and closes those that hold nothing any
// more.
type issueCloser struct {
	hub    Hub
	repo   github.Repo
	store  escalationStore
	opener issueOpener                // for issues that go on about others
	closes func(escalation.Type) bool // whether a green run closes issues of a type
	render render.Options
}

// close takes the checkpoint out of what holds it. An issue that holds nothing
// any more is closed with what fixed it; one that holds others goes on about
// them.
func (p issueCloser) close(ctx context.Context, c routing.Case, e routing.Effect) error {
	cp := c.Checkpoints[e.Checkpoint]
	if cp.Escalation != nil && cp.State == routing.Escalated && !cp.Skipped && cp.WontFix == nil {
		return nil // it escalated again since
	}
	how, by, fix := wayOut(cp)
	state, kept, err := p.store.leave(ctx, c.Key, e.Checkpoint, how, by, fix, p.closes)
	if err != nil {
		return err
	}
	for _, rec := range kept {
		if err := p.leftover(ctx, c, e, rec); err != nil {
			return err
		}
	}
	bye := farewell{comment: render.Fixed(c, e.Checkpoint, p.render), reason: "completed"}
	if cp.WontFix != nil {
		bye.reason = "not_planned"
	}
	if how == escalation.Folded {
		bye = farewell{comment: render.FoldedIn(c, e.Checkpoint, p.render), reason: "not_planned"}
	}
	for _, rec := range state.Records {
		if err := p.after(ctx, c, e.Checkpoint, rec, bye); err != nil {
			return err
		}
	}
	return p.unregistered(ctx, c, e, state)
}

// release takes what waits under key out of the issues that hold it: how it ceased to wait, and who
// ended it, "" for a green run. An issue that holds nothing any more is closed with comment.
func (p issueCloser) release(ctx context.Context, key, checkpoint string, how escalation.How, by string, comment markdown.Text) error {
	state, _, err := p.store.leave(ctx, key, checkpoint, how, by, "", p.closes)
	if err != nil {
		return err
	}
	bye := farewell{comment, "completed"}
	if how == escalation.WontFix {
		bye.reason = "not_planned"
	}
	for _, rec := range state.Records {
		if err := p.after(ctx, routing.Case{Key: key}, checkpoint, rec, bye); err != nil {
			return err
		}
	}
	return nil
}

// wayOut says how a checkpoint ceased to wait, who ended it, and at which
// commit.
func wayOut(cp routing.Checkpoint) (how escalation.How, by, fix string) {
	if cp.State == routing.Completed {
		return escalation.Passed, "", cp.Green
	}
	if n := len(cp.Attempts); n > 0 && cp.Attempts[n-1].Kind == routing.KindIncident {
		return escalation.Folded, "", cp.Last.SHA
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
func (p issueCloser) leftover(ctx context.Context, c routing.Case, e routing.Effect, rec escalation.Record) error {
	if rec.Number == 0 {
		return nil
	}
	i, err := p.hub.Issues.Get(ctx, p.repo, rec.Number)
	if err != nil {
		return unlessGone(ctx, p.hub, p.repo, err)
	}
	if i.State != "closed" {
		_, _, err = p.hub.Comments.PostOnce(ctx, p.repo, rec.Number, marker.Format(e.Key+"/passes", 0), render.Leftover(c, e.Checkpoint, p.render), false)
		return unlessGone(ctx, p.hub, p.repo, err)
	}
	_, err = p.store.change(ctx, func(r escalation.State) ([]routing.Event, error) {
		return r.Recorder(p.store.now()).Leave(rec.ID, c.Key, e.Checkpoint, escalation.Released, i.ClosedBy, c.Checkpoints[e.Checkpoint].Green)
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
func (p issueCloser) after(ctx context.Context, c routing.Case, checkpoint string, rec escalation.Record, bye farewell) error {
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
		_, err := p.opener.show(ctx, c, rec, escalation.Placed{ID: rec.ID})
		return unlessGone(ctx, p.hub, p.repo, err)
	}
	if rec.Number == 0 && !rec.Gone { // filed by a process that ended before it said so?
		i, found, err := p.hub.Issues.Find(ctx, p.repo, marker.Format(rec.ID, rec.Mark()))
		if err != nil {
			return err
		}
		if found {
			rec.Number = i.Number
		}
	}
	if rec.Number > 0 {
		mark := marker.Format(rec.ID+"/close/"+strconv.Itoa(rec.Reopened), 0)
		closed, err := p.hub.Issues.CloseAs(ctx, p.repo, rec.Number, bye.reason, bye.comment, mark)
		if unlessGone(ctx, p.hub, p.repo, err) != nil {
			return err
		}
		if err == nil && !closed {
			if err := p.closedBefore(ctx, rec); err != nil {
				return err
			}
		}
	}
	return p.store.settle(ctx, rec.ID)
}

// closedBefore notes that a person had closed the issue before it was resolved:
// for its commit it stays closed.
func (p issueCloser) closedBefore(ctx context.Context, rec escalation.Record) error {
	i, err := p.hub.Issues.Get(ctx, p.repo, rec.Number)
	if err != nil || i.State != "closed" || i.ClosedByBot || !rec.DismissedAt.IsZero() {
		return unlessGone(ctx, p.hub, p.repo, err)
	}
	return p.store.dismiss(ctx, rec.ID, rec.Host().SHA, i)
}

// unregistered closes issues that the case knows and the register does not:
// filed before there was one, or by a ledger that was deleted.
func (p issueCloser) unregistered(ctx context.Context, c routing.Case, e routing.Effect, reg escalation.State) error {
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
		_, err = p.hub.Issues.Close(ctx, p.repo, n, render.Fixed(c, e.Checkpoint, p.render), marker.Format(e.Key+"/"+number, 0))
		if unlessGone(ctx, p.hub, p.repo, err) != nil {
			return err
		}
	}
	return nil
}

// unlessGone takes it for done that something is to be done about an issue that is
// not there any more, as long as its repository is.
func unlessGone(ctx context.Context, hub Hub, repo github.Repo, err error) error {
	if err == nil {
		return nil
	}
	err = hub.Repositories.Absent(ctx, repo, err)
	if kind := advice.Of(err).Kind; !errors.Is(err, github.ErrAbsent) && (kind == advice.Gone || errors.Is(err, github.ErrMoved)) {
		return nil
	}
	return err
}
