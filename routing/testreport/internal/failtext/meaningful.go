package failtext

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// Meaningful returns the message of a failure: the attribute, unless it is
// empty, an abbreviation of a text that says more, or says only that something
// failed. A type that is a sentence is a message, too.
func Meaningful(message, text, typ string) string {
	message = strings.TrimSpace(message)
	// minitest cuts its message: "Expected: 2..."
	if short := strings.TrimSuffix(message, "..."); len(short) < len(message) && short != "" {
		if i := strings.Index(text, short); i >= 0 {
			rest, _, _ := strings.Cut(text[i:], "\n    ")
			return strings.TrimSpace(bounded.CutText(rest, 1<<10))
		}
	}
	if message != "" && !Boilerplate(message) {
		return message
	}
	if strings.ContainsAny(typ, " \n") && !Boilerplate(typ) {
		return typ
	}
	return parse.FirstOf(body(text), message, typ)
}

// generic are the words with which tools say that something failed, and nothing of what.
var generic = map[string]bool{}

func init() {
	for _, w := range strings.Fields(`failure failures failed fails fail error errors errored exception exceptions
		unexpected uncaught unhandled unknown test tests case cases testcase assertion assertions check checks
		expectation expectations collection collecting setup teardown a an the has have was were is occurred thrown
		raised in of during while with see below message none null nil undefined no reason details step scenario
		spec stack trace traceback result not ok fatal crash crashed suite condition requirement`) {
		generic[w] = true
	}
}

// Boilerplate reports whether each word of s only says that something failed,
// as "failure", "FAILED:", "unexpected exception" and "1 assertion(s) failed." do.
func Boilerplate(s string) bool {
	if len(s) > 120 {
		return false
	}
	for len(s) > 0 {
		i := 0
		for i < len(s) && !letter(s[i]) {
			if s[i] >= '0' && s[i] <= '9' || strings.IndexByte(" \t\n.,:;!()-_*#\"", s[i]) >= 0 {
				i++
				continue
			}
			return false // an operator, a path, another script
		}
		s = s[i:]
		for i = 0; i < len(s) && letter(s[i]); i++ {
		}
		if w := strings.ToLower(s[:i]); i > 0 && w != "s" && !generic[w] {
			return false
		}
		s = s[i:]
	}
	return true
}

func letter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

var (
	// onlyPlace is a line that says where and not what.
	onlyPlace = lazyregexp.New(`^(?:at |in |- |Location: |in file |\()*(?:[A-Za-z]:)?[^\s:()]+(?:\.\w+|file)(?::\d+(?::\d+)?|\(\d+\)|, line \d+)?[:,)]*$|^unknown file$`)
	// labelled is a line of a list that names what it says.
	labelled = lazyregexp.New(`^[-*]?\s*(message|reason|error|cause|details?|file|line|column|test case|suite|location|failing step)\s*:\s*(.*)$`)
	inSource = lazyregexp.New(`^\((?:from function|in test file|in file) `)
)

// body returns the first statement of a text: its first line that is not
// boilerplate, a place, a rule or a frame, with those that continue it.
func body(text string) string {
	if msg, ok := tracebackEnd(text); ok {
		return msg
	}
	lines := strings.Split(bounded.CutText(text, 64<<10), "\n")
	from, erlang := -1, ""
	for i, l := range lines {
		if i > 500 {
			break
		}
		t := strings.TrimSpace(l)
		if m := labelled.FindStringSubmatch(strings.ToLower(t[:min(len(t), 40)])); m != nil && from < 0 {
			if v := strings.TrimSpace(t[strings.IndexByte(t, ':')+1:]); v != "" && strings.ContainsAny(m[1][:1], "mrecd") && m[1] != "column" && !Boilerplate(v) && v != `""` {
				if t[0] == '-' || t[0] == '*' || m[1] == "message" {
					return v
				}
			} else {
				continue
			}
		}
		if strings.HasPrefix(t, "**") && strings.Contains(t, ":") && erlang == "" && from < 0 { // EUnit
			erlang = strings.TrimSpace(strings.Join(lines[i:min(len(lines), i+20)], "\n"))
			break
		}
		skip := t == "" || strings.Trim(t, "-=_*~#^+. ") == "" || Boilerplate(strings.TrimRight(t, "-=: ")) || onlyPlace.MatchString(t) ||
			IsStackFrame(t) || isFrame(t) || from < 0 && i+1 < len(lines) && strings.Contains(t, "::") && !strings.ContainsAny(t, " \t") && !strings.HasSuffix(t, ":")
		switch {
		case strings.HasPrefix(l, "E ") && from < 0: // pytest
			return eLines(lines[i:])
		case from < 0 && !skip:
			from = i
		case from >= 0 && (t == "" || isFrame(t) || IsStackFrame(t) || onlyPlace.MatchString(t) || strings.Trim(t, "-=_*~#") == "" || i-from > 20):
			return parse.Dedent(strings.Join(lines[from:i], "\n"))
		}
	}
	if from >= 0 {
		return strings.TrimSpace(parse.Dedent(strings.Join(lines[from:min(len(lines), from+20)], "\n")))
	}
	return strings.TrimLeft(erlang, "*")
}

// isFrame recognises frames of stacks that IsStackFrame does not.
func isFrame(t string) bool {
	return strings.HasPrefix(t, "in call from ") || strings.HasPrefix(t, "::in function ") || strings.HasPrefix(t, "in function ") || inSource.MatchString(t) ||
		strings.HasPrefix(t, "from ") && strings.Contains(t, ":in ") || strings.HasPrefix(t, "stack traceback:") || strings.HasPrefix(t, "#0 ") ||
		strings.HasPrefix(t, "at ") && strings.ContainsAny(t, "(:")
}

// eLines returns the lines behind pytest's "E", as one message.
func eLines(lines []string) string {
	var out []string
	for _, l := range lines {
		if !strings.HasPrefix(l, "E") || len(l) > 1 && l[1] != ' ' || len(out) > 40 {
			break
		}
		out = append(out, l[1:])
	}
	return strings.TrimSpace(parse.Dedent(strings.Join(out, "\n")))
}

// tracebackEnd returns the exception below a traceback of Python that text begins with.
func tracebackEnd(text string) (string, bool) {
	i := strings.Index(text, "Traceback (most recent call last):")
	if i < 0 || strings.TrimSpace(text[:i]) != "" && !strings.HasSuffix(strings.TrimRight(text[:i], " "), "\n") {
		return "", false
	}
	msg, _ := PythonException(text[i:])
	return msg, msg != ""
}
