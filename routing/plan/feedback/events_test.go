package feedback

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/switchback-ci/switchback/routing"
)

// A request that goes through two rounds, one that is refused, and one that is withdrawn are all
// types of events.
func TestEvents(t *testing.T) {
	t.Parallel()
	b := newBook(t, planOf("root", "a: b", "c: b"))
	id := b.queued(fix("a", "b"))
	b.round(id, false)
	b.round(id, false)
	b.queued(Message{From: "c", To: "b", Type: ContextRequest, Text: "How is it called?", RequestedInfo: "name", Priority: Low})
	b.do(b.reg.Lifecycle(nil, b.now).Withdraw("FB-003", "b is gone"))
	b.round(b.queued(fix("c", "b")), true)
	b.send(fix("a", "nobody"))
	want := map[routing.EventType]Status{
		EventQueued: Queued, EventRejected: Rejected, EventDelivered: Delivered, EventProcessing: Processing, EventVerifying: Verifying,
		EventRequeued: Queued, EventResolved: Resolved, EventFailed: Failed, EventWithdrawn: Failed,
	}
	lines, err := Audit(b.events)
	if err != nil || len(lines) != len(b.events) {
		t.Fatal(err, len(lines))
	}
	seen := map[routing.EventType]bool{}
	for i, e := range b.events {
		seen[e.Type] = true
		if lines[i].Status != want[e.Type] {
			t.Errorf("%s leads to %s, want %s", e.Type, lines[i].Status, want[e.Type])
		}
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var back routing.Event
		if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back.Data, e.Data) {
			t.Errorf("%s: %v, %+v is not %+v", e.Type, err, back.Data, e.Data)
		}
	}
	for k := range want {
		if !seen[k] {
			t.Errorf("no %s", k)
		}
	}
}
