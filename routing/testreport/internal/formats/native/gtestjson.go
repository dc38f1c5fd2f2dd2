package native

import (
	"strings"
	"unicode/utf8"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/jsonstream"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// gtestJSONFormat reads GoogleTest's --gtest_output=json.
var gtestJSONFormat = format.Format{
	Name:  "gtest-json",
	Order: 235,
	Opens: []string{"tests", "failures", "disabled", "errors"}, Document: readGTestJSON, SelfDelimiting: true,
	Detect: jsonstream.Detect(`"testsuites"`, func(h jsonstream.Head) bool {
		return h.Has("testsuites") && h.Has("tests") && h.Any("testsuites[].testsuite", "disabled")
	}),
}

func readGTestJSON(d *format.Document) error {
	return jsonstream.ReadDocument(d, "gtest-json", func(r *jsonstream.Reader) bool {
		at, known, declared, failed, tests := r.At(), false, 0, 0, 0
		whole := r.Object(func(key string) {
			switch key {
			case "failures":
				declared = max(r.Int(), 0)
			case "testsuites":
				known = true
				r.Array(func() {
					r.Object(func(key string) {
						if key != "testsuite" {
							return
						}
						r.Array(func() {
							if t, ok := gtestJSONTest(r); ok {
								tests++
								if t.Status == model.Failed {
									failed++
								}
								d.Out.Test(t)
							}
						})
					})
				})
			}
		})
		if !whole {
			return known
		}
		failtext.UnnamedFailures(d.Out, at, declared, failed, "gtest")
		if known && tests == 0 && declared == 0 {
			d.Out.Problem(model.Problem{Kind: model.KindEmpty, Name: "gtest", At: at, Message: "no test ran"})
		}
		return known
	})
}

func gtestJSONTest(r *jsonstream.Reader) (model.Test, bool) {
	t := model.Test{At: r.At(), Status: model.Passed}
	var status, result string
	var messages []string
	whole := r.Object(func(key string) {
		switch key {
		case "name":
			t.Name = gtestJSONText(r.Short(2000))
		case "classname":
			t.Suite = gtestJSONText(r.Short(2000))
		case "file":
			t.File = r.Short(1000)
		case "line":
			t.Line = max(r.Int(), 0)
		case "status":
			status = r.Short(40)
		case "result":
			result = r.Short(40)
		case "failures":
			t.Status = model.Failed
			r.Array(func() {
				r.Object(func(key string) {
					if key == "failure" {
						messages = failtext.KeepSome(messages, gtestJSONText(r.Str()))
					}
				})
			})
		}
	})
	switch {
	case t.Status == model.Failed:
		gtestJSONFailure(&t, messages)
	case result == "SKIPPED" || result == "SUPPRESSED" || status == "NOTRUN":
		t.Status = model.Skipped
	}
	return t, whole || t.Status == model.Failed
}

// gtestJSONFailure takes texts that begin with a place, "cart.cc:14", or with "unknown file".
func gtestJSONFailure(t *model.Test, messages []string) {
	t.Kind, t.Trace = model.KindAssertion, strings.Join(messages, "\n\n")
	if len(messages) == 0 {
		return
	}
	head, text, found := strings.Cut(messages[0], "\n")
	if file, line, _, ok := parse.Location(head); ok && line > 0 {
		t.File, t.Line = file, line
	} else if head != "unknown file" {
		found = false
	}
	if !found {
		text = messages[0]
	}
	t.Message = strings.TrimSpace(text)
	if strings.Contains(t.Message, "C++ exception") {
		t.Kind = model.KindError
	}
	t.Expected, t.Actual, _ = failtext.SplitAssertion(t.Message)
}

// gtestJSONText undoes that GoogleTest escapes each byte of UTF-8 as a character of its own.
func gtestJSONText(s string) string {
	raw := make([]byte, 0, len(s))
	for _, r := range s {
		if r > 0xff {
			return s
		}
		raw = append(raw, byte(r))
	}
	if !utf8.Valid(raw) {
		return s
	}
	return string(raw)
}
