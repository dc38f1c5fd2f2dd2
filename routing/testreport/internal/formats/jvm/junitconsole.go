package jvm

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// junitConsoleFormat reads the console launcher of the JUnit platform: its
// tree, its list of failures and its totals.
var junitConsoleFormat = format.Format{
	Name:    "junit-console",
	Order:   610,
	Wakes:   &format.Wake{Flush: "[TF+|'\xe2\xf0"},
	Console: func(out model.Sink, lim model.Limits) format.Console { return newJUnitConsole(out, lim) },
}

type junitConsole struct {
	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous

	open   bool // a line that only the launcher prints
	at     int
	inList bool
	tests  []*failtext.Failure
	cur    *failtext.Failure
	tree   []model.Test // failing, by the tree, for where the list is missing
	path   []string
	shown  string            // --details=verbose: the node, what was caught, and where
	caught *failtext.Failure // of it
	framed bool              // a frame of the entry was read
	more   int               // lines of its message that are not indented
	sum    map[string]int    // "tests found" and so on
}

func newJUnitConsole(out model.Sink, lim model.Limits) *junitConsole {
	return &junitConsole{out: out, lim: lim, anon: model.NewAnonymous(lim)}
}

var (
	junitCount  = lazyregexp.New(`^\[\s*(\d+) (tests|containers) (found|skipped|started|aborted|successful|failed)\s*\]$`)
	junitSource = lazyregexp.New(`^(Method|Class)Source \[className = '([^']*)'(?:, methodName = '([^']*)')?`)
	junitMarks  = lazyregexp.New(` (✔|✘|↷|■|\[OK\]|\[X\]|\[S\]|\[A\])(?: (.*))?$`)
)

func (j *junitConsole) Idle() bool {
	return !j.open && j.sum == nil && !j.inList && j.cur == nil && j.shown == "" && j.caught == nil
}

func (j *junitConsole) Line(l lines.Line) bool {
	if l.Mark != "" {
		if lines.StepOver(l) {
			j.End()
		}
		return false
	}
	j.at = l.No
	t := l.Text
	if t == "" {
		if j.cur != nil {
			j.cur.Text.Add("")
		}
		return false
	}
	switch {
	case t[0] == '[' && t[len(t)-1] == ']':
		return j.count(t)
	case t[0] == ' ':
		return j.inList && j.entry(t)
	case t[0] == 'T' && strings.HasPrefix(t, "Thanks for using JUnit!"), t[0] == 0xf0 && strings.Contains(t, "Thanks for using JUnit!"):
		j.End()
		j.open = true
		return true
	case t[0] == 'F' && strings.HasPrefix(t, "Failures (") && strings.HasSuffix(t, "):"):
		n, rest, ok := parse.LeadingInt(t[len("Failures ("):])
		if !ok || rest != "):" {
			return false
		}
		j.inList, j.cur = n > 0, nil
		j.tests = nil // a run has one list: a test printed the one before
		return true
	case t[0] == 'T' && strings.HasPrefix(t, "Test plan execution started. Number of static tests: "):
		j.open = true
		return true
	case t[0] == 'T' && strings.HasPrefix(t, "Test run finished after "):
		j.shown, j.caught = "", nil
		j.open, j.inList, j.cur = true, false, nil
		return true
	}
	if j.inList && j.cur != nil && j.cur.Text.Head.Len() > 0 && !j.framed && j.more < 200 {
		j.more++ // a message of several lines, which are not indented
		j.cur.Text.Add(t)
		return true
	}
	j.inList, j.cur = false, nil
	if t[0] == 0xe2 || t[0] == '+' || t[0] == '|' || t[0] == '\'' {
		return j.node(t)
	}
	return false
}

