package testreport

import (
	"fmt"
	"strings"
)

// failedEntry is one entry of a list of failures whose text is being read.
type failedEntry struct {
	test  Test
	text  kept
	lines int
}

// failureLines bounds how many lines may stand below one failure.
const failureLines = 5000

func newFailedEntry(lim Limits, t Test) *failedEntry {
	t.Status = Failed
	return &failedEntry{test: t, text: kept{max: lim.Text}}
}

// shrunk returns limits for the n-th of entries that wait for their totals: past
// the first hundred less is kept of each, as the Collector does.
func shrunk(l Limits, n int) Limits {
	if n >= 100 {
		l.Text = min(l.Text, 2<<10)
	}
	return l
}

func (f *failedEntry) add(t string) {
	f.lines++
	f.text.add(t)
}

// done completes the test from the text below its title: what the format did
// not state itself is taken from there.
func (f *failedEntry) done() Test {
	t := f.test
	text := unindent(f.text.String())
	t.Trace = text
	if t.Message == "" {
		t.Message = failureHead(text)
	}
	if t.Type == "" {
		t.Type = failureType(t.Message)
	}
	if t.Kind == "" {
		t.Kind = failureKind(t.Type, t.Message)
	}
	if t.Line == 0 {
		if file, line := placeIn(text, "", ""); line > 0 && (t.File == "" || sameFile(file, t.File)) {
			t.File, t.Line = strings.TrimPrefix(file, "/./"), line // "webpack:///./a.js"
		}
	}
	if t.Expected == "" && t.Actual == "" {
		sides := text
		if head, _, found := strings.Cut(text, "+ expected - actual"); found && strings.Contains(head, "+ actual - expected") {
			sides = head // mocha adds its own diff below node's
		}
		sides, _, _ = strings.Cut(sides, "generatedMessage:") // node prints the error's fields
		if e, a, ok := splitAssertion(sides); ok {
			t.Expected, t.Actual = e, a
		}
	}
	return t
}

// failureHead returns what stands before the first frame of a stack, the first
// code frame and the first diff.
func failureHead(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		s := strings.TrimLeft(l, " \t")
		if i > 0 && (isStackFrame(s) || isCodeFrame(s) || strings.HasPrefix(s, "+ expected") || strings.HasPrefix(s, "+ actual") || strings.HasPrefix(s, "--- ") || strings.HasPrefix(s, "Error Context: ") || strings.HasPrefix(s, "attachment #")) || i >= 20 {
			lines = lines[:i]
			break
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// isStackFrame recognises a frame of a stack in the ways of JavaScript, Ruby,
// Python and PHP; s has no leading blanks.
func isStackFrame(s string) bool {
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

// failureType returns the type of error that a message starts with.
func failureType(msg string) string {
	if t := jsError(msg); t != "" {
		return t
	}
	head := strings.TrimPrefix(headLine(msg), "Uncaught ")
	if t := jsError(head); t != "" {
		return t
	}
	name, _, found := strings.Cut(head, ":")
	if (found || name == head) && len(name) < 120 && !strings.ContainsAny(name, " (/'\"<") &&
		(strings.HasSuffix(name, "Error") || strings.HasSuffix(name, "Exception")) {
		return name
	}
	return ""
}

// failureKind tells a failed expectation from an error by type and message.
func failureKind(typ, msg string) Kind {
	head := strings.TrimPrefix(headLine(msg), "Error: ")
	switch {
	case strings.Contains(typ, "Timeout"), strings.HasPrefix(head, "Test timeout of "),
		strings.Contains(head, "Timeout of ") && strings.Contains(head, "ms exceeded"):
		return KindTimeout
	case strings.Contains(typ, "Assertion"), strings.HasSuffix(typ, "ExpectationNotMetError"), strings.HasSuffix(typ, "ExpectationFailedException"):
		return KindAssertion
	case strings.HasPrefix(head, "Expected"), strings.HasPrefix(head, "expected"), strings.Contains(head, "expect("), strings.HasPrefix(head, "Failed asserting"):
		return KindAssertion
	case typ != "":
		return KindError
	}
	return ""
}

// unnamed reports the failures that a tool counts and does not name.
func unnamed(out Sink, tool string, stated, named, at int) {
	if stated > named {
		out.Problem(Problem{Kind: KindExit, Name: tool, At: at, Message: fmt.Sprintf("%s counts %d failure(s), the log names %d", tool, stated, named)})
	}
}

// cutOff is the problem of output that ends before its totals.
func cutOff(tool, message string, at int) Problem {
	return Problem{Kind: KindTruncated, Name: tool, Message: message, At: at}
}

// onlyOf reports whether t, at least n bytes, consists of c alone.
func onlyOf(t string, c byte, n int) bool {
	if len(t) < n {
		return false
	}
	for i := 0; i < len(t); i++ {
		if t[i] != c {
			return false
		}
	}
	return true
}

// counted reads "3 failed" and the like: a number, a blank and a word.
func counted(s string) (n int, word string, ok bool) {
	n, rest, ok := leadingInt(s)
	if !ok || len(rest) < 2 || rest[0] != ' ' {
		return 0, "", false
	}
	return n, rest[1:], true
}

// countedList reads "3 examples, 1 failure" into calls of take; it is false
// if a part is not counted or take refuses it.
func countedList(s string, take func(n int, word string) bool) bool {
	for s != "" {
		part, rest, _ := strings.Cut(s, ", ")
		n, word, ok := counted(part)
		if !ok || !take(n, word) {
			return false
		}
		s = rest
	}
	return true
}
