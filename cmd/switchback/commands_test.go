package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/config"
)

func TestDiagnoseKeys(t *testing.T) {
	t.Parallel()
	r := run(t, "", "diagnose", recorded("4-environment.txt"))
	if r.code != 0 {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	hasKeys(t, "the diagnosis", r.out, "verdict", "class", "evidence", "error_lines", "failing_tests", "counts")
	var raw struct {
		Evidence     []jsonText
		ErrorLines   []jsonText `json:"error_lines"`
		FailingTests []jsonText `json:"failing_tests"`
		Counts       jsonText
	}
	decode(t, r.out, &raw)
	hasKeys(t, "evidence", string(raw.Evidence[0]), "line", "text", "signal")
	hasKeys(t, "an error line", string(raw.ErrorLines[0]), "line", "text")
	hasKeys(t, "a failing test", string(raw.FailingTests[0]), "name", "suite", "file", "line", "class", "message")
	hasKeys(t, "counts", string(raw.Counts), "tests", "passed", "failed", "skipped")
	var d diagnosisJSON
	decode(t, r.out, &d)
	if d.Verdict != "fail" || d.Class != "ENV_ISSUE" || d.Counts.Tests != 6 || d.Counts.Failed != 1 || d.FailingTests[0].Name != "TestStock" || d.FailingTests[0].Line != 44 {
		t.Errorf("%+v", d)
	}
	data, err := os.ReadFile(recorded("4-environment.txt"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	for _, l := range d.ErrorLines { // line numbers count from 1 in the input
		if strings.TrimSpace(lines[l.Line-1]) != strings.TrimSpace(l.Text) {
			t.Errorf("line %d is %q, not %q", l.Line, lines[l.Line-1], l.Text)
		}
	}
	// Evidence of a test names the line where the test is reported failed; what
	// it printed stands around it.
	if e := d.Evidence[0]; !strings.Contains(strings.Join(lines[max(0, e.Line-3):e.Line+2], "\n"), e.Text) {
		t.Errorf("nowhere near line %d: %q", e.Line, e.Text)
	}
}

func TestDiagnose(t *testing.T) {
	t.Parallel()
	green, err := os.ReadFile(recorded("3-pass.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, in       string
		args           []string
		verdict, class string
	}{
		{"green", "", []string{recorded("3-pass.txt")}, "pass", ""},
		{"the standard input", string(green), []string{"-"}, "pass", ""},
		{"a stub", "", []string{recorded("1-not-implemented.txt")}, "fail", "NOT_IMPLEMENTED"},
		{"green, but the run failed", string(green), []string{"--conclusion", "failure", "-"}, "unclear", "UNKNOWN"},
		{"a limit of time", string(green), []string{"--conclusion", "timed_out", "-"}, "timeout", "TIMEOUT"},
		{"nothing", "", []string{"-"}, "unclear", "UNKNOWN"},
		{"prose", "all is well\n", []string{"-"}, "unclear", "UNKNOWN"},
	} {
		r := run(t, c.in, append([]string{"diagnose"}, c.args...)...)
		var d diagnosisJSON
		decode(t, r.out, &d)
		if r.code != 0 || string(d.Verdict) != c.verdict || string(d.Class) != c.class {
			t.Errorf("%s: exit %d, %s %s (%s)", c.name, r.code, d.Verdict, d.Class, d.Reason)
		}
		for _, list := range []string{`"evidence":null`, `"error_lines":null`, `"failing_tests":null`} {
			if strings.Contains(r.out, list) {
				t.Errorf("%s: %s", c.name, list)
			}
		}
	}
	r := run(t, "", "diagnose", "-o", "text", recorded("4-environment.txt"))
	if !strings.HasPrefix(r.out, "fail ENV_ISSUE: ") || !strings.Contains(r.out, "example.com/shop > TestStock (coupon_test.go:44)") {
		t.Error(r.out)
	}
}

// What goes to a terminal moves no cursor and turns no text around.
func TestTextIsPrintable(t *testing.T) {
	t.Parallel()
	name := `T\u001b[31mX\u202e`
	in := `{"Action":"run","Package":"p","Test":"` + name + `"}
{"Action":"output","Package":"p","Test":"` + name + `","Output":"    a_test.go:3: \u001b]0;title\u0007 got 1, want 2\n"}
{"Action":"fail","Package":"p","Test":"` + name + `"}
{"Action":"fail","Package":"p"}
`
	for _, command := range []string{"parse", "diagnose"} {
		r := run(t, in, command, "-o", "text", "-")
		if r.code != 0 || strings.ContainsAny(r.out+r.err, "\x1b\x07\u202e") || !strings.Contains(r.out, "TX (a_test.go:3)") {
			t.Errorf("%s: exit %d, %q %q", command, r.code, r.out, r.err)
		}
	}
}

func TestDiagnoseText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"1-not-implemented.txt": "fail NOT_IMPLEMENTED: example.com/shop > ", // the class stands there once
		"3-pass.txt":            "pass: 5 of 6 tests passed, none failed\n",
	} {
		if r := run(t, "", "diagnose", "-o", "text", recorded(in)); !strings.HasPrefix(r.out, want) || strings.Contains(r.out, "line 0") {
			t.Errorf("%s: %s", in, r.out)
		}
	}
}

func TestUnknownWordsAreUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"diagnose", "--conclusion", "ok", recorded("3-pass.txt")}, {"route", "--case", "a/b#1", "--run", "1", "--conclusion", "ok"},
		{"show", "-o", "yaml", "a/b#1"}, {"parse", "-o", "yaml", "-"}, {"diagnose", "-o", "yaml", "-"},
	} {
		if r := run(t, "", args...); r.code != 2 || r.out != "" || !strings.Contains(r.err, args[2]) && !strings.Contains(r.err, "ok") {
			t.Errorf("%v: exit %d, %q %q", args, r.code, r.out, r.err)
		}
	}
}

