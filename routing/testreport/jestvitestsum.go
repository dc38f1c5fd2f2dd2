package testreport

import (
	"fmt"
	"strings"
)

// vitestTotals are the numbers of "Tests  1 failed | 3 passed (4)".
type vitestTotals struct{ failed, passed, skipped, todo, total, sum int }

// totals takes the lines of the summary.
func (r *vitestRun) totals(no int, t string) bool {
	s := strings.TrimLeft(t, " ")
	if len(s) == len(t) {
		if strings.HasPrefix(t, "ERROR: Coverage for ") && strings.Contains(t, " does not meet ") {
			r.problem(Problem{Kind: KindCoverage, Name: "coverage", Message: t, At: no})
			return true
		}
		return false
	}
	switch {
	case strings.HasPrefix(s, "Test Files  "):
		r.closeBlock()
		r.section = vitestProgress
		r.files = parseVitestTotals(s[len("Test Files  "):])
	case strings.HasPrefix(s, "Tests  ") && r.files != nil:
		r.sum = parseVitestTotals(s[len("Tests  "):])
	case strings.HasPrefix(s, "Type Errors  ") && r.files != nil:
	case strings.HasPrefix(s, "Errors  ") && r.files != nil:
		r.errors, _, _ = leadingInt(s[len("Errors  "):])
	case strings.HasPrefix(s, "Duration  ") && r.files != nil:
		r.finishTests()
	default:
		return false
	}
	return true
}

func parseVitestTotals(s string) *vitestTotals {
	t := &vitestTotals{}
	if i := strings.LastIndexByte(s, '('); i > 0 && strings.HasSuffix(s, ")") {
		t.total, _, _ = leadingInt(s[i+1:])
		s = s[:i]
	}
	for _, part := range strings.Split(s[:min(len(s), 300)], "|") {
		n, word, ok := leadingInt(strings.TrimSpace(part))
		if !ok {
			continue
		}
		t.sum += n // also "1 expected fail"
		switch strings.TrimSpace(word) {
		case "failed":
			t.failed = n
		case "passed":
			t.passed = n
		case "skipped":
			t.skipped = n
		case "todo":
			t.todo = n
		}
	}
	return t
}

// finishTests emits what the summary completes. The run stays open: a
// threshold of the coverage is checked after it.
func (r *vitestRun) finishTests() {
	if r.sum == nil {
		return
	}
	r.emit()
	open, at := r.open, r.at
	r.reset()
	r.open, r.at, r.sum = open, at, &vitestTotals{total: -1}
}

func (r *vitestRun) finish() {
	r.closeBlock()
	if r.sum != nil && r.sum.total < 0 { // already emitted
		r.reset()
		return
	}
	r.emit()
	r.reset()
}

func (r *vitestRun) emit() {
	if r.needsMarks() {
		r.addMarks()
	}
	failed := 0
	missing := r.missing()
	for _, t := range r.tests {
		if t.suiteOnly {
			r.suite(t)
			continue
		}
		// The totals tell tests of the same name from attempts of one test.
		twins := min(t.repeats, missing)
		missing -= twins
		failed += 1 + twins
		out := vitestFailed(t)
		out.Retries = t.repeats - twins
		for i := 0; i <= twins; i++ {
			r.out.Test(out)
		}
	}
	if r.sum == nil {
		if r.problems == 0 || r.files == nil {
			r.problem(Problem{Kind: KindTruncated, Name: "vitest", At: r.at, Message: "the run of vitest never printed its totals"})
		}
		return
	}
	r.reconcile(failed)
}

// needsMarks reports whether the progress knows failures that no block shows.
func (r *vitestRun) needsMarks() bool { return r.sum == nil || r.missing() > 0 }

// missing returns how many failed tests the totals count beyond those named.
func (r *vitestRun) missing() int {
	if r.sum == nil {
		return 0
	}
	n := r.sum.failed
	for _, t := range r.tests {
		if !t.suiteOnly {
			n--
		}
	}
	return max(n, 0)
}

func (r *vitestRun) addMarks() {
	known := map[string]bool{}
	for _, t := range r.tests {
		known[t.file+" > "+t.suite+" > "+t.name] = true
	}
	for _, t := range r.marked {
		if !known[t.file+" > "+t.suite+" > "+t.name] {
			r.tests = append(r.tests, t)
		}
	}
}

func (r *vitestRun) suite(t *vitestTest) {
	msg := vitestHeadOf(t.text)
	p := Problem{Kind: suiteKind(msg), Name: t.path, File: t.file, Message: msg, Trace: t.text, At: t.at}
	if strings.Contains(msg, "No test suite found in file") {
		p.Kind = KindEmpty
	}
	if file, line, col := jestPlace(t.text); line > 0 {
		p.File, p.Line, p.Column = firstNonEmpty(file, t.file), line, col
	}
	r.problem(p)
}

// reconcile makes the events agree with the totals.
func (r *vitestRun) reconcile(failed int) {
	r.anon.emit(r.out, r.sum.passed-r.flaky, Test{Status: Passed})
	r.anon.emit(r.out, r.sum.skipped, Test{Status: Skipped})
	r.anon.emit(r.out, r.sum.todo, Test{Status: Pending})
	if n := r.sum.failed - failed; n > 0 {
		r.problem(Problem{Kind: KindExit, Name: "vitest", At: r.at, Message: fmt.Sprintf("%d of %d failed tests are not named in the output", n, r.sum.failed)})
	}
	switch {
	case r.problems > 0 || failed > 0:
	case r.errors > 0:
		r.problem(Problem{Kind: KindError, Name: "vitest", At: r.at, Message: fmt.Sprintf("%d unhandled errors", r.errors)})
	case r.files.failed > 0:
		r.problem(Problem{Kind: KindPackage, Name: "vitest", At: r.at, Message: fmt.Sprintf("%d test files failed", r.files.failed)})
	case r.sum.total > r.sum.sum: // cancelled, or a worker died
		ranFewer(r.out, "vitest", r.at, r.sum.sum, r.sum.total)
	case r.files.total > r.files.sum:
		r.problem(Problem{Kind: KindTruncated, Name: "vitest", At: r.at, Message: fmt.Sprintf("%d of %s ran", r.files.sum, plural(r.files.total, "test file"))})
	case r.sum.passed+r.sum.failed+r.sum.skipped+r.sum.todo == 0:
		r.problem(Problem{Kind: KindEmpty, Name: "vitest", At: r.at, Message: "no tests ran"})
	}
}

// vitestFailed makes a Test of a failure.
func vitestFailed(t *vitestTest) Test {
	out := Test{Status: Failed, Suite: t.suite, Name: t.name, File: t.file, At: t.at, Trace: t.text}
	if t.text == "" {
		return out
	}
	out.Message = vitestHeadOf(t.text)
	out.Kind, out.Type = jestKind(out.Message)
	if strings.Contains(out.Message, "Test timed out in ") || strings.Contains(out.Message, "Hook timed out in ") {
		out.Kind = KindTimeout
	}
	if file, line, col := jestPlace(t.text); line > 0 {
		out.File, out.Line, out.Column = firstNonEmpty(file, t.file), line, col
	}
	out.Expected, out.Actual = jestSides(out.Message)
	return out
}

// vitestHeadOf returns what stands before the stack.
func vitestHeadOf(text string) string {
	if i := strings.Index("\n"+text, "\n❯ "); i >= 0 {
		text = text[:max(i-1, 0)]
	}
	if i := strings.Index("\n"+text, "\n ❯ "); i >= 0 {
		text = text[:max(i-1, 0)]
	}
	return strings.TrimSpace(text)
}
