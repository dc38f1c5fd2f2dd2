package effect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/hub"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalate"
)

// PausedLabel marks a pull request that waits for a human.
const PausedLabel = "switchback:paused"

// Hub is what effects need of GitHub.
type Hub interface {
	hub.Effects
	DispatchedSince(ctx context.Context, r hub.Repo, event string, since time.Time, needle string) (bool, error)
	Run(ctx context.Context, r hub.Repo, id int64, attempt int) (hub.WorkflowRun, error)
}

// GitHub carries out effects on one subject of one repository.
type GitHub struct {
	Hub     Hub
	Repo    hub.Repo
	Subject Subject
	Config  config.File
	Render  render.Options // without what a single effect adds
	Sleep   func(context.Context, time.Duration) error
}

// Do implements pipeline.Effector.
func (g *GitHub) Do(ctx context.Context, c routing.Case, e routing.Effect, fresh bool) (string, error) {
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
	case routing.EffectHandover:
		if err := g.Sleep(ctx, g.policy(e.Checkpoint).RetryDelay); err != nil {
			return "", err
		}
		return g.handAll(ctx, c, e, g.Config.HandoversOrDefault(), fresh)
	case routing.EffectReview:
		if g.Config.Reviewer == nil {
			return "", nil
		}
		return g.handAll(ctx, c, e, []config.Handover{*g.Config.Reviewer}, fresh)
	case routing.EffectReady:
		if s := g.Config.Checkpoints[e.Target].Start; s != nil {
			return g.handAll(ctx, c, e, []config.Handover{*s}, fresh)
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
	o.HandoverNote = g.note()
	marker := render.Marker(render.CommentKey(c.Key, e.Checkpoint), generation(c))
	id, _, err := g.Hub.UpsertComment(ctx, g.Repo, g.Subject.Number, marker, render.Comment(c, e.Checkpoint, o), ref)
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
	for _, t := range cp.Turns {
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
	for _, h := range g.Config.HandoversOrDefault() {
		if h.Mention == "author" {
			return "@" + g.Subject.Author
		}
	}
	return ""
}

func (g *GitHub) note() string {
	var parts []string
	for _, h := range g.Config.HandoversOrDefault() {
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
	return g.Hub.UpsertCheck(ctx, g.Repo, e.SHA, hub.Check{
		Name: "switchback / " + e.Checkpoint, ExternalID: c.Key + "/" + e.Checkpoint + "/check",
		Status: "completed", Conclusion: k.Conclusion, Title: k.Title, Summary: k.Summary,
		DetailsURL: g.Render.RunURL, Annotations: annotations(k.Annotations),
	}, fresh)
}

func annotations(in []render.Annotation) []hub.Annotation {
	out := make([]hub.Annotation, 0, len(in))
	for _, a := range in {
		out = append(out, hub.Annotation{Path: a.Path, StartLine: a.Line, EndLine: a.Line, Level: a.Level, Title: a.Title, Message: a.Message})
	}
	return out
}

// issue opens or updates the escalation issue. Its reference is the number,
// then the address: the comment links it.
func (g *GitHub) issue(ctx context.Context, c routing.Case, e routing.Effect) (string, error) {
	cp := c.Checkpoints[e.Checkpoint]
	o := g.Render
	p := g.policy(e.Checkpoint)
	spec := hub.IssueSpec{}
	if p.Notify {
		o.Mention = g.Config.Escalation.Mention
		spec.Assignees = g.Config.Escalation.Assignees
		if o.Mention != "" && !strings.HasPrefix(o.Mention, "@") {
			o.Mention = "@" + o.Mention
		}
	}
	spec.Title, spec.Body = render.IssueTitle(c, e.Checkpoint, o), render.IssueBody(c, e.Checkpoint, o)
	kind, severity := escalate.TypeOf(routing.Kind(e.Target), classOf(cp))
	spec.Labels = escalationLabels(string(kind), string(severity))
	number, _, _ := strings.Cut(c.Done[e.Slot], " ")
	marker := render.Marker(render.IssueKey(c.Key, e.Checkpoint, routing.Kind(e.Target)), generation(c))
	i, created, err := g.Hub.UpsertIssue(ctx, g.Repo, marker, spec, number)
	if errors.Is(err, hub.ErrMoved) && number != "" {
		i, created, err = g.Hub.UpsertIssue(ctx, g.Repo, marker, spec, "")
	}
	if err != nil {
		return "", err
	}
	if !created && i.State == "closed" && cp.State == routing.Escalated && i.ClosedByBot {
		if _, err := g.Hub.ReopenIssue(ctx, g.Repo, i.Number, render.Reopened(c, e.Checkpoint, o), render.Marker(c.Key+"/"+e.Checkpoint+"/reopen/"+strconv.Itoa(c.Generation), 0)); err != nil {
			return "", err
		}
	}
	return strconv.Itoa(i.Number) + " " + i.URL, nil
}

// classOf returns the class of the newest turn.
func classOf(cp routing.Checkpoint) routing.Class {
	if n := len(cp.Turns); n > 0 {
		return cp.Turns[n-1].Verdict.Class
	}
	return routing.Unknown
}

func escalationLabels(kind, severity string) []hub.LabelSpec {
	colors := map[string]string{"critical": "b60205", "high": "d93f0b", "medium": "fbca04", "low": "c2e0c6"}
	return []hub.LabelSpec{
		{Name: "switchback", Color: "5319e7", Description: "Filed by Switchback"},
		{Name: "escalation:" + kind, Color: "1d76db", Description: "Why a human is called"},
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

// close closes every escalation issue of the checkpoint with what mended it.
func (g *GitHub) close(ctx context.Context, c routing.Case, e routing.Effect) error {
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
		marker := render.Marker(e.Key+"/"+number, 0)
		_, err = g.Hub.CloseIssue(ctx, g.Repo, n, render.Mended(c, e.Checkpoint, g.Render), marker)
		if kind, _ := hub.Verdict(err); err != nil && kind != hub.Gone && !errors.Is(err, hub.ErrMoved) {
			return err
		}
	}
	return nil
}

// label shows on the pull request whether it waits for a human.
func (g *GitHub) label(ctx context.Context, c routing.Case) error {
	if g.Subject.Number == 0 {
		return nil
	}
	paused := []hub.LabelSpec{{Name: PausedLabel, Color: "d4c5f9", Description: "Waits for a human; see the escalation"}}
	for _, name := range c.Names() {
		if cp := c.Checkpoints[name]; (cp.State == routing.Escalated && !cp.Skipped) || cp.Paused {
			_, err := g.Hub.SyncLabels(ctx, g.Repo, g.Subject.Number, g.Subject.Labels, paused, nil)
			return err
		}
	}
	_, err := g.Hub.SyncLabels(ctx, g.Repo, g.Subject.Number, g.Subject.Labels, nil, paused)
	return err
}
