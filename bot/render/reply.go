package render

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/truncate"
)

// Replies to people and notices of their own, each safe Markdown of a paragraph or more without a
// marker, which is added by who posts it. What comes from a comment, a login or an error is hostile.

func (o Options) say(id string, args ...any) md { return o.Language.Say(id, args...) }

// NotAllowed says that a person may not answer. want and have are roles.
func NotAllowed(login, want, have string, putBack bool, o Options) markdown.Text {
	s := o.say("reply.refused", "who", markdown.Code(login), "want", markdown.Code(want), "have", markdown.Code(have))
	if putBack {
		s += " " + o.say("reply.putback")
	}
	return s
}

// Misread says that a command was not understood, and which is nearest.
func Misread(c answers.Command, o Options) markdown.Text {
	m := c.Err
	what := o.Language.Say("misread."+string(m.What), "word", markdown.Code(o.Redacted(m.Word)))
	return o.say("reply.misread", "line", markdown.Code(o.Redacted(c.Line)), "what", what, "nearest", markdown.Code(m.Nearest), "help", markdown.Code(answers.Prefix+" "+answers.Help))
}

// NotDone says that a command or box was understood and refused.
func NotDone(what string, err error, o Options) markdown.Text {
	return o.say("reply.notdone", "what", markdown.Code(o.Redacted(what)), "why", because(err, o))
}

// BoxNotDone is NotDone of a box, for one of the cases an escalation holds.
func BoxNotDone(b answers.Box, caseKey string, err error, o Options) markdown.Text {
	return o.say("reply.boxnotdone", "what", boxText(b, o), "case", markdown.Code(o.Redacted(caseKey)), "why", because(err, o))
}

// Late says that another answer came first.
func Late(first escalation.Answered, c routing.Case, o Options) markdown.Text {
	return o.say("reply.late", "first", answerText(first, c, o))
}

// Moved says that an answer was about another commit.
func Moved(was, is string, o Options) markdown.Text {
	return o.say("reply.commit", "was", shortSHA(was, o), "is", shortSHA(is, o))
}

func shortSHA(sha string, o Options) md {
	if sha == "" {
		return o.Language.Say("unknown")
	}
	return markdown.Code(truncate.ShortSHA(sha))
}

// Foreign says that the boxes of a body are not those of the questions.
func Foreign(o Options) markdown.Text { return o.say("reply.foreign") }

// Unchosen says why boxes were not carried out: answers.ErrNothing or a
// *answers.ContradictionError.
func Unchosen(err error, o Options) markdown.Text {
	var clash *answers.ContradictionError
	if errors.As(err, &clash) {
		return o.say("reply.clash", "a", boxText(clash.A, o), "b", boxText(clash.B, o))
	}
	return o.say("reply.nothing")
}

// Restored says that an edit took the questions away, and that they are back.
func Restored(o Options) markdown.Text { return o.say("reply.restored") }

// Unheard says that Submit is ticked and nobody is known to have ticked it.
func Unheard(o Options) markdown.Text { return o.say("reply.unheard") }

// Settled says that an escalation is resolved and nothing waits for an answer.
func Settled(r escalation.Record, o Options) markdown.Text {
	return o.say("reply.settled", "who", markdown.Code(r.ResolvedBy), "when", md(r.ResolvedAt.UTC().Format(time.DateOnly)))
}

// Lost says on a pull request that the issue of its escalation is gone, and how
// to answer without it.
func Lost(checkpoint, how string, o Options) markdown.Text {
	return o.say("reply.lost."+how, "cp", markdown.Code(o.Redacted(checkpoint)), "retry", markdown.Code(answers.Prefix+" retry 2"), "help", markdown.Code(answers.Prefix+" "+answers.Help))
}

// NotRerun says that GitHub refused to run the failed jobs of a run again.
func NotRerun(run int64, err error, o Options) markdown.Text {
	id := markdown.Code(fmt.Sprint(run))
	if u := o.Address(fmt.Sprintf("%s/%s/actions/runs/%d", o.Server(), o.Repo, run)); u != "" && o.Repo != "" {
		id = markdown.Link(id, u)
	}
	return o.say("reply.notrerun", "run", id, "why", markdown.Prose(o.Redacted(err.Error())), "help", markdown.Code(answers.Prefix+" "+answers.Help))
}

// RerunRefused says once that failed jobs cannot be run again, and what is done instead.
func RerunRefused(err error, o Options) markdown.Text {
	return o.say("reply.rerunrefused", "why", markdown.Prose(o.Redacted(err.Error())))
}

