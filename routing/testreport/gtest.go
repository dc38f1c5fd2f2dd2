package testreport

import (
	"fmt"
	"strings"
)

// gtestFormat reads the console of GoogleTest.
var gtestFormat = format{
	name:  "gtest",
	order: 670,
	wakes: &wake{flush: digits + "[", ends: "eTS"},
	console: func(out Sink, lim Limits) console {
		return &gtestConsole{out: out, lim: lim, anon: newAnonymous()}
	},
}

// gtestConsole reads one test program after the other. Sharded runs and ctest
// put "12: " before each line.
type gtestConsole struct {
	out  Sink
	lim  Limits
	anon *anonymous // the passing tests of a brief run

	open     bool
	at       int
	declared int // tests to run
	ran      int
	failed   map[string]bool // names that were handed on as failed
	cur      *failure        // the test that runs
	summary  int             // failing tests the end states; -1 before it
	suites   []string        // that failed as a whole
	totals   bool            // "[==========] 3 tests … ran."
	brief    bool            // only failures are shown
	ended    int             // tests that ran, as the totals say, -1 before them
	shares   int             // of them, those that passed or were skipped
	pre      *kept           // text of a failure that no RUN line announced
}

func (g *gtestConsole) idle() bool {
	return !g.open && g.cur == nil && g.pre == nil
}

func (g *gtestConsole) line(l Line) bool {
	if l.Mark != "" {
		if stepOver(l) {
			g.end()
		}
		return false
	}
	g.at = l.No
	t := l.Text
	if len(t) > 3 && t[0] >= '0' && t[0] <= '9' {
		if n, rest, ok := leadingInt(t); ok && n < 1<<20 && strings.HasPrefix(rest, ": ") {
			t = rest[2:] // ctest -V
		}
	}
	if len(t) < 12 || t[0] != '[' || t[11] != ']' {
		return g.text(t)
	}
	tag, rest := t[1:11], strings.TrimPrefix(t[12:], " ")
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
		g.cur = newFailure(Test{Suite: gtestSuite(rest), Name: gtestName(rest), Status: Failed, At: l.No}, g.lim)
		return true
	case "       OK ":
		return g.result(Passed, rest)
	case "  FAILED  ":
		return g.failure(rest)
	case "  SKIPPED ":
		if g.open && g.totals {
			g.share(rest)
			if g.brief {
				g.counted(Skipped, rest)
			}
		}
		return g.result(Skipped, rest)
	case "  PASSED  ":
		if g.open {
			g.totals = true
			g.share(rest)
			if g.brief {
				g.counted(Passed, rest)
			}
		}
		return g.open
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
		n, more, ok := leadingInt(after)
		if !ok || !strings.HasPrefix(more, " test") {
			return false
		}
		g.end()
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
		g.totals = true
		if n, _, ok := leadingInt(rest); ok {
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
	n, _, _ := leadingInt(s[i+2:])
	return s[:i], float64(n) / 1000
}

func (g *gtestConsole) result(s Status, rest string) bool {
	if !g.open || g.totals {
		return g.open
	}
	name, secs := cutMillis(rest)
	t := Test{Suite: gtestSuite(name), Name: gtestName(name), Status: s, Duration: seconds(fmt.Sprint(secs)), At: g.at}
	if s == Skipped && g.cur != nil {
		t.Message = headLine(strings.TrimSpace(g.cur.text.String()))
	}
	g.cur = nil
	g.ran++
	g.out.Test(t)
	return true
}

// failure reads the end of a failing test, the heading of the list of them,
// and its entries.
func (g *gtestConsole) failure(rest string) bool {
	if n, more, ok := leadingInt(rest); ok && strings.HasPrefix(more, " test") && strings.Contains(more, "listed below:") {
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
			g.out.Problem(Problem{Kind: KindSetup, Name: strings.Clone(suite), Message: "SetUpTestSuite or TearDownTestSuite failed", At: g.at})
			return true
		}
		if strings.Contains(rest, ".") && !g.failed[full] && len(g.failed) < g.lim.Failing {
			g.emit(newFailure(Test{Suite: gtestSuite(name), Name: gtestName(name), Status: Failed, At: g.at}, g.lim), full)
		}
		return true
	}
	f := g.cur
	if f == nil || f.t.Name != gtestName(name) || f.t.Suite != gtestSuite(name) {
		if !strings.Contains(name, ".") || strings.Contains(name, " ") && !strings.Contains(name, ", where ") {
			return true // a suite's line
		}
		f = newFailure(Test{Suite: gtestSuite(name), Name: gtestName(name), Status: Failed, At: g.at}, g.lim)
		if g.pre != nil {
			f.says(g.pre)
		}
	}
	g.pre = nil
	f.t.At = g.at
	_, secs := cutMillis(rest)
	f.t.Duration = seconds(fmt.Sprint(secs))
	if _, param, ok := strings.Cut(name, ", where "); ok {
		f.text.add(param)
	}
	g.emit(f, full)
	g.cur = nil
	return true
}