func TestDiagnoseShowsNoSecret(t *testing.T) {
	t.Parallel()
	secret := "ghp_" + strings.Repeat("aB3d", 9)
	log := "=== RUN   TestA\n    a_test.go:5: token=" + secret + " is refused\n--- FAIL: TestA (0.00s)\nFAIL\nfatal: https://x:" + secret + "@example.com\n##[error]Process completed with exit code 1.\n"
	for _, args := range [][]string{{"diagnose", "-"}, {"diagnose", "-o", "text", "-"}, {"route", "--case", caseKey, "--run", "1", "--ledger", t.TempDir(), "-"}} {
		if r := run(t, log, args...); r.code != 0 || strings.Contains(r.out+r.err, secret) {
			t.Errorf("%v: exit %d\n%s%s", args, r.code, r.out, r.err)
		}
	}
}

func TestShowAndCase(t *testing.T) {
	t.Parallel()
	led := filepath.Join(t.TempDir(), "l.jsonl")
	for i := range 4 {
		route(t, led, "--run", sha(i), "--sha", sha(i+1), recorded("2-wrong-result.txt"))
	}
	run(t, "", "route", "--case", "acme/other#1", "--ledger", led, "--run", "1", recorded("3-pass.txt"))
	if r := run(t, "", "show", "--ledger", led); r.code != 0 || r.out != caseKey+"\nacme/other#1\n" {
		t.Errorf("cases: %q", r.out)
	}
	r := run(t, "", "show", "--ledger", led, caseKey)
	for _, want := range []string{caseKey, "ci: escalated", "ESCALATE_MAX_RETRY"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("%q is not in\n%s", want, r.out)
		}
	}
	t.Run("S4-67 the details show the count", func(t *testing.T) {
		if !strings.Contains(r.out, "refinement count: 3/3") {
			t.Error(r.out)
		}
	})
	t.Run("S0-57 metrics of a case", func(t *testing.T) {
		r := run(t, "", "show", "--ledger", led, "-o", "json", caseKey)
		var c struct {
			Case        string
			Checkpoints map[string]struct {
				Metrics struct {
					Session, Checkpoint string
					RoutingHistory      []map[string]any `json:"routing_history"`
					TotalTime           string           `json:"total_time"`
					FeedbackQuality     string           `json:"feedback_quality"`
				}
				Next struct {
					Kind     string
					Priority int
				}
			}
		}
		decode(t, r.out, &c)
		m := c.Checkpoints["ci"].Metrics
		if m.Session != caseKey || m.Checkpoint != "ci" || len(m.RoutingHistory) != 4 || m.TotalTime == "" || m.FeedbackQuality != "ineffective" {
			t.Errorf("%+v", m)
		}
		if n := c.Checkpoints["ci"].Next; n.Kind != "manual" || n.Priority <= 450 {
			t.Errorf("next %+v", n)
		}
	})
	if r := process(t, "", "show", "--ledger", led, "acme/app#99"); r.code != 1 || !strings.Contains(r.err, `no case "acme/app#99"`) {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	act := func(want int, args ...string) string {
		t.Helper()
		r := process(t, "", append([]string{"case", "--case", caseKey, "--ledger", led, "--by", "me"}, args...)...)
		if r.code != want {
			t.Errorf("case %v: exit %d: %s", args, r.code, r.err)
		}
		return r.out + r.err
	}
	if out := act(0, "extend", "--attempts", "2"); !strings.Contains(out, "ci: in_progress") || !strings.Contains(out, "4/5") {
		t.Errorf("extend returns for a fix at once:\n%s", out)
	}
	if a, _ := route(t, led, "--run", sha(10), "--sha", sha(11), recorded("2-wrong-result.txt")); a.Decision != "RETRY" || a.Iteration != 5 || a.MaxIterations != 5 {
		t.Errorf("after extend: %+v", a)
	}
	act(0, "pause")
	if a, _ := route(t, led, "--run", sha(12), "--sha", sha(13), recorded("2-wrong-result.txt")); a.Decision != "NONE" {
		t.Errorf("paused: %+v", a)
	}
	if out := act(0, "resume"); !strings.Contains(out, "ci: escalated") {
		t.Errorf("the run that came while it was paused is decided:\n%s", out)
	}
	t.Run("S4-54 a reset re-enables", func(t *testing.T) {
		if out := act(0, "reset"); !strings.Contains(out, "ci: in_progress") || !strings.Contains(out, "1/3") {
			t.Errorf("reset returns for a fix at once:\n%s", out)
		}
		if a, _ := route(t, led, "--run", sha(14), "--sha", sha(15), recorded("2-wrong-result.txt")); a.Decision != "RETRY" || a.Iteration != 2 || a.MaxIterations != 3 {
			t.Errorf("%+v", a)
		}
	})
	if out := act(0, "wrong", "--class", "design_mismatch"); !strings.Contains(out, "ci: escalated") {
		t.Errorf("wrong decides anew:\n%s", out)
	}
	act(0, "wont-fix")
	if out := act(0, "phase", "--phase", "plan"); !strings.Contains(out, "ci: in_progress") {
		t.Errorf("phase returns for a fix at once:\n%s", out)
	}
	act(0, "quarantine", "--test", "TestFree")
	for want, args := range map[string][]string{
		"is not a phase":            {"phase", "--phase", "review"},
		"name the test":             {"quarantine"},
		`"NICE" is not a class`:     {"wrong", "--class", "nice"},
		"nothing to leave unfixed":  {"wont-fix"},
		"unknown action \"wrongs\"": nil,
	} {
		code := 1
		if args == nil {
			args, code = []string{"wrongs"}, 2
		}
		if out := act(code, args...); !strings.Contains(out, want) {
			t.Errorf("%v: %s", args, out)
		}
	}
	act(0, "skip")
	if out := act(1, "resume", "--checkpoint", "nope"); !strings.Contains(out, `no checkpoint "nope"`) {
		t.Error(out)
	}
	if out := act(1, "handoff"); !strings.Contains(out, "no hand-off that waits") {
		t.Error(out)
	}
	if n := strings.Count(snapshot(t, led), `"actor":"me"`); n != 9 {
		t.Errorf("%d acts of a human are recorded, want 9", n)
	}
}

