// Package plancommands adds the commands and checkboxes of plans to the table of package answers:
// feedback requests between ports, the answers to planning requests, and the boxes of the
// escalation issues of ports. It is registered by being imported.
package plancommands

import (
	"strconv"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/answers"
)

// Feedback is the command that sends a feedback request from one port to an earlier one.
const Feedback = "feedback"

func init() { answers.Register(feature{}) }

type feature struct{}

func (feature) Commands() []answers.Spec {
	text := []answers.Arg{{Name: "TEXT", Optional: true}}
	return []answers.Spec{
		{
			Name: Feedback, Args: []answers.Arg{{Name: "TYPE to:PORT …"}}, Permission: answers.ByRole,
			Parse: parse, See: "[feedback between ports](feedback-requests.md#in-a-comment)",
		},
		{
			Name: "planned", Args: text, Permission: answers.ByRole, Action: routing.HumanResume, Asked: true,
			Parse: answers.ReadText(false), Box: &answers.BoxSpec{ID: "planned", Text: "box.planned"},
		},
		{
			Name: "answer", Args: []answers.Arg{{Name: "TEXT"}}, Permission: answers.ByRole, Action: routing.HumanResume, Asked: true,
			Parse: answers.ReadText(true),
		},
		{
			Name: "declined", Args: text, Permission: answers.ByRole, Action: routing.HumanWontFix, Asked: true,
			Parse: answers.ReadText(false), Box: &answers.BoxSpec{ID: "declined", Text: "box.declined"},
		},
	}
}

// Boxes are those of ports, whose texts differ from those of a case, so that their ids do.
func (feature) Boxes() []answers.BoxSpec {
	return []answers.BoxSpec{
		{ID: "again", Text: "box.again", Action: routing.HumanReset},
		{ID: "as-passed", Text: "box.as-passed", Action: routing.HumanSkip},
	}
}

func (feature) Offer(q answers.Question) ([]answers.Box, bool) {
	if _, _, ok := routing.ParsePortKey(q.Stream); ok {
		return offerPort(q.Attempts), true
	}
	if _, _, ok := routing.ParseFeedbackRequestKey(q.Stream); ok {
		return offerRequest(q.Kind == routing.KindUnclear), true
	}
	return nil, false
}

// offerPort returns the boxes for a port that is escalated after so many failed attempts.
func offerPort(failures int) []answers.Box {
	var out []answers.Box
	if n := min(answers.MoreAttempts, routing.HardCap-failures+1); n > 0 {
		out = append(out, answers.Read("retry:"+strconv.Itoa(n)))
	}
	return append(out, answers.Read("again"), answers.Read("as-passed"), answers.Read("wont-fix"))
}

// offerRequest returns the boxes for a feedback request that people are to act on. A question is
// answered by a comment, which no box can do.
func offerRequest(question bool) []answers.Box {
	if question {
		return []answers.Box{answers.Read("declined")}
	}
	return []answers.Box{answers.Read("planned"), answers.Read("declined")}
}
