// Package testruns knows how programs that run tests begin a run and how they end it, whatever
// format their output is read as.
package testruns

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
)

// Runner is a program whose first line promises totals in its own words.
type Runner struct {
	// Format is that of its output. It is "" for a tool that builds and also runs tests: what stands
	// between its first line and its last may be any other runner's.
	Format string
	// Once says that the first line may stand several times before the totals.
	Once bool

	opens  string                 // how the line begins
	then   func(rest string) bool // what else is true of it; nil for anything
	closes func(t string) bool    // the line has the totals
}

// Begins reports whether a run begins with t, a line without what it is indented by.
func (r *Runner) Begins(t string) bool {
	return strings.HasPrefix(t, r.opens) && (r.then == nil || r.then(t[len(r.opens):]))
}

// Completes reports whether t, a line without what it is indented by, has the totals of a run.
func (r *Runner) Completes(t string) bool { return r.closes(strings.TrimLeft(t, "= ")) }

// MaxRunners is more than there are.
const MaxRunners = 32

// All are the runners.
var All = [...]Runner{
	{Format: "pytest", opens: "=====", then: func(t string) bool { return strings.Contains(t, " test session starts ") }, closes: pytestSums},
	{Format: "cargo", opens: "running ", then: func(t string) bool { return DigitAt(t, 0) && endsIn(t, " tests", " test") }, closes: begins("test result:")},
	{Format: "deno", opens: "running ", then: func(t string) bool { return DigitAt(t, 0) && strings.Contains(t, " from ") }, closes: begins("ok | ", "FAILED | ", "ok (", "FAILED (")},
	{Format: "minitest", opens: "# Running:", closes: numbered},
	{Format: "eunit", opens: "======================== EUnit ========", closes: begins("All ", "Failed: ", "Test passed.", "2 tests passed.", "There were no tests")},
	{Format: "gtest", opens: "[==========] Running ", closes: begins("[==========] ")},
	{Format: "exunit", opens: "Running ExUnit with seed", closes: numberedOr("All tests have been", "There are no tests")},
	{Format: "playwright", opens: "Running ", then: func(t string) bool {
		return DigitAt(t, 0) && strings.Contains(t, " using ") && strings.Contains(t, " worker")
	}, closes: numbered},
	{Format: "boost-test", opens: "Running ", then: func(t string) bool { return DigitAt(t, 0) && endsIn(t, " test case...", " test cases...") }, closes: begins("*** ", `Test module "`)},
	{opens: "Scanning for projects...", closes: begins("BUILD ")},
	{opens: "Buildfile: ", closes: begins("BUILD ")},
	{opens: "> Task :", closes: begins("BUILD "), Once: true},
	{Format: "junit-text", opens: "JUnit version ", closes: begins("OK", "Tests run:")},
	{Format: "vitest", opens: "RUN  v", then: startsInDigit, closes: begins("Test Files", "Tests", "No test", "Type Errors")},
	{Format: "cargo", opens: "Starting ", then: func(t string) bool {
		return DigitAt(t, 0) && strings.Contains(t, " test") && strings.Contains(t, " across ")
	}, closes: begins("Summary [")},
	{Format: "ctest", opens: "Test project /", closes: func(t string) bool { return strings.Contains(t, "% tests passed") || strings.HasPrefix(t, "No tests ") }},
	{Format: "minitest", opens: "Loaded suite ", closes: numbered},
	{Format: "unittest", opens: "Found ", then: func(t string) bool { return DigitAt(t, 0) && endsIn(t, " test(s).") }, closes: begins("OK", "FAILED")},
	{Format: "doctest", opens: "[doctest] doctest version", closes: begins("[doctest] test cases:", "[doctest] Status:")},
	{Format: "catch2", opens: "Filters: ", closes: begins("All tests passed", "test cases:", "No tests"), Once: true},
	{Format: "catch2", opens: "Randomness seeded to: ", closes: begins("All tests passed", "test cases:", "No tests"), Once: true},
	{Format: "luaunit", opens: "Started on ", then: func(t string) bool { return strings.Count(t, ":") == 2 }, closes: begins("Ran ")},
	{opens: "goos: ", closes: begins("PASS", "FAIL", "ok ", "exit status"), Once: true},
	{Format: "xctest", opens: "Test Suite '", then: func(t string) bool {
		return strings.HasPrefix(t, "All tests' started") || strings.HasPrefix(t, "Selected tests' started")
	}, closes: begins("Executed ")},
	{Format: "xctest", opens: "◇ Test run started", closes: func(t string) bool { return strings.Contains(t, "Test run with") }, Once: true},
}

// ByFirst holds, for a byte, the indices in All of the runners whose first line may begin with it.
var ByFirst = func() (of [256][]uint8) {
	for i, r := range All {
		of[r.opens[0]] = append(of[r.opens[0]], uint8(i))
	}
	return of
}()

func begins(with ...string) func(string) bool {
	return func(t string) bool {
		for _, w := range with {
			if strings.HasPrefix(t, w) {
				return true
			}
		}
		return false
	}
}

func endsIn(t string, words ...string) bool {
	for _, w := range words {
		if strings.HasSuffix(t, w) {
			return true
		}
	}
	return false
}

func startsInDigit(t string) bool { return DigitAt(t, 0) }

// numbered reports whether t begins with a count of tests.
func numbered(t string) bool { return DigitAt(t, 0) && Sums(t) }

