package web_test

import (
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

func TestCaseHandoff(t *testing.T) {
	t.Parallel()
	p := routing.DefaultPolicy()
	p.Workers = []routing.Worker{{Name: "claude", Ack: 10 * time.Minute}, {Name: "fix.yml", Deliver: time.Hour}}
	x := tell(t, "acme/shop#12")
	v := routing.Verdict{Checkpoint: "ci", Result: routing.Fail, Class: routing.LogicError, Failures: []routing.Failure{failing("TestA", "aa11")}, At: x.at,
		Run: routing.Run{Repository: "acme/shop", ID: "501", SHA: strings.Repeat("a", 40)}}
	x.add(routing.RunEvent(x.c.Key, v, routing.Decide(x.c, v, p, x.at), x.at))
	refs := map[routing.EffectKind]string{routing.EffectHandoff: "comment:7", routing.EffectComment: "9001"}
	x.do(refs)
	changed := func(p routing.HandoffChanged) {
		p.Number, p.Place = x.c.Handoff.Number, x.c.Handoff.Place
		x.add(routing.HandoffEvent(x.c.Key, p, x.at))
		x.do(refs)
	}
	shows := func(wants ...string) {
		t.Helper()
		_, page := get(t, watched(t, nil, x.stream()), "/case/acme/shop/12")
		wellFormed(t, "case", page)
		for _, want := range wants {
			if !strings.Contains(textOf(page), want) {
				t.Errorf("S5-80: nothing of %q in %s", want, textOf(page))
			}
		}
	}
	shows("Handed off to claude , worker 1 of 2, told", "not acknowledged yet. The next is told")
	x.at = x.at.Add(time.Hour)
	changed(routing.HandoffChanged{Change: routing.HandoffExpired, At: x.at})
	shows("Handed off to fix.yml , worker 2 of 2, told", "Without an answer: claude.", "claude did not answer in time: fix.yml is told")
	changed(routing.HandoffChanged{Change: routing.HandoffWaits, At: x.at, URL: "https://github.com/acme/shop/actions/runs/9"})
	shows("a run waits for a maintainer's approval, and no time passes", "A run of fix.yml waits for a maintainer's approval")
	changed(routing.HandoffChanged{Change: routing.HandoffContinues, At: x.at})
	changed(routing.HandoffChanged{Change: routing.HandoffAcknowledged, How: routing.AckRun, At: x.at})
	shows("acknowledged by a run", "The run of fix.yml waits no longer", "The hand-off to fix.yml was acknowledged by a run")
	changed(routing.HandoffChanged{Change: routing.HandoffEnded, At: x.at})
	shows("The hand-off ended")
}
