package effect

import (
	"context"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/marker"
)

// commentPoster writes the sticky comments of a pull request: one for its case, or one for each
// checkpoint.
type commentPoster struct {
	hub     Hub
	repo    github.Repo
	subject Subject
	config  config.File
	render  render.Options
}

// post brings the sticky comment to the newest state. A case, or a checkpoint, that never failed gets
// none: a first green run is no news.
func (p commentPoster) post(ctx context.Context, c routing.Case, e routing.Effect) (string, error) {
	ref := p.ref(c, e.Checkpoint)
	if p.subject.Number == 0 || ref == "" && !p.news(c, e.Checkpoint) {
		return "", nil
	}
	key, body := render.CommentKey(c.Key, e.Checkpoint), func() markdown.Text {
		return render.Comment(c, e.Checkpoint, p.options(c, e.Checkpoint))
	}
	if p.config.CommentsByCase() {
		key, body = render.CaseCommentKey(c.Key), func() markdown.Text {
			return render.CaseComment(c, p.render, func(checkpoint string) render.Options {
				o := p.options(c, checkpoint)
				o.RunURL = "" // each section links the run of its own verdict, whoever renders it
				return o
			})
		}
	}
	id, _, err := p.hub.Comments.Upsert(ctx, p.repo, p.subject.Number, marker.Format(key, generation(c)), body(), ref)
	return id, err
}

// ref returns the sticky comment that a checkpoint stands in, "" if none is known. That of a case may
// have been posted for another checkpoint; the newest is the one that was not deleted.
func (p commentPoster) ref(c routing.Case, checkpoint string) string {
	if !p.config.CommentsByCase() {
		return c.Done[commentSlot(checkpoint)]
	}
	newest, ref := int64(0), ""
	for name := range c.Checkpoints {
		if id, err := strconv.ParseInt(c.Done[commentSlot(name)], 10, 64); err == nil && id > newest {
			newest, ref = id, c.Done[commentSlot(name)]
		}
	}
	return ref
}

func commentSlot(checkpoint string) string {
	return checkpoint + "/" + string(routing.EffectComment)
}

// news reports whether a comment that was not posted yet has anything to say.
func (p commentPoster) news(c routing.Case, checkpoint string) bool {
	if !p.config.CommentsByCase() {
		cp := c.Checkpoints[checkpoint]
		return cp.Approval || !neverFailed(cp)
	}
	for _, cp := range c.Checkpoints {
		if cp.Approval || !neverFailed(cp) {
			return true
		}
	}
	return false
}

// options returns those of what is said of a checkpoint.
func (p commentPoster) options(c routing.Case, checkpoint string) render.Options {
	cp, o := c.Checkpoints[checkpoint], p.render
	o.IssueURL = issueURL(c, cp)
	o.Mention = p.stickyMention(cp)
	o.HandoffNote = p.note()
	if cp.Approval {
		o.HandoffNote, o.Approval = "", &render.Approval{What: p.waiting(cp), Role: p.config.Answers.PermissionOrDefault()}
	}
	return o
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
	if cp.State != routing.InProgress || p.subject.Author == "" || p.config.Handoff.InTurn() {
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
	if p.config.Handoff.InTurn() || !p.handsOff() && p.config.ForksOrDefault() == config.ForksNever {
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
