package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// requests reads the feedback requests between ports.
func (p *planStory) requests() feedback.State {
	p.t.Helper()
	key := routing.StreamKey(p.r.FullName, routing.StreamFeedbackRequests)
	text := ""
	for name, data := range p.r.Tree(p.t, "switchback-ledger") {
		if filepath.Base(name) == ledger.FileName(key) {
			text = data
		}
	}
	events, err := ledger.Decode(key, []byte(text))
	if err != nil {
		p.t.Fatal(err)
	}
	r, err := feedback.Fold(events)
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

// states are the states of all feedback, in the order in which it was sent.
func (p *planStory) states() []string {
	var out []string
	for _, x := range p.requests().Records {
		out = append(out, fmt.Sprintf("%s→%s %s %d", x.Message.From, x.Message.To, x.Status, x.Round))
	}
	return out
}

const lacksRefunds = "/switchback feedback DEPENDENCY_MISSING to:workflow-root from:refunds priority:high Nobody planned the ledger\nthat refunds write to.\nsuggested_action: plan a port ledger, and let refunds depend on it"

func TestEdgeComment(t *testing.T) {
	t.Parallel()
	p := newPlanStory(t, twoPorts+"- {id: docs, depends_on: model, test: sh test.sh}\n", "")
	write(t, p.ws, "right.txt", "")
	p.walks("model", "docs refunds")
	plan := p.one("Plan of ports").Number
	says := func(text string, reactions int, want ...string) {
		t.Helper()
		n := len(p.r.Comments(t, plan))
		id, res := p.comment(Writer, plan, text)
		p.want(res, 0, nil)
		got := p.last(plan)
		if len(p.r.Comments(t, plan)) != n+2 || len(p.r.Reactions(t, id)) != reactions {
			t.Errorf("%s: %+v", text, p.r.Comments(t, plan)[n:])
		}
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%q is not in %s", w, got)
			}
		}
	}
	fix := " It takes no email.\nsuggested_fix: take one\n"
	t.Run("S3-4 S3-5 S3-7 S3-14 S3-15 S3-20 S3-21 all that is refused is told with what comes nearest, and recorded", func(t *testing.T) {
		says("/switchback feedback FIX_REQUEST to:model from:refunds It takes no email\n\n"+
			"/switchback feedback FIX_REQUEST from:refunds"+fix+
			"/switchback feedback FIX_REQEST to:model from:refunds"+fix+
			"/switchback feedback FIX_REQUEST to:model from:refunds priority:hihg"+fix+
			"/switchback feedback FIX_REQUEST to:docs from:refunds"+fix+
			"/switchback feedback FIX_REQUEST to:modle from:refunds"+fix+
			"/switchback feedback FIX_REQUEST to:model"+fix+
			"/switchback feedback", 0,
			"`Vague feedback: FIX_REQUEST needs suggested_fix`", "recorded as `FB-001`, rejected", "`Missing required field: to_node`",
			"`Invalid feedback_type: FIX_REQEST`. The nearest is `FIX_REQUEST`", "`Invalid priority: hihg`. The nearest is `high`",
			"`Target node 'docs' not found in ancestors of 'refunds'`", "`Target node 'modle' not found in ancestors of 'refunds'`. The nearest is `model`",
			"Say which port asks", "`docs`, `refunds`", "not understood, the type of the feedback is missing")
		if got := p.states(); len(got) != 6 || strings.Contains(fmt.Sprint(got), "queued") {
			t.Errorf("%q", got)
		}
	})
	t.Run("who may not write is refused", func(t *testing.T) {
		n := len(p.requests().Records)
		p.want(p.say(Stranger, plan, "/switchback feedback FIX_REQUEST to:model from:refunds"+fix), 0, nil)
		if got := p.last(plan); !strings.Contains(got, "Only people with") || len(p.requests().Records) != n {
			t.Error(got)
		}
	})
	t.Run("S3-16 S3-19 it is queued, with a reaction and a build, once, however often it is delivered", func(t *testing.T) {
		n := len(p.requests().Records)
		text := "/switchback feedback FIX_REQUEST to:model from:refunds priority:high" + fix
		id := p.r.Comment(t, Writer, plan, text)
		for range 2 {
			p.want(p.b.RunAction(t, p.told("issue_comment", map[string]any{"action": "created", "issue": p.issueNow(plan), "sender": p.user(Writer),
				"comment": map[string]any{"id": id, "body": text, "user": p.user(Writer)}})), 0, nil)
		}
		all := p.requests().Records
		if len(all) != n+1 || all[n].Status != feedback.Queued || all[n].Message.Text != "It takes no email." || all[n].Priority != feedback.High || all[n].Plan == "" {
			t.Errorf("%+v", all[n:])
		}
		if got := p.r.Reactions(t, id); len(got) != 1 || got[0].Content != "+1" {
			t.Errorf("%+v", got)
		}
		if got := p.starts(); len(got) == 0 || !strings.HasPrefix(got[0], "ports.yml main next/") {
			t.Errorf("%q", got)
		}
	})
	t.Run("S3-28 S3-29 S3-39 after two rounds it is refused, and goes to the root", func(t *testing.T) {
		again := "/switchback feedback FIX_REQUEST to:model from:refunds" + fix
		says(again+again, 1, "`Max feedback rounds (2) exceeded for refunds → model`", "`Feedback loop limit reached, aborting`", "It goes to `workflow-root`")
	})
	t.Run("from elsewhere a plan is named", func(t *testing.T) {
		p.want(p.say(Writer, p.number, "/switchback feedback FIX_REQUEST to:model from:docs plan:nowhere"+fix), 0, nil)
		if got := p.last(p.number); !strings.Contains(got, "There is no plan `nowhere`") {
			t.Error(got)
		}
		n := len(p.requests().Records)
		id, res := p.comment(Writer, p.number, "/switchback feedback FIX_REQUEST to:model from:docs plan:ports.yml"+fix)
		if p.want(res, 0, nil); len(p.requests().Records) != n+1 || len(p.r.Reactions(t, id)) != 1 {
			t.Errorf("%v %s", p.states(), p.last(p.number))
		}
	})
	t.Run("the plan's state is told", func(t *testing.T) { says("/switchback status", 0, "Plan `ports.yml`", "`refunds` → `model`") })
	p.clean()
}

