package activity_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/internal/sample"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/activity"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/plan"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// work is the stream of a port whose worker tells of itself, fails, is told what
// failed, opens an escalation and is answered.
func work() []routing.Event {
	at := noon
	var out []routing.Event
	add := func(e plan.Event) {
		at = at.Add(time.Second)
		e.At = at
		out = append(out, e.Record())
	}
	operator, impl, test := plan.PairSessions("b1", "api")
	loop := plan.Loop{ID: "l1", Port: "api", Operator: operator.ID, Status: plan.Running, Attempt: 1, Phase: plan.Implementing, MaxRetries: 3, StartedAt: at}
	add(plan.Event{Kind: plan.SessionStart, Session: operator.ID, Started: &operator})
	add(plan.Event{Kind: plan.PairChanged, Pair: &loop})
	add(plan.Event{Kind: plan.RunnerChanged, Runner: &plan.Runner{ID: "r"}})
	add(plan.Event{Kind: plan.WorkerSpawn, Session: impl.ID, Iteration: 1, Spawn: &plan.Spawn{Role: plan.Impl, Mark: "m", Host: "h"}})
	add(plan.Event{Kind: plan.WorkerProgress, Session: impl.ID, Progress: &plan.Progress{Session: impl.ID, Port: "api", Progress: 0.5, Task: "handlers", Tokens: 1200}})
	add(plan.Event{Kind: plan.WorkerComplete, Session: impl.ID, Iteration: 1, Exit: &plan.Exit{Role: plan.Impl, OK: true}})
	loop.Phase = plan.Testing
	add(plan.Event{Kind: plan.PairChanged, Pair: &loop})
	add(plan.Event{Kind: plan.PairChanged, Pair: &loop}) // nothing new
	add(plan.Event{Kind: plan.WorkerFeedback, Session: test.ID, Feedback: &plan.TestFeedback{FailedTests: []plan.FailedTest{{Name: "TestGet"}}}})
	add(plan.Event{Kind: plan.ChannelOpened, Channel: &plan.Channel{ID: "c", SessionA: impl.ID, SessionB: test.ID, CreatedAt: at}})
	add(plan.Event{Kind: plan.DirectMessage, Session: test.ID, Message: &plan.Message{ID: "m1", ChannelID: "c", From: test.ID, To: impl.ID, Type: "test_feedback", CreatedAt: at}})
	call := plan.Escalation{ID: "e1", Session: operator.ID, Port: "api", Type: escalation.Conflict, Title: "two ports own a file", CreatedAt: at}
	add(plan.Event{Kind: plan.EscalationNew, Session: operator.ID, Escalation: &call})
	call.ResolvedBy, call.ResolvedAt = "ana", at.Add(time.Minute)
	add(plan.Event{Kind: plan.EscalationResolved, Session: operator.ID, Escalation: &call})
	add(plan.Event{Kind: plan.SessionEnd, Session: operator.ID, Outcome: plan.Succeeded})
	return out
}

func types(events []activity.Event) string {
	var out []string
	for _, e := range events {
		out = append(out, string(e.Type))
	}
	return strings.Join(out, " ")
}

func TestOfAPort(t *testing.T) {
	key := routing.PortKey("acme/shop", "ports", "api")
	events, err := activity.Since(key, work(), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("S2-74 S2-75 S2-76 S2-77 S2-78 S2-79 S2-80 each change has the name of the document, in order", func(t *testing.T) {
		const want = "session.start pair worker.spawn worker.progress worker.complete pair worker.feedback direct.message escalation.new escalation.resolved session.end"
		if got := types(events); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	})
	t.Run("S2-81 worker.progress has its fields and no others", func(t *testing.T) {
		const want = `{"session_id":"b1/api/impl","port_id":"api","progress":0.5,"current_task":"handlers","tokens_used":1200}`
		if got := string(events[3].Data); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	})
	t.Run("S2-82 progress outside of 0.0 to 1.0 is refused", func(t *testing.T) {
		for _, p := range []float64{-0.01, 1.01} {
			bad := plan.Event{Kind: plan.WorkerProgress, At: noon, Progress: &plan.Progress{Progress: p}}
			if _, err := plan.FoldJournal([]routing.Event{bad.Record()}); err == nil {
				t.Errorf("%v was taken", p)
			}
		}
	})
	t.Run("S2-83 an event is of its session and of those above it", func(t *testing.T) {
		e := events[3]
		for session, want := range map[string]bool{"b1": true, "b1/api": true, "b1/api/impl": true, "b1/api/test": false, "b": false, "b1/ap": false} {
			if e.Of(session) != want {
				t.Errorf("of %s: %v", session, !want)
			}
		}
	})
	t.Run("S2-85 every event has its time, and none is told twice", func(t *testing.T) {
		for i, e := range events {
			if e.At.IsZero() || i > 0 && e.At.Before(events[i-1].At) {
				t.Errorf("%d: %v", i, e.At)
			}
		}
		inSteps(t, key, work(), events)
	})
}

// inSteps fails the test unless the events come out the same when the stream is
// read as it grows.
func inSteps(t *testing.T, key string, stream []routing.Event, want []activity.Event) {
	t.Helper()
	var got []activity.Event
	for n := range stream {
		more, err := activity.Since(key, stream[:n+1], n)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, more...)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s\nwant\n%s", types(got), types(want))
	}
}

