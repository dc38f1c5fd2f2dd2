package golang

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// goPlace is what testing prints before a log or error: file, line, text.
var goPlace = lazyregexp.New(`(?m)^\s*([^\s:]+\.go):(\d+): ?(.*)$`)

// goFailureWord tells an error from a log where both are printed alike.
var goFailureWord = lazyregexp.New(`(?i)\b(?:got|want|expected|unexpected|fail(?:ed|ure|s)?|errors?|mismatch|invalid|cannot|can't|couldn't|should|must|not|wrong|differ|timed? ?out|panic|assertion)\b`)

// goTestOf makes a Test of what is known of t at the end of its package.
func (p *goPackage) goTestOf(t *goTest) model.Test {
	r := model.Test{Name: t.name, Suite: p.name, Status: t.status, Duration: t.dur, At: t.at, Kind: t.kind}
	switch t.status {
	case model.Failed:
		p.explain(t, &r)
	case model.Skipped:
		if m := goPlace.FindAllStringSubmatch(t.out.String(), -1); len(m) > 0 {
			r.Message = m[len(m)-1][3]
		}
	case model.Other:
		r.Message = t.message
	}
	return r
}

func (p *goPackage) explain(t *goTest, r *model.Test) {
	out := strings.TrimRight(t.out.String(), "\n ")
	r.Trace = parse.Dedent(out)
	if t.panicked && (p.crashAt > 0) {
		crash := strings.TrimSpace(p.crash.String())
		if !strings.Contains(out, parse.FirstLine(crash)) {
			r.Trace = strings.TrimSpace(r.Trace + "\n" + crash)
		}
		r.Message = strings.TrimSuffix(strings.TrimSuffix(parse.FirstLine(crash), " [recovered, repanicked]"), " [recovered]")
		r.File, r.Line = crashPlace(crash)
		if r.Kind == "" {
			r.Kind = model.KindCrash
		}
		if p.timedOut {
			r.File, r.Line = hangPlace(crash, t.name)
		}
		r.Type = "panic"
		return
	}
	if strings.Contains(out, "race detected during execution of test") {
		r.Kind, r.Message = model.KindRace, "race detected during execution of test"
		_, race, ok := strings.Cut(out, "WARNING: DATA RACE")
		if !ok { // without -v it is printed before the test's own lines
			race = p.raceText.String()
			r.Trace = strings.TrimSpace(r.Trace + "\n" + race)
		}
		r.File, r.Line = crashPlace(race)
		return
	}
	if testify(out, r) {
		r.Kind = cmp.Or(r.Kind, model.KindAssertion)
		return
	}
	if goMessage(out, r) {
		// go test does not tell an expectation from an error that t.Fatal
		// prints; only two sides that were compared make it one.
		if r.Expected != "" || r.Actual != "" {
			r.Kind = cmp.Or(r.Kind, model.KindAssertion)
		} else {
			r.Kind = cmp.Or(r.Kind, model.KindError)
		}
		return
	}
	switch {
	case t.message != "":
		r.Message = t.message
	case t.parent:
		r.Message = "a subtest failed"
	case exampleSides(out, r):
	default:
		r.Message = parse.FirstOf(failtext.LastWords(out), "the test failed and says nothing")
	}
}

// exampleSides takes what an example printed and should have: "got:", lines, "want:", lines.
func exampleSides(out string, r *model.Test) bool {
	_, rest, ok := strings.Cut("\n"+out, "\ngot:\n")
	got, want, both := strings.Cut(rest, "\nwant:\n")
	if !ok || !both {
		return false
	}
	var lines []string
	for _, l := range strings.Split(want, "\n") {
		if l == "" || l == "FAIL" || strings.HasPrefix(l, "FAIL\t") || strings.HasPrefix(l, "exit status ") {
			break
		}
		lines = append(lines, l)
	}
	r.Kind, r.Actual, r.Expected = model.KindAssertion, strings.TrimSpace(got), strings.TrimSpace(strings.Join(lines, "\n"))
	r.Message = "got:\n" + r.Actual + "\nwant:\n" + r.Expected
	return true
}

