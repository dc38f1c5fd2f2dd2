package generic

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/jsonstream"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// ctrfFormat reads the Common Test Report Format (ctrf.io), also the documents
// that switchback parse writes, in which problems and diagnostics stand too.
var ctrfFormat = format.Format{
	Name:  "ctrf",
	Order: 180,
	Opens: []string{"results", "reportFormat", "reportId", "specVersion", "generatedBy", "timestamp"}, Document: readCTRF, SelfDelimiting: true,
	Detect: jsonstream.Detect(`"results"`, func(h jsonstream.Head) bool {
		return strings.EqualFold(h["reportFormat"], "CTRF") || h.Has("results.tool") && h.Any("results.summary", "results.tests") ||
			h.Has("results.summary.tests", "results.summary.failed")
	}),
}

type ctrf struct {
	d      *format.Document
	r      *jsonstream.Reader
	failed int
	known  bool
	tool   string
}

func readCTRF(d *format.Document) error {
	return jsonstream.ReadDocument(d, "ctrf", func(r *jsonstream.Reader) bool {
		n := failtext.NewTally(d)
		c := &ctrf{d: d, r: r}
		at := r.At()
		declared, passed := 0, 0
		whole := r.Object(func(key string) {
			if key != "results" {
				return
			}
			r.Object(func(key string) {
				switch key {
				case "tool":
					r.Object(func(key string) {
						if key == "name" {
							c.tool = r.Short(200)
						}
					})
				case "summary":
					c.known = true
					r.Object(func(key string) {
						switch key {
						case "failed":
							declared = r.Int()
						case "passed":
							passed = r.Int()
						}
					})
				case "tests":
					c.known = true
					r.Array(func() { c.test() })
				case "extra":
					r.Object(func(key string) {
						switch key {
						case "cut":
							r.Array(func() {
								if s := r.Short(1000); s != "" {
									d.Out.Cut(s)
								}
							})
						case "diagnostics":
							r.Array(func() { c.diagnostic() })
						}
					})
				}
			})
		})
		if whole {
			failtext.UnnamedFailures(d.Out, at, declared, c.failed, parse.FirstOf(c.tool, "ctrf"))
			n.Fewer(parse.FirstOf(c.tool, "ctrf"), at, passed, n.Passed)
		}
		return c.known
	})
}

// ctrfExtra is what switchback adds to a test.
type ctrfExtra struct {
	synthetic bool
	kind      model.Kind
}

func (c *ctrf) test() {
	r := c.r
	t := model.Test{At: r.At()}
	var status string
	var x ctrfExtra
	attempts := 0
	whole := r.Object(func(key string) {
		switch key {
		case "name":
			t.Name = r.Short(4000)
		case "status":
			status = r.Short(40)
		case "duration":
			t.Duration = parse.Millis(r.Float())
		case "suite":
			t.Suite = c.suite()
		case "message":
			t.Message = r.Str()
		case "trace":
			t.Trace = r.Str()
		case "snippet":
			if s := r.Str(); t.Trace == "" {
				t.Trace = s
			}
		case "line":
			t.Line = max(r.Int(), 0)
		case "filePath":
			t.File = r.Short(1000)
		case "retries":
			t.Retries = max(r.Int(), 0)
		case "retryAttempts":
			r.Array(func() { attempts++ })
		case "flaky":
			t.Flaky = r.Truth()
		case "stdout", "stderr":
			r.Array(func() {
				if s := r.Str(); len(t.Output) < c.d.Limits.Text {
					t.Output += s + "\n"
				}
			})
		case "extra":
			c.extra(&t, &x)
		}
	})
	switch model.Status(status) {
	case model.Passed, model.Failed, model.Skipped, model.Pending:
		t.Status = model.Status(status)
	default:
		t.Status = model.Other
	}
	if !whole && t.Status != model.Failed {
		return
	}
	t.Retries = max(t.Retries, attempts)
	if t.Status == model.Failed {
		c.failed++
	}
	if t.Status == model.Failed && x.synthetic {
		c.problem(t, x)
		return
	}
	c.complete(&t, x)
	c.d.Out.Test(t)
}

