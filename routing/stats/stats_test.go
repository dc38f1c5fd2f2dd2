package stats

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/routingtest"
)

type stream struct {
	key    string
	events []routing.Event
	c      routing.Case
}

// streams are random ones of two repositories, recorded under one policy each.
func streams(n int) []stream {
	var out []stream
	for i := range n {
		r := rand.New(rand.NewPCG(uint64(i), 5))
		key := fmt.Sprintf("acme/%s#%d", []string{"app", "lib"}[i%2], i)
		c, events := routingtest.Stream(r, key, 30+r.IntN(30), routingtest.Policy(r))
		out = append(out, stream{key, events, c})
	}
	return out
}

func tallied(t *testing.T, w Window, all ...stream) *Tally {
	t.Helper()
	out := New(w)
	for _, s := range all {
		if err := out.Add(s.key, s.events); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// additive are the figures of a row that add up; cases do not, as one may be in
// several classes.
func additive(f *Figures) map[string]int {
	out := map[string]int{
		"runs": f.Runs, "taken back": f.Undone, "flaky": f.Flaky, "failing": f.Failing, "wrong": f.Wrong, "followed": f.Followed,
		"unchanged": f.Unchanged, "streaks": f.Streaks, "green": f.Green, "unescalated": f.Unescalated, "escalated": f.Escalated, "first": f.First,
		"effective": f.Effective, "ineffective": f.Ineffective, "none": f.NoFeedback, "attempts": int(f.Attempts.sum), "seconds": int(f.Time.sum), "greens": f.Attempts.N(),
	}
	for k, n := range f.Decisions {
		out[string(k)] = n
	}
	return out
}

func TestTally(t *testing.T) {
	t.Parallel()
	all := streams(90)
	whole := tallied(t, Window{}, all...)
	t.Run("the streams have everything that is counted", func(t *testing.T) {
		for what, n := range additive(whole.All().Total) {
			if n == 0 && what != "seconds" {
				t.Errorf("no %s in %d streams", what, len(all))
			}
		}
	})
	t.Run("the sum over the keys of each dimension is the total", func(t *testing.T) {
		for name, g := range map[string]*Groups{"all": whole.All(), "acme/app": whole.Of("acme/app")} {
			for _, d := range Dimensions() {
				if d == ByDay && name != "all" {
					continue
				}
				sum := map[string]int{}
				for _, key := range g.Keys(d) {
					for what, n := range additive(g.By[d][key]) {
						sum[what] += n
					}
				}
				for what, n := range additive(g.Total) {
					if sum[what] != n {
						t.Errorf("%s by %s: %s adds up to %d, the total is %d", name, d, what, sum[what], n)
					}
				}
			}
		}
	})
	t.Run("the total is what the events say", func(t *testing.T) {
		decisions := map[routing.Kind]int{}
		runs := map[string]bool{}
		wrong := 0
		for _, s := range all {
			for _, e := range s.events {
				if run, ok := e.Run(); ok {
					decisions[run.Decision.Kind]++
					runs[s.key+e.Checkpoint()+run.Verdict.Run.Key()] = true
				}
				if act, ok := e.Human(); ok && act.Action == routing.HumanWrong {
					wrong++
				}
			}
		}
		f := whole.All().Total
		if got, want := asJSON(t, f.Decisions), asJSON(t, decisions); got != want {
			t.Errorf("decisions %s, recorded were %s", got, want)
		}
		if f.Runs != len(runs) || f.Cases != len(all) || f.Wrong > wrong || f.Wrong == 0 {
			t.Errorf("%d runs of %d, %d cases of %d, %d of %d marks", f.Runs, len(runs), f.Cases, len(all), f.Wrong, wrong)
		}
		if f.Green > f.Streaks || f.Unescalated+f.Escalated > f.Streaks || f.Unescalated > f.Green || f.Unchanged > f.Followed || f.Wrong > f.Failing {
			t.Errorf("%+v", f)
		}
	})
	want := asJSON(t, whole.Report())
	t.Run("the order of streams and of merging does not matter", func(t *testing.T) {
		for seed := range uint64(3) {
			r := rand.New(rand.NewPCG(seed, 9))
			mixed := slices.Clone(all)
			r.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
			parts := make([]*Tally, 1+r.IntN(6))
			for i := range parts {
				parts[i] = New(Window{})
			}
			for _, s := range mixed {
				if err := parts[r.IntN(len(parts))].Add(s.key, s.events); err != nil {
					t.Fatal(err)
				}
			}
			sum := New(Window{})
			for _, p := range parts {
				sum.Merge(p)
			}
			if got := asJSON(t, sum.Report()); got != want {
				t.Fatalf("seed %d:\n%s\n%s", seed, got, want)
			}
		}
	})
	t.Run("windows that do not overlap add up", func(t *testing.T) {
		mid := routingtest.Start.Add(500 * time.Hour)
		sum := map[string]int{}
		for _, w := range []Window{{Until: mid}, {Since: mid}} {
			part := tallied(t, w, all...)
			for what, n := range additive(part.All().Total) {
				sum[what] += n
			}
			for _, day := range part.All().Keys(ByDay) {
				if w.Since.IsZero() == (day > mid.Format(time.DateOnly)) && day != mid.Format(time.DateOnly) {
					t.Errorf("day %s in %+v", day, w)
				}
			}
		}
		for what, n := range additive(whole.All().Total) {
			if sum[what] != n {
				t.Errorf("%s: %d in the two halves, %d in all", what, sum[what], n)
			}
		}
	})
	t.Run("of a stream that does not follow nothing is counted", func(t *testing.T) {
		live := tallied(t, Window{}, all...)
		bad := append(slices.Clone(all[0].events), routing.Event{Type: "odd"})
		if err := live.Add("acme/app#0", bad); err == nil {
			t.Fatal("no error")
		} else if want := fmt.Sprintf("event %d of case acme/app#0: ", len(bad)); !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s…", err, want)
		}
		if got := asJSON(t, live.Report()); got != want {
			t.Error("the figures changed")
		}
	})
}

func TestSpread(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	t.Run("median and 90th percentile are exact", func(t *testing.T) {
		for range 200 {
			var s Spread
			var all []int64
			for range 1 + r.IntN(60) {
				v := r.Int64N(30)
				all = append(all, v)
				s.add(v, 1)
			}
			slices.Sort(all)
			for _, p := range []int{50, 90, 100} {
				i := (len(all)*p+99)/100 - 1
				if got, ok := s.Percentile(p); !ok || got != all[i] {
					t.Fatalf("%d of %v is %d, got %d", p, all, all[i], got)
				}
			}
		}
	})
	t.Run("rounding commutes with the median, and leaves few values", func(t *testing.T) {
		for range 200 {
			var s Spread
			var all []time.Duration
			for range 1 + r.IntN(40) {
				d := time.Duration(r.Int64N(int64(time.Second) << r.IntN(26)))
				all = append(all, d)
				s.add(Rounded(d), 1)
			}
			slices.Sort(all)
			if got, _ := s.Percentile(50); got != Rounded(all[(len(all)+1)/2-1]) {
				t.Fatalf("%v: %d", all, got)
			}
		}
		values := map[int64]bool{}
		for d := time.Duration(0); d < year+48*time.Hour; d += 500 * time.Millisecond * time.Duration(1+d/time.Hour) {
			values[Rounded(d)] = true
		}
		if len(values) > 13_776 || values[int64(year/time.Second)] != true {
			t.Errorf("%d values", len(values))
		}
	})
	t.Run("of no values there is neither mean nor median", func(t *testing.T) {
		var s Spread
		s.add(3, 1)
		s.add(3, -1)
		_, mean := s.Mean()
		_, median := s.Percentile(50)
		if mean || median || len(s.counts) > 0 {
			t.Errorf("%+v", s)
		}
	})
}
