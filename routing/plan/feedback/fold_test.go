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
	first := `{` + id + `,"round":1,"status":"queued","plan":"p","priority":"low","feedback":{"from_node":"a","to_node":"b","feedback_type":"FIX_REQUEST"}}`
	at := func(status string) []string {
		life := []string{first}
		for _, s := range []string{"delivered", "processing", "verifying"} {
			if life = append(life, `{`+id+`,"round":1,"status":"`+s+`","outcome":{"ok":true}}`); s == status {
				return life
			}
		}
		return life[:1]
	}
	for name, c := range map[string]struct {
		life []string
		next string
		says string
	}{
		"a third round":               {at("verifying"), `{` + id + `,"round":3,"status":"queued","priority":"low","outcome":{"ok":false}}`, "round 3"},
		"the same round again":        {at("verifying"), `{` + id + `,"round":1,"status":"queued","priority":"low","outcome":{"ok":false}}`, "round 1"},
		"a round on the way":          {at("delivered"), `{` + id + `,"round":2,"status":"processing"}`, "round 2"},
		"no priority":                 {at("verifying"), `{` + id + `,"round":2,"status":"queued","priority":"x","outcome":{"ok":false}}`, "priority"},
		"a run without outcome":       {at("processing"), `{` + id + `,"round":1,"status":"verifying"}`, "without an outcome"},
		"withdrawn, and yet verified": {at("processing"), `{` + id + `,"round":1,"status":"verifying","withdrawn":"x"}`, "without an outcome"},
		"a failure that resolves":     {at("verifying"), `{` + id + `,"round":1,"status":"resolved","outcome":{"ok":false}}`, "does not lead to resolved"},
		"another's message":           {at(""), `{"feedback_id":"FB-001","type":"FIX_REQUEST","source":"x","target":"b","round":1,"status":"delivered"}`, "another's"},
		"a feedback from nowhere":     {at(""), `{"feedback_id":"FB-003","status":"delivered"}`, "no such feedback"},
		"no message":                  {nil, `{` + id + `,"round":1,"status":"queued"}`, "without its message"},
		"rejected for nothing":        {nil, `{` + id + `,"status":"rejected","feedback":{"from_node":"a","to_node":"b","feedback_type":"FIX_REQUEST"}}`, "without a reason"},
		"begun in the middle":         {nil, strings.Replace(first, "queued", "verifying", 1), "beginning"},
		"begun in round 2":            {nil, strings.Replace(first, `"round":1`, `"round":2`, 1), "round 2"},
		"to itself":                   {nil, strings.NewReplacer(`"target":"b"`, `"target":"a"`, `"to_node":"b"`, `"to_node":"a"`).Replace(first), "Feedback cycle detected"},
		"a circle":                    {at(""), strings.NewReplacer(`FB-001`, `FB-002`, `"a"`, `"b"`, `"b"`, `"a"`).Replace(first), "Feedback cycle detected"},
		"no JSON":                     {nil, `[]`, "unreadable"},
	} {
		var events []routing.Event
		for _, data := range c.life {
			events = append(events, routing.Event{Type: eventOf(Queued), At: t0, Data: json.RawMessage(data)})
		}
		if _, err := Fold(events); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, err := Fold(append(events, routing.Event{Type: eventOf(Queued), At: t0, Data: json.RawMessage(c.next)}))
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
	b.do(b.reg.Processed(g, "FB-001", Outcome{OK: true}, b.now))
	en := b.rec("FB-001").entry(Queued)
	en.Round, en.Priority, en.Outcome = 2, Low, &Outcome{}
	if _, err := b.reg.Apply(event(en, b.now)); err == nil {
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
		s, err := b.reg.Send("p", b.g, fix("a", to), b.now)
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
		s, err := regs[i].Send("p", b.g, fix(from, "a"), b.now)
		if err != nil || s.Refusal == nil || s.Refusal.Why != Cycle {
			t.Errorf("%s to a: %+v %v", from, s.Refusal, err)
		}
	}
}