func numberedOr(with ...string) func(string) bool {
	other := begins(with...)
	return func(t string) bool { return numbered(t) || other(t) }
}

// pytestSums recognises "=== 3 passed, 1 warning in 0.12s ===", also without the bars.
func pytestSums(t string) bool {
	if i := strings.LastIndex(t, " in "); i < 0 || !DigitAt(t, i+4) {
		return false
	}
	return DigitAt(t, 0) || strings.HasPrefix(t, "no tests ")
}

// DigitAt reports whether t has a digit at i.
func DigitAt(t string, i int) bool { return i < len(t) && t[i] >= '0' && t[i] <= '9' }

// totals are the words with which a line with the totals of a run begins.
var totals = [...]string{
	"OK", "test result:", "Result: ", "PASSED", "FAILED", "FAILURES", "BUILD ", "Tests", "Test Suites", "Test Files", "Total tests", "TOTAL: ",
	"All tests ", "all tests ", "All specs ", "# pass", "# tests", "ℹ pass", "ℹ tests", "no tests", "No tests", "100%", "Passed!", "Failed!", "Passed: ", "Specs", "Scenarios", "Suites", "Test run complete", "Test run with",
	"DONE ", "ok | ", "test cases:", "Status: ", "*** ", "Summary [", "[ FAIL ",
}

// counted are the words for what totals count.
var counted = map[string]bool{
	"test": true, "tests": true, "example": true, "examples": true, "run": true, "runs": true, "spec": true, "specs": true, "scenario": true, "scenarios": true,
	"doctest": true, "doctests": true, "passing": true, "passed": true, "failed": true, "failing": true, "failure": true, "failures": true, "checks": true,
	"assertions": true, "pass": true, "fail": true, "feature": true, "features": true,
}

// Sums reports whether t holds the totals of a run of tests, by which it is complete.
func Sums(t string) bool {
	t = strings.TrimLeft(t, " \t=")
	if CheckMark(t) {
		_, t, _ = strings.Cut(t, " ")
		t = strings.TrimLeft(t, " ")
	}
	if t == "" {
		return false
	}
	if t[0] == '[' && !strings.HasPrefix(t, "[ FAIL ") {
		if rest := strings.TrimLeft(t[1:], " "); DigitAt(rest, 0) {
			t = rest // a table of the launcher of JUnit
		} else {
			_, t, _ = strings.Cut(t, "] ")
			t = strings.TrimLeft(t, " ")
		}
	}
	if !DigitAt(t, 0) {
		for _, w := range totals {
			if strings.HasPrefix(t, w) {
				return true
			}
		}
		if strings.HasPrefix(t, "Executed ") {
			return ExecutedAll(t)
		}
		return t == "PASS"
	}
	i := 0
	for DigitAt(t, i) {
		i++
	}
	if strings.HasPrefix(t, "1..") && DigitAt(t, 3) {
		return true // a plan of TAP, which its reader compares with the tests that follow
	}
	if i == len(t) || t[i] != ' ' && t[i] != '%' {
		return false
	}
	for range 3 { // "2 tests", "12 out of", "100% tests passed", "3 unit tests"
		i++
		n := strings.IndexAny(t[min(i, len(t)):], " ,.;(|")
		if n < 0 {
			return counted[t[min(i, len(t)):]]
		}
		if counted[t[i:i+n]] {
			return true
		}
		i += n
	}
	return false
}

// CountsFailures reports whether t holds the totals of a run, or a part of them, that count tests
// that failed.
func CountsFailures(t string) bool {
	i := 0
	for i < len(t) && (t[i] == ' ' || t[i] == '\t' || t[i] == '=' || t[i] == '#') {
		i++
	}
	if i == len(t) || len(t) > 300 || !mayCount[t[i]] || !strings.Contains(t, "ail") && !strings.Contains(t, "FAIL") && !strings.Contains(t, "rror") {
		return false
	}
	s := strings.TrimLeft(t[i:], "=ℹ─ ")
	if strings.HasPrefix(s, "Result: FAIL") {
		return true
	}
	return (strings.HasPrefix(s, "fail ") || strings.HasPrefix(s, "Failed ") || Sums(t)) && red.MatchString(s)
}

// mayCount are the bytes with which totals begin.
var mayCount = func() (of [256]bool) {
	for _, w := range totals {
		of[w[0]] = true
	}
	for _, b := range []byte("0123456789[fFER\xe2") {
		of[b] = true
	}
	return of
}()

var red = lazyregexp.New(`(?i)\b[1-9]\d* (?:\w+ )?(?:failed|failures?|failing|errors?|errored|broken)\b|\b(?:fail|failed|failures?|errors?)(?::? +|=)[1-9]`)

// ExecutedAll reports whether "Executed 3 of 20" is not only how far a run has come.
func ExecutedAll(t string) bool {
	done, rest, _ := strings.Cut(t[len("Executed "):], " ")
	all, ok := strings.CutPrefix(rest, "of ")
	if !ok {
		return true
	}
	all, _, _ = strings.Cut(all, " ")
	return done == all
}

// CheckMark reports whether t begins with a check mark.
func CheckMark(t string) bool {
	t = strings.TrimLeft(t, " \t")
	return strings.HasPrefix(t, "✔") || strings.HasPrefix(t, "✓") || strings.HasPrefix(t, "√")
}
