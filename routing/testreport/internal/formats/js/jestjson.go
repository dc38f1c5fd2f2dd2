package js

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/jsonstream"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// jestJSONFormat reads what jest --json and vitest --reporter=json write, and
// jest's aggregated results as custom reporters dump them.
var jestJSONFormat = format.Format{
	Name:  "jest-json",
	Order: 190,
	Opens: []string{"numFailedTestSuites", "numTotalTestSuites", "success", "testResults", "startTime"}, Document: readJestJSON, SelfDelimiting: true,
	Detect: jsonstream.Detect(`"numTotalTests"`, func(h jsonstream.Head) bool {
		return h.Has("numTotalTests", "numFailedTests") && h.Any("testResults", "numTotalTestSuites", "numPassedTestSuites", "success")
	}),
}

type jestJSON struct {
	d        *format.Document
	r        *jsonstream.Reader
	failed   int // tests
	problems int
	total    int
}

func readJestJSON(d *format.Document) error {
	return jsonstream.ReadDocument(d, "jest-json", func(r *jsonstream.Reader) bool {
		j := &jestJSON{d: d, r: r}
		return j.read()
	})
}

func (j *jestJSON) read() bool {
	r := j.r
	at := r.At()
	var known, interrupted, failure, stated bool
	var failed, passed, suites, crashed int
	n := failtext.NewTally(j.d)
	whole := r.Object(func(key string) {
		switch key {
		case "numFailedTests":
			failed, known = r.Int(), true
		case "numPassedTests":
			passed = r.Int()
		case "numFailedTestSuites":
			suites = r.Int()
		case "numRuntimeErrorTestSuites":
			crashed = r.Int()
		case "success":
			stated, failure = true, r.Peek() == 'f'
		case "wasInterrupted":
			interrupted = r.Truth()
		case "testResults":
			known = true
			r.Array(func() { j.file() })
		}
	})
	if !whole {
		return known
	}
	if interrupted {
		j.problem(model.Problem{Kind: model.KindTruncated, At: at, Message: "jest was interrupted before all tests ran"})
	}
	if failed > j.failed {
		failtext.UnnamedFailures(j.d.Out, at, failed, j.failed, "jest")
		j.problems++
	}
	n.Fewer("jest", at, passed, n.Passed)
	if crashed > j.problems {
		j.problem(model.Problem{Kind: model.KindSetup, Name: "jest", At: at, Message: parse.Plural(crashed, "test suite") + " failed to run"})
	}
	if suites > 0 && j.failed == 0 && j.problems == 0 {
		j.problem(model.Problem{Kind: model.KindPackage, Name: "jest", At: at, Message: parse.Plural(suites, "test suite") + " failed, but none is named"})
	}
	if stated && failure && j.failed == 0 && j.problems == 0 {
		kind, msg := model.KindExit, "the run failed, but no test and no suite did"
		if j.total == 0 {
			kind, msg = model.KindEmpty, "the run failed and no test ran"
		}
		j.problem(model.Problem{Kind: kind, Name: "jest", At: at, Message: msg})
	}
	return known
}

func (j *jestJSON) problem(p model.Problem) {
	j.problems++
	j.d.Out.Problem(p)
}

