package quarantine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/trackingissue"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

// world is a quarantine over time.
type world struct {
	t  *testing.T
	s  State
	at time.Time
}

func newWorld(t *testing.T) *world { return &world{t: t, at: noon} }

func (w *world) steps() Steps { return Steps{State: w.s, Now: w.at} }

// record appends what a step returned, and returns the types of the events.
func (w *world) record(by string, ps []Payload) []string {
	w.t.Helper()
	var types []string
	for _, e := range Events(ps, by, w.at) {
		next, err := w.s.Apply(e)
		if err != nil {
			w.t.Fatal(err)
		}
		w.s = next
		types = append(types, e.Type.Name())
	}
	return types
}

func ref(name string) routing.TestRef {
	return routing.TestRef{Checkpoint: "ci", Suite: "calc", Name: name, File: "calc/add_test.go"}
}

// flip is flake evidence of a test in a case, on a commit.
func flip(name, key, sha string, at time.Time) Flaked {
	return Flaked{ref(name), Evidence{
		Case: key, At: at, Failed: routing.Run{ID: "1" + sha, SHA: sha, URL: "https://github.com/acme/app/actions/runs/1"}, Passed: routing.Run{ID: "1" + sha, Attempt: 2, SHA: sha},
	}}
}

func (w *world) flaked(fs ...Flaked) string {
	return strings.Join(w.record("", w.steps().Flaked(fs)), " ")
}

func (w *world) entry(name string) Entry {
	e, _ := w.s.Entry(IDOf(ref(name)))
	return e
}

func (w *world) quarantine(name string, long time.Duration) error {
	ps, err := w.steps().Quarantine(Request{Test: ref(name), For: long})
	w.record("mona", ps)
	return err
}

func TestProposedAfterTwoPullRequestsS5_51(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		flips []Flaked
		want  string // of the last
	}{
		{"S5-51: one pull request", []Flaked{flip("A", "acme/app#1", "aa", noon)}, "flaked"},
		{"S5-51: two commits of one pull request", []Flaked{flip("A", "acme/app#1", "aa", noon), flip("A", "acme/app#1", "bb", noon)}, "flaked"},
		{"S5-51: a pull request and the base", []Flaked{flip("A", "acme/app#1", "aa", noon), flip("A", "acme/app@main", "bb", noon)}, "flaked"},
		{"S5-51: two tests of two pull requests", []Flaked{flip("A", "acme/app#1", "aa", noon), flip("B", "acme/app#2", "bb", noon)}, "flaked"},
		{"S5-51: two pull requests", []Flaked{flip("A", "acme/app#1", "aa", noon), flip("A", "acme/app#2", "bb", noon)}, "flaked proposed"},
		{"S5-51: evidence that is too old", []Flaked{flip("A", "acme/app#1", "aa", noon.Add(-31*day)), flip("A", "acme/app#2", "bb", noon)}, "flaked"},
	} {
		w, got := newWorld(t), ""
		for _, f := range c.flips {
			got = w.flaked(f)
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
		if again := w.flaked(c.flips...); again != "" {
			t.Errorf("%s: seen again: %s", c.name, again)
		}
	}
}

func TestProposalAfterReleaseS5_51(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.flaked(flip("A", "acme/app#1", "aa", noon), flip("A", "acme/app#2", "bb", noon))
	w.at = w.at.Add(day)
	w.record("mona", w.steps().Release(IDOf(ref("A")), "edit/1"))
	if got := w.flaked(flip("A", "acme/app#3", "cc", w.at)); got != "flaked" {
		t.Errorf("S5-51: what was declined counts again: %s", got)
	}
	w.at = w.at.Add(time.Hour)
	if got := w.flaked(flip("A", "acme/app#4", "dd", w.at)); got != "flaked" {
		t.Errorf("S5-51: evidence at the time of the release counts: %s", got)
	}
	if got := w.flaked(flip("A", "acme/app#5", "ee", w.at)); got != "flaked proposed" || !slices.Contains(w.entry("A").Pending, trackingissue.WorkReopen) {
		t.Errorf("S5-51: two further pull requests: %s, %v", got, w.entry("A").Pending)
	}
}

