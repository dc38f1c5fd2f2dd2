package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// testsuite writes a report of the tests of a suite: a name alone passes, name=message fails.
func testsuite(t testing.TB, tests ...string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(`<testsuite name="cart">`)
	for i, test := range tests {
		name, message, fails := strings.Cut(test, "=")
		fmt.Fprintf(&b, `<testcase classname="cart" name="%s" time="0.01">`, name)
		if fails {
			fmt.Fprintf(&b, `<failure type="AssertionError" message="%s">cart.py:%d: %s</failure>`, message, i+1, message)
		}
		b.WriteString(`</testcase>`)
	}
	b.WriteString(`</testsuite>`)
	return writeReport(t, b.String())
}

func writeReport(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.xml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRouteBase(t *testing.T) {
	t.Parallel()
	led := t.TempDir()
	routeBase(t, led, "1", sha(1), testsuite(t, "total=expected 1 got 2", "list"))

	against := []string{"--base", "acme/app@main", "--merge-base", sha(1), "--sha", sha(9)}
	a, out := route(t, led, append(against, "--run", "11", testsuite(t, "total=expected 1 got 2", "list"))...)
	if a.Decision != "PRE_EXISTING" || a.Rule != "pre-existing" || a.Iteration != 0 || a.kinds() != "comment check" {
		t.Errorf("S5-5: %s (%s), iteration %d, effects %s", a.Decision, a.Rule, a.Iteration, a.kinds())
	}
	if !strings.Contains(out, `"standing":"pre_existing","since":"`+sha(1)+`"`) {
		t.Errorf("S5-1: %s", out)
	}
	if b := a.body("comment"); !strings.Contains(b, "1 also failing on main since 0000000") {
		t.Errorf("S5-5: comment:\n%s", b)
	}

	against[5] = sha(10)
	a, out = route(t, led, append(against, "--run", "12", testsuite(t, "total=expected 1 got 2", "list=expected 5 got 7"))...)
	if a.Decision != "RETRY" || a.Iteration != 1 || !strings.Contains(out, `"standing":"new"`) {
		t.Errorf("S5-6: %s, iteration %d: %s", a.Decision, a.Iteration, out)
	}
	if b := a.body("comment"); !strings.Contains(b, "1 new failure · 1 also failing on main since 0000000") {
		t.Errorf("S5-6: comment:\n%s", b)
	}
	var packet struct {
		Failures    []struct{ Name string }
		PreExisting []struct{ Name, Since string } `json:"pre_existing"`
	}
	decode(t, a.body("handoff"), &packet)
	if len(packet.Failures) != 1 || packet.Failures[0].Name != "list" || len(packet.PreExisting) != 1 || packet.PreExisting[0].Name != "total" {
		t.Errorf("S5-6: packet %+v", packet)
	}

	// What was decided is decided again from the ledger alone, and counted.
	same := filepath.Join(t.TempDir(), "switchback.yml")
	if err := os.WriteFile(same, []byte("max_iterations: 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := run(t, "", "replay", "--config", same, "--ledger", led, "--exit-code"); r.code != 0 || !strings.HasPrefix(r.out, "0 of 3 recorded runs") {
		t.Errorf("replay: exit %d\n%s%s", r.code, r.out, r.err)
	}
	var figures struct {
		Total struct {
			Runs     int `json:"pre_existing_runs"`
			Failures int `json:"pre_existing_failures"`
			Wrong    int `json:"failing_runs_acted_upon"`
		}
	}
	decode(t, run(t, "", "stats", "--ledger", led, "-o", "json").out, &figures)
	if f := figures.Total; f.Runs != 1 || f.Failures != 2 || f.Wrong != 2 {
		t.Errorf("stats: %+v", f)
	}
	if out := run(t, "", "stats", "--ledger", led).out; !strings.Contains(out, "2 failures; 1 of the runs had no others") {
		t.Errorf("stats:\n%s", out)
	}

	a, _ = route(t, t.TempDir(), append(against, "--run", "13", testsuite(t, "total=expected 1 got 2"))...)
	if b := a.body("comment"); a.Decision != "RETRY" || !strings.Contains(b, "No run of main is known") {
		t.Errorf("S5-4: %s: %s", a.Decision, b)
	}
	a, _ = route(t, led, append(against, "--run", "14", testsuite(t, "total=cannot open the price list", "list"))...)
	if b := a.body("comment"); a.Decision != "RETRY" || !strings.Contains(b, "main fails it differently: `expected 1 got 2`") {
		t.Errorf("S5-2: %s: %s", a.Decision, b)
	}
}

func TestRouteBaseOrderOfCommits(t *testing.T) {
	t.Parallel()
	parents := writeReport(t, sha(3)+" "+sha(2)+"\n"+sha(2)+" "+sha(1)+"\n"+sha(1)+"\n")
	red, green := testsuite(t, "total=expected 1 got 2"), testsuite(t, "total")
	for name, args := range map[string][]string{"given when compared": {"--parents", parents}, "given when recorded": nil} {
		recorded := []string{"--parents", parents}
		if args != nil {
			recorded = nil
		}
		led := t.TempDir()
		routeBase(t, led, "3", sha(3), append(recorded, green)...)
		routeBase(t, led, "1", sha(1), append(recorded, green)...)
		routeBase(t, led, "2", sha(2), append(recorded, red)...)
		for n, want := range map[int]string{1: "RETRY", 2: "PRE_EXISTING", 3: "RETRY"} {
			all := append([]string{"--case", fmt.Sprint("acme/app#", n), "--run", "9", "--sha", sha(9), "--base", "acme/app@main", "--merge-base", sha(n)}, args...)
			if a, _ := route(t, led, append(all, red)...); a.Decision != want {
				t.Errorf("S5-1 S5-8: parents %s, merge base %d: %s, want %s", name, n, a.Decision, want)
			}
		}
	}
}

func TestRouteBaseCheckS5_5(t *testing.T) {
	t.Parallel()
	red := testsuite(t, "total=expected 1 got 2")
	cfg := filepath.Join(t.TempDir(), "switchback.yml")
	if err := os.WriteFile(cfg, []byte("base: {check: success, more: 1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := run(t, "", "route", "--case", caseKey, "--run", "1", "--ledger", t.TempDir(), "--config", cfg, red)
	if r.code == 0 || !strings.Contains(r.err, "more") {
		t.Errorf("an unknown key is taken: %s", r.err)
	}
	r = run(t, "", "route", "--case", caseKey, "--run", "1", "--ledger", t.TempDir(), "--merge-base", sha(1), red)
	if r.code != 2 || !strings.Contains(r.err, "--base") {
		t.Errorf("--merge-base alone: exit %d: %s", r.code, r.err)
	}
}

// routeBase records a run of the base.
func routeBase(t testing.TB, led, id, commit string, args ...string) {
	t.Helper()
	route(t, led, append([]string{"--case", "acme/app@main", "--run", id, "--sha", commit}, args...)...)
}

// S5-14: the tests of a large run are kept beside the ledger, and copied with it.
func TestRouteLargeInventory(t *testing.T) {
	t.Parallel()
	var tests []string
	for i := range 4000 {
		tests = append(tests, fmt.Sprintf("test %d", i))
	}
	led, copied := t.TempDir(), filepath.Join(t.TempDir(), "copy.db")
	routeBase(t, led, "1", sha(1), testsuite(t, append(tests, "total=expected 1 got 2")...))
	kept, err := filepath.Glob(filepath.Join(led, "blobs", "acme+app@main", "*"))
	if err != nil || len(kept) != 2 { // the inventory, and the names of its tests
		t.Fatalf("kept are %v, %v", kept, err)
	}
	a, _ := route(t, led, "--base", "acme/app@main", "--merge-base", sha(1), "--sha", sha(9), "--run", "2", testsuite(t, "total=expected 1 got 2"))
	if a.Decision != "PRE_EXISTING" {
		t.Errorf("%s (%s)", a.Decision, a.Reason)
	}
	db := filepath.Join(t.TempDir(), "out.db")
	for _, changed := range []string{"2", "0"} {
		r := run(t, "", "ledger", "export", "--ledger", led, "--sqlite", db)
		if want := "inventories           2 rows, " + changed; r.code != 0 || !strings.Contains(r.out, want) || !strings.Contains(r.out, "unpassed_tests        2 rows, "+changed) {
			t.Errorf("export: %s%s", r.out, r.err)
		}
	}
	if r := run(t, "", "ledger", "copy", led, "sqlite:"+copied); r.code != 0 {
		t.Fatalf("copy: %s", r.err)
	}
	back := filepath.Join(t.TempDir(), "back.jsonl")
	if r := run(t, "", "ledger", "copy", "sqlite:"+copied, back); r.code != 0 {
		t.Fatalf("copy: %s", r.err)
	}
	again, err := filepath.Glob(filepath.Join(back+".blobs", "acme+app@main", filepath.Base(kept[0])))
	if err != nil || len(again) != 1 {
		t.Errorf("copied are %v, %v", again, err)
	}
}
