package feedback

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
)

func TestLimits(t *testing.T) {
	t.Parallel()
	line := planOf("root", "e2e: controller", "controller: service", "service: model", "model: migration", "other: model")
	t.Run("S3-28 two rounds, and no third", func(t *testing.T) {
		b := newBook(t, line)
		for range 2 {
			b.round(b.queued(fix("service", "model")), true)
		}
		b.refused(fix("service", "model"), "Max feedback rounds (2) exceeded for service → model")
		b.queued(fix("controller", "model")) // another pair
		s, err := b.reg.Outbox("q", b.g, b.now).Send(fix("service", "model"))
		if b.do(s.Events, err); s.Refusal != nil || s.Round != 1 {
			t.Errorf("another plan: %+v", s)
		}
	})
	t.Run("S3-27 S3-29 what a limit says", func(t *testing.T) {
		b := newBook(t, line)
		for range 2 {
			b.round(b.queued(fix("service", "model")), true)
		}
		s := b.refused(fix("service", "model"), "Max feedback rounds (2) exceeded for service → model")
		want := "Max feedback rounds (2) exceeded for service → model\nFeedback loop limit reached, aborting"
		if got := strings.Join(s.Refusal.Lines(), "\n"); got != want || !strings.Contains(s.Refusal.Error(), LoopLimit) {
			t.Error(got)
		}
		s = b.refused(fix("service", "nobody"), "Target node 'nobody' not found in ancestors of 'service'")
		if len(s.Refusal.Lines()) != 1 || s.Refusal.Limit() {
			t.Error(s.Refusal.Lines())
		}
	})
	t.Run("S3-30 the round is one more than the earlier ones", func(t *testing.T) {
		b := newBook(t, line)
		first, second := b.queued(fix("service", "model")), b.queued(fix("service", "model"))
		if b.rec(first).Round != 1 || b.rec(second).Round != 2 {
			t.Error(b.reg.Records)
		}
		b.round(first, false) // the pair's second round is the other's
		b.is(first, Failed)
		b.is(second, Queued)
	})
	t.Run("S3-31 counted per pair, whatever the issue", func(t *testing.T) {
		b := newBook(t, line)
		b.round(b.queued(fix("service", "model")), true)
		m := fix("service", "model")
		m.Type, m.RequestedInfo, m.Text = ContextRequest, "the name", "something else"
		b.round(b.queued(m), true)
		m.Text = "a third matter"
		b.refused(m, "Max feedback rounds (2) exceeded for service → model")
	})
	t.Run("S3-32 S3-33 a chain of three hops, and none of four", func(t *testing.T) {
		b := newBook(t, line)
		b.queued(fix("e2e", "controller"))
		b.queued(fix("controller", "service"))
		b.queued(fix("service", "model"))
		b.refused(fix("model", "migration"), "Feedback chain depth (3) exceeded")
	})
	t.Run("S3-34 the new hop counts, wherever it joins, and only open feedback", func(t *testing.T) {
		b := newBook(t, line)
		b.queued(fix("model", "migration"))
		b.queued(fix("e2e", "controller"))
		b.queued(fix("controller", "service"))
		b.refused(fix("service", "model"), "Feedback chain depth (3) exceeded") // between: 2+1+1
		b.round("FB-001", true)
		b.queued(fix("service", "model"))
	})
	t.Run("S3-35 A to B to C to A is refused", func(t *testing.T) {
		b := newBook(t, planOf("root", "A: B", "B: C", "C: A"))
		b.queued(fix("A", "B"))
		b.queued(fix("B", "C"))
		b.refused(fix("C", "A"), "Feedback cycle detected: A → B → C → A")
	})
	t.Run("S3-36 A to B to A is refused while the first is open", func(t *testing.T) {
		b := newBook(t, planOf("root", "A: B", "B < A")) // a parent that waits for its child
		id := b.queued(fix("A", "B"))
		b.refused(fix("B", "A"), "Feedback cycle detected: A → B → A")
		b.round(id, true)
		b.queued(fix("B", "A"))
	})
	t.Run("S3-37 round 2 has raised priority", func(t *testing.T) {
		b := newBook(t, line)
		id := b.queued(fix("service", "model"))
		b.round(id, false)
		if x := b.is(id, Queued); x.Round != 2 || x.Priority != High || x.Message.Priority != Medium {
			t.Errorf("%+v", x)
		}
		b.round(b.queued(fix("other", "model")), true)
		m := fix("other", "model")
		m.Priority = Low
		if x := b.rec(b.queued(m)); x.Round != 2 || x.Priority != Medium {
			t.Errorf("%+v", x)
		}
		if Critical.Raised() != Critical || High.Raised() != Critical || Low.Raised() != Medium {
			t.Error("raised wrongly")
		}
	})
	t.Run("S3-38 round 2 holds the traces and the earlier attempts", func(t *testing.T) {
		b := newBook(t, line)
		m := fix("service", "model")
		m.Trace = "trace of the sender"
		id := b.queued(m)
		b.round(id, false)
		b.begin(id)
		h := b.reg.Of("p").For("model")[0]
		if h.Round != 2 || h.Trace != "trace of the sender" || len(h.Earlier) != 1 || h.Earlier[0].Fix != "fix of round 1" || h.Earlier[0].Trace != "trace of round 1" || h.Earlier[0].Passed {
			t.Errorf("%+v", h)
		}
		// a second feedback of a pair holds the first's too
		b = newBook(t, line)
		b.round(b.queued(m), true)
		b.begin(b.queued(fix("service", "model")))
		h = b.reg.Of("p").For("model")[0]
		if len(h.Earlier) != 1 || h.Earlier[0].ID != "FB-001" || h.Earlier[0].Trace != "trace of the sender" || !h.Earlier[0].Passed || h.Files[0] != "fixed.go" {
			t.Errorf("%+v", h)
		}
	})
	t.Run("S3-41 limits survive a restart", func(t *testing.T) {
		b := newBook(t, line)
		b.round(b.queued(fix("service", "model")), true)
		b.round(b.queued(fix("service", "model")), true)
		stored, err := json.Marshal(b.events)
		if err != nil {
			t.Fatal(err)
		}
		again := newBook(t, line)
		var events []routing.Event
		if err := json.Unmarshal(stored, &events); err != nil {
			t.Fatal(err)
		}
		again.do(events, nil)
		again.refused(fix("service", "model"), "Max feedback rounds (2) exceeded for service → model")
	})
}

