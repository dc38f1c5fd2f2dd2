package plancommands

import (
	"reflect"
	"testing"

	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

func TestFeedbackCommand(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body string
		want feedback.Message
		plan string
	}{
		"S3-1 S3-3 S3-8 all of it": {
			"Look:\n\n/switchback feedback FIX_REQUEST to:create from:test priority:high plan:billing The model takes a payment\nwithout an email.\nsuggested_fix: Add: validates :email,\npresence: true\n- artifacts: spec/payment_spec.rb:42, app/payment.rb:1-9\n\nThanks!",
			feedback.Message{Type: feedback.FixRequest, To: "create", From: "test", Priority: feedback.High, Text: "The model takes a payment\nwithout an email.",
				SuggestedFix: "Add: validates :email,\npresence: true", Artifacts: []feedback.Artifact{{Path: "spec/payment_spec.rb", Line: 42, End: 42}, {Path: "app/payment.rb", Line: 1, End: 9}}}, "billing",
		},
		"in any order, as people write": {
			"/switchback feedback send context-request from: `test` to: \"workflow-root\" Priority:LOW Which currency?\n\n**Requested info:** is it always euro?",
			feedback.Message{Type: feedback.ContextRequest, To: "workflow-root", From: "test", Priority: feedback.Low, Text: "Which currency?", RequestedInfo: "is it always euro?"}, "",
		},
		"what it does not say is left to the plan": {
			"/switchback feedback DEPENDENCY_MISSING to:workflow-root note: nobody planned refunds\naction: plan them",
			feedback.Message{Type: feedback.DependencyMissing, To: "workflow-root", Priority: feedback.Medium, Text: "note: nobody planned refunds", SuggestedAction: "plan them"}, "",
		},
		"S3-5 S3-7 what is unknown is kept, to be refused with its name": {
			"/switchback feedback FIX_REQEST to:a priority:soon x",
			feedback.Message{Type: "FIX_REQEST", To: "a", Priority: "soon", Text: "x"}, "",
		},
		"code, quotes and what follows a blank line are no message": {
			"/switchback feedback FIX_REQUEST to:a It fails:\n```\nsuggested_fix: not this\n```\nnor this\n\nnor that\n> suggested_fix: nor a quote\n\nsuggested_fix: this",
			feedback.Message{Type: feedback.FixRequest, To: "a", Priority: feedback.Medium, Text: "It fails:", SuggestedFix: "this"}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			cmds := answers.Commands(c.body)
			if len(cmds) != 1 || cmds[0].Err != nil || cmds[0].Name != Feedback || RequestOf(cmds[0]).Plan != c.plan || !reflect.DeepEqual(RequestOf(cmds[0]).Message, c.want) {
				t.Errorf("%+v\n%+v\nwant\n%+v", cmds, RequestOf(cmds[0]), c.want)
			}
		})
	}
	t.Run("two in one comment, each with its own", func(t *testing.T) {
		cmds := answers.Commands("/switchback feedback FIX_REQUEST to:a one\r\nsuggested_fix: f1\r\n/switchback feedback FIX_REQUEST to:b two\r\nsuggested_fix: f2\r\n/switchback status")
		if len(cmds) != 3 || RequestOf(cmds[0]).Message.SuggestedFix != "f1" || RequestOf(cmds[1]).Message.Text != "two" || RequestOf(cmds[1]).Message.SuggestedFix != "f2" || cmds[2].Name != answers.Status {
			t.Errorf("%+v", cmds)
		}
	})
	t.Run("without a type it is not understood", func(t *testing.T) {
		cmds := answers.Commands("/switchback feedback\nsome text")
		if len(cmds) != 1 || cmds[0].Err == nil || cmds[0].Err.What != NoType {
			t.Errorf("%+v", cmds)
		}
	})
}

func TestTextCommands(t *testing.T) {
	t.Parallel()
	cmds := answers.Commands("/switchback answer Always euro.\n\n```\nEUR\n```\n/switchback planned\n/switchback answer")
	if len(cmds) != 3 || cmds[0].Text != "Always euro.\n\n```\nEUR\n```" || cmds[1].Text != "" || cmds[1].Err != nil || cmds[2].Err == nil || cmds[2].Err.What != answers.NoText {
		t.Errorf("%+v", cmds)
	}
}

func TestBoxesOfPlans(t *testing.T) {
	t.Parallel()
	for _, b := range append(offerPort(2), append(offerRequest(false), offerRequest(true)...)...) {
		if got := answers.Read(b.ID); got != b || b.Action == "" {
			t.Errorf("%+v is read as %+v", b, got)
		}
	}
	if got := offerPort(10); got[0].ID != "retry:1" {
		t.Errorf("%+v", got)
	}
	if got := offerPort(11); got[0].ID != "again" {
		t.Errorf("no turn is left, and yet %+v", got)
	}
}
