package export

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/plan"
)

func TestPortRows(t *testing.T) {
	t.Parallel()
	ctx, led := context.Background(), new(ledger.Memory)
	call := plan.Escalation{ID: "b/api/escalation", Session: "b/api", Port: "api", Type: escalation.TestFailure, Severity: escalation.High, Title: "t", Text: "d",
		Context: map[string]any{"iterations": 4}, Suggested: []string{"read"}, CreatedAt: start}
	solved := call
	solved.ResolvedBy, solved.ResolvedAt = "switchback", start.Add(time.Hour)
	events := []plan.Event{
		{Kind: plan.ChannelOpened, Channel: &plan.Channel{ID: "c", SessionA: "impl", SessionB: "test", Status: plan.ChannelActive, CreatedAt: start}},
		{Kind: plan.DirectMessage, Message: &plan.Message{ID: "m1", ChannelID: "c", From: "impl", To: "test", Type: plan.ResultMessage, Payload: json.RawMessage(`{"attempt":1}`), CreatedAt: start}},
		{Kind: plan.DirectMessage, Message: &plan.Message{ID: "m2", ChannelID: "c", From: "test", To: "impl", Type: plan.QueryMessage, CreatedAt: start}},
		{Kind: plan.Delivered, IDs: []string{"m1"}, At: start.Add(time.Minute)},
		{Kind: plan.EscalationNew, Escalation: &call},
		{Kind: plan.EscalationResolved, Escalation: &solved},
		{Kind: plan.ChannelShut, Channel: &plan.Channel{ID: "c"}},
	}
	var recorded []routing.Event
	for _, e := range events {
		if e.At.IsZero() {
			e.At = start
		}
		recorded = append(recorded, e.Record())
	}
	for _, plan := range []string{"one", "two"} { // whose builds have the same names
		if _, err := led.Append(ctx, routing.PortKey("acme/app", plan, "api"), "", recorded); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "l.db")
	if _, err := Export(ctx, led, file); err != nil {
		t.Fatal(err)
	}
	db := open(t, file)
	for name, c := range map[string][2]string{
		"S2-11 channels":          {"SELECT group_concat(id||' '||session_a||' '||session_b||' '||status, ', ') FROM (SELECT * FROM direct_channels ORDER BY id)", "acme/app!ports/one/api/c impl test closed, acme/app!ports/two/api/c impl test closed"},
		"S2-12 messages":          {"SELECT group_concat(message_type||' '||from_session||' '||to_session||' '||coalesce(payload, 'none')||' '||coalesce(delivered_at, 'waits'), ', ') FROM (SELECT * FROM direct_messages WHERE channel_id LIKE '%/one/%' ORDER BY id)", "result impl test {\"attempt\":1} " + stamp(start.Add(time.Minute)) + ", query test impl none waits"},
		"S2-73 escalations":       {"SELECT group_concat(session_id||' '||port_id||' '||type||' '||severity||' '||resolved_by||' '||context||' '||suggested_actions) FROM escalations WHERE id LIKE '%/two/%'", `b/api api test_failure high switchback {"iterations":4} ["read"]`},
		"S2-73 one for each plan": {"SELECT count(*) FROM escalations", "2"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ask(t, db, c[0]); got != c[1] {
				t.Errorf("%s, want %s", got, c[1])
			}
		})
	}
}
