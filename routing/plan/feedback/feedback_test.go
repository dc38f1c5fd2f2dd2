package feedback

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

var t0 = time.Date(2025, 1, 21, 14, 0, 0, 0, time.UTC)

// plan is a graph for tests.
type plan struct {
	root   string
	parent map[string]string
	deps   map[string][]string
	nodes  map[string]bool
}

func (p plan) Has(n string) bool             { return p.nodes[n] }
func (p plan) Parent(n string) string        { return p.parent[n] }
func (p plan) DependsOn(n string) []string   { return p.deps[n] }
func (p plan) Root() string                  { return p.root }
func (p plan) link(from string, to []string) { p.deps[from] = append(p.deps[from], to...) }

// planOf reads "a: b c" as a depends on b and c, and "a < b" as b planned a.
func planOf(root string, lines ...string) plan {
	p := plan{root, map[string]string{}, map[string][]string{}, map[string]bool{}}
	for _, l := range lines {
		if a, b, ok := strings.Cut(l, " < "); ok {
			p.nodes[a], p.nodes[b], p.parent[a] = true, true, b
			continue
		}
		a, deps, _ := strings.Cut(l, ":")
		p.nodes[a] = true
		for _, d := range strings.Fields(deps) {
			p.nodes[d] = true
		}
		p.link(a, strings.Fields(deps))
	}
	return p
}

// book is a register under test, with a clock of its own.
type book struct {
	t      testing.TB
	g      Graph
	events []routing.Event
	reg    State
	now    time.Time
}

func newBook(t testing.TB, g Graph) *book { return &book{t: t, g: g, now: t0} }

// do appends events and applies them.
func (b *book) do(events []routing.Event, err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
	b.events = append(b.events, events...)
	b.now = b.now.Add(time.Second)
	for _, e := range events {
		if b.reg, err = b.reg.Apply(e); err != nil {
			b.t.Fatal(err)
		}
	}
}

func fix(from, to string) Message {
	return Message{From: from, To: to, Type: FixRequest, Text: from + " fails", Priority: Medium, SuggestedFix: "fix " + to}
}

func (b *book) send(m Message) Sent {
	b.t.Helper()
	s, err := b.reg.Outbox("p", b.g, b.now).Send(m)
	b.do(s.Events, err)
	return s
}

func (b *book) queued(m Message) string {
	b.t.Helper()
	s := b.send(m)
	if s.Refusal != nil {
		b.t.Fatalf("%s: %v", m, s.Refusal)
	}
	return s.ID
}

func (b *book) refused(m Message, want string) Sent {
	b.t.Helper()
	s := b.send(m)
	if s.Refusal == nil || s.Refusal.Text != want || s.Status != Rejected {
		b.t.Fatalf("%s: refused with %+v, want %q", m, s.Refusal, want)
	}
	return s
}

func (b *book) rec(id string) Record {
	b.t.Helper()
	x, ok := b.reg.ByID(id)
	if !ok {
		b.t.Fatalf("no %s", id)
	}
	return x
}

func (b *book) is(id string, want Status) Record {
	b.t.Helper()
	x := b.rec(id)
	if x.Status != want {
		b.t.Fatalf("%s is %s, want %s", id, x.Status, want)
	}
	return x
}

func (b *book) begin(id string) {
	b.t.Helper()
	b.do(b.reg.Lifecycle(nil, b.now).Deliver(id))
	b.do(b.reg.Lifecycle(nil, b.now).Begin(id))
}

// round goes once through fix and verification.
func (b *book) round(id string, verified bool) {
	b.t.Helper()
	b.begin(id)
	x := b.rec(id)
	if x.Message.Type == ContextRequest {
		b.do(b.reg.Lifecycle(nil, b.now).Answer(id, "it is so", nil))
	} else {
		b.do(b.reg.Lifecycle(b.g, b.now).Processed(id, Outcome{OK: true, Summary: fmt.Sprintf("fix of round %d", x.Round), Files: []string{"fixed.go"}}))
	}
	b.do(b.reg.Lifecycle(b.g, b.now).Verified(id, Outcome{OK: verified, Trace: fmt.Sprintf("trace of round %d", x.Round)}))
}

func ids(xs []Record) string {
	var out []string
	for _, x := range xs {
		out = append(out, x.ID)
	}
	return strings.Join(out, " ")
}