// goMessage finds the error among what a test logged, for errors and logs look
// alike: the first that states two sides, else the last whose text reads like
// a failure, else the last.
func goMessage(out string, r *model.Test) bool {
	all := goPlace.FindAllStringSubmatchIndex(out, -1)
	if len(all) == 0 {
		return false
	}
	pick, text, rank := -1, "", 0
	for i := range all {
		if i >= 20 && len(all)-i > 20 {
			continue
		}
		end := len(out)
		if i+1 < len(all) {
			end = all[i+1][0]
		}
		msg := continued(out[all[i][0]:all[i][1]], out[all[i][6]:end])
		_, _, sides := failtext.SplitAssertion(msg)
		switch {
		case sides && rank < 3:
			pick, text, rank = i, msg, 3
		case !sides && rank <= 2 && goFailureWord.MatchString(msg):
			pick, text, rank = i, msg, 2
		case rank <= 1:
			pick, text, rank = i, msg, 1
		}
	}
	m := all[pick]
	r.File = out[m[2]:m[3]]
	r.Line, _ = strconv.Atoi(out[m[4]:m[5]])
	r.Message = text
	if e, a, ok := failtext.SplitAssertion(text); ok {
		r.Expected, r.Actual = e, a
	}
	return true
}

// continued returns the text of a log line with the lines below it that are
// indented further, without their indentation.
func continued(first, text string) string {
	indent := len(first) - len(strings.TrimLeft(first, " \t\n")) + 1
	lines := strings.Split(text, "\n")
	n := 1
	for n < len(lines) && n < 200 {
		l := lines[n]
		if strings.TrimSpace(l) != "" && len(l)-len(strings.TrimLeft(l, " \t")) < indent {
			break
		}
		lines[n] = strings.TrimPrefix(l, strings.Repeat(" ", min(indent+3, len(l)-len(strings.TrimLeft(l, " ")))))
		n++
	}
	return strings.TrimSpace(strings.Join(lines[:n], "\n"))
}

var testifyLabel = lazyregexp.New(`^\s*(Error Trace|Error|Test|Messages):\s*(.*)$`)

// testify reads the block that testify prints.
func testify(out string, r *model.Test) bool {
	i := strings.Index(out, "Error Trace:")
	if i < 0 {
		return false
	}
	var label string
	parts := map[string][]string{}
	for _, l := range strings.Split(out[i:], "\n") {
		if m := testifyLabel.FindStringSubmatch(l); m != nil {
			if m[1] == "Error Trace" && len(parts["Error"]) > 0 {
				break // the next block
			}
			label = m[1]
			parts[label] = append(parts[label], m[2])
			continue
		}
		if goPlace.MatchString(l) || !strings.HasPrefix(l, " ") && !strings.HasPrefix(l, "\t") {
			break
		}
		parts[label] = append(parts[label], strings.TrimPrefix(strings.TrimLeft(l, " "), "\t"))
	}
	for i, l := range parts["Error"] {
		parts["Error"][i] = strings.TrimSpace(l)
	}
	msg := strings.TrimSpace(strings.Join(parts["Error"], "\n"))
	if e, a, ok := failtext.SplitAssertion(msg); ok {
		r.Expected, r.Actual = e, a
	}
	if m := strings.TrimSpace(strings.Join(parts["Messages"], "\n")); m != "" {
		msg += "\n" + m
	}
	r.Message = msg
	for _, l := range parts["Error Trace"] {
		s := strings.TrimSpace(l)
		if i := strings.LastIndexByte(s, ':'); i > 0 && strings.HasSuffix(s[:i], ".go") {
			n, err := strconv.Atoi(s[i+1:])
			if err == nil && (r.File == "" || strings.HasSuffix(s[:i], "_test.go") && !strings.HasSuffix(r.File, "_test.go")) {
				r.File, r.Line = s[:i], n
			}
		}
	}
	return msg != ""
}

// crashPlace returns the innermost place of a stack that is neither Go's own
// nor the testing package's.
func crashPlace(stack string) (string, int) {
	for len(stack) > 0 {
		var l string
		l, stack, _ = strings.Cut(stack, "\n")
		m := failtext.GoFrame.FindStringSubmatch(l)
		if m == nil || isGoRoot(m[1]) {
			continue
		}
		n, _ := strconv.Atoi(m[2])
		return m[1], n
	}
	return "", 0
}

