package ruby

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/jsonstream"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// rspecJSONFormat reads rspec --format json.
var rspecJSONFormat = format.Format{
	Name:  "rspec-json",
	Order: 230,
	Opens: []string{"version", "examples", "seed", "messages"}, Document: readRSpecJSON, SelfDelimiting: true,
	Detect: jsonstream.Detect(`"examples"`, func(h jsonstream.Head) bool {
		return h.Has("examples") && h.Any("examples[].full_description", "summary.example_count", "summary_line", "version")
	}),
}

func readRSpecJSON(d *format.Document) error {
	return jsonstream.ReadDocument(d, "rspec-json", func(r *jsonstream.Reader) bool {
		at := r.At()
		known := false
		n := failtext.NewTally(d)
		failed, declared, outside, examples, total := 0, 0, 0, 0, 0
		var messages []string
		whole := r.Object(func(key string) {
			switch key {
			case "examples":
				known = true
				r.Array(func() {
					t, ok := rspecJSONExample(r)
					if !ok {
						return
					}
					examples++
					if t.Status == model.Failed {
						failed++
					}
					d.Out.Test(t)
				})
			case "messages":
				r.Array(func() { messages = failtext.KeepSome(messages, r.Str()) })
			case "summary":
				r.Object(func(key string) {
					switch key {
					case "example_count":
						total = r.Int()
					case "failure_count":
						declared = r.Int()
					case "errors_outside_of_examples_count":
						outside = r.Int()
					}
				})
			}
		})
		if !whole {
			return known
		}
		failtext.UnnamedFailures(d.Out, at, declared, failed, "rspec")
		if outside > 0 {
			rspecJSONOutside(d.Out, at, outside, messages)
		}
		n.Fewer("rspec", at, total, examples)
		return known
	})
}

// rspecJSONOutside says which errors occurred outside of examples; their words are
// among the run's messages, each with "occurred outside of examples" or the
// file that could not be loaded.
func rspecJSONOutside(out model.Sink, at, n int, messages []string) {
	said := 0
	for _, m := range messages {
		text := strings.TrimSpace(m)
		head := parse.HeadLine(text)
		if !strings.Contains(head, "rror occurred") || said == n {
			continue
		}
		p := model.Problem{Kind: model.KindSetup, Name: "rspec", Message: text, Trace: text, At: at}
		if i := strings.LastIndex(head, " while loading "); i >= 0 {
			p.Name, _, _ = strings.Cut(head[i+len(" while loading "):]+" ", ". ")
			p.Name = strings.TrimPrefix(strings.TrimSpace(p.Name), "./")
			p.File = p.Name
		}
		if strings.Contains(text, "SyntaxError") {
			p.Kind = model.KindBuild
		}
		if f, l := failtext.PlaceIn(text, "", p.File); f != "" {
			p.File, p.Line = f, l
		}
		if _, rest, found := strings.Cut(text, "\n"); found {
			p.Message = strings.TrimSpace(rest)
		}
		said++
		out.Problem(p)
	}
	if said < n {
		out.Problem(model.Problem{Kind: model.KindSetup, Name: "rspec", At: at, Message: parse.Plural(n-said, "error") + " occurred outside of examples", Trace: strings.Join(messages, "\n")})
	}
}

func rspecJSONExample(r *jsonstream.Reader) (model.Test, bool) {
	t := model.Test{At: r.At()}
	var id, full, status, pending string
	whole := r.Object(func(key string) {
		switch key {
		case "id":
			id = r.Short(1000)
		case "description":
			t.Name = r.Short(2000)
		case "full_description":
			full = r.Short(4000)
		case "status":
			status = r.Short(40)
		case "file_path":
			t.File = strings.TrimPrefix(r.Short(1000), "./")
		case "line_number":
			t.Line = max(r.Int(), 0)
		case "run_time":
			t.Duration = parse.Secs(r.Float())
		case "pending_message":
			pending = r.Str()
		case "exception":
			rspecJSONException(r, &t)
		}
	})
	// A shared example stands in another file than the one that runs it, which
	// is that of its id: "./spec/a_spec.rb[1:2]".
	if file, _, ok := strings.Cut(strings.TrimPrefix(id, "./"), "["); ok && file != t.File {
		t.File, t.Line = file, 0
		if f, l := failtext.PlaceIn(t.Trace, "", file); f != "" {
			t.Line = l
		}
	}
	// Where it failed, as the text formatters say, not where it begins.
	if f, l := failtext.PlaceIn(t.Trace, "", t.File); t.Trace != "" && f != "" && l > 0 {
		t.Line = l
	}
	t.Name = parse.FirstOf(strings.TrimSpace(t.Name), full, "(no name)")
	if suite, ok := strings.CutSuffix(full, t.Name); ok {
		t.Suite = strings.TrimSpace(suite)
	}
	switch status {
	case "passed":
		t.Status = model.Passed
	case "failed":
		t.Status = model.Failed
	case "pending":
		t.Status, t.Message = model.Skipped, pending
	default:
		t.Status = model.Other
	}
	return t, whole || t.Status == model.Failed
}

func rspecJSONException(r *jsonstream.Reader, t *model.Test) {
	var trace []string
	if !r.Object(func(key string) {
		switch key {
		case "class":
			t.Type = r.Short(300)
		case "message":
			t.Message = strings.TrimSpace(r.Str())
		case "backtrace":
			r.Array(func() {
				if s := r.Short(2000); len(trace) < 200 {
					trace = append(trace, s)
				}
			})
		}
	}) {
		return
	}
	t.Kind = rspecJSONKind(t.Type)
	t.Trace = strings.TrimSpace(t.Message + "\n" + strings.Join(trace, "\n"))
	t.Expected, t.Actual, _ = failtext.SplitAssertion(t.Message)
}

// rspecJSONKind tells by its class whether an exception is a failed expectation.
func rspecJSONKind(class string) model.Kind {
	switch {
	case class == "":
		return ""
	case parse.HasAny(class, "Expectation", "Assertion", "PendingExampleFixed", "MultipleExceptionError", "RSpec::Mocks::"):
		return model.KindAssertion
	case strings.HasSuffix(class, "Timeout::Error"):
		return model.KindTimeout
	}
	return model.KindError
}
