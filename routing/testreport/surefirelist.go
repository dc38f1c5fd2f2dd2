package testreport

import "strings"

// surefireList is what stands behind "Results": failing tests in one line each.
type surefireList struct {
	section string // "failed", "flaky", ""
	entries []listedTest
	flaky   map[string]bool
	last    string // a name whose runs follow
}

// listedTest is one line of the list.
type listedTest struct {
	class, method string
	line          int
	text          string
	at            int
	error         bool
}

// isListHead reports whether t begins a part of the list; its own heading is
// missing where summaries are switched off.
func isListHead(t string) bool {
	switch t {
	case "Failures:", "Errors:", "Failed tests:", "Tests in error:", "Flaked tests:", "Flakes:":
		return true
	}
	return false
}

// line takes a line between "Results" and the module's totals.
func (s *surefireList) line(t string, at int, lim Limits) bool {
	switch strings.TrimSpace(t) {
	case "Failed tests:", "Failures:":
		s.section, s.last = "failure", ""
		return true
	case "Tests in error:", "Errors:":
		s.section, s.last = "error", ""
		return true
	case "Flaked tests:", "Flakes:":
		s.section, s.last = "flaky", ""
		return true
	}
	if s.section == "" || strings.HasPrefix(t, "Tests run:") {
		return false
	}
	// Old versions put the first entry behind the heading.
	for _, h := range [...]string{"Failed tests: ", "Tests in error: "} {
		if rest, ok := strings.CutPrefix(t, h); ok {
			s.section = "failure"
			if h[0] == 'T' {
				s.section = "error"
			}
			t = "  " + strings.TrimSpace(rest)
		}
	}
	text := strings.TrimSpace(t)
	if strings.HasPrefix(text, "Run ") && s.last != "" {
		return true
	}
	if s.section == "flaky" || !strings.HasPrefix(t, " ") {
		// "com.x.T.test" alone; its runs follow.
		if isIdent(strings.Split(text+"(", "(")[0], ".$[]{}") && strings.Contains(text, ".") {
			s.last = text
			if s.section == "flaky" && len(s.flaky) < lim.Failing {
				if s.flaky == nil {
					s.flaky = map[string]bool{}
				}
				class, method := surefireName(text, "")
				s.flaky[listKey(class, method)] = true
			}
			return true
		}
		return false
	}
	if e, ok := parseListed(text); ok && len(s.entries) < lim.Failing {
		e.at, e.error = at, s.section == "error"
		s.entries = append(s.entries, e)
		return true
	}
	return true
}

// parseListed reads "T.test:12 message", "T.test:12 » NullPointer", "T>Base.test:12",
// "T.test:12->helper:30 message" and "test(com.x.T): message".
func parseListed(text string) (listedTest, bool) {
	if i := strings.IndexByte(text, '('); i > 0 {
		if j := strings.IndexByte(text[i:], ')'); j > 0 && isIdent(text[i+1:i+j], ".$") && strings.Contains(text[i:i+j], ".") && !strings.Contains(text[:i], ":") {
			return listedTest{class: text[i+1 : i+j], method: text[:i], text: strings.TrimPrefix(text[i+j+1:], ": ")}, true
		}
	}
	head, msg, _ := strings.Cut(text, " » ")
	e := listedTest{text: msg}
	if msg == "" {
		head = text
	}
	colon := strings.IndexByte(head, ':')
	name := head
	if colon > 0 {
		n, rest, ok := leadingInt(head[colon+1:])
		if ok {
			e.line, name = n, head[:colon]
			if e.text == "" {
				e.text = strings.TrimSpace(rest)
			}
			if strings.HasPrefix(e.text, "->") {
				_, e.text, _ = strings.Cut(e.text, " ")
			}
		}
	}
	if colon < 0 || e.line == 0 {
		name, _, _ = strings.Cut(name, " ")
	}
	i := strings.IndexByte(name, '.')
	if i <= 0 || !isIdent(name[:i], "$>") {
		return listedTest{}, false
	}
	class := name[:i]
	method := name[i+1:]
	if sub, base, ok := strings.Cut(class, ">"); ok { // Sub>Base.test
		class, e.line = sub, 0
		_ = base
	}
	if k := strings.Index(method, "->"); k > 0 {
		method = method[:k]
	}
	e.class, e.method = class, method
	return e, method != ""
}

// listKey is what an entry and a block of the same test have in common.
func listKey(class, method string) string {
	class = className(class)
	class = class[strings.LastIndexAny(class, ".$")+1:]
	if i := strings.IndexAny(method, "([{ "); i > 0 {
		method = method[:i]
	}
	return class + "." + method
}

// adopt adds listed tests that no block told of: output that was redirected
// to files, or quiet.
func (m *surefireModule) adopt(lim Limits) {
	have := map[string]bool{}
	classes := map[string]string{}
	for _, f := range m.tests {
		have[listKey(f.t.Suite, f.t.Name)] = true
		classes[f.t.Suite[strings.LastIndexAny(f.t.Suite, ".$")+1:]] = f.t.Suite
	}
	if len(m.tests) > 0 && len(m.tests) >= len(m.list.entries) {
		return
	}
	for _, e := range m.list.entries {
		if have[listKey(e.class, e.method)] || len(m.tests) >= 5*lim.Failing {
			continue
		}
		// A listed base class, or a set-up method, names no test of its own.
		if len(m.tests) > 0 && classes[e.class] != "" && (e.method == "setUp" || e.method == "<init>" || e.method == "before") {
			continue
		}
		f := newFailure(Test{Suite: firstOf(classes[e.class], e.class), Name: e.method, Status: Failed, At: e.at, Line: e.line, Kind: KindAssertion}, shrunk(lim, len(m.tests)))
		if e.line > 0 {
			f.t.File = e.class[strings.LastIndexAny(e.class, ".$")+1:] + ".java"
		}
		if e.error {
			f.t.Kind = KindError
		}
		f.t.Message = e.text
		f.text.add(e.text)
		m.tests = append(m.tests, f)
	}
}
