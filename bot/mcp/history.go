package mcp

import (
	"context"
	"slices"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
)

type getHistoryIn struct {
	caseIn
	page
}

// historyRow is a run with its decision, an answer of a person, or that the base passed.
type historyRow struct {
	At         time.Time     `json:"at"`
	Checkpoint string        `json:"checkpoint"`
	What       string        `json:"what" jsonschema:"run, answer, base_passed, handoff"`
	Decision   routing.Kind  `json:"decision,omitempty"`
	Rule       string        `json:"rule,omitempty"`
	Class      routing.Class `json:"class,omitempty"`
	Reason     string        `json:"reason,omitempty"`
	Failed     int           `json:"failed,omitempty" jsonschema:"how many tests failed"`
	Failing    []string      `json:"failing,omitempty" jsonschema:"the names of some of them"`
	SHA        string        `json:"sha,omitempty"`
	Run        string        `json:"run,omitempty"`
	By         string        `json:"by,omitempty"`
	Action     string        `json:"action,omitempty" jsonschema:"what the person said"`
	Note       string        `json:"note,omitempty"`
}

type getHistoryOut struct {
	answer
	Case   string       `json:"case"`
	Total  int          `json:"total" jsonschema:"how many entries there are, on all pages"`
	Events []historyRow `json:"events"`
}

func (o *getHistoryOut) rows() int  { return len(o.Events) }
func (o *getHistoryOut) keep(n int) { o.Events = o.Events[:n] }

// mostNames is how many failing tests an entry of the history names.
const mostNames = 5

func (r reader) getHistory(ctx context.Context, in getHistoryIn) (out getHistoryOut, err error) {
	skip, n, err := in.of()
	if err != nil {
		return out, err
	}
	c, events, err := r.load(ctx, in.Case)
	if err != nil {
		return out, err
	}
	if _, err := checkpoints(c, in.Checkpoint); err != nil {
		return out, err
	}
	all := []historyRow{}
	for _, e := range slices.Backward(events) {
		row, ok := eventRow(e)
		if ok && (in.Checkpoint == "" || e.Checkpoint() == in.Checkpoint) {
			all = append(all, row)
		}
	}
	return getHistoryOut{Case: clean(r.now(c.Key), 300), Total: len(all), Events: part(all, skip, n)}, nil
}

func eventRow(e routing.Event) (historyRow, bool) {
	row := historyRow{At: e.At.UTC(), Checkpoint: clean(e.Checkpoint(), 200)}
	if run, ok := e.Run(); ok {
		v, d := run.Verdict, run.Decision
		row.What, row.Decision, row.Rule, row.Class, row.Reason = "run", d.Kind, clean(d.Rule, 100), v.Class, clean(d.Reason, 300)
		row.Failed, row.SHA, row.Run = escalation.FailedCount(v), clean(v.Run.SHA, 100), clean(v.Run.URL, 300)
		for _, f := range v.Failures[:min(len(v.Failures), mostNames)] {
			row.Failing = append(row.Failing, clean(escalation.Name(f), 300))
		}
		return row, true
	}
	if act, ok := e.Human(); ok {
		row.What, row.By, row.Action, row.SHA, row.Note = "answer", clean(act.By, 100), clean(string(act.Action), 100), clean(act.SHA, 100), clean(act.Note, 500)
		return row, true
	}
	if e.Type == routing.EventBase {
		row.What = "base_passed"
		if p, err := routing.PayloadOf[routing.BasePassed](e); err == nil {
			row.Reason, row.SHA = clean(p.Base, 200), clean(p.SHA, 100)
		}
		return row, true
	}
	if p, ok := e.Handoff(); ok {
		row.What, row.By, row.Action, row.SHA = "handoff", clean(p.By, 100), clean(string(p.Change), 100), clean(p.SHA, 100)
		return row, true
	}
	return row, false
}
