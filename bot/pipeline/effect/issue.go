package effect

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/marker"
)

// WaitError says that an effect is not to be carried out before a time.
type WaitError struct{ Until time.Time }

func (e *WaitError) Error() string {
	return "an escalation of this kind was closed a moment ago; it is opened after " + e.Until.UTC().Format(time.RFC3339)
}

// Advice implements advice.Adviser.
func (e *WaitError) Advice() advice.Advice {
	return advice.Advice{Kind: advice.NotYet, After: max(time.Until(e.Until), time.Second), Reason: "early"}
}

// issueOpener brings escalation issues up to date, and opens them.
type issueOpener struct {
	hub    Hub
	repo   github.Repo
	store  escalationStore
	writer issueWriter
	limits escalation.Limits
	render render.Options
	log    *slog.Logger
}

// escalate brings the escalation issue that holds a checkpoint up to date, and opens it where there
// is none. Its reference is the number, then the address: the comment links it.
func (p issueOpener) escalate(ctx context.Context, c routing.Case, e routing.Effect, policy routing.Policy) (string, error) {
	cp := c.Checkpoints[e.Checkpoint]
	if cp.Escalation == nil || cp.WontFix != nil {
		return c.Done[e.Slot], nil // it passed, or a human went on, before it was filed
	}
	request := escalation.RequestOf(c, e.Checkpoint, render.IssueKey(c.Key, e.Checkpoint, routing.Kind(e.Target)), render.IssueTitle(c, e.Checkpoint, p.render), policy)
	return p.open(ctx, c, request, p.limits)
}

// open brings the issue that a request belongs to up to date, and opens it where
// there is none. c is the case that escalates.
func (p issueOpener) open(ctx context.Context, c routing.Case, request escalation.Request, limits escalation.Limits) (string, error) {
	request.Lease = p.store.lease.Take()
	limits.FuseID = routing.StreamKey(p.repo.String(), routing.StreamEscalations) + "/fuse"
	for try := 1; ; try++ {
		rec, before, placed, err := p.place(ctx, request, limits)
		if err != nil {
			return "", err
		}
		if placed.Silent || rec.Gone && !placed.News {
			return refOf(rec), nil
		}
		i, err := p.show(ctx, c, rec, placed)
		if err == nil {
			err = p.closeMoved(ctx, placed.Left, i)
		}
		if err != nil || !closedSince(i, rec) || try == 3 {
			return refOfIssue(i), err
		}
		// A person closed it and nobody said so.
		if err := p.store.dismiss(ctx, rec.ID, before.SHA, i); err != nil {
			return "", err
		}
	}
}

// closedSince reports whether a human closed the issue and the register does
// not know of it: within one second it may have been closed and called upon
// again. GitHub's times are whole seconds.
func closedSince(i github.Issue, rec escalation.Record) bool {
	return i.State == "closed" && !i.ClosedByBot && !i.ClosedAt.Equal(rec.ClosedAt) && i.ClosedAt.After(rec.RecalledAt.Truncate(time.Second))
}

func refOfIssue(i github.Issue) string {
	if i.Number == 0 {
		return ""
	}
	return strconv.Itoa(i.Number) + " " + i.URL
}

func refOf(rec escalation.Record) string {
	if rec.Number == 0 {
		return ""
	}
	return strconv.Itoa(rec.Number) + " " + rec.URL
}

// place finds the record of a request in the register, or opens one. before is
// the member that the record was about until then.
func (p issueOpener) place(ctx context.Context, request escalation.Request, limits escalation.Limits) (rec escalation.Record, before escalation.Member, placed escalation.Placed, err error) {
	contains := map[escalation.Ancestry]bool{}
	for {
		reg, err := p.store.change(ctx, func(r escalation.State) (_ []routing.Event, err error) {
			placed, err = r.Recorder(p.store.now()).Place(request, limits, contains)
			if old, ok := r.ByID(placed.ID); ok {
				before = old.Newest()
			}
			return placed.Events, err
		})
		switch {
		case err != nil:
			return rec, before, placed, err
		case !placed.Wait.IsZero():
			return rec, before, placed, &WaitError{placed.Wait}
		case placed.Ask == nil:
			placed.Left = reg.LeftBehind(request.Member.Case, request.Member.Checkpoint)
			rec, ok := reg.ByID(placed.ID)
			if !ok {
				err = fmt.Errorf("%s: %w", placed.ID, escalation.ErrUnknown)
			}
			return rec, before, placed, err
		}
		if contains[*placed.Ask], err = p.hub.Commits.Contains(ctx, p.repo, placed.Ask.Fix, placed.Ask.Head); err != nil {
			return rec, before, placed, err
		}
	}
}

// shows is how often an issue is written anew for what others record meanwhile.
const shows = 4