// entry reads the list of failures: a path of names, the source, the exception.
func (j *junitConsole) entry(t string) bool {
	s := strings.TrimLeft(t, " ")
	switch indent := len(t) - len(s); {
	case indent == 2 && strings.Contains(s, ":"):
		parts := splitJUnitPath(s)
		j.framed, j.more = false, 0
		f := failtext.NewFailure(model.Test{Name: parts[len(parts)-1], Suite: strings.Join(parts[1:len(parts)-1], " > "), Status: model.Failed, At: j.at}, failtext.Shrunk(j.lim, len(j.tests)))
		j.cur = f
		if len(j.tests) < 5*j.lim.Failing {
			j.tests = append(j.tests, f)
		}
	case j.cur == nil:
		return false
	case indent == 4 && strings.HasPrefix(s, "=> "):
		j.cur.Text.Add(s[3:])
	case indent == 4 && junitSource.MatchString(s):
		m := junitSource.FindStringSubmatch(s)
		t := &j.cur.Test
		t.Suite = strings.Clone(m[2])
		if m[1] == "Class" {
			t.Name, t.Kind = t.Suite[strings.LastIndexByte(t.Suite, '.')+1:], model.KindSetup
		} else {
			t.Name = junitMethod(m[3], t.Name)
		}
	default:
		if !strings.Contains(s, " ") && strings.HasSuffix(s, ")") && strings.Contains(s, "(") {
			s = "\tat " + s
			j.framed = true
		}
		j.cur.Text.Add(s)
	}
	return true
}

// junitMethod names a test by its method, which does not change with the
// values; an invocation, shown as "[2] 3", becomes "method[2: 3]".
func junitMethod(method, shown string) string {
	if strings.HasPrefix(shown, method) || method == "" {
		return shown
	}
	if n, rest, ok := strings.Cut(strings.TrimPrefix(shown, "["), "] "); ok && shown[0] == '[' && parse.IsIdent(n, "") {
		return method + "[" + n + ": " + rest + "]"
	}
	return strings.Clone(method)
}

// splitJUnitPath splits "JUnit Jupiter:T:name()" at colons between names.
func splitJUnitPath(s string) []string {
	var parts []string
	depth, from := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ':':
			if depth <= 0 && i > from && i+1 < len(s) && s[i+1] != ' ' {
				parts = append(parts, s[from:i])
				from = i + 1
			}
		}
	}
	parts = append(parts, s[from:])
	if len(parts) < 2 {
		parts = append([]string{"JUnit"}, parts...)
	}
	return parts
}

// node reads a line of the tree and keeps the ones that failed.
func (j *junitConsole) node(t string) bool {
	k, w := strings.LastIndex(t, "─ "), len("─ ")
	if t[0] == '+' || t[0] == '|' || t[0] == '\'' {
		k, w = strings.Index(t, "-- "), 3
	} else if i := strings.Index(t, "─ "); i >= 0 {
		k = i
	}
	if k < 0 || len(t) > 4<<10 {
		return j.open && j.detail(strings.TrimLeft(t, "│| "))
	}
	rest := t[k+w:]
	if j.open {
		j.shown = strings.Clone(rest)
	}
	m := junitMarks.FindStringSubmatchIndex(rest)
	if m == nil {
		return false
	}
	name, mark := rest[:m[0]], rest[m[2]:m[3]]
	if strings.HasPrefix(name, "JUnit ") {
		j.open = true
	}
	if !j.open {
		return false
	}
	depth := 0
	for _, r := range t[:k] {
		if r != '-' {
			depth++
		}
	}
	depth = min(depth/3, 63)
	for len(j.path) <= depth {
		j.path = append(j.path, "")
	}
	j.path = j.path[:depth+1]
	j.path[depth] = strings.Clone(name)
	if (mark == "✘" || mark == "[X]") && len(j.tree) < j.lim.Failing {
		msg := ""
		if m[4] >= 0 {
			msg = rest[m[4]:m[5]]
		}
		j.tree = append(j.tree, model.Test{Name: j.path[depth], Suite: strings.Trim(strings.Join(j.path[min(2, depth):depth], " > "), " >"), Status: model.Failed, Message: strings.Clone(msg), At: j.at})
	}
	return true
}

