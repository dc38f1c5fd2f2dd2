package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// answer is what `route` prints, as another tool reads it.
type answer struct {
	Decision, Rule, Reason, Verdict, Class, Phase string
	Iteration                                     int
	MaxIterations                                 int `json:"max_iterations"`
	Repeated                                      bool
	Failures                                      []struct {
		Name, Class, Fingerprint, File, Message string
		Line                                    int
		Evidence                                []struct {
			Line         int
			Text, Signal string
		}
	}
	Effects []struct{ Kind, Key, Title, Body string }
}

func (a answer) kinds() string {
	var out []string
	for _, e := range a.Effects {
		out = append(out, e.Kind)
	}
	return strings.Join(out, " ")
}

func (a answer) body(kind string) string {
	for _, e := range a.Effects {
		if e.Kind == kind {
			return e.Body
		}
	}
	return ""
}

const caseKey = "acme/app#12"

func route(t testing.TB, led string, args ...string) (answer, string) {
	t.Helper()
	r := run(t, "", append([]string{"route", "--case", caseKey, "--ledger", led}, args...)...)
	if r.code != 0 || r.err != "" {
		t.Fatalf("route %v: exit %d: %s", args, r.code, r.err)
	}
	var a answer
	decode(t, r.out, &a)
	return a, r.out
}

func sha(n int) string { return fmt.Sprintf("%040x", n) }

func TestRouteKeys(t *testing.T) {
	t.Parallel()
	a, out := route(t, t.TempDir(), "--run", "1", "--sha", sha(1), recorded("2-wrong-result.txt"))
	hasKeys(t, "the decision", out, "decision", "rule", "reason", "iteration", "max_iterations", "verdict", "failures", "effects")
	var raw struct{ Failures, Effects []jsonText }
	decode(t, out, &raw)
	hasKeys(t, "a failure", string(raw.Failures[0]), "name", "class", "evidence", "fingerprint", "file", "line")
	hasKeys(t, "an effect", string(raw.Effects[0]), "kind", "key", "body")
	if a.Decision != "RETRY" || a.Rule != "fixable" || a.Reason == "" || a.Iteration != 1 || a.MaxIterations != 3 || a.Verdict != "fail" || a.Class != "LOGIC_ERROR" {
		t.Errorf("%+v", a)
	}
	f := a.Failures[0]
	if f.Name != "TestDiscount/rounds_down" || f.Class != "LOGIC_ERROR" || f.File != "coupon_test.go" || f.Line != 26 || f.Fingerprint == "" || f.Evidence[0].Signal == "" {
		t.Errorf("%+v", f)
	}
	if a.kinds() != "comment check handoff" {
		t.Errorf("effects %s", a.kinds())
	}
	for _, e := range a.Effects {
		if !strings.HasPrefix(e.Key, caseKey+"/ci/") || e.Body == "" {
			t.Errorf("effect %+v", e)
		}
	}
	if b := a.body("comment"); !strings.Contains(b, "1 of 3") || !strings.Contains(b, "TestDiscount/rounds_down") {
		t.Errorf("comment:\n%s", b)
	}
	// Empty lists are lists, for readers that do not know null.
	if _, out := route(t, t.TempDir(), "--run", "1", "--conclusion", "cancelled"); !strings.Contains(out, `"failures":[]`) {
		t.Error(out)
	}
}

type jsonText string

func (j *jsonText) UnmarshalJSON(b []byte) error { *j = jsonText(b); return nil }

