package testreport

import "strings"

// goRuns hands on the tests of packages that ended. Failing ones wait for the
// end of the input, because gotestsum runs them again in the same stream.
type goRuns struct {
	out  Sink
	lim  Limits
	wait map[string]map[string]*goWaiting // package, name
	list []*goWaiting
	now  Test // the test in hand, of those that passed
}

type goWaiting struct {
	test    Test
	passing map[string]bool // subtests that passed beside the failing ones
}

// take hands on the tests of a package run that ended and says whether it was
// a rerun of failing tests only.
func (g *goRuns) take(p *goPackage) {
	waiting := g.wait[p.name]
	rerun := len(waiting) > 0 && len(p.tests) > 0
	for i := 0; rerun && i < len(p.tests); i++ {
		root, _, _ := strings.Cut(p.tests[i].name, "/")
		rerun = waiting[root] != nil
	}
	var both map[string]bool // names that passed in a run of this package, if any failed
	if p.failedTests() > 0 {
		both = map[string]bool{}
		for _, t := range p.tests {
			if t.status == Passed {
				both[t.name] = true
			}
		}
	}
	for _, t := range p.tests {
		if t.status == Passed && !rerun {
			r := &g.now // as goTestOf; no other field of it is ever set
			r.Name, r.Suite, r.Status, r.Duration, r.At, r.Kind, r.Parent = t.name, p.name, Passed, t.dur, t.at, t.kind, t.parent && !t.panicked
			hand(g.out, r)
			continue
		}
		r := p.goTestOf(t)
		r.Parent = t.parent && !t.panicked
		switch {
		case rerun:
			g.again(p.name, r)
		case r.Status == Failed:
			r.Flaky = both[r.Name] // -count: the same run, both results
			g.failed(p.name, r)
		default:
			g.out.Test(r)
		}
	}
	if !rerun {
		g.remember(p)
	}
}

// failed keeps a failing test until the end.
func (g *goRuns) failed(pkg string, r Test) {
	if len(g.list) >= 2*g.lim.Failing {
		g.out.Test(r)
		return
	}
	if g.wait == nil {
		g.wait = map[string]map[string]*goWaiting{}
	}
	if g.wait[pkg] == nil {
		g.wait[pkg] = map[string]*goWaiting{}
	}
	w := &goWaiting{test: r}
	g.list = append(g.list, w)
	g.wait[pkg][r.Name] = w
}

// remember notes which subtests passed under a failing test, so that a rerun
// of it does not count them again.
func (g *goRuns) remember(p *goPackage) {
	waiting := g.wait[p.name]
	if waiting == nil {
		return
	}
	for _, t := range p.tests {
		root, _, sub := strings.Cut(t.name, "/")
		if !sub || t.status == Failed {
			continue
		}
		if w := waiting[root]; w != nil {
			if w.passing == nil {
				w.passing = map[string]bool{}
			}
			w.passing[t.name] = true
		}
	}
}

// again takes a test of a rerun: the last result counts.
func (g *goRuns) again(pkg string, r Test) {
	w := g.wait[pkg][r.Name]
	if w == nil {
		root, _, _ := strings.Cut(r.Name, "/")
		if g.wait[pkg][root].passing[r.Name] && r.Status != Failed {
			return
		}
		if r.Status == Failed {
			g.failed(pkg, r)
		} else {
			g.out.Test(r)
		}
		return
	}
	retries, dur := w.test.Retries+1, w.test.Duration+r.Duration
	switch {
	case r.Status == Failed:
		w.test = r
	case r.Status == Passed:
		w.test.Status, w.test.Flaky, w.test.Parent = Passed, true, false
	}
	w.test.Retries, w.test.Duration = retries, dur
}

// end hands on what waited.
func (g *goRuns) end() {
	for _, w := range g.list {
		g.out.Test(w.test)
	}
	g.list, g.wait = nil, nil
}
