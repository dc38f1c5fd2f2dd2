package activity_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/internal/sample"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/activity"
	"github.com/switchback-ci/switchback/routing/quarantine"
	"github.com/switchback-ci/switchback/routing/trackingissue"
)

// changes returns the changes that events tell, in their order.
func changes(t *testing.T, key string, events []routing.Event) string {
	t.Helper()
	told, err := activity.Since(key, events, 0)
	if err != nil {
		t.Fatal(err)
	}
	inSteps(t, key, events, told)
	var out []string
	for _, e := range told {
		var x struct{ Change string }
		if err := json.Unmarshal(e.Data, &x); err != nil {
			t.Fatal(err)
		}
		out = append(out, x.Change)
	}
	return strings.Join(out, " ")
}

// What happens to incidents is told once, whenever it is looked at: that one opened, has its issue, is
// over, and what each case did.
func TestOfIncidentsS5_78(t *testing.T) {
	t.Parallel()
	o := sample.Incidents{Repo: "acme/shop", At: noon}
	o.Fail("getaddrinfo EAI_AGAIN registry.npmjs.org", 1, 4)
	o.File(7)
	o.End("mona")
	want := "opened joined filed resolved canary restarted passed left restarted restarted restarted finished"
	if got := changes(t, o.Stream().Key, o.Stream().Events); got != want {
		t.Errorf("S5-78: %s,\nwant %s", got, want)
	}
	o.Fail("dial tcp: lookup db.internal: no such host", 5, 7)
	o.Record("mona", o.Steps().Close(o.Newest().ID, "x", true), nil)
	told, err := activity.Since(o.Stream().Key, o.Stream().Events, 0)
	if err != nil {
		t.Fatal(err)
	}
	var x activity.IncidentChange
	last := told[len(told)-1]
	if err := json.Unmarshal(last.Data, &x); err != nil || x.Change != "dismissed" || x.By != "mona" || x.OnHold != 3 || x.Kind != routing.IncidentEnvironment || x.Cause != "env-dns: db.internal" || last.Repo != "acme/shop" {
		t.Errorf("S5-78: %+v %+v %v", last, x, err)
	}
}

// What happens to a flaky test is told once, whenever it is looked at.
func TestOfAQuarantineS5_100(t *testing.T) {
	t.Parallel()
	ref := routing.TestRef{Checkpoint: "ci", Suite: "calc", Name: "TestAdd"}
	var st quarantine.State
	var events []routing.Event
	at := noon
	record := func(by string, ps ...quarantine.Payload) {
		t.Helper()
		for _, e := range quarantine.Events(ps, by, at) {
			var err error
			if st, err = st.Apply(e); err != nil {
				t.Fatal(err)
			}
			events = append(events, e)
		}
	}
	steps := func() quarantine.Steps { return quarantine.Steps{State: st, Now: at} }
	id := quarantine.IDOf(ref)
	for n := range 2 {
		run := routing.Run{ID: fmt.Sprint(n), SHA: fmt.Sprint("abc", n)}
		record("", steps().Flaked([]quarantine.Flaked{{Test: ref, Evidence: quarantine.Evidence{Case: fmt.Sprint("acme/shop#", n+1), Failed: run, Passed: run, At: at}}})...)
	}
	e, _ := st.Entry(id)
	record("", quarantine.Leased{ID: id}, quarantine.WorkDone{Done: trackingissue.Done{ID: id, Work: trackingissue.WorkOwners}})
	record("", quarantine.WorkDone{Done: trackingissue.Done{ID: id, Work: trackingissue.WorkIssue, Gen: e.Gen, Number: 7}})
	ps, err := steps().Quarantine(quarantine.Request{Test: ref, For: 14 * 24 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	record("mona", ps...)
	at = at.Add(12 * 24 * time.Hour)
	record("", steps().Due(nil)...)
	at = at.Add(3 * 24 * time.Hour)
	record("", steps().Due(nil)...)
	record("mona", steps().Release(id, "x")...)
	key := routing.StreamKey("acme/shop", routing.StreamQuarantine)
	if got, want := changes(t, key, events), "flaked flaked proposed filed began reminded expired released"; got != want {
		t.Errorf("S5-100: %s,\nwant %s", got, want)
	}
}
