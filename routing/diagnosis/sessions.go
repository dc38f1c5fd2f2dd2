package diagnosis

import (
	"math/bits"
	"strings"

	"github.com/switchback-ci/switchback/routing/internal/testruns"
	"github.com/switchback-ci/switchback/routing/testreport"
)

// sessions follows runs of tests from their first lines to their totals: a run that printed dots
// and no total was not completed, whatever the run before it said. Formats know this of their own
// output where they recognise it; a second run that was cut short gives them too little.
type sessions struct {
	runs    [testruns.MaxRunners]running
	pending uint64 // the runners that began more runs than they completed

	open    testreport.Line // first line of a run of any runner of which no total was printed; No is 0 if there is none
	header  int             // number of the first line behind the last totals by which a runner begins a run that any totals complete
	checks  bool            // a run with check marks before each test ended in a total
	marked  testreport.Line // first line with a check mark behind the last total
	outline outline
	block   int // indentation of an open block of YAML, 0 if there is none
	total   int // number of the last line with totals
}

// running are the runs of one runner that were begun and not completed.
type running struct {
	first testreport.Line
	n     int
}

// openings are how runners begin a run of tests that any totals complete: what else prints these
// lines, or the runner in another mode, prints no totals.
var openings = [...]string{
	"Excluding tests: ", "Excluding tags: ", "Feature: ", "PHPUnit ", "TAP version 1", "Jasmine started", "Starting test execution, please wait", "Running main() from",
	"T E S T S", "lein test ", "welcome to sbt", "-- Testing: ", "Thanks for using JUnit", "bun test v",
}

// openingsBy holds the openings by their first byte.
var openingsBy = func() (of [256][]string) {
	for _, o := range openings {
		of[o[0]] = append(of[o[0]], o)
	}
	return of
}()

func (s *sessions) read(l testreport.Line) {
	if l.Mark != "" && l.Mark != "section" {
		if l.Mark == "error" && l.Text != "" {
			*s = sessions{checks: s.checks, total: s.total, outline: outline{known: s.outline.known}} // the step ended, and says how
		}
		return
	}
	t := l.Text
	if t[0] == '[' {
		t = strings.TrimPrefix(strings.TrimPrefix(t, "[INFO] "), "[info] ")
	}
	indent := 0
	for indent < len(t) && (t[indent] == ' ' || t[indent] == '\t') {
		indent++
	}
	t = t[indent:]
	if t == "" || len(t) > 300 {
		return
	}
	switch {
	case t == "---":
		s.block = indent
	case t == "..." && indent == s.block && indent > 0:
		s.block = 0
		return // it ends the block, and is no progress of three tests
	}
	s.outline.read(l, t, indent)
	waits := s.pending != 0 || s.open.No > 0 || s.marked.No > 0 || s.outline.open()
	if waits && s.completes(l, t) {
		return
	}
	for _, i := range testruns.ByFirst[t[0]] {
		if testruns.All[i].Begins(t) {
			s.begin(int(i), l)
			return
		}
	}
	switch {
	case testruns.CheckMark(t):
		if s.marked.No == 0 {
			s.marked = l
		}
		if s.open.No == 0 && ofTest(t, indent) {
			s.open = l
		}
	case l.Passing && !statusLast(t): // the formats know which runners print totals
	case opens(t, openingsBy[t[0]]):
		if s.header == 0 {
			s.header = l.No
		}
		if s.open.No == 0 {
			s.open = l
		}
	case s.open.No == 0 && progress(t, indent):
		s.open = l
	}
}

// begin notes the first line of a run of runner i.
func (s *sessions) begin(i int, l testreport.Line) {
	r := &s.runs[i]
	if r.n > 0 && testruns.All[i].Once {
		return
	}
	if r.n++; r.n == 1 {
		r.first = l
	}
	s.pending |= 1 << i
}