// hangPlace returns where the named test hangs: the innermost place of the
// goroutine in which it stands.
func hangPlace(stack, test string) (string, int) {
	root, _, _ := strings.Cut(test, "/")
	for _, g := range strings.Split(stack, "\n\n") {
		if strings.Contains(g, "."+root+"(") || strings.Contains(g, "."+root+".") {
			if f, l := crashPlace(g); f != "" {
				return f, l
			}
		}
	}
	return "", 0
}

func isGoRoot(file string) bool {
	return strings.Contains(file, "/src/testing/") || strings.HasPrefix(file, "src/testing/") || strings.Contains(file, "/src/runtime/") || strings.HasPrefix(file, "src/runtime/") ||
		strings.Contains(file, "/go/src/") && !strings.Contains(file, "/go/src/github.com/") && !strings.Contains(file, ".org/") && !strings.Contains(file, "_test.go") ||
		strings.HasPrefix(file, "_testmain.go") || strings.Contains(file, "/lib/go/src/") || strings.Contains(file, "/libexec/src/")
}

// frameOf finds a test in a line of a stack.
var frameOf = lazyregexp.New(`\.((?:Test|Benchmark|Fuzz|Example)\w*)(?:\.|\(| in goroutine|$)`)

// goStacks reads the stacks that a dying process prints, line by line, for the
// tests in them.
type goStacks struct {
	goroutine int      // how many began
	test      string   // innermost test of the present one
	parked    bool     // it waits for its turn or its subtests
	dying     []string // tests of the first one, which died
	working   []string // tests that ran when the process was stopped
}

func (s *goStacks) line(line string) {
	if line == "" || line[0] == '\t' || line[0] == ' ' {
		return
	}
	if strings.HasPrefix(line, "goroutine ") {
		s.goroutine++
		s.test, s.parked = "", false
		return
	}
	if strings.HasPrefix(line, "testing.") {
		switch {
		case strings.HasPrefix(line, "testing.(*T).Parallel("), strings.HasPrefix(line, "testing.(*T).Run("):
			s.parked = true
		case strings.HasPrefix(line, "testing.tRunner(") && s.test != "" && !s.parked && len(s.working) < 100:
			s.working = append(s.working, s.test)
		}
		return
	}
	if m := frameOf.FindStringSubmatch(line); m != nil && m[1] != "TestMain" {
		if s.test == "" {
			s.test = strings.Clone(m[1])
		}
		if s.goroutine == 1 && len(s.dying) < 20 {
			s.dying = append(s.dying, s.test)
		}
	}
}

// culprits returns the tests that the crash names: those a timeout lists, else
// those in the stacks, else the one that printed it. A test that was not heard
// of before (a run without -v) is new by that.
func (p *goPackage) culprits() []*goTest {
	var found []*goTest
	add := func(t *goTest) {
		for _, f := range found {
			if f == t {
				return
			}
		}
		if t.status == "" || t.status == model.Failed && !hasOwnMessage(t) {
			found = append(found, t)
		}
	}
	names := p.timed
	if len(names) == 0 {
		names = p.stacks.dying
		if p.timedOut {
			names = p.stacks.working
		}
		names = p.namesakes(names)
	}
	for _, name := range names {
		add(p.test(name, p.crashAt))
	}
	if len(found) == 0 && len(p.timed) == 0 {
		for _, t := range p.tests {
			if t.printed {
				add(t)
			}
		}
	}
	return withoutParents(found)
}

// namesakes returns the names of the unfinished or failed tests and subtests
// of the test functions given; of one of which nothing is known, its own name.
func (p *goPackage) namesakes(roots []string) []string {
	var names []string
	for _, r := range roots {
		if p.latest(r) == nil {
			names = append(names, r)
			continue
		}
		for _, t := range p.tests {
			if t.name == r || strings.HasPrefix(t.name, r+"/") {
				names = append(names, t.name)
			}
		}
	}
	return names
}

// withoutParents drops tests of which a subtest is in the list too.
func withoutParents(tests []*goTest) []*goTest {
	var leaves []*goTest
	for _, t := range tests {
		parent := false
		for _, u := range tests {
			parent = parent || strings.HasPrefix(u.name, t.name+"/")
		}
		if !parent {
			leaves = append(leaves, t)
		}
	}
	return leaves
}

func hasOwnMessage(t *goTest) bool {
	return !t.printed && goPlace.Match(t.out.Head)
}
