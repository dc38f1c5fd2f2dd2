package plan

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
)

var t0 = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// pair is a pair that is played, with all it was told to do.
type pair struct {
	testing.TB
	Loop
	acts []Action
	now  time.Time
	mail Mail
}

func newPair(t testing.TB, change func(*Spec)) *pair {
	spec := Spec{ID: "api"}
	if change != nil {
		change(&spec)
	}
	p := &pair{TB: t, now: t0}
	l, acts := NewLoop("build", spec, DefaultSettings(), t0)
	p.take(l, acts, nil)
	return p
}

// take carries out what touches the channel, and keeps the rest.
func (p *pair) take(l Loop, acts []Action, err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
	p.Loop = l
	p.acts = append(p.acts, acts...)
	for _, a := range acts {
		switch a.Kind {
		case OpenChannel:
			_, err = p.mail.Open(l.ChannelID, l.ImplSession, l.TestSession, p.now)
		case Send:
			err = p.mail.Send(*a.Message)
		case CloseDown:
			err = p.mail.Close(l.ChannelID)
		}
		if err != nil {
			p.Fatal(err)
		}
	}
}

// turn lets the pair work for a while and its test end.
func (p *pair) turn(f TestFeedback, took time.Duration, tokens int64) {
	p.Helper()
	p.now = p.now.Add(took)
	p.take(p.ImplEnded(Worked{OK: true, Payload: []byte(`{"files":1}`), Tokens: tokens}, p.now))
	if p.Status == Running {
		p.take(p.TestEnded(f, 0, p.now))
	}
}

func (p *pair) kinds() string {
	var out []string
	for _, a := range p.acts {
		out = append(out, string(a.Kind))
	}
	return strings.Join(out, ", ")
}

var (
	red   = TestFeedback{FailedTests: []FailedTest{{Name: "TestSum", Expected: "4", Actual: "5"}}, Suggestions: []string{"add"}, Metrics: Metrics{Total: 1, Failed: 1}}
	green = TestFeedback{Success: true, Metrics: Metrics{Total: 1, Passed: 1}}
)

func TestSessions(t *testing.T) {
	t.Parallel()
	p := plan(t, "api: model", "model:")
	got := p.Sessions("b1")
	t.Run("S2-1 depths of build, operator and worker", func(t *testing.T) {
		if BuildSession.Depth() != 0 || OperatorSession.Depth() != 1 || WorkerSession.Depth() != 2 {
			t.Error("other depths")
		}
		for _, s := range got {
			if s.Depth != s.Kind.Depth() || s.Depth != strings.Count(s.ID, "/") || (s.Parent == "") != (s.Depth == 0) {
				t.Errorf("%+v", s)
			}
		}
	})
	t.Run("S2-2 a build, an operator for each port, its pair, in the order of dependencies", func(t *testing.T) {
		var ids []string
		for _, s := range got {
			ids = append(ids, s.ID)
		}
		if want := "b1 b1/model b1/model/impl b1/model/test b1/api b1/api/impl b1/api/test"; strings.Join(ids, " ") != want {
			t.Error(ids)
		}
	})
	t.Run("S2-3 the pair is impl and test, and test verifies what impl did", func(t *testing.T) {
		operator, impl, test := PairSessions("b1", "api")
		if impl.Role != Impl || test.Role != Test || impl.Parent != operator.ID || test.Parent != operator.ID || test.Port != "api" {
			t.Errorf("%+v %+v %+v", operator, impl, test)
		}
		p := newPair(t, nil)
		if _, _, err := p.TestEnded(green, 0, p.now); err == nil {
			t.Error("a test before there was anything to verify")
		}
		p.turn(green, 0, 0)
		got, err := p.mail.Messages, error(nil)
		if err != nil || len(got) != 1 || got[0].Type != ResultMessage || got[0].To != p.TestSession || string(got[0].Payload) != `{"files":1}` {
			t.Errorf("%+v", got)
		}
	})
}