func (g *gtestConsole) emit(f *failure, full string) {
	if len(g.failed) < g.lim.Failing {
		g.failed[strings.Clone(full)] = true
	}
	g.ran++
	explainCpp(&f.t, f.text.String())
	g.out.Test(f.t)
}

// explainCpp fills in what the text of a failure in a C++ test says.
func explainCpp(t *Test, text string) {
	text = strings.TrimSpace(text)
	t.Trace = text
	first, rest, _ := strings.Cut(text, "\n")
	if i := strings.Index(text, ": Failure\n"); i >= 0 { // what the test printed stands before it
		j := strings.LastIndexByte(text[:i], '\n') + 1
		if file, line, _, ok := location(text[j:i]); ok {
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
		if file, line, _, ok := location(strings.TrimSuffix(strings.Replace(place, "(", ":", 1), ")")); ok {
			t.File, t.Line = file, line
		}
		t.Message = strings.TrimSpace(msg + "\n" + rest)
	}
	t.Message = firstOf(t.Message, first)
	if t.Line == 0 {
		t.File, t.Line = placeIn(text, "", "")
	}
	switch {
	case strings.Contains(text, "C++ exception with description") || strings.Contains(text, "unknown file: Failure") || strings.Contains(text, "Unknown C++ exception"):
		t.Kind = firstKind(t.Kind, KindError)
	default:
		t.Kind = firstKind(t.Kind, KindAssertion)
	}
	if e, a, ok := splitAssertion(t.Message); ok {
		t.Expected, t.Actual = e, a
	}
}

// share reads "3 tests." and "2 tests, listed below:" behind the totals.
func (g *gtestConsole) share(rest string) {
	if n, rest, ok := leadingInt(rest); ok && (rest == " test." || rest == " tests." || strings.HasSuffix(rest, ", listed below:")) {
		g.shares += n
	}
}

// counted hands on what the end of a brief run counts: "3 tests."
func (g *gtestConsole) counted(s Status, rest string) {
	n, rest, ok := leadingInt(rest)
	if ok && (rest == " test." || rest == " tests.") {
		g.anon.emit(g.out, n, Test{Status: s, At: g.at})
	}
}

func (g *gtestConsole) text(t string) bool {
	if g.cur == nil && len(t) > 9 && t[len(t)-1] == 'e' && strings.HasSuffix(t, ": Failure") && g.pre == nil {
		g.pre = &kept{max: g.lim.Text / 2}
	}
	if g.pre != nil && g.cur == nil {
		g.pre.add(t)
	}
	if g.open && g.cur != nil {
		g.cur.text.add(t)
		return false
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
	explainCpp(&f.t, f.text.String())
	f.t.Kind = KindCrash
	f.t.Message = firstOf(f.t.Message, why)
	g.failed[f.t.Suite+"."+f.t.Name] = true
	g.ran++
	g.out.Test(f.t)
}

func (g *gtestConsole) end() {
	if !g.open {
		return
	}
	crashed := g.cur != nil
	g.crash("the test program ended while the test ran")
	switch {
	case g.summary > len(g.failed):
		g.out.Problem(Problem{Kind: KindPackage, Name: "gtest", At: g.at, Message: fmt.Sprintf("%d failing test(s) stated, %d named", g.summary, len(g.failed))})
	case !g.totals:
		k := KindTruncated
		if crashed {
			k = KindCrash
		}
		g.out.Problem(Problem{Kind: k, At: g.at, Message: "the output of the test program ends before its totals"})
	case g.ended < 0 || len(g.failed) > 0 || len(g.suites) > 0:
	case g.declared > g.ended:
		ranFewer(g.out, "gtest", g.at, g.ended, g.declared)
	default:
		ranFewer(g.out, "gtest", g.at, g.shares, g.ended)
	}
	*g = gtestConsole{out: g.out, lim: g.lim, anon: g.anon}
}
