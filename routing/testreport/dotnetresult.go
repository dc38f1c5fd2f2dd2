package testreport

import (
	"strings"
)

func (d *dotnetConsole) xunitLine(t string) bool {
	d.seen = true
	if m := xunitFail.FindStringSubmatch(t); m != nil {
		if m[2] == "FAIL" {
			d.start(m[1], "")
			d.part, d.cur = "", nil // the text comes again below VSTest's own line
		}
		return true
	}
	if strings.HasSuffix(t, "Starting:") || strings.Contains(t, "  Starting:    ") {
		d.begin()
	}
	return true
}

func (d *dotnetConsole) nunitEntry(m []string) {
	d.nunit = true
	d.cur = nil
	switch m[1] {
	case "Ignored", "Skipped", "Explicit", "Warning":
		return
	}
	d.start(m[2], "")
	if d.cur != nil && (strings.HasPrefix(m[1], "SetUp") || strings.HasPrefix(m[1], "TearDown")) {
		d.cur.t.Kind = KindSetup
	}
	d.part = "nunit"
}

// result reads one test's result.
func (d *dotnetConsole) result(how, name, took string) {
	d.cur, d.part = nil, ""
	switch strings.ToLower(how) {
	case "passed":
		d.passed++
		suite, leaf := dotnetName(name)
		d.out.Test(Test{Suite: suite, Name: leaf, Status: Passed, Duration: dotnetTime(took), At: d.at})
	case "skipped":
		d.skipped++
		suite, leaf := dotnetName(name)
		d.out.Test(Test{Suite: suite, Name: leaf, Status: Skipped, At: d.at})
	case "failed":
		d.start(name, took)
	}
}

// start begins a failing test. xUnit names it before VSTest does.
func (d *dotnetConsole) start(name, took string) {
	if f := d.byName[name]; f != nil && f.text.head.Len() == 0 && len(f.text.tail) == 0 {
		f.t.At, f.t.Duration = d.at, dotnetTime(took)
		d.cur = f
		return
	}
	suite, leaf := dotnetName(name)
	f := newFailure(Test{Suite: suite, Name: leaf, Status: Failed, Duration: dotnetTime(took), At: d.at}, shrunk(d.lim, len(d.tests)))
	d.cur = f
	if len(d.tests) < 5*d.lim.Failing {
		d.tests = append(d.tests, f)
		d.byName[strings.Clone(name)] = f
	}
}

// dotnetName splits "Ns.Class.Method(x: 1.5)" at the dot before the method.
func dotnetName(s string) (suite, name string) {
	base := s
	if i := strings.IndexAny(s, "(<["); i > 0 {
		base = s[:i]
	}
	if i := strings.LastIndexByte(base, '.'); i > 0 && !strings.Contains(base, " ") {
		return s[:i], s[i+1:]
	}
	return "", s
}