func TestFeedbackLoop(t *testing.T) {
	t.Parallel()
	t.Run("S2-13 a channel is made when the pair starts", func(t *testing.T) {
		if p := newPair(t, nil); p.acts[0].Kind != OpenChannel || len(p.mail.Channels) != 1 {
			t.Error(p.kinds())
		}
	})
	t.Run("S2-20 the values of a loop by their names", func(t *testing.T) {
		var got map[string]any
		if err := json.Unmarshal(encode(newPair(t, nil).Loop), &got); err != nil {
			t.Fatal(err)
		}
		for k, want := range map[string]any{"id": "build/api", "impl_session": "build/api/impl", "test_session": "build/api/test",
			"channel_id": "build/api/channel", "max_retries": 3.0, "current_try": 0.0, "status": "running"} {
			if got[k] != want {
				t.Errorf("%s is %v, want %v", k, got[k], want)
			}
		}
	})
	t.Run("S2-22 three reworks by default", func(t *testing.T) {
		ten, many := 10, 99
		for _, c := range []struct {
			set  *int
			want int
		}{{nil, 3}, {&ten, 10}, {&many, routing.HardCap}} {
			if p := newPair(t, func(s *Spec) { s.MaxIterations = c.set }); p.MaxRetries != c.want {
				t.Errorf("%d, want %d", p.MaxRetries, c.want)
			}
		}
	})
	t.Run("S2-25 each turn waits for impl, then runs the tests", func(t *testing.T) {
		p := newPair(t, nil)
		p.turn(red, 0, 0)
		p.turn(green, 0, 0)
		if want := "open channel, start impl, send, start test, send, start impl, send, start test, close, report"; p.kinds() != want {
			t.Errorf("%s, want %s", p.kinds(), want)
		}
	})
	t.Run("S2-26 a pass is a success, and the operator is told", func(t *testing.T) {
		p := newPair(t, func(s *Spec) { s.TokenBudget = 100 })
		p.turn(green, time.Minute, 10)
		if r := ResultOf(p.Loop, "h"); p.Status != Success || r.Outcome != Succeeded || r.Attempts != 1 || r.Retries != 0 || r.Seconds != 60 || r.Tokens != 10 || r.Hash != "h" || p.acts[len(p.acts)-1].Kind != Report {
			t.Errorf("%+v", r)
		}
	})
	t.Run("S2-26 a pass stands although the tests used up the tokens and the time", func(t *testing.T) {
		p := newPair(t, func(s *Spec) { s.TokenBudget = 100 })
		p.take(p.ImplEnded(Worked{OK: true}, p.now))
		p.take(p.TestEnded(green, 100, p.now.Add(time.Hour)))
		if p.Status != Success {
			t.Errorf("%+v", p.Loop)
		}
	})
	t.Run("S2-27 a failure goes to impl as feedback on the channel", func(t *testing.T) {
		p := newPair(t, nil)
		p.turn(red, 0, 0)
		got, err := p.mail.Receive(p.ChannelID, p.ImplSession, p.now)
		if err != nil || len(got) != 1 || got[0].Type != FeedbackMessage || got[0].From != p.TestSession {
			t.Fatalf("%+v %v", got, err)
		}
		f, err := ParseFeedback(got[0].Payload)
		if last := p.acts[len(p.acts)-1]; err != nil || !reflect.DeepEqual(f, red) || last.Iteration != 2 || !reflect.DeepEqual(*last.Feedback, red) {
			t.Errorf("%+v %v, then %+v", f, err, last)
		}
	})
	t.Run("S2-28 a failure counts one", func(t *testing.T) {
		p := newPair(t, nil)
		for n := 1; n <= 3; n++ {
			if p.turn(red, 0, 0); p.CurrentTry != n || p.Status != Running {
				t.Errorf("%d after %d failures, %s", p.CurrentTry, n, p.Status)
			}
		}
	})
}

