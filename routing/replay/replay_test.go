package replay

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/routingtest"
)

func always(p routing.Policy) Rules {
	return Rules{Policy: func(_, _ string, label *int) routing.Policy {
		p := p
		if label != nil {
			p.Override, p.Labelled = label, true
		}
		return p
	}}
}

// stored returns the events as a ledger gives them back.
func stored(t *testing.T, events []routing.Event) []routing.Event {
	t.Helper()
	data, err := json.Marshal(events)
	if err != nil {
		t.Fatal(err)
	}
	var out []routing.Event
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Under the policy that a stream was recorded under nothing differs, whatever
// happened in it.
func TestSamePolicy(t *testing.T) {
	t.Parallel()
	runs, humans := 0, 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := routingtest.Policy(r)
		if seed%3 == 0 {
			n := r.IntN(6)
			p.Override, p.Labelled = &n, true
		}
		c, events := routingtest.Stream(r, "acme/app#7", 50, p)
		rules := always(p)
		if p.Labelled { // the configuration does not have it
			bare := p
			bare.Override, bare.Labelled = nil, false
			rules = always(bare)
		}
		events = stored(t, events)
		got, err := Case(c.Key, events, nil, rules)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if len(got.Differences)+len(got.Left)+got.Awaits > 0 {
			t.Fatalf("seed %d: %d differences, the first %+v; left out %+v; %d wait", seed, len(got.Differences), got.Differences[:min(1, len(got.Differences))], got.Left, got.Awaits)
		}
		again, err := walk(c.Key, events, &rules)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range c.Names() {
			a, b := again.then.Checkpoints[name], c.Checkpoints[name]
			if a.State != b.State || a.Retries != b.Retries || len(a.Attempts) != len(b.Attempts) || len(a.Acts) != len(b.Acts) {
				t.Fatalf("seed %d: %s became %s with %d turns, was %s with %d", seed, name, a.State, len(a.Attempts), b.State, len(b.Attempts))
			}
			humans += len(a.Acts)
		}
		runs += got.Runs
	}
	if runs < 1000 || humans < 200 {
		t.Errorf("%d runs and %d acts of humans: the streams show too little", runs, humans)
	}
}

// Any two policies: no error, the same answer twice, and the differences of one
// way are those of the other.
func TestAnyPolicy(t *testing.T) {
	t.Parallel()
	differ, left := 0, 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 2))
		p, q := routingtest.Policy(r), routingtest.Policy(r)
		c, events := routingtest.Stream(r, "acme/app#7", 50, p)
		old := always(p)
		a, err := Case(c.Key, events, nil, always(q))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for name, again := range map[string]func() (Result, error){
			"decided twice":              func() (Result, error) { return Case(c.Key, events, nil, always(q)) },
			"as stored":                  func() (Result, error) { return Case(c.Key, stored(t, events), nil, always(q)) },
			"against the same by policy": func() (Result, error) { return Case(c.Key, events, &old, always(q)) },
		} {
			if b, err := again(); err != nil || !reflect.DeepEqual(a, b) {
				t.Fatalf("seed %d: %s: %v\n%+v\n%+v", seed, name, err, a, b)
			}
		}
		differ += len(a.Differences)
		left += len(a.Left)
		for i, d := range a.Differences {
			if d.Old == d.New || d.Follows != (i > 0) || d.Case != c.Key {
				t.Fatalf("seed %d: %+v", seed, d)
			}
		}
	}
	if differ < 150 || left < 15 {
		t.Errorf("%d differences, %d answers left out: the policies show too little", differ, left)
	}
}

// play is a stream of runs of one checkpoint, each on a commit of its own.
type play struct {
	t      *testing.T
	p      routing.Policy
	c      routing.Case
	events []routing.Event
}

func newPlay(t *testing.T, p routing.Policy) *play {
	return &play{t: t, p: p, c: routing.Case{Key: "acme/app#7"}}
}

func (s *play) add(e routing.Event) {
	s.t.Helper()
	e.At = routingtest.Start.Add(time.Duration(len(s.events)) * time.Minute)
	c, err := s.c.Apply(e)
	if err != nil {
		s.t.Fatal(err)
	}
	c, more, err := routing.Release(c, func(string) routing.Policy { return s.p }, e.At)
	if err != nil {
		s.t.Fatal(err)
	}
	s.c, s.events = c, append(append(s.events, e), more...)
}

func (s *play) run(class routing.Class) {
	s.t.Helper()
	n := len(s.events) + 1
	v := routing.Verdict{Checkpoint: "unit", Result: routing.Fail, Class: class, Counts: routing.Counts{Tests: 10},
		Run:      routing.Run{Repository: "acme/app", ID: fmt.Sprint(n), SHA: fmt.Sprintf("%040x", n)},
		Failures: []routing.Failure{{Name: "T", Class: class, Fingerprint: string(class), Decisive: true}}}
	if class == "" {
		v.Result, v.Failures = routing.Pass, nil
	}
	s.add(routing.RunEvent(s.c.Key, v, routing.Decide(s.c, v, s.p, routingtest.Start), routingtest.Start))
}

func (s *play) human(e routing.HumanActed) {
	s.t.Helper()
	e.Checkpoint, e.By = "unit", "mona"
	if err := s.c.Admit(e); err != nil {
		s.t.Fatal(err)
	}
	s.add(routing.HumanEvent(s.c.Key, e, routingtest.Start))
}

