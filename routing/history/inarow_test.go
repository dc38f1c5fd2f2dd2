package history

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// runsOf returns runs in which one test ended as letters say: p passed, f failed, w wavered, s skipped,
// - did not run, P may have passed in a run that did, ? is not known.
func runsOf(ends string) ([]Run, ID) {
	id := TestID("ci", "calc", "TestAdd")
	at := time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)
	var out []Run
	for i, e := range ends {
		r := Run{SHA: fmt.Sprint("c", i), At: at.Add(time.Duration(i) * time.Hour)}
		status, listed := map[rune]Status{'p': Passed, 'f': Failed, 'w': Flaky, 's': Skipped}[e]
		switch {
		case listed:
			r.Inventory = New([]Test{{ID: id, Status: status, Fingerprint: 1, Steps: uint8(i)}}, false)
		case e == 'P':
			r.Passed, r.Inventory.Partial = true, true
		case e == '?':
			r.Lost, r.Inventory.Partial = true, true
		}
		out = append(out, r)
	}
	return out, id
}

func TestFailsConsistentlyS5_52(t *testing.T) {
	t.Parallel()
	for ends, want := range map[string]bool{
		"": false, "f": false, "ff": false, "fff": true, "pfff": true, "fffp": false, "ffpf": false, "fwff": false, "ffwf": false, "pf-f-f": true,
		"pfsff": true, "f?ff": false, "?fff": true, "fPff": false, "---": false, "fff-": true,
	} {
		runs, id := runsOf(ends)
		if got := FailsConsistently(runs, id); got != want {
			t.Errorf("S5-52: %q: %v", ends, got)
		}
	}
}

func TestPassesInARowS5_54(t *testing.T) {
	t.Parallel()
	for ends, want := range map[string]int{
		"": 0, "p": 1, "ppp": 3, "fpp": 2, "ppf": 0, "pwp": 1, "pp-p": 3, "pps": 2, "pP?p": 3, strings.Repeat("p", 20): 20,
	} {
		runs, id := runsOf(ends)
		if got := PassesInARow(runs, id); got != want {
			t.Errorf("S5-54: %q: %d, want %d", ends, got, want)
		}
	}
}

func TestSummarizeS5_60(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)
	obs := func(specs ...string) []Observation { // COMMIT:END, with @ behind it on a branch
		var out []Observation
		for i, s := range specs {
			sha, end, _ := strings.Cut(s, ":")
			status := map[byte]Status{'p': Passed, 'f': Failed, 'w': Flaky, 's': Skipped}[end[0]]
			out = append(out, Observation{SHA: sha, At: at.Add(time.Duration(i) * time.Minute), Status: status, Base: strings.HasSuffix(end, "@"), Steps: uint8(i), Timed: true})
		}
		return out
	}
	for _, c := range []struct {
		name        string
		obs         []Observation
		want        string // runs passed failed flaked skipped commits flaky
		first       string
		failing     bool
		pass, flake float64
	}{
		{"none", nil, "0 0 0 0 0 0 0", "", false, 0, 0},
		{"always passes", obs("a:p@", "b:p@"), "2 2 0 0 0 2 0", "", false, 1, 0},
		{"fails and passes on one commit", obs("a:p@", "b:f", "b:p", "c:s"), "3 2 1 0 1 2 1", "b", false, 2. / 3, .5},
		{"wavers", obs("a:w"), "1 0 0 1 0 1 1", "", false, 0, 1},
		{"fails on the branch since", obs("a:p@", "b:f@", "z:p", "c:f@"), "4 2 2 0 0 4 0", "b", true, .5, 0},
		{"failed long ago and again", obs("a:f", "b:p", "c:f", "d:f"), "4 1 3 0 0 4 0", "c", true, .25, 0},
	} {
		s := Summarize(c.obs)
		got := fmt.Sprint(s.Runs, s.Passed, s.Failed, s.Flaked, s.Skipped, s.Commits, s.Flaky)
		if got != c.want || s.FirstFailing.SHA != c.first || s.Failing != c.failing || s.PassRate() != c.pass || s.FlakeRate() != c.flake {
			t.Errorf("S5-60: %s: %s first %q failing %v %v %v", c.name, got, s.FirstFailing.SHA, s.Failing, s.PassRate(), s.FlakeRate())
		}
	}
	var slow []Observation
	for i := range 9 {
		slow = append(slow, Observation{SHA: "a", At: at.Add(time.Duration(i) * time.Hour), Steps: uint8(8 + i/3), Timed: true})
	}
	if s := Summarize(slow); s.Trend != 2 || s.Median != 256*time.Millisecond {
		t.Errorf("S5-60: trend %d, median %s", s.Trend, s.Median)
	}
}

