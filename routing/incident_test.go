package routing

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

var incidentNoon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// outageVerdict is that of an attempt of a run in a broken environment, explained by an incident or not.
func outageVerdict(id string, attempt int, ref *IncidentRef) Verdict {
	return Verdict{
		Checkpoint: "ci", Result: Fail, Class: EnvIssue, Reason: "no such host", Incident: ref, At: incidentNoon,
		Run:      Run{Repository: "acme/app", ID: id, Attempt: attempt, SHA: "aaa" + id},
		Failures: []Failure{{Name: "A", Class: EnvIssue, Kind: "test", Fingerprint: "v1:00000000000000000000000000000001", Decisive: true}},
	}
}

func recorded(t *testing.T, c Case, v Verdict, p Policy) (Case, Decision) {
	t.Helper()
	d := Decide(c, v, p, v.At)
	next, err := c.Apply(RunEvent(c.Key, v, d, v.At))
	if err != nil {
		t.Fatal(err)
	}
	return next, d
}

func changedBy(t *testing.T, c Case, e IncidentChanged) Case {
	t.Helper()
	next, err := c.Apply(IncidentEvent(c.Key, e, incidentNoon))
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func kindsOf(es []Effect) []EffectKind {
	var out []EffectKind
	for _, e := range es {
		out = append(out, e.Kind)
	}
	slices.Sort(out)
	return out
}

func TestIncidentMemberCostsNothingS5_72(t *testing.T) {
	t.Parallel()
	ref := &IncidentRef{ID: "x-1", Kind: IncidentEnvironment, What: "env-dns: example.org", Number: 9}
	c, d := recorded(t, Case{Key: "acme/app#1"}, outageVerdict("11", 1, ref), DefaultPolicy())
	cp := c.Checkpoints["ci"]
	if d.Kind != KindIncident || d.Rule != "incident" || d.Iteration != 0 || cp.Retries != 0 || cp.Escalation != nil || cp.State != InProgress {
		t.Fatalf("S5-72: %+v", d)
	}
	if got := kindsOf(d.Effects); !slices.Equal(got, []EffectKind{EffectCheck, EffectComment}) {
		t.Errorf("S5-72: effects %v", got) // a comment is brought up to date if there is one
	}
	if on, held := OnHoldForIncident(cp); !held || on.Number != 9 {
		t.Errorf("S5-72: not on hold: %+v", on)
	}
	if d := Decide(Case{Key: "acme/app#1"}, outageVerdict("11", 1, nil), DefaultPolicy(), incidentNoon); d.Kind != KindEnv {
		t.Errorf("S5-72: without an incident: %s", d.Kind)
	}
	green := outageVerdict("12", 1, nil)
	green.Result, green.Class, green.Failures = Pass, "", nil
	if c, d := recorded(t, c, green, DefaultPolicy()); d.Kind != KindPass || c.Checkpoints["ci"].State != Completed {
		t.Errorf("S5-72: a green run: %s", d.Kind)
	}
}

func TestIncidentRestartsOnceS5_74(t *testing.T) {
	t.Parallel()
	for _, kind := range []IncidentKind{IncidentEnvironment, IncidentBase} {
		ref := IncidentRef{ID: "x-1", Kind: kind, Number: 9}
		v := outageVerdict("11", 1, &ref)
		want := Effect{Kind: EffectRerun, Target: "11/1"}
		if kind == IncidentBase {
			v.Class, v.Failures[0].Class = LogicError, LogicError
			want = Effect{Kind: EffectUpdate, Target: "fff"}
		}
		c, _ := recorded(t, Case{Key: "acme/app#1"}, v, DefaultPolicy())
		c.Pending = nil
		c = changedBy(t, c, IncidentChanged{Checkpoint: "ci", Ref: IncidentRef{ID: "other-1"}, Restart: true})
		if len(c.Pending) > 0 {
			t.Errorf("S5-74: %s: another incident restarts it", kind)
		}
		over := IncidentChanged{Checkpoint: "ci", Ref: ref, Restart: true, SHA: "fff"}
		c = changedBy(t, c, over)
		if !slices.ContainsFunc(c.Pending, func(e Effect) bool { return e.Kind == want.Kind && e.Target == want.Target }) {
			t.Errorf("S5-74: %s: pending %+v", kind, c.Pending)
		}
		c.Pending = nil
		if c = changedBy(t, c, over); len(c.Pending) > 0 || over.Changes(c.Checkpoints["ci"]) {
			t.Errorf("S5-74: %s: restarted twice: %+v", kind, c.Pending)
		}
	}
}

func TestEscalationFoldsIntoIncidentS5_73(t *testing.T) {
	t.Parallel()
	c, d := recorded(t, Case{Key: "acme/app#1"}, outageVerdict("11", 1, nil), DefaultPolicy())
	if d.Kind != KindEnv {
		t.Fatal(d.Kind)
	}
	ref := IncidentRef{ID: "x-1", Kind: IncidentEnvironment, Number: 9}
	c.Pending = nil
	c = changedBy(t, c, IncidentChanged{Checkpoint: "ci", Ref: ref})
	cp := c.Checkpoints["ci"]
	if cp.State != InProgress || cp.Escalation != nil {
		t.Errorf("S5-73: it is still escalated: %+v", cp.Escalation)
	}
	if got := kindsOf(c.Pending); !slices.Equal(got, []EffectKind{EffectCheck, EffectClose, EffectComment, EffectLabel}) {
		t.Errorf("S5-73: pending %v", got)
	}
	if on, held := OnHoldForIncident(cp); !held || on.ID != "x-1" {
		t.Error("S5-73: not on hold")
	}
	paused := cp.clone()
	paused.Paused = true
	if (IncidentChanged{Checkpoint: "ci", Ref: ref}).Changes(paused) {
		t.Error("S5-73: what a person paused joins")
	}
}

func TestIncidentTakesFixAttemptBackS5_72(t *testing.T) {
	t.Parallel()
	v := outageVerdict("11", 1, nil)
	v.Class, v.Failures[0].Class = LogicError, LogicError
	c, d := recorded(t, Case{Key: "acme/app#1"}, v, DefaultPolicy())
	if d.Kind != KindRetry || c.Checkpoints["ci"].Retries != 1 {
		t.Fatal(d.Kind)
	}
	c = changedBy(t, c, IncidentChanged{Checkpoint: "ci", Ref: IncidentRef{ID: "x-1", Kind: IncidentBase}})
	if cp := c.Checkpoints["ci"]; cp.Retries != 0 || len(cp.Iterations) != 0 || len(cp.Returned) != 0 {
		t.Errorf("S5-72: the fix attempt counts: %d, %v", cp.Retries, cp.Iterations)
	}
	linked := changedBy(t, c, IncidentChanged{Checkpoint: "ci", Ref: IncidentRef{ID: "x-1", Kind: IncidentBase, Number: 9}})
	if on, _ := OnHoldForIncident(linked.Checkpoints["ci"]); on.Number != 9 {
		t.Error("S5-72: the issue that was filed later is not linked")
	}
}

func TestFurtherFailureIsDecidedS5_75(t *testing.T) {
	t.Parallel()
	ref := &IncidentRef{ID: "x-1", Kind: IncidentEnvironment}
	first, second := outageVerdict("11", 1, ref), outageVerdict("11", 1, nil)
	first.Run.Part, first.Run.Parts, second.Run.Part, second.Run.Parts = "a", 2, "b", 2
	c, d := recorded(t, Case{Key: "acme/app#1"}, first, DefaultPolicy())
	if d.Kind != KindIncident {
		t.Fatal(d.Kind)
	}
	second.Class, second.Failures[0].Class, second.Failures[0].Name = LogicError, LogicError, "B"
	if _, d := recorded(t, c, second, DefaultPolicy()); d.Kind == KindIncident || d.Kind == KindNone {
		t.Errorf("S5-75: another leg fails otherwise: %s (%s)", d.Kind, d.Rule)
	}
	if _, d := recorded(t, c, outageVerdict("12", 1, nil), DefaultPolicy()); d.Kind != KindEnv {
		t.Errorf("S5-75: a run that the incident does not explain: %s", d.Kind)
	}
}

func TestNoRerunWhileIncidentIsOpenS5_33(t *testing.T) {
	t.Parallel()
	p := DefaultPolicy()
	p.Rerun = RerunTransient
	v := outageVerdict("11", 1, nil)
	if d := Decide(Case{Key: "acme/app#1"}, v, p, incidentNoon); d.Kind != KindRerun {
		t.Fatalf("S5-33: without an incident: %s", d.Kind)
	}
	v.During = "x-1"
	if d := Decide(Case{Key: "acme/app#1"}, v, p, incidentNoon); d.Kind != KindEnv {
		t.Errorf("S5-33: while an incident is open: %s", d.Kind)
	}
	v.Incident = &IncidentRef{ID: "x-1", Kind: IncidentEnvironment}
	if d := Decide(Case{Key: "acme/app#1"}, v, p, incidentNoon); d.Kind != KindIncident {
		t.Errorf("S5-33: as a member of the incident: %s", d.Kind)
	}
}

// A rerun that GitHub refuses leaves the failure to a person, as without the incident.
func TestRefusedRestartIsDecidedS5_74(t *testing.T) {
	t.Parallel()
	ref := IncidentRef{ID: "x-1", Kind: IncidentEnvironment}
	c, _ := recorded(t, Case{Key: "acme/app#1"}, outageVerdict("11", 1, &ref), DefaultPolicy())
	c = changedBy(t, c, IncidentChanged{Checkpoint: "ci", Ref: ref, Restart: true})
	i := slices.IndexFunc(c.Pending, func(e Effect) bool { return e.Kind == EffectRerun })
	c, err := c.Apply(EffectEvent(c.Key, EffectDone{Effect: c.Pending[i], Ref: Refused(fmt.Errorf("no actions: write"))}, incidentNoon))
	if err != nil {
		t.Fatal(err)
	}
	c, _, err = Release(c, func(string) Policy { return DefaultPolicy() }, incidentNoon)
	if err != nil || c.Checkpoints["ci"].State != Escalated {
		t.Errorf("S5-74: %s, %v", c.Checkpoints["ci"].State, err)
	}
}

// An escalation whose issue is being filed joins an incident once that is recorded: of an issue that a
// killed process filed nobody would know the number.
func TestIssueIsRecordedBeforeItIsFoldedInS5_73(t *testing.T) {
	t.Parallel()
	filing := Case{Checkpoints: map[string]Checkpoint{"ci": {Name: "ci"}}, Pending: []Effect{{Kind: EffectComment, Checkpoint: "ci"}, {Kind: EffectIssue, Checkpoint: "ci"}}}
	filed := Case{Checkpoints: filing.Checkpoints, Pending: filing.Pending[:1]}
	for _, c := range []struct {
		what string
		of   Case
		e    IncidentChanged
		want bool
	}{
		{"while its issue is filed", filing, IncidentChanged{Checkpoint: "ci"}, true},
		{"once it is recorded", filed, IncidentChanged{Checkpoint: "ci"}, false},
		{"while that of another checkpoint is filed", filing, IncidentChanged{Checkpoint: "lint"}, false},
		{"restarted", filing, IncidentChanged{Checkpoint: "ci", Restart: true}, false},
	} {
		if got := c.e.TooEarly(c.of); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}