func TestFeedbackLoopEnds(t *testing.T) {
	t.Parallel()
	for _, most := range []int{0, 1, 3, 5} {
		t.Run(fmt.Sprintf("S2-30 with %d reworks the failure after them escalates, without feedback", most), func(t *testing.T) {
			p := newPair(t, func(s *Spec) { s.MaxIterations = &most })
			for range most {
				if p.turn(red, 0, 0); p.Status != Running {
					t.Fatalf("%s after %d failures", p.Status, p.CurrentTry)
				}
			}
			p.turn(red, 0, 0)
			sent := slices.DeleteFunc(slices.Clone(p.mail.Messages), func(m Message) bool { return m.Type != FeedbackMessage })
			if r := ResultOf(p.Loop, ""); p.Status != Raised || r.Outcome != UsedUp || len(sent) != most || r.Attempts != most+1 || r.Retries != most || p.Escalation.Type != escalation.TestFailure {
				t.Errorf("%+v, %d times feedback", r, len(sent))
			}
		})
	}
	t.Run("S2-89 S2-29 the limit calls the operator, once", func(t *testing.T) {
		p := newPair(t, nil)
		for range 4 {
			p.turn(red, 0, 0)
		}
		if strings.Count(p.kinds(), "escalate") != 1 || p.Status != Raised || p.Escalation.Severity != escalation.High || !strings.Contains(p.Escalation.Title, "after 3 fix attempts") || !strings.Contains(p.Escalation.Description, "TestSum") {
			t.Errorf("%s: %+v", p.kinds(), p.Escalation)
		}
		if _, _, err := p.ImplEnded(Worked{OK: true}, p.now); err == nil {
			t.Error("it goes on")
		}
		if _, _, err := p.TestEnded(green, 0, p.now); err == nil {
			t.Error("it passes afterwards")
		}
	})
	t.Run("S2-31 cancelled, broken, or not readable is failed, never success", func(t *testing.T) {
		for name, end := range map[string]func(p *pair) (Loop, []Action, error){
			"cancelled": func(p *pair) (Loop, []Action, error) { return p.Break("cancelled", p.now) },
			"a contradiction": func(p *pair) (Loop, []Action, error) {
				l, _, _ := p.ImplEnded(Worked{OK: true}, p.now)
				return l.TestEnded(TestFeedback{Success: true, FailedTests: red.FailedTests}, 0, p.now)
			},
		} {
			p := newPair(t, nil)
			p.take(end(p))
			if p.Status != Failed || p.Outcome != Broke || p.Reason == "" || !strings.HasSuffix(p.kinds(), "stop, close, report") {
				t.Errorf("%s: %+v", name, p.Loop)
			}
			if _, _, err := p.Break("again", p.now); err == nil {
				t.Errorf("%s: it ended twice", name)
			}
		}
	})
	t.Run("S2-21 the statuses", func(t *testing.T) {
		if got := []LoopStatus{Running, Success, Failed, Raised}; !slices.Equal(got, []LoopStatus{"running", "success", "failed", "escalated"}) {
			t.Error(got)
		}
	})
	t.Run("a worker that failed is a failing turn without a test", func(t *testing.T) {
		p := newPair(t, nil)
		p.take(p.ImplEnded(Worked{Reason: "exit status 3"}, p.now))
		last := p.acts[len(p.acts)-1]
		if p.CurrentTry != 1 || p.Attempt != 2 || len(p.mail.Messages) != 0 || last.Kind != StartImpl || !strings.Contains(last.Feedback.Suggestions[0], "exit status 3") {
			t.Errorf("%+v", p.Loop)
		}
	})
}

