package testreport

import (
	"strings"
)

// tapPoint is "not ok 3 - name # TODO why".
type tapPoint struct {
	number int
	name   string
	status Status
	why    string
}

func parseTAP(s string) (tapPoint, bool) {
	p := tapPoint{status: Passed}
	rest, bad := strings.CutPrefix(s, "not ok")
	if bad {
		p.status = Failed
	} else if rest, bad = strings.CutPrefix(s, "ok"); !bad {
		return p, false
	}
	if rest == "" {
		return p, true
	}
	if rest[0] != ' ' {
		return p, false
	}
	rest = strings.TrimLeft(rest, " ")
	n, after, ok := leadingInt(rest)
	if !ok || after != "" && after[0] != ' ' {
		return p, false // a bare "ok" in prose has no number
	}
	p.number = n
	rest = strings.TrimLeft(after, " ")
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, "- "), "-")
	rest = strings.TrimSuffix(rest, " {")
	p.name = rest
	if i := tapDirective(rest); i >= 0 {
		p.directive(rest, i)
	}
	p.name = strings.TrimSpace(strings.ReplaceAll(p.name, `\#`, "#"))
	return p, true
}

// tapDirective returns where the last unescaped " #" of a description stands.
func tapDirective(s string) int {
	if strings.HasPrefix(s, "#") {
		return 0
	}
	for i := len(s) - 2; i > 0; i-- {
		if s[i] == '#' && s[i-1] == ' ' {
			return i
		}
	}
	return -1
}

func (p *tapPoint) directive(s string, i int) {
	d := strings.TrimSpace(s[i+1:])
	word, why, _ := strings.Cut(d, " ")
	switch w := strings.ToUpper(word); {
	case strings.HasPrefix(w, "SKIP"):
		p.status, p.why = Skipped, strings.TrimSpace(why)
	case strings.HasPrefix(w, "TODO"):
		p.status, p.why = Pending, strings.TrimSpace(why)
	case strings.HasPrefix(d, "time="):
	case strings.HasPrefix(d, "in ") && strings.HasSuffix(d, " ms"), strings.HasPrefix(d, "in ") && strings.HasSuffix(d, " sec"):
	default:
		return
	}
	p.name = strings.TrimRight(s[:i], " ")
}

// tapYAML reads the block of diagnostics between "---" and "...". It is read
// as lines, not as YAML: tools do not all write it correctly.
type tapYAML struct {
	indent int
	lines  int
	key    string // whose value the deeper lines are
	depth  int    // indentation of the keys
	value  []string
	get    map[string]string
}

const tapYAMLLines = 2000

func (c *tapConsole) inYAML(t string) bool {
	y := c.yaml
	s := strings.TrimLeft(t, " ")
	indent := len(t) - len(s)
	s = strings.TrimRight(s, " ")
	if y.lines++; y.lines > tapYAMLLines {
		c.yaml = nil
		return false
	}
	if s == "..." && indent <= y.indent {
		y.flush()
		c.diagnosed(y)
		c.yaml = nil
		return true
	}
	if s != "" && indent < y.indent {
		c.yaml = nil // never closed
		return false
	}
	if s == "" {
		y.value = append(y.value, "")
		return true
	}
	if y.depth == 0 && indent >= y.indent {
		y.depth = indent + 1 // so that 0 means unknown
	}
	if indent+1 <= y.depth || indent+1 == y.depth {
		if key, value, ok := strings.Cut(s, ":"); ok && (value == "" || value[0] == ' ') && !strings.ContainsAny(key, " '\"(") {
			y.flush()
			y.key = key
			if value = strings.TrimSpace(value); value != "" && value != "|-" && value != "|" && value != ">" && value != ">-" && value != "|+" {
				y.value = append(y.value, yamlScalar(value))
			}
			return true
		}
	}
	if len(y.value) < 200 {
		y.value = append(y.value, t[min(len(t), y.depth+1):])
	}
	return true
}

func (y *tapYAML) flush() {
	if y.key != "" {
		if y.get == nil {
			y.get = map[string]string{}
		}
		if _, dup := y.get[y.key]; !dup && len(y.get) < 50 {
			y.get[y.key] = strings.TrimRight(strings.Join(y.value, "\n"), "\n ")
		}
	}
	y.key, y.value = "", y.value[:0]
}

func yamlScalar(s string) string {
	if n := len(s); n >= 2 && (s[0] == '\'' || s[0] == '"') && s[n-1] == s[0] {
		if s[0] == '\'' {
			return strings.ReplaceAll(s[1:n-1], "''", "'")
		}
		return s[1 : n-1]
	}
	return s
}

