package handler

import (
	"fmt"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/history"
	"github.com/switchback-ci/switchback/routing/quarantine"
)

// played returns a case of runs that ended as letters say: p passed, f failed. Each is of a commit of
// its own, an hour after the one before.
func played(t *testing.T, key, ends string, from time.Time) routing.Case {
	t.Helper()
	c := routing.Case{Key: key}
	for i, end := range ends {
		at := from.Add(time.Duration(i) * time.Hour)
		test := history.Test{ID: history.TestID("ci", "calc", "TestAdd")}
		v := routing.Verdict{Checkpoint: "ci", Result: routing.Pass, Run: routing.Run{Repository: "acme/app", ID: fmt.Sprint(1000 + i), SHA: fmt.Sprintf("%s-%d", key, i)}, At: at}
		if end == 'f' {
			v.Result, v.Class = routing.Fail, routing.LogicError
			v.Failures = []routing.Failure{{Suite: "calc", Name: "TestAdd", Fingerprint: "x", Class: v.Class}}
			test.Status, test.Fingerprint = history.Failed, history.FingerprintOf("x")
		}
		v.Inventory = history.New([]history.Test{test}, false).Pack()
		d := routing.Decide(c, v, routing.DefaultPolicy(), at)
		var err error
		if c, err = c.Apply(routing.RunEvent(key, v, d, at)); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// Passes are counted over all cases in the order of their time, since the quarantine began.
func TestPassesOfAllCasesS5_54(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	ref := routing.TestRef{Checkpoint: "ci", Suite: "calc", Name: "TestAdd"}
	var st quarantine.State
	for _, e := range quarantine.Events([]quarantine.Payload{quarantine.Began{Test: ref, Until: noon.Add(14 * 24 * time.Hour)}}, "mona", noon) {
		var err error
		if st, err = st.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name     string
		one, two string // runs of two cases, the second half an hour later
		want     int
	}{
		{"both pass", "pppp", "ppp", 7},
		{"one failed in between", "pfpp", "ppp", 4},
		{"the newest failed", "pppp", "pppf", 0},
	} {
		s := newFlakeSearch(st)
		s.add(played(t, "acme/app#1", c.one, noon.Add(time.Minute)))
		s.add(played(t, "acme/app@main", c.two, noon.Add(31*time.Minute)))
		s.add(played(t, "acme/app#9", "fffpp", noon.Add(-6*time.Hour))) // before it began
		if got := s.passes()[quarantine.IDOf(ref)]; got != c.want {
			t.Errorf("S5-54: %s: %d passes in a row, want %d", c.name, got, c.want)
		}
	}
}
