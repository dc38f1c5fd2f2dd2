package escalation

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

var t0 = time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)

// run is one failing run: fingerprints as "file#print".
func run(n int, class routing.Class, prints ...string) routing.Verdict {
	v := routing.Verdict{
		Checkpoint: "unit", Result: routing.Fail, Class: class,
		Run:    routing.Run{Repository: "acme/shop", ID: fmt.Sprint(100 + n), SHA: fmt.Sprintf("%040d", n), URL: "https://github.com/acme/shop/actions/runs/1"},
		Counts: routing.Counts{Tests: 50, Passed: 50 - len(prints), Failed: len(prints)},
	}
	for i, p := range prints {
		file, fp, _ := strings.Cut(p, "#")
		v.Failures = append(v.Failures, routing.Failure{Name: "Test" + strings.ToUpper(fp), Class: class, Fingerprint: fp, File: file, Line: 7, Decisive: i == 0,
			Evidence: []routing.Evidence{{Text: "want 1, got 2", Signal: "assertion"}}, Suggestion: "Fix " + fp + "."})
	}
	return v
}

// play decides and folds the verdicts one after the other.
func play(t *testing.T, p routing.Policy, vs ...routing.Verdict) routing.Case {
	t.Helper()
	c := routing.Case{Key: "acme/shop#12"}
	for i, v := range vs {
		now := t0.Add(time.Duration(i) * 10 * time.Minute)
		d := routing.Decide(c, v, p, now)
		var err error
		if c, err = c.Apply(routing.RunEvent(c.Key, v, d, now)); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func TestPattern(t *testing.T) {
	t.Parallel()
	L := routing.LogicError
	for _, tc := range []struct {
		want PatternKind
		runs []routing.Verdict
	}{
		{PatternNone, nil},
		{PatternSingle, []routing.Verdict{run(1, L, "f#a")}},
		{PatternSame, []routing.Verdict{run(1, L, "f#a", "f#b"), run(2, L, "f#b", "f#a"), run(3, L, "f#a", "f#b")}},
		{PatternOscillating, []routing.Verdict{run(1, L, "f#a"), run(2, L, "f#b"), run(3, L, "f#a")}},
		{PatternShrinking, []routing.Verdict{run(1, L, "f#a", "f#b", "f#c"), run(2, L, "f#a", "f#b"), run(3, L, "f#a")}},
		{PatternGrowing, []routing.Verdict{run(1, L, "f#a"), run(2, L, "f#a", "f#b"), run(3, L, "f#a", "f#b", "f#c")}},
		{PatternNew, []routing.Verdict{run(1, L, "f#a"), run(2, L, "f#b"), run(3, L, "f#c")}},
		{PatternFiles, []routing.Verdict{run(1, L, "f#a"), run(2, L, "g#b"), run(3, L, "h#c")}},
		{PatternStuck, []routing.Verdict{run(1, L, "f#a", "f#b"), run(2, L, "f#a"), run(3, L, "f#a")}},
		{PatternMixed, []routing.Verdict{run(1, L, "f#a", "f#b"), run(2, L, "f#a", "f#c"), run(3, L, "f#c", "f#d")}},
		{PatternUnnamed, []routing.Verdict{run(1, L, "f#a"), run(2, L)}},
	} {
		t.Run("S0-39 "+string(tc.want), func(t *testing.T) {
			t.Parallel()
			var turns []routing.Attempt
			for _, v := range tc.runs {
				turns = append(turns, routing.Attempt{Kind: routing.KindRetry, Verdict: v})
			}
			got, s := Pattern(turns)
			if got != tc.want {
				t.Errorf("pattern %s, want %s", got, tc.want)
			}
			if s.String() == "" || strings.ContainsAny(s.String(), "{}") {
				t.Errorf("sentence %q", s)
			}
		})
	}
}

func TestBuildAtTheLimit(t *testing.T) {
	t.Parallel()
	L := routing.LogicError
	c := play(t, routing.DefaultPolicy(), run(1, L, "f#a", "f#b"), run(2, L, "f#a"), run(3, L, "f#a"), run(4, L, "f#a"))
	r := Build(c, "unit", routing.DefaultPolicy())
	t.Run("S0-37 session, checkpoint, attempts, reason", func(t *testing.T) {
		if r.Session != "acme/shop#12" || r.Checkpoint != "unit" || r.Attempts != "3/3" || r.Reason != "still failing after 3 of 3 fix attempts" {
			t.Errorf("%+v", r)
		}
	})
	t.Run("S0-38 one row per attempt", func(t *testing.T) {
		if len(r.History) != 4 {
			t.Fatalf("%d rows, want 4", len(r.History))
		}
		for i, row := range r.History {
			if row.Iteration != i+1 || row.Class != L || row.SHA != fmt.Sprintf("%040d", i+1) || row.First != "TestA" || row.At.IsZero() {
				t.Errorf("row %d: %+v", i, row)
			}
		}
		if r.History[0].Failed != 2 || r.History[3].Result != routing.KindMaxRetry {
			t.Errorf("rows %+v", r.History)
		}
	})
	t.Run("S0-40 causes derived from evidence", func(t *testing.T) {
		if len(r.Causes) == 0 || !strings.Contains(fmt.Sprint(r.Causes), "want 1, got 2") {
			t.Errorf("causes %v", r.Causes)
		}
	})
	t.Run("S0-41 three sections of actions", func(t *testing.T) {
		a := r.Actions
		if len(a.Design) == 0 || len(a.Environment) == 0 || len(a.Manual) == 0 {
			t.Fatalf("%+v", a)
		}
		if !strings.Contains(fmt.Sprint(a.Manual), "TestA at f:7") || !strings.Contains(fmt.Sprint(a.Manual), "/switchback retry 2 unit") {
			t.Errorf("manual %v", a.Manual)
		}
	})
}

func TestTypeOf(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		id    string
		class routing.Class
		max   int
		typ   Type
		sev   Severity
		kind  routing.Kind
	}{
		{"S2-65", routing.LogicError, 0, TestFailure, High, routing.KindMaxRetry},
		{"S2-65", routing.NotImplemented, 0, TestFailure, High, routing.KindMaxRetry},
		{"S2-95", routing.TypeError, 0, BuildFailure, High, routing.KindMaxRetry},
		{"S2-61", routing.Quality, 0, Quality, Medium, routing.KindMaxRetry},
		{"X-2", routing.Timeout, 0, TimedOut, High, routing.KindTimeout},
		{"S0-13", routing.DesignMismatch, 3, NeedsDecision, High, routing.KindDesign},
		{"S0-42", routing.EnvIssue, 3, Blocked, High, routing.KindEnv},
		{"S0-21", routing.Unknown, 3, General, Medium, routing.KindUnclear},
	} {
		t.Run(fmt.Sprintf("%s %s is %s %s", tc.id, tc.class, tc.typ, tc.sev), func(t *testing.T) {
			t.Parallel()
			p := routing.DefaultPolicy()
			p.Max = tc.max
			r := Build(play(t, p, run(1, tc.class, "f#a")), "unit", p)
			if r.Kind != tc.kind || r.Type != tc.typ || r.Severity != tc.sev {
				t.Errorf("got %s %s %s, want %s %s %s", r.Kind, r.Type, r.Severity, tc.kind, tc.typ, tc.sev)
			}
			if !r.Type.Valid() || !r.Severity.Valid() {
				t.Errorf("type %q or severity %q is not one of the known", r.Type, r.Severity)
			}
		})
	}
}

func TestNothingIsUnfilled(t *testing.T) {
	t.Parallel()
	open := regexp.MustCompile(`\{[a-z_]+\}`)
	p := routing.DefaultPolicy()
	bare := routing.Verdict{Checkpoint: "unit", Result: routing.Unclear}
	cases := map[string]routing.Case{
		"no case":    {},
		"no failure": play(t, p, bare),
		"no test":    play(t, p, run(1, routing.EnvIssue)),
		"env":        play(t, p, run(1, routing.EnvIssue, "#a")),
		"unmet":      play(t, p, routing.Verdict{Checkpoint: "unit", Result: routing.Pass, Unmet: []string{"coverage 80 %"}}),
		"timeout":    play(t, p, run(1, routing.Timeout), run(2, routing.Timeout), run(3, routing.Timeout), run(4, routing.Timeout)),
		"unknown":    play(t, p, run(1, "SOMETHING", "f#a")),
	}
	for name, c := range cases {
		t.Run("S0-43 "+name, func(t *testing.T) {
			t.Parallel()
			r := Build(c, "unit", p)
			raw, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			if m := open.Find(raw); m != nil {
				t.Errorf("unfilled %s in %s", m, raw)
			}
			for _, s := range append(append(append(append([]Sentence{r.Pattern}, r.Causes...), r.Actions.Design...), r.Actions.Environment...), r.Actions.Manual...) {
				if s.String() == "" {
					t.Errorf("sentence %s is empty", s.ID)
				}
				for i := 1; i < len(s.Args); i += 2 {
					if s.Args[i] == "" && strings.Contains(English(s.ID), "{"+s.Args[i-1]+"}") {
						t.Errorf("sentence %s: %s is empty", s.ID, s.Args[i-1])
					}
				}
			}
			if r.Session == "" || r.Checkpoint == "" || r.Attempts == "" || r.Reason == "" || len(r.Causes) == 0 ||
				len(r.Actions.Design) == 0 || len(r.Actions.Environment) == 0 || len(r.Actions.Manual) == 0 {
				t.Errorf("empty field in %s", raw)
			}
			for _, row := range r.History {
				if row.Class == "" || row.Reason == "" {
					t.Errorf("row %+v", row)
				}
			}
		})
	}
}

func TestSentencesFillTheirPlaceholders(t *testing.T) {
	t.Parallel()
	s := say("cause.decisive", "what", "{class}", "class", "X", "evidence", "{what}")
	if got := s.String(); got != "{class} failed (X); what decided it: {what}" {
		t.Errorf("an argument was read again: %q", got)
	}
	if len(SentenceIDs()) != len(english) {
		t.Error("ids missing")
	}
}

func TestTypesAndSeverities(t *testing.T) {
	t.Parallel()
	for id, typ := range map[string]Type{
		"S2-55 general": General, "S2-55 blocked": Blocked, "S2-55 decision": NeedsDecision, "S2-56 test_failure": TestFailure,
		"S2-57 token_exhausted": TokenExhausted, "S2-58 timeout": TimedOut, "S2-59 conflict": Conflict, "S2-60 dependency": Dependency,
		"S2-61 quality": Quality, "S2-95 build_failure": BuildFailure,
	} {
		t.Run(id, func(t *testing.T) {
			_, name, _ := strings.Cut(id, " ")
			if !typ.Valid() || string(typ) != name {
				t.Errorf("%q", typ)
			}
			// A register holds, resolves and tells apart each of them.
			b := newBook(t)
			c := call(1, "a", "c1")
			c.Member.Type, c.Facts.Type = typ, typ
			rec := b.place(c).ID
			if r, ok := b.reg.ByID(rec); !ok || r.Type != typ || len(b.reg.Open("acme/shop#1", "unit")) != 1 {
				t.Errorf("%+v", r)
			}
			other := c
			other.Member.Case, other.Member.Type = "acme/shop#2", General
			if typ == General {
				other.Member.Type = Blocked
			}
			if got := b.place(other).ID; got == rec {
				t.Error("shared with another type")
			}
		})
	}
	if len(Types()) != 10 {
		t.Errorf("%d types", len(Types()))
	}
	t.Run("S2-62 severities", func(t *testing.T) {
		if got := fmt.Sprint(Severities()); got != "[low medium high critical]" {
			t.Error(got)
		}
		if Severity("grave").Valid() || Type("odd").Valid() {
			t.Error("anything is valid")
		}
	})
}
