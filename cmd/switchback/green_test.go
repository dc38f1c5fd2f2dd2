package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// ranTest is a test of a model of a suite, from which a report of any format is written.
type ranTest struct{ file, suite, name, status string }

// tool writes the report of a run as a tool does.
type tool struct {
	name  string
	write func(tests []ranTest) string
	flat  bool // its suites are part of the names
}

func statusOf(t ranTest, passed, failed, skipped string) string {
	switch t.status {
	case "failed":
		return failed
	case "skipped":
		return skipped
	}
	return passed
}

func count(tests []ranTest, status string) (n int) {
	for _, t := range tests {
		if orPassed(t.status) == status {
			n++
		}
	}
	return n
}

func orPassed(s string) string {
	if s == "" {
		return "passed"
	}
	return s
}

func words(name string) string {
	return strings.NewReplacer("_", " ", "[", " of ", "]", "").Replace(name)
}

// identifier is a name as a function has it.
func identifier(name string) string {
	return strings.Trim(strings.NewReplacer("[", "_", "]", "", " ", "_").Replace(name), "_")
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

var tools = []tool{
	{name: "JUnit XML", write: func(tests []ranTest) string {
		var b strings.Builder
		fmt.Fprintf(&b, `<testsuites><testsuite name="all" tests="%d" failures="%d" skipped="%d">`, len(tests), count(tests, "failed"), count(tests, "skipped"))
		for _, t := range tests {
			fmt.Fprintf(&b, `<testcase classname="%s" name="%s" file="%s" time="0.01">%s</testcase>`, t.suite, t.name, t.file,
				statusOf(t, "", `<failure type="AssertionError" message="expected 1 got 2">at a</failure>`, "<skipped/>"))
		}
		return b.String() + "</testsuite></testsuites>"
	}},
	{name: "go test -json", write: func(tests []ranTest) string {
		var b strings.Builder
		byPkg := map[string][]ranTest{}
		var pkgs []string
		for _, t := range tests {
			if byPkg[t.suite] == nil {
				pkgs = append(pkgs, t.suite)
			}
			byPkg[t.suite] = append(byPkg[t.suite], t)
		}
		line := func(action, pkg, test, out string) {
			m := map[string]any{"Time": "2026-01-02T03:04:05Z", "Action": action, "Package": "example.com/" + pkg}
			if test != "" {
				m["Test"] = test
			}
			if out != "" {
				m["Output"] = out
			}
			b.WriteString(asJSON(m) + "\n")
		}
		for _, pkg := range pkgs {
			end := "pass"
			for _, t := range byPkg[pkg] {
				name := "Test_" + identifier(t.name)
				line("run", pkg, name, "")
				line("output", pkg, name, "=== RUN   "+name+"\n")
				if t.status == "failed" {
					end = "fail"
					line("output", pkg, name, "    a_test.go:3: expected 1 got 2\n")
				}
				line(statusOf(t, "pass", "fail", "skip"), pkg, name, "")
			}
			line(end, pkg, "", "")
		}
		return b.String()
	}},
	{name: "pytest -v", write: func(tests []ranTest) string {
		var b strings.Builder
		fmt.Fprintf(&b, "============================= test session starts ==============================\nplatform linux -- Python 3.12.1, pytest-8.0.0, pluggy-1.4.0\ncollected %d items\n\n", len(tests))
		for i, t := range tests {
			fmt.Fprintf(&b, "tests/%s::test_%s %s [%3d%%]\n", t.file, identifier(t.name), statusOf(t, "PASSED", "FAILED", "SKIPPED (later)"), 100*(i+1)/len(tests))
		}
		if n := count(tests, "failed"); n > 0 {
			b.WriteString("\n=================================== FAILURES ===================================\n")
			for _, t := range tests {
				if t.status == "failed" {
					fmt.Fprintf(&b, "_______________________________ test_%s _______________________________\n\n    def test_%s():\n>       assert 2 == 1\nE       assert 2 == 1\n\ntests/%s:3: AssertionError\n", identifier(t.name), identifier(t.name), t.file)
				}
			}
			b.WriteString("=========================== short test summary info ============================\n")
			for _, t := range tests {
				if t.status == "failed" {
					fmt.Fprintf(&b, "FAILED tests/%s::test_%s - assert 2 == 1\n", t.file, identifier(t.name))
				}
			}
		}
		var sum []string
		for _, k := range []string{"failed", "passed", "skipped"} {
			if n := count(tests, k); n > 0 {
				sum = append(sum, fmt.Sprintf("%d %s", n, k))
			}
		}
		return b.String() + "========================= " + strings.Join(sum, ", ") + " in 0.10s =========================\n"
	}},
	{name: "Jest JSON", write: func(tests []ranTest) string {
		byFile := map[string][]any{}
		var files []string
		for _, t := range tests {
			if byFile[t.file] == nil {
				files = append(files, t.file)
			}
			one := map[string]any{"ancestorTitles": []string{t.suite}, "title": words(t.name), "fullName": t.suite + " " + words(t.name), "status": statusOf(t, "passed", "failed", "pending"), "failureMessages": []string{}, "duration": 1}
			if t.status == "failed" {
				one["failureMessages"] = []string{"Error: expect(received).toBe(expected)\n\nExpected: 1\nReceived: 2\n    at Object.<anonymous> (/w/" + t.file + ":3:5)"}
			}
			byFile[t.file] = append(byFile[t.file], one)
		}
		var results []any
		for _, f := range files {
			results = append(results, map[string]any{"name": "/w/" + f, "status": "passed", "message": "", "assertionResults": byFile[f], "startTime": 1, "endTime": 2})
		}
		return asJSON(map[string]any{"numTotalTests": len(tests), "numPassedTests": count(tests, "passed"), "numFailedTests": count(tests, "failed"), "numPendingTests": count(tests, "skipped"),
			"numTotalTestSuites": len(files), "numPassedTestSuites": len(files), "numFailedTestSuites": 0, "numRuntimeErrorTestSuites": 0, "success": count(tests, "failed") == 0, "startTime": 1, "testResults": results})
	}},
	{name: "TAP", flat: true, write: func(tests []ranTest) string {
		var b strings.Builder
		fmt.Fprintf(&b, "TAP version 13\n1..%d\n", len(tests))
		for i, t := range tests {
			name := t.suite + " > " + words(t.name)
			switch t.status {
			case "failed":
				fmt.Fprintf(&b, "not ok %d - %s\n  ---\n  message: expected 1 got 2\n  ...\n", i+1, name)
			case "skipped":
				fmt.Fprintf(&b, "ok %d - %s # SKIP later\n", i+1, name)
			default:
				fmt.Fprintf(&b, "ok %d - %s\n", i+1, name)
			}
		}
		return b.String()
	}},
	{name: "TRX", write: func(tests []ranTest) string {
		var results, defs strings.Builder
		for i, t := range tests {
			id := fmt.Sprintf("00000000-0000-0000-0000-%012d", i+1)
			name := "Calc." + t.suite + "." + identifier(t.name)
			fmt.Fprintf(&results, `<UnitTestResult executionId="%s" testId="%s" testName="%s" computerName="m" duration="00:00:00.01" outcome="%s">`, id, id, name, statusOf(t, "Passed", "Failed", "NotExecuted"))
			if t.status == "failed" {
				results.WriteString(`<Output><ErrorInfo><Message>Assert.Equal() Failure: expected 1 got 2</Message><StackTrace>at Calc</StackTrace></ErrorInfo></Output>`)
			}
			results.WriteString("</UnitTestResult>")
			fmt.Fprintf(&defs, `<UnitTest name="%s" id="%s"><Execution id="%s"/><TestMethod className="Calc.%s" name="%s"/></UnitTest>`, name, id, id, t.suite, identifier(t.name))
		}
		outcome := "Completed"
		if count(tests, "failed") > 0 {
			outcome = "Failed"
		}
		return fmt.Sprintf(`<?xml version="1.0" encoding="utf-8"?><TestRun id="1" name="r" xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010"><Results>%s</Results><TestDefinitions>%s</TestDefinitions><ResultSummary outcome="%s"><Counters total="%d" executed="%d" passed="%d" failed="%d" notExecuted="%d"/></ResultSummary></TestRun>`,
			&results, &defs, outcome, len(tests), len(tests)-count(tests, "skipped"), count(tests, "passed"), count(tests, "failed"), count(tests, "skipped"))
	}},
	{name: "RSpec JSON", write: func(tests []ranTest) string {
		var examples []any
		for i, t := range tests {
			e := map[string]any{"id": fmt.Sprintf("./spec/%s[1:%d]", t.file, i+1), "description": words(t.name), "full_description": t.suite + " " + words(t.name), "status": statusOf(t, "passed", "failed", "pending"), "file_path": "./spec/" + t.file, "line_number": i + 1, "run_time": 0.01, "pending_message": nil}
			if t.status == "failed" {
				e["exception"] = map[string]any{"class": "RSpec::Expectations::ExpectationNotMetError", "message": "expected: 1\n     got: 2", "backtrace": []string{"./spec/" + t.file + ":3"}}
			}
			examples = append(examples, e)
		}
		return asJSON(map[string]any{"version": "3.13.0", "examples": examples, "summary": map[string]any{"duration": 0.1, "example_count": len(tests), "failure_count": count(tests, "failed"), "pending_count": count(tests, "skipped"), "errors_outside_of_examples_count": 0},
			"summary_line": fmt.Sprintf("%d examples, %d failures, %d pending", len(tests), count(tests, "failed"), count(tests, "skipped"))})
	}},
	{name: "cargo test", flat: true, write: func(tests []ranTest) string {
		var b strings.Builder
		fmt.Fprintf(&b, "     Running unittests src/lib.rs (target/debug/deps/calc-0123456789abcdef)\n\nrunning %d tests\n", len(tests))
		for _, t := range tests {
			fmt.Fprintf(&b, "test %s::%s ... %s\n", strings.ToLower(t.suite), identifier(t.name), statusOf(t, "ok", "FAILED", "ignored"))
		}
		result := "ok"
		if count(tests, "failed") > 0 {
			result = "FAILED"
			b.WriteString("\nfailures:\n\n")
			for _, t := range tests {
				if t.status == "failed" {
					n := strings.ToLower(t.suite) + "::" + identifier(t.name)
					fmt.Fprintf(&b, "---- %s stdout ----\nthread '%s' panicked at src/lib.rs:3:5:\nassertion `left == right` failed\n  left: 2\n right: 1\n\n", n, n)
				}
			}
			b.WriteString("\nfailures:\n")
			for _, t := range tests {
				if t.status == "failed" {
					fmt.Fprintf(&b, "    %s::%s\n", strings.ToLower(t.suite), identifier(t.name))
				}
			}
		}
		fmt.Fprintf(&b, "\ntest result: %s. %d passed; %d failed; %d ignored; 0 measured; 0 filtered out; finished in 0.01s\n", result, count(tests, "passed"), count(tests, "failed"), count(tests, "skipped"))
		return b.String()
	}},
}

// modelSuite is the suite that the corpus changes: sum[1] and lists fail.
func modelSuite() []ranTest {
	var out []ranTest
	for i, suite := range []string{"Cart", "Order", "Price"} {
		for _, name := range []string{"adds", "sums_up", "drops", "lists", "finds"} {
			out = append(out, ranTest{fmt.Sprintf("test_%s.py", strings.ToLower(suite)), suite, fmt.Sprintf("%s_%d", name, i), ""})
		}
	}
	return out
}

type mutation struct {
	name   string
	failed []int // of the model, what failed before
	change func(tests []ranTest) []ranTest
	want   string // what the one or other failing test is accused of, "" if nothing may be
}

var mutations = []mutation{
	{name: "nothing", failed: []int{0, 7}, change: func(t []ranTest) []ranTest { return t }},
	{name: "add", failed: []int{0}, change: func(t []ranTest) []ranTest { return append(t, ranTest{"test_cart.py", "Cart", "is_new", ""}) }},
	{name: "delete", failed: []int{0}, want: "did_not_run", change: func(t []ranTest) []ranTest { return t[1:] }},
	{name: "delete both", failed: []int{0, 7}, want: "did_not_run", change: func(t []ranTest) []ranTest { return slices.Delete(slices.Delete(t, 7, 8), 0, 1) }},
	{name: "delete a file", failed: []int{6}, want: "did_not_run", change: func(t []ranTest) []ranTest { return slices.Delete(t, 5, 10) }},
	{name: "delete, and add to another suite", failed: []int{0}, want: "did_not_run", change: func(t []ranTest) []ranTest {
		return append(t[1:], ranTest{"test_price.py", "Price", "is_quite_new", ""})
	}},
	{name: "skip", failed: []int{3}, want: "skipped", change: func(t []ranTest) []ranTest { t[3].status = "skipped"; return t }},
	{name: "skip a suite", failed: []int{6}, want: "skipped", change: func(t []ranTest) []ranTest {
		for i := 5; i < 10; i++ {
			t[i].status = "skipped"
		}
		return t
	}},
	{name: "rename", failed: []int{0}, change: func(t []ranTest) []ranTest { t[0].name = "puts_together"; return t }},
	{name: "rename both of a suite", failed: []int{0, 3}, change: func(t []ranTest) []ranTest { t[0].name, t[3].name = "puts", "shows"; return t }},
	{name: "rename with one that passed", failed: []int{0}, change: func(t []ranTest) []ranTest { t[0].name, t[1].name = "puts", "totals"; return t }},
	{name: "parametrize", failed: []int{0}, change: func(t []ranTest) []ranTest {
		t[0].name = "adds_0[1]"
		return append(t, ranTest{t[0].file, t[0].suite, "adds_0[2]", ""}, ranTest{t[0].file, t[0].suite, "adds_0[3]", ""})
	}},
	{name: "move", failed: []int{0}, change: func(t []ranTest) []ranTest { t[0].suite, t[0].file = "Basket", "test_basket.py"; return t }},
	{name: "move to a suite that is there", failed: []int{0, 1}, change: func(t []ranTest) []ranTest {
		t[0].suite, t[0].file, t[1].suite, t[1].file = "Price", "test_price.py", "Order", "test_order.py"
		return t
	}},
	{name: "rename the suite", failed: []int{5, 8}, change: func(t []ranTest) []ranTest {
		for i := 5; i < 10; i++ {
			t[i].suite, t[i].file = "Purchase", "test_purchase.py"
		}
		return t
	}},
}

func TestGreenMutations(t *testing.T) {
	t.Parallel()
	for _, tool := range tools {
		t.Run(tool.name, func(t *testing.T) {
			t.Parallel()
			for _, m := range mutations {
				if tool.name == "go test -json" && m.name == "parametrize" {
					continue // its parameters are subtests, of which the name stays
				}
				before := modelSuite()
				for _, i := range m.failed {
					before[i].status = "failed"
				}
				led := t.TempDir()
				a, out := route(t, led, "--run", "1", "--sha", sha(1), writeReport(t, tool.write(before)))
				if a.Decision != "RETRY" || strings.Count(out, `"name":`) != len(m.failed) {
					t.Fatalf("%s: the failing run gives %s: %s", m.name, a.Decision, out)
				}
				a, out = route(t, led, "--run", "2", "--sha", sha(2), writeReport(t, tool.write(m.change(modelSuite()))))
				var got struct {
					Suspect []struct{ What, Test, Detail string }
					Listed  []struct{ What, Test, Detail string }
				}
				if err := json.Unmarshal([]byte(out), &got); err != nil {
					t.Fatal(err)
				}
				n := 0
				for _, s := range got.Suspect {
					if s.What != "fewer_tests" {
						n++
					}
				}
				want, kind := 0, "PASS"
				if m.want != "" {
					want, kind = len(m.failed), "SUSPECT"
				}
				if a.Decision != kind || n != want || want > 0 && got.Suspect[0].What != m.want {
					t.Errorf("S5-20 S5-21 %s: %s, suspect %+v, listed %+v", m.name, a.Decision, got.Suspect, got.Listed)
				}
			}
			t.Run("S5-25 shard", func(t *testing.T) { shards(t, tool) })
		})
	}
}

// shards runs the suite in two shards: what fails in one may run in the other later, and a run of
// which shards are missing says nothing.
func shards(t *testing.T, tool tool) {
	run := func(led, id string, n int, parts string, tests []ranTest, more ...string) (answer, string) {
		t.Helper()
		return route(t, led, append(append([]string{"--run", id, "--sha", sha(n), "--part", parts[:1], "--parts", parts[1:]}, more...), writeReport(t, tool.write(tests)))...)
	}
	begin := func() (string, []ranTest) {
		t.Helper()
		led, all := t.TempDir(), modelSuite()
		all[0].status = "failed"
		run(led, "1", 1, "a2", all[:7])
		run(led, "1", 1, "b2", all[7:])
		return led, modelSuite()
	}
	led, all := begin()
	run(led, "2", 2, "a2", all[5:])
	if a, out := run(led, "2", 2, "b2", all[:5]); a.Decision != "PASS" {
		t.Errorf("a test that runs in the other shard: %s %s", a.Decision, out)
	}
	led, all = begin()
	run(led, "2", 2, "a2", all[1:7])
	if a, out := run(led, "2", 2, "b2", all[7:]); a.Decision != "SUSPECT" || !strings.Contains(out, "did_not_run") {
		t.Errorf("a test that was deleted from its shard: %s %s", a.Decision, out)
	}
	led, all = begin()
	if a, out := run(led, "2", 2, "b1", all[7:]); a.Decision != "PASS" || !strings.Contains(out, `"what":"incomplete"`) {
		t.Errorf("a run of one of the shards: %s %s", a.Decision, out)
	}
}