func TestTriggersOfThePair(t *testing.T) {
	t.Parallel()
	budget := func(s *Spec) { s.TokenBudget = 1000 }
	hour := time.Hour
	for _, c := range []struct {
		name    string
		change  func(*Spec)
		play    func(p *pair)
		outcome Outcome
		typ     escalation.Type
		sev     escalation.Severity
	}{
		{"S2-65 the reworks are used up", nil, func(p *pair) {
			for range 4 {
				p.turn(red, 0, 0)
			}
		}, UsedUp, escalation.TestFailure, escalation.High},
		{"S2-66 95 per cent of the tokens over several turns", budget, func(p *pair) { p.turn(red, 0, 500); p.turn(red, 0, 450) }, OutOfTokens, escalation.TokenExhausted, escalation.Medium},
		{"S2-66 94.9 per cent", budget, func(p *pair) { p.turn(red, 0, 949) }, "", "", ""},
		{"S2-66 while a worker runs", budget, func(p *pair) { p.take(p.Tick(949, p.now)); p.take(p.Tick(950, p.now)) }, OutOfTokens, escalation.TokenExhausted, escalation.Medium},
		{"S2-51 S2-67 thirty minutes by default, over", nil, func(p *pair) { p.take(p.Tick(0, t0.Add(30*time.Minute+1))) }, TimedOut, escalation.TimedOut, escalation.High},
		{"S2-67 exactly thirty minutes", nil, func(p *pair) { p.take(p.Tick(0, t0.Add(30*time.Minute))) }, "", "", ""},
		{"S2-51 the port's own time, for all turns together", func(s *Spec) { s.Timeout = &hour }, func(p *pair) { p.turn(red, 40*time.Minute, 0); p.turn(red, 21*time.Minute, 0) }, TimedOut, escalation.TimedOut, escalation.High},
		{"S2-68 the reworks come before tokens and time", budget, func(p *pair) {
			for range 3 {
				p.turn(red, 0, 0)
			}
			p.take(p.ImplEnded(Worked{OK: true}, p.now))
			p.take(p.TestEnded(red, 5000, p.now.Add(hour)))
		}, UsedUp, escalation.TestFailure, escalation.High},
		{"S2-69 no timeout and no budget fire never", func(s *Spec) { s.Timeout = new(time.Duration) }, func(p *pair) { p.take(p.Tick(1<<40, t0.Add(1000*hour))) }, "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPair(t, c.change)
			c.play(p)
			if p.Outcome != c.outcome || (p.Escalation == nil) != (c.typ == "") || (p.Status == Running) != (c.outcome == "") {
				t.Fatalf("%+v", p.Loop)
			}
			if e := p.Escalation; e != nil && (e.Type != c.typ || e.Severity != c.sev || e.Title == "" || e.Description == "" || len(e.Suggested) == 0) {
				t.Errorf("%+v", e)
			}
		})
	}
	t.Run("S2-15 either worker can call the operator by itself, nobody else", func(t *testing.T) {
		for _, who := range []string{"build/api/impl", "build/api/test"} {
			p := newPair(t, nil)
			p.take(p.Raise(who, escalation.Conflict, escalation.Critical, "two ports own the file", p.now))
			if p.Status != Raised || p.Escalation.Type != escalation.Conflict || !strings.HasSuffix(p.kinds(), "escalate, report") {
				t.Errorf("%+v", p.Loop)
			}
		}
		p := newPair(t, nil)
		for _, bad := range []func() (Loop, []Action, error){
			func() (Loop, []Action, error) {
				return p.Raise("build/ui/impl", escalation.General, escalation.Low, "", p.now)
			},
			func() (Loop, []Action, error) {
				return p.Raise(p.ImplSession, "panic", escalation.Low, "", p.now)
			},
		} {
			if l, acts, err := bad(); err == nil || l.Status != Running || len(acts) > 0 {
				t.Errorf("%+v", l)
			}
		}
	})
}

