package plan

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// recording is what ran when, as readySpan tells it.
type recording struct {
	start map[int32]time.Duration
	most  int // at once
}

func record(g Graph, took []time.Duration, concurrency int) (recording, time.Duration) {
	r := recording{start: map[int32]time.Duration{}}
	span := newSchedule(g, took).readySpan(concurrency, func(n int32, at time.Duration, running int) {
		r.start[n] = at
		r.most = max(r.most, running)
	})
	return r, span
}

func TestParallelExecution(t *testing.T) {
	t.Parallel()
	p := plan(t, "a:", "b:", "c: a", "d: a b c")
	minute := durations(p.Graph, nil)
	t.Run("S2-87 S2-42 ports that do not depend on each other run side by side", func(t *testing.T) {
		r, span := record(p.Graph, minute, 2)
		if r.start[p.number["a"]] != 0 || r.start[p.number["b"]] != 0 || r.most != 2 || span != 3*time.Minute {
			t.Errorf("%+v in %s", r, span)
		}
	})
	t.Run("S2-43 never more than the most at once", func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(5, 5))
		for range 60 {
			g, took := random(rnd, Shapes()[rnd.IntN(5)], 1+rnd.IntN(80))
			limit := 1 + rnd.IntN(6)
			if r, _ := record(g, took, limit); r.most > limit || len(r.start) != g.Len() {
				t.Fatalf("%d at once of %d, %d of %d ports ran", r.most, limit, len(r.start), g.Len())
			}
		}
	})
	t.Run("S2-44 by ready set a port starts as soon as its own dependencies passed, by level not before the level ended", func(t *testing.T) {
		long := map[string]time.Duration{"a": time.Minute, "b": time.Hour, "c": time.Minute, "d": time.Minute}
		r, span := record(p.Graph, durations(p.Graph, long), 3)
		if r.start[p.number["c"]] != time.Minute || span != time.Hour+time.Minute {
			t.Errorf("c starts after %s, all take %s", r.start[p.number["c"]], span)
		}
		if m := NewSchedule(p.Graph, long).Makespan(3); m.ByLevel != time.Hour+2*time.Minute || m.Ready != span || m.Bound != span {
			t.Errorf("%+v", m)
		}
	})
	t.Run("S2-50 parallel false is one at a time in the order of dependencies", func(t *testing.T) {
		s := DefaultSettings()
		if !s.Parallel || s.Concurrency() != 3 {
			t.Errorf("the default is %+v", s)
		}
		s.Parallel = false
		if p.Jobs(s, State{}, nil, false).MaxParallel != 1 {
			t.Error("more than one")
		}
		st := State{Passed: map[string]string{}}
		var got []string
		for range p.Len() {
			next := p.Ready(s, st, nil, nil)
			if len(next) != 1 {
				t.Fatalf("%v after %v", next, got)
			}
			running := st
			running.Running = next
			if more := p.Ready(s, running, nil, nil); len(more) != 0 {
				t.Fatalf("%v beside %v", more, next)
			}
			got = append(got, next...)
			st.Passed[next[0]] = ""
		}
		if strings.Join(got, "") != "acbd" && strings.Join(got, "") != "abcd" {
			t.Error(got)
		}
	})
}

func TestDependencyOrder(t *testing.T) {
	t.Parallel()
	t.Run("S2-88 nothing starts before all it depends on has ended", func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(6, 6))
		for range 60 {
			g, took := random(rnd, Shapes()[rnd.IntN(5)], 1+rnd.IntN(80))
			r, _ := record(g, took, 1+rnd.IntN(6))
			for n := range int32(g.Len()) {
				for _, d := range g.deps.of(n) {
					if r.start[n] < r.start[d]+took[d] {
						t.Fatalf("%s starts before %s ended", g.ids[n], g.ids[d])
					}
				}
			}
		}
	})
	t.Run("priority orders what is ready, then the longest chain behind", func(t *testing.T) {
		p, err := Compile([]File{{"p.yml", []byte("- {id: late, priority: low}\n- {id: a}\n- {id: head}\n- {id: tail, depends_on: head}\n- {id: first, priority: 1}\n")}})
		if err != nil {
			t.Fatal(err)
		}
		s := DefaultSettings()
		s.MaxConcurrency = 9
		if got := fmt.Sprint(p.Ready(s, State{}, nil, map[string]time.Duration{"a": time.Minute, "head": time.Minute})); got != "[first head a late]" {
			t.Error(got)
		}
	})
}

