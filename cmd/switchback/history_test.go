package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// timed is a report of two tests; the second fails if it is given a message.
func timed(t testing.TB, seconds float64, failure string) string {
	t.Helper()
	if failure != "" {
		failure = fmt.Sprintf("<failure message=%q>%s</failure>", failure, failure)
	}
	file := filepath.Join(t.TempDir(), "report.xml")
	text := fmt.Sprintf(`<testsuite name="cart"><testcase classname="cart" name="TestAdd" file="cart/add_test.go" time="%.3f"/>`+
		`<testcase classname="cart" name="TestTotals" file="cart/totals_test.go" time="1.5">%s</testcase></testsuite>`, seconds, failure)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// recordedHistory is a ledger of six runs of the default branch and one of a pull request.
func recordedHistory(t *testing.T) string {
	t.Helper()
	led := t.TempDir()
	for i, failure := range []string{"", "1 != 2", "", "", "1 != 2", "1 != 2"} {
		routeBase(t, led, fmt.Sprint(10+i), sha(1+i/2), timed(t, []float64{.01, .01, .02, .02, .09, .09}[i], failure))
	}
	route(t, led, "--case", "acme/app#3", "--run", "90", "--sha", sha(9), timed(t, .09, "1 != 2"))
	return led
}

func TestHistoryS5_60(t *testing.T) {
	t.Parallel()
	led := recordedHistory(t)
	out := func(args ...string) string {
		t.Helper()
		r := run(t, "", append([]string{"history", "--ledger", led}, args...)...)
		if r.code != 0 {
			t.Fatalf("S5-60: %v: exit %d: %s", args, r.code, r.err)
		}
		return r.out
	}
	for _, name := range []string{"TestTotals", "cart.TestTotals", "cart › TestTotals", "testtotals"} {
		got := out(name)
		for _, want := range []string{"cart › TestTotals\n", "file:           cart/totals_test.go", "pass rate:      43 % of 7 runs", "flake rate:     25 % of 4 commits", "duration:       about 1s, as before", "fails since:    " + sha(3)[:7]} {
			if !strings.Contains(got, want) {
				t.Errorf("S5-60: history %s lacks %q:\n%s", name, want, got)
			}
		}
	}
	var all []historyOf
	if err := json.Unmarshal([]byte(out("--json", "TestAdd")), &all); err != nil || len(all) != 1 {
		t.Fatalf("S5-60: %v %+v", err, all)
	}
	if h := all[0]; h.PassRate != 1 || h.FlakeRate != 0 || h.Trend != 3 || h.FirstFailing != "" || h.Failing || h.Runs != 7 {
		t.Errorf("S5-60: %+v", h)
	}
	if err := json.Unmarshal([]byte(out("--json", "TestTotals")), &all); err != nil || len(all) != 1 || all[0].FirstFailing != sha(3) || !all[0].Failing {
		t.Errorf("S5-60: %v %+v", err, all)
	}
	if r := run(t, "", "history", "--ledger", led, "TestTotls"); r.code != 1 || !strings.Contains(r.err, `the nearest is "TestTotals"`) {
		t.Errorf("S5-60: exit %d: %s", r.code, r.err)
	}
	for _, args := range [][]string{{}, {"--slowest", "--flakiest"}, {"--slowest", "TestAdd"}, {"--slowest", "-n", "0"}} {
		if r := run(t, "", append([]string{"history", "--ledger", led}, args...)...); r.code != 2 {
			t.Errorf("S5-60: history %v: exit %d: %s", args, r.code, r.err)
		}
	}
}

// The names stay with the ledger where it is copied.
func TestHistoryOfACopyS5_61(t *testing.T) {
	t.Parallel()
	led := recordedHistory(t)
	copied := "sqlite:" + filepath.Join(t.TempDir(), "copy.db")
	if r := run(t, "", "ledger", "copy", led, copied); r.code != 0 {
		t.Fatal(r.err)
	}
	for _, at := range []string{led, copied} {
		r := run(t, "", "history", "--ledger", at, "--slowest")
		first, second := strings.Index(r.out, "cart › TestTotals"), strings.Index(r.out, "cart › TestAdd")
		if r.code != 0 || first < 0 || second < first || !strings.Contains(r.out, "about 16ms") {
			t.Errorf("S5-61: slowest of %s: %s%s", at, r.out, r.err)
		}
		r = run(t, "", "history", "--ledger", at, "--flakiest")
		if r.code != 0 || !strings.Contains(r.out, "1 of 4 commits") || strings.Contains(r.out, "TestAdd") {
			t.Errorf("S5-61: flakiest of %s: %s%s", at, r.out, r.err)
		}
	}
	db := filepath.Join(t.TempDir(), "out.db")
	if r := run(t, "", "ledger", "export", "--ledger", copied, "--sqlite", db); r.code != 0 || !strings.Contains(r.out, "tests                 2 rows, 2") {
		t.Errorf("S5-61: export: %s%s", r.out, r.err)
	}
}

func TestQuarantineOnTheCommandLineS5_58(t *testing.T) {
	t.Parallel()
	led := t.TempDir()
	report := timed(t, .1, "1 != 2")
	route(t, led, "--case", "acme/app#1", "--run", "1", "--sha", sha(1), report)
	if r := run(t, "", "case", "quarantine", "--ledger", led, "--case", "acme/app#1", "--test", "TestTotals", "--by", "mona"); r.code != 0 {
		t.Fatal(r.err)
	}
	for n, key := range []string{"acme/app#2", "acme/app@main"} {
		a, out := route(t, led, "--case", key, "--run", fmt.Sprint(10+n), "--sha", sha(2+n), report)
		if a.Decision != "PASS" || len(a.Failures) != 1 || !strings.Contains(out, `"standing":"quarantined"`) {
			t.Errorf("S5-56, S5-58: %s: %s", key, out)
		}
	}
	for n := range 3 {
		route(t, led, "--case", "acme/app#5", "--run", fmt.Sprint(50+n), "--sha", sha(20+n), testsuite(t, "broken=expected 1 got 2"))
	}
	r := run(t, "", "case", "quarantine", "--ledger", led, "--case", "acme/app#5", "--test", "broken")
	if r.code != 1 || !strings.Contains(r.err, "broken, not flaky") {
		t.Errorf("S5-52: exit %d: %s", r.code, r.err)
	}
	if h := run(t, "", "history", "--ledger", led, "TestTotals"); !strings.Contains(h.out, "quarantine:     quarantined until ") {
		t.Errorf("S5-60: %s%s", h.out, h.err)
	}
	db := filepath.Join(t.TempDir(), "out.db")
	if r := run(t, "", "ledger", "export", "--ledger", led, "--sqlite", db); r.code != 0 || !strings.Contains(r.out, "quarantine            1 rows, 1") {
		t.Errorf("S5-50: export: %s%s", r.out, r.err)
	}
}

func TestConfigCheckOfDatesS5_50(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "c.yml")
	for days, want := range map[int]string{-3: "its failures count again", 20: "is valid", 40: "is more than 30 days ahead"} {
		text := "quarantine:\n  - {test: A, until: " + time.Now().UTC().AddDate(0, 0, days).Format(time.DateOnly) + "}\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r := run(t, "", "config", "check", file)
		if (r.code == 1) != (days > 30) || !strings.Contains(r.out+r.err, want) {
			t.Errorf("S5-50: %d days ahead: exit %d: %s%s", days, r.code, r.out, r.err)
		}
	}
}
