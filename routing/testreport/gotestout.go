package testreport

import (
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/routing/diagnosis/multimatch"
)

var (
	// goPlace is what testing prints before a log or error: file, line, text.
	goPlace = multimatch.New(`(?m)^\s*([^\s:]+\.go):(\d+): ?(.*)$`)
	// goFrame is a place in a stack or a race report.
	goFrame = multimatch.New(`^\s+(\S.*\.(?:go|s)):(\d+)(?: \+0x[0-9a-f]+)?$`)
	// goCall is a line of a stack that names a function.
	goCall = multimatch.New(`^(?:created by )?[\w./*()-]+\.[\w.*()\[\]]+\([^ ]*(?:, [^ ]+)*\)$|^panic\(|^goroutine \d+ |^created by `)
	// goFailureWord tells an error from a log where both are printed alike.
	goFailureWord = multimatch.New(`(?i)\b(?:got|want|expected|unexpected|fail(?:ed|ure|s)?|errors?|mismatch|invalid|cannot|can't|couldn't|should|must|not|wrong|differ|timed? ?out|panic|assertion)\b`)
)

// goTestOf makes a Test of what is known of t at the end of its package.
func (p *goPackage) goTestOf(t *goTest) Test {
	r := Test{Name: t.name, Suite: p.name, Status: t.status, Duration: t.dur, At: t.at, Kind: t.kind}
	switch t.status {
	case Failed:
		p.explain(t, &r)
	case Skipped:
		if m := goPlace.FindAllStringSubmatch(t.out.String(), -1); len(m) > 0 {
			r.Message = m[len(m)-1][3]
		}
	case Other:
		r.Message = t.message
	}
	return r
}

func (p *goPackage) explain(t *goTest, r *Test) {
	out := strings.TrimRight(t.out.String(), "\n ")
	r.Trace = dedent(out)
	if t.panicked && (p.crashAt > 0) {
		crash := strings.TrimSpace(p.crash.String())
		if !strings.Contains(out, firstLine(crash)) {
			r.Trace = strings.TrimSpace(r.Trace + "\n" + crash)
		}
		r.Message = strings.TrimSuffix(strings.TrimSuffix(firstLine(crash), " [recovered, repanicked]"), " [recovered]")
		r.File, r.Line = crashPlace(crash)
		if r.Kind == "" {
			r.Kind = KindCrash
		}
		if p.timedOut {
			r.File, r.Line = hangPlace(crash, t.name)
		}
		r.Type = "panic"
		return
	}
	if strings.Contains(out, "race detected during execution of test") {
		r.Kind, r.Message = KindRace, "race detected during execution of test"
		_, race, ok := strings.Cut(out, "WARNING: DATA RACE")
		if !ok { // without -v it is printed before the test's own lines
			race = p.raceText.String()
			r.Trace = strings.TrimSpace(r.Trace + "\n" + race)
		}
		r.File, r.Line = crashPlace(race)
		return
	}
	if testify(out, r) {
		r.Kind = firstKind(r.Kind, KindAssertion)
		return
	}
	if goMessage(out, r) {
		// go test does not tell an expectation from an error that t.Fatal
		// prints; only two sides that were compared make it one.
		if r.Expected != "" || r.Actual != "" {
			r.Kind = firstKind(r.Kind, KindAssertion)
		} else {
			r.Kind = firstKind(r.Kind, KindError)
		}
		return
	}
	switch {
	case t.message != "":
		r.Message = t.message
	case t.parent:
		r.Message = "a subtest failed"
	default:
		r.Message = firstOf(lastWords(out), "the test failed and says nothing")
	}
}

// goMessage finds the error among what a test logged, for errors and logs look
// alike: the first that states two sides, else the last whose text reads like
// a failure, else the last.
func goMessage(out string, r *Test) bool {
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
		_, _, sides := splitAssertion(msg)
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
	if e, a, ok := splitAssertion(text); ok {
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

var testifyLabel = multimatch.New(`^\s*(Error Trace|Error|Test|Messages):\s*(.*)$`)

// testify reads the block that testify prints.
func testify(out string, r *Test) bool {
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
	if e, a, ok := splitAssertion(msg); ok {
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
		m := goFrame.FindStringSubmatch(l)
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

// dedent takes off the indentation that all lines share.
func dedent(s string) string {
	lines := strings.Split(s, "\n")
	common := -1
	for _, l := range lines {
		if strings.TrimSpace(l) == "" {
			continue
		}
		n := len(l) - len(strings.TrimLeft(l, " "))
		if common < 0 || n < common {
			common = n
		}
	}
	if common <= 0 {
		return strings.Trim(s, "\n")
	}
	for i, l := range lines {
		lines[i] = l[min(common, len(l)-len(strings.TrimLeft(l, " "))):]
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

func firstKind(a, b Kind) Kind {
	if a != "" {
		return a
	}
	return b
}
