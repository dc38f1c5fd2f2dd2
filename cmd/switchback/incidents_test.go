package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/internal/sample"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/stats"
)

// `switchback stats` counts the incidents of a ledger, and `switchback history` the failures of a test
// in runs that were on hold for one.
func TestStatsAndHistoryS5_78(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	led, err := ledger.OpenPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	add := func(key string, events ...routing.Event) {
		t.Helper()
		_, seen, err := led.Load(t.Context(), key)
		if err == nil {
			_, err = led.Append(t.Context(), key, seen, events)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	at := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	o := sample.Incidents{Repo: "acme/shop", At: at}
	o.Fail("getaddrinfo EAI_AGAIN registry.npmjs.org", 1, 4)
	o.End("mona")
	o.Fail("dial tcp: lookup db.internal: no such host", 5, 9)
	add(o.Stream().Key, o.Stream().Events...)

	c := routing.Case{Key: "acme/shop#5"}
	ref := o.Newest().Ref()
	v := routing.Verdict{Checkpoint: "ci", Result: routing.Fail, Class: routing.EnvIssue, Run: routing.Run{ID: "1", SHA: "aa"}, At: at, Incident: &ref}
	v.Failures = []routing.Failure{{Name: "TestStock", Kind: "test", Class: routing.EnvIssue, Fingerprint: "x"}}
	add(c.Key, routing.RunEvent(c.Key, v, routing.Decide(c, v, routing.DefaultPolicy(), at), at))

	r := statsOf(t, "--ledger", dir)
	if got := r.Incidents[routing.IncidentEnvironment]; got != (stats.Incidents{Opened: 2, Open: 1, Checkpoints: 9, Restarted: 4}) || r.Incidents[routing.IncidentBase].Opened != 0 || r.Total.Incident != 1 {
		t.Errorf("S5-78: %+v, %d runs", r.Incidents, r.Total.Incident)
	}
	if text := run(t, "", "stats", "--ledger", dir).out; !strings.Contains(text, "2 of the environment, 1 not over; 9 checkpoints on hold, 4 restarted") {
		t.Errorf("S5-78:\n%s", text)
	}
	if late := statsOf(t, "--ledger", dir, "--since", "2026-05-04T12:05:00Z"); late.Incidents[routing.IncidentEnvironment].Opened != 1 {
		t.Errorf("S5-78: %+v", late.Incidents)
	}
	if text := run(t, "", "history", "--ledger", dir, "TestStock").out; !strings.Contains(text, "incidents:      1 of 1 failures in runs that were on hold for one") {
		t.Errorf("S5-78:\n%s", text)
	}
	var all []historyOf
	if err := json.Unmarshal([]byte(run(t, "", "history", "--ledger", dir, "--json", "TestStock").out), &all); err != nil || len(all) != 1 || all[0].Incident != 1 {
		t.Errorf("S5-78: %v %+v", err, all)
	}
}
