package action

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
)

// closed is an escalation issue that a person closed: as completed, the cases
// go on; as not planned, they are left as they are. It stays closed for its
// commit.
func (f *face) closed(ctx context.Context, rec escalation.Record, is Issue) error {
	if !rec.Open() {
		return nil
	}
	who, err := f.sender(ctx, f.config.Answers.PermissionOrDefault())
	if err != nil || who.ignored {
		return err
	}
	return f.shut(ctx, rec, who, is.ClosedAt, is.StateReason)
}

// shut carries out that somebody closed the issue of a record at a time, as
// GitHub writes it, for a reason.
func (f *face) shut(ctx context.Context, rec escalation.Record, who standing, at, reason string) error {
	once := fmt.Sprintf("close/%d/%s", rec.Number, at)
	if !who.may {
		marker := render.Marker(f.key("reply", once), 0)
		_, err := f.hub.ReopenIssue(ctx, f.repo, rec.Number, render.NotAllowed(who.login, who.want, who.have, true, f.words()), marker)
		return err
	}
	action := routing.HumanResume
	if reason == "not_planned" || reason == "duplicate" {
		action = routing.HumanWontFix
	}
	reg, err := f.change(ctx, func(r escalation.Register) ([]routing.Event, error) {
		return r.Dismiss(rec.ID, rec.Host().SHA, who.login, f.now())
	})
	if err != nil {
		return err
	}
	now, _ := reg.ByID(rec.ID)
	var lines []string
	for _, m := range now.Members {
		if !rec.Holds(m.Case, m.Checkpoint) {
			continue // it called since
		}
		e := routing.HumanActed{Checkpoint: m.Checkpoint, Action: action, By: who.login, Answer: fmt.Sprintf("close/%s/%s/%s", rec.ID, at, m.Checkpoint)}
		if _, err := f.act(ctx, m.Case, e); err != nil {
			if !said(err) {
				return err
			}
			lines = append(lines, render.NotDone(string(action), err, f.words()))
		}
	}
	return f.reply(ctx, rec.Number, once, lines...)
}

// shutUnheard is an issue that was closed without anybody saying so to this
// bot: who closed it is asked for now. What called since is none of theirs.
func (f *face) shutUnheard(ctx context.Context, rec escalation.Record, i github.Issue) error {
	rec.Members = slices.DeleteFunc(slices.Clone(rec.Members), func(m escalation.Member) bool { return m.Opened.After(i.ClosedAt) })
	if len(rec.Members) == 0 || i.ClosedBy == "" || strings.HasSuffix(i.ClosedBy, "[bot]") {
		return nil
	}
	who := standing{login: i.ClosedBy, want: f.config.Answers.PermissionOrDefault()}
	var err error
	if who.may, who.have, err = f.mayAnswer(ctx, who.login, who.want); err != nil {
		return err
	}
	return f.shut(ctx, rec, who, i.ClosedAt.UTC().Format(time.RFC3339), i.StateReason)
}

// reopened is an issue that a person opened again: what is closed for its
// commit is shown again; a resolved one holds nothing to answer.
func (f *face) reopened(ctx context.Context, rec escalation.Record, is Issue) error {
	who, err := f.sender(ctx, f.config.Answers.PermissionOrDefault())
	if err != nil || who.ignored || !who.may {
		return err
	}
	if !rec.Open() {
		return f.reply(ctx, is.Number, fmt.Sprintf("reopen/%d/%s", is.Number, is.UpdatedAt), render.Settled(rec, f.words()))
	}
	reg, err := f.change(ctx, func(r escalation.Register) ([]routing.Event, error) { return r.Recall(rec.ID, f.now()) })
	if err != nil {
		return err
	}
	rec, _ = reg.ByID(rec.ID)
	return f.redraw(ctx, rec, func(live string) string { return live })
}

// lost is an issue that was deleted or transferred: its cases wait still, and
// can be answered on their pull requests.
func (f *face) lost(ctx context.Context, rec escalation.Record, action string) error {
	if _, err := f.change(ctx, func(r escalation.Register) ([]routing.Event, error) { return r.Forget(rec.ID, f.now()) }); err != nil {
		return err
	}
	how := "gone"
	if action == "transferred" {
		how = "moved"
	}
	for _, m := range rec.Members {
		s, err := effect.ParseSubject(f.repo, m.Case)
		if err != nil || s.Number == 0 {
			continue
		}
		if err := f.gone(ctx, f.reply(ctx, s.Number, fmt.Sprintf("lost/%s/%d", rec.ID, rec.Number), render.Lost(m.Checkpoint, how, f.words()))); err != nil {
			return err
		}
	}
	return nil
}

// pausedLabel pauses a pull request on which a person put the label, and
// resumes one from which they took it. Who may not gets it put back.
func (f *face) pausedLabel(ctx context.Context, pr PullRequest) error {
	if !strings.EqualFold(f.event.Label.Name, effect.PausedLabel) {
		return nil
	}
	who, err := f.sender(ctx, "triage")
	if err != nil || who.ignored {
		return err
	}
	key := effect.Subject{Number: pr.Number}.Key(f.repo)
	on := f.event.Action == "labeled"
	if !who.may {
		return f.relabel(ctx, pr.Number, !on)
	}
	c, err := f.load(ctx, key)
	if err != nil {
		return err
	}
	action := routing.HumanResume
	if on {
		action = routing.HumanPause
	}
	for _, name := range c.Names() {
		cp := c.Checkpoints[name]
		waits := cp.Paused || cp.State == routing.Escalated
		if on == waits || cp.State == routing.Completed && on || cp.Skipped && !cp.Paused && !on { // done without is not paused
			continue
		}
		e := routing.HumanActed{Checkpoint: name, Action: action, By: who.login, Answer: fmt.Sprintf("label/%d/%s/%s/%s", pr.Number, f.event.Action, pr.UpdatedAt, name)}
		if _, err := f.act(ctx, key, e); err != nil && !said(err) {
			return err
		}
	}
	return nil
}

func (f *face) relabel(ctx context.Context, number int, on bool) error {
	paused := []github.LabelSpec{{Name: effect.PausedLabel, Color: "d4c5f9", Description: "Waits for a human; see the escalation"}}
	var err error
	if on {
		_, err = f.hub.SyncLabels(ctx, f.repo, number, nil, paused, nil)
	} else {
		_, err = f.hub.SyncLabels(ctx, f.repo, number, nil, nil, paused)
	}
	return err
}