// show brings the issue of a record to what the record and its case say, and
// returns it. One that a human closed since is left as it is.
func (p issueOpener) show(ctx context.Context, c routing.Case, rec escalation.Record, placed escalation.Placed) (github.Issue, error) {
	if placed.Blown {
		p.log.Error("too many new issues within an hour; what is beyond is listed in one", "case", c.Key, "issue", rec.Number, "cap", p.limits.MaxIssues)
	}
	rec, err := p.store.leaseFiling(ctx, rec)
	for try := 1; err == nil; try++ {
		var i github.Issue
		var created bool
		if i, created, err = p.upsert(ctx, c, rec, placed.News); err != nil || i.Number == 0 {
			return i, err
		}
		now, stale, err := p.store.filed(ctx, rec, i)
		if err != nil {
			return i, err
		}
		if stale && now.Open() && try < shows {
			rec = now // others joined or left while it was written
			continue
		}
		if created || closedSince(i, now) || !now.Open() {
			return i, nil
		}
		return i, p.syncState(ctx, now, i)
	}
	return github.Issue{}, err
}

// upsert makes the issue or brings it up to date. One that is gone is forgotten,
// and made anew if there is news.
func (p issueOpener) upsert(ctx context.Context, c routing.Case, rec escalation.Record, news bool) (github.Issue, bool, error) {
	spec, mark, err := p.writer.spec(ctx, c, rec)
	if err != nil {
		return github.Issue{}, false, err
	}
	i, created, err := p.write(ctx, rec, mark, spec)
	if !errors.Is(err, github.ErrMoved) || rec.Number == 0 {
		return i, created, err
	}
	reg, err := p.store.change(ctx, func(r escalation.State) ([]routing.Event, error) { return r.Recorder(p.store.now()).Forget(rec.ID) })
	if err != nil || !news {
		return github.Issue{}, false, err
	}
	rec, _ = reg.ByID(rec.ID)
	if rec, err = p.store.leaseFiling(ctx, rec); err != nil {
		return github.Issue{}, false, err
	}
	return p.write(ctx, rec, mark, spec)
}

// write posts the issue of a record, or a new version of it. While it is posted first, this process's
// lease is kept; after its end the issue may be there and is found by its marker.
func (p issueOpener) write(ctx context.Context, rec escalation.Record, mark string, spec github.IssueSpec) (github.Issue, bool, error) {
	number := ""
	if rec.Number > 0 {
		number = strconv.Itoa(rec.Number)
	}
	held, release := p.store.hold(ctx, rec)
	defer release()
	i, created, err := p.hub.Issues.Upsert(held, p.repo, mark, spec, number)
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(held), ledger.ErrLeaseEnded) {
		err = ledger.ErrLeaseEnded
	}
	return i, created, err
}

// syncState opens the issue of a record that is open, and gives it the labels
// of its type.
func (p issueOpener) syncState(ctx context.Context, rec escalation.Record, i github.Issue) error {
	if i.State == "closed" {
		if err := p.reopen(ctx, rec, i); err != nil {
			return err
		}
	}
	want := p.writer.labels(rec)
	var old []github.LabelSpec
	for _, l := range i.Labels {
		stale := strings.HasPrefix(l, "escalation:") || strings.HasPrefix(l, "severity:")
		if stale && !slices.ContainsFunc(want, func(w github.LabelSpec) bool { return w.Name == l }) {
			old = append(old, github.LabelSpec{Name: l})
		}
	}
	if i.Labels == nil {
		i.Labels = []string{}
	}
	_, err := p.hub.Labels.Sync(ctx, p.repo, i.Number, i.Labels, want, old)
	return err
}

// reopen opens the issue again, and closes it where the record was resolved in
// the meantime.
func (p issueOpener) reopen(ctx context.Context, rec escalation.Record, i github.Issue) error {
	m := rec.Newest()
	mark := marker.Format(fmt.Sprintf("%s/reopen/%d/%d", rec.ID, rec.Reopened, rec.RecalledAt.UnixMilli()), 0)
	if _, err := p.hub.Issues.Reopen(ctx, p.repo, i.Number, render.Reopened(routing.Case{Key: m.Case}, m.Checkpoint, p.render), mark); err != nil {
		return err
	}
	reg, err := p.store.stream.Load(ctx)
	if now, ok := reg.ByID(rec.ID); err == nil && ok && !now.Open() {
		_, err = p.hub.Issues.Close(ctx, p.repo, i.Number, "", "")
	}
	return err
}

// closeMoved closes the issues of the records that an escalation moved out of, in favour
// of that of to.
func (p issueOpener) closeMoved(ctx context.Context, recs []escalation.Record, to github.Issue) error {
	for _, rec := range recs {
		if rec.Number > 0 && rec.Number != to.Number {
			mark := marker.Format(rec.ID+"/moved/"+strconv.Itoa(rec.Reopened), 0)
			if _, err := p.hub.Issues.CloseAs(ctx, p.repo, rec.Number, "not_planned", markdown.Text("→ #"+strconv.Itoa(to.Number)), mark); unlessGone(ctx, p.hub, p.repo, err) != nil {
				return err
			}
		}
		if _, err := p.store.change(ctx, func(r escalation.State) ([]routing.Event, error) { return r.Recorder(p.store.now()).Settle(rec.ID) }); err != nil {
			return err
		}
	}
	return nil
}
