package feedback

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
)

// randomPlan is any graph of up to eight nodes: circles, links to itself, to
// the root and to nowhere.
func randomPlan(r *rand.Rand) plan {
	n := 2 + r.IntN(7)
	name := func() string { return fmt.Sprintf("n%d", r.IntN(n+1)) } // the last is not in the plan
	p := planOf([]string{"", "root", "n0"}[r.IntN(3)])
	for i := range n {
		node := fmt.Sprintf("n%d", i)
		p.nodes[node] = true
		for range r.IntN(4) {
			p.link(node, []string{name()})
		}
		if r.IntN(2) == 0 {
			p.parent[node] = []string{name(), "root"}[r.IntN(2)]
		}
	}
	return p
}

// walk is a random life of a register.
type walk struct {
	*book
	r *rand.Rand
	p plan
}

func (w walk) node() string {
	if w.r.IntN(12) == 0 {
		return "root"
	}
	return fmt.Sprintf("n%d", w.r.IntN(len(w.p.nodes)+1))
}

func (w walk) message() Message {
	return Message{From: w.node(), To: w.node(), Type: Types()[w.r.IntN(4)], Text: "x", Priority: Priorities()[w.r.IntN(4)],
		SuggestedFix: "a", SuggestedAction: "b", RequestedInfo: []string{"c", ""}[min(1, w.r.IntN(8)/7)]}
}

// step does one thing at random, and reports whether it changed anything.
func (w walk) step(send bool) bool {
	if send && w.r.IntN(2) == 0 {
		w.send(w.message())
		return true
	}
	if x, ok := w.reg.Of("p").Next(); ok && w.r.IntN(2) == 0 {
		w.do(w.reg.Lifecycle(nil, w.now).Deliver(x.ID))
		return true
	}
	tasks := w.reg.Of("p").Work()
	if len(tasks) == 0 {
		return false
	}
	k := tasks[w.r.IntN(len(tasks))]
	o := Outcome{OK: w.r.IntN(3) > 0, Summary: "s", Answer: "a", Trace: "t"}
	if k.Do == Verify {
		o.OK = w.r.IntN(2) == 0
		w.do(w.reg.Lifecycle(w.p, w.now).Verified(k.ID, o))
		return true
	}
	if w.rec(k.ID).Status == Delivered {
		w.do(w.reg.Lifecycle(nil, w.now).Begin(k.ID))
		return true
	}
	w.do(w.reg.Lifecycle(w.p, w.now).Processed(k.ID, o))
	return true
}

// check states what holds always.
func (w walk) check() {
	w.t.Helper()
	used := map[[2]string]int{}
	for _, x := range w.reg.Records {
		if x.Status == Rejected {
			continue
		}
		pair := [2]string{x.Message.From, x.Message.To}
		if x.Round < 1 || x.Round > MaxRounds {
			w.t.Fatalf("%s in round %d", x.ID, x.Round)
		}
		if x.Escalates == "" {
			used[pair] += max(1, len(x.Attempts))
			if used[pair] > MaxRounds {
				w.t.Fatalf("%v went through %d rounds", pair, used[pair])
			}
		}
		verified := len(x.Attempts) > 0 && x.Attempts[len(x.Attempts)-1].Verify != nil && x.Attempts[len(x.Attempts)-1].Verify.OK
		if (x.Status == Resolved) != verified || x.ResolvedAt.IsZero() == verified || (x.Status == Failed) == x.FailedAt.IsZero() {
			w.t.Fatalf("%+v", x)
		}
	}
	w.shallow()
}

// shallow checks the chains of open feedback by walking all of them.
func (w walk) shallow() {
	w.t.Helper()
	var open [][2]string
	for _, x := range w.reg.Records {
		if x.Status.Open() {
			open = append(open, [2]string{x.Message.From, x.Message.To})
		}
	}
	var hop func(node string, depth int)
	hop = func(node string, depth int) {
		if depth > MaxDepth {
			w.t.Fatalf("a chain of %d hops among %v", depth, open)
		}
		for _, e := range open {
			if e[0] == node {
				hop(e[1], depth+1)
			}
		}
	}
	for _, e := range open {
		hop(e[0], 0) // a circle would be deeper than any bound
	}
}

