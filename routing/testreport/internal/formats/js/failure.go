package js

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// jsFailure fills a failed test from the text of a JavaScript error: message,
// code frame and stack as one text. Where the tool stated a place, it stays.
func jsFailure(t *model.Test, text string) {
	jsDescribe(t, text)
	jsPlace(t, t.Trace)
}

// jsDescribe is jsFailure without the place.
func jsDescribe(t *model.Test, text string) {
	text = strings.TrimSpace(parse.Unindent(text))
	t.Trace = text
	if t.Message == "" {
		t.Message = jestHead(text)
	}
	kind, typ := jestKind(jestHead(text))
	if t.Type == "" {
		t.Type = typ
	}
	if t.Kind == "" {
		t.Kind = failtext.JSKind(kind, t.Message)
	}
	if t.Expected == "" && t.Actual == "" {
		t.Expected, t.Actual = jestSides(jestHead(text))
	}
}

// jsPlace takes the place of the failure in the test's own file, or, where the
// file of the test is not known, the first place in the project.
func jsPlace(t *model.Test, text string) {
	if t.Line > 0 {
		return
	}
	if t.File != "" {
		if f, l := failtext.PlaceIn(text, "", t.File); f != "" {
			t.Line = l
		}
		return
	}
	t.File, t.Line, t.Column = jestPlace(text)
}

// heldTests keeps tests until what stands behind them in the document, the
// name of their file say, is known. Past a bound they go out without it.
type heldTests struct {
	tests []model.Test
	bytes int
}

func (h *heldTests) add(t model.Test, out model.Sink) {
	h.tests = append(h.tests, t)
	h.bytes += len(t.Message) + len(t.Trace) + len(t.Output) + len(t.Name) + 300
	if len(h.tests) >= failtext.HoldTests || h.bytes > failtext.HoldBytes {
		h.flush(out, nil)
	}
}

// flush hands the tests on; complete adds what is known of all of them.
func (h *heldTests) flush(out model.Sink, complete func(*model.Test)) {
	for i := range h.tests {
		if complete != nil {
			complete(&h.tests[i])
		}
		out.Test(h.tests[i])
	}
	clear(h.tests)
	h.tests, h.bytes = h.tests[:0], 0
}
