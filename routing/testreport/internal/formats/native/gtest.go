package native

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// gtestFormat reads the console of GoogleTest.
var gtestFormat = format.Format{
	Name:  "gtest",
	Order: 670,
	Wakes: &format.Wake{Flush: format.Digits + "[R", Ends: "eTS)"},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		return &gtestConsole{out: out, lim: lim, anon: model.NewAnonymous(lim)}
	},
}

// gtestConsole reads one test program after the other. Sharded runs and ctest
// put "12: " before each line.
type gtestConsole struct {
	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous // the passing tests of a brief run

	open     bool
	at       int
	declared int // tests to run
	ran      int
	failed   map[string]bool   // names that were handed on as failed
	cur      *failtext.Failure // the test that runs
	summary  int               // failing tests the end states; -1 before it
	suites   []string          // that failed as a whole
	totals   bool              // "[==========] 3 tests … ran."
	brief    bool              // only failures are shown
	main     bool              // "Running main() from", by which a program begins
	waiting  []model.Test      // failures of a brief run, until the totals say whether a test printed them
	totalAt  int               // line of the totals
	ended    int               // tests that ran, as the totals say, -1 before them
	shares   int               // of them, those that passed or were skipped
	pre      *bounded.Block    // text of a failure that no RUN line announced
	outside  []*bounded.Block  // failures between tests: of a suite, or of an environment
}

func (g *gtestConsole) Idle() bool {
	return !g.open && !g.main && g.cur == nil && g.pre == nil
}

func (g *gtestConsole) Line(l lines.Line) bool {
	if l.Mark != "" {
		if lines.StepOver(l) {
			g.End()
		}
		return false
	}
	g.at = l.No
	t := l.Text
	if len(t) > 3 && t[0] >= '0' && t[0] <= '9' {
		if n, rest, ok := parse.LeadingInt(t); ok && n < 1<<20 && strings.HasPrefix(rest, ": ") {
			t = rest[2:] // ctest -V
		}
	}
	if strings.HasPrefix(t, "Running main() from ") && (g.cur == nil || g.totals) {
		g.End()
		g.pre, g.main = nil, true
		return false
	}
	if len(t) < 12 || t[0] != '[' || t[11] != ']' {
		return g.text(t)
	}
	tag, rest := t[1:11], strings.TrimPrefix(t[12:], " ")
	if g.printed(tag, rest) {
		return g.text(t)
	}
	switch tag {
	case "==========":
		return g.head(rest)
	case "----------":
		return g.open
	case " RUN      ":
		if !g.open && !strings.Contains(rest, ".") {
			return false
		}
		g.begin()
		g.crash("the test program went on without ending the test")
		g.between()
		g.cur = failtext.NewFailure(model.Test{Suite: gtestSuite(rest), Name: gtestName(rest), Status: model.Failed, At: l.No}, g.lim)
		return true
	case "       OK ":
		return g.result(model.Passed, rest)
	case "  FAILED  ":
		return g.failure(rest)
	case "  SKIPPED ":
		if g.open && g.totals {
			g.share(model.Skipped, rest)
		}
		return g.result(model.Skipped, rest)
	case "  PASSED  ":
		if g.open {
			g.totals = true
			g.share(model.Passed, rest)
		}
		return g.open
	}
	return false
}

// printed reports whether a line with a tag is what the running test prints:
// it ends another test, or the program with other totals.
func (g *gtestConsole) printed(tag, rest string) bool {
	if g.cur == nil || g.declared < 0 {
		return false
	}
	switch tag {
	case "  FAILED  ", "       OK ", "  SKIPPED ":
		name, _ := cutMillis(rest)
		return gtestName(name) != g.cur.Test.Name || gtestSuite(name) != g.cur.Test.Suite
	case "  PASSED  ":
		return true
	case "==========":
		n, more, ok := parse.LeadingInt(rest)
		return ok && strings.Contains(more, " ran.") && n != g.declared
	}
	return false
}

func (g *gtestConsole) begin() {
	if !g.open {
		g.open, g.failed, g.summary, g.declared, g.ended = true, map[string]bool{}, -1, -1, -1
	}
}

