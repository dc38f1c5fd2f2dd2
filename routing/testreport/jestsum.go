package testreport

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// suiteKind tells by its message why a file of tests could not run.
func suiteKind(msg string) Kind {
	head := msg[:min(len(msg), 2<<10)]
	switch {
	case strings.Contains(head, "worker process") && strings.Contains(head, "was terminated"),
		strings.Contains(head, "jest-worker: Call retries were exceeded"),
		strings.Contains(head, "A jest worker process"):
		return KindCrash
	case strings.Contains(head, "must contain at least one test"):
		return KindEmpty
	case strings.Contains(head, "SyntaxError"), strings.Contains(head, "error TS"),
		strings.Contains(head, "encountered an unexpected token"), strings.Contains(head, "Transform failed"),
		strings.Contains(head, "Failed to parse source"), strings.Contains(head, "Cannot use import statement outside a module"):
		return KindBuild
	}
	return KindSetup
}

// jestTotals are the numbers of a line of totals.
type jestTotals struct{ failed, passed, skipped, todo, total, sum int }

// parseJestTotals reads "1 failed, 2 skipped, 3 todo, 4 passed, 10 total".
func parseJestTotals(s string) jestTotals {
	var t jestTotals
	for _, part := range strings.Split(s[:min(len(s), 300)], ",") {
		n, word, ok := leadingInt(strings.TrimSpace(part))
		if !ok {
			continue
		}
		if strings.TrimSpace(word) != "total" {
			t.sum += n
		}
		switch strings.TrimSpace(word) {
		case "failed":
			t.failed = n
		case "passed":
			t.passed = n
		case "skipped", "pending":
			t.skipped += n
		case "todo":
			t.todo = n
		case "total":
			t.total = n
		}
	}
	return t
}

// finish emits the run. sum is nil if the run never printed its totals.
func (r *jestRun) finish(sum *jestTotals) {
	r.closeBlock()
	if sum != nil {
		// Two tests of one file may have the same title: then the totals count
		// more than there are titles, and a repeated block is a test of its own.
		missing := sum.failed - len(r.tests)
		if missing > 0 && missing <= len(r.repeats) {
			r.tests = append(r.tests, r.repeats[:missing]...)
		}
	}
	for _, t := range r.tests {
		r.out.Test(r.failedTest(t))
	}
	for _, key := range slices.Sorted(maps.Keys(r.retried)) {
		n := r.retried[key]
		file, title, _ := strings.Cut(key, "\x00")
		if r.byKey[key] == nil && sum != nil {
			t := Test{Status: Passed, Flaky: true, Retries: n, File: file}
			t.Suite, t.Name = cutPath(title, " › ")
			r.named.passed++
			r.out.Test(t)
		}
	}
	if sum == nil && r.file == "" && r.problems > 0 {
		r.reset() // a configuration that is not valid: nothing was to run
		return
	}
	if sum == nil {
		r.problem(Problem{Kind: KindTruncated, Name: "jest", At: r.at, Message: "the run of jest never printed its totals"})
	} else {
		r.reconcile(sum)
	}
	r.reset()
}

// reconcile makes the events agree with the totals.
func (r *jestRun) reconcile(sum *jestTotals) {
	r.anon.emit(r.out, sum.passed-r.named.passed, Test{Status: Passed})
	r.anon.emit(r.out, sum.skipped-r.named.skipped, Test{Status: Skipped})
	r.anon.emit(r.out, sum.todo-r.named.todo, Test{Status: Pending})
	if n := sum.failed - len(r.tests); n > 0 {
		r.problem(Problem{Kind: KindExit, Name: "jest", At: r.at, Message: fmt.Sprintf("%d of %d failed tests are not named in the output", n, sum.failed)})
	}
	if r.failed.suites > 0 && len(r.tests) == 0 && r.problems == 0 {
		r.problem(Problem{Kind: KindPackage, Name: "jest", At: r.at, Message: fmt.Sprintf("%d test suites failed", r.failed.suites)})
	}
	if r.problems == 0 && len(r.tests) == 0 {
		ranFewer(r.out, "jest", r.at, sum.sum, sum.total)
	}
	if sum.total == 0 && r.problems == 0 {
		r.problem(Problem{Kind: KindEmpty, Name: "jest", At: r.at, Message: "no tests ran"})
	}
}