// A pull request's life, decision by decision, in each kind of ledger.
func TestRouteSequence(t *testing.T) {
	t.Parallel()
	ledgers := map[string]func(*testing.T) string{
		"a folder that does not exist": func(t *testing.T) string { return filepath.Join(t.TempDir(), "a", "ledger") },
		"an empty folder":              func(t *testing.T) string { return t.TempDir() },
		"a new file":                   func(t *testing.T) string { return filepath.Join(t.TempDir(), "ledger.jsonl") },
		"an empty file":                func(t *testing.T) string { return file(t, "ledger", "") },
		"an empty file with a name":    func(t *testing.T) string { return file(t, "ledger.jsonl", "") },
	}
	for name, path := range ledgers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			led := path(t)
			wrong, stub, pass, env := recorded("2-wrong-result.txt"), recorded("1-not-implemented.txt"), recorded("3-pass.txt"), recorded("4-environment.txt")
			data, err := os.ReadFile(pass)
			if err != nil {
				t.Fatal(err)
			}
			// A test that failed for the environment has to run: that it is skipped is no pass.
			all := file(t, "all.txt", strings.Replace(string(data), "--- SKIP: TestStock", "--- PASS: TestStock", 1))
			for i, c := range []struct {
				args      []string
				decision  string
				rule      string
				iteration int
				effects   string
			}{
				{[]string{"--run", "101", "--sha", sha(1), stub}, "RETRY", "fixable", 1, "comment check handoff"},
				{[]string{"--run", "102", "--sha", sha(2), wrong}, "RETRY", "fixable", 2, "comment check handoff"},
				{[]string{"--run", "102", "--sha", sha(2), "--attempt", "2", wrong}, "RETRY", "same-commit", 2, "comment check"},
				{[]string{"--run", "102", "--sha", sha(2), wrong}, "RETRY", "fixable", 2, ""}, // delivered again
				{[]string{"--run", "101", "--sha", sha(1), "--head", sha(2), "--attempt", "2", wrong}, "NONE", "stale-commit", 2, ""},
				{[]string{"--run", "103", "--sha", sha(3), wrong}, "RETRY", "fixable", 3, "comment check handoff"},
				{[]string{"--run", "104", "--sha", sha(4), wrong}, "ESCALATE_MAX_RETRY", "limit-reached", 3, "issue comment check label"},
				{[]string{"--run", "105", "--sha", sha(5), wrong}, "NONE", "held-by-escalation", 3, "issue check"},
				{[]string{"--run", "106", "--sha", sha(6), pass}, "PASS", "pass", 3, "comment check label close"},
				{[]string{"--run", "107", "--sha", sha(7), env}, "ESCALATE_ENV", "environment", 0, "issue comment check label"},
				{[]string{"--run", "108", "--sha", sha(8), "--conclusion", "success", all}, "PASS", "pass", 0, "comment check label close"},
				{[]string{"--run", "109", "--sha", sha(9), "--conclusion", "timed_out"}, "RETRY", "timeout", 1, "comment check handoff"},
				{[]string{"--run", "110", "--sha", sha(10), "--conclusion", "cancelled"}, "ESCALATE_UNCLEAR", "unclear", 1, "issue comment check label"},
			} {
				a, _ := route(t, led, c.args...)
				repeated := i == 3
				if a.Decision != c.decision || a.Rule != c.rule || a.Iteration != c.iteration || a.Repeated != repeated || (!repeated && a.kinds() != c.effects) {
					t.Fatalf("step %d: %s by %s, turn %d, effects %q, repeated %v; want %+v", i+1, a.Decision, a.Rule, a.Iteration, a.kinds(), a.Repeated, c)
				}
			}
		})
	}
}

