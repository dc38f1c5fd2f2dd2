// Package routingtest makes streams of cases for tests: random ones, in which
// everything happens that may happen to a case.
package routingtest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// Start is when the streams begin.
var Start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// Policy returns a random policy, of two checkpoints of which one needs the
// other.
func Policy(r *rand.Rand) routing.Policy {
	p := routing.DefaultPolicy()
	p.Max, p.Manual = r.IntN(5), r.IntN(4) == 0
	p.OnMax = pick(r, routing.OnMaxManual, routing.OnMaxError, routing.OnMaxSkip)
	p.Scope = pick(r, routing.ScopeCheckpoint, routing.ScopeCase)
	p.EscalateOnDesign, p.Notify, p.Reviewer = r.IntN(3) > 0, r.IntN(3) > 0, r.IntN(3) == 0
	if r.IntN(3) == 0 {
		p.Quarantine = []routing.NamedTest{{Test: "T1", Until: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)}}
	}
	if r.IntN(2) == 0 {
		p.Needs = map[string][]string{"lint": {"unit"}}
	}
	return p
}

// Stream plays steps at random, runs and what humans do, and returns the events
// that are recorded under policy, with the case that they make. The same
// generator gives the same stream.
func Stream(r *rand.Rand, key string, steps int, policy routing.Policy) (routing.Case, []routing.Event) {
	w := &world{r: r, policy: policy, now: Start.Add(time.Duration(r.IntN(1000)) * time.Hour), c: routing.Case{Key: key}}
	for range steps {
		w.now = w.now.Add(time.Duration(1+r.IntN(5000)) * time.Second)
		if r.IntN(4) == 0 && len(w.c.Checkpoints) > 0 {
			w.act()
		} else {
			w.run()
		}
	}
	return w.c, w.events
}

type world struct {
	r      *rand.Rand
	policy routing.Policy
	now    time.Time
	c      routing.Case
	events []routing.Event
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// record appends an event and what follows from it.
func (w *world) record(e routing.Event) {
	c, err := w.c.Apply(e)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", w.c.Key, err))
	}
	w.events = append(w.events, e)
	c, more, err := routing.Release(c, func(string) routing.Policy { return w.policy }, w.now)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", w.c.Key, err))
	}
	w.c, w.events = c, append(w.events, more...)
}

func (w *world) run() {
	v := w.verdict()
	d := routing.Decide(w.c, v, w.policy, w.now)
	if d.Repeated {
		return
	}
	w.record(routing.RunEvent(w.c.Key, v, d, w.now))
	if w.r.IntN(2) == 0 && len(w.c.Pending) > 0 {
		done := w.c.Pending[0]
		w.record(routing.EffectEvent(w.c.Key, routing.EffectDone{Effect: done, Ref: "1"}, w.now))
	}
}

func (w *world) verdict() routing.Verdict {
	n := 1 + w.r.IntN(14)
	v := routing.Verdict{
		Checkpoint: pick(w.r, "unit", "unit", "lint"),
		Result:     pick(w.r, routing.Pass, routing.Fail, routing.Fail, routing.Fail, routing.Fail, routing.TimedOut, routing.Unclear, routing.Errored),
		Counts:     routing.Counts{Tests: 15 + w.r.IntN(5), Passed: 8},
		Run:        routing.Run{Repository: "acme/app", ID: fmt.Sprint(n), Attempt: 1 + w.r.IntN(2), SHA: fmt.Sprintf("%07d", (n+1)/2), Parts: 1 + w.r.IntN(2)},
	}
	v.Run.Part = string(rune('a' + w.r.IntN(v.Run.Parts)))
	if v.Result == routing.Pass {
		v.Counts.Flaky = w.r.IntN(2)
		if w.r.IntN(20) == 0 {
			v.Counts.Tests = 10 // far fewer than before
		}
		return v
	}
	if v.Result != routing.Fail {
		return v
	}
	v.Class = pick(w.r, routing.Classes()...)
	for i, test := range []string{"T0", "T1", "T2"}[:1+w.r.IntN(3)] {
		v.Failures = append(v.Failures, routing.Failure{Name: test, Class: v.Class, Kind: "test", Fingerprint: fmt.Sprint(v.Class, "/", test), Decisive: i == 0,
			Evidence: []routing.Evidence{{Text: "it", Signal: "signal-of-" + string(v.Class)}}})
	}
	v.Counts.Failed = len(v.Failures)
	v.Reason, v.Evidence = "it fails", v.Failures[0].Evidence
	if w.r.IntN(8) == 0 {
		on := routing.ReviewResult{Decision: routing.Approved, Issues: []routing.ReviewIssue{{Severity: pick(w.r, routing.IssueSeverities()...), Category: "style"}}}
		v = routing.ReviewVerdict(v.Checkpoint, v.Run, on, w.policy.FailOn)
	}
	return v
}

var acts = []routing.HumanAction{
	routing.HumanResume, routing.HumanReset, routing.HumanPause, routing.HumanExtend, routing.HumanSkip, routing.HumanPhase, routing.HumanRerun,
	routing.HumanQuarantine, routing.HumanWontFix, routing.HumanWrong, routing.HumanHandoff,
}

func (w *world) act() {
	e := routing.HumanActed{
		Checkpoint: pick(w.r, w.c.Names()...), Action: pick(w.r, acts...), By: "mona", N: 1 + w.r.IntN(3),
		Phase: pick(w.r, routing.Research, routing.Plan, routing.Implement), Test: fmt.Sprint("T", w.r.IntN(3)), Class: pick(w.r, routing.Classes()...),
		Answer: fmt.Sprint("comment/", w.r.IntN(40), "/1"),
	}
	accepts := e
	if accepts.Action = routing.HumanAccept; w.c.Admit(accepts) == nil && w.r.IntN(2) == 0 {
		e = accepts
	}
	if e.Action == routing.HumanHandoff && !w.c.Checkpoints[e.Checkpoint].Waiting || w.c.Admit(e) != nil {
		return
	}
	if _, known := w.c.Answered[e.Answer]; !known {
		w.record(routing.HumanEvent(w.c.Key, e, w.now))
	}
}