// head reads "Running 3 tests from 1 test suite." and "3 tests from 1 test suite ran.".
func (g *gtestConsole) head(rest string) bool {
	if after, ok := strings.CutPrefix(rest, "Running "); ok {
		n, more, ok := parse.LeadingInt(after)
		if !ok || !strings.HasPrefix(more, " test") {
			return false
		}
		g.End()
		g.pre = nil
		g.begin()
		g.declared = n
		return true
	}
	if !g.open && strings.Contains(rest, " ran. (") {
		g.begin()
		g.brief = true
	}
	if g.open && strings.Contains(rest, " ran.") {
		g.crash("")
		g.between()
		g.totals, g.totalAt = true, g.at
		if n, _, ok := parse.LeadingInt(rest); ok {
			g.ended = n
		}
		return true
	}
	return false
}

func gtestSuite(s string) string {
	s, _, _ = strings.Cut(s, ", where ")
	i := gtestDot(s)
	if i < 0 {
		return ""
	}
	return s[:i]
}

func gtestName(s string) string {
	s, _, _ = strings.Cut(s, ", where ")
	return s[gtestDot(s)+1:]
}

// gtestDot finds the dot between suite and test; names have none.
func gtestDot(s string) int { return strings.IndexByte(s, '.') }

// cutMillis cuts " (12 ms)" off.
func cutMillis(s string) (string, float64) {
	if !strings.HasSuffix(s, " ms)") {
		return s, 0
	}
	i := strings.LastIndex(s, " (")
	if i < 0 {
		return s, 0
	}
	n, _, _ := parse.LeadingInt(s[i+2:])
	return s[:i], float64(n) / 1000
}

func (g *gtestConsole) result(s model.Status, rest string) bool {
	if !g.open || g.totals {
		return g.open
	}
	name, secs := cutMillis(rest)
	t := model.Test{Suite: gtestSuite(name), Name: gtestName(name), Status: s, Duration: parse.Seconds(fmt.Sprint(secs)), At: g.at}
	if s == model.Skipped && g.cur != nil {
		t.Message = parse.HeadLine(strings.TrimSpace(g.cur.Text.String()))
	}
	g.cur = nil
	g.ran++
	g.out.Test(t)
	return true
}

// failure reads the end of a failing test, the heading of the list of them,
// and its entries.
func (g *gtestConsole) failure(rest string) bool {
	if n, more, ok := parse.LeadingInt(rest); ok && strings.HasPrefix(more, " test") && strings.Contains(more, "listed below:") {
		if !g.open {
			return false
		}
		g.totals = true
		g.summary = n
		return true
	}
	name, _ := cutMillis(rest)
	if !g.open && name != rest && strings.Contains(name, ".") {
		g.begin()
		g.brief = true
	}
	if !g.open {
		return false
	}
	full := gtestSuite(name) + "." + gtestName(name)
	if g.totals {
		if suite, ok := strings.CutSuffix(rest, ": SetUpTestSuite or TearDownTestSuite"); ok && len(g.suites) < g.lim.Failing {
			g.suites = append(g.suites, suite)
			g.outsideProblem(strings.Clone(suite), "SetUpTestSuite or TearDownTestSuite failed")
			return true
		}
		if strings.Contains(rest, ".") && !g.failed[full] && len(g.failed) < g.lim.Failing {
			g.emit(failtext.NewFailure(model.Test{Suite: gtestSuite(name), Name: gtestName(name), Status: model.Failed, At: g.at}, g.lim), full)
		}
		return true
	}
	f := g.cur
	if f == nil || f.Test.Name != gtestName(name) || f.Test.Suite != gtestSuite(name) {
		if !strings.Contains(name, ".") || strings.Contains(name, " ") && !strings.Contains(name, ", where ") {
			return true // a suite's line
		}
		f = failtext.NewFailure(model.Test{Suite: gtestSuite(name), Name: gtestName(name), Status: model.Failed, At: g.at}, g.lim)
		if g.pre != nil {
			f.Says(g.pre)
		}
	}
	g.pre = nil
	f.Test.At = g.at
	_, secs := cutMillis(rest)
	f.Test.Duration = parse.Seconds(fmt.Sprint(secs))
	if _, param, ok := strings.Cut(name, ", where "); ok {
		f.Text.Add(param)
	}
	g.emit(f, full)
	g.cur = nil
	return true
}