// completes reads a line that may have the totals of a run that waits for them.
func (s *sessions) completes(l testreport.Line, t string) bool {
	own, since := false, 0
	for m := s.pending; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		if !testruns.All[i].Completes(t) {
			continue
		}
		own, since = true, max(since, s.runs[i].first.No)
		if s.runs[i].n--; s.runs[i].n == 0 {
			s.pending &^= 1 << i
		}
	}
	if !own && !testruns.Sums(t) {
		return false
	}
	const above = 2 // lines between what a runner says first and the line that promises totals in its own words
	if s.header > 0 && (!own || s.header >= since-above) {
		since = s.header - 1
	}
	s.header = 0
	s.total = l.No
	s.checks = s.checks || s.marked.No > 0
	// Totals are of the run that its first line began, if it has one, and of none before it.
	if s.open.No > since {
		s.open = testreport.Line{}
	}
	if s.marked.No > since {
		s.marked = testreport.Line{}
	}
	if s.outline.first.No == 0 || s.outline.first.No > since {
		s.outline.complete(l.No)
	}
	return true
}

// opens reports whether a run of tests begins with t, which may begin as one of openings does.
func opens(t string, openings []string) bool {
	for _, o := range openings {
		if strings.HasPrefix(t, o) {
			return o != "PHPUnit " || testruns.DigitAt(t, len(o))
		}
	}
	switch t[0] {
	case 'R':
		return strings.HasPrefix(t, "Run options: ") && strings.Contains(t, "--seed")
	case 'T':
		return strings.HasPrefix(t, "Testing ") && strings.IndexByte(t[8:], ' ') < 0 && strings.IndexByte(t, '.') > 0
	}
	return strings.HasSuffix(t, "Spec:") && !strings.Contains(t, " ")
}

// ofTest reports whether the check mark that t begins with is that of a test: in a list below the
// name of a suite, or before how long it took. Programs that do something else put a mark before
// what they have done, and Docker a list of containers with what became of them.
func ofTest(t string, indent int) bool {
	_, t, _ = strings.Cut(t, " ")
	if t = strings.TrimSpace(t); t == "" {
		return false
	}
	for _, w := range [...]string{"Container ", "Network ", "Volume ", "Image ", "Service ", "nx run ", "All ", "Compiled ", "Built ", "Test run with"} {
		if strings.HasPrefix(t, w) {
			return false
		}
	}
	return indent > 0 || strings.HasSuffix(t, "ms)") || strings.HasSuffix(t, "(cached)") || strings.HasSuffix(t, "s)") && testruns.DigitAt(t, len(t)-3)
}

// statusLast reports whether t ends in the status of a test: "test_a (m.C) ... ok".
func statusLast(t string) bool {
	i := strings.LastIndex(t, " ... ")
	if i < 0 {
		return false
	}
	if i > 5 && t[i-1] == ')' && strings.HasPrefix(t, "test") {
		return true // of unittest, which prints the status behind what the test prints
	}
	switch strings.ToLower(strings.Trim(t[i+5:], " []")) {
	case "ok", "pass", "passed", "skip", "skipped", "xfail", "expected failure":
		return true
	}
	return strings.HasPrefix(t[i+5:], "skipped ")
}

// progress reports whether t is a line of dots and letters, one for each test: alone, behind the name
// of a file, or before how much is done; or a line that ends in the status of a test.
func progress(t string, indent int) bool {
	if indent > 0 || t[0]|0x20 == 't' {
		if statusLast(t) || strings.HasPrefix(t, "test") && strings.HasSuffix(t, ") ...") {
			return true
		}
	}
	if t[len(t)-1] == '|' && strings.HasSuffix(t, "| PASS |") {
		return true
	}
	if t[0] == 'P' && strings.HasPrefix(t, "PASS ") && (t[len(t)-1] == ')' || strings.HasSuffix(t, ".js") || strings.HasSuffix(t, ".ts") || strings.HasSuffix(t, "x")) && strings.IndexAny(t, "/.(") > 0 {
		return true
	}
	last := t[len(t)-1] // tells most lines that are none of these
	if last == ')' && strings.Contains(t, ": Executed ") && !testruns.ExecutedAll(t[strings.Index(t, ": Executed ")+2:]) {
		return true // of Karma
	}
	if last == ')' && indent > 0 && strings.Contains(t, " (FAILED - ") {
		return true // of RSpec
	}
	if (last >= 0x80 || last == ')') && dotted(t) {
		return true
	}
	const marks = ".,!FEsSxXPUNIWR*"
	if last != ']' && last != ')' && last != ' ' && strings.IndexByte(marks, last) < 0 {
		return false
	}
	if strings.IndexByte(marks, t[0]) < 0 {
		if i := strings.Index(t, ".py "); i > 0 && strings.IndexByte(t[:i], ' ') < 0 {
			t = t[i+4:]
		} else {
			return strings.HasSuffix(strings.TrimRight(t, " "), ".t ..") && strings.IndexByte(t, ' ') > 0
		}
	}
	i, dot := 0, false
	for i < len(t) && strings.IndexByte(marks, t[i]) >= 0 {
		dot = dot || t[i] == '.'
		i++
	}
	rest := strings.TrimLeft(t[i:], " ")
	return dot && (rest == "" || rest[0] == '[' && strings.HasSuffix(rest, "%]") || testruns.DigitAt(rest, 0) && strings.HasSuffix(rest, "%)"))
}

