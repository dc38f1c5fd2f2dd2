package export

import (
	"context"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/pipeline"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
)

var start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// lived returns a ledger in which a case was returned for a fix, escalated and
// resumed by a human.
func lived(t *testing.T) ledger.Ledger {
	t.Helper()
	led := new(ledger.Memory)
	now := start
	line := &pipeline.Pipeline{Ledger: led, Now: func() time.Time { now = now.Add(time.Minute); return now }}
	policy := func(string) routing.Policy { p := routing.DefaultPolicy(); p.Max = 1; return p }
	ctx := context.Background()
	for i, sha := range []string{"aaa", "bbb"} {
		v := routing.Verdict{
			Checkpoint: "ci", Result: routing.Fail, Class: routing.LogicError, Reason: "1 of 2 tests failed", Counts: routing.Counts{Tests: 2, Passed: 1, Failed: 1},
			Run:      routing.Run{Repository: "acme/app", ID: string(rune('1' + i)), Attempt: 1, SHA: sha},
			Failures: []routing.Failure{{Name: "TestAdd", Class: routing.LogicError, Fingerprint: "f1"}},
		}
		if _, err := line.Record(ctx, "acme/app#1", v, policy); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := line.Act(ctx, "acme/app#1", routing.HumanActed{Checkpoint: "ci", Action: routing.HumanResume, By: "mona"}, policy); err != nil {
		t.Fatal(err)
	}
	return led
}

// open returns the database for questions.
func open(t *testing.T, file string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", database.URI(file)+"?_pragma=foreign_keys(1)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func ask(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	var s sql.NullString
	if err := db.QueryRow(query).Scan(&s); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return s.String
}

func TestExport(t *testing.T) {
	led := lived(t)
	file := filepath.Join(t.TempDir(), "a b#?%.db")
	first, err := Export(context.Background(), led, file)
	if err != nil {
		t.Fatal(err)
	}
	db := open(t, file)
	for query, want := range map[string]string{
		"SELECT group_concat(result, ' ') FROM (SELECT result FROM routing_history ORDER BY iteration)": "RETRY ESCALATE_MAX_RETRY",
		"SELECT reason FROM routing_history WHERE iteration = 1":                                        "LOGIC_ERROR",
		"SELECT user_id||' '||checkpoint FROM answers WHERE action = 'resume'":                          "mona ci",
		"SELECT explanation FROM routing_history WHERE iteration = 2":                                   "still failing after 1 of 1 fix attempts",
		"SELECT count(*) FROM answers":                                                                  "1",
	} {
		if got := ask(t, db, query); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	again, err := Export(context.Background(), led, file)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range again {
		if c.Changed != 0 || c.Rows != first[i].Rows {
			t.Errorf("written again: %+v after %+v", c, first[i])
		}
	}
}

func TestEscalationRows(t *testing.T) {
	led := new(ledger.Memory)
	ctx := context.Background()
	data := func(s string) routing.Event {
		return routing.Event{Type: escalation.EventOpened, At: start, Data: json.RawMessage(s)}
	}
	events := []routing.Event{
		data(`{"record":{"id":"e1","session_id":"acme/app#1","kind":"ESCALATE_ENV","type":"blocked","severity":"high","title":"T","description":"D","context":"C","suggested_actions":["a","b"],"members":[{"case":"acme/app#1","checkpoint":"ci","kind":"ESCALATE_ENV","type":"blocked"}]}}`),
	}
	reg, err := escalation.Fold(events)
	if err != nil {
		t.Fatal(err)
	}
	left, err := reg.Recorder(start.Add(time.Hour)).Leave("e1", "acme/app#1", "ci", escalation.Released, "mona", "abc")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := led.Append(ctx, routing.StreamKey("acme/app", routing.StreamEscalations), "", events); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "l.db")
	if _, err := Export(ctx, led, file); err != nil {
		t.Fatal(err)
	}
	db := open(t, file)
	t.Run("S2-63 S2-73 the table of escalations holds all fields", func(t *testing.T) {
		const fields = "id, session_id, port_id, type, severity, title, description, context, suggested_actions, resolved_by, resolved_at, created_at"
		if got := ask(t, db, "SELECT group_concat(name, ', ') FROM pragma_table_info('escalations')"); got != fields {
			t.Errorf("columns %s", got)
		}
		got := ask(t, db, "SELECT id||'|'||session_id||'|'||type||'|'||severity||'|'||title||'|'||description||'|'||json_extract(context,'$.text')||'|'||json_extract(suggested_actions,'$[1]')||'|'||created_at FROM escalations WHERE resolved_by IS NULL AND resolved_at IS NULL AND port_id IS NULL")
		if want := "e1|acme/app#1|blocked|high|T|D|C|b|2026-03-01T09:00:00Z"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
	t.Run("S2-71 a resolved one says who and when", func(t *testing.T) {
		_, seen, _ := led.Load(ctx, routing.StreamKey("acme/app", routing.StreamEscalations))
		if _, err := led.Append(ctx, routing.StreamKey("acme/app", routing.StreamEscalations), seen, left); err != nil {
			t.Fatal(err)
		}
		counts, err := Export(ctx, led, file)
		if err != nil {
			t.Fatal(err)
		}
		if counts[2].Changed != 1 {
			t.Errorf("%+v", counts)
		}
		if got := ask(t, db, "SELECT resolved_by||' '||resolved_at FROM escalations"); got != "mona 2026-03-01T10:00:00Z" {
			t.Error(got)
		}
	})
}

// TestConstraints: what the ledger never writes, nobody else can either.
func TestConstraints(t *testing.T) {
	file := filepath.Join(t.TempDir(), "l.db")
	if _, err := Export(context.Background(), new(ledger.Memory), file); err != nil {
		t.Fatal(err)
	}
	db := open(t, file)
	must := func(q string) {
		t.Helper()
		if _, err := db.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	must(`INSERT INTO audit_logs VALUES ('TASK-0001', '2026-01-01', 't', 'm', 'a', NULL, NULL, NULL, 'success', NULL, NULL, NULL, 0, 0, 1)`)
	must(`INSERT INTO direct_channels (id, session_a, session_b, created_at) VALUES ('c', 'impl', 'test', '2026-01-01T00:00:00Z')`)
	const feedback = `INSERT INTO user_feedback VALUES ('%ID', '2026-01-01', NULL, '{"feedback_type":"%TYPE","level_before":%LEVEL,"level_after":20}', 'r', '%DOMAIN', 's', 'High', '%AUDIT')`
	fill := func(q string, pairs ...string) string {
		return strings.NewReplacer("%ID", pairs[0], "%TYPE", pairs[1], "%LEVEL", pairs[2], "%DOMAIN", pairs[3], "%AUDIT", pairs[4]).Replace(q)
	}
	must(fill(feedback, "FB-0001", "free_text", "10", "workflow_optimization", "TASK-0001"))
	for name, q := range map[string]string{
		"S1-19 an id that is none of the sequence": fill(feedback, "FB-x", "free_text", "10", "workflow_optimization", "TASK-0001"),
		"S1-19 an id given twice":                  fill(feedback, "FB-0001", "free_text", "10", "workflow_optimization", "TASK-0001"),
		"S1-29 another type of feedback":           fill(feedback, "FB-0002", "praise", "10", "workflow_optimization", "TASK-0001"),
		"S1-31 a level that is none":               fill(feedback, "FB-0002", "free_text", "15", "workflow_optimization", "TASK-0001"),
		"S1-31 a level that is no integer":         fill(feedback, "FB-0002", "free_text", `"10"`, "workflow_optimization", "TASK-0001"),
		"S1-24 another domain":                     fill(feedback, "FB-0002", "free_text", "10", "other", "TASK-0001"),
		"S1-27 an audit row that does not exist":   fill(feedback, "FB-0002", "free_text", "10", "workflow_optimization", "TASK-0002"),
		"S2-7 another type of message":             `INSERT INTO direct_messages VALUES ('m', 'c', 'a', 'b', 'gossip', NULL, NULL, '2026-01-01T00:00:00Z')`,
		"a message of no channel":                  `INSERT INTO direct_messages VALUES ('m', 'd', 'a', 'b', 'query', NULL, NULL, '2026-01-01T00:00:00Z')`,
		"S2-62 another severity":                   `INSERT INTO escalations VALUES ('e', 's', NULL, 'blocked', 'awful', 't', 'd', '{}', '[]', NULL, NULL, '2026-01-01T00:00:00Z')`,
		"S2-71 resolved by somebody at no time":    `INSERT INTO escalations VALUES ('e', 's', NULL, 'blocked', 'high', 't', 'd', '{}', '[]', 'mona', NULL, '2026-01-01T00:00:00Z')`,
		"a time that is none":                      `INSERT INTO audit_logs VALUES ('TASK-0002', 'yesterday', 't', 'm', 'a', NULL, NULL, NULL, 'success', NULL, NULL, NULL, 0, 0, 1)`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := db.Exec(q); err == nil {
				t.Errorf("%s was taken", q)
			}
		})
	}
	must(`INSERT INTO direct_messages VALUES ('m', 'c', 'a', 'b', 'result', NULL, NULL, '2026-01-01T00:00:00Z')`)
}

func TestExportRefuses(t *testing.T) {
	t.Run("a file that is no database is left as it is", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "notes.txt")
		if err := os.WriteFile(file, []byte("my notes, long enough to be mistaken"), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Export(context.Background(), lived(t), file)
		if err == nil || !strings.Contains(err.Error(), "notes.txt is no SQLite database") {
			t.Errorf("%v", err)
		}
		if data, _ := os.ReadFile(file); !strings.HasPrefix(string(data), "my notes") {
			t.Errorf("now it holds %q", data)
		}
	})
	t.Run("all or nothing", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "l.db")
		if _, err := Export(context.Background(), new(ledger.Memory), file); err != nil {
			t.Fatal(err)
		}
		db := open(t, file)
		// Somebody's own constraint is broken by the last table, when the others are written.
		if _, err := db.Exec(`CREATE TRIGGER no BEFORE INSERT ON routing_history BEGIN SELECT RAISE(ABORT, 'not here'); END`); err != nil {
			t.Fatal(err)
		}
		_, err := Export(context.Background(), lived(t), file)
		if err == nil || !strings.Contains(err.Error(), "routing_history") || !strings.Contains(err.Error(), "not here") {
			t.Errorf("%v", err)
		}
		if got := ask(t, db, "SELECT count(*) FROM escalations"); got != "0" {
			t.Errorf("%s rows of escalations stayed", got)
		}
	})
}
