package feedback

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestFixVerify(t *testing.T) {
	t.Parallel()
	g := planOf("root", "test: model", "other: model")
	m := fix("test", "model")
	m.Artifacts = []Artifact{{"a_test.go", 3, 5}, {"a_test.go", 9, 9}, {"b_test.go", 1, 1}}
	t.Run("S3-42 S3-54 the context that is handed over, and its files", func(t *testing.T) {
		b := newBook(t, g)
		id := b.queued(m)
		b.do(b.reg.Lifecycle(nil, b.now).Deliver(id))
		w := b.reg.Of("p").Work()
		got, err := json.Marshal(w[0].Feedback)
		if err != nil {
			t.Fatal(err)
		}
		want := `{"feedback_id":"FB-001","round":1,"priority":"medium","from_node":"test","to_node":"model","feedback_type":"FIX_REQUEST","message":"test fails",` +
			`"suggested_fix":"fix model","artifacts":["a_test.go:3-5","a_test.go:9","b_test.go:1"],"files":["a_test.go","b_test.go"]}`
		if string(got) != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	})
	t.Run("S3-9 S3-44 S3-46 the target of a fix request runs with it, then the sender without", func(t *testing.T) {
		b := newBook(t, g)
		id := b.queued(m)
		b.begin(id)
		if w := b.reg.Of("p").Work(); len(w) != 1 || w[0].Do != Rework || w[0].Node != "model" || w[0].Feedback == nil || w[0].Feedback.SuggestedFix != "fix model" {
			t.Errorf("%+v", w)
		}
		b.do(b.reg.Lifecycle(b.g, b.now).Processed(id, Outcome{OK: true}))
		if w := b.reg.Of("p").Work(); len(w) != 1 || w[0].Do != Verify || w[0].Node != "test" || w[0].Feedback != nil || w[0].Answer != nil || b.reg.Of("p").For("test") != nil {
			t.Errorf("%+v", w)
		}
	})
	t.Run("S3-45 a target that fails ends it, unverified", func(t *testing.T) {
		b := newBook(t, g)
		id := b.queued(m)
		b.begin(id)
		b.do(b.reg.Lifecycle(b.g, b.now).Processed(id, Outcome{Trace: "no"}))
		if x := b.is(id, Failed); x.FailedAt.IsZero() || x.Escalated != nil || b.reg.Of("p").Work() != nil {
			t.Errorf("%+v", x)
		}
		b.begin(b.queued(m))
		if h := b.reg.Of("p").For("model"); h[0].Round != 2 || h[0].Earlier[0].Trace != "no" {
			t.Errorf("%+v", h)
		}
		b.do(b.reg.Lifecycle(b.g, b.now).Processed("FB-002", Outcome{}))
		if x := b.is("FB-002", Failed); x.Escalated == nil {
			t.Error("the last round was used up, and nobody is told")
		}
	})
	t.Run("S3-47 a sender that passes resolves it", func(t *testing.T) {
		b := newBook(t, g)
		id := b.queued(m)
		b.round(id, true)
		if x := b.is(id, Resolved); x.ResolvedAt.IsZero() || !x.FailedAt.IsZero() || x.Round != 1 {
			t.Errorf("%+v", x)
		}
	})
	t.Run("S3-48 S3-49 a sender that fails has a second round, and no third", func(t *testing.T) {
		b := newBook(t, g)
		id := b.queued(m)
		b.round(id, false)
		if x := b.is(id, Queued); x.Round != 2 || !x.FailedAt.IsZero() {
			t.Errorf("%+v", x)
		}
		b.round(id, false)
		if x := b.is(id, Failed); x.Round != 2 || x.FailedAt.IsZero() || len(x.Attempts) != 2 {
			t.Errorf("%+v", x)
		}
	})
	t.Run("S3-50 nothing is resolved without a verification", func(t *testing.T) {
		for from := range transitions {
			if to := transitions[from]; from != Verifying && slices.Contains(to, Resolved) {
				t.Errorf("%s leads to resolved", from)
			}
		}
		b := newBook(t, g)
		id := b.queued(m)
		for _, step := range []func(){
			func() {}, func() { b.do(b.reg.Lifecycle(nil, b.now).Deliver(id)) }, func() { b.do(b.reg.Lifecycle(nil, b.now).Begin(id)) },
		} {
			step()
			var bad *StateError
			if _, err := b.reg.Lifecycle(b.g, b.now).Verified(id, Outcome{OK: true}); !errors.As(err, &bad) {
				t.Errorf("resolved while %s: %v", b.rec(id).Status, err)
			}
			if _, err := b.reg.Apply(event(RequestResolved{b.rec(id).subject(), &Outcome{OK: true}}, b.now)); err == nil {
				t.Errorf("an event resolves it while %s", b.rec(id).Status)
			}
		}
	})
	t.Run("S3-52 processing and verifying are recorded", func(t *testing.T) {
		b := newBook(t, g)
		id := b.queued(m)
		b.begin(id)
		b.is(id, Processing)
		b.do(b.reg.Lifecycle(b.g, b.now).Processed(id, Outcome{OK: true}))
		b.is(id, Verifying)
		lines, _ := Audit(b.events)
		if lines[2].Status != Processing || lines[3].Status != Verifying {
			t.Errorf("%+v", lines)
		}
	})
	t.Run("S3-55 what a node is to know before it acts", func(t *testing.T) {
		b := newBook(t, g)
		b.queued(m)
		if b.reg.Of("p").For("model") != nil {
			t.Error("not delivered yet")
		}
		urgent := fix("other", "model")
		urgent.Priority = Critical
		b.queued(urgent)
		b.do(b.reg.Lifecycle(nil, b.now).Deliver("FB-001"))
		b.do(b.reg.Lifecycle(nil, b.now).Deliver("FB-002"))
		if h := b.reg.Of("p").For("model"); len(h) != 2 || h[0].ID != "FB-002" || h[1].ID != "FB-001" {
			t.Errorf("%+v", h)
		}
		if b.reg.Of("p").For("test") != nil || b.reg.Of("q").For("model") != nil {
			t.Error("another node's, another plan's")
		}
	})
	t.Run("S3-55 a node that asks is delivered all that is queued for it", func(t *testing.T) {
		b := newBook(t, planOf("root", "test: model", "other: model", "model: base"))
		b.queued(m)
		b.queued(fix("other", "model"))
		b.do(b.reg.Lifecycle(nil, b.now).Receive("p", "model"))
		b.is("FB-001", Processing)
		b.is("FB-002", Processing)
		if again, err := b.reg.Lifecycle(nil, b.now).Receive("p", "model"); err != nil || again != nil {
			t.Errorf("%v %v", again, err)
		}
		b.queued(fix("model", "base"))
		b.queued(m)
		b.do(b.reg.Lifecycle(nil, b.now).Receive("p", "model"))
		b.is("FB-004", Queued) // the model waits for its base
	})
	t.Run("S3-57 cleared only after it was used", func(t *testing.T) {
		b := newBook(t, g)
		id := b.queued(m)
		b.begin(id)
		b.do(b.reg.Lifecycle(nil, b.now).Begin(id)) // the run was lost, and begins again
		if len(b.reg.Of("p").For("model")) != 1 || len(b.reg.Of("p").Work()) != 1 {
			t.Error("lost with the run")
		}
		b.do(b.reg.Lifecycle(b.g, b.now).Processed(id, Outcome{OK: true}))
		if len(b.reg.Of("p").For("model")) != 0 {
			t.Error("used, and not cleared")
		}
		if w := b.reg.Of("p").Work(); len(w) != 1 || w[0].Do != Verify {
			t.Errorf("the verification is lost: %+v", w)
		}
	})
	t.Run("S3-10 a question is answered, and the answer goes back to the sender", func(t *testing.T) {
		b := newBook(t, g)
		q := Message{From: "test", To: "model", Type: ContextRequest, Text: "How is it called?", RequestedInfo: "method name", Priority: Low}
		id := b.queued(q)
		b.begin(id)
		for _, o := range []Outcome{{OK: true}, {OK: true, Answer: " "}} {
			if _, err := b.reg.Lifecycle(b.g, b.now).Processed(id, o); !errors.Is(err, ErrAnswer) {
				t.Errorf("done without an answer: %v", err)
			}
		}
		if _, err := b.reg.Lifecycle(nil, b.now).Answer(id, "", nil); !errors.Is(err, ErrAnswer) {
			t.Error(err)
		}
		b.do(b.reg.Lifecycle(nil, b.now).Answer(id, "pay(amount)", []string{"pay.go"}))
		w := b.reg.Of("p").Work()
		if a := w[0].Answer; a == nil || w[0].Node != "test" || a.Answer != "pay(amount)" || a.By != "model" || a.RequestedInfo != "method name" || a.Files[0] != "pay.go" {
			t.Errorf("%+v", w[0])
		}
		if a := b.reg.Of("p").Answers("test"); len(a) != 1 || a[0].Answer != "pay(amount)" || b.reg.Of("p").Answers("model") != nil {
			t.Errorf("%+v", a)
		}
		b.do(b.reg.Lifecycle(b.g, b.now).Verified(id, Outcome{OK: true}))
		if b.reg.Of("p").Answers("test") != nil {
			t.Error("answered for ever")
		}
		if x := b.is(id, Resolved); x.Answer() != "pay(amount)" {
			t.Error(x.Answer())
		}
		b.begin(b.queued(fix("other", "model")))
		if _, err := b.reg.Lifecycle(nil, b.now).Answer("FB-002", "a fix is no question", nil); !errors.Is(err, ErrAnswer) {
			t.Error(err)
		}
	})
	t.Run("S3-11 S3-12 what is missing, or wrong in design, is planned", func(t *testing.T) {
		for _, typ := range []Type{DependencyMissing, ArchitectureIssue} {
			b := newBook(t, g)
			id := b.queued(Message{From: "test", To: "root", Type: typ, Text: "x", Priority: Critical, SuggestedAction: "add a Refund model"})
			b.begin(id)
			if w := b.reg.Of("p").Work(); w[0].Do != Replan || w[0].Node != "root" || w[0].Feedback.SuggestedAction != "add a Refund model" {
				t.Errorf("%+v", w)
			}
			b.do(b.reg.Lifecycle(b.g, b.now).Processed(id, Outcome{OK: true, Summary: "added"}))
			b.do(b.reg.Lifecycle(b.g, b.now).Verified(id, Outcome{OK: true}))
			b.is(id, Resolved)
		}
	})
	t.Run("what cannot go on is withdrawn", func(t *testing.T) {
		for steps := range 4 {
			b := newBook(t, g)
			id := b.queued(m)
			for i, step := range []func(){func() { b.do(b.reg.Lifecycle(nil, b.now).Deliver(id)) }, func() { b.do(b.reg.Lifecycle(nil, b.now).Begin(id)) }, func() { b.do(b.reg.Lifecycle(b.g, b.now).Processed(id, Outcome{OK: true})) }} {
				if i < steps {
					step()
				}
			}
			if _, err := b.reg.Lifecycle(nil, b.now).Withdraw(id, " "); err == nil {
				t.Error("withdrawn for no reason")
			}
			b.do(b.reg.Lifecycle(nil, b.now).Withdraw(id, "model is no longer in the plan"))
			if x := b.is(id, Failed); x.Withdrawn == "" || x.FailedAt.IsZero() || x.Escalated != nil {
				t.Errorf("%+v", x)
			}
		}
	})
	t.Run("S3-87 the document's example runs to resolved", func(t *testing.T) {
		b := newBook(t, planOf("workflow-root", "test-payment-model: create-payment-model"))
		s, err := b.reg.Outbox("p", b.g, b.now).SendJSON([]byte(`{
  "type": "FEEDBACK",
  "from_node": "test-payment-model",
  "to_node": "create-payment-model",
  "feedback_type": "FIX_REQUEST",
  "message": "PaymentSpec:42 - Expected validates_presence_of(:email)",
  "suggested_fix": "Add: validates :email, presence: true",
  "priority": "high",
  "artifacts": ["spec/models/payment_spec.rb:42"]
}`))
		b.do(s.Events, err)
		model := "class Payment; end"
		for range 10 {
			if x, ok := b.reg.Of("p").Next(); ok {
				b.do(b.reg.Lifecycle(nil, b.now).Deliver(x.ID))
			}
			for _, w := range b.reg.Of("p").Work() {
				switch w.Node {
				case "create-payment-model":
					b.do(b.reg.Lifecycle(nil, b.now).Begin(w.ID))
					model = "class Payment; " + strings.TrimPrefix(w.Feedback.SuggestedFix, "Add: ") + "; end"
					b.do(b.reg.Lifecycle(b.g, b.now).Processed(w.ID, Outcome{OK: true, Summary: "validation added"}))
				case "test-payment-model":
					b.do(b.reg.Lifecycle(b.g, b.now).Verified(w.ID, Outcome{OK: strings.Contains(model, "validates :email, presence: true")}))
				}
			}
		}
		if x := b.is("FB-001", Resolved); x.Round != 1 || x.ResolvedAt.IsZero() {
			t.Errorf("%+v", x)
		}
	})
}
