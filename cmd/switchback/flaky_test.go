package main

import (
	"strings"
	"testing"
)

func TestRouteFlakyS5_30(t *testing.T) {
	t.Parallel()
	led := t.TempDir()
	red, green := testsuite(t, "total=expected 1 got 2", "list"), testsuite(t, "total", "list")
	if a, _ := route(t, led, "--run", "1", "--sha", sha(1), red); a.Decision != "RETRY" || a.Iteration != 1 {
		t.Fatalf("%s, iteration %d", a.Decision, a.Iteration)
	}
	a, _ := route(t, led, "--run", "1", "--attempt", "2", "--sha", sha(1), green)
	body := a.body("comment")
	if a.Decision != "PASS" || a.Iteration != 0 || strings.Contains(a.Reason, "fix attempt") || strings.Contains(body, "Fixed on the way") || strings.Contains(body, "after 1") {
		t.Errorf("S5-30: %s, iteration %d, %s:\n%s", a.Decision, a.Iteration, a.Reason, body)
	}
	if !strings.Contains(body, "Flaky, and not fixed: `cart › total`") || !strings.Contains(body, "(flaky, not counted)") {
		t.Errorf("S5-30: comment:\n%s", body)
	}
	a, out := route(t, led, "--run", "2", "--sha", sha(1), red)
	if a.Decision != "NONE" || !strings.Contains(out, `"standing":"flaky"`) {
		t.Errorf("S5-30: %s (%s): %s", a.Decision, a.Rule, out)
	}
	a, out = route(t, led, "--run", "3", "--sha", sha(2), red)
	if a.Decision != "RERUN" || a.kinds() != "comment check rerun" || !strings.Contains(out, `"standing":"flaky"`) {
		t.Errorf("S5-31: %s (%s), effects %s: %s", a.Decision, a.Rule, a.kinds(), out)
	}
	if b := a.body("comment"); !strings.Contains(b, "its failed jobs are run again") || !strings.Contains(b, "`cart › total` failed and passed on one commit before") {
		t.Errorf("S5-31: comment:\n%s", b)
	}
	if a, _ = route(t, led, "--run", "3", "--attempt", "2", "--sha", sha(2), red); a.Decision != "RETRY" || a.Iteration != 1 {
		t.Errorf("S5-33: %s, iteration %d", a.Decision, a.Iteration)
	}
	a, _ = route(t, led, "--run", "4", "--sha", sha(3), testsuite(t, "total", "list=expected 5 got 7"))
	if b := a.body("comment"); a.Decision != "RETRY" || !strings.Contains(b, "✅ 1 fixed") {
		t.Errorf("S5-30: a commit that fixes it: %s:\n%s", a.Decision, b)
	}
}

func TestRouteBudgetsS5_32(t *testing.T) {
	t.Parallel()
	led := t.TempDir()
	cfg := writeConfig(t, "budgets: {logic: 1}\n")
	route(t, led, "--config", cfg, "--run", "1", "--sha", sha(1), testsuite(t, "total=expected 1 got 2"))
	a, _ := route(t, led, "--config", cfg, "--run", "2", "--sha", sha(2), testsuite(t, "total=expected 1 got 3"))
	if a.Decision != "ESCALATE_MAX_RETRY" || a.Rule != "budget-reached" || !strings.Contains(a.Reason, "budgets.logic") {
		t.Errorf("S5-32: %s (%s): %s", a.Decision, a.Rule, a.Reason)
	}
	for _, kind := range []string{"issue", "comment"} {
		if b := a.body(kind); !strings.Contains(b, "budgets.logic") {
			t.Errorf("S5-32: the %s does not name the budget:\n%s", kind, b)
		}
	}
	r := run(t, "", "route", "--case", caseKey, "--run", "1", "--ledger", t.TempDir(), "--config", writeConfig(t, "budgets: {logic: 11, more: 1}\n"), testsuite(t, "a"))
	if r.code == 0 || !strings.Contains(r.err, "more") {
		t.Errorf("S5-32: %s", r.err)
	}
}
