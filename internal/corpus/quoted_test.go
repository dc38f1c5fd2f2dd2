package main

import (
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/internal/corpus/recording"
	"github.com/switchback-ci/switchback/routing"
)

// quotedFailures are what tests print that passes on, or checks, the output of another program.
var quotedFailures = []struct{ name, text string }{
	{"go test", "--- FAIL: TestX (0.00s)\n    x_test.go:3: want 1, got 2\nFAIL\nFAIL\texample.com/x\t0.012s\n"},
	{"go test, a line", "--- FAIL: TestX (0.00s)\n"},
	{"TAP", "not ok 1 - adds\n"},
	{"pytest", "FAILED tests/x.py::test_y - assert 1 == 2\n"},
	{"pytest, totals", "=========================== short test summary info ============================\nFAILED tests/x.py::test_y - assert 1 == 2\n========================= 1 failed, 2 passed in 0.12s ==========================\n"},
	{"a cross", "  ✕ adds two numbers (3 ms)\n"},
	{"another cross", "✖ adds two numbers (1.2ms)\n"},
	{"Jest, totals", "Tests:       1 failed, 2 passed, 3 total\n"},
	{"Jest", "FAIL src/x.test.js\n  ● sums › adds\n\n    expect(received).toBe(expected)\n\n    Expected: 1\n    Received: 2\n\n"},
	{"JUnit XML", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"1\" failures=\"1\">\n<testsuite name=\"s\" tests=\"1\" failures=\"1\">\n<testcase classname=\"s\" name=\"quoted\"><failure message=\"want 1, got 2\">x.py:3</failure></testcase>\n</testsuite>\n</testsuites>\n"},
	{"JUnit XML on one line", "<testsuite name=\"s\" tests=\"1\" failures=\"1\"><testcase classname=\"s\" name=\"quoted\"><failure message=\"want 1, got 2\">x.py:3</failure></testcase></testsuite>\n"},
	{"unittest", "FAIL: test_x (tests.test_a.A.test_x)\n"},
	{"unittest, totals", "Ran 3 tests in 0.001s\n\nFAILED (failures=1)\n"},
	{"RSpec", "Failures:\n\n  1) Sums adds\n     Failure/Error: expect(1).to eq(2)\n\n       expected: 2\n            got: 1\n     # ./spec/a_spec.rb:3:in `block'\n\n"},
	{"cargo", "test a ... FAILED\n"},
	{"GoogleTest", "[  FAILED  ] A.b (0 ms)\n"},
	{"PHPUnit", "FAILURES!\nTests: 3, Assertions: 3, Failures: 1.\n"},
	{"Mocha", "  1 failing\n\n  1) sums\n       adds:\n     AssertionError: expected 1 to equal 2\n      at Context.<anonymous> (x.js:3:5)\n\n"},
	{"a compiler", "src/a.c:3:4: error: expected ';' before '}' token\n"},
	{"TypeScript", "src/a.ts(3,5): error TS2322: Type 'number' is not assignable to type 'string'.\n"},
	{"an exception", "Error: connect ECONNREFUSED 127.0.0.1:5432\n    at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1555:16)\n"},
	{"a traceback", "Traceback (most recent call last):\n  File \"x.py\", line 3, in <module>\n    main()\nValueError: no\n"},
	{"a logger", "2026-01-15 10:00:00 ERROR [main] could not connect to the database\n"},
}

// quotedIn returns the text of a console with the quoted lines between those of its tests, "" if it
// prints none.
func quotedIn(text, quoted string) string {
	lines := strings.SplitAfter(text, "\n")
	end := slices.IndexFunc(lines, func(l string) bool { return sumsUp.MatchString(plain(l)) })
	if end < 1 {
		return ""
	}
	at := (end + 1) / 2
	return strings.Join(lines[:at], "") + quoted + strings.Join(lines[at:], "")
}

func TestZZQuoted(t *testing.T) {
	raised, n := map[string]int{}, 0
	byQuote, byTool := map[string]int{}, map[string]int{}
	var out []string
	for _, c := range consoles(t, routing.Pass) {
		for _, q := range quotedFailures {
			for _, indent := range []string{"", "    "} {
				quoted := strings.ReplaceAll("\n"+strings.TrimSuffix(q.text, "\n"), "\n", "\n"+indent)[1:] + "\n"
				text := quotedIn(c.text, quoted)
				if text == "" {
					continue
				}
				for form, log := range map[string]string{"console": text, "github": string(recording.JobLog("make test", []byte(text), 0))} {
					n++
					a := analyze(t, log)
					switch {
					case a.Verdict.Result != routing.Pass || len(a.Verdict.Failures) > 0:
						raised[form+fmt.Sprint(indent != "")]++
						byQuote[q.name]++
						byTool[c.name]++
						out = append(out, fmt.Sprintf("%s\t%v\t%s\t%s\t%s %s\n", form, indent != "", q.name, c.name, a.Verdict.Result, a.Verdict.Reason))
					}
				}
			}
		}
	}
	t.Log(n, raised)
	for _, m := range []map[string]int{byQuote, byTool} {
		var ks []string
		for k, v := range m {
			ks = append(ks, fmt.Sprintf("%4d %s", v, k))
		}
		sort.Strings(ks)
		t.Log("\n" + strings.Join(ks, "\n"))
	}
	os.WriteFile("/tmp/w2/quoted.txt", []byte(strings.Join(out, "")), 0o644)
}
