package export

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing/plan"
)

// The tables of channels take what a pair of workers sends, and nothing that a
// channel would refuse.
func TestDirectTables(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "l.db")
	if _, err := Export(context.Background(), new(ledger.Memory), file); err != nil {
		t.Fatal(err)
	}
	db := open(t, file)
	columns := func(table string) string {
		return ask(t, db, "SELECT group_concat(name || iif(dflt_value IS NULL, '', ' = ' || dflt_value), ', ') FROM pragma_table_info('"+table+"')")
	}
	var m plan.Mail
	c, err := m.Open("c", "b/api/impl", "b/api/test", start)
	if err == nil {
		err = m.Send(plan.Message{ID: "m", ChannelID: "c", From: c.SessionB, To: c.SessionA, Type: plan.FeedbackMessage, Payload: []byte(`{"success":false}`), CreatedAt: start})
	}
	if err != nil {
		t.Fatal(err)
	}
	const stamp = "2006-01-02T15:04:05Z07:00"
	t.Run("S2-11 direct_channels has the document's columns", func(t *testing.T) {
		if got := columns("direct_channels"); got != "id, session_a, session_b, status = 'active', created_at" {
			t.Error(got)
		}
		if _, err := db.Exec("INSERT INTO direct_channels (id, session_a, session_b, created_at) VALUES (?, ?, ?, ?)", c.ID, c.SessionA, c.SessionB, c.CreatedAt.Format(stamp)); err != nil {
			t.Fatal(err)
		}
		if got := ask(t, db, "SELECT status FROM direct_channels"); got != string(c.Status) {
			t.Errorf("status %q, a new channel is %q", got, c.Status)
		}
	})
	t.Run("S2-12 direct_messages has the document's columns", func(t *testing.T) {
		if got := columns("direct_messages"); got != "id, channel_id, from_session, to_session, message_type, payload, delivered_at, created_at" {
			t.Error(got)
		}
		x := m.Messages[0]
		const insert = "INSERT INTO direct_messages VALUES (?, ?, ?, ?, ?, ?, NULL, ?)"
		if _, err := db.Exec(insert, x.ID, x.ChannelID, x.From, x.To, string(x.Type), string(x.Payload), x.CreatedAt.Format(stamp)); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(insert, "n", "another", x.From, x.To, string(x.Type), nil, x.CreatedAt.Format(stamp)); err == nil {
			t.Error("a message on no channel is taken")
		}
		if got := ask(t, db, "SELECT json_extract(payload, '$.success')||' '||from_session FROM direct_messages WHERE delivered_at IS NULL"); got != "0 b/api/test" {
			t.Error(got)
		}
	})
}