func snapshot(t *testing.T, path string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(path, func(p string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		fmt.Fprintf(&b, "%s\n%s\n", p, data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRouteAgainRecordsNothing(t *testing.T) {
	t.Parallel()
	for name, led := range map[string]string{"folder": t.TempDir(), "file": filepath.Join(t.TempDir(), "l.jsonl")} {
		t.Run("S0-12 the same run again is decided the same and recorded once, "+name, func(t *testing.T) {
			args := []string{"--run", "1", "--sha", sha(1), recorded("2-wrong-result.txt")}
			first, _ := route(t, led, args...)
			before := snapshot(t, led)
			for range 3 {
				again, _ := route(t, led, args...)
				if !again.Repeated || again.Decision != first.Decision || again.Iteration != first.Iteration || again.Rule != first.Rule || again.Verdict != first.Verdict {
					t.Errorf("%+v", again)
				}
			}
			if after := snapshot(t, led); after != before {
				t.Errorf("the ledger changed:\n%s\n%s", before, after)
			}
		})
	}
}

func TestRouteFlags(t *testing.T) {
	t.Parallel()
	wrong := recorded("2-wrong-result.txt")
	cfg := file(t, "sb.yml", "max_iterations: 5\non_max: error\nlanguage: ko\ncheckpoints:\n  lint: {max_iterations: 1}\ncases:\n  \"#12\": {max_iterations: 0}\nrules:\n  - {name: rounding, pattern: 'got \\d+, want \\d+', class: DESIGN_MISMATCH}\n")
	t.Run("--config gives limit, rules and language", func(t *testing.T) {
		t.Parallel()
		r := run(t, "", "route", "--case", "acme/app#7", "--ledger", t.TempDir(), "--run", "1", "--config", cfg, wrong)
		var a answer
		decode(t, r.out, &a)
		if a.Decision != "ESCALATE_DESIGN" || a.MaxIterations != 5 || a.Failures[0].Evidence[0].Signal != "rounding" {
			t.Errorf("%+v", a)
		}
		if !strings.ContainsAny(a.body("issue"), "에스컬레이션") {
			t.Errorf("not in Korean:\n%s", a.body("issue"))
		}
	})
	t.Run("S4-34 --config overrides a case", func(t *testing.T) {
		t.Parallel()
		zero := file(t, "sb.yml", "cases:\n  \"#12\": {max_iterations: 0}\n")
		if a, _ := route(t, t.TempDir(), "--run", "1", "--config", zero, wrong); a.Decision != "ESCALATE_MAX_RETRY" || a.MaxIterations != 0 {
			t.Errorf("%+v", a)
		}
	})
	t.Run("S0-56 --config that is wrong", func(t *testing.T) {
		t.Parallel()
		bad := file(t, "sb.yml", "\nmax_iteration: 5\n")
		r := process(t, "", "route", "--case", caseKey, "--run", "1", "--ledger", filepath.Join(t.TempDir(), "l.jsonl"), "--config", bad, wrong)
		if r.code != 1 || r.out != "" || !strings.Contains(r.err, bad+`:2: unknown key "max_iteration"; did you mean "max_iterations"?`) {
			t.Errorf("exit %d: %s", r.code, r.err)
		}
	})
	t.Run("--checkpoint keeps counts apart", func(t *testing.T) {
		t.Parallel()
		led := t.TempDir()
		for _, cp := range []string{"unit", "e2e"} {
			if a, _ := route(t, led, "--run", "1", "--checkpoint", cp, wrong); a.Iteration != 1 {
				t.Errorf("%s: turn %d", cp, a.Iteration)
			}
		}
	})
	t.Run("--conclusion alone is never a pass", func(t *testing.T) {
		t.Parallel()
		for _, c := range conclusions {
			if a, _ := route(t, t.TempDir(), "--run", "1", "--conclusion", c); a.Decision == "PASS" {
				t.Errorf("%s: %+v", c, a)
			}
			if a, _ := route(t, t.TempDir(), "--run", "1", "--conclusion", c, recorded("3-pass.txt")); (a.Decision == "PASS") != (c == "success") {
				t.Errorf("%s with a green log: %s", c, a.Decision)
			}
		}
	})
	t.Run("a missing report is unclear", func(t *testing.T) {
		t.Parallel()
		a, _ := route(t, t.TempDir(), "--run", "1", filepath.Join(t.TempDir(), "nope.xml"))
		if a.Decision != "ESCALATE_UNCLEAR" || !strings.Contains(a.Reason, "nope.xml") {
			t.Errorf("%+v", a)
		}
	})
	t.Run("-o text says what failed and what comes next", func(t *testing.T) {
		t.Parallel()
		r := run(t, "", "route", "--case", caseKey, "--ledger", t.TempDir(), "--run", "1", "-o", "text", wrong)
		for _, want := range []string{"❌ ci: 2 of 5 tests failed · fix attempt 1 of 3\n", "✗ TestDiscount/rounds_down   coupon_test.go:26  ", "expected 899, got 900", "\nNext: The failure is returned for a fix"} {
			if !strings.Contains(r.out, want) {
				t.Errorf("%q is not in\n%s", want, r.out)
			}
		}
		if r.code != 0 || r.err != "" || strings.Contains(r.out, `{"decision"`) || strings.Contains(r.out, "\x1b") || strings.Contains(r.out, "Reworking") {
			t.Errorf("%s%s", r.out, r.err)
		}
	})
	t.Run("S4-61 -o text --verbose also says what was recorded", func(t *testing.T) {
		t.Parallel()
		r := run(t, "", "route", "--case", caseKey, "--ledger", t.TempDir(), "--run", "1", "-o", "text", "--verbose", wrong)
		if !strings.HasPrefix(r.out, "⟳ Reworking \"acme/app#12\" (iteration 1/3, target: implement)\n  → Recorded refinement attempt 1\n") || !strings.Contains(r.out, "\nNext: ") {
			t.Errorf("%s%s", r.out, r.err)
		}
	})
	t.Run("a ledger that is none", func(t *testing.T) {
		t.Parallel()
		led := file(t, "l.jsonl", "this is no ledger\n")
		r := process(t, "", "route", "--case", caseKey, "--run", "1", "--ledger", led, wrong)
		if r.code != 1 || r.out != "" || !strings.Contains(r.err, "l.jsonl") {
			t.Errorf("exit %d: %s", r.code, r.err)
		}
		if got, _ := os.ReadFile(led); string(got) != "this is no ledger\n" {
			t.Errorf("it was written over: %s", got)
		}
	})
}

// A review is routed as tests are.
func TestRouteReview(t *testing.T) {
	t.Parallel()
	led := t.TempDir()
	rejected := file(t, "review.json", `{"passed":false,"decision":"REJECTED","severity":"HIGH","issues":[{"severity":"blocker","category":"architecture","description":"the cart talks to the database","file":"cart.go","line":3,"suggestedFix":"go through the store"}],"feedback":"not yet"}`)
	approved := file(t, "review.json", `{"passed":true,"decision":"APPROVED","issues":[],"feedback":"good"}`)
	a, _ := route(t, led, "--checkpoint", "review", "--run", "1", "--sha", sha(1), rejected)
	if a.Decision != "RETRY" || a.Phase != "plan" || !strings.Contains(a.Reason, "Review failed: 1 blocker(s)") {
		t.Errorf("%+v", a)
	}
	if a, _ = route(t, led, "--checkpoint", "review", "--run", "2", "--sha", sha(2), approved); a.Decision != "PASS" {
		t.Errorf("%+v", a)
	}
}

// What a run calls its report decides nothing, only what the configuration declares.
func TestRouteReviewAsReport(t *testing.T) {
	t.Parallel()
	approved := file(t, "junit.xml", `{"decision":"APPROVED","passed":true,"issues":[]}`)
	strict := file(t, "switchback.yml", "criteria: {min_tests: 100, require_report: true}\n")
	for _, c := range []struct {
		name string
		args []string
	}{
		{"S5-28 a review document saved as a report is no green", []string{approved}},
		{"S5-28 nor with a conclusion", []string{"--conclusion", "success", approved}},
		{"S5-28 nor under criteria", []string{"--config", strict, approved}},
		{"S5-28 nor at a review whose criteria it does not meet", []string{"--config", strict, "--checkpoint", "review", approved}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if a, _ := route(t, t.TempDir(), append([]string{"--run", "1", "--sha", sha(1)}, c.args...)...); a.Decision != "ESCALATE_UNCLEAR" {
				t.Errorf("%s (%s), want ESCALATE_UNCLEAR", a.Decision, a.Reason)
			}
		})
	}
}

// Eight processes at once on one ledger: each is counted, none is lost.
func TestRouteConcurrently(t *testing.T) {
	t.Parallel()
	for name, led := range map[string]string{"folder": filepath.Join(t.TempDir(), "ledger"), "file": filepath.Join(t.TempDir(), "l.jsonl")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			results := make([]result, 8)
			var wg sync.WaitGroup
			for i := range results {
				wg.Go(func() {
					results[i] = process(t, "", "route", "--case", caseKey, "--ledger", led, "--run", fmt.Sprintf("run-%d", i), "--sha", sha(i+1), recorded("2-wrong-result.txt"))
				})
			}
			wg.Wait()
			seen := map[string]int{}
			for i, r := range results {
				if r.code != 0 {
					t.Fatalf("process %d: exit %d: %s", i, r.code, r.err)
				}
				var a answer
				decode(t, r.out, &a)
				seen[fmt.Sprintf("%s %d", a.Decision, a.Iteration)]++
			}
			want := map[string]int{"RETRY 1": 1, "RETRY 2": 1, "RETRY 3": 1, "ESCALATE_MAX_RETRY 3": 1, "NONE 3": 4}
			if fmt.Sprint(seen) != fmt.Sprint(want) {
				t.Errorf("decisions %v, want %v", seen, want)
			}
			var c struct {
				Checkpoints map[string]struct {
					Runs map[string]any `json:"runs"`
				} `json:"checkpoints"`
			}
			decode(t, run(t, "", "show", "--ledger", led, "-o", "json", caseKey).out, &c)
			if n := len(c.Checkpoints["ci"].Runs); n != 8 {
				t.Errorf("%d runs are recorded, want 8", n)
			}
		})
	}
}