func TestTypesAndPriorities(t *testing.T) {
	t.Parallel()
	t.Run("S3-1 four types", func(t *testing.T) {
		want := []Type{"FIX_REQUEST", "CONTEXT_REQUEST", "DEPENDENCY_MISSING", "ARCHITECTURE_ISSUE"}
		if !slices.Equal(Types(), want) || Type("OTHER").Valid() || !FixRequest.Valid() {
			t.Error(Types())
		}
	})
	t.Run("S3-6 critical before high before medium before low", func(t *testing.T) {
		b := newBook(t, planOf("root", "a: x", "b: y", "c: z", "d: w"))
		var got []string
		for i, p := range []Priority{Low, High, Critical, Medium} {
			m := fix(string(rune('a'+i)), []string{"x", "y", "z", "w"}[i])
			m.Priority = p
			b.queued(m)
		}
		for _, x := range b.reg.Of("p").Queue() {
			got = append(got, string(x.Priority))
		}
		if strings.Join(got, " ") != "critical high medium low" {
			t.Error(got)
		}
	})
	t.Run("of one priority what came first is first, and what is queued again comes last", func(t *testing.T) {
		b := newBook(t, planOf("root", "a: x", "b: x", "c: x"))
		for _, n := range []string{"a", "b", "c"} {
			m := fix(n, "x")
			m.Priority = Critical // cannot be raised
			b.queued(m)
		}
		b.round("FB-001", false)
		if got := ids(b.reg.Of("p").Queue()); got != "FB-002 FB-003 FB-001" {
			t.Error(got)
		}
		if b.reg.Of("another plan").Queue() != nil {
			t.Error("another plan's queue")
		}
	})
	t.Run("the state routed is read as delivered", func(t *testing.T) {
		if s, ok := ParseStatus("routed"); s != Delivered || !ok {
			t.Error(s, ok)
		}
		if _, ok := ParseStatus("lost"); ok {
			t.Error("lost is a state")
		}
	})
	t.Run("S3-13 each type has its own route and resolution", func(t *testing.T) {
		b := newBook(t, planOf("root", "test: model", "test < feature"))
		m := fix("test", "model")
		for _, c := range []struct {
			typ    Type
			to     string
			target Do
			why    string
		}{
			{FixRequest, "model", Rework, ""},
			{ContextRequest, "model", Reply, ""},
			{DependencyMissing, "root", Replan, ""},
			{DependencyMissing, "model", Replan, "DEPENDENCY_MISSING goes to the root or to a parent of 'test': 'model' plans nothing"},
			{ArchitectureIssue, "feature", Replan, ""},
			{ArchitectureIssue, "model", Replan, "ARCHITECTURE_ISSUE goes to the root or to a parent of 'test': 'model' plans nothing"},
		} {
			m.Type, m.To, m.RequestedInfo, m.SuggestedAction = c.typ, c.to, "signature", "add it"
			if c.why != "" {
				b.refused(m, c.why)
				continue
			}
			id := b.queued(m)
			b.begin(id)
			w := b.reg.Of("p").Work()
			if len(w) != 1 || w[0].Do != c.target || w[0].Node != c.to || w[0].Feedback == nil {
				t.Fatalf("%s: %+v", c.typ, w)
			}
			if c.typ == ContextRequest {
				b.do(b.reg.Lifecycle(nil, b.now).Answer(id, "pay(amount)", nil))
			} else {
				b.do(b.reg.Lifecycle(b.g, b.now).Processed(id, Outcome{OK: true}))
			}
			w = b.reg.Of("p").Work()
			if len(w) != 1 || w[0].Do != Verify || w[0].Node != "test" || w[0].Feedback != nil || (w[0].Answer != nil) != (c.typ == ContextRequest) {
				t.Fatalf("%s: %+v", c.typ, w)
			}
			b.do(b.reg.Lifecycle(b.g, b.now).Verified(id, Outcome{OK: true}))
		}
	})
}