func (g *gtestConsole) emit(f *failtext.Failure, full string) {
	if len(g.failed) < g.lim.Failing {
		g.failed[strings.Clone(full)] = true
	}
	g.ran++
	explainCpp(&f.Test, f.Text.String())
	if g.brief && g.main && !g.totals {
		g.waiting = append(g.waiting, f.Test) // as bounded as the names
		return
	}
	g.out.Test(f.Test)
}

// settle hands on the failures of a brief run, unless its totals count none: then a test printed
// them. What failed and was no test's failed outside of them, and the totals do not count it.
func (g *gtestConsole) settle() {
	if !g.brief {
		return
	}
	none := g.ended >= 0 && g.shares >= g.ended
	if !none {
		for _, t := range g.waiting {
			g.out.Test(t)
		}
	} else if len(g.waiting) > 0 {
		g.ran, g.failed, g.waiting = 0, nil, nil
	}
	if len(g.failed) > 0 {
		return
	}
	for _, b := range g.outside {
		for _, text := range gtestFailures(b.String()) {
			p := model.Problem{Kind: model.KindSetup, Name: "gtest", Message: "a failure outside of tests", At: g.totalAt}
			var t model.Test
			explainCpp(&t, text)
			p.File, p.Line, p.Message, p.Trace = t.File, t.Line, parse.FirstOf(t.Message, p.Message), t.Trace
			g.out.Problem(p)
		}
	}
}

// gtestFailures splits what stands between two results into failures, without tests that were skipped.
func gtestFailures(text string) []string {
	var all []string
	in := false
	for l := range strings.Lines(text) {
		switch s := strings.TrimRight(l, "\r\n"); {
		case strings.HasSuffix(s, ": Failure"):
			all, in = append(all, l), true
		case strings.HasSuffix(s, ": Skipped"):
			in = false
		case in:
			all[len(all)-1] += l
		}
	}
	return all
}

// between keeps a failure that stands between two tests, until the end says whose it is.
func (g *gtestConsole) between() {
	if g.pre != nil && len(g.outside) < 100 {
		g.outside = append(g.outside, g.pre)
	}
	g.pre = nil
}

// outsideProblem reports what failed outside of tests with the first failure that was read there.
func (g *gtestConsole) outsideProblem(name, message string) {
	p := model.Problem{Kind: model.KindSetup, Name: name, Message: message, At: g.at}
	if len(g.outside) > 0 {
		var t model.Test
		explainCpp(&t, g.outside[0].String())
		g.outside = g.outside[1:]
		p.File, p.Line, p.Message, p.Trace = t.File, t.Line, parse.FirstOf(t.Message, message), t.Trace
	}
	g.out.Problem(p)
}

// explainCpp fills in what the text of a failure in a C++ test says.
func explainCpp(t *model.Test, text string) {
	text = strings.TrimSpace(text)
	t.Trace = text
	text = strings.TrimPrefix(text, "unknown file: Failure\n")
	first, rest, _ := strings.Cut(text, "\n")
	if i := strings.Index(text, ": Failure\n"); i >= 0 { // what the test printed stands before it
		j := strings.LastIndexByte(text[:i], '\n') + 1
		if file, line, _, ok := parse.Location(text[j:i]); ok {
			t.File, t.Line = file, line
		}
		first = text[i+len(": Failure\n"):]
		rest = ""
		if k := strings.Index(first, ": Failure\n"); k >= 0 {
			first = first[:strings.LastIndexByte(first[:k], '\n')+1]
		}
		t.Message = strings.TrimSpace(first)
	} else if i := strings.Index(text, ": error: "); i > 0 && !strings.Contains(text[:i], "\n") || strings.Contains(first, "): error: ") {
		// MSVC: file(12): error: text
		place, msg, _ := strings.Cut(first, ": error: ")
		if file, line, _, ok := parse.Location(strings.TrimSuffix(strings.Replace(place, "(", ":", 1), ")")); ok {
			t.File, t.Line = file, line
		}
		t.Message = strings.TrimSpace(msg + "\n" + rest)
	}
	if t.Message == "" && strings.HasPrefix(first, "C++ exception with description \"") {
		if i := strings.Index(text, "\" thrown in "); i >= 0 {
			t.Message = text[:i+len(parse.HeadLine(text[i:]))]
		}
	}
	t.Message = parse.FirstOf(t.Message, first)
	if t.Line == 0 {
		t.File, t.Line = failtext.PlaceIn(text, "", "")
	}
	switch {
	case strings.Contains(text, "C++ exception with description") || strings.Contains(text, "unknown file: Failure") || strings.Contains(text, "Unknown C++ exception"):
		t.Kind = cmp.Or(t.Kind, model.KindError)
	default:
		t.Kind = cmp.Or(t.Kind, model.KindAssertion)
	}
	if e, a, ok := failtext.SplitAssertion(t.Message); ok {
		t.Expected, t.Actual = e, a
	}
}

