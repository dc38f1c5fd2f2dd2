package effect

import (
	"context"
	"strings"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/marker"
)

// commentPoster writes the sticky comments of a pull request, one for each checkpoint.
type commentPoster struct {
	hub     Hub
	repo    github.Repo
	subject Subject
	config  config.File
	render  render.Options
}

// post brings the sticky comment to the newest state. A checkpoint that
// never failed gets none: a first green run is no news.
func (p commentPoster) post(ctx context.Context, c routing.Case, e routing.Effect) (string, error) {
	cp := c.Checkpoints[e.Checkpoint]
	ref := c.Done[e.Slot]
	if p.subject.Number == 0 || (ref == "" && neverFailed(cp) && !cp.Approval) {
		return "", nil
	}
	o := p.render
	o.IssueURL = issueURL(c, cp)
	o.Mention = p.stickyMention(cp)
	o.HandoffNote = p.note()
	if cp.Approval {
		o.HandoffNote, o.Approval = "", &render.Approval{What: p.waiting(cp), Role: p.config.Answers.PermissionOrDefault()}
	}
	mark := marker.Format(render.CommentKey(c.Key, e.Checkpoint), generation(c))
	id, _, err := p.hub.Comments.Upsert(ctx, p.repo, p.subject.Number, mark, render.Comment(c, e.Checkpoint, o), ref)
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
func (p commentPoster) stickyMention(cp routing.Checkpoint) string {
	if cp.State != routing.InProgress || p.subject.Author == "" {
		return ""
	}
	for _, h := range p.config.HandoffsOrDefault() {
		if h.ToAuthor() || !p.handsOff() {
			return "@" + p.subject.Author
		}
	}
	return ""
}

// handsOff reports whether a failure may reach anybody but the author without further ado.
func (p commentPoster) handsOff() bool {
	return p.subject.Trusted || p.config.ForksOrDefault() == config.ForksAlways
}

// waiting names what an approval starts.
func (p commentPoster) waiting(cp routing.Checkpoint) []string {
	if len(cp.Withheld) == 0 {
		return names(p.config.HandoffsOrDefault())
	}
	var hs []config.Handoff
	for _, e := range cp.Withheld {
		switch start := p.config.Checkpoints[e.Target].Start; {
		case e.Kind == routing.EffectReview && p.config.Reviewer != nil:
			hs = append(hs, *p.config.Reviewer)
		case e.Kind == routing.EffectReady && start != nil:
			hs = append(hs, *start)
		}
	}
	return names(hs)
}

// names names whom hand-offs reach besides the author.
func names(hs []config.Handoff) []string {
	var out []string
	for _, h := range hs {
		if !h.ToAuthor() {
			out = append(out, strings.TrimPrefix(h.Mention, "@")+h.Workflow+h.Dispatch+h.Label)
		}
	}
	return out
}

// note names how the worker was started.
func (p commentPoster) note() string {
	if !p.handsOff() && p.config.ForksOrDefault() == config.ForksNever {
		return ""
	}
	var parts []string
	for _, h := range p.config.HandoffsOrDefault() {
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
