package render

import (
	"fmt"

	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
)

// historyRow is one run in the table of a streak.
type historyRow struct{ Number, Result, Class, Failed, First, Commit, At md }

// history is the table of turns, newest last, at most n of them.
func (v view) history(turns []routing.Attempt, n int) []historyRow {
	first := max(0, len(turns)-n)
	var out []historyRow
	for i, t := range turns[first:] {
		out = append(out, newHistoryRow(v, first+i+1, t))
	}
	return out
}

func newHistoryRow(v view, n int, t routing.Attempt) historyRow {
	r := historyRow{
		Number: markdown.Link(md(fmt.Sprint(n)), v.o.Address(t.Verdict.Run.URL)), Result: v.lang.Say("kind." + string(t.Kind)),
		Class: "–", First: "–", Failed: "0", Commit: v.sha(t.Verdict.Run.SHA), At: md(stamp(t)),
	}
	if t.Undone && len(t.Flaky) > 0 {
		r.Result = v.lang.Say("turn.flaky", "kind", r.Result)
	} else if t.Undone {
		r.Result = v.lang.Say("turn.undone", "kind", r.Result)
	}
	if t.Kind == routing.KindPass {
		return r
	}
	class := t.Verdict.Class
	if t.Verdict.Result == routing.TimedOut {
		class = routing.Timeout
	}
	r.Class = v.class(class)
	r.Failed = md(fmt.Sprint(escalation.FailedCount(t.Verdict)))
	if fs := decisiveFirst(t.Verdict.Failures); len(fs) > 0 {
		r.First = markdown.Code(markdown.Cut(escalation.Name(fs[0]), 80))
	}
	return r
}

func stamp(t routing.Attempt) string {
	if t.At.IsZero() {
		return "–"
	}
	return t.At.UTC().Format("2006-01-02 15:04")
}