func TestSettings(t *testing.T) {
	t.Parallel()
	change := func(f func(*Settings)) error {
		s := DefaultSettings()
		f(&s)
		return s.Validate()
	}
	t.Run("S2-49 three ports at once by default", func(t *testing.T) {
		if s := DefaultSettings(); s.MaxConcurrency != 3 || s.Validate() != nil || plan(t, "a:").Jobs(s, State{}, nil, false).MaxParallel != 3 {
			t.Errorf("%+v", s)
		}
	})
	t.Run("S2-52 less than one at once is refused", func(t *testing.T) {
		for _, n := range []int{0, -1} {
			if err := change(func(s *Settings) { s.MaxConcurrency = n }); err == nil || !strings.Contains(err.Error(), "must be at least 1") {
				t.Errorf("%d: %v", n, err)
			}
		}
	})
	for _, c := range []struct {
		timeout    time.Duration
		iterations int
		ok         bool
	}{{0, 0, true}, {longestTimeout, 10, true}, {longestTimeout + 1, 0, false}, {-1, 0, false}, {0, 11, false}, {0, -1, false}} {
		if err := change(func(s *Settings) { s.Timeout, s.MaxIterations = c.timeout, c.iterations }); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if s := (Settings{Parallel: true}); s.Concurrency() != 1 || fmt.Sprint(s.Labels(Spec{})) != "[ubuntu-latest]" {
		t.Errorf("settings of nothing: %d at once on %v", s.Concurrency(), s.Labels(Spec{}))
	}
	if err := change(func(s *Settings) { s.Timeout, s.MaxIterations = -1, 11 }); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("%v", err)
	}
}

func TestCriticalPath(t *testing.T) {
	t.Parallel()
	p := plan(t, "a:", "b:", "c: a", "d: c b", "e:")
	took := map[string]time.Duration{"a": 10, "b": 25, "c": 10, "d": 10}
	got := NewSchedule(p.Graph, took).CriticalPath()
	if fmt.Sprint(got.Ports) != "[b d]" || got.Length != 35 {
		t.Errorf("%+v", got)
	}
	if got := NewSchedule(p.Graph, map[string]time.Duration{"a": 40, "b": 5, "e": 5}).CriticalPath(); fmt.Sprint(got.Ports) != "[a c d]" {
		t.Errorf("the first port's path is the longest: %+v", got)
	}
	if m := NewSchedule(p.Graph, took).Makespan(2); m.Critical != 35 || m.Share != 33 || m.Bound != 35 { // e takes the median, 10
		t.Errorf("%+v", m)
	}
	if m := NewSchedule(p.Graph, took).Makespan(0); m.Ready != 65 || m.ByLevel != 65 {
		t.Errorf("one at a time: %+v", m)
	}
}

// No schedule is shorter than the bound, and the ready set comes within a tenth
// of it in the median of every shape, of the contended plans, and of all. Levels
// do not: that is what the ready set is for.
func TestReadySetIsNearTheBound(t *testing.T) {
	t.Parallel()
	groups := map[string][]Trial{}
	sizes := map[int]bool{}
	for seed := range uint64(2) {
		s := DefaultSimulation()
		s.Seed = seed + 1
		for _, tr := range s.Run() {
			sizes[tr.Ports] = true
			if tr.Ready < tr.Bound || tr.ByLevel < tr.Bound || tr.Bound <= 0 {
				t.Fatalf("shorter than the bound: %+v", tr)
			}
			// Graham's bound holds for any order in which nothing idles.
			if tr.Ready > tr.Critical+tr.Share {
				t.Fatalf("runners stood idle: %+v", tr)
			}
			groups[string(tr.Shape)] = append(groups[string(tr.Shape)], tr)
			groups["all"] = append(groups["all"], tr)
			if tr.Contended() {
				groups["contended"] = append(groups["contended"], tr)
			}
		}
	}
	if !sizes[10_000] || len(groups["contended"]) < 30 {
		t.Fatalf("sizes %v, %d contended", sizes, len(groups["contended"]))
	}
	for name, trials := range groups {
		ready, level := medians(trials)
		t.Logf("%-10s %3d plans: ready set %.3f, by level %.3f", name, len(trials), ready, level)
		if ready > 1.10 || level < ready {
			t.Errorf("%s: the ready set takes %.3f of the bound, levels %.3f", name, ready, level)
		}
	}
}

// medians are the ratios to the bound that half of the plans do not exceed.
func medians(trials []Trial) (ready, level float64) {
	var r, l []float64
	for _, t := range trials {
		r, l = append(r, t.ReadyRatio()), append(l, t.LevelRatio())
	}
	return quantile(r, 0.5), quantile(l, 0.5)
}

func TestSimulationPrints(t *testing.T) {
	t.Parallel()
	s := Simulation{Seed: 9, Rounds: 2, Sizes: []int{1, 30}, Concurrency: []int{2}}
	var a, b bytes.Buffer
	if err := cmp.Or(WriteTrials(&a, s.Run()), WriteTrials(&b, s.Run())); err != nil || a.String() != b.String() {
		t.Error("the same seed plays another game")
	}
	for _, want := range []string{"sparse        2      4   1–30", "trees", "contended", "all"} {
		if !strings.Contains(a.String(), want) {
			t.Errorf("lacks %q:\n%s", want, a.String())
		}
	}
	var table bytes.Buffer
	trial := func(ready time.Duration) Trial {
		return Trial{Shape: Trees, Ports: 7, Concurrency: 2, Makespan: Makespan{Critical: 10, Share: 10, Bound: 10, Ready: ready, ByLevel: 2 * ready}}
	}
	easy := trial(20)
	easy.Ports, easy.Share = 9, 5
	if err := WriteTrials(&table, []Trial{trial(10), trial(11), trial(12), easy, trial(13)}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{ // of 5 in order, the third is the median; of 4, too
		"trees        2      5    7–9              1.200  2.000  2.000             2.400  4.000  4.000",
		"contended               4    7–7              1.200  1.300  1.300             2.400  2.600  2.600",
		"all               5    7–9              1.200",
	} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("lacks %q:\n%s", want, table.String())
		}
	}
	for share, hard := range map[time.Duration]bool{5: false, 6: true, 19: true, 20: false} {
		if got := (Trial{Makespan: Makespan{Critical: 10, Share: share}}).Contended(); got != hard {
			t.Errorf("a chain of 10 and a share of %d: %v", share, got)
		}
	}
	if r, l := medians(nil); r != 0 || l != 0 {
		t.Error("medians of nothing")
	}
}

