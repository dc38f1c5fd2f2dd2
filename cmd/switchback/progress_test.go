package main

import (
	"fmt"
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
