package effect

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/marker"
)

// ReportSource reports on escalations of what is no case: keys for which routing.IsRepositoryStream
// is true.
type ReportSource interface {
	// Report reads what the issue of a record is about, and returns what writes its body.
	Report(ctx context.Context, rec escalation.Record) (func(render.Options) markdown.Text, error)
	// Labels returns the labels of the issue of a record, nil for those of its type and severity.
	Labels(rec escalation.Record) []github.LabelSpec
}

// issueWriter writes escalation issues out of the ledger.
type issueWriter struct {
	hub       Hub
	repo      github.Repo
	subject   Subject
	policy    func(checkpoint string) routing.Policy
	config    config.EscalationSettings
	render    render.Options
	ledger    ledger.Ledger
	source    ReportSource // nil: all escalations are of cases
	questions func(rec escalation.Record, host routing.Case, live string) markdown.Text
	log       *slog.Logger
}

// about returns the case that the issue of a record is about: c where it is c's, else as the ledger
// has it. Of what is no case it returns the key alone, and what writes the body of its issue.
func (w issueWriter) about(ctx context.Context, c routing.Case, rec escalation.Record) (routing.Case, func(render.Options) markdown.Text, error) {
	key := rec.Host().Case
	switch {
	case routing.IsRepositoryStream(key):
		if w.source == nil {
			return routing.Case{Key: key}, nil, fmt.Errorf("nothing reports on the escalations of %q", key)
		}
		report, err := w.source.Report(ctx, rec)
		return routing.Case{Key: key}, report, err
	case key == c.Key:
		return c, nil, nil
	}
	events, _, err := w.ledger.Load(ctx, key)
	if err != nil {
		return c, nil, err
	}
	c, err = routing.Fold(key, events)
	return c, nil, err
}

// spec returns the issue of a record as it is wanted, and its marker. c is the case whose effects
// are applied, an empty one if the record is only written anew.
func (w issueWriter) spec(ctx context.Context, c routing.Case, rec escalation.Record) (github.IssueSpec, string, error) {
	about, report, err := w.about(ctx, c, rec)
	if err != nil {
		return github.IssueSpec{}, "", err
	}
	m := rec.Host()
	o := w.render
	if c.Key != "" && c.Key != about.Key {
		o.RunURL = "" // of c's run
	}
	spec := github.IssueSpec{Title: o.Unmentioned(rec.Title), Labels: w.labels(rec)}
	if w.policy(m.Checkpoint).Notify {
		o.Mention = w.config.Mention
		if o.Mention != "" && !strings.HasPrefix(o.Mention, "@") {
			o.Mention = "@" + o.Mention
		}
		spec.Assignees = w.config.Assignees
		spec.Who = func() []string { return w.owners(ctx, about.Checkpoints[m.Checkpoint]) }
	}
	o.Shared.Members = rec.Members
	o.Shared.Marker = marker.Format(rec.ID, rec.Mark())
	o.Shared.CommentURL = w.commentURL(about, m.Checkpoint)
	spec.Write = func(live string) markdown.Text {
		o := o
		if w.questions != nil {
			o.Shared.Questions = w.questions(rec, about, live)
		}
		switch {
		case rec.Fuse:
			return render.SummaryIssueBody(rec, w.config.Limits().MaxIssues, o)
		case report != nil:
			return report(o)
		}
		return render.IssueBody(about, m.Checkpoint, o)
	}
	if rec.Fuse {
		spec.Title = render.SummaryIssueTitle(o)
	}
	spec.Body = spec.Write("")
	return spec, o.Shared.Marker, nil
}

// labels returns the labels of the issue of a record.
func (w issueWriter) labels(rec escalation.Record) []github.LabelSpec {
	if w.source != nil && !rec.Fuse && routing.IsRepositoryStream(rec.Host().Case) {
		if labels := w.source.Labels(rec); labels != nil {
			return labels
		}
	}
	return escalationLabels(string(rec.Type), string(rec.Severity))
}

func escalationLabels(kind, severity string) []github.LabelSpec {
	colors := map[string]string{"critical": "b60205", "high": "d93f0b", "medium": "fbca04", "low": "c2e0c6"}
	return []github.LabelSpec{
		{Name: "switchback", Color: "5319e7", Description: "Filed by Switchback"},
		{Name: "escalation:" + kind, Color: "1d76db", Description: "Why a maintainer is asked"},
		{Name: "severity:" + severity, Color: colors[severity], Description: "How grave it is"},
	}
}

// commentURL is the address of the checkpoint's comment on its pull request.
func (w issueWriter) commentURL(c routing.Case, checkpoint string) string {
	id := c.Done[commentSlot(checkpoint)]
	s, err := ParseSubject(w.repo, c.Key)
	if id == "" || err != nil || s.Number == 0 {
		return ""
	}
	server := strings.TrimRight(w.render.ServerURL, "/")
	if server == "" {
		server = "https://github.com"
	}
	return fmt.Sprintf("%s/%s/pull/%d#issuecomment-%s", server, w.repo, s.Number, id)
}

// owners are the people who own the failing files at the base branch. That
// they are not known is no reason not to file.
func (w issueWriter) owners(ctx context.Context, cp routing.Checkpoint) []string {
	if len(cp.Attempts) == 0 {
		return nil
	}
	base := w.subject.Base
	if base == "" {
		base = w.subject.DefaultBranch
	}
	who, err := w.hub.CodeOwners.List(ctx, w.repo, base, escalation.Files(cp.Attempts[len(cp.Attempts)-1].Verdict))
	if err != nil {
		w.log.Warn("the owners of the failing files are not known", "repo", w.repo.String(), "err", err)
	}
	return who
}

// rewrite writes the issue of a record anew out of the ledger, also over what was edited there. What
// live makes of the present body says which boxes stay ticked.
func (w issueWriter) rewrite(ctx context.Context, rec escalation.Record, live func(body string) string) error {
	spec, mark, err := w.spec(ctx, routing.Case{}, rec)
	if err != nil {
		return err
	}
	_, _, err = w.hub.Issues.Rewrite(ctx, w.repo, rec.Number, mark, func(body string) markdown.Text { return spec.Write(live(body)) })
	return err
}