// diagnosed takes over what the block says about the test.
func (c *tapConsole) diagnosed(y *tapYAML) {
	if c.cur == nil {
		return
	}
	t := &c.cur.test
	if y.get["failureType"] == "subtestsFailed" && c.cur.subtests {
		c.cur = nil
		return
	}
	t.Message = firstNonEmpty(firstNonEmpty(unindent(y.get["error"]), unindent(y.get["message"])), t.Message)
	t.Type = y.get["name"]
	t.Expected, t.Actual = firstNonEmpty(y.get["expected"], y.get["wanted"]), firstNonEmpty(y.get["actual"], y.get["found"])
	if _, ok := y.get["actual"]; !ok {
		if _, ok = y.get["found"]; !ok {
			t.Expected = ""
		}
	}
	c.cur.stack = unindent(y.get["stack"])
	if diff := y.get["diff"]; diff != "" && t.Expected == "" {
		t.Expected, t.Actual, _ = splitAssertion(unindent(diff))
	}
	switch y.get["failureType"] {
	case "hookFailed":
		t.Kind = KindSetup
	case "testTimeoutFailure":
		t.Kind = KindTimeout
	case "uncaughtException", "unhandledRejection":
		t.Kind = KindError
	}
	if op := y.get["operator"]; t.Kind == "" && op != "" {
		t.Kind = KindAssertion
	}
	tapPlace(t, y, c.cur.stack)
}

// tapPlace finds the place: the stack's first own frame, else what is stated.
func tapPlace(t *Test, y *tapYAML, stack string) {
	for _, l := range append(strings.Split(stack, "\n"), y.get["at"]) {
		if file, line, col, ok := jsFrame("at " + strings.TrimPrefix(strings.TrimSpace(l), "at ")); ok && !foreign(file) {
			t.File, t.Line, t.Column = file, line, col
			return
		}
	}
	if file, line, col, ok := location(y.get["location"]); ok {
		t.File, t.Line, t.Column = file, line, col
		return
	}
	for _, l := range strings.Split(y.get["at"], "\n") { // a mapping of its own
		key, value, _ := strings.Cut(strings.TrimSpace(l), ": ")
		switch key {
		case "fileName", "file":
			t.File = yamlScalar(value)
		case "lineNumber", "line":
			t.Line, _, _ = leadingInt(value)
		case "columnNumber", "column":
			t.Column, _, _ = leadingInt(value)
		}
	}
	if t.File == "" {
		t.File = yamlScalar(y.get["file"])
		t.Line, _, _ = leadingInt(y.get["line"])
	}
}

// emit hands out a failing test with the names of the levels above it.
func (c *tapConsole) emit(k *tapTest) {
	if len(k.path) > 0 {
		var names []string
		for i := len(k.path) - 1; i >= 0; i-- {
			names = append(names, k.path[i])
		}
		if k.test.Suite != "" {
			names = append(names, k.test.Suite)
		}
		k.test.Suite = strings.Join(names, " > ")
	}
	t := k.test
	t.Status = Failed
	diag := k.diag.String()
	perlDiagnostics(&t, diag)
	t.Trace = strings.Trim(diag+"\n"+k.stack, "\n")
	if t.Message == "" {
		t.Message = tapMessage(diag)
	}
	if t.Type == "" {
		t.Type = failureType(t.Message)
	}
	if t.Kind == "" {
		t.Kind = failureKind(t.Type, t.Message)
	}
	if t.Kind == "" && (t.Expected != "" || t.Actual != "") {
		t.Kind = KindAssertion
	}
	if t.File == "" {
		t.File = c.file
	}
	if c.prove.active() {
		c.proveFailed(t)
		return
	}
	c.out.Test(t)
}

// tapMessage returns diagnostics without the lines that name the test and its place.
func tapMessage(diag string) string {
	lines := strings.Split(diag, "\n")
	for len(lines) > 0 {
		s := strings.TrimSpace(lines[0])
		if !strings.HasPrefix(s, "Failed test") && !strings.HasPrefix(s, "at ") && !strings.HasPrefix(s, "(in test f") && !strings.HasPrefix(s, "(from function ") && !strings.HasPrefix(s, "in test file ") {
			break
		}
		lines = lines[1:]
	}
	return strings.TrimSpace(unindent(strings.Join(lines, "\n")))
}

// perlDiagnostics reads what Test::More says below a failed test.
func perlDiagnostics(t *Test, diag string) {
	for _, l := range strings.Split(diag, "\n") {
		s := strings.TrimSpace(l)
		if rest, ok := strings.CutPrefix(s, "at "); ok && t.Line == 0 {
			if file, line, found := strings.Cut(rest, " line "); found {
				if n, _, isNum := leadingInt(line); isNum {
					t.File, t.Line = file, n
				}
			}
		}
		if rest, ok := strings.CutPrefix(s, "(in test file "); ok && t.Line == 0 { // bats
			if file, line, found := strings.Cut(rest, ", line "); found {
				t.File = file
				t.Line, _, _ = leadingInt(line)
			}
		}
	}
	if t.Expected == "" && t.Actual == "" && strings.Contains(diag, "expected: ") {
		t.Expected, t.Actual, _ = splitAssertion(diag)
		t.Expected, t.Actual = yamlScalar(t.Expected), yamlScalar(t.Actual)
		if t.Kind == "" {
			t.Kind = KindAssertion
		}
	}
}
