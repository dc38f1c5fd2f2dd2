package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/internal/corpus/recording"
	"github.com/switchback-ci/switchback/routing"
)

// console is an output of a tool that people read.
type console struct{ name, text string }

// consoles returns the recorded consoles, and those in the test data of the formats, whose verdict
// is result where nothing else is known of the run. Equal ones are returned once.
func consoles(t testing.TB, result routing.Result) []console {
	t.Helper()
	recs, err := recording.Load(".")
	if err != nil {
		t.Fatal(err)
	}
	var all []console
	for _, r := range recs {
		if r.Report {
			continue
		}
		truth, err := r.Truth(recording.Console)
		if err != nil {
			t.Fatal(err)
		}
		text, err := r.Text(recording.Console)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(truth.Verdict, result) {
			all = append(all, console{r.Tool + " " + r.Key(recording.Console), string(text)})
		}
	}
	const data = "../../routing/testreport/testdata"
	files, err := filepath.Glob(data + "/*/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, console{strings.TrimPrefix(name, data+"/"), string(text)})
	}
	known := map[string]bool{}
	all = slices.DeleteFunc(all, func(c console) bool {
		again := known[c.text]
		known[c.text] = true
		return again || c.text == "" || analyze(t, c.text).Verdict.Result != result
	})
	for i := range all {
		all[i].text = strings.TrimRight(all[i].text, "\n") + "\n"
	}
	return all
}

