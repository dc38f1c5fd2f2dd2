package render

import (
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/routing"
)

// Short posts of their own, each one paragraph and its marker (added by who
// posts it).

// Call returns the comment that calls a worker by a live mention: the edit of
// the sticky comment notifies nobody. comment is the sticky comment's id, ""
// if unknown.
func Call(c routing.Case, e routing.Effect, o Options, comment string, number int) string {
	cp := c.Checkpoints[e.Checkpoint]
	where := o.Language.say("call.above")
	if comment != "" {
		where = fmt.Sprintf("[%s](%s/%s/pull/%d#issuecomment-%s)", o.Language.say("call.link"), o.server(), o.Repo, number, comment)
	}
	id := "call.rework"
	switch e.Kind {
	case routing.EffectReview:
		id = "call.review"
	case routing.EffectReady:
		id = "call.ready"
	}
	return o.Mention + " " + o.Language.say(id, "cp", code(e.Checkpoint), "n", e.Iteration, "max", limitOf(cp), "where", where, "target", code(e.Target))
}

func limitOf(cp routing.Checkpoint) int { return routing.Limit(cp, routing.DefaultPolicy()) }

// Fixed returns the comment that closes an escalation: what passed, on which
// commit and after how many reworks, or that a person resolved it.
func Fixed(c routing.Case, checkpoint string, o Options) string {
	cp := c.Checkpoints[checkpoint]
	switch {
	case cp.WontFix != nil:
		return o.Language.say("call.wontfix", "cp", code(checkpoint))
	case cp.State != routing.Completed:
		return o.Language.say("call.resolved", "cp", code(checkpoint))
	}
	sha := o.Language.say("call.nocommit")
	if cp.Green != "" {
		sha = link(code(short(cp.Green)), fmt.Sprintf("%s/%s/commit/%s", o.server(), o.Repo, cp.Green))
	}
	for i := len(cp.Turns) - 1; i >= 0; i-- {
		t := cp.Turns[i]
		if t.Kind != routing.KindPass {
			continue
		}
		if t.Iteration > 0 {
			sha += ", " + o.Language.count("call.turns", t.Iteration)
		}
		if u := o.address(t.Verdict.Run.URL); u != "" {
			sha += " (" + link(o.Language.say("col.link"), u) + ")"
		}
		break
	}
	return o.Language.say("call.fixed", "cp", code(checkpoint), "sha", sha)
}

// Leftover returns the comment on an escalation that passes and that a person
// is to close.
func Leftover(c routing.Case, checkpoint string, o Options) string {
	return o.Language.say("call.leftover", "cp", code(checkpoint), "case", code(strings.TrimSpace(c.Key)))
}

// Reopened returns the comment that goes with an escalation opened again.
func Reopened(c routing.Case, checkpoint string, o Options) string {
	return o.Language.say("call.reopened", "cp", code(checkpoint), "case", code(strings.TrimSpace(c.Key)))
}

// Reply returns the lines that answer commands of a comment. They hold words of
// that comment and messages of errors, so each is hostile; their code spans stay.
func Reply(lines []string, o Options) string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = prose(o.redact(l))
	}
	return strings.Join(out, "\n")
}