func TestOfAPair(t *testing.T) {
	key := routing.PortKey("acme/shop", "ports", "api")
	operator, _, _ := plan.PairSessions("b1", "api")
	loop := plan.Loop{ID: "l1", Port: "api", Operator: operator.ID, Status: plan.Running, Attempt: 1, CurrentTry: 1, Phase: plan.Implementing, MaxRetries: 3, StartedAt: noon}
	stream := []routing.Event{plan.Event{Kind: plan.SessionStart, At: noon, Session: operator.ID, Started: &operator}.Record()}
	for _, change := range []func(*plan.Loop){
		func(*plan.Loop) {}, // the first
		func(l *plan.Loop) { l.CurrentTry++ },
		func(l *plan.Loop) { l.Tokens += 5 }, // nothing that is told
		func(l *plan.Loop) { l.Attempt++ },
		func(l *plan.Loop) { l.ID = "l2" },
		func(l *plan.Loop) { l.Status = plan.Failed },
	} {
		change(&loop)
		stream = append(stream, plan.Event{Kind: plan.PairChanged, At: noon, Session: operator.ID, Pair: &loop}.Record())
	}
	events, err := activity.Since(key, stream, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := types(events), "session.start pair pair pair pair pair"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := string(events[0].Data); !strings.Contains(got, `"id":"b1/api"`) {
		t.Errorf("the session that started is not told: %s", got)
	}
	inSteps(t, key, stream, events)
}

func TestOfCases(t *testing.T) {
	seen := map[activity.Type]bool{}
	for s := range sample.Cases(sample.Options{Seed: 3, Cases: 80, End: noon}) {
		events, err := activity.Since(s.Key, s.Events, 0)
		if err != nil {
			t.Fatal(err)
		}
		inSteps(t, s.Key, s.Events, events)
		if got, want := handedBack(t, events), returned(s.Events); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v was returned for a fix, want %+v", s.Key, got, want)
		}
		var open, calls int
		for _, e := range events {
			seen[e.Type] = true
			switch e.Type {
			case activity.SessionStart:
				open++
			case activity.SessionEnd:
				open--
			case activity.EscalationNew:
				calls++
			case activity.EscalationResolved:
				calls--
			}
			if open < 0 || open > 1 || calls < 0 || e.Repo != activity.Repo(s.Key) || e.Session != s.Key || !json.Valid(e.Data) {
				t.Fatalf("%s: %d open, %d calls at %+v", s.Key, open, calls, e)
			}
		}
		c, err := routing.Fold(s.Key, s.Events)
		if err != nil {
			t.Fatal(err)
		}
		waiting := 0
		for _, cp := range c.Checkpoints {
			if cp.State == routing.Escalated && !cp.Skipped {
				waiting++
			}
		}
		if calls != waiting || (open == 0) != c.Complete {
			t.Errorf("%s: %d calls told, %d wait; open %d, complete %v", s.Key, calls, waiting, open, c.Complete)
		}
	}
	for _, want := range []activity.Type{activity.RunAnalyzed, activity.WorkerFeedback, activity.HumanActed, activity.EffectDone} {
		if !seen[want] {
			t.Errorf("no %s among %v", want, seen)
		}
	}
}

// handedBack returns what the events say was returned for a fix.
func handedBack(t *testing.T, events []activity.Event) []activity.Handed {
	t.Helper()
	var out []activity.Handed
	for _, e := range events {
		if e.Type == activity.WorkerFeedback {
			var h activity.Handed
			if err := json.Unmarshal(e.Data, &h); err != nil {
				t.Fatal(err)
			}
			out = append(out, h)
		}
	}
	return out
}

// returned says the same by the ledger: of each run that was returned its first five failing tests,
// without those in quarantine, and how many there are besides.
func returned(stream []routing.Event) []activity.Handed {
	var out []activity.Handed
	for _, e := range stream {
		r, ok := e.Run()
		if !ok || r.Decision.Kind != routing.KindRetry || r.Decision.Again || r.Decision.Held {
			continue
		}
		h := activity.Handed{Checkpoint: r.Verdict.Checkpoint, Iteration: r.Decision.Iteration, Max: r.Decision.Max, SHA: r.Verdict.Run.SHA, Failing: []string{}}
		for _, f := range r.Verdict.Failures {
			if !f.Quarantined {
				h.Failing = append(h.Failing, f.Name)
			}
		}
		if n := len(h.Failing); n > 5 {
			h.Failing, h.More = h.Failing[:5], n-5
		}
		out = append(out, h)
	}
	return out
}

func TestStrange(t *testing.T) {
	if events, err := activity.Since("acme/shop!unheard-of", []routing.Event{{Type: "x"}}, 0); len(events) != 0 || err != nil {
		t.Errorf("%v %v", events, err)
	}
	if _, err := activity.Since("acme/shop#1", nil, 1); err == nil {
		t.Error("more seen than there is")
	}
	for key, want := range map[string]string{"acme/shop#1": "acme/shop", "acme/shop@main": "acme/shop", "acme/shop!feedback-requests": "acme/shop", "acme/a#b!c": "acme/a", "odd": "odd"} {
		if got := activity.Repo(key); got != want {
			t.Errorf("%s: %s", key, got)
		}
	}
}