func TestConfigCheck(t *testing.T) {
	t.Parallel()
	good := file(t, "sb.yml", "max_iterations: 4\n")
	if r := process(t, "", "config", "check", good); r.code != 0 || r.out != good+" is valid\n" || r.err != "" {
		t.Errorf("%+v", r)
	}
	t.Run("S5-85 a mention that GITHUB_TOKEN cannot make start anything is a warning", func(t *testing.T) {
		agent := file(t, "sb.yml", "handoff: [{mention: \"@claude\"}]\n")
		r := process(t, "", "config", "check", agent)
		if r.code != 0 || !strings.HasPrefix(r.out, agent+": warning: handoff[0]: a comment that GITHUB_TOKEN posts starts no workflow") || !strings.HasSuffix(r.out, agent+" is valid\n") {
			t.Errorf("%+v", r)
		}
	})
	t.Run("S0-56 a wrong configuration ends with 1 and names file, line and key", func(t *testing.T) {
		bad := file(t, "sb.yml", "language: en\non_max: wait\nmax_iteration: 3\n")
		r := process(t, "", "config", "check", bad)
		want := bad + `:2: on_max is "wait"; it must be one of manual, error, skip` + "\n" + bad + `:3: unknown key "max_iteration"; did you mean "max_iterations"?` + "\n"
		if r.code != 1 || r.out != "" || r.err != "switchback: "+want {
			t.Errorf("exit %d, output %q, error\n%s\nwant\n%s", r.code, r.out, r.err, want)
		}
	})
}

func TestConfigSchema(t *testing.T) {
	t.Parallel()
	want, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	if r := process(t, "", "config", "schema"); r.code != 0 || r.out != string(want) || !json.Valid(want) {
		t.Errorf("exit %d: %.200s", r.code, r.out)
	}
}

// The demo tells a story that ends in a pass and in two escalations, and
// leaves its ledger where it was told to.
func TestDemo(t *testing.T) {
	t.Parallel()
	led := t.TempDir()
	r := run(t, "", "demo", "--ledger", led)
	if r.code != 0 || r.err != "" {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	for _, want := range []string{"iteration 1/3", "would post", "PASS", "ESCALATE_ENV", "ESCALATE_MAX_RETRY", "⟳ Reworking", "❌ unit: 2 of 5 tests failed · fix attempt 2 of 3", "unit: TestDiscount fails after 3 attempts (#9)"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("%q is not told", want)
		}
	}
	if n := strings.Count(r.out, "\n"); n > 80 {
		t.Errorf("the story has %d lines, more than a screen or two:\n%s", n, r.out)
	}
	if posts := run(t, "", "demo", "--posts"); !strings.Contains(posts.out, "│ ### ❌ unit: ") || !strings.Contains(posts.out, "│ ## ⚠️ Escalation report") {
		t.Errorf("--posts prints none:\n%.2000s", posts.out)
	}
	if again := run(t, "", "show", "--ledger", led); len(strings.Fields(again.out)) != 3 {
		t.Errorf("cases: %s", again.out)
	}
}
