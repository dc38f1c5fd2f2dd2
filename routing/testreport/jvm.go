package testreport

import (
	"strings"
	"time"
)

// failure is a failing test and the lines that explain it, while they are read.
type failure struct {
	t    Test
	text kept
}

func newFailure(t Test, lim Limits) *failure {
	t.Name, t.Suite = strings.Clone(t.Name), strings.Clone(t.Suite)
	return &failure{t: t, text: kept{max: lim.Text / 2}}
}

// says adds lines that were read before the test was known. They are added one
// by one: a kept text must not be copied.
func (f *failure) says(k *kept) {
	for _, line := range strings.Split(k.String(), "\n") {
		f.text.add(line)
	}
}

// jvm returns the test, explained by a Java stack trace.
func (f *failure) jvm() Test {
	explainJVM(&f.t, dedent(f.text.String()))
	return f.t
}

// attempts joins failures of equal names to one test with retries where they
// are attempts of it: where it passed in the end, or where fewer failures are
// stated than there are. Else they are runs of one test with different values.
func attempts(tests []*failure, passed map[string]bool, stated int) []*failure {
	first := make(map[string]*failure, len(tests))
	var out []*failure
	for _, f := range tests {
		key := f.t.Suite + "\x00" + f.t.Name
		old := first[key]
		switch {
		case old == nil:
			first[key] = f
			out = append(out, f)
			if passed[key] {
				f.t.Status, f.t.Flaky, f.t.Retries = Passed, true, 1
			}
		case old.t.Flaky || stated < len(tests):
			old.t.Retries++
		default:
			out = append(out, f)
		}
	}
	return out
}

// explainJVM fills in what a Java stack trace says: the type and message of
// its first lines, the place, the two sides of an assertion.
func explainJVM(t *Test, text string) {
	text = strings.TrimSpace(text)
	t.Trace = text
	head := jvmHead(text)
	typ, msg := splitException(head)
	t.Type, t.Message = firstOf(t.Type, typ), firstOf(t.Message, msg, head)
	t.Message = strings.TrimSpace(t.Message)
	if t.Kind == "" {
		t.Kind = jvmKind(t.Type, head)
	}
	if file, line := placeIn(text, className(t.Suite), ""); line > 0 && t.Line == 0 {
		t.File, t.Line = file, line
	}
	if e, a, ok := splitAssertion(head); ok {
		t.Expected, t.Actual = e, a
	}
}

// className returns the last part of a suite, which is the class as printed.
func className(suite string) string {
	if i := strings.LastIndex(suite, " > "); i >= 0 {
		suite = suite[i+3:]
	}
	return suite
}

// jvmHead returns what stands above the first frame of a trace.
func jvmHead(text string) string {
	var b []string
	for i, rest := 0, text; rest != "" && i < 40; i++ {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		if t := strings.TrimSpace(line); isJVMFrame(t) || strings.HasPrefix(t, "Caused by: ") && i > 0 {
			break
		}
		b = append(b, strings.TrimRight(line, " "))
	}
	return strings.TrimSpace(strings.Join(b, "\n"))
}

func isJVMFrame(t string) bool {
	return strings.HasPrefix(t, "at ") && strings.HasSuffix(t, ")") && strings.Contains(t, "(")
}

// splitException splits "java.lang.Error: message". Gradle's short form is
// "java.lang.Error at T.java:12", Surefire's has the type on a line of its own.
func splitException(head string) (typ, msg string) {
	first, rest, _ := strings.Cut(head, "\n")
	name, msg, found := strings.Cut(first, ": ")
	if !found {
		name = strings.TrimSuffix(strings.TrimSpace(first), ":")
		if i := strings.Index(name, " at "); i > 0 {
			name = name[:i]
		}
	}
	if !isJVMType(name) {
		return "", ""
	}
	if rest != "" {
		msg = strings.TrimSpace(msg + "\n" + rest)
	}
	return name, firstOf(strings.TrimSpace(msg), name)
}

