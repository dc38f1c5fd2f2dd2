package failtext

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// Failure is a failing test and the lines that explain it, while they are read.
type Failure struct {
	Test model.Test
	Text bounded.Block
}

// NewFailure begins a failing test; its texts take half of what is kept of a text.
func NewFailure(t model.Test, lim model.Limits) *Failure {
	t.Name, t.Suite = strings.Clone(t.Name), strings.Clone(t.Suite)
	return &Failure{Test: t, Text: bounded.Block{Max: lim.Text / 2}}
}

// Says adds lines that were read before the test was known. They are added one
// by one: a kept text must not be copied.
func (f *Failure) Says(k *bounded.Block) {
	for _, line := range strings.Split(k.String(), "\n") {
		f.Text.Add(line)
	}
}

// JVM returns the test, explained by a Java stack trace.
func (f *Failure) JVM() model.Test {
	ExplainJVM(&f.Test, parse.Dedent(f.Text.String()))
	return f.Test
}

// Attempts joins failures of equal names to one test with retries where they
// are attempts of it: where it passed in the end, or where fewer failures are
// stated than there are. Else they are runs of one test with different values.
func Attempts(tests []*Failure, passed map[string]bool, stated int) []*Failure {
	first := make(map[string]*Failure, len(tests))
	var out []*Failure
	for _, f := range tests {
		key := f.Test.Suite + "\x00" + f.Test.Name
		old := first[key]
		switch {
		case old == nil:
			first[key] = f
			out = append(out, f)
			if passed[key] {
				f.Test.Status, f.Test.Flaky, f.Test.Retries = model.Passed, true, 1
			}
		case old.Test.Flaky || stated < len(tests):
			old.Test.Retries++
		default:
			out = append(out, f)
		}
	}
	return out
}

// ExplainJVM fills in what a Java stack trace says: the type and message of
// its first lines, the place, the two sides of an assertion.
func ExplainJVM(t *model.Test, text string) {
	text = strings.TrimSpace(text)
	t.Trace = text
	head := jvmHead(text)
	typ, msg := SplitException(head)
	t.Type, t.Message = parse.FirstOf(t.Type, typ), parse.FirstOf(t.Message, msg, head)
	t.Message = strings.TrimSpace(t.Message)
	if t.Kind == "" {
		t.Kind = jvmKind(t.Type, head)
	}
	if file, line := PlaceIn(text, ClassName(t.Suite), ""); line > 0 && t.Line == 0 {
		t.File, t.Line = file, line
	}
	if e, a, ok := SplitAssertion(head); ok {
		t.Expected, t.Actual = e, a
	}
}

// ClassName returns the last part of a suite, which is the class as printed.
func ClassName(suite string) string {
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
		if t := strings.TrimSpace(line); IsJVMFrame(t) || strings.HasPrefix(t, "Caused by: ") && i > 0 {
			break
		}
		b = append(b, strings.TrimRight(line, " "))
	}
	return strings.TrimSpace(strings.Join(b, "\n"))
}

// IsJVMFrame reports whether a line is a frame of a Java stack trace.
func IsJVMFrame(t string) bool {
	return strings.HasPrefix(t, "at ") && strings.HasSuffix(t, ")") && strings.Contains(t, "(")
}

// SplitException splits "java.lang.Error: message". Gradle's short form is
// "java.lang.Error at T.java:12", Surefire's has the type on a line of its own.
func SplitException(head string) (typ, msg string) {
	first, rest, _ := strings.Cut(head, "\n")
	name, msg, found := strings.Cut(first, ": ")
	if !found {
		name = strings.TrimSuffix(strings.TrimSpace(first), ":")
		if i := strings.Index(name, " at "); i > 0 {
			name = name[:i]
		}
	}
	if !IsJVMType(name) {
		return "", ""
	}
	if rest != "" {
		msg = strings.TrimSpace(msg + "\n" + rest)
	}
	return name, parse.FirstOf(strings.TrimSpace(msg), name)
}

// IsJVMType reports whether s can be the name of an exception's class.
func IsJVMType(s string) bool {
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
func jvmKind(typ, head string) model.Kind {
	if typ == "" {
		if strings.Contains(head, "expected") {
			return model.KindAssertion
		}
		return model.KindError
	}
	last := typ[strings.LastIndexByte(typ, '.')+1:]
	switch {
	case strings.Contains(last, "Timeout") || last == "TestTimedOutException":
		return model.KindTimeout
	case strings.Contains(last, "Assert") || strings.Contains(last, "ComparisonFailure") || strings.Contains(last, "ConditionNotSatisfied") ||
		strings.HasSuffix(last, "TestFailedException") || strings.Contains(last, "MultipleFailures") || last == "FailException" || last == "ComparisonFailException",
		strings.HasPrefix(last, "Wanted") || strings.Contains(typ, "org.mockito.exceptions.verification."):
		return model.KindAssertion
	}
	return model.KindError
}

// AntTask cuts off what Ant puts before the lines of a task: "    [junit] ".
func AntTask(t string) (task, rest string, ok bool) {
	s := strings.TrimLeft(t, " ")
	if len(s) < 4 || len(s) == len(t) || s[0] != '[' {
		return "", t, false
	}
	i := strings.IndexByte(s[:min(len(s), 30)], ']')
	if i < 2 || !parse.IsIdent(s[1:i], "-:.") || i+1 < len(s) && s[i+1] != ' ' {
		return "", t, false
	}
	return s[1:i], strings.TrimPrefix(s[i+1:], " "), true
}
