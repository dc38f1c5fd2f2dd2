package testreport

import "strings"

// testcafeJSONFormat reads testcafe --reporter json.
var testcafeJSONFormat = format{
	name:  "testcafe-json",
	order: 280,
	opens: []string{"startTime"}, document: readTestcafeJSON, leaves: true,
	detect: detectJSON(`"fixtures"`, func(h jsonHead) bool { return h.has("fixtures", "userAgents", "passed") }),
}

func readTestcafeJSON(d *document) error {
	return readJSON(d, "testcafe-json", func(r *jsonReader) bool {
		at := r.at()
		known := false
		n := tallied(d)
		passed, total, skipped, failed := 0, 0, 0, 0
		whole := r.object(func(key string) {
			switch key {
			case "passed":
				passed = r.int()
			case "total":
				total = r.int()
			case "skipped":
				skipped = r.int()
			case "fixtures":
				known = true
				r.array(func() { failed += testcafeFixture(d, r) })
			}
		})
		if whole {
			// Some versions count skipped tests in the total, some do not.
			missing(d.out, at, total-passed-skipped, failed, "testcafe")
			n.fewer("testcafe", at, passed, n.passed)
		}
		return known
	})
}

// testcafeFixture reads the tests of one fixture and returns how many failed.
func testcafeFixture(d *document, r *jsonReader) (failed int) {
	var name, path string
	var held heldTests
	r.object(func(key string) {
		switch key {
		case "name":
			name = r.short(1000)
		case "path":
			path = r.short(1000)
		case "tests":
			r.array(func() {
				t, ok := testcafeTest(r)
				if !ok {
					return
				}
				if t.Status == Failed {
					failed++
				}
				held.add(t, d.out)
			})
		}
	})
	held.flush(d.out, func(t *Test) {
		t.Suite, t.File = name, path
		if f, l := placeIn(t.Trace, "", path); f != "" {
			t.Line = l
		}
	})
	return failed
}

func testcafeTest(r *jsonReader) (Test, bool) {
	t := Test{At: r.at(), Status: Passed}
	var errs []string
	var unstable, skipped bool
	whole := r.object(func(key string) {
		switch key {
		case "name":
			t.Name = r.short(2000)
		case "errs":
			r.array(func() { errs = keepSome(errs, r.str()) })
		case "durationMs":
			t.Duration = millis(r.float())
		case "unstable":
			unstable = r.truth()
		case "skipped":
			skipped = r.truth()
		}
	})
	t.Name = firstOf(t.Name, "(no name)")
	switch {
	case len(errs) > 0:
		t.Status = Failed
		t.Message, _, _ = strings.Cut(errs[0], "\n\nBrowser: ")
		t.Message = strings.TrimSpace(t.Message)
		t.Trace = strings.Join(errs, "\n\n")
		t.Type = jsError(t.Message)
		t.Expected, t.Actual, _ = splitAssertion(t.Message)
		t.Kind = testcafeKind(t.Message)
	case !whole:
		return t, false
	case skipped:
		t.Status = Skipped
	default:
		t.Flaky = unstable // passed and failed in quarantine
	}
	return t, true
}

func testcafeKind(msg string) Kind {
	switch {
	case strings.HasPrefix(msg, "- Error in "):
		return KindSetup
	case strings.HasPrefix(msg, "AssertionError"):
		return KindAssertion
	case strings.Contains(headLine(msg), "timeout"):
		return KindTimeout
	}
	return KindError
}
