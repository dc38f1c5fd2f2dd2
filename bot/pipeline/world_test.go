package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
)

const key = "acme/app#1"

// world is what stands outside: one comment per checkpoint, one check per
// commit, one issue per kind, hand-offs that cannot be taken back. It is
// idempotent by key where it is asked to look, and only there.
type world struct {
	mu     sync.Mutex
	calls  []string // kinds in the order carried out
	posts  map[string]string
	starts map[string]int // key → how often a worker was started
	wrong  []string
}

func newWorld() *world { return &world{posts: map[string]string{}, starts: map[string]int{}} }

func (w *world) Do(_ context.Context, c routing.Case, e routing.Effect, fresh bool) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, string(e.Kind)+" "+fmt.Sprint(e.Iteration))
	cp := c.Checkpoints[e.Checkpoint]
	switch e.Kind {
	case routing.EffectHandoff, routing.EffectReview, routing.EffectReady:
		if fresh && w.starts[e.Key] > 0 {
			w.wrong = append(w.wrong, e.Key+" is said to be fresh and is there")
		}
		if fresh || w.starts[e.Key] == 0 {
			w.starts[e.Key]++
		}
		return "run", nil
	case routing.EffectCheck:
		if fresh && w.posts[e.Slot] != "" {
			w.wrong = append(w.wrong, e.Slot+" is created a second time")
		}
	}
	w.posts[e.Slot] = fmt.Sprintf("%s %s %d/%d turns %d", e.Kind, cp.State, cp.Retries, cp.Limit, len(cp.Attempts))
	return "ref-" + e.Slot, nil
}

// state is what a person sees in the end.
func (w *world) state() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(w.posts)) {
		fmt.Fprintf(&b, "%s: %s\n", k, w.posts[k])
	}
	for _, k := range slices.Sorted(maps.Keys(w.starts)) {
		fmt.Fprintf(&b, "%s: started %d times\n", k, w.starts[k])
	}
	return b.String()
}

func verdict(run int, result routing.Result, class routing.Class) routing.Verdict {
	v := routing.Verdict{
		Checkpoint: "ci", Result: result, Class: class, Counts: routing.Counts{Tests: 3, Passed: 3},
		Run: routing.Run{Repository: "acme/app", ID: fmt.Sprint(run), Attempt: 1, SHA: fmt.Sprintf("%040d", run)},
	}
	if result != routing.Pass {
		v.Counts = routing.Counts{Tests: 3, Passed: 2, Failed: 1}
		v.Failures = []routing.Failure{{Name: "t", Class: class, Fingerprint: "f", Decisive: true}}
	}
	return v
}

func failing(run int) routing.Verdict { return verdict(run, routing.Fail, routing.LogicError) }
func passing(run int) routing.Verdict { return verdict(run, routing.Pass, "") }

// defaults is the policy of an empty configuration.
func defaults(string) routing.Policy { return routing.DefaultPolicy() }

// clock is a time that only the test moves: a sleep moves it.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func (k *clock) Now() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.now
}

func (k *clock) Sleep(ctx context.Context, d time.Duration) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.now = k.now.Add(d)
	return ctx.Err()
}

func line(led ledger.Ledger, eff Effector, k *clock, owner string) *Pipeline {
	return &Pipeline{Ledger: led, Effector: eff, Owner: owner, Now: k.Now, Sleep: k.Sleep}
}

// deliver is what a process does with one run.
func deliver(ctx context.Context, l *Pipeline, v routing.Verdict) (Recorded, routing.Case, error) {
	rec, err := l.Record(ctx, key, v, defaults)
	if err != nil {
		return rec, rec.Case, err
	}
	c, err := l.Apply(ctx, rec)
	return rec, c, err
}

func mustDeliver(t *testing.T, l *Pipeline, v routing.Verdict) (Recorded, routing.Case) {
	t.Helper()
	rec, c, err := deliver(t.Context(), l, v)
	if err != nil {
		t.Fatal(err)
	}
	return rec, c
}

func load(t *testing.T, led ledger.Ledger) ([]routing.Event, routing.Case) {
	t.Helper()
	events, _, err := led.Load(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	c, err := routing.Fold(key, events)
	if err != nil {
		t.Fatal(err)
	}
	return events, c
}

// counted is a ledger that remembers how many events each append had.
type counted struct {
	ledger.Ledger
	appends []int
}

func (l *counted) Append(ctx context.Context, key string, seen ledger.Version, ev []routing.Event) (ledger.Version, error) {
	l.appends = append(l.appends, len(ev))
	return l.Ledger.Append(ctx, key, seen, ev)
}

// crash ends a process where it stands.
type crash struct{}

// mortal counts the steps of a process and ends it at one of them: before or
// after an append, before or after an effect. What is dead does nothing more.
type mortal struct {
	ledger.Ledger
	Effector
	at, step int
	how      func() error // panics, or returns what the step fails with
	dead     bool
}

func (m *mortal) here() error {
	if m.dead {
		panic("a dead process goes on")
	}
	m.step++
	if m.step != m.at {
		return nil
	}
	err := m.how()
	return err
}

func (m *mortal) Append(ctx context.Context, key string, seen ledger.Version, ev []routing.Event) (ledger.Version, error) {
	if err := m.here(); err != nil {
		return "", err
	}
	v, err := m.Ledger.Append(ctx, key, seen, ev)
	if e := m.here(); e != nil {
		return "", e
	}
	return v, err
}

func (m *mortal) Do(ctx context.Context, c routing.Case, e routing.Effect, fresh bool) (string, error) {
	if err := m.here(); err != nil {
		return "", err
	}
	ref, err := m.Effector.Do(ctx, c, e, fresh)
	if e := m.here(); e != nil {
		return "", e
	}
	return ref, err
}

var errStorage = errors.New("the disk is gone")

// live runs one delivery and returns whether it died or failed on the way.
func (m *mortal) live(ctx context.Context, k *clock, owner string, v routing.Verdict) (ended bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(crash); !ok {
				panic(r)
			}
			m.dead, ended = true, true
		}
	}()
	l := line(m, m, k, owner)
	l.Advise = func(error) advice.Advice { return advice.Advice{Kind: advice.Fail} }
	_, _, err := deliver(ctx, l, v)
	return err != nil
}
