package failtext

import (
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// Entry is one entry of a list of failures whose text is being read.
type Entry struct {
	Test  model.Test
	Text  bounded.Block
	Lines int
}

// FailureLines bounds how many lines may stand below one failure.
const FailureLines = 5000

// NewEntry begins the entry of the failing test t.
func NewEntry(lim model.Limits, t model.Test) *Entry {
	t.Status = model.Failed
	return &Entry{Test: t, Text: bounded.Block{Max: lim.Text}}
}

// Shrunk returns limits for the n-th of entries that wait for their totals: past
// the first hundred less is kept of each, as the Collector does.
func Shrunk(l model.Limits, n int) model.Limits {
	if n >= 100 {
		l.Text = min(l.Text, 2<<10)
	}
	return l
}

// Add adds a line of the text.
func (f *Entry) Add(t string) {
	f.Lines++
	f.Text.Add(t)
}

// Done completes the test from the text below its title: what the format did
// not state itself is taken from there.
func (f *Entry) Done() model.Test {
	t := f.Test
	text := parse.Unindent(f.Text.String())
	t.Trace = text
	if t.Message == "" {
		t.Message = FailureHead(text)
	}
	if t.Type == "" {
		t.Type = FailureType(t.Message)
	}
	if t.Kind == "" {
		t.Kind = FailureKind(t.Type, t.Message)
	}
	if t.Line == 0 {
		if file, line := PlaceIn(text, "", ""); line > 0 && (t.File == "" || SameFile(file, t.File)) {
			t.File, t.Line = strings.TrimPrefix(file, "/./"), line // "webpack:///./a.js"
		} else if line > 0 { // thrown in another file than the test's
			_, t.Line = PlaceIn(text, "", t.File)
		}
	}
	if t.Expected == "" && t.Actual == "" {
		sides := text
		if head, _, found := strings.Cut(text, "+ expected - actual"); found && strings.Contains(head, "+ actual - expected") {
			sides = head // mocha adds its own diff below node's
		}
		sides, _, _ = strings.Cut(sides, "generatedMessage:") // node prints the error's fields
		if e, a, ok := SplitAssertion(sides); ok {
			t.Expected, t.Actual = e, a
		}
	}
	return t
}

// FailureHead returns what stands before the first frame of a stack, the first
// code frame and the first diff.
func FailureHead(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		s := strings.TrimLeft(l, " \t")
		if i > 0 && (IsStackFrame(s) || IsCodeFrame(s) || strings.HasPrefix(s, "+ expected") || strings.HasPrefix(s, "+ actual") || strings.HasPrefix(s, "--- ") || strings.HasPrefix(s, "Error Context: ") || strings.HasPrefix(s, "attachment #")) || i >= 20 {
			lines = lines[:i]
			break
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// IsStackFrame recognises a frame of a stack in the ways of JavaScript, Ruby,
// Python and PHP; s has no leading blanks.
func IsStackFrame(s string) bool {
	switch {
	case s == "":
		return false
	case strings.HasPrefix(s, "at "):
		return strings.Contains(s, ":") || strings.HasSuffix(s, ")") || strings.HasSuffix(s, ">")
	case strings.HasPrefix(s, "# "):
		return strings.Contains(s, ".rb:")
	case strings.HasPrefix(s, `File "`):
		return true
	}
	return strings.Contains(s, ".rb:") && strings.Contains(s, ":in ")
}

// FailureType returns the type of error that a message starts with.
func FailureType(msg string) string {
	if t := JSErrorType(msg); t != "" {
		return t
	}
	head := strings.TrimPrefix(parse.HeadLine(msg), "Uncaught ")
	if t := JSErrorType(head); t != "" {
		return t
	}
	name, _, found := strings.Cut(head, ":")
	if (found || name == head) && len(name) < 120 && !strings.ContainsAny(name, " (/'\"<") &&
		(strings.HasSuffix(name, "Error") || strings.HasSuffix(name, "Exception")) {
		return name
	}
	return ""
}

// FailureKind tells a failed expectation from an error by type and message.
func FailureKind(typ, msg string) model.Kind {
	head := strings.TrimPrefix(parse.HeadLine(msg), "Error: ")
	switch {
	case strings.Contains(typ, "Timeout"), strings.HasPrefix(head, "Test timeout of "),
		strings.Contains(head, "Timeout of ") && strings.Contains(head, "ms exceeded"), IsTimeout(head):
		return model.KindTimeout
	case strings.Contains(typ, "Assertion"), strings.HasSuffix(typ, "ExpectationNotMetError"), strings.HasSuffix(typ, "ExpectationFailedException"):
		return model.KindAssertion
	case strings.HasPrefix(head, "Expected"), strings.HasPrefix(head, "expected"), strings.Contains(head, "expect("), strings.HasPrefix(head, "Failed asserting"):
		return model.KindAssertion
	case typ != "":
		return model.KindError
	}
	return ""
}

// IsTimeout recognises the sentences in which a runner says that a test or a hook took too long.
func IsTimeout(head string) bool {
	switch {
	case !strings.Contains(head, "ime"): // "time", "Time"
		return false
	case strings.HasPrefix(head, "Timeout - Async "), strings.HasPrefix(head, "thrown: \"Exceeded timeout of "),
		strings.HasPrefix(head, "Test timed out in "), strings.HasPrefix(head, "Hook timed out in "),
		strings.HasPrefix(head, "Test took longer than "), strings.HasPrefix(head, "function timed out, "), strings.HasPrefix(head, "test timed out after "),
		strings.HasPrefix(head, "Async callback was not invoked within the "),
		strings.HasPrefix(head, "Exited because no new tests completed within the last "):
		return true
	}
	return false
}

// Unnamed reports the failures that a tool counts and does not name.
func Unnamed(out model.Sink, tool string, stated, named, at int) {
	if stated > named {
		out.Problem(NotNamed(tool, stated, named, at))
	}
}

// NotNamed is the problem of failing tests that a tool counts and does not name.
func NotNamed(tool string, stated, named, at int) model.Problem {
	return model.Problem{Kind: model.KindTests, Name: tool, At: at, Tests: stated - named, Message: fmt.Sprintf("%s counts %s, the log names %d", tool, parse.Plural(stated, "failing test"), named)}
}

// CutOff is the problem of output that ends before its totals.
func CutOff(tool, message string, at int) model.Problem {
	return model.Problem{Kind: model.KindTruncated, Name: tool, Message: message, At: at}
}