// analyze analyzes a log of which nothing else is known.
func analyze(t testing.TB, text string) analysis.Output {
	t.Helper()
	out, err := analysis.Analyze(analysis.Input{
		Sources: []analysis.Source{{Name: "log", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader([]byte(text))), nil }}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sumsUp is how runners begin the totals of a run.
var sumsUp = regexp.MustCompile(`(?i)^\W*(?:[1-9]\d* (?:\w+ )?(?:tests?|examples?|scenarios?|features?|specs?|runs?|pass\w*|success\w*)\b|OK\b|PASS$|Tests?(?: \w+)?: |TOTAL|No errors|All tests|ran \d|Ran all|Executed \d+ of|# tests|tests \d|test result|BUILD SUCC|DONE \d|Passed: |Finished in|Took |Run completed|Total|100%|\[doctest\] test cases|Result: |ok \||time:|1\.\.)`)

// endless are consoles without totals, or whose first half shows nothing of a run.
var endless = regexp.MustCompile(`^(?:go-test |gotest/|environment |bazel|mozlog/|testng/|mocha \S+ \S+\.min |gotestsum \S+ noisy\.dots-v2 |pnpm |turbo )`)

// TestUnfinishedRecordings: a run that begins behind one that was completed, and that prints a part
// of its tests and no totals, has not passed, whoever ran first. The first half of what every
// recorded runner prints before its totals stands for such a run.
func TestUnfinishedRecordings(t *testing.T) {
	t.Parallel()
	others := map[string]string{
		"pytest": "============================= test session starts ==============================\ncollected 20 items\n\ntests/test_a.py ....................                                     [100%]\n\n============================== 20 passed in 0.12s ==============================\n",
		"go":     "ok  \texample.com/a\t0.012s\n",
		"rspec":  "\nSums\n  adds\n  subtracts\n\nFinished in 0.01 seconds (files took 0.1 seconds to load)\n2 examples, 0 failures\n\n",
	}
	tried := 0
	for _, c := range consoles(t, routing.Pass) {
		if endless.MatchString(c.name) {
			continue
		}
		cut := begun(c.text)
		if cut == "" {
			continue
		}
		tried++
		for name, first := range others {
			unfinished(t, fmt.Sprintf("%s, behind %s", c.name, name), first+cut)
		}
		unfinished(t, c.name+", behind itself", c.text+cut)
	}
	t.Logf("%d consoles", tried)
	if tried < 60 {
		t.Errorf("%d consoles were tried", tried)
	}
}

func unfinished(t *testing.T, name, log string) {
	t.Helper()
	if v := analyze(t, log).Verdict; v.Result == routing.Pass {
		lines := strings.Split(strings.TrimSpace(log), "\n")
		t.Errorf("%s: a pass that ends in %q", name, lines[len(lines)-1])
	}
}

// begun returns what a run prints up to the middle of its tests, "" if that is less than a line of
// any of them.
func begun(text string) string {
	lines := strings.SplitAfter(text, "\n")
	end := slices.IndexFunc(lines, func(l string) bool { return sumsUp.MatchString(plain(l)) })
	if end < 0 {
		return ""
	}
	lines = lines[:end]
	if half := len(strings.SplitAfter(text, "\n")) / 2; len(lines) > half {
		lines = lines[:half]
	}
	for len(lines) > 0 && strings.TrimSpace(plain(lines[len(lines)-1])) == "" {
		lines = lines[:len(lines)-1]
	}
	return strings.Join(lines, "")
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]")

func plain(l string) string { return strings.TrimRight(escapes.ReplaceAllString(l, ""), "\r\n") }

// greenRuns are consoles of runs that passed, of runners that say differently how a run begins and
// ends.
var greenRuns = map[string]string{
	"go":     "ok  \texample.com/a\t0.012s\n",
	"pytest": "============================= test session starts ==============================\ncollected 20 items\n\ntests/test_a.py ....................                                     [100%]\n\n============================== 20 passed in 0.12s ==============================\n",
	"rspec":  "\nSums\n  adds\n  subtracts\n\nFinished in 0.01 seconds (files took 0.1 seconds to load)\n2 examples, 0 failures\n\n",
	"cargo":  "\nrunning 2 tests\ntest tests::adds ... ok\ntest tests::subtracts ... ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n",
	"mocha":  "\n\n  sums\n    ✔ adds\n    ✔ subtracts\n\n\n  2 passing (5ms)\n\n",
	"node":   "✔ adds (0.5ms)\n✔ subtracts (0.2ms)\nℹ tests 2\nℹ suites 0\nℹ pass 2\nℹ fail 0\nℹ cancelled 0\nℹ skipped 0\nℹ todo 0\nℹ duration_ms 50.1\n",
}

// goesOn are tools of which a failure before tests that passed means nothing: a script that went on to
// the tests tolerated it.
var goesOn = regexp.MustCompile(`^(?:biome|black|cargo-build|checkstyle|clang|clang-tidy|cppcheck|environment|esbuild|eslint|flake8|gcc|go-build|golangci-lint|javac|markdownlint|mypy|oxlint|pnpm|prettier|pylint|rollup|shellcheck|stylelint|syntax-check|tsc|turbo|vite|webpack|yamllint)$`)

// headless are runs that were cut off and whose runner prints no first line, before a green run of
// a runner that prints none either: its totals may be of both.
var headless = regexp.MustCompile(`^(?:(?:ava|bun|jasmine|node-test|rspec) \S+ (?:killed|exits|todo)\.\S+ console, before (?:mocha|node|rspec)|(?:catch2 \S+ killed\.compact|googletest \S+ abort\.brief) console, before \w+)$`)

// TestFailuresBesideGreenRuns: what a run that failed prints is no pass behind or before tests that
// passed either, where nothing says how it ended.
func TestFailuresBesideGreenRuns(t *testing.T) {
	t.Parallel()
	for name, green := range greenRuns {
		if v := analyze(t, green).Verdict; v.Result != routing.Pass {
			t.Fatalf("the green run of %s is %s", name, v.Result)
		}
	}
	recs, err := recording.Load(".")
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, r := range recs {
		if r.Report || r.Exit == 0 {
			continue
		}
		truth, err := r.Truth(recording.Console)
		if err != nil {
			t.Fatal(err)
		}
		text, err := r.Text(recording.Console)
		if err != nil {
			t.Fatal(err)
		}
		if strings.TrimSpace(plain(string(text))) == "" {
			continue // nothing shows that it ran
		}
		ran := truth.Counts != nil && truth.Counts.Tests > 0 // else it failed before the tests, and the script went on
		failed := strings.TrimRight(string(text), "\n") + "\n"
		for name, green := range greenRuns {
			tried++
			title := r.Tool + " " + r.Key(recording.Console)
			unfinished(t, title+", behind "+name, green+failed)
			if title += ", before " + name; ran && !goesOn.MatchString(r.Tool) && !headless.MatchString(title) {
				unfinished(t, title, failed+green)
			}
		}
	}
	for name, text := range map[string]string{
		"TAP that plans no test":           "TAP version 13\n\n1..0\n# tests 0\n# pass 0\n# fail 0\n",
		"TAP whose failures have no point": "TAP version 13\nok 1 - answers\n\n1..1\n# tests 1\n# pass 0\n# fail 1\n",
		"a brief run of GoogleTest":        "a.cc:4: Failure\nFailed\nno server\n[==========] 2 tests from 1 test suite ran. (0 ms total)\n[  PASSED  ] 2 tests.\n",
		"a cut brief run of GoogleTest":    "Running main() from gtest_main.cc\na.cc:4: Failure\nFailed\n[  FAILED  ] Cart.Adds (0 ms)\nRunning main() from gtest_main.cc\n[==========] 2 tests from 1 test suite ran. (0 ms total)\n[  PASSED  ] 2 tests.\n",
	} {
		for other, green := range greenRuns {
			unfinished(t, name+", behind "+other, green+text)
			unfinished(t, name+", before "+other, text+green)
		}
	}
	t.Logf("%d combinations", tried)
	if tried < 3000 {
		t.Errorf("%d combinations were tried", tried)
	}
}
