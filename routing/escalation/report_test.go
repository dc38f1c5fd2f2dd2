package escalation

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// ids are the ids of sentences, in their order.
func ids(sentences []Sentence) []string {
	var out []string
	for _, s := range sentences {
		out = append(out, s.ID)
	}
	return out
}

func TestSentenceArguments(t *testing.T) {
	t.Parallel()
	s := say("cause.spread", "n", "class", "class", "TYPE_ERROR")
	for name, want := range map[string]string{"n": "class", "class": "TYPE_ERROR", "TYPE_ERROR": "", "else": ""} {
		if got := s.Arg(name); got != want {
			t.Errorf("argument %s is %q, want %q", name, got, want)
		}
	}
	odd := Sentence{ID: "cause.spread", Args: []string{"n"}}
	if got := odd.Arg("n"); got != "" {
		t.Errorf("a name without a value is %q", got)
	}
	if got := odd.Fill("{n} failures"); got != "{n} failures" {
		t.Errorf("a name without a value fills %q", got)
	}
	data, err := json.Marshal(say("cause.timeout"))
	if want := `"Something hangs or has become too slow for its time limit."`; err != nil || string(data) != want {
		t.Errorf("%s %v, want %s", data, err, want)
	}
	if all := SentenceIDs(); !slices.IsSorted(all) {
		t.Errorf("not sorted: %v", all)
	}
}

func TestPatternsCompareRuns(t *testing.T) {
	t.Parallel()
	L := routing.LogicError
	pattern := func(runs ...routing.Verdict) (PatternKind, Sentence) {
		var turns []routing.Attempt
		for _, v := range runs {
			turns = append(turns, routing.Attempt{Kind: routing.KindRetry, Verdict: v})
		}
		return Pattern(turns)
	}
	for _, tc := range []struct {
		name string
		runs []routing.Verdict
		want PatternKind
	}{
		{"fewer failures, none of them the same", []routing.Verdict{run(1, L, "f#a", "f#b"), run(2, L, "f#c")}, PatternNew},
		{"more failures, none of them the same", []routing.Verdict{run(1, L, "f#a"), run(2, L, "f#b", "f#c")}, PatternNew},
		{"no files", []routing.Verdict{run(1, L, "#a"), run(2, L, "#b")}, PatternNew},
		{"a file in the first run only", []routing.Verdict{run(1, L, "f#a"), run(2, L, "#b")}, PatternNew},
		{"a file in the last run only", []routing.Verdict{run(1, L, "#a"), run(2, L, "f#b")}, PatternNew},
	} {
		t.Run("S0-39 "+tc.name, func(t *testing.T) {
			if got, _ := pattern(tc.runs...); got != tc.want {
				t.Errorf("pattern %s, want %s", got, tc.want)
			}
		})
	}
	t.Run("S0-39 a stuck pattern says for how many runs", func(t *testing.T) {
		k, s := pattern(run(1, L, "f#a", "f#b"), run(2, L, "f#a"), run(3, L, "f#a"))
		if k != PatternStuck || s.Arg("stuck") != "2" || s.Arg("n") != "3" {
			t.Errorf("%s %v", k, s)
		}
	})
	t.Run("S0-39 a mixed pattern says how many failures are new", func(t *testing.T) {
		k, s := pattern(run(1, L, "f#a", "f#b", "f#c"), run(2, L, "f#a", "f#d", "f#e"))
		if k != PatternMixed || s.Arg("still") != "1" || s.Arg("new") != "2" {
			t.Errorf("%s %v", k, s)
		}
	})
	t.Run("S0-39 a green run is no failing run", func(t *testing.T) {
		if k, _ := Pattern([]routing.Attempt{{Kind: routing.KindPass}, {Kind: routing.KindRetry, Verdict: run(1, L, "f#a")}}); k != PatternSingle {
			t.Errorf("pattern %s", k)
		}
	})
}

