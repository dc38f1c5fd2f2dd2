package golang

import (
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/jsonstream"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// ginkgoJSONFormat reads ginkgo --json-report.
var ginkgoJSONFormat = format.Format{
	Name:  "ginkgo-json",
	Order: 260,
	Opens: []string{"SuitePath", "SuiteDescription"}, Document: readGinkgoJSON, SelfDelimiting: true,
	Detect: jsonstream.Detect(`"SuitePath"`, func(h jsonstream.Head) bool {
		return h.Has("[].SuitePath") && h.Any("[].SuiteSucceeded", "[].SuiteDescription", "[].SpecReports")
	}),
}

func readGinkgoJSON(d *format.Document) error {
	return jsonstream.ReadDocument(d, "ginkgo-json", func(r *jsonstream.Reader) bool {
		known := false
		r.Array(func() { known = true; ginkgoSuite(d, r) })
		return known
	})
}

func ginkgoSuite(d *format.Document, r *jsonstream.Reader) {
	at := r.At()
	var path, name string
	var reasons []string
	succeeded, stated := false, false
	bad, specs, total := 0, 0, 0
	whole := r.Object(func(key string) {
		switch key {
		case "SuitePath":
			path = r.Short(1000)
		case "SuiteDescription":
			name = r.Short(1000)
		case "SuiteSucceeded":
			succeeded, stated = r.Truth(), true
		case "SpecialSuiteFailureReasons":
			r.Array(func() { reasons = failtext.KeepSome(reasons, r.Str()) })
		case "PreRunStats":
			r.Object(func(key string) {
				if key == "TotalSpecs" {
					total = r.Int()
				}
			})
		case "SpecReports":
			r.Array(func() {
				failed, spec := ginkgoSpec(d, r)
				if failed {
					bad++
				}
				if spec {
					specs++
				}
			})
		}
	})
	if whole && total > specs && specs > 0 {
		failtext.Incomplete(d.Out, bad > 0 || stated && !succeeded, model.Problem{Name: parse.FirstOf(path, name), At: at, Message: "the suite lists " + strconv.Itoa(specs) + " of " + parse.Plural(total, "spec")})
	}
	if !whole || !stated || succeeded || bad > 0 && len(reasons) == 0 {
		return
	}
	p := model.Problem{Kind: model.KindPackage, Name: parse.FirstOf(path, name), At: at, Message: strings.Join(reasons, "\n")}
	switch msg := strings.ToLower(p.Message); {
	case strings.Contains(msg, "compile"):
		p.Kind = model.KindBuild
	case strings.Contains(msg, "timeout"):
		p.Kind = model.KindTimeout
	case strings.Contains(msg, "interrupted"):
		p.Kind = model.KindTruncated
	case p.Message == "":
		p.Message = "the suite " + parse.FirstOf(name, path) + " failed, but none of its specs did"
	}
	d.Out.Problem(p)
}

// ginkgoFailure is a failure of a spec or of a node around specs.
type ginkgoFailure struct {
	message, panicked, node, file, trace string
	line                                 int
}

// ginkgoSpec reads one report and tells whether it failed and whether it is of
// a spec. Nodes around specs (BeforeSuite and the like) are no tests.
func ginkgoSpec(d *format.Document, r *jsonstream.Reader) (failed, spec bool) {
	t := model.Test{At: r.At()}
	var path []string
	var node, state string
	attempts, flakes, repeats := 0, 0, 0
	var f ginkgoFailure
	whole := r.Object(func(key string) {
		switch key {
		case "ContainerHierarchyTexts":
			r.Array(func() { path = append(path, r.Short(1000)) })
		case "LeafNodeType":
			node = r.Short(60)
		case "LeafNodeText":
			t.Name = r.Short(2000)
		case "LeafNodeLocation":
			t.File, t.Line, _ = ginkgoPlace(r)
		case "State":
			state = r.Short(40)
		case "RunTime":
			t.Duration = parse.Nanos(r.Float())
		case "NumAttempts":
			attempts = r.Int()
		case "MaxFlakeAttempts":
			flakes = r.Int()
		case "MaxMustPassRepeatedly":
			repeats = r.Int()
		case "CapturedGinkgoWriterOutput", "CapturedStdOutErr":
			t.Output = strings.TrimSpace(t.Output + "\n" + r.Str())
		case "Failure":
			f = ginkgoFailed(r)
		case "AdditionalFailures":
			r.Array(func() {
				r.Object(func(key string) {
					if key == "Failure" {
						if one := ginkgoFailed(r); f.message == "" {
							f = one // of the attempts before one that passed
						}
					}
				})
			})
		}
	})
	t.Suite = parse.JoinPath(path...)
	t.Status = ginkgoStatus(state)
	if state == "" || !whole && t.Status != model.Failed {
		return false, false
	}
	if node != "It" && node != "" {
		if t.Status == model.Failed {
			d.Out.Problem(model.Problem{Kind: model.KindSetup, Name: parse.JoinPath(node, t.Suite, t.Name), File: parse.FirstOf(f.file, t.File), Line: f.line, Message: f.text(), Trace: f.trace, At: t.At})
		}
		return t.Status == model.Failed, false
	}
	t.Name = parse.FirstOf(t.Name, parse.JoinPath(path...), "(no name)")
	if attempts > 1 && flakes > 1 && repeats <= 1 {
		t.Retries = attempts - 1
		t.Flaky = t.Status == model.Passed
	}
	switch {
	case t.Status == model.Failed || t.Flaky:
		f.fill(&t, state)
	case t.Status == model.Skipped:
		t.Message, t.Output = f.message, ""
	default:
		t.Output = ""
	}
	d.Out.Test(t)
	return t.Status == model.Failed, true
}

func ginkgoStatus(state string) model.Status {
	switch state {
	case "passed":
		return model.Passed
	case "failed", "panicked", "timedout", "interrupted", "aborted":
		return model.Failed
	case "skipped":
		return model.Skipped
	case "pending":
		return model.Pending
	}
	return model.Other
}

func (f *ginkgoFailure) text() string {
	if f.panicked != "" {
		return strings.TrimSpace(f.message + "\n" + f.panicked)
	}
	return f.message
}

func (f *ginkgoFailure) fill(t *model.Test, state string) {
	t.Message, t.Trace = strings.TrimSpace(f.text()), f.trace
	t.Expected, t.Actual, _ = failtext.SplitAssertion(t.Message)
	switch {
	case state == "panicked":
		t.Kind = model.KindCrash
	case state == "timedout":
		t.Kind = model.KindTimeout
	case parse.HasAny(f.node, "Before", "After", "Cleanup"):
		t.Kind = model.KindSetup
	case state == "interrupted" || state == "aborted":
		t.Kind = model.KindCrash
	default:
		t.Kind = model.KindAssertion
	}
}

func ginkgoFailed(r *jsonstream.Reader) (f ginkgoFailure) {
	r.Object(func(key string) {
		switch key {
		case "Message":
			f.message = r.Str()
		case "ForwardedPanic":
			f.panicked = r.Str()
		case "FailureNodeType":
			f.node = r.Short(60)
		case "Location":
			f.file, f.line, f.trace = ginkgoPlace(r)
		}
	})
	return f
}

func ginkgoPlace(r *jsonstream.Reader) (file string, line int, trace string) {
	r.Object(func(key string) {
		switch key {
		case "FileName":
			file = r.Short(1000)
		case "LineNumber":
			line = max(r.Int(), 0)
		case "FullStackTrace":
			trace = r.Str()
		}
	})
	return file, line, trace
}