func TestJobs(t *testing.T) {
	t.Parallel()
	p, err := Compile([]File{{"p.yml", []byte(`
- {id: a, title: A, runs_on: [self-hosted, gpu], timeout: 90s, max_iterations: 0}
- {id: b, timeout: 0}
- {id: c, depends_on: a}
- {id: d, depends_on: [a, b, c], status: pending}
- {id: e, status: done}
- {id: f, depends_on: e}
- {id: g, status: held}
- {id: h, depends_on: g}
`)}})
	if err != nil {
		t.Fatal(err)
	}
	hash := map[string]string{"a": "1", "b": "1", "c": "1", "d": "1"}
	for _, c := range []struct {
		name  string
		st    State
		ready bool
		want  string
	}{
		{"all that needs work", State{}, false, "a b c f d | [{h [g]}]"},
		{"what is ready", State{}, true, "a b f | [{h [g]}]"},
		{"passed with the same content is left out", State{Passed: map[string]string{"a": "1"}}, true, "b c f | [{h [g]}]"},
		{"passed with other content is run again, and first", State{Passed: map[string]string{"a": "0", "b": "1"}}, true, "a f | [{h [g]}]"},
		{"S2-48 the dependents of a failed port are blocked, others go on", State{Passed: map[string]string{"b": "1"}, Failed: []string{"a"}}, false, "f | [{c [a]} {h [g]} {d [a c]}]"},
		{"a port that failed before and passed since", State{Passed: map[string]string{"a": "1"}, Failed: []string{"a"}}, true, "b c f | [{h [g]}]"},
		{"what runs is not begun again", State{Running: []string{"a", "b"}}, true, "f | [{h [g]}]"},
		{"nothing is left", State{Passed: map[string]string{"a": "1", "b": "1", "c": "1", "d": "1", "f": ""}}, false, " | [{h [g]}]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := p.Jobs(DefaultSettings(), c.st, hash, c.ready)
			var ids []string
			for _, e := range m.Matrix.Include {
				ids = append(ids, e.ID)
			}
			if got := strings.Join(ids, " ") + " | " + fmt.Sprint(m.Blocked); got != c.want || m.Empty != (len(ids) == 0) || len(m.Levels) != 3 {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
	all := p.Jobs(DefaultSettings(), State{}, hash, false).Matrix.Include
	a, b, c := all[0], all[1], all[2]
	if fmt.Sprintln(a.RunsOn, a.Minutes, a.Turns, a.Hash, a.Title, a.File, a.Level) != "[self-hosted gpu] 12 0 1 A p.yml 0\n" {
		t.Errorf("%+v", a)
	}
	if b.Minutes != 360 || c.Minutes != 40 || c.Turns != 3 || c.Level != 1 || fmt.Sprint(c.RunsOn) != "[ubuntu-latest]" {
		t.Errorf("%+v %+v", b, c)
	}
}

func TestShards(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]int{0: 0, 1: 1, 255: 1, 256: 2, 300: 2, 10_000: 40} {
		lines := make([]string, size)
		for i := range lines {
			lines[i] = fmt.Sprintf("p%05d", i)
		}
		m := plan(t, lines...).Jobs(DefaultSettings(), State{}, nil, false)
		var all []Entry
		for i := range m.Shards {
			s := m.Shard(i)
			if len(s.Include) == 0 || len(s.Include) >= 256 {
				t.Errorf("%d ports: a shard of %d", size, len(s.Include))
			}
			all = append(all, s.Include...)
		}
		if len(m.Shards) != want || m.Empty != (size == 0) || m.Matrix.Include == nil ||
			!slices.EqualFunc(all, m.Matrix.Include, func(a, b Entry) bool { return a.ID == b.ID }) {
			t.Errorf("%d ports: %d shards of %d jobs", size, len(m.Shards), len(all))
		}
		if none := m.Shard(want); none.Include == nil || len(none.Include) > 0 || len(m.Shard(-1).Include) > 0 {
			t.Errorf("%d ports: there is a shard beyond the last", size)
		}
	}
	if got := shortTitle(strings.Repeat("é", 200)); len([]rune(got)) != 120 || !strings.HasSuffix(got, "é…") {
		t.Errorf("%q", got)
	}
}
