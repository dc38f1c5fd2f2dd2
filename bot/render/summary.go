package render

import (
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
)

// summaryLimit keeps a job summary below the 1 MiB above which GitHub drops it
// whole, all summaries of a job together.
const summaryLimit = 200_000

// Summary returns the job summary: counts, decision d with its rule and reason,
// the failures of d's verdict, what comes next. c is the case with d recorded.
func Summary(c routing.Case, checkpoint string, d routing.Decision, o Options) markdown.Text {
	v := newSummaryView(c, checkpoint, d, o)
	limit := summaryLimit
	if o.Limit > 0 {
		limit = min(limit, o.Limit)
	}
	for n := len(v.turn.Verdict.Failures) + len(v.old); ; n /= 2 {
		text := pages.Print(v.lang, "summary", v.summary(d, n))
		switch {
		case len(text) <= limit:
			return text
		case n == 0:
			return "## " + v.summaryHead()
		}
	}
}

// newSummaryView returns the view of a decision, which c has recorded.
func newSummaryView(c routing.Case, checkpoint string, d routing.Decision, o Options) summaryView {
	v := summaryView{commentView{look(c, checkpoint, o)}}
	v.turn = routing.Attempt{Iteration: d.Iteration, Kind: d.Kind, Rule: d.Rule, Reason: o.Redacted(d.Reason), Phase: d.Phase, Verdict: o.verdict(d.Verdict)}
	v.resting = resting(v.turn.Verdict.Failures)
	v.turn.Verdict.Failures, v.excused = counting(v.turn.Verdict.Failures)
	v.turn.Verdict.Failures, v.old = v.turn.Verdict.Standings()
	v.max, v.has = d.Max, true
	v.o.Mention = ""
	if d.Kind == routing.KindNone || d.Repeated {
		v.delta = delta{}
	}
	return v
}

// summaryView writes the job summary.
type summaryView struct{ commentView }

// summaryContent is what the template of the job summary prints.
type summaryContent struct {
	content
	Counts   routing.Counts
	Decision struct{ Kind, Named, Rule, Reason, Next md }
}

func (v summaryView) summaryHead() md {
	if v.turn.Kind == routing.KindNone {
		return "· " + markdown.Code(v.name) + ": " + v.lang.Say("kind.NONE")
	}
	return v.head()
}

// summary lists at most n failures.
func (v summaryView) summary(d routing.Decision, n int) summaryContent {
	p := summaryContent{content: content{Head: v.summaryHead(), Excused: v.excusedText(), Acts: v.acts(), Link: v.runLink()}, Counts: shown(v.turn.Verdict.Counts)}
	p.Decision.Kind, p.Decision.Named, p.Decision.Rule = markdown.Code(string(d.Kind)), v.lang.Say("kind."+string(d.Kind)), markdown.Code(d.Rule)
	p.Decision.Reason, p.Decision.Next = reasonText(v.lang, v.turn.Reason), v.next(d)
	if v.turn.Kind != routing.KindPass {
		p.failures = newTables(v.view, n)
	}
	if len(v.story) > 1 {
		p.History = v.history(v.story, ladder[0].rows)
	}
	p.Notes = v.notes(p.content)
	return p
}

func (v summaryView) next(d routing.Decision) md {
	switch {
	case d.Approval:
		return v.lang.Say("next.approval", "handoff", v.command("handoff"))
	case d.Kind == routing.KindPass && d.Complete:
		return v.lang.Say("next.complete")
	case d.Kind == routing.KindRetry && d.Manual:
		return v.lang.Say("next.wait", "handoff", v.command("handoff"))
	case d.Kind.Escalates() && resumed(v.view):
		return v.lang.Say("state.resumed")
	case d.Kind.Escalates() && d.OnMax == routing.OnMaxSkip:
		return v.lang.Say("next.skip")
	case d.Kind.Escalates():
		s := v.lang.Say("next.ESCALATE")
		if u := v.o.Address(v.o.IssueURL); u != "" {
			s += " " + markdown.Link(issueName(u), u)
		}
		return s
	case d.Held:
		return v.lang.Say("next.held")
	}
	return v.lang.Say("next." + string(d.Kind))
}
