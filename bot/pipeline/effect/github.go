package effect

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/marker"
)

// PausedLabel marks a pull request that waits for a human.
const PausedLabel = "switchback:paused"

// Hub is what effects need of GitHub.
type Hub interface {
	comments
	marks
	issues
	workflows
	Contains(ctx context.Context, r github.Repo, base, head string) (bool, error)
	Owners(ctx context.Context, r github.Repo, ref string, files []string) ([]string, error)
	Absent(ctx context.Context, r github.Repo, err error) error
}

type (
	comments interface {
		UpsertComment(ctx context.Context, r github.Repo, issue int, marker string, body markdown.Text, ref string) (id string, changed bool, err error)
		PostOnce(ctx context.Context, r github.Repo, issue int, marker string, body markdown.Text, fresh bool) (id string, posted bool, err error)
		React(ctx context.Context, r github.Repo, comment int64) error
	}
	// marks are what a list of pull requests shows of one.
	marks interface {
		UpsertCheck(ctx context.Context, r github.Repo, sha string, c github.Check, fresh bool) (ref string, err error)
		SyncLabels(ctx context.Context, r github.Repo, issue int, current []string, add, remove []github.LabelSpec) (changed bool, err error)
	}
	issues interface {
		Issue(ctx context.Context, r github.Repo, number int) (github.Issue, error)
		FindIssue(ctx context.Context, r github.Repo, marker string) (github.Issue, bool, error)
		UpsertIssue(ctx context.Context, r github.Repo, marker string, spec github.IssueSpec, ref string) (issue github.Issue, created bool, err error)
		RewriteIssue(ctx context.Context, r github.Repo, number int, marker string, write func(live string) markdown.Text) (github.Issue, bool, error)
		CloseIssue(ctx context.Context, r github.Repo, number int, comment markdown.Text, marker string) (closed bool, err error)
		CloseIssueAs(ctx context.Context, r github.Repo, number int, reason string, comment markdown.Text, marker string) (closed bool, err error)
		ReopenIssue(ctx context.Context, r github.Repo, number int, comment markdown.Text, marker string) (reopened bool, err error)
	}
	workflows interface {
		DispatchWorkflow(ctx context.Context, r github.Repo, workflow, ref string, inputs map[string]string) error
		RepositoryDispatch(ctx context.Context, r github.Repo, event string, payload any) error
		DispatchedSince(ctx context.Context, r github.Repo, event string, since time.Time, needle string) (bool, error)
		Run(ctx context.Context, r github.Repo, id int64, attempt int) (github.WorkflowRun, error)
		RerunFailed(ctx context.Context, r github.Repo, runID int64) error
	}
)

// GitHub carries out effects on one subject of one repository.
type GitHub struct {
	Hub     Hub
	Repo    github.Repo
	Subject Subject
	Config  config.File
	Render  render.Options // without what a single effect adds
	Sleep   func(context.Context, time.Duration) error
	Ledger  ledger.Ledger // holds the register of escalations
	Now     func() time.Time
	Log     *slog.Logger
	Owner   string        // names this process among those that file issues
	FileTTL time.Duration // how long others leave the filing of an issue to it, 0: two minutes

	// Prompt returns the questions at the end of an escalation issue. live is
	// the body that stands there, from which it keeps what people ticked. nil: none.
	Prompt func(rec escalation.Record, host routing.Case, live string) markdown.Text
}

func (g *GitHub) now() time.Time {
	if g.Now != nil {
		return g.Now().UTC()
	}
	return time.Now().UTC()
}

func (g *GitHub) log() *slog.Logger {
	if g.Log != nil {
		return g.Log
	}
	return slog.New(slog.DiscardHandler)
}

// Do implements pipeline.Effector.
func (g *GitHub) Do(ctx context.Context, c routing.Case, e routing.Effect, fresh bool) (string, error) {
	ref, err := g.do(ctx, c, e, fresh)
	if err != nil {
		err = g.Hub.Absent(ctx, g.Repo, err)
	}
	return ref, err
}

func (g *GitHub) do(ctx context.Context, c routing.Case, e routing.Effect, fresh bool) (string, error) {
	switch e.Kind {
	case routing.EffectComment:
		return g.comment(ctx, c, e)
	case routing.EffectCheck:
		return g.check(ctx, c, e, fresh)
	case routing.EffectIssue:
		return g.issue(ctx, c, e)
	case routing.EffectClose:
		return "", g.close(ctx, c, e)
	case routing.EffectLabel:
		return "", g.label(ctx, c)
	case routing.EffectHandoff:
		if err := g.Sleep(ctx, g.policy(e.Checkpoint).RetryDelay); err != nil {
			return "", err
		}
		return g.handAll(ctx, c, e, g.Config.HandoffsOrDefault(), fresh)
	case routing.EffectReview:
		if g.Config.Reviewer == nil {
			return "", nil
		}
		return g.handAll(ctx, c, e, []config.Handoff{*g.Config.Reviewer}, fresh)
	case routing.EffectReady:
		if s := g.Config.Checkpoints[e.Target].Start; s != nil {
			return g.handAll(ctx, c, e, []config.Handoff{*s}, fresh)
		}
		return "", nil
	case routing.EffectRerun:
		return "", g.rerun(ctx, e)
	case routing.EffectReact:
		return "", g.react(ctx, e)
	}
	return "", fmt.Errorf("unknown effect %q", e.Kind)
}

