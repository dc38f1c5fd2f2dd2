package testreport

import (
	"strings"
)

// jestJSONFormat reads what jest --json and vitest --reporter=json write, and
// jest's aggregated results as custom reporters dump them.
var jestJSONFormat = format{
	name:  "jest-json",
	order: 190,
	opens: []string{"numFailedTestSuites", "numTotalTestSuites", "success", "testResults", "startTime"}, document: readJestJSON, leaves: true,
	detect: detectJSON(`"numTotalTests"`, func(h jsonHead) bool {
		return h.has("numTotalTests", "numFailedTests") && h.any("testResults", "numTotalTestSuites", "numPassedTestSuites", "success")
	}),
}

type jestJSON struct {
	d        *document
	r        *jsonReader
	failed   int // tests
	problems int
	total    int
}

func readJestJSON(d *document) error {
	return readJSON(d, "jest-json", func(r *jsonReader) bool {
		j := &jestJSON{d: d, r: r}
		return j.read()
	})
}

func (j *jestJSON) read() bool {
	r := j.r
	at := r.at()
	var known, interrupted, failure, stated bool
	var failed, passed, suites, crashed int
	n := tallied(j.d)
	whole := r.object(func(key string) {
		switch key {
		case "numFailedTests":
			failed, known = r.int(), true
		case "numPassedTests":
			passed = r.int()
		case "numFailedTestSuites":
			suites = r.int()
		case "numRuntimeErrorTestSuites":
			crashed = r.int()
		case "success":
			stated, failure = true, r.peek() == 'f'
		case "wasInterrupted":
			interrupted = r.truth()
		case "testResults":
			known = true
			r.array(func() { j.file() })
		}
	})
	if !whole {
		return known
	}
	if interrupted {
		j.problem(Problem{Kind: KindTruncated, At: at, Message: "jest was interrupted before all tests ran"})
	}
	if failed > j.failed {
		missing(j.d.out, at, failed, j.failed, "jest")
		j.problems++
	}
	n.fewer("jest", at, passed, n.passed)
	if crashed > j.problems {
		j.problem(Problem{Kind: KindSetup, Name: "jest", At: at, Message: plural(crashed, "test suite") + " failed to run"})
	}
	if suites > 0 && j.failed == 0 && j.problems == 0 {
		j.problem(Problem{Kind: KindPackage, Name: "jest", At: at, Message: plural(suites, "test suite") + " failed, but none is named"})
	}
	if stated && failure && j.failed == 0 && j.problems == 0 {
		kind, msg := KindExit, "the run failed, but no test and no suite did"
		if j.total == 0 {
			kind, msg = KindEmpty, "the run failed and no test ran"
		}
		j.problem(Problem{Kind: kind, Name: "jest", At: at, Message: msg})
	}
	return known
}

func (j *jestJSON) problem(p Problem) {
	j.problems++
	j.d.out.Problem(p)
}

// file reads the result of one test file. Its keys stand in any order, so its
// tests are held until its name is known.
func (j *jestJSON) file() {
	r := j.r
	at := r.at()
	var name, message, status, execError string
	var held heldTests
	failed, failing := 0, 0
	whole := r.object(func(key string) {
		switch key {
		case "name", "testFilePath":
			name = r.str()
		case "message", "failureMessage":
			message = r.str()
		case "status":
			status = r.str()
		case "numFailingTests":
			failing = r.int()
		case "testExecError":
			execError = j.execError()
		case "assertionResults", "testResults":
			r.array(func() {
				t, ok := j.test()
				if !ok {
					return
				}
				j.total++
				if t.Status == Failed {
					failed++
				}
				held.add(t, j.d.out)
			})
		}
	})
	j.failed += failed
	held.flush(j.d.out, func(t *Test) {
		if t.File == "" {
			t.File = name
		}
		if t.Status == Failed || t.Flaky {
			jsPlace(t, t.Trace)
		}
	})
	if !whole {
		return
	}
	blocks := jestSuiteBlocks(message)
	for _, b := range blocks {
		j.suite(name, b, at)
	}
	if len(blocks) == 0 && (execError != "" || failed == 0 && status == "failed" || failing > failed) {
		j.suite(name, firstOf(message, execError), at)
	}
}