func TestPlanningIssue(t *testing.T) {
	t.Parallel()
	p := newPlanStory(t, twoPorts, "escalation: {mention: \"@writer\"}\n")
	write(t, p.ws, "right.txt", "")
	p.walks("model", "refunds")
	plan := p.one("Plan of ports").Number
	p.want(p.say(Writer, plan, lacksRefunds), 0, nil)
	p.walks()
	asks := p.one("refunds asks")
	t.Run("S3-11 what goes to the root is one labelled issue with boxes", func(t *testing.T) {
		labels := p.r.IssueLabels(t, asks.Number)
		slices.Sort(labels)
		for _, want := range []string{"@writer", "`refunds` lacks something that nobody planned", "that refunds write to.", "plan a port ledger", "| 1/2 |", "<!-- sb:planned -->", "<!-- sb:declined -->", "**Submit**"} {
			if !strings.Contains(asks.Body, want) {
				t.Errorf("%q is not in\n%s", want, asks.Body)
			}
		}
		if !slices.Equal(labels, []string{"switchback", "switchback:planning"}) || !slices.Equal(p.states(), []string{"refunds→workflow-root processing 1"}) {
			t.Errorf("%v %v", labels, p.states())
		}
		p.walks()
		if n := len(p.titled("refunds asks")); n != 1 {
			t.Errorf("%d issues", n)
		}
	})
	t.Run("S3-46 S3-47 S3-61 the plan was changed: the sender runs again, and the feedback is resolved", func(t *testing.T) {
		p.tell(p.tick(Writer, asks.Number, "planned"))
		submit := p.tick(Writer, asks.Number, answers.Submit)
		starts := len(p.starts())
		for range 2 {
			p.tell(submit)
		}
		p.wantClosed(asks.Number, true)
		if got := p.states(); !slices.Equal(got, []string{"refunds→workflow-root verifying 1"}) || len(p.starts()) != starts+1 {
			t.Errorf("%q, %d builds", got, len(p.starts())-starts)
		}
		p.walks("refunds")
		if got := p.states(); !slices.Equal(got, []string{"refunds→workflow-root resolved 1"}) {
			t.Errorf("%q", got)
		}
	})
	t.Run("S3-10 a question is answered by a command, and by no box", func(t *testing.T) {
		p.want(p.say(Writer, plan, "/switchback feedback CONTEXT_REQUEST to:workflow-root from:refunds Which currency?\nrequested_info: is it always euro?"), 0, nil)
		p.walks()
		all := p.titled("refunds asks")
		q := all[len(all)-1]
		if strings.Contains(q.Body, "sb:planned") || !strings.Contains(q.Body, "is it always euro?") {
			t.Errorf("%s", q.Body)
		}
		p.want(p.say(Writer, q.Number, "/switchback planned"), 0, nil)
		if got := p.last(q.Number); !strings.Contains(got, "an answer to a question needs a text") {
			t.Error(got)
		}
		p.want(p.say(Writer, q.Number, "/switchback answer Always euro."), 0, nil)
		p.wantClosed(q.Number, true)
		if x := p.requests().Records[1]; x.Status != feedback.Verifying || x.Answer() != "Always euro." {
			t.Errorf("%+v", x)
		}
		p.walks("refunds")
	})
	t.Run("S3-45 what is declined has failed, and who comes second is told", func(t *testing.T) {
		p.want(p.say(Writer, plan, strings.Replace(lacksRefunds, "from:refunds", "from:model", 1)), 0, nil)
		p.walks()
		all := p.titled("model asks")
		q := all[len(all)-1].Number
		p.want(p.say(Writer, q, "/switchback declined Refunds are written elsewhere."), 0, nil)
		if got := p.issueNow(q)["state_reason"]; got != "not_planned" {
			t.Errorf("closed as %v", got)
		}
		p.want(p.say(Owner, q, "/switchback planned"), 0, nil)
		if got := p.last(q); !strings.Contains(got, Writer+"` has already answered") {
			t.Error(got)
		}
		if x := p.requests().Records[2]; x.Status != feedback.Failed || !strings.Contains(fmt.Sprint(x.Attempts), "Refunds are written elsewhere.") {
			t.Errorf("%+v", x)
		}
	})
	p.clean()
}