// file reads the result of one test file. Its keys stand in any order, so its
// tests are held until its name is known.
func (j *jestJSON) file() {
	r := j.r
	at := r.At()
	var name, message, status, execError string
	var held heldTests
	failed, failing := 0, 0
	whole := r.Object(func(key string) {
		switch key {
		case "name", "testFilePath":
			name = r.Str()
		case "message", "failureMessage":
			message = r.Str()
		case "status":
			status = r.Str()
		case "numFailingTests":
			failing = r.Int()
		case "testExecError":
			execError = j.execError()
		case "assertionResults", "testResults":
			r.Array(func() {
				t, ok := j.test()
				if !ok {
					return
				}
				j.total++
				if t.Status == model.Failed {
					failed++
				}
				held.add(t, j.d.Out)
			})
		}
	})
	j.failed += failed
	held.flush(j.d.Out, func(t *model.Test) {
		if t.File == "" {
			t.File = name
		}
		if t.Status == model.Failed || t.Flaky {
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
		j.suite(name, parse.FirstOf(message, execError), at)
	}
}

// jestSuiteFailed is the title of a block about a file as a whole.
const jestSuiteFailed = "● Test suite failed to run"

// jestSuiteBlocks returns the blocks of a file's message that are about the
// file: it could not be loaded, or a hook behind its tests failed.
func jestSuiteBlocks(message string) []string {
	_, rest, found := strings.Cut(message, jestSuiteFailed)
	var blocks []string
	for found && len(blocks) < failtext.MaxOutcomes {
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
	text = strings.TrimSpace(parse.Unindent(text)) // of all its lines alike
	p := model.Problem{Kind: suiteKind(text), Name: name, File: name, Message: parse.FirstOf(jestHead(text), "the test file failed, but none of its tests did"), Trace: text, At: at}
	if f, l, c := jestPlace(text); l > 0 {
		p.File, p.Line, p.Column = parse.FirstOf(f, name), l, c
	}
	j.problem(p)
}

func (j *jestJSON) execError() string {
	var message, stack string
	r := j.r
	if r.Peek() == '"' {
		return r.Str()
	}
	r.Object(func(key string) {
		switch key {
		case "message":
			message = r.Str()
		case "stack":
			stack = r.Str()
		}
	})
	return parse.FirstOf(stack, message)
}

func (j *jestJSON) test() (model.Test, bool) {
	r := j.r
	t := model.Test{At: r.At()}
	var path []string
	var full, status string
	var failures, retried []string
	attempts := 0
	whole := r.Object(func(key string) {
		switch key {
		case "ancestorTitles":
			r.Array(func() { path = append(path, r.Short(1000)) })
		case "title":
			t.Name = r.Short(2000)
		case "fullName":
			full = r.Short(2000)
		case "status":
			status = r.Short(40)
		case "duration":
			t.Duration = parse.Millis(r.Float())
		case "invocations":
			attempts = r.Int()
		case "failureMessages":
			r.Array(func() { failures = failtext.KeepSome(failures, r.Str()) })
		case "retryReasons":
			r.Array(func() { retried = failtext.KeepSome(retried, r.Str()) })
		case "location":
			r.Object(func(key string) {
				switch key {
				case "line":
					t.Line = max(r.Int(), 0)
				case "column":
					t.Column = max(r.Int(), 0)
				}
			})
		}
	})
	t.Suite = parse.JoinPath(path...)
	t.Name = parse.FirstOf(t.Name, full, "(no name)")
	t.Retries = max(attempts-1, len(retried), 0)
	t.Status = jestStatus(status)
	if !whole && t.Status != model.Failed || status == "" && t.Name == "(no name)" {
		return t, false
	}
	switch {
	case t.Status == model.Failed:
		jsFailures(&t, failures)
	case t.Status == model.Passed && (t.Retries > 0 || len(failures) > 0):
		t.Retries = max(t.Retries, len(failures)) // vitest leaves the failures of earlier attempts
		t.Flaky = true
		jsFailures(&t, append(retried, failures...))
	}
	return t, true
}

func jestStatus(s string) model.Status {
	switch s {
	case "passed", "focused", "pass":
		return model.Passed
	case "failed", "fail":
		return model.Failed
	case "todo":
		return model.Pending
	case "pending", "skipped", "disabled", "skip":
		return model.Skipped
	}
	return model.Other
}

// jsFailures fills a test, but for its place, from its failures: the first is
// the message.
func jsFailures(t *model.Test, texts []string) {
	if len(texts) == 0 {
		return
	}
	jsDescribe(t, texts[0])
	for _, more := range texts[1:] {
		t.Trace += "\n\n" + more
	}
}
