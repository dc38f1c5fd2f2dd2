package testreport

import (
	"strconv"
	"strings"
)

// jsFailure fills a failed test from the text of a JavaScript error: message,
// code frame and stack as one text. Where the tool stated a place, it stays.
func jsFailure(t *Test, text string) {
	jsDescribe(t, text)
	jsPlace(t, t.Trace)
}

// jsDescribe is jsFailure without the place.
func jsDescribe(t *Test, text string) {
	text = strings.TrimSpace(unindent(text))
	t.Trace = text
	if t.Message == "" {
		t.Message = jestHead(text)
	}
	kind, typ := jestKind(jestHead(text))
	if t.Type == "" {
		t.Type = typ
	}
	if t.Kind == "" {
		t.Kind = jsKind(kind, t.Message)
	}
	if t.Expected == "" && t.Actual == "" {
		t.Expected, t.Actual = jestSides(jestHead(text))
	}
}

// jsPlace takes the place of the failure in the test's own file, or, where the
// file of the test is not known, the first place in the project.
func jsPlace(t *Test, text string) {
	if t.Line > 0 {
		return
	}
	if t.File != "" {
		if f, l := placeIn(text, "", t.File); f != "" {
			t.Line = l
		}
		return
	}
	t.File, t.Line, t.Column = jestPlace(text)
}

// jsKind refines the kind that the first line of an error tells by the words
// that test runners for JavaScript use for their own limits.
func jsKind(kind Kind, msg string) Kind {
	head := headLine(msg)
	switch {
	case strings.HasPrefix(head, "Test timeout of "), strings.Contains(head, "Exceeded timeout of "), strings.Contains(head, "Timeout of ") && strings.Contains(head, "exceeded"),
		strings.Contains(head, "Test timed out in "), strings.Contains(head, "Hook timed out in "), strings.Contains(head, "TestTimeoutError"),
		head == "Error: STACK_TRACE_ERROR": // what vitest's JSON has of a test that ran too long
		return KindTimeout
	case kind == KindError && (strings.Contains(head, "AssertionError") || strings.Contains(head, "expect(")):
		return KindAssertion
	case kind == KindError && strings.HasPrefix(head, "Expected "):
		return KindAssertion
	}
	return kind
}

// heldTests keeps tests until what stands behind them in the document, the
// name of their file say, is known. Past a bound they go out without it.
type heldTests struct {
	tests []Test
	bytes int
}

func (h *heldTests) add(t Test, out Sink) {
	h.tests = append(h.tests, t)
	h.bytes += len(t.Message) + len(t.Trace) + len(t.Output) + len(t.Name) + 300
	if len(h.tests) >= holdTests || h.bytes > holdBytes {
		h.flush(out, nil)
	}
}

// flush hands the tests on; complete adds what is known of all of them.
func (h *heldTests) flush(out Sink, complete func(*Test)) {
	for i := range h.tests {
		if complete != nil {
			complete(&h.tests[i])
		}
		out.Test(h.tests[i])
	}
	clear(h.tests)
	h.tests, h.bytes = h.tests[:0], 0
}

// missing says that a document declares more failures than it names.
func missing(out Sink, at, declared, named int, tool string) {
	if declared > named {
		out.Problem(Problem{Kind: KindExit, Name: tool, At: at,
			Message: plural(declared, "failure") + " in the totals of " + tool + ", " + plural(named, "failure") + " named"})
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
