package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// failing returns a report of the tests numbered first to last, which fail with a message.
func failing(t testing.TB, first, last int, message string) string {
	t.Helper()
	var tests []string
	for i := first; i <= last; i++ {
		tests = append(tests, fmt.Sprintf("test_order_total_%04d=%s", i, message))
	}
	return testsuite(t, tests...)
}

func TestRouteManyFailuresS5_98(t *testing.T) {
	t.Parallel()
	led := t.TempDir()
	for i, step := range []struct {
		first, last int
		want        string
		not         []string
	}{
		{1, 500, "further failures of this run are on record by name and fingerprint", []string{"not compared"}},
		{1, 450, "✅ 50 fixed · 🔁 450 still failing", []string{"new", "not seen", "nothing has changed", "not compared"}},
		{1, 400, "✅ 50 fixed · 🔁 400 still failing", []string{"new", "not seen"}},
		{200, 700, "✅ 199 fixed · 🔁 201 still failing · 🆕 300 new", []string{"not seen"}},
	} {
		a, _ := route(t, led, "--run", fmt.Sprint(i+1), "--sha", sha(i+1), failing(t, step.first, step.last, "expected 1 got 2"))
		body := a.body("comment")
		head, _, _ := strings.Cut(body, "<details>") // a failure further down is "new" by itself
		if i == 0 {
			head = body
		}
		if !strings.Contains(head, step.want) {
			t.Errorf("S5-98: run %d does not say %q:\n%.1500s", i+1, step.want, body)
		}
		for _, not := range step.not {
			if line := lineWith(body, "**Since run"); strings.Contains(line, not) {
				t.Errorf("S5-98: run %d says %q: %s", i+1, not, line)
			}
		}
	}
}

// lineWith returns the first line with a text.
func lineWith(text, with string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, with) {
			return line
		}
	}
	return ""
}

func TestRouteMoreThanIsKeptS5_98(t *testing.T) {
	t.Parallel()
	led := t.TempDir()
	message := "expected 1 got 2"
	route(t, led, "--run", "1", "--sha", sha(1), failing(t, 1, 2300, message))
	a, _ := route(t, led, "--run", "2", "--sha", sha(2), failing(t, 1, 2200, message))
	if line := lineWith(a.body("comment"), "**Since run"); !strings.Contains(line, "not on record and not compared") || strings.Contains(line, " new") || strings.Contains(line, " fixed") {
		t.Errorf("S5-98: %s", line)
	}
}

func TestRouteManyFailuresOfTheBaseS5_98(t *testing.T) {
	t.Parallel()
	led := t.TempDir()
	routeBase(t, led, "1", sha(1), failing(t, 1, 900, "expected 1 got 2"))
	against := []string{"--base", "acme/app@main", "--merge-base", sha(1)}
	a, _ := route(t, led, append(against, "--run", "2", "--sha", sha(2), failing(t, 1, 900, "expected 1 got 2"))...)
	if a.Decision != "PRE_EXISTING" {
		t.Errorf("S5-98: the 900 failures of the base are %s: %s", a.Decision, a.Reason)
	}
	a, _ = route(t, led, append(against, "--run", "3", "--sha", sha(3), failing(t, 1, 901, "expected 1 got 2"))...)
	if a.Decision != "RETRY" {
		t.Errorf("S5-98: one more than the base is %s: %s", a.Decision, a.Reason)
	}
}

func TestRouteNoProgress(t *testing.T) {
	t.Parallel()
	led := t.TempDir()
	cfg := writeConfig(t, "max_iterations: 6\n")
	for i, want := range []string{"RETRY", "RETRY", "RETRY", "ESCALATE_NO_PROGRESS"} {
		a, _ := route(t, led, "--config", cfg, "--run", fmt.Sprint(i+1), "--sha", sha(i+1), failing(t, 1, 3, "expected 1 got 2"))
		if a.Decision != want {
			t.Fatalf("S5-40: run %d: %s: %s", i+1, a.Decision, a.Reason)
		}
		if body := a.body("issue"); want != "RETRY" && (a.Rule != "no-progress" || a.kinds() != "issue comment check label" || !strings.Contains(body, "3 of 6") || !strings.Contains(body, "- [ ]")) {
			t.Errorf("S5-40: %s, effects %s, issue:\n%s", a.Rule, a.kinds(), body)
		}
	}
	if out := run(t, "", "stats", "--ledger", led, "-o", "json").out; !strings.Contains(out, `"iterations_saved": 3`) && !strings.Contains(out, `"iterations_saved":3`) {
		t.Errorf("S5-46: %s", out)
	}
	led = t.TempDir()
	for i, want := range []string{"RETRY", "RETRY", "RETRY", "ESCALATE_NO_PROGRESS"} {
		a, _ := route(t, led, "--config", cfg, "--run", fmt.Sprint(i+1), "--sha", sha(i+1), "--tree", sha(77), failing(t, i+1, i+1, "expected 1 got 2"))
		if a.Decision != want {
			t.Errorf("S5-42: run %d: %s: %s", i+1, a.Decision, a.Reason)
		}
	}
}

func writeConfig(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "switchback.yml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
