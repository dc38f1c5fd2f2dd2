package handler

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/marker"
)

// issueState handles an escalation issue that was closed, opened again or lost.
type issueState struct{ cases }

// closed handles an escalation issue that a person closed: as completed, its cases continue; as not
// planned, they stay as they are. It stays closed for its commit.
func (h issueState) closed(ctx context.Context, e *Event, rec escalation.Record) error {
	if !rec.Open() {
		return nil
	}
	who, err := h.sender(ctx, e, h.Config.Answers.PermissionOrDefault())
	if err != nil || who.ignored {
		return err
	}
	return h.close(ctx, rec, who, e.Issue.ClosedAt, e.Issue.StateReason)
}

// close does what follows when somebody closed the issue of a record at a time, as GitHub writes it,
// for a reason.
func (h issueState) close(ctx context.Context, rec escalation.Record, who standing, at, reason string) error {
	once := fmt.Sprintf("close/%d/%s", rec.Number, at)
	if !who.may {
		mark := marker.Format(h.key("reply", once), 0)
		_, err := h.GitHub.Issues.Reopen(ctx, h.Repo, rec.Number, render.NotAllowed(who.login, who.want, who.have, true, h.words()), mark)
		return err
	}
	action := routing.HumanResume
	if reason == "not_planned" || reason == "duplicate" {
		action = routing.HumanWontFix
	}
	reg, err := h.change(ctx, func(r escalation.State) ([]routing.Event, error) {
		return r.Recorder(h.Now()).Dismiss(rec.ID, rec.Host().SHA, who.login)
	})
	if err != nil {
		return err
	}
	now, _ := reg.ByID(rec.ID)
	var lines []markdown.Text
	for _, m := range now.Members {
		if !rec.Holds(m.Case, m.Checkpoint) {
			continue // it was added since
		}
		ev := routing.HumanActed{Checkpoint: m.Checkpoint, Action: action, By: who.login, Answer: fmt.Sprintf("close/%s/%s/%s", rec.ID, at, m.Checkpoint)}
		if _, err := h.act(ctx, m.Case, ev); err != nil {
			if !refused(err) {
				return err
			}
			lines = append(lines, render.NotDone(string(action), err, h.words()))
		}
	}
	return h.reply(ctx, rec.Number, once, lines...)
}

// closedUnheard handles an issue whose closing sent no event: who closed it is asked for now. Cases
// that the record got since are none of theirs.
func (h issueState) closedUnheard(ctx context.Context, rec escalation.Record, i github.Issue) error {
	rec.Members = slices.DeleteFunc(slices.Clone(rec.Members), func(m escalation.Member) bool { return m.Opened.After(i.ClosedAt) })
	if len(rec.Members) == 0 || i.ClosedBy == "" || strings.HasSuffix(i.ClosedBy, "[bot]") {
		return nil
	}
	who := standing{login: i.ClosedBy, want: h.Config.Answers.PermissionOrDefault()}
	var err error
	if who.may, who.have, err = h.mayAnswer(ctx, who.login, who.want); err != nil {
		return err
	}
	return h.close(ctx, rec, who, i.ClosedAt.UTC().Format(time.RFC3339), i.StateReason)
}

// reopened handles an issue that a person opened again. What is closed for its commit is shown again;
// a resolved one has nothing to answer.
func (h issueState) reopened(ctx context.Context, e *Event, rec escalation.Record) error {
	who, err := h.sender(ctx, e, h.Config.Answers.PermissionOrDefault())
	if err != nil || who.ignored || !who.may {
		return err
	}
	if !rec.Open() {
		return h.reply(ctx, e.Issue.Number, fmt.Sprintf("reopen/%d/%s", e.Issue.Number, e.Issue.UpdatedAt), render.Settled(rec, h.words()))
	}
	reg, err := h.change(ctx, func(r escalation.State) ([]routing.Event, error) { return r.Recorder(h.Now()).Recall(rec.ID) })
	if err != nil {
		return err
	}
	rec, _ = reg.ByID(rec.ID)
	return redraw(ctx, h.Deps, rec, func(live string) string { return live })
}

// lost handles an issue that was deleted or transferred: its cases still wait, and can be answered on
// their pull requests.
func (h issueState) lost(ctx context.Context, rec escalation.Record, action string) error {
	if _, err := h.change(ctx, func(r escalation.State) ([]routing.Event, error) { return r.Recorder(h.Now()).Forget(rec.ID) }); err != nil {
		return err
	}
	how := "gone"
	if action == "transferred" {
		how = "moved"
	}
	for _, m := range rec.Members {
		s, err := effect.ParseSubject(h.Repo, m.Case)
		if err != nil || s.Number == 0 {
			continue
		}
		if err := h.gone(ctx, h.reply(ctx, s.Number, fmt.Sprintf("lost/%s/%d", rec.ID, rec.Number), render.Lost(m.Checkpoint, how, h.words()))); err != nil {
			return err
		}
	}
	return nil
}