func TestDurationOfSteps(t *testing.T) {
	t.Parallel()
	for _, d := range []time.Duration{0, time.Microsecond, time.Millisecond, 3 * time.Millisecond, time.Second, time.Hour} {
		if got := DurationOf(StepsOf(d)); got > d || d >= time.Millisecond && 2*got <= d {
			t.Errorf("S5-60: %s is shown as %s", d, got)
		}
	}
}

func TestSlowestAndFlakiestS5_61(t *testing.T) {
	t.Parallel()
	all := []Ranked{
		{1, Summary{Median: time.Second, Commits: 9}}, {2, Summary{Median: time.Minute, Commits: 4, Flaky: 2}},
		{3, Summary{Commits: 2, Flaky: 2}}, {4, Summary{Median: time.Second, Commits: 9, Flaky: 1}},
	}
	ids := func(rs []Ranked) string {
		var out []string
		for _, r := range rs {
			out = append(out, fmt.Sprint(r.Test))
		}
		return strings.Join(out, " ")
	}
	if got := ids(Slowest(all, 2)); got != "2 1" {
		t.Errorf("S5-61: slowest %s", got)
	}
	if got := ids(Flakiest(all, 9)); got != "3 2 4" {
		t.Errorf("S5-61: flakiest %s", got)
	}
}

func TestNamesArePackedS5_61(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var tests []Name
	for i := range 20_000 {
		tests = append(tests, Name{
			Suite: fmt.Sprintf("github.com/acme/app/internal/module%d/service", i/40), Name: fmt.Sprintf("TestHandler%d/case_%d", i, r.IntN(1000)),
			File: fmt.Sprintf("internal/module%d/service/handler_test.go", i/40), Owner: fmt.Sprintf("@acme/team-%d", i/4000),
		})
	}
	n := NewNames("unit", append(tests, tests[0], Name{Suite: "long", Name: strings.Repeat("x", 501)}))
	if len(n.Tests) != 20_000 {
		t.Fatalf("S5-61: %d names", len(n.Tests))
	}
	packed := n.Pack()
	if len(packed) > 20_000*8 {
		t.Errorf("S5-61: 20,000 names take %d bytes", len(packed))
	}
	back, err := UnpackNames(packed)
	if err != nil || back.Checkpoint != "unit" || len(back.Tests) != len(n.Tests) {
		t.Fatalf("S5-61: %v, %d names of %q", err, len(back.Tests), back.Checkpoint)
	}
	for i := range back.Tests {
		if back.Tests[i] != n.Tests[i] {
			t.Fatalf("S5-61: name %d: got %+v, want %+v", i, back.Tests[i], n.Tests[i])
		}
	}
	for cut := range 40 {
		if _, err := UnpackNames(packed[:len(packed)*cut/40]); err == nil {
			t.Errorf("S5-61: %d fortieths are read", cut)
		}
	}
}

func FuzzUnpackNames(f *testing.F) {
	f.Add(NewNames("ci", []Name{{"a", "b", "c", "@d"}, {"a", "bb", "", ""}}).Pack())
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := UnpackNames(data)
		if err != nil {
			return
		}
		again, err := UnpackNames(n.Pack())
		if err != nil || len(again.Tests) != len(n.Tests) {
			t.Fatalf("%v, %d names, then %d", err, len(n.Tests), len(again.Tests))
		}
	})
}