func TestRouting(t *testing.T) {
	t.Parallel()
	g := planOf("root", "e2e: controller", "controller: service", "service: model", "service < feature", "alone:")
	t.Run("S3-16 validated, then the target found, then the limits, then queued", func(t *testing.T) {
		b := newBook(t, g)
		m := fix("model", "e2e") // no ancestor, and no suggestion
		m.SuggestedFix = ""
		b.refused(m, "Vague feedback: FIX_REQUEST needs suggested_fix")
		for range 2 {
			b.round(b.queued(fix("service", "model")), true)
		}
		b.refused(fix("model", "service"), "Target node 'service' not found in ancestors of 'model'")
		s := b.refused(fix("service", "model"), "Max feedback rounds (2) exceeded for service → model")
		if len(b.reg.Of("p").Queue()) != 1 || s.Escalation == nil {
			t.Errorf("only the escalation is queued: %s", ids(b.reg.Of("p").Queue()))
		}
	})
	t.Run("S3-18 queueing never blocks, whatever is running", func(t *testing.T) {
		b := newBook(t, g)
		b.begin(b.queued(fix("service", "model")))
		b.is(b.queued(fix("controller", "model")), Queued)
		if _, ok := b.reg.Of("p").Next(); ok {
			t.Error("it would interrupt the model's run")
		}
		if w := b.reg.Of("p").Work(); len(w) != 1 || w[0].ID != "FB-001" {
			t.Errorf("%+v", w)
		}
	})
	t.Run("S3-19 queued with a timestamp in UTC and a round", func(t *testing.T) {
		b := newBook(t, g)
		b.now = t0.In(time.FixedZone("KST", 9*3600))
		x := b.rec(b.queued(fix("service", "model")))
		if x.Status != Queued || x.Round != 1 || x.SentAt.Location() != time.UTC || !x.SentAt.Equal(t0) || !x.QueuedAt.Equal(t0) {
			t.Errorf("%+v", x)
		}
	})
	t.Run("S3-20 ancestors are parents, dependencies and the root", func(t *testing.T) {
		for node, want := range map[string]string{
			"e2e": "controller service feature model root", "service": "feature model root", "alone": "root", "root": "", "nobody": "", "": "",
		} {
			if got := strings.Join(Ancestors(g, node), " "); got != want {
				t.Errorf("%s: %q, want %q", node, got, want)
			}
		}
		if got := Ancestors(planOf("", "a: b ghost"), "a"); !slices.Equal(got, []string{"b", "ghost"}) {
			t.Error(got)
		}
		p := planOf("", "a: b")
		p.deps["a"] = append(p.deps["a"], "ghost")
		if got := Ancestors(p, "a"); !slices.Equal(got, []string{"b"}) {
			t.Errorf("a node that is not in the plan: %v", got)
		}
	})
	t.Run("S3-21 a target that is no ancestor", func(t *testing.T) {
		b := newBook(t, g)
		b.refused(fix("service", "alone"), "Target node 'alone' not found in ancestors of 'service'")
		b.refused(fix("nobody", "root"), "Target node 'root' not found in ancestors of 'nobody'")
	})
	t.Run("S3-22 the search ends on a graph that circles", func(t *testing.T) {
		p := planOf("a", "a: b c", "b: c a", "c: a b c", "a < a", "b < c", "c < b")
		if got := Ancestors(p, "a"); !slices.Equal(got, []string{"b", "c"}) {
			t.Error(got)
		}
	})
	t.Run("S3-23 no feedback to oneself", func(t *testing.T) {
		b := newBook(t, planOf("a", "a: b a", "b: a"))
		b.refused(fix("a", "a"), "Target node 'a' not found in ancestors of 'a'")
		b.refused(fix("b", "b"), "Target node 'b' not found in ancestors of 'b'")
	})
	t.Run("S3-24 delivered on delivery", func(t *testing.T) {
		b := newBook(t, g)
		id := b.queued(fix("service", "model"))
		x, ok := b.reg.Of("p").Next()
		if !ok || x.ID != id {
			t.Fatal(x.ID, ok)
		}
		b.do(b.reg.Lifecycle(nil, b.now).Deliver(id))
		if x := b.is(id, Delivered); x.DeliveredAt.IsZero() {
			t.Error("not dated")
		}
		var bad *StateError
		if _, err := b.reg.Lifecycle(nil, b.now).Deliver(id); !errors.As(err, &bad) || bad.Is != Delivered {
			t.Errorf("delivered twice: %v", err)
		}
		if _, err := b.reg.Lifecycle(nil, b.now).Deliver("FB-9"); !errors.Is(err, ErrUnknown) {
			t.Error(err)
		}
	})
	t.Run("S3-25 one record per change", func(t *testing.T) {
		b := newBook(t, g)
		b.queued(fix("controller", "service")) // the same pair's other feedback is left alone
		n := len(b.events)
		b.round(b.queued(fix("service", "model")), true)
		lines, err := Audit(b.events[n:])
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range lines {
			got = append(got, l.FeedbackID+" "+string(l.Status))
		}
		if want := "FB-002 queued, FB-002 delivered, FB-002 processing, FB-002 verifying, FB-002 resolved"; strings.Join(got, ", ") != want {
			t.Error(got)
		}
		b.is("FB-001", Queued)
	})
	t.Run("S3-15 what is refused is recorded as rejected", func(t *testing.T) {
		b := newBook(t, g)
		s, err := b.reg.Outbox("p", g, b.now).SendJSON([]byte(`{"from_node":"service","target":"model","feedback_type":"NONSENSE","message":"x","priority":"low"}`))
		b.do(s.Events, err)
		x := b.is("FB-001", Rejected)
		if x.Refusal.Text != "Invalid feedback_type: NONSENSE" || x.Message.From != "service" || x.Message.To != "model" || x.Round != 0 {
			t.Errorf("%+v", x)
		}
		if s, err = b.reg.Outbox("p", g, b.now).SendJSON([]byte(`nothing`)); err != nil || s.Status != Rejected || len(s.Events) != 1 {
			t.Errorf("%+v %v", s, err)
		}
		b.refused(fix("service", "nobody"), "Target node 'nobody' not found in ancestors of 'service'")
		if _, err := b.reg.Lifecycle(nil, b.now).Deliver("FB-001"); err == nil {
			t.Error("a rejected one was delivered")
		}
		if b.reg.Rounds("p", "service", "model") != 0 {
			t.Error("a rejected one counts as a round")
		}
	})
	t.Run("what was sent under a key is not sent again", func(t *testing.T) {
		b := newBook(t, g)
		m := fix("service", "model")
		m.Key = "comment/1"
		first := b.send(m)
		again := b.send(m)
		if again.ID != first.ID || again.Events != nil || len(b.reg.Records) != 1 {
			t.Errorf("%+v", again)
		}
	})
}
