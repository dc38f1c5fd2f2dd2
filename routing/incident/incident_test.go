package incident

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/history"
	"github.com/switchback-ci/switchback/routing/trackingissue"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// outage is the verdict of a run in which the tests failed because of the environment.
func outage(run int, line string, tests ...string) routing.Verdict {
	v := routing.Verdict{Checkpoint: "ci", Result: routing.Fail, Class: routing.EnvIssue, Run: runOf(run), At: noon}
	for _, t := range tests {
		v.Failures = append(v.Failures, routing.Failure{
			Name: t, Kind: "test", Class: routing.EnvIssue, Fingerprint: fmt.Sprintf("v1:%032x", len(t)*1000+int(t[0])), Message: line,
			Evidence: []routing.Evidence{{Text: line, Signal: "env-dns"}},
		})
	}
	return v
}

// red is the verdict of a run in which tests failed by their code.
func red(run int, tests ...string) routing.Verdict {
	v := routing.Verdict{Checkpoint: "ci", Result: routing.Fail, Class: routing.LogicError, Run: runOf(run), At: noon}
	for _, t := range tests {
		v.Failures = append(v.Failures, routing.Failure{Name: t, Kind: "test", Class: routing.LogicError, Fingerprint: fmt.Sprintf("v1:%032x", 7000+int(t[0]))})
	}
	return v
}

func runOf(n int) routing.Run {
	return routing.Run{Repository: "acme/app", ID: fmt.Sprint(n), Attempt: 1, SHA: fmt.Sprintf("%040x", n)}
}

// world is the incidents of a repository over time.
type world struct {
	t  *testing.T
	s  State
	at time.Time
}

func newWorld(t *testing.T) *world { return &world{t: t, at: noon} }

func (w *world) steps() Steps { return Steps{State: w.s, Now: w.at, Settings: Defaults()} }

