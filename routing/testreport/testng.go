package testreport

import (
	"fmt"
	"strings"
)

// testNGFormat reads the text reporter of TestNG, at any verbosity.
var testNGFormat = format{
	name:    "testng",
	order:   630,
	wakes:   &wake{flush: "[TPFS="},
	console: func(out Sink, lim Limits) console { return newTestNG(out, lim) },
}

// testNG holds tests back until TestNG's totals prove whose they are.
type testNG struct {
	out  Sink
	lim  Limits
	anon *anonymous

	open   bool // [TestNG] Running:
	at     int
	tests  []*failure
	cur    *failure
	passed map[string]bool
}

func newTestNG(out Sink, lim Limits) *testNG {
	return &testNG{out: out, lim: lim, anon: newAnonymous()}
}

func (n *testNG) idle() bool {
	return n.cur == nil && !n.open && len(n.tests) == 0
}

func (n *testNG) line(l Line) bool {
	if l.Mark != "" {
		if stepOver(l) {
			n.end()
		}
		return false
	}
	n.at = l.No
	t := l.Text
	if t == "" {
		if n.cur != nil {
			n.cur.text.add("")
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
			n.start(rest, KindSetup)
			return n.open
		}
	case 'S':
		if strings.HasPrefix(t, "SKIPPED: ") || strings.HasPrefix(t, "SKIPPED CONFIGURATION: ") {
			n.cur = nil
			return n.open
		}
	}
	if n.cur != nil {
		n.cur.text.add(t)
	}
	return false
}

func (n *testNG) start(name string, kind Kind) {
	suite := ""
	base := name
	if i := strings.IndexByte(base, '('); i > 0 {
		base = base[:i]
	}
	if i := strings.LastIndexByte(base, '.'); i > 0 && isIdent(base, ".$") {
		suite, name = name[:i], name[i+1:]
	}
	n.cur = newFailure(Test{Suite: suite, Name: name, Status: Failed, Kind: kind, At: n.at}, shrunk(n.lim, len(n.tests)))
	if len(n.tests) < 5*n.lim.Failing {
		n.tests = append(n.tests, n.cur)
	}
}

// totals reads "Total tests run: 4, Passes: 2, Failures: 1, Skips: 1".
func (n *testNG) totals(t string) {
	total, _ := numAfter(t, "Total tests run:")
	failed, _ := numAfter(t, "Failures:")
	skipped, _ := numAfter(t, "Skips:")
	named := 0
	for _, f := range n.tests {
		r := f.jvm()
		if r.Kind == KindSetup {
			n.out.Problem(Problem{Kind: KindSetup, Name: r.FullName(), File: r.File, Line: r.Line, Message: r.Message, Trace: r.Trace, At: r.At})
			continue
		}
		if named >= failed {
			break
		}
		named++
		n.out.Test(r)
	}
	n.anon.emit(n.out, total-failed-skipped, Test{Status: Passed, At: n.at})
	n.anon.emit(n.out, skipped, Test{Status: Skipped, At: n.at})
	if failed > named {
		n.out.Problem(Problem{Kind: KindPackage, Name: "testng", At: n.at, Message: fmt.Sprintf("%d failing test(s) stated, %d named", failed, named)})
	}
	n.clear()
}

func (n *testNG) clear() { n.open, n.tests, n.cur, n.passed = false, nil, nil, nil }

func (n *testNG) end() {
	if n.open {
		for _, f := range n.tests {
			n.out.Test(f.jvm())
		}
		n.out.Problem(Problem{Kind: KindTruncated, At: n.at, Message: "the output of TestNG ends before its totals"})
	}
	n.clear()
}