// dots are what stands for a test besides a full stop.
const dots = "․·•⋅∙●◦"

// dotted reports whether t ends in such dots, before which a name may stand and behind which how
// many there are.
func dotted(t string) bool {
	if i := strings.Index(t, "   ("); i > 0 {
		t = t[:i]
	}
	t = strings.TrimRight(t, " ✈")
	if n := len(t); n < 2 || t[n-1] < 0x80 {
		return false
	}
	rest := strings.TrimRight(t, dots)
	if len(rest) == len(t) {
		return false
	}
	rest = strings.TrimRight(rest, dots+" ↷✖✘")
	return rest == "" || rest[len(rest)-1] == ']'
}

// outline follows what runners print in their documentation format: below the name of a group,
// indented, the names of its tests, without any mark.
type outline struct {
	known    bool            // a run printed one right before its totals
	title    testreport.Line // a line that may be the name of a group
	children int             // lines below it
	first    testreport.Line // title of the first outline behind the last totals
	last     int             // number of the last line of an outline
	tail     bool            // all lines since are of outlines
	wide     bool            // one of them is too large for chance
	seen     int             // number of the last line with text
}

func (o *outline) read(l testreport.Line, t string, indent int) {
	apart := l.No > o.seen+1 // behind an empty line
	o.seen = l.No
	switch {
	case indent == 0:
		o.children, o.title = 0, testreport.Line{}
		if apart && nameLike(t) {
			o.title = l
		}
		if o.tail && o.title.No == 0 {
			o.tail = false
		}
	case o.title.No == 0 || o.children == 0 && (indent != 2 || apart) || !nameLike(t):
		o.title, o.tail = testreport.Line{}, false
	default:
		o.children++
		if o.first.No == 0 {
			o.first = o.title
		}
		if !o.tail {
			o.tail, o.wide = true, false
		}
		o.wide = o.wide || o.children > 1
		o.last = l.No
	}
}

// open reports whether an outline waits for totals.
func (o *outline) open() bool { return o.first.No > 0 }

// complete notes totals in line no.
func (o *outline) complete(no int) {
	const between = 6 // lines between the last test and the totals: how long the run took
	o.known = o.known || o.last > 0 && no-o.last <= between
	o.first, o.title, o.children, o.tail, o.wide, o.last = testreport.Line{}, testreport.Line{}, 0, false, false, 0
}

// unfinished reports whether the outlines behind the last totals are those of a run of tests: of a
// kind that was completed before, or the last words of the log.
func (o *outline) unfinished() bool { return o.first.No > 0 && (o.known || o.tail && o.wide) }

// nameLike reports whether t may be the name of a test or of a group: words.
func nameLike(t string) bool {
	c := t[0]
	if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '#' || c == '.' || c == '\'' || c == '"') || len(t) > 120 {
		return false
	}
	switch t[len(t)-1] {
	case '.', ':', ',', ';', '!', '%', '{', '}':
		return false
	}
	return !strings.ContainsAny(t, "\t|=<>[]{}\\") && !strings.Contains(t, "  ") && !strings.Contains(t, ": ") && !strings.Contains(t, "://")
}

// unfinished returns the first line of a run of tests that was not completed.
func (s *sessions) unfinished() (testreport.Line, bool) {
	switch {
	case s.pending != 0:
		return s.runs[bits.TrailingZeros64(s.pending)].first, true
	case s.open.No > 0:
		return s.open, true
	case s.marked.No > 0 && s.checks:
		return s.marked, true
	case s.outline.unfinished():
		return s.outline.first, true
	}
	return testreport.Line{}, false
}
