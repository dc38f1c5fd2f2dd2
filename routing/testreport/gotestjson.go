package testreport

import (
	"fmt"
	"strings"
	"time"
)

// goTestJSONFormat reads the events of go test -json (see go doc test2json),
// also where other lines stand between them.
var goTestJSONFormat = format{
	name:    "gotest-json",
	order:   350,
	machine: true,
	begins:  "{",
	console: func(out Sink, lim Limits) console { return newGoTestJSON(out, lim) },
}

// goTestJSON gathers events by package and test: names of tests alone repeat
// over packages.
type goTestJSON struct {
	out      Sink
	lim      Limits
	runs     goRuns
	open     map[string]*goPackage
	order    []string // of open
	builds   map[string]*goBuild
	buildIDs []string
	failed   map[string]bool // builds that failed
	event    goEvent
	text     string
	used     goUsed
	last     *goPackage
	lastTest *goTest
}

func newGoTestJSON(out Sink, lim Limits) *goTestJSON {
	return &goTestJSON{
		out: out, lim: lim, runs: goRuns{out: out, lim: lim},
		open: map[string]*goPackage{}, builds: map[string]*goBuild{}, failed: map[string]bool{},
	}
}

// shown implements rewriter.
func (g *goTestJSON) shown() string { return g.text }

func (g *goTestJSON) line(l Line) bool {
	if len(l.Text) < 12 || l.Text[0] != '{' || !strings.Contains(l.Text[:min(len(l.Text), 4096)], `"Action"`) {
		return false
	}
	e := &g.event
	ok, whole := e.scan(l.Text)
	if !ok || !whole && l.Cut == 0 || !goAction(e.Action) || e.Package == "" && e.ImportPath == "" && e.Time == "" && e.Test == "" && !e.hasOutput {
		// A stream without package names (test2json without -p) ends so.
		if !ok || !whole || len(g.open) == 0 || g.open[""] == nil || !goAction(e.Action) {
			return false
		}
	}
	e.Test = ownName(e.Test, l.Text)
	g.text = ""
	if e.hasOutput {
		g.text, _ = clean(trimEOL(e.Output))
	}
	g.take(e, l)
	return true
}

func goAction(a string) bool {
	switch a {
	case "start", "run", "pause", "cont", "pass", "bench", "fail", "output", "skip", "attr", "artifacts", "build-output", "build-fail":
		return true
	}
	return false
}

func (g *goTestJSON) take(e *goEvent, l Line) {
	if e.Action == "build-output" || e.Action == "build-fail" {
		g.build(e, l)
		return
	}
	p := g.pkg(e.Package, l.No)
	if e.Test == "" {
		switch e.Action {
		case "output":
			g.output(p, nil, e, l)
		case "pass", "fail", "skip":
			p.result = strings.Clone(e.Action)
			p.failedFor = strings.Clone(e.FailedBuild)
			g.finish(p, l.No, true)
		}
		return
	}
	switch e.Action {
	case "run":
		g.lastTest = p.run(e.Test, l.No)
	case "output":
		g.output(p, g.test(p, e.Test, l.No), e, l)
	case "pass", "bench":
		p.end(p.test(e.Test, l.No), Passed, elapsed(e), l.No)
	case "fail":
		p.end(p.test(e.Test, l.No), Failed, elapsed(e), l.No)
	case "skip":
		p.end(p.test(e.Test, l.No), Skipped, elapsed(e), l.No)
	}
}

// pkg returns the open run of a package. The last one is looked at first: most
// lines come in long rows of one package.
func (g *goTestJSON) pkg(name string, at int) *goPackage {
	if p := g.last; p != nil && p.name == name && p.result == "" {
		return p
	}
	p := g.open[name]
	if p == nil {
		name = strings.Clone(name)
		p = newGoPackageOf(&g.used, name, g.lim, at)
		g.open[name] = p
		g.order = append(g.order, name)
	}
	g.last, g.lastTest = p, nil
	return p
}

func (g *goTestJSON) test(p *goPackage, name string, at int) *goTest {
	if t := g.lastTest; t != nil && t.name == name {
		return t
	}
	g.lastTest = p.test(name, at)
	return g.lastTest
}

func elapsed(e *goEvent) time.Duration {
	if e.Elapsed <= 0 || e.Elapsed > 1e8 {
		return 0
	}
	return time.Duration(e.Elapsed * float64(time.Second))
}

// output takes a line of output. Lines that begin in one event and end in
// another stay apart: only the first begins a panic or a place.
func (g *goTestJSON) output(p *goPackage, t *goTest, e *goEvent, l Line) {
	text := g.text
	if t == nil {
		switch {
		case strings.HasSuffix(text, "[build failed]"):
			p.build = true
		case strings.HasSuffix(text, "[setup failed]"):
			p.setup = true
		}
	}
	p.print(t, text, l.No)
}

func (g *goTestJSON) build(e *goEvent, l Line) {
	id := e.ImportPath
	if e.Action == "build-fail" {
		g.failed[strings.Clone(id)] = true
	}
	b := g.builds[id]
	if b == nil {
		if len(g.builds) >= g.lim.Failing {
			return
		}
		id = strings.Clone(id)
		pkg, _, _ := strings.Cut(id, " ")
		b = &goBuild{pkg: strings.TrimSuffix(pkg, ".test"), of: pkg, at: l.No}
		b.text.max = g.lim.Text / 2
		g.builds[id] = b
		g.buildIDs = append(g.buildIDs, id)
	}
	if e.hasOutput && !b.line(g.text, l.No, g.out) {
		if strings.HasPrefix(g.text, "# ") {
			b.text.addLine(g.text)
		} else {
			b.other(g.text)
		}
	}
}

// finish ends the run of a package.
func (g *goTestJSON) finish(p *goPackage, at int, whole bool) {
	delete(g.open, p.name)
	g.last, g.lastTest = nil, nil
	defer g.used.give(p)
	p.settle(whole)
	g.runs.take(p)
	if !whole {
		g.out.Problem(Problem{Kind: KindTruncated, Name: p.name, At: at, Message: "the output ends before package " + p.name + " does"})
	}
	if p.result != "fail" || p.failedTests() > 0 && !p.build && !p.setup {
		return
	}
	kind := KindBuild
	if p.setup {
		kind = KindSetup
	}
	if b := g.builds[p.failedFor]; p.failedFor != "" && b != nil {
		b.close(g.out)
		b.checked = true
		g.out.Problem(b.problem(p.name, kind))
		return
	}
	if p.failedFor != "" {
		p.build = p.build || !p.setup
	}
	g.out.Problem(p.problem(at))
}

func (g *goTestJSON) end() {
	for _, id := range g.buildIDs {
		b := g.builds[id]
		b.close(g.out)
		if g.failed[id] && !b.checked {
			g.out.Problem(b.problem(b.pkg, KindBuild))
		}
	}
	n := 0
	for _, name := range g.order {
		p := g.open[name]
		if p == nil {
			continue
		}
		if n++; n > g.lim.Failing {
			g.out.Cut(fmt.Sprintf("further packages without an end are not listed (limit %d)", g.lim.Failing))
			break
		}
		g.finish(p, p.at, false)
	}
	g.runs.end()
}
