package export_test

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/export"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/internal/sample"
)

// A ledger that was copied has the same incidents, and the tables hold them with their members.
func TestIncidentsS5_78(t *testing.T) {
	t.Parallel()
	o := sample.Incidents{Repo: "acme/shop", At: time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)}
	o.Fail("getaddrinfo EAI_AGAIN registry.npmjs.org", 1, 4)
	o.End("mona")
	o.Fail("dial tcp: lookup db.internal: no such host", 5, 9)
	o.File(77)
	o.Record("", o.Steps().Leave("acme/shop#6", "", "closed"), nil)
	from, to := &ledger.Memory{}, &ledger.Memory{}
	if _, err := from.Append(t.Context(), o.Stream().Key, "", o.Stream().Events); err != nil {
		t.Fatal(err)
	}
	if _, err := ledger.Copy(t.Context(), from, to); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "x.db")
	for range 2 { // writing it again changes nothing
		if _, err := export.Export(t.Context(), to, file); err != nil {
			t.Fatal(err)
		}
	}
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for query, want := range map[string]int{
		"SELECT count(*) FROM incidents": 2,
		"SELECT count(*) FROM incidents WHERE standing = 'over' AND ended_at > opened_at AND resolved_by = 'mona' AND json_extract(causes, '$[0].service') = 'registry.npmjs.org'": 1,
		"SELECT count(*) FROM incidents WHERE standing = 'open' AND ended_at IS NULL AND issue = 77":                                                                               1,
		"SELECT count(*) FROM incident_members": 9,
		"SELECT count(*) FROM incident_members m JOIN incidents i ON i.id = m.incident_id WHERE i.standing = 'over' AND m.restarted_at IS NOT NULL":                                         4,
		"SELECT count(*) FROM incident_members WHERE session_id = 'acme/shop#6' AND how = 'closed' AND left_at IS NOT NULL AND restarted_at IS NULL AND author = 'dev0' AND run_id = '106'": 1,
	} {
		var got int
		if err := db.QueryRowContext(t.Context(), query).Scan(&got); err != nil || got != want {
			t.Errorf("S5-78: %s is %d, want %d (%v)", query, got, want, err)
		}
	}
}