func (c *ctrf) problem(t model.Test, x ctrfExtra) {
	p := model.Problem{Kind: x.kind, Name: t.Name, File: t.File, Line: t.Line, Message: t.Message, Trace: t.Trace, At: t.At}
	if p.Kind == "" {
		p.Kind = model.KindExit
	}
	p.Name = strings.TrimSuffix(p.Name, " ["+string(p.Kind)+"]")
	if p.Name == string(p.Kind) {
		p.Name = ""
	}
	c.d.Out.Problem(p)
}

// complete adds what a tool for CTRF leaves to be found in the texts.
func (c *ctrf) complete(t *model.Test, x ctrfExtra) {
	if t.Status != model.Failed && !t.Flaky {
		t.Output = ""
		return
	}
	t.Output = strings.TrimSpace(t.Output)
	t.Name = parse.FirstOf(t.Name, "(no name)")
	if t.Expected == "" && t.Actual == "" {
		t.Expected, t.Actual, _ = failtext.SplitAssertion(t.Message)
	}
	t.Kind = x.kind
	t.Type = parse.FirstOf(failtext.JSErrorType(t.Message), failtext.JSErrorType(t.Trace))
	if t.Kind == "" && t.Status == model.Failed {
		t.Kind = ctrfKind(t)
	}
	if t.Line == 0 {
		if f, l := failtext.PlaceIn(t.Trace, t.Suite, t.File); f != "" {
			t.File, t.Line = parse.FirstOf(t.File, f), l
		}
	}
}

func ctrfKind(t *model.Test) model.Kind {
	switch kind := failtext.JSKind("", t.Message); {
	case kind != "":
		return kind
	case t.Expected != "" || strings.Contains(strings.ToLower(t.Type), "assert"):
		return model.KindAssertion
	case t.Type != "":
		return model.KindError
	}
	return ""
}

// suite is a list of names, or in older documents their text.
func (c *ctrf) suite() string {
	if c.r.Peek() != '[' {
		return c.r.Short(2000)
	}
	var parts []string
	c.r.Array(func() {
		if s := c.r.Short(1000); len(parts) < 100 {
			parts = append(parts, s)
		}
	})
	return parse.JoinPath(parts...)
}

func (c *ctrf) extra(t *model.Test, x *ctrfExtra) {
	r := c.r
	r.Object(func(key string) {
		switch key {
		case "synthetic":
			x.synthetic = r.Truth()
		case "kind":
			x.kind = ctrfKnown(model.Kind(r.Short(40)))
		case "expected":
			t.Expected = r.Str()
		case "actual":
			t.Actual = r.Str()
		}
	})
}

// ctrfKnown returns k if it is a kind of ours: other tools use the key too.
func ctrfKnown(k model.Kind) model.Kind {
	switch k {
	case model.KindAssertion, model.KindError, model.KindCrash, model.KindTimeout, model.KindSetup, model.KindBuild, model.KindRace, model.KindPackage, model.KindTruncated, model.KindEmpty, model.KindCoverage, model.KindExit:
		return k
	}
	return ""
}

func (c *ctrf) diagnostic() {
	r := c.r
	var d model.Diagnostic
	if r.Object(func(key string) {
		switch strings.ToLower(key) {
		case "tool":
			d.Tool = r.Short(200)
		case "file":
			d.File = r.Short(1000)
		case "line":
			d.Line = max(r.Int(), 0)
		case "column":
			d.Column = max(r.Int(), 0)
		case "severity":
			d.Severity = model.Severity(r.Short(20))
		case "code":
			d.Code = r.Short(300)
		case "message":
			d.Message = r.Str()
		case "at":
			d.At = r.Int()
		}
	}) && d.Message != "" {
		c.d.Out.Diagnostic(d)
	}
}
