package effect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/bot/render/planview"
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

// issue brings the escalation issue that holds the checkpoint up to date, and
// opens it where there is none. Its reference is the number, then the address:
// the comment links it.
func (g *GitHub) issue(ctx context.Context, c routing.Case, e routing.Effect) (string, error) {
	cp := c.Checkpoints[e.Checkpoint]
	if cp.Escalation == nil || cp.WontFix != nil {
		return c.Done[e.Slot], nil // it passed, or a human went on, before it was filed
	}
	o := g.Render
	call := escalation.RequestOf(c, e.Checkpoint, render.IssueKey(c.Key, e.Checkpoint, routing.Kind(e.Target)), render.IssueTitle(c, e.Checkpoint, o), g.policy(e.Checkpoint))
	return g.call(ctx, c, call, g.Config.Escalation.Limits())
}

// call brings the issue that a call belongs to up to date, and opens it where
// there is none. c is the case that calls.
func (g *GitHub) call(ctx context.Context, c routing.Case, call escalation.Request, limits escalation.Limits) (string, error) {
	call.Lease = g.lease().Take()
	limits.FuseID = routing.StreamKey(g.Repo.String(), routing.StreamEscalations) + "/fuse"
	for try := 1; ; try++ {
		rec, before, placed, err := g.place(ctx, call, limits)
		if err != nil {
			return "", err
		}
		if placed.Silent || rec.Gone && !placed.News {
			return refOf(rec), nil
		}
		i, err := g.show(ctx, c, rec, placed)
		if err == nil {
			err = g.leave(ctx, placed.Left, i)
		}
		if err != nil || !closedSince(i, rec) || try == 3 {
			return refOfIssue(i), err
		}
		// A person closed it and nobody said so.
		if _, err := g.change(ctx, func(r escalation.State) ([]routing.Event, error) {
			return r.Dismiss(rec.ID, before.SHA, i.ClosedBy, i.ClosedAt)
		}); err != nil {
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

// place finds the record of the call in the register, or opens one. before is
// the member that the record was about until then.
func (g *GitHub) place(ctx context.Context, call escalation.Request, limits escalation.Limits) (rec escalation.Record, before escalation.Member, placed escalation.Placed, err error) {
	contains := map[escalation.Ancestry]bool{}
	for {
		reg, err := g.change(ctx, func(r escalation.State) (_ []routing.Event, err error) {
			placed, err = r.Place(call, limits, contains, g.now())
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
			placed.Left = reg.LeftBehind(call.Member.Case, call.Member.Checkpoint)
			rec, ok := reg.ByID(placed.ID)
			if !ok {
				err = fmt.Errorf("%s: %w", placed.ID, escalation.ErrUnknown)
			}
			return rec, before, placed, err
		}
		if contains[*placed.Ask], err = g.Hub.Contains(ctx, g.Repo, placed.Ask.Fix, placed.Ask.Head); err != nil {
			return rec, before, placed, err
		}
	}
}

// shows is how often an issue is written anew for what others record meanwhile.
const shows = 4

// show brings the issue of a record to what the record and its host say, and
// returns it. One that a human closed since is left as it is.
func (g *GitHub) show(ctx context.Context, c routing.Case, rec escalation.Record, placed escalation.Placed) (github.Issue, error) {
	if placed.Blown {
		g.log().Error("too many new issues within an hour; what is beyond is listed in one", "case", c.Key, "issue", rec.Number, "cap", g.Config.Escalation.Limits().MaxIssues)
	}
	rec, err := g.leaseFiling(ctx, rec)
	for try := 1; err == nil; try++ {
		var i github.Issue
		var created bool
		if i, created, err = g.write(ctx, c, rec, placed.News); err != nil || i.Number == 0 {
			return i, err
		}
		now, stale, err := g.filed(ctx, rec, i)
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
		return i, g.bringState(ctx, now, i)
	}
	return github.Issue{}, err
}

// filed notes where the issue stands. stale is true if the record has moved on
// since rec.
func (g *GitHub) filed(ctx context.Context, rec escalation.Record, i github.Issue) (now escalation.Record, stale bool, err error) {
	reg, err := g.change(ctx, func(r escalation.State) ([]routing.Event, error) {
		cur, _ := r.ByID(rec.ID)
		stale = !cur.UpdatedAt.Equal(rec.UpdatedAt)
		return r.Filed(rec.ID, i.Number, i.URL, g.now())
	})
	now, _ = reg.ByID(rec.ID)
	return now, stale, err
}

// write makes the issue or brings it up to date. One that is gone is forgotten,
// and made anew if there is news.
func (g *GitHub) write(ctx context.Context, c routing.Case, rec escalation.Record, news bool) (github.Issue, bool, error) {
	host, err := g.hostCase(ctx, c, rec)
	if err != nil {
		return github.Issue{}, false, err
	}
	spec, mark := g.issueSpec(ctx, c, host, rec)
	number := ""
	if rec.Number > 0 {
		number = strconv.Itoa(rec.Number)
	}
	i, created, err := g.Hub.UpsertIssue(ctx, g.Repo, mark, spec, number)
	if !errors.Is(err, github.ErrMoved) || number == "" {
		return i, created, err
	}
	reg, err := g.change(ctx, func(r escalation.State) ([]routing.Event, error) { return r.Forget(rec.ID, g.now()) })
	if err != nil || !news {
		return github.Issue{}, false, err
	}
	rec, _ = reg.ByID(rec.ID)
	if rec, err = g.leaseFiling(ctx, rec); err != nil {
		return github.Issue{}, false, err
	}
	if rec.Number > 0 {
		number = strconv.Itoa(rec.Number)
	} else {
		number = ""
	}
	return g.Hub.UpsertIssue(ctx, g.Repo, mark, spec, number)
}

func (g *GitHub) lease() ledger.Lease {
	return ledger.Lease{Owner: g.Owner, TTL: g.FileTTL, Now: g.now}
}

// leaseFiling makes sure that this process alone files the issue of rec: many
// cases may fail the same way at once. While another files it, it waits, and
// returns the record with the issue's number.
func (g *GitHub) leaseFiling(ctx context.Context, rec escalation.Record) (escalation.Record, error) {
	for rec.Number == 0 {
		reg, err := g.change(ctx, func(r escalation.State) ([]routing.Event, error) {
			return r.File(rec.ID, *g.lease().Take(), g.now())
		})
		var busy *escalation.BusyError
		switch {
		case err == nil:
			rec, _ = reg.ByID(rec.ID)
			return rec, nil
		case !errors.As(err, &busy):
			return rec, err
		}
		if err := g.Sleep(ctx, min(max(busy.Until.Sub(g.now()), 50*time.Millisecond), time.Second)); err != nil {
			return rec, err
		}
	}
	return rec, nil
}

// bringState opens the issue of a record that is open, and gives it the labels
// of its type.
func (g *GitHub) bringState(ctx context.Context, rec escalation.Record, i github.Issue) error {
	if i.State == "closed" {
		if err := g.reopen(ctx, rec, i); err != nil {
			return err
		}
	}
	want := labelsOf(rec)
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
	_, err := g.Hub.SyncLabels(ctx, g.Repo, i.Number, i.Labels, want, old)
	return err
}

// reopen opens the issue again, and closes it where the record was resolved in
// the meantime.
func (g *GitHub) reopen(ctx context.Context, rec escalation.Record, i github.Issue) error {
	m := rec.Newest()
	mark := marker.Format(fmt.Sprintf("%s/reopen/%d/%d", rec.ID, rec.Reopened, rec.RecalledAt.UnixMilli()), 0)
	if _, err := g.Hub.ReopenIssue(ctx, g.Repo, i.Number, render.Reopened(routing.Case{Key: m.Case}, m.Checkpoint, g.Render), mark); err != nil {
		return err
	}
	reg, err := Escalations(ctx, g.Ledger, g.Repo.String())
	if now, ok := reg.ByID(rec.ID); err == nil && ok && !now.Open() {
		_, err = g.Hub.CloseIssue(ctx, g.Repo, i.Number, "", "")
	}
	return err
}

// hostCase returns what the issue's report is about: c where it is c's, else as
// the ledger has it.
func (g *GitHub) hostCase(ctx context.Context, c routing.Case, rec escalation.Record) (host, error) {
	m := rec.Host()
	if routing.IsRepositoryStream(m.Case) {
		return g.planHost(ctx, m, rec)
	}
	if m.Case == c.Key {
		return host{Case: c}, nil
	}
	events, _, err := g.Ledger.Load(ctx, m.Case)
	if err != nil {
		return host{Case: c}, err
	}
	c, err = routing.Fold(m.Case, events)
	return host{Case: c}, err
}

// issueSpec is the issue of a record as it is wanted, and its marker.
func (g *GitHub) issueSpec(ctx context.Context, c routing.Case, host host, rec escalation.Record) (github.IssueSpec, string) {
	m := rec.Host()
	p := g.policy(m.Checkpoint)
	o := g.Render
	if c.Key != host.Key {
		o.RunURL = "" // of c's run
	}
	spec := github.IssueSpec{Title: rec.Title, Labels: labelsOf(rec)}
	if p.Notify {
		o.Mention = g.Config.Escalation.Mention
		if o.Mention != "" && !strings.HasPrefix(o.Mention, "@") {
			o.Mention = "@" + o.Mention
		}
		spec.Assignees = g.Config.Escalation.Assignees
		spec.Who = func() []string { return g.owners(ctx, host.Checkpoints[m.Checkpoint]) }
	}
	o.Shared.Members = rec.Members
	o.Shared.Marker = marker.Format(rec.ID, rec.Mark())
	o.Shared.CommentURL = g.commentURL(host.Case, m.Checkpoint)
	spec.Write = func(live string) markdown.Text {
		o := o
		if g.Prompt != nil {
			o.Shared.Prompt = g.Prompt(rec, host.Case, live)
		}
		switch {
		case rec.Fuse:
			return render.SummaryIssueBody(rec, g.Config.Escalation.Limits().MaxIssues, o)
		case host.port != nil:
			return planview.PortBody(*host.port, o)
		case host.asks != nil:
			return planview.RequestBody(*host.asks, o)
		}
		return render.IssueBody(host.Case, m.Checkpoint, o)
	}
	if rec.Fuse {
		spec.Title = render.SummaryIssueTitle(o)
	}
	spec.Body = spec.Write("")
	return spec, o.Shared.Marker
}

// commentURL is the address of the checkpoint's comment on its pull request.
func (g *GitHub) commentURL(c routing.Case, checkpoint string) string {
	id := c.Done[checkpoint+"/"+string(routing.EffectComment)]
	s, err := ParseSubject(g.Repo, c.Key)
	if id == "" || err != nil || s.Number == 0 {
		return ""
	}
	server := strings.TrimRight(g.Render.ServerURL, "/")
	if server == "" {
		server = "https://github.com"
	}
	return fmt.Sprintf("%s/%s/pull/%d#issuecomment-%s", server, g.Repo, s.Number, id)
}

// owners are the people who own the failing files at the base branch. That
// they are not known is no reason not to file.
func (g *GitHub) owners(ctx context.Context, cp routing.Checkpoint) []string {
	if len(cp.Attempts) == 0 {
		return nil
	}
	base := g.Subject.Base
	if base == "" {
		base = g.Subject.DefaultBranch
	}
	who, err := g.Hub.Owners(ctx, g.Repo, base, escalation.Files(cp.Attempts[len(cp.Attempts)-1].Verdict))
	if err != nil {
		g.log().Warn("the owners of the failing files are not known", "repo", g.Repo.String(), "err", err)
	}
	return who
}
