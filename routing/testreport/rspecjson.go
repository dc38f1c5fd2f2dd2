package testreport

import (
	"strings"
)

// rspecJSONFormat reads rspec --format json.
var rspecJSONFormat = format{
	name:  "rspec-json",
	order: 230,
	opens: []string{"version", "examples", "seed", "messages"}, document: readRSpecJSON, leaves: true,
	detect: detectJSON(`"examples"`, func(h jsonHead) bool {
		return h.has("examples") && h.any("examples[].full_description", "summary.example_count", "summary_line", "version")
	}),
}

func readRSpecJSON(d *document) error {
	return readJSON(d, "rspec-json", func(r *jsonReader) bool {
		at := r.at()
		known := false
		n := tallied(d)
		failed, declared, outside, examples, total := 0, 0, 0, 0, 0
		var messages []string
		whole := r.object(func(key string) {
			switch key {
			case "examples":
				known = true
				r.array(func() {
					t, ok := rspecJSONExample(r)
					if !ok {
						return
					}
					examples++
					if t.Status == Failed {
						failed++
					}
					d.out.Test(t)
				})
			case "messages":
				r.array(func() { messages = keepSome(messages, r.str()) })
			case "summary":
				r.object(func(key string) {
					switch key {
					case "example_count":
						total = r.int()
					case "failure_count":
						declared = r.int()
					case "errors_outside_of_examples_count":
						outside = r.int()
					}
				})
			}
		})
		if !whole {
			return known
		}
		missing(d.out, at, declared, failed, "rspec")
		if outside > 0 {
			rspecJSONOutside(d.out, at, outside, messages)
		}
		n.fewer("rspec", at, total, examples)
		return known
	})
}

// rspecJSONOutside says which errors occurred outside of examples; their words are
// among the run's messages, each with "occurred outside of examples" or the
// file that could not be loaded.
func rspecJSONOutside(out Sink, at, n int, messages []string) {
	said := 0
	for _, m := range messages {
		text := strings.TrimSpace(m)
		head := headLine(text)
		if !strings.Contains(head, "rror occurred") || said == n {
			continue
		}
		p := Problem{Kind: KindSetup, Name: "rspec", Message: text, Trace: text, At: at}
		if i := strings.LastIndex(head, " while loading "); i >= 0 {
			p.Name, _, _ = strings.Cut(head[i+len(" while loading "):]+" ", ". ")
			p.Name = strings.TrimPrefix(strings.TrimSpace(p.Name), "./")
			p.File = p.Name
		}
		if strings.Contains(text, "SyntaxError") {
			p.Kind = KindBuild
		}
		if f, l := placeIn(text, "", p.File); f != "" {
			p.File, p.Line = f, l
		}
		if _, rest, found := strings.Cut(text, "\n"); found {
			p.Message = strings.TrimSpace(rest)
		}
		said++
		out.Problem(p)
	}
	if said < n {
		out.Problem(Problem{Kind: KindSetup, Name: "rspec", At: at, Message: plural(n-said, "error") + " occurred outside of examples", Trace: strings.Join(messages, "\n")})
	}
}

func rspecJSONExample(r *jsonReader) (Test, bool) {
	t := Test{At: r.at()}
	var id, full, status, pending string
	whole := r.object(func(key string) {
		switch key {
		case "id":
			id = r.short(1000)
		case "description":
			t.Name = r.short(2000)
		case "full_description":
			full = r.short(4000)
		case "status":
			status = r.short(40)
		case "file_path":
			t.File = strings.TrimPrefix(r.short(1000), "./")
		case "line_number":
			t.Line = max(r.int(), 0)
		case "run_time":
			t.Duration = secs(r.float())
		case "pending_message":
			pending = r.str()
		case "exception":
			rspecJSONException(r, &t)
		}
	})
	// A shared example stands in another file than the one that runs it, which
	// is that of its id: "./spec/a_spec.rb[1:2]".
	if file, _, ok := strings.Cut(strings.TrimPrefix(id, "./"), "["); ok && file != t.File {
		t.File, t.Line = file, 0
		if f, l := placeIn(t.Trace, "", file); f != "" {
			t.Line = l
		}
	}
	t.Name = firstOf(strings.TrimSpace(t.Name), full, "(no name)")
	if suite, ok := strings.CutSuffix(full, t.Name); ok {
		t.Suite = strings.TrimSpace(suite)
	}
	switch status {
	case "passed":
		t.Status = Passed
	case "failed":
		t.Status = Failed
	case "pending":
		t.Status, t.Message = Skipped, pending
	default:
		t.Status = Other
	}
	return t, whole || t.Status == Failed
}

func rspecJSONException(r *jsonReader, t *Test) {
	var trace []string
	if !r.object(func(key string) {
		switch key {
		case "class":
			t.Type = r.short(300)
		case "message":
			t.Message = strings.TrimSpace(r.str())
		case "backtrace":
			r.array(func() {
				if s := r.short(2000); len(trace) < 200 {
					trace = append(trace, s)
				}
			})
		}
	}) {
		return
	}
	t.Kind = rspecJSONKind(t.Type)
	t.Trace = strings.TrimSpace(t.Message + "\n" + strings.Join(trace, "\n"))
	t.Expected, t.Actual, _ = splitAssertion(t.Message)
}

// rspecJSONKind tells by its class whether an exception is a failed expectation.
func rspecJSONKind(class string) Kind {
	switch {
	case class == "":
		return ""
	case hasAny(class, "Expectation", "Assertion", "PendingExampleFixed", "MultipleExceptionError", "RSpec::Mocks::"):
		return KindAssertion
	case strings.HasSuffix(class, "Timeout::Error"):
		return KindTimeout
	}
	return KindError
}