// isJVMType reports whether s can be the name of an exception's class.
func isJVMType(s string) bool {
	if s == "" || len(s) > 200 {
		return false
	}
	dot := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '.':
			dot = true
		case c == '_', c == '$', c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		default:
			return false
		}
	}
	return dot || strings.HasSuffix(s, "Error") || strings.HasSuffix(s, "Exception") || strings.HasSuffix(s, "Failure") || strings.HasSuffix(s, "Throwable")
}

// jvmKind tells an expectation from an error by the type thrown.
func jvmKind(typ, head string) Kind {
	if typ == "" {
		if strings.Contains(head, "expected") {
			return KindAssertion
		}
		return KindError
	}
	last := typ[strings.LastIndexByte(typ, '.')+1:]
	switch {
	case strings.Contains(last, "Timeout") || last == "TestTimedOutException":
		return KindTimeout
	case strings.Contains(last, "Assert") || strings.Contains(last, "ComparisonFailure") || strings.Contains(last, "ConditionNotSatisfied") ||
		strings.HasSuffix(last, "TestFailedException") || strings.Contains(last, "MultipleFailures") || last == "FailException" || last == "ComparisonFailException",
		strings.HasPrefix(last, "Wanted") || strings.Contains(typ, "org.mockito.exceptions.verification."):
		return KindAssertion
	}
	return KindError
}

// spent reads "0.02", "1,234.5", "12" as seconds.
func spent(s string) time.Duration { return seconds(strings.ReplaceAll(s, ",", "")) }

// wordBefore returns the number in front of a word: numBefore("3 tests, 1 failed", " failed") is 1.
func numBefore(s, word string) (int, bool) {
	i := strings.Index(s, word)
	if i <= 0 {
		return 0, false
	}
	j := i
	for j > 0 && s[j-1] >= '0' && s[j-1] <= '9' {
		j--
	}
	n, _, ok := leadingInt(s[j:i])
	return n, ok
}

// numAfter returns the number behind a label: numAfter("Failed: 1,", "Failed:") is 1.
func numAfter(s, label string) (int, bool) {
	i := strings.Index(s, label)
	if i < 0 {
		return 0, false
	}
	n, _, ok := leadingInt(strings.TrimLeft(s[i+len(label):], " "))
	return n, ok
}

// isIdent reports whether s is made of letters, digits and the extra bytes given.
func isIdent(s, extra string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80 || strings.IndexByte(extra, c) >= 0) {
			return false
		}
	}
	return s != ""
}

// antTask cuts off what Ant puts before the lines of a task: "    [junit] ".
func antTask(t string) (task, rest string, ok bool) {
	s := strings.TrimLeft(t, " ")
	if len(s) < 4 || len(s) == len(t) || s[0] != '[' {
		return "", t, false
	}
	i := strings.IndexByte(s[:min(len(s), 30)], ']')
	if i < 2 || !isIdent(s[1:i], "-:.") || i+1 < len(s) && s[i+1] != ' ' {
		return "", t, false
	}
	return s[1:i], strings.TrimPrefix(s[i+1:], " "), true
}

// diagnosticSet hands on diagnostics once each, and a bounded number of warnings.
type diagnosticSet struct {
	out      Sink
	lim      Limits
	seen     map[string]bool
	warnings int
	errors   int
	first    Diagnostic // the first error since the last take
}

const maxWarnings = 200

func (s *diagnosticSet) add(d Diagnostic) {
	key := d.File + "\x00" + d.Message + "\x00" + string(rune(d.Line)) + string(rune(d.Column))
	if s.seen[key] {
		return
	}
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	if len(s.seen) < s.lim.Failing {
		s.seen[key] = true
	}
	if d.Severity != SevError {
		if s.warnings++; s.warnings > maxWarnings {
			if s.warnings == maxWarnings+1 {
				s.out.Cut("warnings of the compiler after the first 200 are left out")
			}
			return
		}
	} else {
		s.errors++
		if s.first.Message == "" {
			s.first = d
		}
	}
	s.out.Diagnostic(d)
}

// place gives a problem of the build the place of the first error.
func (s *diagnosticSet) place(p *Problem) {
	if s.first.Message != "" {
		p.File, p.Line, p.Column = s.first.File, s.first.Line, s.first.Column
		s.first = Diagnostic{}
	}
}
