package failtext

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// IsGoFraming reports whether a line is go test's own and no test's.
func IsGoFraming(line string) bool {
	s := strings.TrimLeft(line, " ")
	return strings.HasPrefix(s, "=== ") || strings.HasPrefix(s, "--- ")
}

// LastWords returns the last line that is not go test's own.
func LastWords(text string) string {
	lines := strings.Split(text, "\n")
	for i := len(lines) - 1; i >= 0 && i > len(lines)-30; i-- {
		s := strings.TrimSpace(lines[i])
		if s == "" || GoFrame.MatchString(lines[i]) || goCall.MatchString(s) || s == "FAIL" || s == "PASS" || IsGoFraming(s) || strings.HasPrefix(s, "FAIL\t") || strings.HasPrefix(s, "exit status ") || strings.HasPrefix(s, "coverage: ") || strings.HasPrefix(s, "FAIL ") {
			continue
		}
		return s
	}
	return ""
}

// GoFrame is a place in a stack or a race report.
var GoFrame = lazyregexp.New(`^\s+(\S.*\.(?:go|s)):(\d+)(?: \+0x[0-9a-f]+)?$`)

// goCall is a line of a stack that names a function.
var goCall = lazyregexp.New(`^(?:created by )?[\w./*()-]+\.[\w.*()\[\]]+\([^ ]*(?:, [^ ]+)*\)$|^panic\(|^goroutine \d+ |^created by `)

// IsException recognises a dotted name that starts an exception's line.
func IsException(s string) bool {
	head, _, _ := strings.Cut(s, ":")
	if len(head) > 200 || !parse.IsDotted(head) {
		return false
	}
	last := head[strings.LastIndexByte(head, '.')+1:]
	return last != "" && (last[0] >= 'A' && last[0] <= 'Z' || strings.HasPrefix(last, "_") || last == "error")
}

// UnittestRule is the length of the rules around a failure of unittest.
const UnittestRule = 60 // characters of a rule at least; unittest has 70, trial 79

// PythonException returns the last exception of a traceback with its message,
// and its type.
func PythonException(text string) (msg, typ string) {
	lines := strings.Split(text, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		head, _, _ := strings.Cut(lines[i], ":")
		if lines[i] == "" || lines[i][0] == ' ' || !IsException(head) || head == "Stdout" || head == "Stderr" {
			continue
		}
		// A line that belongs to an earlier exception's message would not
		// stand right below a frame.
		if j := i - 1; j >= 0 && !strings.HasPrefix(lines[j], "  ") && !strings.HasPrefix(lines[j], "Traceback ") && strings.Contains(text, "Traceback ") {
			continue
		}
		end := len(lines)
		for k := i; k < len(lines); k++ {
			if k > i && (lines[k] == "Stdout:" || lines[k] == "Stderr:" || strings.HasPrefix(lines[k], "-------------------- >> begin captured") ||
				strings.HasPrefix(lines[k], "Name ") && strings.Contains(lines[k], " Stmts ")) { // a table of coverage
				end = k
				break
			}
		}
		return strings.TrimSpace(strings.Join(lines[i:min(end, i+200)], "\n")), head
	}
	return "", ""
}

// JSFrame reads a stack frame: "at f (src/a.js:12:5)", "at src/a.js:12:5",
// "❯ src/a.ts:12:5", "❯ f src/a.ts:12:5".
func JSFrame(t string) (file string, line, col int, ok bool) {
	t = strings.TrimSpace(t)
	rest, found := strings.CutPrefix(t, "at ")
	if !found {
		if rest, found = strings.CutPrefix(t, "❯ "); !found {
			return "", 0, 0, false
		}
	}
	if strings.HasSuffix(rest, ")") {
		i := strings.LastIndexByte(rest, '(')
		if i < 0 {
			return "", 0, 0, false
		}
		rest = rest[i+1 : len(rest)-1]
	} else if i := strings.LastIndexByte(rest, ' '); i >= 0 {
		rest = rest[i+1:]
	}
	file, line, col, ok = parse.Location(strings.TrimPrefix(rest, "file://"))
	return file, line, col, ok && col > 0
}

// JSErrorType returns the type an error's first line starts with, "" if none.
func JSErrorType(msg string) string {
	head := parse.HeadLine(msg)
	i := strings.IndexByte(head, ':')
	if i <= 0 || i > 80 {
		return ""
	}
	name, _, _ := strings.Cut(head[:i], " [") // "AssertionError [ERR_ASSERTION]"
	if strings.HasSuffix(name, "Error") || strings.HasSuffix(name, "Exception") {
		if !strings.ContainsAny(name, " /") {
			return name
		}
	}
	return ""
}

// IsCodeFrame recognises "> 12 | code" and "12 | code".
func IsCodeFrame(s string) bool {
	s = strings.TrimLeft(strings.TrimPrefix(s, ">"), " ")
	_, rest, ok := parse.LeadingInt(s)
	return ok && strings.HasPrefix(rest, " |")
}

// JSKind refines the kind that the first line of an error tells by the words
// that test runners for JavaScript use for their own limits.
func JSKind(kind model.Kind, msg string) model.Kind {
	head := parse.HeadLine(msg)
	switch {
	case strings.HasPrefix(head, "Test timeout of "), strings.Contains(head, "Exceeded timeout of "), strings.Contains(head, "Timeout of ") && strings.Contains(head, "exceeded"),
		strings.Contains(head, "Test timed out in "), strings.Contains(head, "Hook timed out in "), strings.Contains(head, "TestTimeoutError"),
		head == "Error: STACK_TRACE_ERROR": // what vitest's JSON has of a test that ran too long
		return model.KindTimeout
	case kind == model.KindError && (strings.Contains(head, "AssertionError") || strings.Contains(head, "expect(")):
		return model.KindAssertion
	case kind == model.KindError && strings.HasPrefix(head, "Expected "):
		return model.KindAssertion
	}
	return kind
}

// IsCodeLine recognises "12: code" of test-unit's listing.
func IsCodeLine(s string) bool {
	_, rest, ok := parse.LeadingInt(s)
	return ok && strings.HasPrefix(rest, ":")
}
