package testreport

import "strings"

// ctrfFormat reads the Common Test Report Format (ctrf.io), also the documents
// that switchback parse writes, in which problems and diagnostics stand too.
var ctrfFormat = format{
	name:  "ctrf",
	order: 180,
	opens: []string{"results", "reportFormat", "reportId", "specVersion", "generatedBy", "timestamp"}, document: readCTRF, leaves: true,
	detect: detectJSON(`"results"`, func(h jsonHead) bool {
		return strings.EqualFold(h["reportFormat"], "CTRF") || h.has("results.tool") && h.any("results.summary", "results.tests") ||
			h.has("results.summary.tests", "results.summary.failed")
	}),
}

type ctrf struct {
	d      *document
	r      *jsonReader
	failed int
	known  bool
	tool   string
}

func readCTRF(d *document) error {
	return readJSON(d, "ctrf", func(r *jsonReader) bool {
		n := tallied(d)
		c := &ctrf{d: d, r: r}
		at := r.at()
		declared, passed := 0, 0
		whole := r.object(func(key string) {
			if key != "results" {
				return
			}
			r.object(func(key string) {
				switch key {
				case "tool":
					r.object(func(key string) {
						if key == "name" {
							c.tool = r.short(200)
						}
					})
				case "summary":
					c.known = true
					r.object(func(key string) {
						switch key {
						case "failed":
							declared = r.int()
						case "passed":
							passed = r.int()
						}
					})
				case "tests":
					c.known = true
					r.array(func() { c.test() })
				case "extra":
					r.object(func(key string) {
						switch key {
						case "cut":
							r.array(func() {
								if s := r.short(1000); s != "" {
									d.out.Cut(s)
								}
							})
						case "diagnostics":
							r.array(func() { c.diagnostic() })
						}
					})
				}
			})
		})
		if whole {
			missing(d.out, at, declared, c.failed, firstOf(c.tool, "ctrf"))
			n.fewer(firstOf(c.tool, "ctrf"), at, passed, n.passed)
		}
		return c.known
	})
}

// ctrfExtra is what switchback adds to a test.
type ctrfExtra struct {
	synthetic bool
	kind      Kind
}

func (c *ctrf) test() {
	r := c.r
	t := Test{At: r.at()}
	var status string
	var x ctrfExtra
	attempts := 0
	whole := r.object(func(key string) {
		switch key {
		case "name":
			t.Name = r.short(4000)
		case "status":
			status = r.short(40)
		case "duration":
			t.Duration = millis(r.float())
		case "suite":
			t.Suite = c.suite()
		case "message":
			t.Message = r.str()
		case "trace":
			t.Trace = r.str()
		case "snippet":
			if s := r.str(); t.Trace == "" {
				t.Trace = s
			}
		case "line":
			t.Line = max(r.int(), 0)
		case "filePath":
			t.File = r.short(1000)
		case "retries":
			t.Retries = max(r.int(), 0)
		case "retryAttempts":
			r.array(func() { attempts++ })
		case "flaky":
			t.Flaky = r.truth()
		case "stdout", "stderr":
			r.array(func() {
				if s := r.str(); len(t.Output) < c.d.lim.Text {
					t.Output += s + "\n"
				}
			})
		case "extra":
			c.extra(&t, &x)
		}
	})
	switch Status(status) {
	case Passed, Failed, Skipped, Pending:
		t.Status = Status(status)
	default:
		t.Status = Other
	}
	if !whole && t.Status != Failed {
		return
	}
	t.Retries = max(t.Retries, attempts)
	if t.Status == Failed {
		c.failed++
	}
	if t.Status == Failed && x.synthetic {
		c.problem(t, x)
		return
	}
	c.complete(&t, x)
	c.d.out.Test(t)
}

func (c *ctrf) problem(t Test, x ctrfExtra) {
	p := Problem{Kind: x.kind, Name: t.Name, File: t.File, Line: t.Line, Message: t.Message, Trace: t.Trace, At: t.At}
	if p.Kind == "" {
		p.Kind = KindExit
	}
	p.Name = strings.TrimSuffix(p.Name, " ["+string(p.Kind)+"]")
	if p.Name == string(p.Kind) {
		p.Name = ""
	}
	c.d.out.Problem(p)
}

// complete adds what a tool for CTRF leaves to be found in the texts.
func (c *ctrf) complete(t *Test, x ctrfExtra) {
	if t.Status != Failed && !t.Flaky {
		t.Output = ""
		return
	}
	t.Output = strings.TrimSpace(t.Output)
	t.Name = firstOf(t.Name, "(no name)")
	if t.Expected == "" && t.Actual == "" {
		t.Expected, t.Actual, _ = splitAssertion(t.Message)
	}
	t.Kind = x.kind
	t.Type = firstOf(jsError(t.Message), jsError(t.Trace))
	if t.Kind == "" && t.Status == Failed {
		t.Kind = ctrfKind(t)
	}
	if t.Line == 0 {
		if f, l := placeIn(t.Trace, t.Suite, t.File); f != "" {
			t.File, t.Line = firstOf(t.File, f), l
		}
	}
}

func ctrfKind(t *Test) Kind {
	switch kind := jsKind("", t.Message); {
	case kind != "":
		return kind
	case t.Expected != "" || strings.Contains(strings.ToLower(t.Type), "assert"):
		return KindAssertion
	case t.Type != "":
		return KindError
	}
	return ""
}

// suite is a list of names, or in older documents their text.
func (c *ctrf) suite() string {
	if c.r.peek() != '[' {
		return c.r.short(2000)
	}
	var parts []string
	c.r.array(func() {
		if s := c.r.short(1000); len(parts) < 100 {
			parts = append(parts, s)
		}
	})
	return joinPath(parts...)
}

func (c *ctrf) extra(t *Test, x *ctrfExtra) {
	r := c.r
	r.object(func(key string) {
		switch key {
		case "synthetic":
			x.synthetic = r.truth()
		case "kind":
			x.kind = ctrfKnown(Kind(r.short(40)))
		case "expected":
			t.Expected = r.str()
		case "actual":
			t.Actual = r.str()
		}
	})
}

// ctrfKnown returns k if it is a kind of ours: other tools use the key too.
func ctrfKnown(k Kind) Kind {
	switch k {
	case KindAssertion, KindError, KindCrash, KindTimeout, KindSetup, KindBuild, KindRace, KindPackage, KindTruncated, KindEmpty, KindCoverage, KindExit:
		return k
	}
	return ""
}

func (c *ctrf) diagnostic() {
	r := c.r
	var d Diagnostic
	if r.object(func(key string) {
		switch strings.ToLower(key) {
		case "tool":
			d.Tool = r.short(200)
		case "file":
			d.File = r.short(1000)
		case "line":
			d.Line = max(r.int(), 0)
		case "column":
			d.Column = max(r.int(), 0)
		case "severity":
			d.Severity = Severity(r.short(20))
		case "code":
			d.Code = r.short(300)
		case "message":
			d.Message = r.str()
		case "at":
			d.At = r.int()
		}
	}) && d.Message != "" {
		c.d.out.Diagnostic(d)
	}
}