// detail reads what --details=verbose says of a node, the status last.
func (j *junitConsole) detail(s string) bool {
	switch {
	case strings.HasPrefix(s, "source: "):
		if m := junitSource.FindStringSubmatch(s[len("source: "):]); m != nil {
			t := model.Test{Suite: m[2], Name: junitMethod(m[3], j.shown), Status: model.Failed, At: j.at}
			if m[1] == "Class" {
				t.Name, t.Kind = m[2][strings.LastIndexByte(m[2], '.')+1:], model.KindSetup
			}
			j.caught = failtext.NewFailure(t, failtext.Shrunk(j.lim, len(j.tests)))
		}
	case j.caught == nil:
		return false
	case strings.HasPrefix(s, "caught: "):
		j.caught.Text.Add(s[len("caught: "):])
	case strings.HasPrefix(s, "status: "):
		if strings.HasSuffix(s, " FAILED") && len(j.tests) < 5*j.lim.Failing {
			j.tests = append(j.tests, j.caught)
		}
		j.caught = nil
	case strings.HasPrefix(s, "\tat ") || j.caught.Text.Head.Len() > 0 && !strings.HasPrefix(s, "duration: "):
		j.caught.Text.Add(s)
	}
	return true
}

func (j *junitConsole) count(t string) bool {
	if j.sum == nil && !strings.Contains(t, " containers found ") {
		return false
	}
	m := junitCount.FindStringSubmatch(t)
	if m == nil {
		return false
	}
	if j.sum == nil {
		j.sum = map[string]int{}
	}
	n, _, _ := parse.LeadingInt(m[1])
	j.sum[m[2]+" "+m[3]] = n
	if m[2] == "tests" && m[3] == "failed" {
		j.finish()
	}
	return true
}

// finish hands on the run whose totals were read.
func (j *junitConsole) finish() {
	s := j.sum
	failed, problems := 0, 0
	for _, f := range j.tests {
		t := f.JVM()
		if t.Kind == model.KindSetup && s["containers failed"] > 0 {
			problems++
			j.out.Problem(model.Problem{Kind: model.KindSetup, Name: t.Suite, File: t.File, Line: t.Line, Message: t.Message, Trace: t.Trace, At: t.At})
			continue
		}
		failed++
		j.out.Test(t)
	}
	j.anon.Emit(j.out, s["tests successful"], model.Test{Status: model.Passed, At: j.at})
	j.anon.Emit(j.out, s["tests skipped"]+s["tests aborted"], model.Test{Status: model.Skipped, At: j.at})
	if stated := s["tests failed"] + s["containers failed"]; stated > failed+problems {
		failtext.Unnamed(j.out, "junit", stated, failed+problems, j.at)
	}
	if failed+problems+s["tests failed"]+s["containers failed"]+s["containers aborted"] == 0 {
		// The tests of a container that is aborted are neither started nor skipped.
		failtext.RanFewer(j.out, "junit", j.at, s["tests successful"]+s["tests skipped"]+s["tests aborted"], s["tests found"])
	}
	j.clear()
}

func (j *junitConsole) clear() {
	j.open, j.inList, j.cur, j.tests, j.tree, j.path, j.sum = false, false, nil, nil, nil, nil, nil
}

// End hands on a run without totals: it broke off.
func (j *junitConsole) End() {
	if !j.open && j.sum == nil {
		j.clear()
		return
	}
	if len(j.tests) == 0 {
		for _, t := range j.tree {
			j.out.Test(t)
		}
	}
	for _, f := range j.tests {
		j.out.Test(f.JVM())
	}
	j.out.Problem(model.Problem{Kind: model.KindTruncated, At: j.at, Message: "the output of the JUnit launcher ends before its totals"})
	j.clear()
}