func TestRandomLives(t *testing.T) {
	t.Parallel()
	sent, escalated, human, depth := 0, 0, 0, 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 3))
		p := randomPlan(r)
		w := walk{newBook(t, p), r, p}
		for range 60 {
			w.step(true)
			w.check()
		}
		// Without further sending everything comes to its end.
		for n := 0; w.open() > 0; n++ {
			if n > 2000 {
				t.Fatalf("seed %d does not end", seed)
			}
			if !w.step(false) && !w.ready() {
				t.Fatalf("seed %d: %d are open, and nothing can be done", seed, w.open())
			}
			w.check()
		}
		w.sameWhenFoldedAgain()
		for _, x := range w.reg.Records {
			switch {
			case x.Status != Rejected && x.Escalates == "":
				sent++
			case x.Escalates != "":
				escalated++
			case x.Refusal.Why == Depth:
				depth++
			}
			if x.Escalated != nil && x.Escalated.Human != nil {
				human++
			}
		}
	}
	if sent < 1000 || escalated < 100 || human < 100 || depth < 10 {
		t.Errorf("too little happened: %d sent, %d to the root, %d to humans, %d too deep", sent, escalated, human, depth)
	}
}

func (w walk) open() (n int) {
	for _, x := range w.reg.Records {
		if x.Status.Open() {
			n++
		}
	}
	return n
}

// ready reports whether something can be done now.
func (w walk) ready() bool {
	_, ok := w.reg.Of("p").Next()
	return ok || len(w.reg.Of("p").Work()) > 0
}

// sameWhenFoldedAgain folds from the beginning, and checks that no step changed
// what an earlier one had returned.
func (w walk) sameWhenFoldedAgain() {
	w.t.Helper()
	if all, err := Fold(w.events); err != nil || !same(all, w.reg) {
		w.t.Fatalf("folded at once it is another register: %v", err)
	}
	var r State
	var before []State
	for _, e := range w.events {
		before = append(before, r)
		r, _ = r.Apply(e)
	}
	for i := 0; i < len(before); i += 17 {
		if again, err := Fold(w.events[:i]); err != nil || !same(again, before[i]) {
			w.t.Fatalf("the register after %d events was changed later: %v", i, err)
		}
	}
}

// same compares registers, one of which may be the zero one.
func same(a, b State) bool {
	a, b = a.own(), b.own()
	return a.Version == b.Version && slices.EqualFunc(a.Records, b.Records, func(x, y Record) bool { return reflect.DeepEqual(x, y) }) &&
		maps.Equal(a.limits.used, b.limits.used) && sameEdges(a.limits.open.after, b.limits.open.after) && sameEdges(a.limits.open.before, b.limits.open.before)
}

// sameEdges compares edges, whose order says nothing.
func sameEdges(a, b map[spot][]spot) bool {
	return maps.EqualFunc(a, b, func(x, y []spot) bool {
		by := func(p, q spot) int { return strings.Compare(p.plan+"!"+p.node, q.plan+"!"+q.node) }
		return slices.Equal(slices.SortedFunc(slices.Values(x), by), slices.SortedFunc(slices.Values(y), by))
	})
}

// Events that this package did not write are refused, or keep the limits.
func FuzzFold(f *testing.F) {
	w := walk{newBook(f, nil), rand.New(rand.NewPCG(1, 1)), randomPlan(rand.New(rand.NewPCG(1, 1)))}
	w.g = w.p
	for range 30 {
		w.step(true)
	}
	for i := range w.events {
		data, err := json.Marshal(w.events[i].Data)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(i, string(w.events[i].Type), data)
	}
	base := w.events
	f.Fuzz(func(t *testing.T, at int, kind string, data []byte) {
		if at < 0 || at > len(base) {
			return
		}
		reg, err := Fold(append(append([]routing.Event{}, base[:at]...), routing.Event{Type: routing.EventType(kind), At: t0, Data: json.RawMessage(data)}))
		if err != nil {
			return
		}
		b := newBook(t, w.g)
		b.reg = reg
		walk{b, w.r, w.p}.shallow()
		reg.Of("p").Work()
		for _, n := range []string{"n0", "n1", "root"} {
			reg.Of("p").For(n)
			reg.Of("p").Held(w.g, n)
		}
		StatsOf(reg.Records)
	})
}
