//go:build unix

package worker

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// TestS6_3_CheckJournal checks the events of a pair that ran, and then what a hostile job makes of
// them.
func TestS6_3_CheckJournal(t *testing.T) {
	t.Parallel()
	p := newPlace(t, `echo $SWITCHBACK_ATTEMPT > n; echo 5 > "$SWITCHBACK_TOKENS_FILE"`,
		`echo "<testsuite name='x'><testcase classname='a' name='works'>$([ $(cat n) = 2 ] || echo "<failure>no</failure>")</testcase></testsuite>" > "$SWITCHBACK_REPORTS/junit.xml"; [ $(cat n) = 2 ]`)
	p.change = func(pair *Pair) {
		pair.Build, pair.Me = "run-7", Self(func(name string) string {
			return map[string]string{"GITHUB_RUN_ID": "7", "GITHUB_ACTIONS": "true"}[name]
		})
	}
	pair := p.pair()
	r, err := pair.Run(t.Context())
	if err != nil || r.Status != plan.Success || r.Attempts != 2 {
		t.Fatalf("%v %+v", err, r)
	}
	stored, _, err := pair.Journal.Ledger.Load(t.Context(), pair.Journal.Key)
	if err != nil {
		t.Fatal(err)
	}
	assigned := Assignment{Port: "greet", Builds: []string{"run-7"}, Run: "7", Spec: p.spec, Settings: plan.DefaultSettings(), Now: time.Now()}
	if err := CheckJournal(stored, assigned); err != nil {
		t.Fatalf("the events of a job are refused: %v", err)
	}
	// last changes the last event of a kind.
	last := func(kind plan.EventKind, change func(*plan.Event)) func([]plan.Event) []plan.Event {
		return func(all []plan.Event) []plan.Event {
			for i, e := range slices.Backward(all) {
				if e.Kind == kind {
					change(&all[i])
					return all
				}
			}
			t.Errorf("there is no event of kind %s", kind)
			return all
		}
	}
	pairOf := func(change func(*plan.Loop)) func([]plan.Event) []plan.Event {
		return last(plan.PairChanged, func(e *plan.Event) {
			l := *e.Pair
			change(&l)
			r := plan.ResultOf(l, e.Result.Hash)
			e.Pair, e.Result = &l, &r
		})
	}
	add := func(e plan.Event) func([]plan.Event) []plan.Event {
		return func(all []plan.Event) []plan.Event {
			e.Port, e.At = "greet", time.Now()
			return append(all, e)
		}
	}
	for name, c := range map[string]struct {
		change func([]plan.Event) []plan.Event
		want   string
	}{
		"another port":        {last(plan.SessionEnd, func(e *plan.Event) { e.Port = "pay" }), `about port "pay"`},
		"another run":         {last(plan.RunnerChanged, func(e *plan.Event) { e.Runner = &plan.Runner{ID: "x", Run: "8"} }), "assigned to run 7"},
		"a run that left":     {last(plan.RunnerChanged, func(e *plan.Event) { e.Runner = &plan.Runner{ID: "x", Run: "7", Events: true} }), "assigned to run 7"},
		"another build":       {pairOf(func(l *plan.Loop) { l.ID = "run-9/greet" }), "not the one that was assigned"},
		"another port's pair": {pairOf(func(l *plan.Loop) { l.Port = "pay" }), "names of the pair"},
		"more attempts":       {pairOf(func(l *plan.Loop) { l.MaxRetries = 99 }), "limits of the pair"},
		"more tokens":         {pairOf(func(l *plan.Loop) { l.TokenBudget = 1 << 40 }), "limits of the pair"},
		"fewer than none":     {pairOf(func(l *plan.Loop) { l.Tokens = -5 }), "outside its limits"},
		"a million attempts":  {pairOf(func(l *plan.Loop) { l.Attempt = 1 << 20 }), "outside its limits"},
		"no status":           {pairOf(func(l *plan.Loop) { l.Status = "best" }), "none of a pair"},
		"no hash":             {last(plan.PairChanged, func(e *plan.Event) { r := *e.Result; r.Hash = "../x"; e.Result = &r }), "is none"},
		"another result":      {last(plan.PairChanged, func(e *plan.Event) { r := *e.Result; r.Reason = "x"; e.Result = &r }), "not that of the pair"},
		"no result":           {last(plan.PairChanged, func(e *plan.Event) { e.Result = nil }), "once it has ended"},
		"feedback of others": {pairOf(func(l *plan.Loop) {
			l.Requests = []plan.WorkerRequest{{Feedback: "FB-001", Round: 1, Do: feedback.Verify}}
		}), "was not delivered"},
		"a person's answer":      {add(plan.Event{Kind: plan.HumanAnswered, Answer: &plan.Answer{}}), "not recorded by the job"},
		"a dispatch":             {add(plan.Event{Kind: plan.WorkerDispatch, Spawn: &plan.Spawn{}}), "not recorded by the job"},
		"a dispatched worker":    {last(plan.WorkerSpawn, func(e *plan.Event) { e.Spawn = &plan.Spawn{Workflow: "deploy.yml"} }), "dispatches a workflow"},
		"nothing":                {last(plan.WorkerComplete, func(e *plan.Event) { e.Exit = nil }), "without its Exit"},
		"a session of others":    {last(plan.SessionEnd, func(e *plan.Event) { e.Session = "run-7/pay" }), "not of this port"},
		"a channel of others":    {last(plan.DirectMessage, func(e *plan.Event) { m := *e.Message; m.ChannelID = "run-7/pay/channel"; e.Message = &m }), "something else"},
		"an escalation of them":  {add(plan.Event{Kind: plan.EscalationNew, Escalation: &plan.Escalation{ID: "run-7/pay/escalation", Port: "greet"}}), "something else"},
		"an answered escalation": {add(plan.Event{Kind: plan.EscalationResolved, Escalation: &plan.Escalation{ID: "run-7/greet/escalation", Port: "greet", ResolvedBy: "octocat", ResolvedAt: time.Now()}}), "in the name of somebody else"},
		"the future":             {last(plan.SessionEnd, func(e *plan.Event) { e.At = time.Now().Add(time.Hour) }), "in the future"},
		"no runner":              {func(all []plan.Event) []plan.Event { return all[1:] }, "who runs the port"},
		"too many":               {func(all []plan.Event) []plan.Event { return slices.Repeat(all, maxJournalEvents/len(all)+1) }, "at most"},
	} {
		t.Run(name, func(t *testing.T) {
			var all []plan.Event
			for _, s := range stored {
				e, _, err := plan.Recorded(s)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, e)
			}
			var events []routing.Event
			for _, e := range c.change(all) {
				events = append(events, e.Record())
			}
			if err := CheckJournal(events, assigned); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
	t.Run("a person who acted", func(t *testing.T) {
		events := slices.Clone(stored)
		events[2].Actor = "octocat"
		if err := CheckJournal(events, assigned); err == nil || !strings.Contains(err.Error(), "names a person") {
			t.Error(err)
		}
	})
	t.Run("an event of another kind of stream", func(t *testing.T) {
		events := append(slices.Clone(stored), routing.Event{Type: "plan.ended", At: time.Now()})
		if err := CheckJournal(events, assigned); err == nil || !strings.Contains(err.Error(), "no event of a port") {
			t.Error(err)
		}
	})
}