func (s *play) under(change func(*routing.Policy)) Result {
	s.t.Helper()
	p := s.p
	change(&p)
	r, err := Case(s.c.Key, s.events, nil, always(p))
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// is checks the differences as "run: old → new".
func (r Result) is(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	for _, d := range r.Differences {
		got = append(got, fmt.Sprintf("%s: %s → %s", d.Run, d.Old, d.New))
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("differences %q\nwant %q", got, want)
	}
}

func TestWhatIf(t *testing.T) {
	t.Parallel()
	t.Run("a lower limit opens an escalation earlier, and nobody answers", func(t *testing.T) {
		s := newPlay(t, routing.DefaultPolicy())
		for range 3 {
			s.run(routing.LogicError)
		}
		s.run("")
		r := s.under(func(p *routing.Policy) { p.Max = 1 })
		r.is(t, "2: RETRY (fixable), back to implement → ESCALATE_MAX_RETRY (limit-reached)", "3: RETRY (fixable), back to implement → NONE (held-by-escalation)")
		if r.Runs != 4 || r.Differences[0].Follows || !r.Differences[1].Follows || r.Awaits != 0 {
			t.Errorf("%+v", r)
		}
		if d := s.under(func(p *routing.Policy) { p.Max = 2 }); len(d.Differences) != 1 || d.Awaits != 0 {
			t.Errorf("%+v", d)
		}
	})
	t.Run("an answer to a call that would not have been is left out, and said so", func(t *testing.T) {
		s := newPlay(t, routing.DefaultPolicy())
		s.run(routing.DesignMismatch)
		s.human(routing.HumanActed{Action: routing.HumanResume, Answer: "a"})
		s.run("")
		r := s.under(func(p *routing.Policy) { p.EscalateOnDesign = false })
		r.is(t, "1: ESCALATE_DESIGN (design) → RETRY (fixable), back to plan")
		if len(r.Left) != 1 || r.Left[0].Action != routing.HumanResume || r.Left[0].Why != "no human would have been called" {
			t.Errorf("%+v", r.Left)
		}
	})
	t.Run("what a human said of a test or a class still holds", func(t *testing.T) {
		s := newPlay(t, routing.DefaultPolicy())
		s.run(routing.EnvIssue)
		s.human(routing.HumanActed{Action: routing.HumanWrong, Class: routing.LogicError, Answer: "a"})
		s.run(routing.EnvIssue)
		r := s.under(func(p *routing.Policy) { p.Max = 0 })
		r.is(t, "1: RETRY (fixable), back to implement → ESCALATE_MAX_RETRY (limit-reached)", "4: RETRY (fixable), back to implement → NONE (held-by-escalation)")
		if len(r.Left) != 0 {
			t.Errorf("%+v", r.Left)
		}
	})
	t.Run("a limit that a label gave stays whatever the configuration says", func(t *testing.T) {
		five := 5
		p := routing.DefaultPolicy()
		p.Override, p.Labelled = &five, true
		s := newPlay(t, p)
		for range 5 {
			s.run(routing.LogicError)
		}
		s.under(func(p *routing.Policy) { p.Override, p.Labelled, p.Max = nil, false, 1 }).is(t)
	})
	t.Run("a quarantine turns a failing run into a pass", func(t *testing.T) {
		s := newPlay(t, routing.DefaultPolicy())
		s.run(routing.LogicError)
		s.under(func(p *routing.Policy) {
			p.Quarantine = []routing.NamedTest{{Test: "T", Until: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)}}
		}).is(t, "1: RETRY (fixable), back to implement → PASS (pass)")
	})
	t.Run("criteria are looked at anew", func(t *testing.T) {
		s := newPlay(t, routing.DefaultPolicy())
		s.run("")
		rules := always(s.p)
		rules.Unmet = func(string, routing.Verdict) []string { return []string{"too few"} }
		r, err := Case(s.c.Key, s.events, nil, rules)
		if err != nil {
			t.Fatal(err)
		}
		r.is(t, "1: PASS (pass) → ESCALATE_UNCLEAR (criteria-unmet)")
		if r.Awaits != 1 {
			t.Errorf("%d wait", r.Awaits)
		}
	})
	t.Run("a review is looked at anew under another threshold", func(t *testing.T) {
		s := newPlay(t, routing.DefaultPolicy())
		v := routing.ReviewVerdict("unit", routing.Run{ID: "9", SHA: "abc"}, routing.ReviewResult{Decision: routing.Approved, Issues: []routing.ReviewIssue{{Severity: routing.Major, Category: "style"}}}, s.p.FailOn)
		s.add(routing.RunEvent(s.c.Key, v, routing.Decide(s.c, v, s.p, routingtest.Start), routingtest.Start))
		s.under(func(p *routing.Policy) { p.FailOn = routing.FailOn{routing.Major: 1} }).is(t, "9: PASS (pass) → RETRY (fixable), back to implement")
	})
}

func TestSum(t *testing.T) {
	t.Parallel()
	s := newPlay(t, routing.DefaultPolicy())
	for range 4 {
		s.run(routing.LogicError)
	}
	r := s.under(func(p *routing.Policy) { p.Max = 1 })
	var sum Sum
	sum.Add(r)
	sum.Add(r)
	sum.Add(Result{Runs: 1})
	if sum.Cases != 3 || sum.Affected != 2 || sum.Runs != 9 || sum.Differing != 2*len(r.Differences) {
		t.Errorf("%+v", sum)
	}
	n := 0
	for _, to := range sum.Matrix {
		for _, x := range to {
			n += x
		}
	}
	all := sum.Sorted()
	for i, c := range all.Changes {
		n -= c.Runs
		if i > 0 && c.Runs > all.Changes[i-1].Runs {
			t.Errorf("not in order: %+v", all.Changes)
		}
	}
	if n != 0 {
		t.Errorf("the matrix has %d runs more than the changes", n)
	}
}