func TestEntryEndsS5_50(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.quarantine("A", 90*day); err != nil {
		t.Fatal(err)
	}
	e := w.entry("A")
	if e.Until != noon.Add(30*day) || e.By != "mona" || e.File != "calc/add_test.go" || !slices.Equal(e.Pending, []string{trackingissue.WorkOwners, trackingissue.WorkIssue, trackingissue.WorkNote + "1"}) {
		t.Errorf("S5-50: %+v", e)
	}
	_, err := w.s.Apply(Events([]Payload{Began{Test: ref("B"), Until: noon.Add(30*day + time.Second)}}, "", noon)[0])
	if err == nil {
		t.Error("S5-50: an entry of more than 30 days is folded")
	}
}

func TestBrokenTestIsRefusedS5_52(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ps, err := w.steps().Quarantine(Request{Test: ref("A"), For: day, Broken: "#12"})
	var refused *routing.RefusedError
	if !errors.As(err, &refused) || refused.ID != "quarantine-broken" || len(ps) != 0 || !strings.Contains(err.Error(), "#12") {
		t.Errorf("S5-52: %v, %v", ps, err)
	}
}

func TestReminderAndExpiryS5_53(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.quarantine("A", 14*day); err != nil {
		t.Fatal(err)
	}
	var got []string
	for hours := range 20 * 24 {
		w.at = noon.Add(time.Duration(hours) * time.Hour)
		for _, x := range w.record("", w.steps().Due(nil)) {
			got = append(got, fmt.Sprint(x, " after ", hours, "h"))
		}
		if excuses, want := w.entry("A").Excuses(w.at), hours < 14*24; excuses != want {
			t.Fatalf("S5-53: after %d hours its failures are excused: %v", hours, excuses)
		}
	}
	if want := []string{"reminded after 264h", "expired after 336h"}; !slices.Equal(got, want) {
		t.Errorf("S5-53: got %v, want %v", got, want)
	}
	if err := w.quarantine("A", 2*day); err != nil {
		t.Fatal(err)
	}
	begun := w.at
	w.at = begun.Add(23 * time.Hour)
	if got := w.record("", w.steps().Due(nil)); len(got) != 0 {
		t.Errorf("S5-53: of two days, after 23 hours: %v", got)
	}
	w.at = begun.Add(24 * time.Hour)
	if got := w.record("", w.steps().Due(nil)); !slices.Equal(got, []string{"reminded"}) {
		t.Errorf("S5-53: of two days, at half the time: %v", got)
	}
}

func TestReleaseIsProposedOnceS5_54(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.quarantine("A", 14*day); err != nil {
		t.Fatal(err)
	}
	id := IDOf(ref("A"))
	for _, c := range []struct {
		passes int
		want   string
	}{{19, ""}, {20, "passing"}, {21, ""}} {
		if got := strings.Join(w.record("", w.steps().Due(map[string]int{id: c.passes})), " "); got != c.want {
			t.Errorf("S5-54: %d passes in a row: %q", c.passes, got)
		}
	}
	if e := w.entry("A"); !e.Excuses(w.at) {
		t.Error("S5-54: the proposal itself released it")
	}
}

