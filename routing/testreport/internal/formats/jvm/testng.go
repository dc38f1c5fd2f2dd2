package jvm

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// testNGFormat reads the text reporter of TestNG, at any verbosity.
var testNGFormat = format.Format{
	Name:    "testng",
	Order:   630,
	Wakes:   &format.Wake{Flush: "[TPFS="},
	Console: func(out model.Sink, lim model.Limits) format.Console { return newTestNG(out, lim) },
}

// testNG holds tests back until TestNG's totals prove whose they are.
type testNG struct {
	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous

	open   bool // [TestNG] Running:
	at     int
	tests  []*failtext.Failure
	cur    *failtext.Failure
	passed map[string]bool
}

func newTestNG(out model.Sink, lim model.Limits) *testNG {
	return &testNG{out: out, lim: lim, anon: model.NewAnonymous(lim)}
}

func (n *testNG) Idle() bool {
	return n.cur == nil && !n.open && len(n.tests) == 0
}

func (n *testNG) Line(l lines.Line) bool {
	if l.Mark != "" {
		if lines.StepOver(l) {
			n.End()
		}
		return false
	}
	n.at = l.No
	t := l.Text
	if t == "" {
		if n.cur != nil {
			n.cur.Text.Add("")
		}
		return false
	}
	switch t[0] {
	case '[':
		if strings.HasPrefix(t, "[TestNG] Running:") {
			n.open = true
			return true
		}
	case '=':
		if strings.TrimRight(t, "=") == "" && len(t) >= 40 {
			n.cur = nil
			return false
		}
	case 'T':
		if strings.HasPrefix(t, "Total tests run: ") && strings.Contains(t, "Failures: ") && strings.Contains(t, "Skips: ") {
			n.totals(t)
			return true
		}
	case 'P':
		if rest, ok := strings.CutPrefix(t, "PASSED: "); ok {
			n.cur = nil
			if len(n.tests) > 0 && len(n.passed) < n.lim.Failing {
				if n.passed == nil {
					n.passed = map[string]bool{}
				}
				n.passed[strings.Clone(rest)] = true
			}
			return n.open
		}
	case 'F':
		if rest, ok := strings.CutPrefix(t, "FAILED: "); ok {
			n.start(rest, "")
			return n.open
		}
		if rest, ok := strings.CutPrefix(t, "FAILED CONFIGURATION: "); ok {
			n.start(rest, model.KindSetup)
			return n.open
		}
	case 'S':
		if strings.HasPrefix(t, "SKIPPED: ") || strings.HasPrefix(t, "SKIPPED CONFIGURATION: ") {
			n.cur = nil
			return n.open
		}
	}
	if n.cur != nil {
		n.cur.Text.Add(t)
	}
	return false
}

func (n *testNG) start(name string, kind model.Kind) {
	suite := ""
	base := name
	if i := strings.IndexByte(base, '('); i > 0 {
		base = base[:i]
	}
	if i := strings.LastIndexByte(base, '.'); i > 0 && parse.IsIdent(base, ".$") {
		suite, name = name[:i], name[i+1:]
	}
	n.cur = failtext.NewFailure(model.Test{Suite: suite, Name: name, Status: model.Failed, Kind: kind, At: n.at}, failtext.Shrunk(n.lim, len(n.tests)))
	if len(n.tests) < 5*n.lim.Failing {
		n.tests = append(n.tests, n.cur)
	}
}

// totals reads "Total tests run: 4, Passes: 2, Failures: 1, Skips: 1".
func (n *testNG) totals(t string) {
	total, _ := parse.NumAfter(t, "Total tests run:")
	failed, _ := parse.NumAfter(t, "Failures:")
	skipped, _ := parse.NumAfter(t, "Skips:")
	named := 0
	for _, f := range n.tests {
		r := f.JVM()
		if r.Kind == model.KindSetup {
			n.out.Problem(model.Problem{Kind: model.KindSetup, Name: r.FullName(), File: r.File, Line: r.Line, Message: r.Message, Trace: r.Trace, At: r.At})
			continue
		}
		if named >= failed {
			break
		}
		named++
		n.out.Test(r)
	}
	n.anon.Emit(n.out, total-failed-skipped, model.Test{Status: model.Passed, At: n.at})
	n.anon.Emit(n.out, skipped, model.Test{Status: model.Skipped, At: n.at})
	if failed > named {
		failtext.Unnamed(n.out, "testng", failed, named, n.at)
	}
	n.clear()
}

func (n *testNG) clear() { n.open, n.tests, n.cur, n.passed = false, nil, nil, nil }

func (n *testNG) End() {
	if n.open {
		for _, f := range n.tests {
			n.out.Test(f.JVM())
		}
		n.out.Problem(model.Problem{Kind: model.KindTruncated, At: n.at, Message: "the output of TestNG ends before its totals"})
	}
	n.clear()
}
