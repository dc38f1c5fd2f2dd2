package js

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/jsonstream"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// testcafeJSONFormat reads testcafe --reporter json.
var testcafeJSONFormat = format.Format{
	Name:  "testcafe-json",
	Order: 280,
	Opens: []string{"startTime"}, Document: readTestcafeJSON, SelfDelimiting: true,
	Detect: jsonstream.Detect(`"fixtures"`, func(h jsonstream.Head) bool { return h.Has("fixtures", "userAgents", "passed") }),
}

func readTestcafeJSON(d *format.Document) error {
	return jsonstream.ReadDocument(d, "testcafe-json", func(r *jsonstream.Reader) bool {
		at := r.At()
		known := false
		n := failtext.NewTally(d)
		passed, total, skipped, failed := 0, 0, 0, 0
		whole := r.Object(func(key string) {
			switch key {
			case "passed":
				passed = r.Int()
			case "total":
				total = r.Int()
			case "skipped":
				skipped = r.Int()
			case "fixtures":
				known = true
				r.Array(func() { failed += testcafeFixture(d, r) })
			}
		})
		if whole {
			// Some versions count skipped tests in the total, some do not.
			failtext.UnnamedFailures(d.Out, at, total-passed-skipped, failed, "testcafe")
			n.Fewer("testcafe", at, passed, n.Passed)
		}
		return known
	})
}

// testcafeFixture reads the tests of one fixture and returns how many failed.
func testcafeFixture(d *format.Document, r *jsonstream.Reader) (failed int) {
	var name, path string
	var held heldTests
	r.Object(func(key string) {
		switch key {
		case "name":
			name = r.Short(1000)
		case "path":
			path = r.Short(1000)
		case "tests":
			r.Array(func() {
				t, ok := testcafeTest(r)
				if !ok {
					return
				}
				if t.Status == model.Failed {
					failed++
				}
				held.add(t, d.Out)
			})
		}
	})
	held.flush(d.Out, func(t *model.Test) {
		t.Suite, t.File = name, path
		if f, l := failtext.PlaceIn(t.Trace, "", path); f != "" {
			t.Line = l
		}
	})
	return failed
}

func testcafeTest(r *jsonstream.Reader) (model.Test, bool) {
	t := model.Test{At: r.At(), Status: model.Passed}
	var errs []string
	var unstable, skipped bool
	whole := r.Object(func(key string) {
		switch key {
		case "name":
			t.Name = r.Short(2000)
		case "errs":
			r.Array(func() { errs = failtext.KeepSome(errs, r.Str()) })
		case "durationMs":
			t.Duration = parse.Millis(r.Float())
		case "unstable":
			unstable = r.Truth()
		case "skipped":
			skipped = r.Truth()
		}
	})
	t.Name = parse.FirstOf(t.Name, "(no name)")
	switch {
	case len(errs) > 0:
		t.Status = model.Failed
		t.Message, _, _ = strings.Cut(errs[0], "\n\nBrowser: ")
		t.Message = strings.TrimSpace(t.Message)
		t.Trace = strings.Join(errs, "\n\n")
		t.Type = failtext.JSErrorType(t.Message)
		t.Expected, t.Actual, _ = failtext.SplitAssertion(t.Message)
		t.Kind = testcafeKind(t.Message)
	case !whole:
		return t, false
	case skipped:
		t.Status = model.Skipped
	default:
		t.Flaky = unstable // passed and failed in quarantine
	}
	return t, true
}

func testcafeKind(msg string) model.Kind {
	switch {
	case strings.HasPrefix(msg, "- Error in "):
		return model.KindSetup
	case strings.HasPrefix(msg, "AssertionError"):
		return model.KindAssertion
	case strings.Contains(parse.HeadLine(msg), "timeout"):
		return model.KindTimeout
	}
	return model.KindError
}