func TestIdentityOfFailures(t *testing.T) {
	t.Parallel()
	if a, b := identity("s", "a", 0), identity("s", "b", 0); a == b {
		t.Errorf("two tests without a fingerprint are one: %q", a)
	}
	if a, b := identity("s", "a", 10), identity("s", "b", 10); a != "a" || a != b {
		t.Errorf("one fingerprint: %q and %q", a, b)
	}
	a, b := routing.Failure{Suite: "s", Name: "a"}, routing.Failure{Suite: "s", Name: "b"}
	two := []routing.Failure{a, b}
	if n := FailedCount(routing.Verdict{Failures: two, Dropped: 3, Counts: routing.Counts{Failed: 1}}); n != 5 {
		t.Errorf("%d failures are known, want 5", n)
	}
	if n := FailedCount(routing.Verdict{Failures: two, Counts: routing.Counts{Failed: 9}}); n != 9 {
		t.Errorf("%d failures were counted, want 9", n)
	}
}

func TestReportOfTheNewestEscalation(t *testing.T) {
	t.Parallel()
	turn := func(n int, k routing.Kind) routing.Attempt {
		return routing.Attempt{Iteration: n, Kind: k, Verdict: run(n, routing.LogicError, "f#a"), At: t0.Add(time.Duration(n) * time.Minute)}
	}
	cp := routing.Checkpoint{Name: "unit", Attempts: []routing.Attempt{turn(1, routing.KindRetry), turn(2, routing.KindMaxRetry), turn(3, routing.KindRetry)}}
	c := routing.Case{Key: "acme/shop#1", Checkpoints: map[string]routing.Checkpoint{"unit": cp}}
	r := Build(c, "unit", routing.DefaultPolicy())
	if r.Kind != routing.KindMaxRetry || r.Retries != 2 || len(r.History) != 2 || !r.OpenedAt.Equal(t0.Add(2*time.Minute)) {
		t.Errorf("%+v", r)
	}
	t.Run("the limit is that of the decision, or the present one where the run was decided otherwise", func(t *testing.T) {
		last := cp.Attempts[1]
		key := last.Verdict.Run.Key()
		p := routing.DefaultPolicy()
		cp := cp
		cp.Runs = map[string]routing.RunState{key: {Decided: true, Decision: routing.Decision{Kind: routing.KindMaxRetry, Max: 7}}}
		if n := MaxOf(cp, last, p); n != 7 {
			t.Errorf("limit %d, want 7", n)
		}
		cp.Runs[key] = routing.RunState{Decided: true, Decision: routing.Decision{Kind: routing.KindEnv, Max: 7}}
		if n := MaxOf(cp, last, p); n != p.Max {
			t.Errorf("limit %d, want %d", n, p.Max)
		}
		last.Iteration = 5
		if n := MaxOf(cp, last, p); n != 5 {
			t.Errorf("limit %d, want 5", n)
		}
	})
}

func TestWhere(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]routing.Failure{"f.go:1": {File: "f.go", Line: 1}, "f.go": {File: "f.go"}, "": {Line: 3}} {
		if got := Where(f); got != want {
			t.Errorf("%+v is at %q, want %q", f, got, want)
		}
	}
}

