package render

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/escalation"
)

// Replies to people, each safe Markdown on a paragraph or more. What comes from
// a comment, a login or an error is hostile.

// NotAllowed says that a person may not answer. want and have are roles.
func NotAllowed(login, want, have string, putBack bool, o Options) string {
	s := o.Language.say("reply.refused", "who", code(login), "want", code(want), "have", code(have))
	if putBack {
		s += " " + o.Language.say("reply.putback")
	}
	return s
}

// Misread says that a command was not understood, and which is nearest.
func Misread(c answers.Command, o Options) string {
	m := c.Err
	what := o.Language.say("misread."+string(m.What), "word", code(o.redact(m.Word)))
	return o.Language.say("reply.misread", "line", code(o.redact(c.Line)), "what", what, "nearest", code(m.Nearest), "help", code(answers.Prefix+" "+answers.Help))
}

// NotDone says that a command or box was understood and refused.
func NotDone(what string, err error, o Options) string {
	return o.Language.say("reply.notdone", "what", code(o.redact(what)), "why", prose(o.redact(why(err, o))))
}

// BoxNotDone is NotDone of a box, for one of the cases an escalation holds.
func BoxNotDone(b answers.Box, caseKey string, err error, o Options) string {
	return o.Language.say("reply.boxnotdone", "what", boxText(b, o), "case", code(caseKey), "why", prose(o.redact(why(err, o))))
}

// Late says that another answer came first.
func Late(first escalation.Answered, c routing.Case, o Options) string {
	return o.Language.say("reply.late", "first", answerText(first, c, o))
}

// Moved says that an answer was about another commit.
func Moved(was, is string, o Options) string {
	return o.Language.say("reply.commit", "was", shortSHA(was, o), "is", shortSHA(is, o))
}

func shortSHA(sha string, o Options) string {
	if sha == "" {
		return o.Language.say("unknown")
	}
	return code(sha[:min(7, len(sha))])
}

// Foreign says that the boxes of a body are not those of the prompt.
func Foreign(o Options) string { return o.Language.say("reply.foreign") }

// Unchosen says why boxes were not carried out: prompt.ErrNothing or a
// *prompt.ContradictionError.
func Unchosen(err error, o Options) string {
	var clash *answers.ContradictionError
	if errors.As(err, &clash) {
		return o.Language.say("reply.clash", "a", boxText(clash.A, o), "b", boxText(clash.B, o))
	}
	return o.Language.say("reply.nothing")
}

// Restored says that an edit took the prompt away, and that it is back.
func Restored(o Options) string { return o.Language.say("reply.restored") }

// Unheard says that Submit is ticked and nobody is known to have ticked it.
func Unheard(o Options) string { return o.Language.say("reply.unheard") }

// Settled says that an escalation is resolved and nothing waits for an answer.
func Settled(r escalation.Record, o Options) string {
	return o.Language.say("reply.settled", "who", code(r.ResolvedBy), "when", r.ResolvedAt.UTC().Format(time.DateOnly))
}

// Lost says on a pull request that the issue of its escalation is gone, and how
// to answer without it.
func Lost(checkpoint, how string, o Options) string {
	return o.Language.say("reply.lost."+how, "cp", code(o.redact(checkpoint)), "retry", code(answers.Prefix+" retry 2"), "help", code(answers.Prefix+" "+answers.Help))
}

// NotRerun says that GitHub refused to run the failed jobs of a run again.
func NotRerun(run int64, err error, o Options) string {
	id := code(fmt.Sprint(run))
	if u := o.address(fmt.Sprintf("%s/%s/actions/runs/%d", o.server(), o.Repo, run)); u != "" && o.Repo != "" {
		id = link(id, u)
	}
	return o.Language.say("reply.notrerun", "run", id, "why", prose(o.redact(err.Error())), "help", code(answers.Prefix+" "+answers.Help))
}

// Help lists the commands.
func Help(o Options) string {
	var b strings.Builder
	b.WriteString(o.Language.say("help.title") + "\n\n| | |\n|---|---|\n")
	for _, s := range answers.Table() {
		fmt.Fprintf(&b, "| %s | %s |\n", cell(code(answers.Prefix+" "+s.Usage())), cell(o.Language.say(s.HelpID())))
	}
	b.WriteString("\n" + o.Language.say("help.end"))
	return b.String()
}

// Status says where the checkpoints of a case stand.
func Status(c routing.Case, o Options) string {
	l := o.Language
	var b strings.Builder
	b.WriteString(l.say("status.title", "case", code(c.Key)) + "\n")
	names := c.Names()
	if len(names) == 0 {
		b.WriteString("\n" + l.say("none.empty"))
	}
	for _, name := range names {
		cp := c.Checkpoints[name]
		at := shortSHA(cp.Last.SHA, o)
		b.WriteString("\n- " + l.say("status.line", "cp", code(o.redact(name)), "state", l.say("status."+stateOf(cp)), "n", cp.Reworks, "sha", at))
	}
	return b.String()
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