func TestEscalation(t *testing.T) {
	t.Parallel()
	g := planOf("root", "service: model", "other: model")
	t.Run("S3-39 used up rounds go to the root", func(t *testing.T) {
		b := newBook(t, g)
		m := fix("service", "model")
		m.Artifacts = []Artifact{{"a.go", 3, 3}}
		id := b.queued(m)
		b.round(id, false)
		b.round(id, false)
		x := b.is(id, Failed)
		if x.Escalated == nil || x.Escalated.Node != "root" || x.Escalated.Feedback != "FB-002" {
			t.Fatalf("%+v", x.Escalated)
		}
		up := b.is("FB-002", Queued)
		if up.Message.Type != ArchitectureIssue || up.Message.From != "service" || up.Message.To != "root" || up.Escalates != id || up.Round != 1 || up.Message.Priority != High {
			t.Errorf("%+v", up)
		}
		b.do(b.reg.Lifecycle(nil, b.now).Deliver("FB-002"))
		h := b.reg.Of("p").For("root")[0]
		if len(h.Earlier) != 2 || h.Earlier[1].Trace != "trace of round 2" || h.Trace != "trace of round 2" || h.Files[0] != "a.go" || !strings.Contains(h.SuggestedFix, "fix model") {
			t.Errorf("%+v", h)
		}
		if up.Message.Validate() != nil {
			t.Error(up.Message.Validate())
		}
	})
	t.Run("S3-39 an escalation opens when the root does not help either", func(t *testing.T) {
		b := newBook(t, g)
		id := b.queued(fix("service", "model"))
		b.round(id, false)
		b.round(id, false)
		b.round("FB-002", false)
		b.round("FB-002", false)
		x := b.is("FB-002", Failed)
		c, ok := x.EscalationRequest("acme/shop@main")
		if !ok || c.Facts.Type != escalation.NeedsDecision || c.Facts.Kind != routing.KindDesign || c.Member.Checkpoint != "service" || c.Member.Opened.IsZero() || len(c.Facts.Suggested) < 2 {
			t.Fatalf("%+v", c)
		}
		if _, ok := b.rec(id).EscalationRequest("acme/shop@main"); ok {
			t.Error("the first calls as well")
		}
		if p, err := (escalation.State{}).Recorder(b.now).Place(c, escalation.Limits{FuseID: "f"}, nil); err != nil || p.ID != c.ID {
			t.Errorf("the register of escalations does not take it: %+v %v", p, err)
		}
	})
	t.Run("S3-39 an escalation opens where there is no root above", func(t *testing.T) {
		for name, g := range map[string]Graph{"no root": planOf("", "service: model"), "the target is the root": planOf("model", "service: model")} {
			b := newBook(t, g)
			id := b.queued(fix("service", "model"))
			b.round(id, false)
			b.round(id, false)
			x := b.is(id, Failed)
			if x.Escalated == nil || x.Escalated.Human == nil || x.Escalated.Human.Type != escalation.TestFailure || x.Escalated.Human.Context != "trace of round 2" {
				t.Errorf("%s: %+v", name, x.Escalated)
			}
			if x.Escalated.Human.Description != "Max feedback rounds (2) exceeded for service → model: service fails" {
				t.Error(x.Escalated.Human.Description)
			}
		}
	})
	t.Run("S3-39 a third sending escalates, once", func(t *testing.T) {
		b := newBook(t, g)
		b.round(b.queued(fix("service", "model")), true)
		b.round(b.queued(fix("service", "model")), true)
		limit := "Max feedback rounds (2) exceeded for service → model"
		if s := b.refused(fix("service", "model"), limit); s.Escalation == nil || s.Escalation.Feedback != "FB-004" {
			t.Fatalf("%+v", s.Escalation)
		}
		if x := b.is("FB-004", Queued); x.Escalates != "FB-003" || x.Message.To != "root" {
			t.Errorf("%+v", x)
		}
		if s := b.refused(fix("service", "model"), limit); s.Escalation != nil {
			t.Errorf("%+v", s.Escalation)
		}
	})
	t.Run("S3-40 an escalation needs no round that is left", func(t *testing.T) {
		b := newBook(t, planOf("root", "a: x y z"))
		for _, to := range []string{"x", "y", "z"} { // three escalations of one pair
			id := b.queued(fix("a", to))
			b.round(id, false)
			b.round(id, false)
			b.is(b.rec(id).Escalated.Feedback, Queued)
		}
		if n := b.reg.Rounds("p", "a", "root"); n != 0 {
			t.Errorf("escalations count as %d rounds", n)
		}
	})
	t.Run("S3-40 an escalation goes where the rounds are used up", func(t *testing.T) {
		b := newBook(t, g)
		for range 2 {
			b.round(b.queued(fix("service", "root")), true)
		}
		id := b.queued(fix("service", "model"))
		b.round(id, false)
		b.round(id, false)
		if x := b.is(b.rec(id).Escalated.Feedback, Queued); x.Message.To != "root" || x.Round != 1 {
			t.Errorf("%+v", x)
		}
		b.refused(fix("service", "root"), "Max feedback rounds (2) exceeded for service → root")
	})
	t.Run("S3-40 an escalation that would close a circle goes to a maintainer", func(t *testing.T) {
		b := newBook(t, planOf("root", "root: a", "a: b"))
		b.queued(fix("root", "a"))
		id := b.queued(fix("a", "b"))
		b.round(id, false)
		b.round(id, false)
		if e := b.is(id, Failed).Escalated; e == nil || e.Human == nil || e.Node != "" {
			t.Errorf("%+v", e)
		}
	})
}