func (w *world) record(ps []Payload, err error) string {
	w.t.Helper()
	var types []string
	for _, e := range Events(ps, "", w.at) {
		next, failed := w.s.Apply(e)
		if failed != nil {
			w.t.Fatal(failed)
		}
		w.s = next
		types = append(types, e.Type.Name())
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.Join(types, " ")
}

func (w *world) see(n int, author string, v routing.Verdict) (string, *Incident) {
	w.t.Helper()
	ps, in, err := w.steps().See(Seen{Case: fmt.Sprint("acme/app#", n), Author: author, Base: "main", Verdict: v})
	return w.record(ps, err), in
}

func (w *world) due(id string) string { return w.record(w.steps().Due(id), nil) }

const dns = "getaddrinfo EAI_AGAIN registry.npmjs.org"

// opened has three pull requests of two authors fail by an outage.
func (w *world) opened() Incident {
	w.t.Helper()
	w.see(1, "mona", outage(11, dns, "A"))
	w.see(2, "hubot", outage(12, dns, "B"))
	_, in := w.see(3, "mona", outage(13, dns, "A", "B"))
	if in == nil {
		w.t.Fatal("no incident opened")
	}
	return *in
}

func TestCauseKeyS5_70(t *testing.T) {
	t.Parallel()
	key := func(v routing.Verdict) string {
		cs := CausesOf(v)
		if len(cs) != 1 {
			return fmt.Sprint(len(cs), " causes")
		}
		return cs[0].Key()
	}
	for line, want := range map[string]string{
		dns: "registry.npmjs.org",
		"curl: (6) Could not resolve host: Registry.NPMJS.org":                   "registry.npmjs.org",
		"dial tcp: lookup proxy.golang.org on 10.0.0.2:53: no such host":         "proxy.golang.org",
		"java.net.UnknownHostException: repo.maven.apache.org":                   "repo.maven.apache.org",
		`Get "https://user:secret@example.org:443/x": connection reset by peer`:  "example.org",
		"Error: connect ECONNREFUSED 127.0.0.1:5432":                             "127.0.0.1:5432",
		"curl: (7) Failed to connect to localhost port 8086: Connection refused": "localhost:8086",
		"bash: line 1: cargo: command not found":                                 "cargo",
		"dial tcp Stock.example: no such host":                                   "stock.example",
		"No space left on device":                                                "",
	} {
		if got := key(outage(1, line, "A")); got != "environment/env-dns/"+want {
			t.Errorf("S5-70: %q: %s", line, got)
		}
	}
	if a, b := key(outage(1, dns, "A")), key(outage(2, dns, "B")); a != b {
		t.Errorf("S5-70: one outage in two tests has the keys %s and %s", a, b)
	}
	if got := key(outage(1, dns, "A", "B", "C")); got != "environment/env-dns/registry.npmjs.org" {
		t.Errorf("S5-70: one outage in three tests of a run: %s", got)
	}
	if a, b := key(red(1, "A")), key(red(2, "A")); a != b || !strings.HasPrefix(a, "base/ci/") {
		t.Errorf("S5-70: the base's keys: %s and %s", a, b)
	}
	other := red(1, "A")
	other.Checkpoint = "lint"
	if key(red(1, "A")) == key(other) || key(red(1, "A")) == key(red(1, "B")) {
		t.Error("S5-70: the key of the base names neither checkpoint nor fingerprint")
	}
	if cs := CausesOf(routing.Verdict{Result: routing.Pass}); cs != nil {
		t.Errorf("S5-70: a green run has the causes %v", cs)
	}
}

func TestOpensS5_71(t *testing.T) {
	t.Parallel()
	type sight struct {
		n      int
		author string
		after  time.Duration
		line   string
	}
	for _, c := range []struct {
		name string
		all  []sight
		want bool
	}{
		{"three of two authors", []sight{{1, "mona", 0, dns}, {2, "hubot", 10, dns}, {3, "mona", 10, dns}}, true},
		{"three of one author", []sight{{1, "mona", 0, dns}, {2, "Mona", 1, dns}, {3, "mona", 1, dns}}, false},
		{"two of two authors", []sight{{1, "mona", 0, dns}, {2, "hubot", 1, dns}, {2, "hubot", 1, dns}}, false},
		{"three within 31 minutes", []sight{{1, "mona", 0, dns}, {2, "hubot", 10, dns}, {3, "mona", 21, dns}}, false},
		{"three within 30 minutes", []sight{{1, "mona", 0, dns}, {2, "hubot", 10, dns}, {3, "mona", 20, dns}}, true},
		{"another host", []sight{{1, "mona", 0, dns}, {2, "hubot", 1, dns}, {3, "mona", 1, "getaddrinfo EAI_AGAIN example.org"}}, false},
		{"a clock that is behind", []sight{{1, "mona", 0, dns}, {2, "hubot", -5, dns}, {3, "mona", -5, dns}}, true},
	} {
		w := newWorld(t)
		var in *Incident
		for i, x := range c.all {
			w.at = w.at.Add(x.after * time.Minute)
			_, in = w.see(x.n, x.author, outage(10+i, x.line, "A"))
		}
		if got := in != nil; got != c.want || len(w.s.Incidents) > 1 {
			t.Errorf("S5-71: %s: opened %v, want %v", c.name, got, c.want)
		}
		if again, _ := w.see(c.all[len(c.all)-1].n, "mona", outage(9+len(c.all), c.all[len(c.all)-1].line, "A")); again != "" {
			t.Errorf("S5-71: %s: seen again: %s", c.name, again)
		}
	}
}

func baseWith(vs ...routing.Verdict) routing.Checkpoint {
	var c routing.Case
	c.Key = "acme/app@main"
	for _, v := range vs {
		d := routing.Decide(c, v, routing.DefaultPolicy(), v.At)
		next, err := c.Apply(routing.RunEvent(c.Key, v, d, v.At))
		if err != nil {
			panic(err)
		}
		c = next
	}
	return c.Checkpoints["ci"]
}

func TestBaseFailsTwiceS5_71(t *testing.T) {
	t.Parallel()
	once, twice, other := baseWith(red(1, "A")), baseWith(red(1, "A", "C"), red(2, "A", "B", "C")), baseWith(red(1, "A"), red(2, "B"))
	if Red(once, routing.Verdict{}) != nil || Red(other, routing.Verdict{}) != nil || len(Red(twice, routing.Verdict{})) != 2 || len(Red(once, red(2, "A"))) != 1 {
		t.Errorf("S5-71: %v %v %v", Red(once, routing.Verdict{}), Red(other, routing.Verdict{}), Red(twice, routing.Verdict{}))
	}
	again := red(1, "A")
	again.Run.Attempt = 2
	if Red(once, again) != nil {
		t.Error("S5-71: an attempt of the same run counts as a second failure of the base")
	}
	w := newWorld(t)
	v := red(2, "A")
	ps, in, err := w.steps().See(Seen{Case: "acme/app@main", OfBase: true, Base: "main", Verdict: v, Red: Red(once, v)})
	if got := w.record(ps, err); got != "sighted opened" || in != nil {
		t.Errorf("S5-71: the base itself: %s, on hold %v", got, in != nil)
	}
	if _, in := w.see(7, "mona", red(20, "A")); in == nil || len(w.s.Incidents) != 1 || len(w.s.Incidents[0].Members) != 1 {
		t.Errorf("S5-71: a pull request with the failure of the base: %+v", w.s.Incidents)
	}
	if cause, open, ok := w.s.TakesBase(once, red(30, "A")); !ok || open == nil || cause.Name != "A" {
		t.Error("S5-71: the incident does not take the base's failure of a merge group")
	}
	if cause, open, ok := (State{}).TakesBase(twice, red(30, "A")); !ok || open != nil || cause.Name != "A" {
		t.Error("S5-71: a base that fails twice does not take the failure of a merge group")
	}
	if _, _, ok := (State{}).TakesBase(twice, red(30, "A", "X")); ok {
		t.Error("S5-71: a failure that is not the base's is taken for it")
	}
}

// A red base with several failures is one incident.
func TestOneRedBaseIsOneIncidentS5_71(t *testing.T) {
	t.Parallel()
	base := baseWith(red(1, "A", "B"), red(2, "A", "B"))
	w := newWorld(t)
	for n := range 4 {
		ps, in, err := w.steps().See(Seen{Case: fmt.Sprint("acme/app#", n+1), Base: "main", Verdict: red(10+n, "A", "B"), Red: Red(base, routing.Verdict{})})
		w.record(ps, err)
		if in == nil {
			t.Fatal("S5-71: not explained")
		}
	}
	base = baseWith(red(1, "A", "B"), red(2, "A", "B", "C"), red(3, "A", "B", "C"))
	ps, in, err := w.steps().See(Seen{Case: "acme/app#5", Base: "main", Verdict: red(20, "A", "C"), Red: Red(base, routing.Verdict{})})
	w.record(ps, err)
	if len(w.s.Incidents) != 1 || in == nil || len(w.s.Incidents[0].Causes) != 3 || len(w.s.Incidents[0].Members) != 5 {
		t.Errorf("S5-71: %+v", w.s.Incidents)
	}
}

func TestOwnFailureReleasesS5_75(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := w.opened()
	mixed := outage(23, dns, "A")
	mixed.Failures = append(mixed.Failures, red(23, "X").Failures...)
	if got, held := w.see(3, "mona", mixed); held != nil || !strings.Contains(got, "left") {
		t.Errorf("S5-75: a further failure: %s, on hold %v", got, held != nil)
	}
	in, _ = w.s.ByID(in.ID)
	if m, _ := in.Member("acme/app#3", "ci"); m.Left != LeftOwn {
		t.Errorf("S5-75: %+v", m)
	}
	old := outage(24, dns, "A")
	known := red(24, "X").Failures[0]
	known.Standing = history.StandingPreExisting
	old.Failures = append(old.Failures, known)
	if _, held := w.see(4, "mona", old); held == nil {
		t.Error("S5-75: a failure that stands on the base releases")
	}
	cut := outage(25, dns, "A")
	cut.Dropped, cut.Cut = 1, routing.CutFailures{{Name: "X", Class: routing.LogicError, Print: 5}}
	if _, held := w.see(5, "mona", cut); held != nil {
		t.Error("S5-75: a failure that was cut is not noticed")
	}
}

func TestClosedLeaveS5_77(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := w.opened()
	w.record(w.steps().Leave("acme/app#1", "", LeftClosed), nil)
	w.record(w.steps().Close(in.ID, "closed/1", false), nil)
	if got := w.due(in.ID); got != "canary" || w.s.Incidents[0].Canary.Case != "acme/app#2" {
		t.Errorf("S5-77: %s: the canary is %s", got, w.s.Incidents[0].Canary.Case)
	}
	w.record(w.steps().Leave("acme/app#2", "", LeftClosed), nil)
	if got := w.due(in.ID); got != "canary" || w.s.Incidents[0].Canary.Case != "acme/app#3" {
		t.Errorf("S5-77: the canary was closed: %s %+v", got, w.s.Incidents[0].Canary)
	}
	w.record(w.steps().Leave("acme/app#3", "", LeftClosed), nil)
	if got := w.due(in.ID) + " " + w.due(in.ID); got != "passed finished" {
		t.Errorf("S5-77: all are closed: %s", got)
	}
}

// restarted records that the members that are due were restarted, and returns them.
func (w *world) restarted(id string) []string {
	var out []string
	in, _ := w.s.ByID(id)
	for _, m := range in.Next(w.at) {
		out = append(out, strings.TrimPrefix(m.Case, "acme/app"))
		w.record([]Payload{MemberRestarted{id, m.Case, m.Checkpoint}}, nil)
	}
	return out
}

func TestCanaryThenStaggeredS5_74(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := w.opened()
	for n := 4; n <= 6; n++ {
		w.see(n, "mona", outage(10+n, dns, "A"))
	}
	if got := w.restarted(in.ID); got != nil {
		t.Fatalf("S5-74: restarted while it is open: %v", got)
	}
	w.record(w.steps().Close(in.ID, "closed/1", false), nil)
	if ps := w.steps().Close(in.ID, "closed/1", false); len(ps) != 0 {
		t.Error("S5-74: closing counts twice")
	}
	w.due(in.ID)
	if got := w.restarted(in.ID); !slices.Equal(got, []string{"#1"}) {
		t.Fatalf("S5-74: the canary: %v", got)
	}
	w.at = w.at.Add(10 * time.Minute)
	if got := w.restarted(in.ID); got != nil || w.due(in.ID) != "" {
		t.Fatalf("S5-74: before the canary has passed: %v", got)
	}
	again := outage(11, dns, "A")
	again.Run.Attempt = 2
	if got, held := w.see(1, "mona", again); got != "reopened joined" || held == nil || w.s.Incidents[0].Standing != Open || !slices.Contains(w.s.Incidents[0].Pending, trackingissue.WorkReopen) {
		t.Fatalf("S5-74: the canary fails by the cause: %s", got)
	}
	w.record(w.steps().Pass("acme/app#2", "ci", "abc"))
	if i := w.s.Incidents[0]; i.Standing != Testing || i.By != "" || i.SHA != "abc" {
		t.Fatalf("S5-74: the first green: %s", i.Standing)
	}
	w.due(in.ID)
	w.restarted(in.ID)
	w.record(w.steps().Pass("acme/app#1", "ci", "abc"))
	var got []string
	for range 4 {
		got = append(got, strings.Join(w.restarted(in.ID), ","))
		w.due(in.ID)
		w.at = w.at.Add(Gap)
	}
	if want := []string{"#3", "#4", "#5", "#6"}; !slices.Equal(got, want) {
		t.Errorf("S5-74: one a minute: %v", got)
	}
	if i := w.s.Incidents[0]; i.Standing != Over || !slices.Contains(i.Pending, trackingissue.WorkClose) {
		t.Errorf("S5-74: at the end: %s %v", i.Standing, i.Pending)
	}
}

func TestQuietCanaryS5_74(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := w.opened()
	w.record(w.steps().Close(in.ID, "closed/1", false), nil)
	w.due(in.ID)
	w.restarted(in.ID)
	w.at = w.at.Add(Patience - time.Second)
	if got := w.due(in.ID); got != "" {
		t.Errorf("S5-74: before the patience is over: %s", got)
	}
	w.at = w.at.Add(time.Second)
	if got := w.due(in.ID); got != "passed" {
		t.Errorf("S5-74: a canary that never reports: %s", got)
	}
}

func TestBaseGreenResolvesS5_74(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	base := baseWith(red(1, "A"), red(2, "A"))
	ps, _, err := w.steps().See(Seen{Case: "acme/app#1", Base: "main", Verdict: red(10, "A"), Red: Red(base, routing.Verdict{})})
	w.record(ps, err)
	green := routing.Verdict{Checkpoint: "ci", Result: routing.Pass, Run: runOf(3), At: noon, Counts: routing.Counts{Tests: 1, Passed: 1}}
	if got := w.record(w.steps().BasePasses("main", base)); got != "" {
		t.Errorf("S5-74: a red base: %s", got)
	}
	passing := baseWith(red(1, "A"), red(2, "A"), green)
	if got := w.record(w.steps().BasePasses("release", passing)); got != "" {
		t.Errorf("S5-74: another branch: %s", got)
	}
	if got := w.record(w.steps().BasePasses("main", passing)); got != "resolved" || w.s.Incidents[0].SHA != green.Run.SHA {
		t.Errorf("S5-74: a green base: %s", got)
	}
}

func TestDismissedOpensNoneForADayS5_74(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := w.opened()
	w.record(w.steps().Close(in.ID, "closed/1", true), nil)
	if got := w.restarted(in.ID); got != nil || w.s.Incidents[0].Standing != Dismissed {
		t.Errorf("S5-74: dismissed and restarted: %v", got)
	}
	if _, held := w.see(4, "hubot", outage(14, dns, "A")); held != nil {
		t.Error("S5-74: a dismissed incident takes members")
	}
	w.at = w.at.Add(Calm)
	w.see(5, "hubot", outage(15, dns, "A"))
	w.see(6, "mona", outage(16, dns, "A"))
	if _, held := w.see(7, "mona", outage(17, dns, "A")); held == nil || held.ID == in.ID {
		t.Error("S5-74: a day later the cause opens none")
	}
}

// A state stays what it was when events are applied to it: others decide on it.
func TestApplyLeavesTheStateS5_76(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var events []routing.Event
	step := func(ps []Payload, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		more := Events(ps, "", w.at)
		before := fmt.Sprintf("%+v", w.s)
		extended, err := Projection.Extend(w.s, "", 0, more)
		if err != nil {
			t.Fatal(err)
		}
		w.record(ps, nil)
		events = append(events, more...)
		folded, err := Fold(events)
		if err != nil || fmt.Sprintf("%+v", extended) != fmt.Sprintf("%+v", folded) {
			t.Fatalf("S5-76: %+v,\nwant %+v: %v", folded, extended, err)
		}
		s, err := Fold(events[:len(events)-len(more)])
		if err != nil || fmt.Sprintf("%+v", s) != before {
			t.Fatalf("S5-76: the state has changed: %s,\nwant %+v: %v", before, s, err)
		}
		for _, e := range more {
			again := fmt.Sprintf("%+v", s)
			next, err := s.Apply(e)
			if err != nil || fmt.Sprintf("%+v", s) != again {
				t.Fatalf("S5-76: %s changes the state that it is applied to: %v", e.Type, err)
			}
			s = next
		}
		w.at = w.at.Add(time.Minute)
	}
	for n, author := range []string{"ann", "bob", "ann", "eve"} {
		ps, _, err := w.steps().See(Seen{Case: fmt.Sprint("acme/app#", n), Author: author, Base: "main", Verdict: outage(n, dns, "a")})
		step(ps, err)
	}
	id := w.s.Incidents[0].ID
	step(w.steps().Leave("acme/app#3", "", LeftClosed), nil)
	step(w.steps().Close(id, "closed", false), nil)
	step(w.steps().Due(id), nil)
	canary := w.s.Incidents[0].Canary
	step([]Payload{MemberRestarted{ID: id, Case: canary.Case, Checkpoint: canary.Checkpoint}}, nil)
	again := outage(9, dns, "a")
	again.Run.ID = "again"
	ps, _, err := w.steps().See(Seen{Case: canary.Case, Author: "ann", Base: "main", Verdict: again})
	step(ps, err)
	if len(w.s.Incidents) != 1 || w.s.Incidents[0].Reopened != 1 {
		t.Fatalf("%+v", w.s)
	}
}

// Messages and names of a megabyte have a cause that people can read, at most twenty a run.
func TestHugeCausesS5_70(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"@octocat ", "가", "a.b.", "lookup "} {
		huge := strings.Repeat(text, 1<<20/len(text))
		v := outage(1, huge+"\nlookup db.internal: no such host", "a")
		v.Failures[0].Evidence[0].Signal = huge
		b := red(2)
		for n := range 30 {
			b.Failures = append(b.Failures, routing.Failure{Name: fmt.Sprint(n, huge), Suite: huge, Kind: "test", Class: routing.LogicError, Fingerprint: fmt.Sprintf("v1:%032x", 100+n)})
		}
		for _, causes := range [][]Cause{CausesOf(v), CausesOf(b)} {
			if len(causes) == 0 || len(causes) > 20 {
				t.Errorf("S5-70: %q: %d causes", text, len(causes))
			}
			for _, c := range causes {
				if n := len(c.Text()); n == 0 || n > 250 || len(c.Service) > 150 {
					t.Errorf("S5-70: %q: a cause of %d bytes, a service of %d", text, n, len(c.Service))
				}
			}
		}
	}
}
