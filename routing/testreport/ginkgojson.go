package testreport

import (
	"strconv"
	"strings"
)

// ginkgoJSONFormat reads ginkgo --json-report.
var ginkgoJSONFormat = format{
	name:  "ginkgo-json",
	order: 260,
	opens: []string{"SuitePath", "SuiteDescription"}, document: readGinkgoJSON, leaves: true,
	detect: detectJSON(`"SuitePath"`, func(h jsonHead) bool {
		return h.has("[].SuitePath") && h.any("[].SuiteSucceeded", "[].SuiteDescription", "[].SpecReports")
	}),
}

func readGinkgoJSON(d *document) error {
	return readJSON(d, "ginkgo-json", func(r *jsonReader) bool {
		known := false
		r.array(func() { known = true; ginkgoSuite(d, r) })
		return known
	})
}

func ginkgoSuite(d *document, r *jsonReader) {
	at := r.at()
	var path, name string
	var reasons []string
	succeeded, stated := false, false
	bad, specs, total := 0, 0, 0
	whole := r.object(func(key string) {
		switch key {
		case "SuitePath":
			path = r.short(1000)
		case "SuiteDescription":
			name = r.short(1000)
		case "SuiteSucceeded":
			succeeded, stated = r.truth(), true
		case "SpecialSuiteFailureReasons":
			r.array(func() { reasons = keepSome(reasons, r.str()) })
		case "PreRunStats":
			r.object(func(key string) {
				if key == "TotalSpecs" {
					total = r.int()
				}
			})
		case "SpecReports":
			r.array(func() {
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
		incomplete(d.out, bad > 0 || stated && !succeeded, Problem{Name: firstOf(path, name), At: at, Message: "the suite lists " + strconv.Itoa(specs) + " of " + plural(total, "spec")})
	}
	if !whole || !stated || succeeded || bad > 0 && len(reasons) == 0 {
		return
	}
	p := Problem{Kind: KindPackage, Name: firstOf(path, name), At: at, Message: strings.Join(reasons, "\n")}
	switch msg := strings.ToLower(p.Message); {
	case strings.Contains(msg, "compile"):
		p.Kind = KindBuild
	case strings.Contains(msg, "timeout"):
		p.Kind = KindTimeout
	case strings.Contains(msg, "interrupted"):
		p.Kind = KindTruncated
	case p.Message == "":
		p.Message = "the suite " + firstOf(name, path) + " failed, but none of its specs did"
	}
	d.out.Problem(p)
}

// ginkgoFailure is a failure of a spec or of a node around specs.
type ginkgoFailure struct {
	message, panicked, node, file, trace string
	line                                 int
}

// ginkgoSpec reads one report and tells whether it failed and whether it is of
// a spec. Nodes around specs (BeforeSuite and the like) are no tests.
func ginkgoSpec(d *document, r *jsonReader) (failed, spec bool) {
	t := Test{At: r.at()}
	var path []string
	var node, state string
	attempts, flakes, repeats := 0, 0, 0
	var f ginkgoFailure
	whole := r.object(func(key string) {
		switch key {
		case "ContainerHierarchyTexts":
			r.array(func() { path = append(path, r.short(1000)) })
		case "LeafNodeType":
			node = r.short(60)
		case "LeafNodeText":
			t.Name = r.short(2000)
		case "LeafNodeLocation":
			t.File, t.Line, _ = ginkgoPlace(r)
		case "State":
			state = r.short(40)
		case "RunTime":
			t.Duration = nanos(r.float())
		case "NumAttempts":
			attempts = r.int()
		case "MaxFlakeAttempts":
			flakes = r.int()
		case "MaxMustPassRepeatedly":
			repeats = r.int()
		case "CapturedGinkgoWriterOutput", "CapturedStdOutErr":
			t.Output = strings.TrimSpace(t.Output + "\n" + r.str())
		case "Failure":
			f = ginkgoFailed(r)
		case "AdditionalFailures":
			r.array(func() {
				r.object(func(key string) {
					if key == "Failure" {
						if one := ginkgoFailed(r); f.message == "" {
							f = one // of the attempts before one that passed
						}
					}
				})
			})
		}
	})
	t.Suite = joinPath(path...)
	t.Status = ginkgoStatus(state)
	if t.Status == Other || !whole && t.Status != Failed {
		return false, false
	}
	if node != "It" && node != "" {
		if t.Status == Failed {
			d.out.Problem(Problem{Kind: KindSetup, Name: joinPath(node, t.Suite, t.Name), File: firstOf(f.file, t.File), Line: f.line, Message: f.text(), Trace: f.trace, At: t.At})
		}
		return t.Status == Failed, false
	}
	t.Name = firstOf(t.Name, joinPath(path...), "(no name)")
	if attempts > 1 && flakes > 1 && repeats <= 1 {
		t.Retries = attempts - 1
		t.Flaky = t.Status == Passed
	}
	switch {
	case t.Status == Failed || t.Flaky:
		f.fill(&t, state)
	case t.Status == Skipped:
		t.Message, t.Output = f.message, ""
	default:
		t.Output = ""
	}
	d.out.Test(t)
	return t.Status == Failed, true
}

func ginkgoStatus(state string) Status {
	switch state {
	case "passed":
		return Passed
	case "failed", "panicked", "timedout", "interrupted", "aborted":
		return Failed
	case "skipped":
		return Skipped
	case "pending":
		return Pending
	}
	return Other
}

func (f *ginkgoFailure) text() string {
	if f.panicked != "" {
		return strings.TrimSpace(f.message + "\n" + f.panicked)
	}
	return f.message
}

func (f *ginkgoFailure) fill(t *Test, state string) {
	t.Message, t.Trace = strings.TrimSpace(f.text()), f.trace
	t.Expected, t.Actual, _ = splitAssertion(t.Message)
	switch {
	case state == "panicked":
		t.Kind = KindCrash
	case state == "timedout":
		t.Kind = KindTimeout
	case hasAny(f.node, "Before", "After", "Cleanup"):
		t.Kind = KindSetup
	case state == "interrupted" || state == "aborted":
		t.Kind = KindCrash
	default:
		t.Kind = KindAssertion
	}
}

func ginkgoFailed(r *jsonReader) (f ginkgoFailure) {
	r.object(func(key string) {
		switch key {
		case "Message":
			f.message = r.str()
		case "ForwardedPanic":
			f.panicked = r.str()
		case "FailureNodeType":
			f.node = r.short(60)
		case "Location":
			f.file, f.line, f.trace = ginkgoPlace(r)
		}
	})
	return f
}

func ginkgoPlace(r *jsonReader) (file string, line int, trace string) {
	r.object(func(key string) {
		switch key {
		case "FileName":
			file = r.short(1000)
		case "LineNumber":
			line = max(r.int(), 0)
		case "FullStackTrace":
			trace = r.str()
		}
	})
	return file, line, trace
}