func TestFeedbackValues(t *testing.T) {
	t.Parallel()
	t.Run("S2-23 S2-24 feedback by its names", func(t *testing.T) {
		f := TestFeedback{FailedTests: []FailedTest{{"n", "e", "a", "s", "f", "x.go", 3}}, Suggestions: []string{"g"}, Metrics: Metrics{2, 1, 1, 0, 1.5}}
		want := `{"success":false,"failed_tests":[{"name":"n","expected":"e","actual":"a","stack_trace":"s","suggested_fix":"f","file":"x.go","line":3}],"suggestions":["g"],"metrics":{"total":2,"passed":1,"failed":1,"skipped":0,"seconds":1.5}}`
		if got := string(encode(f)); got != want {
			t.Error(got)
		}
		if back, err := ParseFeedback([]byte(want)); err != nil || !reflect.DeepEqual(back, f) {
			t.Errorf("%+v %v", back, err)
		}
	})
	t.Run("S2-31 what is not readable, or contradicts itself, is an error", func(t *testing.T) {
		for _, bad := range []string{``, `{`, `[]`, `{}`, `{"success":"yes"}`, `{"success":true,"failed_tests":[{"name":"x"}]}`, `{"success":true,"metrics":{"failed":1}}`,
			`{"success":false,"failed_tests":[{}]}`, `{"success":false,"metrics":{"total":-1}}`} {
			if f, err := ParseFeedback([]byte(bad)); err == nil {
				t.Errorf("%s is taken as %+v", bad, f)
			}
		}
	})
	t.Run("S2-31 the error names the test", func(t *testing.T) {
		if _, err := ParseFeedback([]byte(`{"success":false,"failed_tests":[{"name":"a"},{}]}`)); err == nil || !strings.Contains(err.Error(), "failed test 2 has no name") {
			t.Error(err)
		}
	})
	t.Run("S2-24 the reason stands in for tests that are not known", func(t *testing.T) {
		if f := FeedbackOf(routing.Verdict{Result: routing.Unclear, Reason: "no test ran"}, 0); !slices.Equal(f.Suggestions, []string{"no test ran"}) {
			t.Errorf("%+v", f)
		}
		if f := FeedbackOf(routing.Verdict{Result: routing.Fail, Reason: "it failed", Failures: []routing.Failure{{Name: "A"}}}, 0); len(f.Suggestions) != 0 {
			t.Errorf("%+v", f)
		}
	})
	t.Run("S2-24 the feedback of a verdict", func(t *testing.T) {
		v := routing.Verdict{Result: routing.Fail, Counts: routing.Counts{Tests: 3, Passed: 1, Failed: 2}, Failures: []routing.Failure{
			{Name: "A", Expected: "1", Actual: "2", Trace: "a.go:3", Suggestion: "add one", File: "a.go", Line: 3}, {Name: "B", Message: "boom", Suggestion: "add one"}, {Name: "Q", Quarantined: true}}}
		f := FeedbackOf(v, 2*time.Second)
		want := []FailedTest{{"A", "1", "2", "a.go:3", "add one", "a.go", 3}, {"B", "", "boom", "", "add one", "", 0}}
		if f.Success || !reflect.DeepEqual(f.FailedTests, want) || !slices.Equal(f.Suggestions, []string{"add one"}) || f.Metrics != (Metrics{3, 1, 2, 0, 2}) || f.Validate() != nil {
			t.Errorf("%+v", f)
		}
		for _, v := range []routing.Verdict{{Result: routing.Pass, Unmet: []string{"min_tests"}}, {Result: routing.Unclear, Reason: "no test ran"}, {Result: routing.Errored}, {}} {
			if f := FeedbackOf(v, 0); f.Success {
				t.Errorf("%+v is a success", v)
			}
		}
		if !FeedbackOf(routing.Verdict{Result: routing.Pass}, 0).Success {
			t.Error("a pass is none")
		}
	})
}

// Any order of what may happen: a pair ends once, returns for a fix no more than its
// reworks, and is a success only by a green test.
func FuzzLoop(f *testing.F) {
	f.Add([]byte{0, 1, 0, 1, 0, 1, 0, 1}, uint8(3))
	f.Add([]byte{0, 2, 0, 3, 9, 4}, uint8(0))
	f.Fuzz(func(t *testing.T, steps []byte, most uint8) {
		n := int(most) % 12
		l, _ := NewLoop("b", Spec{ID: "p", MaxIterations: &n, TokenBudget: 5000}, DefaultSettings(), t0)
		now, handed, passed, ended := t0, 0, false, 0
		for _, s := range steps {
			now = now.Add(time.Duration(s) * time.Second)
			before := l
			var acts []Action
			var err error
			switch s % 6 {
			case 0:
				l, acts, err = l.ImplEnded(Worked{OK: s < 200, Tokens: int64(s)}, now)
			case 1, 2:
				l, acts, err = l.TestEnded(red, int64(s), now)
			case 3:
				l, acts, err = l.TestEnded(green, 0, now)
				passed = passed || err == nil
			case 4:
				l, acts, err = l.Tick(int64(s), now)
			case 5:
				if s > 240 {
					l, acts, err = l.Break("stop", now)
				}
			}
			if err != nil && (!reflect.DeepEqual(l, before) || len(acts) > 0) {
				t.Fatalf("refused, and changed: %+v", l)
			}
			for _, a := range acts {
				if a.Kind == StartImpl {
					handed++
				}
				if a.Kind == Report {
					ended++
				}
			}
		}
		if handed > min(n, routing.HardCap) || ended > 1 || (l.Status == Success) != passed || (l.Status == Running) != (ended == 0) || (l.Status == Raised) != (l.Escalation != nil) {
			t.Fatalf("%d returned for a fix of %d, ended %d times: %+v", handed, n, ended, l)
		}
	})
}
