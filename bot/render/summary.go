package render

import (
	"fmt"

	"github.com/switchback-ci/switchback/routing"
)

// summaryLimit keeps a job summary below the 1 MiB above which GitHub drops it
// whole, all summaries of a job together.
const summaryLimit = 200_000

// Summary returns the job summary: counts, decision d with its rule and reason,
// the failures of d's verdict, what comes next. c is the case with d recorded.
func Summary(c routing.Case, checkpoint string, d routing.Decision, o Options) string {
	v := look(c, checkpoint, o)
	v.turn = routing.Turn{Iteration: d.Iteration, Kind: d.Kind, Rule: d.Rule, Reason: o.redact(d.Reason), Phase: d.Phase, Verdict: o.verdict(d.Verdict)}
	v.turn.Verdict.Failures, v.excused = counting(v.turn.Verdict.Failures)
	v.max, v.has = d.Max, true
	v.o.Mention = ""
	if d.Kind == routing.KindNone || d.Repeated {
		v.delta = delta{}
	}
	limit := summaryLimit
	if o.Limit > 0 {
		limit = min(limit, o.Limit)
	}
	return fit(limit, func(dt detail) string { return v.summary(d, dt).print(v.lang, "summary") },
		func() string { return "## " + v.summaryHead() })
}

func (v view) summaryHead() string {
	if v.turn.Kind == routing.KindNone {
		return "· " + code(v.name) + ": " + v.lang.say("kind.NONE")
	}
	return v.head()
}

func (v view) summary(d routing.Decision, dt detail) page {
	p := page{Head: v.summaryHead(), Counts: v.counts(), Excused: v.excusedText(), Acts: v.acts()}
	p.Decision = fmt.Sprintf("- **%s:** `%s` (%s, %s %s)\n- **%s:** %s\n- **%s:** %s",
		v.lang.say("sum.decision"), d.Kind, v.lang.say("kind."+string(d.Kind)), v.lang.say("sum.rule"), code(d.Rule),
		v.lang.say("sum.reason"), prose(v.turn.Reason), v.lang.say("sum.next"), v.next(d))
	if v.turn.Kind != routing.KindPass {
		v.failures(&p, dt)
	}
	if len(v.story) > 1 {
		p.History = v.history(v.story, dt.rows)
	}
	if u := v.runURL(); u != "" {
		p.Link = link(v.lang.say("run.link"), u)
	}
	p.Notes = v.notes(p)
	return p
}

func (v view) counts() string {
	n := v.turn.Verdict.Counts
	return v.row("col.tests", "col.passed", "col.failed", "col.skipped") + "|---:|---:|---:|---:|\n" +
		fmt.Sprintf("| %d | %d | %d | %d |", n.Tests, n.Passed, n.Failed, n.Skipped)
}

func (v view) next(d routing.Decision) string {
	switch {
	case d.Kind == routing.KindPass && d.Complete:
		return v.lang.say("next.complete")
	case d.Kind == routing.KindRetry && d.Manual:
		return v.lang.say("next.wait", "handoff", v.command("handoff"))
	case d.Kind.Escalates() && d.OnMax == routing.OnMaxSkip:
		return v.lang.say("next.skip")
	case d.Kind.Escalates():
		s := v.lang.say("next.ESCALATE")
		if u := v.o.address(v.o.IssueURL); u != "" {
			s += " " + link(issueName(u), u)
		}
		return s
	case d.Held:
		return v.lang.say("next.held")
	}
	return v.lang.say("next." + string(d.Kind))
}