func TestCauses(t *testing.T) {
	t.Parallel()
	failures := func(classes ...routing.Class) routing.Verdict {
		var v routing.Verdict
		for _, c := range classes {
			v.Failures = append(v.Failures, routing.Failure{Class: c})
		}
		return v
	}
	const L, T = routing.LogicError, routing.TypeError
	for name, tc := range map[string]struct {
		v    routing.Verdict
		want []string
	}{
		"S0-40 two of a class":         {failures(L, L), nil},
		"S0-40 three of a class":       {failures(L, L, L), []string{"cause.spread"}},
		"S0-40 three of five":          {failures(L, L, L, T, T), []string{"cause.spread"}},
		"S0-40 half of them":           {failures(L, L, L, T, routing.Quality, routing.EnvIssue), nil},
		"S0-40 one is flaky":           {routing.Verdict{Failures: []routing.Failure{{Class: L, Flaky: true}, {Class: L}}}, []string{"cause.flaky"}},
		"S0-40 one of the class flaky": {failures(routing.Flaky, L), []string{"cause.flaky"}},
		"S0-40 no failure":             {routing.Verdict{}, nil},
	} {
		got := spread(tc.v)
		if !slices.Equal(ids(got), tc.want) {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
		if len(got) == 1 && got[0].ID == "cause.flaky" && got[0].Arg("n") != "1" {
			t.Errorf("%s: %v", name, got)
		}
	}
	report := func(v routing.Verdict, k routing.Kind) Report {
		cp := routing.Checkpoint{Name: "unit", Attempts: []routing.Attempt{{Kind: k, Verdict: v, Reason: "as it is"}}}
		return Build(routing.Case{Key: "acme/shop#1", Checkpoints: map[string]routing.Checkpoint{"unit": cp}}, "unit", routing.DefaultPolicy())
	}
	t.Run("S0-40 without any evidence the cause is unknown", func(t *testing.T) {
		if got := ids(report(routing.Verdict{Result: routing.Fail, Class: L}, routing.KindMaxRetry).Causes); !slices.Equal(got, []string{"cause.unknown"}) {
			t.Errorf("%v", got)
		}
	})
	t.Run("S0-40 with evidence it is not", func(t *testing.T) {
		r := report(run(1, T, "f#a"), routing.KindMaxRetry)
		if got := ids(r.Causes); !slices.Equal(got, []string{"cause.decisive"}) || r.Causes[0].Arg("class") != string(T) {
			t.Errorf("%v", r.Causes)
		}
	})
	t.Run("S0-41 what to look at depends on what failed", func(t *testing.T) {
		v := run(1, L, "f#a")
		for k, want := range map[routing.Kind][2]bool{routing.KindMaxRetry: {true, true}, routing.KindEnv: {false, false}} {
			a := report(v, k).Actions
			look, fix := slices.Contains(ids(a.Design), "design.look"), slices.Contains(ids(a.Manual), "manual.fix")
			if got := [2]bool{look, fix}; got != want {
				t.Errorf("%s: %v, want %v", k, got, want)
			}
		}
		bare := report(routing.Verdict{Result: routing.Fail, Class: L}, routing.KindMaxRetry).Actions
		if slices.Contains(ids(bare.Design), "design.look") || !slices.Contains(ids(bare.Manual), "manual.log") {
			t.Errorf("no failure is named: %+v", bare)
		}
		v.Failures[0].Suggestion = ""
		if got := ids(report(v, routing.KindMaxRetry).Actions.Manual); slices.Contains(got, "manual.fix") {
			t.Errorf("no suggestion: %v", got)
		}
	})
	t.Run("S0-41 what is said of the environment depends on what failed", func(t *testing.T) {
		late := routing.Verdict{Result: routing.TimedOut}
		for name, tc := range map[string]struct {
			v    routing.Verdict
			k    routing.Kind
			want string
		}{
			"a failed test":                 {run(1, L, "f#a"), routing.KindMaxRetry, "env.none"},
			"the environment":               {run(1, L), routing.KindEnv, "env.main"},
			"the environment, at the limit": {run(1, routing.EnvIssue), routing.KindMaxRetry, "env.main"},
			"a timeout":                     {run(1, L), routing.KindTimeout, "env.timeout"},
			"a timeout, at the limit":       {late, routing.KindMaxRetry, "env.timeout"},
		} {
			if got := report(tc.v, tc.k).Actions.Environment[0].ID; got != tc.want {
				t.Errorf("%s: %s, want %s", name, got, tc.want)
			}
		}
	})
	if c := (Report{}).lastClass(); c != routing.Unknown {
		t.Errorf("the class of no run is %s", c)
	}
}

func TestFilesOfAVerdict(t *testing.T) {
	t.Parallel()
	v := routing.Verdict{Failures: []routing.Failure{{File: "./a.go"}, {}, {File: "b.go", Decisive: true, Name: "TestB"}, {File: "a.go"}}}
	if got := Files(v); !slices.Equal(got, []string{"b.go", "a.go"}) {
		t.Errorf("%v", got)
	}
	if got := Files(routing.Verdict{}); got != nil {
		t.Errorf("no failure: %v", got)
	}
	if First(v) != "TestB" || First(routing.Verdict{}) != "" {
		t.Errorf("first %q and %q", First(v), First(routing.Verdict{}))
	}
}