// failedTest makes a Test of what the blocks of one failed test say.
func (r *jestRun) failedTest(t *jestTest) Test {
	out := Test{Status: Failed, Suite: t.suite, Name: t.name, File: t.file, At: t.at}
	out.Retries = r.retried[t.key]
	if len(t.blocks) == 0 {
		return out
	}
	var traces []string
	for _, b := range t.blocks {
		traces = append(traces, unindent(b.text.String()))
	}
	out.At = t.blocks[0].at
	text := traces[0]
	out.Trace = strings.Join(traces, "\n\n")
	out.Message = jestHead(text)
	out.Kind, out.Type = jestKind(out.Message)
	for _, tr := range traces {
		if file, line, col := jestPlace(tr); line > 0 {
			out.File, out.Line, out.Column = firstNonEmpty(file, t.file), line, col
			break
		}
	}
	out.Expected, out.Actual = jestSides(out.Message)
	return out
}

// jestSides returns what a matcher of Jest or Vitest says was expected and
// received: "Expected substring: "a"" too, and the diff of a snapshot.
func jestSides(msg string) (expected, actual string) {
	var hasE, hasA bool
	for _, l := range strings.Split(msg[:min(len(msg), 8<<10)], "\n") {
		label, value, ok := strings.Cut(strings.TrimLeft(l, " "), ": ")
		switch {
		case !ok || len(label) > 40:
		case !hasE && strings.HasPrefix(label, "Expected"):
			expected, hasE = strings.TrimSpace(value), true
		case !hasA && strings.HasPrefix(label, "Received"):
			actual, hasA = strings.TrimSpace(value), true
		}
	}
	if hasE && hasA {
		return expected, actual
	}
	if strings.Contains(msg, " to be called ") || strings.Contains(msg, "toHaveBeenCalled") {
		return "", "" // a list of calls is no value
	}
	expected, actual, _ = splitAssertion(strings.Replace(msg, "\n- Snapshot ", "\n- Expected ", 1))
	return expected, actual
}

func jestKind(msg string) (Kind, string) {
	typ := jsError(msg)
	switch {
	case strings.Contains(msg, "Exceeded timeout of "), strings.Contains(msg, "Async callback was not invoked within"),
		strings.HasPrefix(msg, "Timeout - "):
		return KindTimeout, typ
	case strings.HasPrefix(msg, "expect("), typ == "AssertionError", typ == "JestAssertionError",
		strings.Contains(msg, "\nExpected") && strings.Contains(msg, "\nReceived"), strings.HasPrefix(msg, "assert"),
		strings.Contains(headLine(msg), "expect("):
		return KindAssertion, typ
	}
	return KindError, typ
}

// jestHead returns the message of a block: what stands before the code frame
// and the stack.
func jestHead(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		s := strings.TrimLeft(l, " ")
		if _, _, _, frame := jsFrame(s); i > 0 && frame || isCodeFrame(s) {
			lines = lines[:i]
			break
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// isCodeFrame recognises "> 12 | code" and "12 | code".
func isCodeFrame(s string) bool {
	s = strings.TrimLeft(strings.TrimPrefix(s, ">"), " ")
	_, rest, ok := leadingInt(s)
	return ok && strings.HasPrefix(rest, " |")
}

// jestPlace returns where a block says it failed: the first frame in the
// project, else the line that the code frame points at (without a file), else
// TypeScript's "a.ts:3:5 - error".
func jestPlace(text string) (file string, line, col int) {
	marked := 0
	for _, l := range strings.Split(text, "\n") {
		s := strings.TrimLeft(l, " ")
		switch {
		case strings.HasPrefix(s, "at ") || strings.HasPrefix(s, "❯ "):
			if f, n, c, ok := jsFrame(s); ok && !foreign(f) {
				return f, n, c
			}
		case marked == 0 && strings.HasPrefix(s, "> ") && isCodeFrame(s):
			marked, _, _ = leadingInt(strings.TrimLeft(s[2:], " "))
		case strings.HasPrefix(s, "File: "):
			if f, n, c, ok := location(s[len("File: "):]); ok && c > 0 {
				return f, n, c
			}
		case strings.Contains(s, " - error TS"):
			loc, _, _ := strings.Cut(s, " - error TS")
			if f, n, c, ok := location(loc); ok {
				return f, n, c
			}
		}
	}
	return "", marked, 0
}

// unindent removes the indentation that all lines of a block share.
func unindent(text string) string {
	lines := strings.Split(text, "\n")
	least := 1 << 20
	for _, l := range lines {
		if s := strings.TrimLeft(l, " "); s != "" && !strings.HasPrefix(s, "[… ") {
			least = min(least, len(l)-len(s))
		}
	}
	for i, l := range lines {
		lines[i] = l[min(least, len(l)-len(strings.TrimLeft(l, " "))):]
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