// share reads "3 tests." and "2 tests, listed below:" behind the totals. Nothing else counts the
// tests of a brief run.
func (g *gtestConsole) share(s model.Status, rest string) {
	n, rest, ok := parse.LeadingInt(rest)
	exact := rest == " test." || rest == " tests."
	if !ok || !exact && !strings.HasSuffix(rest, ", listed below:") {
		return
	}
	g.shares += n
	if g.brief && exact {
		g.anon.Emit(g.out, n, model.Test{Status: s, At: g.at})
	}
}

func (g *gtestConsole) text(t string) bool {
	if g.cur == nil && len(t) > 9 && t[len(t)-1] == 'e' && strings.HasSuffix(t, ": Failure") && (g.pre == nil || g.brief) {
		if g.pre != nil { // printed by a test, or one more failure of the same test
			g.pre.Add(t)
			return false
		}
		g.pre = &bounded.Block{Max: g.lim.Text / 2}
	}
	if g.pre != nil && g.cur == nil {
		g.pre.Add(t)
	}
	if g.open && g.cur != nil {
		// What a test prints without an end of line stands before its result.
		if i := strings.Index(t, "[       OK ] "); i > 0 && t[len(t)-1] == ')' {
			if name, _ := cutMillis(t[i+len("[       OK ] "):]); gtestName(name) == g.cur.Test.Name && gtestSuite(name) == g.cur.Test.Suite {
				return g.result(model.Passed, t[i+len("[       OK ] "):])
			}
		}
		if i := strings.Index(t, "[  FAILED  ] "); i > 0 && t[len(t)-1] == ')' {
			if name, _ := cutMillis(t[i+len("[  FAILED  ] "):]); gtestName(name) == g.cur.Test.Name && gtestSuite(name) == g.cur.Test.Suite {
				g.cur.Text.Add(t[:i])
				return g.failure(t[i+len("[  FAILED  ] "):])
			}
		}
		g.cur.Text.Add(t)
		return false
	}
	if i := strings.Index(t, "[==========] "); i > 0 && strings.HasSuffix(t, " ms total)") && strings.Contains(t[i:], " ran. (") {
		return g.head(t[i+len("[==========] "):]) // behind what a test prints without an end of line
	}
	if g.open && g.totals && strings.HasSuffix(t, "FAILED TEST") || strings.HasSuffix(t, "FAILED TESTS") {
		return g.open
	}
	return false
}

// crash ends a test that began and did not end.
func (g *gtestConsole) crash(why string) {
	f := g.cur
	if f == nil {
		return
	}
	g.cur = nil
	if why == "" {
		return
	}
	explainCpp(&f.Test, f.Text.String())
	f.Test.Kind = model.KindCrash
	f.Test.Message = parse.FirstOf(f.Test.Message, why)
	g.failed[f.Test.Suite+"."+f.Test.Name] = true
	g.ran++
	g.out.Test(f.Test)
}

func (g *gtestConsole) End() {
	if !g.open {
		return
	}
	crashed := g.cur != nil
	g.crash("the test program ended while the test ran")
	g.settle()
	for g.summary >= 0 && len(g.outside) > 0 {
		g.outsideProblem("gtest", "a failure outside of tests")
	}
	switch {
	case g.summary > len(g.failed):
		failtext.Unnamed(g.out, "gtest", g.summary, len(g.failed), g.at)
	case !g.totals:
		k := model.KindTruncated
		if crashed {
			k = model.KindCrash
		}
		g.out.Problem(model.Problem{Kind: k, At: g.at, Message: "the output of the test program ends before its totals"})
	case g.ended < 0 || len(g.failed) > 0 || len(g.suites) > 0:
	case g.declared > g.ended:
		failtext.RanFewer(g.out, "gtest", g.at, g.ended, g.declared)
	default:
		failtext.RanFewer(g.out, "gtest", g.at, g.shares, g.ended)
	}
	*g = gtestConsole{out: g.out, lim: g.lim, anon: g.anon}
}