func TestAtMostFiftyS5_57(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range routing.MaxQuarantined {
		if err := w.quarantine(fmt.Sprint("T", i), 14*day); err != nil {
			t.Fatal(i, err)
		}
	}
	var refused *routing.RefusedError
	if err := w.quarantine("T50", 14*day); !errors.As(err, &refused) || refused.ID != "quarantine-full" {
		t.Errorf("S5-57: the 51st: %v", err)
	}
	if err := w.quarantine("T7", 14*day); err != nil {
		t.Errorf("S5-57: one of the fifty again: %v", err)
	}
	if got := w.flaked(flip("X", "acme/app#1", "aa", noon), flip("X", "acme/app#2", "bb", noon)); got != "flaked flaked" {
		t.Errorf("S5-57: a proposal beyond the limit: %s", got)
	}
	w.record("mona", w.steps().Release(IDOf(ref("T1")), ""))
	if got := w.record("", w.steps().Due(nil)); !slices.Equal(got, []string{"proposed"}) {
		t.Errorf("S5-57: below the limit again: %v", got)
	}
	s := w.steps()
	s.Configured = 5
	if _, err := s.Quarantine(Request{Test: ref("T50"), For: day}); err == nil {
		t.Error("S5-57: the configuration's tests do not count")
	}
}

func TestAnswersCountOnceS5_55(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.flaked(flip("A", "acme/app#1", "aa", noon), flip("A", "acme/app#2", "bb", noon))
	id := IDOf(ref("A"))
	if got := w.record("mona", w.steps().Fix(id, "edit/1")); !slices.Equal(got, []string{"fixing"}) || w.entry("A").Fixer != "mona" || w.entry("A").Excuses(noon) {
		t.Errorf("S5-55: fix: %v %+v", got, w.entry("A"))
	}
	ask := func() []Payload {
		ps, err := w.steps().Quarantine(Request{Test: ref("A"), For: day, Source: "edit/2"})
		if err != nil {
			t.Fatal(err)
		}
		return ps
	}
	w.record("mona", ask())
	if ps := append(ask(), w.steps().Fix(id, "edit/1")...); len(ps) != 0 || !w.entry("A").Excuses(noon) {
		t.Errorf("S5-55: an answer that was handled before: %v", ps)
	}
	w.record("mona", w.steps().Release(id, "edit/3"))
	if e := w.entry("A"); e.Excuses(noon) || e.Open() || !slices.Contains(e.Pending, trackingissue.WorkClose) || len(w.steps().Release(id, "edit/4")) != 0 {
		t.Errorf("S5-55: release: %+v", e)
	}
}

// An expired entry excuses nothing, whatever happened before, and at the border of its time.
func TestExpiredNeverExcusesS5_59(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := newWorld(t)
		for range 60 {
			w.at = w.at.Add(time.Duration(r.IntN(72)) * time.Hour)
			name := fmt.Sprint("T", r.IntN(3))
			id := IDOf(ref(name))
			switch r.IntN(7) {
			case 0, 1:
				_ = w.quarantine(name, time.Duration(1+r.IntN(40))*day)
			case 2:
				w.record("mona", w.steps().Release(id, ""))
			case 3:
				w.record("mona", w.steps().Fix(id, ""))
			case 4:
				w.record("", w.steps().Due(map[string]int{id: r.IntN(40)}))
			case 5:
				w.flaked(flip(name, fmt.Sprint("acme/app#", r.IntN(4)), fmt.Sprint("c", r.IntN(9)), w.at))
			}
			for _, e := range w.s.Entries {
				v := routing.Verdict{Checkpoint: "ci", Result: routing.Fail, Failures: []routing.Failure{{Suite: e.Suite, Name: e.Name}}}
				for _, at := range []time.Time{e.Until.Add(-time.Nanosecond), e.Until, e.Until.Add(time.Nanosecond), e.Until.Add(day)} {
					in := len(w.s.Register(v, at).Entries) > 0
					if in && !at.Before(e.Until) {
						t.Fatalf("S5-59: seed %d: excused at %s, though it ended at %s", seed, at, e.Until)
					}
					if want := e.Standing == Quarantined && at.Before(e.Until); in != want {
						t.Fatalf("S5-59: seed %d: at %s in quarantine: %v; it is %s until %s", seed, at, in, e.Standing, e.Until)
					}
				}
				if e.Until.Sub(e.Since) > routing.MaxQuarantine {
					t.Fatalf("S5-50: seed %d: from %s to %s", seed, e.Since, e.Until)
				}
			}
		}
	}
}