// Help lists the commands.
func Help(o Options) markdown.Text {
	type command struct{ Usage, Does md }
	var all []command
	for _, s := range answers.Table() {
		all = append(all, command{markdown.Code(answers.Prefix + " " + s.Usage()), o.Language.Say(s.HelpID())})
	}
	return pages.Print(o.Language, "help", all)
}

// Status says where the checkpoints of a case stand.
func Status(c routing.Case, o Options) markdown.Text {
	type checkpoint struct {
		Name, State, Commit md
		Reworks             int
	}
	page := struct {
		Case        md
		Checkpoints []checkpoint
	}{Case: markdown.Code(o.Redacted(c.Key))}
	for _, name := range c.Names() {
		cp := c.Checkpoints[name]
		page.Checkpoints = append(page.Checkpoints, checkpoint{markdown.Code(o.Redacted(name)), o.Language.Say("status." + stateOf(cp)), shortSHA(cp.Last.SHA, o), cp.Retries})
	}
	return pages.Print(o.Language, "status", page)
}

func stateOf(cp routing.Checkpoint) string {
	switch {
	case cp.WontFix != nil:
		return "wontfix"
	case cp.Paused:
		return "paused"
	case cp.Skipped:
		return "skipped"
	case cp.Waiting:
		return "waiting"
	}
	return string(cp.State)
}

// Handoff returns the comment that tells a worker to fix, by a live mention: an edit of the sticky
// comment notifies nobody. comment is the sticky comment's id, "" if unknown.
func Handoff(c routing.Case, e routing.Effect, o Options, comment string, number int) markdown.Text {
	cp := c.Checkpoints[e.Checkpoint]
	where := o.Language.Say("handoff.above")
	if comment != "" {
		where = markdown.Link(o.Language.Say("handoff.link"), o.Address(fmt.Sprintf("%s/%s/pull/%d#issuecomment-%s", o.Server(), o.Repo, number, comment)))
	}
	id := "handoff.rework"
	switch e.Kind {
	case routing.EffectReview:
		id = "handoff.review"
	case routing.EffectReady:
		id = "handoff.ready"
	}
	asked := md("")
	if h := c.Handoff; e.Kind == routing.EffectHandoff && e.Target != "" && h != nil {
		asked = limitsOf(h.Worker(), e.Checkpoint, o)
	}
	return markdown.Sentences(md(o.Mentions())+" "+o.say(id, "cp", markdown.Code(o.Redacted(e.Checkpoint)), "n", e.Iteration, "max", limitOf(cp), "where", where, "target", markdown.Code(o.Redacted(e.Target))), asked)
}

func limitOf(cp routing.Checkpoint) int { return routing.Limit(cp, routing.DefaultPolicy()) }

// Fixed returns the comment that closes an escalation: what passed, on which
// commit and after how many reworks, or that a person resolved it.
func Fixed(c routing.Case, checkpoint string, o Options) markdown.Text {
	cp := c.Checkpoints[checkpoint]
	switch {
	case cp.WontFix != nil:
		return o.say("closing.wontfix", "cp", markdown.Code(o.Redacted(checkpoint)))
	case cp.State != routing.Completed:
		return o.say("closing.resolved", "cp", markdown.Code(o.Redacted(checkpoint)))
	}
	sha := o.Language.Say("closing.nocommit")
	if cp.Green != "" {
		sha = markdown.Link(markdown.Code(short(cp.Green)), o.Address(fmt.Sprintf("%s/%s/commit/%s", o.Server(), o.Repo, cp.Green)))
	}
	for i := len(cp.Attempts) - 1; i >= 0; i-- {
		t := cp.Attempts[i]
		if t.Kind != routing.KindPass {
			continue
		}
		if t.Iteration > 0 {
			sha += ", " + o.Language.Count("closing.attempts", t.Iteration)
		}
		if u := o.Address(t.Verdict.Run.URL); u != "" {
			sha += " (" + markdown.Link(o.Language.Say("col.link"), u) + ")"
		}
		break
	}
	return o.say("closing.fixed", "cp", markdown.Code(o.Redacted(checkpoint)), "sha", sha)
}

// Leftover returns the comment on an escalation that passes and that a person
// is to close.
func Leftover(c routing.Case, checkpoint string, o Options) markdown.Text {
	return o.say("closing.leftover", "cp", markdown.Code(o.Redacted(checkpoint)), "case", markdown.Code(o.Redacted(strings.TrimSpace(c.Key))))
}

// Reopened returns the comment that goes with an escalation opened again.
func Reopened(c routing.Case, checkpoint string, o Options) markdown.Text {
	return o.say("closing.reopened", "cp", markdown.Code(o.Redacted(checkpoint)), "case", markdown.Code(o.Redacted(strings.TrimSpace(c.Key))))
}