// jestSuiteFailed is the title of a block about a file as a whole.
const jestSuiteFailed = "● Test suite failed to run"

// jestSuiteBlocks returns the blocks of a file's message that are about the
// file: it could not be loaded, or a hook behind its tests failed.
func jestSuiteBlocks(message string) []string {
	_, rest, found := strings.Cut(message, jestSuiteFailed)
	var blocks []string
	for found && len(blocks) < maxOutcomes {
		var block string
		block, rest, found = strings.Cut(rest, jestSuiteFailed)
		if i := strings.Index(block, "\n  ● "); i >= 0 {
			block = block[:i]
		}
		blocks = append(blocks, strings.Trim(block, "\n"))
	}
	return blocks
}

// suite says that a file failed as a whole.
func (j *jestJSON) suite(name, text string, at int) {
	text = strings.TrimSpace(unindent(text)) // of all its lines alike
	p := Problem{Kind: suiteKind(text), Name: name, File: name, Message: firstOf(jestHead(text), "the test file failed, but none of its tests did"), Trace: text, At: at}
	if f, l, c := jestPlace(text); l > 0 {
		p.File, p.Line, p.Column = firstOf(f, name), l, c
	}
	j.problem(p)
}

func (j *jestJSON) execError() string {
	var message, stack string
	r := j.r
	if r.peek() == '"' {
		return r.str()
	}
	r.object(func(key string) {
		switch key {
		case "message":
			message = r.str()
		case "stack":
			stack = r.str()
		}
	})
	return firstOf(stack, message)
}

func (j *jestJSON) test() (Test, bool) {
	r := j.r
	t := Test{At: r.at()}
	var path []string
	var full, status string
	var failures, retried []string
	attempts := 0
	whole := r.object(func(key string) {
		switch key {
		case "ancestorTitles":
			r.array(func() { path = append(path, r.short(1000)) })
		case "title":
			t.Name = r.short(2000)
		case "fullName":
			full = r.short(2000)
		case "status":
			status = r.short(40)
		case "duration":
			t.Duration = millis(r.float())
		case "invocations":
			attempts = r.int()
		case "failureMessages":
			r.array(func() { failures = keepSome(failures, r.str()) })
		case "retryReasons":
			r.array(func() { retried = keepSome(retried, r.str()) })
		case "location":
			r.object(func(key string) {
				switch key {
				case "line":
					t.Line = max(r.int(), 0)
				case "column":
					t.Column = max(r.int(), 0)
				}
			})
		}
	})
	t.Suite = joinPath(path...)
	t.Name = firstOf(t.Name, full, "(no name)")
	t.Retries = max(attempts-1, len(retried), 0)
	t.Status = jestStatus(status)
	if !whole && t.Status != Failed || status == "" && t.Name == "(no name)" {
		return t, false
	}
	switch {
	case t.Status == Failed:
		jsFailures(&t, failures)
	case t.Status == Passed && (t.Retries > 0 || len(failures) > 0):
		t.Retries = max(t.Retries, len(failures)) // vitest leaves the failures of earlier attempts
		t.Flaky = true
		jsFailures(&t, append(retried, failures...))
	}
	return t, true
}

func jestStatus(s string) Status {
	switch s {
	case "passed", "focused", "pass":
		return Passed
	case "failed", "fail":
		return Failed
	case "todo":
		return Pending
	case "pending", "skipped", "disabled", "skip":
		return Skipped
	}
	return Other
}

// keepSome appends s, but no more than maxOutcomes of them.
func keepSome(to []string, s string) []string {
	if len(to) < maxOutcomes && s != "" {
		to = append(to, s)
	}
	return to
}

// jsFailures fills a test, but for its place, from its failures: the first is
// the message.
func jsFailures(t *Test, texts []string) {
	if len(texts) == 0 {
		return
	}
	jsDescribe(t, texts[0])
	for _, more := range texts[1:] {
		t.Trace += "\n\n" + more
	}
}
