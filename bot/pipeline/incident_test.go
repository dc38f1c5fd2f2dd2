package pipeline

import (
	"testing"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
)

// While the issue of an escalation is pending its case joins no incident: whoever began to file it may
// be dead, and then nobody would find what is to be closed.
func TestJoinsAnIncidentOnceItsIssueIsRecordedS5_73(t *testing.T) {
	t.Parallel()
	w, led, k := newWorld(), &ledger.Memory{}, newClock()
	l := line(led, w, k, "one")
	policy := func(string) routing.Policy { return routing.DefaultPolicy() }
	rec, err := l.Record(t.Context(), key, verdict(1, routing.Fail, routing.EnvIssue), policy)
	if err != nil || rec.Decision.Kind != routing.KindEnv {
		t.Fatalf("%v %v", rec.Decision.Kind, err)
	}
	join := routing.IncidentChanged{Checkpoint: rec.Decision.Verdict.Checkpoint, Ref: routing.IncidentRef{ID: "1", Kind: routing.IncidentEnvironment, What: "a host"}}
	if early, err := l.Incident(t.Context(), key, join); err != nil || !early.Repeated {
		t.Errorf("it joins before its issue is recorded: %v", err)
	}
	if _, err := l.Apply(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	if joined, err := l.Incident(t.Context(), key, join); err != nil || joined.Repeated {
		t.Errorf("it does not join: %v", err)
	}
}