func (g *GitHub) policy(checkpoint string) routing.Policy {
	return g.Config.Policy(checkpoint, g.Subject.Ref(), nil)
}

// comment brings the sticky comment to the newest state. A checkpoint that
// never failed gets none: a first green run is no news.
func (g *GitHub) comment(ctx context.Context, c routing.Case, e routing.Effect) (string, error) {
	cp := c.Checkpoints[e.Checkpoint]
	ref := c.Done[e.Slot]
	if g.Subject.Number == 0 || (ref == "" && neverFailed(cp)) {
		return "", nil
	}
	o := g.Render
	o.IssueURL = issueURL(c, cp)
	o.Mention = g.stickyMention(cp)
	o.HandoffNote = g.note()
	mark := marker.Format(render.CommentKey(c.Key, e.Checkpoint), generation(c))
	id, _, err := g.Hub.UpsertComment(ctx, g.Repo, g.Subject.Number, mark, render.Comment(c, e.Checkpoint, o), ref)
	return id, err
}

// generation orders the states of a case, also across ledgers: where the
// ledger's branch was deleted the case begins again, and what it says then is
// newer than what stands there.
func generation(c routing.Case) int {
	const bits = 12
	return int(max(0, c.Opened.UnixMilli()))<<bits | min(c.Generation, 1<<bits-1)
}

func neverFailed(cp routing.Checkpoint) bool {
	for _, t := range cp.Attempts {
		if t.Kind != routing.KindPass {
			return false
		}
	}
	return true
}

// stickyMention is the author's mention where the author is to rework; anyone
// else is mentioned by a comment of its own, since an edit notifies nobody.
func (g *GitHub) stickyMention(cp routing.Checkpoint) string {
	if cp.State != routing.InProgress || g.Subject.Author == "" {
		return ""
	}
	for _, h := range g.Config.HandoffsOrDefault() {
		if h.Mention == "author" {
			return "@" + g.Subject.Author
		}
	}
	return ""
}

func (g *GitHub) note() string {
	var parts []string
	for _, h := range g.Config.HandoffsOrDefault() {
		switch {
		case h.Workflow != "":
			parts = append(parts, "workflow "+h.Workflow)
		case h.Dispatch != "":
			parts = append(parts, "event "+h.Dispatch)
		case h.Label != "":
			parts = append(parts, "label "+h.Label)
		}
	}
	return strings.Join(parts, ", ")
}

func (g *GitHub) check(ctx context.Context, c routing.Case, e routing.Effect, fresh bool) (string, error) {
	if e.SHA == "" {
		return "", nil
	}
	o := g.Render
	o.IssueURL = issueURL(c, c.Checkpoints[e.Checkpoint])
	k := render.Check(c, e.Checkpoint, e.SHA, o)
	return g.Hub.UpsertCheck(ctx, g.Repo, e.SHA, github.Check{
		Name: "switchback / " + e.Checkpoint, ExternalID: c.Key + "/" + e.Checkpoint + "/check",
		Status: "completed", Conclusion: k.Conclusion, Title: k.Title, Summary: k.Summary,
		DetailsURL: g.Render.RunURL, Annotations: annotations(k.Annotations),
	}, fresh)
}

func annotations(in []render.Annotation) []github.Annotation {
	out := make([]github.Annotation, 0, len(in))
	for _, a := range in {
		out = append(out, github.Annotation{Path: a.Path, StartLine: a.Line, EndLine: a.Line, Level: a.Level, Title: a.Title, Message: a.Message})
	}
	return out
}

func escalationLabels(kind, severity string) []github.LabelSpec {
	colors := map[string]string{"critical": "b60205", "high": "d93f0b", "medium": "fbca04", "low": "c2e0c6"}
	return []github.LabelSpec{
		{Name: "switchback", Color: "5319e7", Description: "Filed by Switchback"},
		{Name: "escalation:" + kind, Color: "1d76db", Description: "Why a maintainer is asked"},
		{Name: "severity:" + severity, Color: colors[severity], Description: "How grave it is"},
	}
}

// issueURL returns the address of the escalation issue of the newest escalation.
func issueURL(c routing.Case, cp routing.Checkpoint) string {
	if cp.Escalation == nil {
		return ""
	}
	_, url, _ := strings.Cut(c.Done[issueSlot(cp.Name, string(cp.Escalation.Kind))], " ")
	return url
}

func issueSlot(checkpoint, kind string) string {
	return checkpoint + "/" + string(routing.EffectIssue) + "/" + kind
}

// label shows on the pull request whether it waits for a human.
func (g *GitHub) label(ctx context.Context, c routing.Case) error {
	if g.Subject.Number == 0 {
		return nil
	}
	paused := []github.LabelSpec{{Name: PausedLabel, Color: "d4c5f9", Description: "Waits for a human; see the escalation"}}
	for _, name := range c.Names() {
		if cp := c.Checkpoints[name]; (cp.State == routing.Escalated && !cp.Skipped) || cp.Paused {
			_, err := g.Hub.SyncLabels(ctx, g.Repo, g.Subject.Number, g.Subject.Labels, paused, nil)
			return err
		}
	}
	_, err := g.Hub.SyncLabels(ctx, g.Repo, g.Subject.Number, g.Subject.Labels, nil, paused)
	return err
}
