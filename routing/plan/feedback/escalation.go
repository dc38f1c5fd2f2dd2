package feedback

import (
	"fmt"
	"slices"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
)

// Escalation is where used up rounds lead: to the plan's root, as an
// ARCHITECTURE_ISSUE of the same sender, or to a human.
type Escalation struct {
	Node     string            `json:"node,omitempty"`     // the root, "" if it goes to a maintainer
	Feedback string            `json:"feedback,omitempty"` // id of what the root is sent
	Human    *escalation.Facts `json:"human,omitempty"`    // what the human is told
}

func rootFor(g Graph, x Record) string {
	if g == nil || x.Message.To == g.Root() || !slices.Contains(Planners(g, x.Message.From), g.Root()) {
		return ""
	}
	return g.Root()
}

func (x Record) exhausted() string {
	return cut(fmt.Sprintf("Max feedback rounds (%d) exceeded for %s → %s: %s", MaxRounds, x.Message.From, x.Message.To, x.Message.Text), maxText)
}

// suggestion is what the sender proposed or asked for.
func (m Message) suggestion() string {
	for _, s := range []string{m.SuggestedFix, m.SuggestedAction, m.RequestedInfo} {
		if s != "" {
			return s
		}
	}
	return m.Text
}

// trace is that of the newest failure.
func (x Record) trace() string {
	for _, a := range slices.Backward(x.Attempts) {
		if t := a.trace(); t != "" {
			return t
		}
	}
	return x.Message.Trace
}

// asked is what kind of help a human is asked for, by the feedback's type.
var asked = map[Type]escalation.Type{
	FixRequest:        escalation.TestFailure,
	ContextRequest:    escalation.NeedsDecision,
	DependencyMissing: escalation.Dependency,
	ArchitectureIssue: escalation.NeedsDecision,
}

var severities = map[Priority]escalation.Severity{Critical: escalation.Critical, High: escalation.High, Medium: escalation.Medium, Low: escalation.Low}

func (x Record) facts() escalation.Facts {
	kind := routing.KindMaxRetry
	if x.Message.Type == ArchitectureIssue {
		kind = routing.KindDesign
	}
	return escalation.Facts{
		Kind: kind, Type: asked[x.Message.Type], Severity: severities[x.Message.Priority],
		Title:       cut(fmt.Sprintf("Feedback from %s to %s is not resolved", x.Message.From, x.Message.To), maxName),
		Description: x.exhausted(), Context: x.trace(),
		Suggested: []string{
			x.Message.suggestion(),
			fmt.Sprintf("Change what %s is to do, or what %s expects of it, and start the plan again", x.Message.To, x.Message.From),
		},
	}
}

// EscalationRequest returns the escalation that x led to, as a call of caseKey. ok is
// false if it led to none.
func (x Record) EscalationRequest(caseKey string) (c escalation.Request, ok bool) {
	if x.Escalated == nil || x.Escalated.Human == nil {
		return c, false
	}
	f, at := *x.Escalated.Human, x.FailedAt
	if at.IsZero() {
		at = x.SentAt // rejected
	}
	m := escalation.Member{Case: caseKey, Checkpoint: x.Message.From, Kind: f.Kind, Type: f.Type, Opened: at, At: at}
	return escalation.Request{ID: caseKey + "/feedback/" + x.ID, Member: m, Facts: f}, true
}
