package feedback

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
)

// Whatever wrote an event, it does not break what the limits promise.
func TestFoldRefuses(t *testing.T) {
	t.Parallel()
	g := planOf("root", "a: b", "b: c", "c: d", "d: e")
	id := `"feedback_id":"FB-001","type":"FIX_REQUEST","source":"a","target":"b"`
	type ev struct {
		t    routing.EventType
		data string
	}
	message := `"plan":"p","feedback":{"from_node":"a","to_node":"b","feedback_type":"FIX_REQUEST"}}`
	first := ev{EventQueued, `{` + id + `,"round":1,"priority":"low",` + message}
	also := func(pairs ...string) ev { return ev{EventQueued, strings.NewReplacer(pairs...).Replace(first.data)} }
	at := func(last routing.EventType) []ev {
		life := []ev{first}
		for _, t := range []routing.EventType{EventDelivered, EventProcessing, EventVerifying} {
			if life = append(life, ev{t, `{` + id + `,"round":1,"outcome":{"ok":true}}`}); t == last {
				return life
			}
		}
		return life[:1]
	}
	for name, c := range map[string]struct {
		life []ev
		next ev
		says string
	}{
		"a third round":               {at(EventVerifying), ev{EventRequeued, `{` + id + `,"round":3,"priority":"low","outcome":{"ok":false}}`}, "round 3"},
		"the same round again":        {at(EventVerifying), ev{EventRequeued, `{` + id + `,"round":1,"priority":"low","outcome":{"ok":false}}`}, "round 1"},
		"a round on the way":          {at(EventDelivered), ev{EventProcessing, `{` + id + `,"round":2}`}, "round 2"},
		"no priority":                 {at(EventVerifying), ev{EventRequeued, `{` + id + `,"round":2,"priority":"x","outcome":{"ok":false}}`}, "priority"},
		"a round without outcome":     {at(EventVerifying), ev{EventRequeued, `{` + id + `,"round":2,"priority":"low"}`}, "without an outcome"},
		"queued as if it were new":    {at(EventVerifying), ev{EventQueued, strings.Replace(first.data, `"round":1`, `"round":2`, 1)}, "FB-001 is verifying: queued does not follow"},
		"a run without outcome":       {at(EventProcessing), ev{EventVerifying, `{` + id + `,"round":1}`}, "without an outcome"},
		"withdrawn, and yet verified": {at(EventProcessing), ev{EventVerifying, `{` + id + `,"round":1,"withdrawn":"x"}`}, "without an outcome"},
		"withdrawn for nothing":       {at(EventProcessing), ev{EventWithdrawn, `{` + id + `,"round":1}`}, "without a reason"},
		"failed without a run":        {at(EventDelivered), ev{EventFailed, `{` + id + `,"round":1,"outcome":{"ok":false}}`}, "is delivered: failed does not follow"},
		"a failure that resolves":     {at(EventVerifying), ev{EventResolved, `{` + id + `,"round":1,"outcome":{"ok":false}}`}, "does not lead to resolved"},
		"a success that fails":        {at(EventVerifying), ev{EventFailed, `{` + id + `,"round":1,"outcome":{"ok":true}}`}, "does not lead to failed"},
		"another's message":           {at(""), ev{EventDelivered, `{"feedback_id":"FB-001","type":"FIX_REQUEST","source":"x","target":"b","round":1}`}, "another's"},
		"begun with another's":        {nil, also(`"source":"a"`, `"source":"x"`), "another's"},
		"a feedback from nowhere":     {at(""), ev{EventDelivered, `{"feedback_id":"FB-003"}`}, "no such feedback"},
		"a place left out":            {at(""), also(`FB-001`, `FB-003`), "no such feedback"},
		"no message":                  {nil, ev{EventQueued, `{` + id + `,"round":1}`}, "without its message"},
		"rejected for nothing":        {nil, ev{EventRejected, `{` + id + `,` + message}, "without a reason"},
		"rejected in a round":         {nil, ev{EventRejected, `{` + id + `,"round":1,"refusal":{"why":"vague","text":"x"},` + message}, "without a reason"},
		"begun in the middle":         {nil, ev{EventVerifying, first.data}, "no such feedback"},
		"begun in round 2":            {nil, also(`"round":1`, `"round":2`), "round 2"},
		"begun without priority":      {nil, also(`"low"`, `"x"`), `priority "x"`},
		"to itself":                   {nil, also(`"target":"b"`, `"target":"a"`, `"to_node":"b"`, `"to_node":"a"`), "Feedback cycle detected"},
		"a circle":                    {at(""), also(`FB-001`, `FB-002`, `"a"`, `"b"`, `"b"`, `"a"`), "Feedback cycle detected"},
		"no JSON":                     {nil, ev{EventQueued, `[]`}, "unreadable"},
		"an unknown type":             {nil, ev{"feedback.danced", first.data}, "unknown event type"},
	} {
		var events []routing.Event
		for _, e := range c.life {
			events = append(events, routing.Event{Type: e.t, At: t0, Data: json.RawMessage(e.data)})
		}
		if _, err := Fold(events); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, err := Fold(append(events, routing.Event{Type: c.next.t, At: t0, Data: json.RawMessage(c.next.data)}))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	if _, err := Fold([]routing.Event{{Type: routing.EventRun}}); err == nil {
		t.Error("a run is no edge")
	}
	// A round that the pair has used for another feedback is not had twice.
	b := newBook(t, g)
	b.queued(fix("a", "b"))
	b.queued(fix("a", "b"))
	b.begin("FB-001")
	b.do(b.reg.Lifecycle(g, b.now).Processed("FB-001", Outcome{OK: true}))
	next := b.rec("FB-001").subject()
	next.Round = 2
	if _, err := b.reg.Apply(event(RequestRequeued{next, Low, &Outcome{}}, b.now)); err == nil {
		t.Error("a third round of a pair")
	}
}

// A register is a value: what follows from it in one way does not touch what
// follows in another.
func TestRegistersShareNothing(t *testing.T) {
	t.Parallel()
	b := newBook(t, planOf("", "a: v w x y z", "y: a", "z: a"))
	for _, to := range []string{"v", "w", "x"} { // three of a list with a capacity of four
		b.queued(fix("a", to))
	}
	var regs []State
	for _, to := range []string{"y", "z"} {
		s, err := b.reg.Outbox("p", b.g, b.now).Send(fix("a", to))
		if err != nil {
			t.Fatal(err)
		}
		r, err := b.reg.Apply(s.Events[0])
		if err != nil {
			t.Fatal(err)
		}
		regs = append(regs, r)
	}
	for i, from := range []string{"y", "z"} {
		s, err := regs[i].Outbox("p", b.g, b.now).Send(fix(from, "a"))
		if err != nil || s.Refusal == nil || s.Refusal.Why != Cycle {
			t.Errorf("%s to a: %+v %v", from, s.Refusal, err)
		}
	}
}
