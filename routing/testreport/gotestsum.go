package testreport

import (
	"strconv"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing/diagnosis/multimatch"
)

// goSummary is the list of failures that gotestsum prints at its end, whatever
// it printed before:
//
//	=== FAIL: example.com/a TestB (0.00s)
//	    b_test.go:12: got 1, want 2
type goSummary struct {
	lim   Limits
	pkgs  map[string]*goPackage
	order []*goPackage
	p     *goPackage
	t     *goTest // nil where the package itself failed
}

var goSumFail = multimatch.New(`^=== FAIL: (\S+) (\S*) \((?:re-run \d+\) \()?(\d+(?:\.\d+)?)s\)$`)

// summary begins one entry of gotestsum's list. Skipped tests stand there too;
// what follows them is of no interest.
func (g *goTestText) summary(s string) bool {
	if strings.HasPrefix(s, "=== SKIP: ") || strings.HasPrefix(s, "=== Failed") || strings.HasPrefix(s, "=== Errors") || strings.HasPrefix(s, "=== Skipped") {
		if g.sum != nil {
			g.sum.p = nil
		}
		return g.sum != nil
	}
	if !strings.HasPrefix(s, "=== FAIL: ") {
		return false
	}
	m := goSumFail.FindStringSubmatch(s)
	if m == nil {
		return false
	}
	if g.sum == nil {
		g.sum = &goSummary{lim: g.lim, pkgs: map[string]*goPackage{}}
	}
	g.failed = true
	g.sum.begin(m[1], m[2], m[3], g.at)
	return true
}

// open reports whether an entry of the list is being read.
func (u *goSummary) open() bool { return u != nil && u.p != nil }

func (u *goSummary) begin(pkg, test, secs string, at int) {
	p := u.pkgs[pkg]
	if p == nil {
		if len(u.order) >= u.lim.Failing {
			u.p = nil
			return
		}
		p = newGoPackage(strings.Clone(pkg), u.lim, at)
		p.result = "fail"
		u.pkgs[p.name] = p
		u.order = append(u.order, p)
	}
	u.p, u.t = p, nil
	if test == "" {
		return
	}
	u.t = p.test(strings.Clone(test), at)
	f, _ := strconv.ParseFloat(secs, 64)
	p.end(u.t, Failed, time.Duration(f*float64(time.Second)), at)
}

// line takes a line below an entry. The list ends with "DONE …".
func (u *goSummary) line(s string, at int) bool {
	if u.p == nil {
		return false
	}
	if strings.HasPrefix(s, "DONE ") {
		u.p = nil
		return false
	}
	u.p.print(u.t, s, at)
	return true
}

// summarised hands on what the list holds and the output before it did not.
func (g *goTestText) summarised() {
	for _, p := range g.sum.order {
		known := g.runs.wait[p.name]
		p.settle(true)
		all := p.tests
		p.tests = nil
		for _, t := range all {
			if known[t.name] == nil {
				p.tests = append(p.tests, t)
			}
		}
		switch {
		case len(p.tests) > 0:
			g.runs.take(p)
		case len(all) == 0 && len(known) == 0 && !g.broken[p.name]:
			g.problem(p.problem(p.at))
		}
	}
}
