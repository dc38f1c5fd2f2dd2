package feedback

import (
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
)

// ForPeople reports whether x, which is for people, waits for them.
func (x Record) ForPeople() bool {
	return x.Status == Queued || x.Status == Delivered || x.Status == Processing
}

// Asks returns the call with which people are asked to act on x, as a call of key.
func (x Record) Asks(key string) escalation.Request {
	kind := routing.KindDesign
	if x.Message.Type.Asks() == Reply {
		kind = routing.KindUnclear
	}
	f := escalation.Facts{
		Kind: kind, Type: asked[x.Message.Type], Severity: severities[x.Priority],
		Description: x.Message.Text, Context: x.Message.Trace, Suggested: []string{x.Message.suggestion()},
	}
	m := escalation.Member{Case: key, Checkpoint: x.Message.From, Kind: f.Kind, Type: f.Type, Run: x.ID, Gen: x.Round, Opened: x.QueuedAt, At: x.QueuedAt}
	return escalation.Request{ID: key, Member: m, Facts: f}
}
