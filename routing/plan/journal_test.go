package plan

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
)

func TestJournal(t *testing.T) {
	t.Parallel()
	l, _ := NewLoop("b", Spec{ID: "api"}, DefaultSettings(), t0)
	channel := &Channel{ID: l.ChannelID, SessionA: l.ImplSession, SessionB: l.TestSession, Status: ChannelActive, CreatedAt: t0}
	message := &Message{ID: "m", ChannelID: l.ChannelID, From: l.ImplSession, To: l.TestSession, Type: QueryMessage, CreatedAt: t0}
	call := &Escalation{ID: "c", Session: l.Operator, Port: "api", Type: escalation.Blocked, Severity: escalation.Low, CreatedAt: t0}
	ended := l.end(Success, Succeeded, "", t0.Add(time.Hour))
	result := ResultOf(ended, "hash")
	events := []Event{
		{Kind: RunnerChanged, Runner: &Runner{ID: "r", Run: "7", Attempt: 2}},
		{Kind: ChannelOpened, Channel: channel},
		{Kind: PairChanged, Pair: &l},
		{Kind: WorkerSpawn, Spawn: &Spawn{Role: Impl, Mark: "x"}},
		{Kind: DirectMessage, Message: message},
		{Kind: Delivered, IDs: []string{"m"}, At: t0.Add(time.Minute)},
		{Kind: EscalationNew, Escalation: call},
		{Kind: EscalationNew, Escalation: call},
	}
	var recorded []routing.Event
	for _, e := range events {
		if e.At.IsZero() {
			e.At = t0
		}
		recorded = append(recorded, e.Record())
	}
	j, err := FoldJournal(append(recorded, routing.Event{Type: routing.EventHuman}))
	if err != nil {
		t.Fatal(err)
	}
	t.Run("S2-20 the pair as it was recorded", func(t *testing.T) {
		if !reflect.DeepEqual(*j.Loop, l) || j.Pairs != 1 || j.Runner.Attempt != 2 || j.Worker.Mark != "x" {
			t.Errorf("%+v", j)
		}
	})
	t.Run("S2-17 a message is delivered", func(t *testing.T) {
		if m := j.Mail.Messages; len(m) != 1 || !m[0].DeliveredAt.Equal(t0.Add(time.Minute)) {
			t.Errorf("%+v", m)
		}
	})
	t.Run("S2-70 the same escalation stands once", func(t *testing.T) {
		if len(j.Waiting()) != 1 {
			t.Errorf("%+v", j.Escalations)
		}
	})
	t.Run("S2-71 it is resolved by someone, at a time, once", func(t *testing.T) {
		for name, c := range map[string]Escalation{"nobody": {ID: "c", ResolvedAt: t0}, "no time": {ID: "c", ResolvedBy: "me"}, "another": {ID: "d", ResolvedBy: "me", ResolvedAt: t0}} {
			if err := j.Apply(Event{Kind: EscalationResolved, Escalation: &c}); err == nil {
				t.Errorf("%s: taken", name)
			}
		}
		c := Escalation{ID: "c", ResolvedBy: "me", ResolvedAt: t0}
		if err := j.Apply(Event{Kind: EscalationResolved, Escalation: &c}); err != nil || len(j.Waiting()) != 0 {
			t.Error(err, j.Escalations)
		}
		if err := j.Apply(Event{Kind: EscalationResolved, Escalation: &c}); err == nil || !strings.Contains(err.Error(), "me") {
			t.Errorf("twice: %v", err)
		}
	})
	t.Run("the end of a pair", func(t *testing.T) {
		for _, e := range []Event{{Kind: WorkerComplete, Exit: &Exit{}}, {Kind: PairChanged, Pair: &ended, Result: &result}} {
			if err := j.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
		if j.Passed != "hash" || j.Worker != nil || j.Pairs != 1 || j.Result.Outcome != Succeeded {
			t.Errorf("%+v", j)
		}
	})
	t.Run("what cannot follow is refused", func(t *testing.T) {
		for name, e := range map[string]Event{
			"a message on no channel": {Kind: DirectMessage, Message: &Message{ID: "x", ChannelID: "none", From: "a", To: "b", Type: QueryMessage}},
			"no such channel":         {Kind: ChannelShut, Channel: &Channel{ID: "none"}},
			"another channel's id":    {Kind: ChannelOpened, Channel: &Channel{ID: l.ChannelID, SessionA: "x", SessionB: "y"}},
		} {
			if err := j.Apply(e); err == nil {
				t.Errorf("%s: taken", name)
			}
		}
		if _, err := FoldJournal([]routing.Event{{Type: PairChanged.event(), Data: json.RawMessage(`{`)}}); err == nil {
			t.Error("an event that is not readable is taken")
		}
	})
}

func TestProgress(t *testing.T) {
	t.Parallel()
	t.Run("S2-82 0.0 to 1.0, outside is refused", func(t *testing.T) {
		for v, ok := range map[float64]bool{0: true, 1: true, 0.3: true, -0.0001: false, 1.0001: false, math.Inf(1): false} {
			if err := (Progress{Progress: v}).Validate(); (err == nil) != ok {
				t.Errorf("%v: %v", v, err)
			}
		}
		if (Progress{Progress: math.NaN()}).Validate() == nil || (Progress{Tokens: -1}).Validate() == nil {
			t.Error("taken")
		}
	})
	t.Run("S2-84 a pair's share begins at 0, grows, and ends at 1", func(t *testing.T) {
		p := newPair(t, nil)
		last := p.Share()
		if last != 0 {
			t.Error(last)
		}
		for p.Status == Running {
			p.take(p.ImplEnded(Worked{OK: true, Payload: []byte(`{}`)}, t0))
			if s := p.Share(); s <= last || s > 1 {
				t.Errorf("%v after %v", s, last)
			}
			last = p.Share()
			p.take(p.TestEnded(red, 0, t0))
			if s := p.Share(); s <= last || s > 1 {
				t.Errorf("%v after %v", s, last)
			}
			last = p.Share()
		}
		if last != 1 {
			t.Error(last)
		}
	})
	t.Run("the time in which nobody ran a pair does not count", func(t *testing.T) {
		l, _ := NewLoop("b", Spec{ID: "api"}, DefaultSettings(), t0)
		j := Journal{Loop: &l, Updated: t0.Add(10 * time.Minute)}
		got := j.Resumed(t0.Add(24 * time.Hour))
		if used := t0.Add(24 * time.Hour).Sub(got.StartedAt); used != 10*time.Minute {
			t.Error(used)
		}
		if got := j.Resumed(t0); !got.StartedAt.Equal(t0) {
			t.Errorf("a clock that is behind has the pair begin at %s", got.StartedAt)
		}
	})
}
