package testreport

import (
	"strconv"
	"strings"
)

// progress takes a line before the first section.
func (s *pytestSession) progress(no int, t string) bool {
	if t == "" {
		return false
	}
	if id, st, ok := s.plainStatus(t); ok {
		s.status(no, id, st)
		return true
	}
	if i := strings.Index(t, " Fatal Python error: "); i > 0 && isNodeID(strings.TrimSpace(t[:i])) {
		s.running, t = strings.TrimSpace(t[:i]), t[i+1:]
	}
	if strings.HasPrefix(t, "Fatal Python error: ") {
		s.fatal = &Problem{Kind: KindCrash, Name: s.running, Message: t, At: no}
		return true
	}
	if s.fatal != nil && s.fatal.Kind == KindCrash && strings.HasPrefix(t, `  File "`) && len(s.fatal.Trace) < s.lim.Text {
		s.fatal.Trace += t + "\n"
		if file, line, _, ok := pytestLocation(t); ok && s.fatal.File == "" && !foreign(file) {
			s.fatal.File, s.fatal.Line = file, line
		}
		return true
	}
	if strings.Contains(t, "::") && s.verboseLine(no, t) {
		return true
	}
	if s.running != "" {
		if st, ok := statusAlone(t); ok {
			s.status(no, s.running, st)
			return true
		}
	}
	return s.fileProgress(t)
}

// plainStatus reads "id STATUS [ 50%]" where the id has no blank, which is what
// nearly all lines of a long run are. It says yes only where verboseLine would
// say the same.
func (s *pytestSession) plainStatus(t string) (id, st string, ok bool) {
	if t[0] == ' ' || t[0] == '[' {
		return "", "", false
	}
	if t[len(t)-1] == ']' {
		i := len(t) - 2
		if i < 0 || t[i] != '%' {
			return "", "", false
		}
		for i--; i >= 0 && t[i] >= '0' && t[i] <= '9'; i-- {
		}
		if i == len(t)-3 {
			return "", "", false
		}
		for i >= 0 && t[i] == ' ' {
			i--
		}
		if i < 1 || t[i] != '[' || t[i-1] != ' ' {
			return "", "", false
		}
		t = trimSpaces(t[:i])
	}
	end := len(t)
	for end > 0 && t[end-1] != ' ' {
		end--
	}
	if end == 0 || !isStatus(t[end:]) {
		return "", "", false
	}
	id = trimSpaces(t[:end])
	if strings.IndexByte(id, ' ') >= 0 {
		return "", "", false
	}
	if s.inLastFile(id) {
		return id, t[end:], true
	}
	if !isNodeID(id) {
		return "", "", false
	}
	if file := fileOf(id); strings.IndexByte(file, '[') < 0 {
		s.lastFile = strings.Clone(file)
	}
	return id, t[end:], true
}

// inLastFile reports whether the node id is one of a test in the file of the
// last one. Tests in a row mostly are.
func (s *pytestSession) inLastFile(id string) bool {
	i := len(s.lastFile)
	return i > 0 && len(id) > i+2 && id[i] == ':' && id[i+1] == ':' && id[:i] == s.lastFile
}

// name sets what the node id says of a test.
func (s *pytestSession) name(t *Test, id string) {
	if s.inLastFile(id) {
		i := len(s.lastFile)
		head := id[i+2:]
		if head[len(head)-1] == ']' {
			if j := strings.IndexByte(head, '['); j >= 0 {
				head = head[:j]
			}
		}
		if t.File = id[:i]; id[i+2] != ':' && !strings.Contains(head, "::") {
			t.Suite, t.Name = id[:i], id[i+2:]
			return
		}
	}
	t.File = fileOf(id)
	t.Suite, t.Name = suiteAndName(id)
}

// verboseLine reads "id STATUS [ 50%]" and xdist's "[gw0] [ 50%] STATUS id".
func (s *pytestSession) verboseLine(no int, t string) bool {
	if strings.HasPrefix(t, "[gw") {
		i := strings.IndexByte(t, ']')
		rest := strings.TrimLeft(t[i+1:], " ")
		if strings.HasPrefix(rest, "[") {
			rest = strings.TrimLeft(rest[strings.IndexByte(rest, ']')+1:], " ")
		}
		st, id, ok := strings.Cut(rest, " ")
		if !ok || !isStatus(st) {
			return false
		}
		s.status(no, strings.TrimSpace(id), st)
		return true
	}
	if t[0] == ' ' {
		return false
	}
	t = trimPercent(t)
	if id, st, ok := splitStatus(t); ok && isNodeID(id) {
		s.status(no, id, st)
		return true
	}
	if s.verbose || s.running == "" {
		if id, _, _ := strings.Cut(t, " "); isNodeID(id) && (len(t) == len(id) || s.verbose) {
			s.running = id
			return true
		}
	}
	return false
}

// trimPercent removes "[ 50%]", "[12/340]" and a duration "[0.12s]" at the end.
func trimPercent(t string) string {
	if !strings.HasSuffix(t, "]") {
		return t
	}
	i := strings.LastIndexByte(t, '[')
	if i <= 0 || t[i-1] != ' ' {
		return t
	}
	in := strings.TrimSpace(t[i+1 : len(t)-1])
	_, rest, ok := leadingInt(in)
	switch {
	case ok && (rest == "%" || strings.HasPrefix(rest, "/")):
		return trimDuration(strings.TrimRight(t[:i], " "))
	case ok && strings.HasSuffix(rest, "s"):
		return trimDuration(t)
	}
	return t
}

// trimDuration removes "[0.12s]" at the end, which some projects add to a status.
func trimDuration(t string) string {
	if !strings.HasSuffix(t, "s]") {
		return t
	}
	i := strings.LastIndex(t, " [")
	if i > 0 && isDuration(t[i+1:]) {
		return strings.TrimRight(t[:i], " ")
	}
	return t
}

func isDuration(s string) bool {
	if len(s) < 4 || s[0] != '[' || !strings.HasSuffix(s, "s]") {
		return false
	}
	_, err := strconv.ParseFloat(s[1:len(s)-2], 64)
	return err == nil
}

// splitStatus cuts "id STATUS" or "id SKIPPED (reason)" at the status.
func splitStatus(t string) (id, st string, ok bool) {
	if i := strings.LastIndexByte(t, ' '); i >= 0 && isStatus(t[i+1:]) {
		return trimSpaces(t[:i]), t[i+1:], true
	}
	if !strings.HasSuffix(t, ")") && !strings.HasSuffix(t, "...") {
		return "", "", false
	}
	for _, w := range [...]string{" SKIPPED (", " XFAIL (", " XPASS (", " PASSED (", " FAILED (", " ERROR ("} {
		if i := strings.Index(t, w); i > 0 {
			return strings.TrimRight(t[:i], " "), w[1 : len(w)-2], true
		}
	}
	return "", "", false
}

// isStatus recognises the words behind a node id with -v.
func isStatus(w string) bool {
	switch w {
	case "PASSED", "FAILED", "ERROR", "SKIPPED", "XFAIL", "XPASS", "RERUN", "xfail", "xpass":
		return true
	}
	return false
}

// statusAlone reads a status on a line of its own: the test printed something
// between its name and its end. Its last output may stand before the status.
func statusAlone(t string) (string, bool) {
	t = trimPercent(t)
	w, _, _ := strings.Cut(t, " ")
	if isStatus(w) && (len(w) == len(t) || strings.HasPrefix(t[len(w):], " (")) {
		return w, true
	}
	return "", false
}

// isNodeID recognises "path::name". The path has no space, the name may.
func isNodeID(id string) bool {
	i := strings.Index(id, "::")
	if i <= 0 || i+2 >= len(id) {
		return false
	}
	file := id[:i]
	return !strings.ContainsAny(file, " \t\"'<>") && strings.Contains(file, ".")
}

// status takes the outcome of one test.
func (s *pytestSession) status(no int, id, st string) {
	s.verbose, s.running = true, ""
	switch st {
	case "PASSED", "XPASS", "xpass":
		s.passed(no, id)
	case "SKIPPED":
		s.named.skipped++
		s.emitNamed(no, id, Skipped, "")
	case "XFAIL", "xfail":
		s.named.xfailed++
		s.emitNamed(no, id, Skipped, "")
	case "RERUN":
		s.rerun(id)
	case "FAILED":
		s.fail(no, id, "", "")
		s.noteFile(fileOf(id), true)
	case "ERROR":
		s.fail(no, id, "error", "")
	}
}

// fileProgress reads "tests/test_a.py ..F.s   [ 50%]" and its continuations.
func (s *pytestSession) fileProgress(t string) bool {
	if strings.HasSuffix(t, "%]") && isBareProgress(t) {
		return true
	}
	if t[0] == ' ' || !strings.Contains(t, ".py ") {
		return false
	}
	file, rest, _ := strings.Cut(trimPercent(t), " ")
	if !strings.HasSuffix(file, ".py") || !onlyProgress(strings.TrimSpace(rest)) {
		return false
	}
	s.noteFile(file, strings.Contains(rest, "F"))
	return true
}

func (s *pytestSession) noteFile(file string, failed bool) {
	if len(s.files) >= 20000 {
		return
	}
	if was, known := s.files[file]; !known {
		s.files[strings.Clone(file)] = failed
	} else if failed && !was {
		s.files[file] = true
	}
}

// splitNodeID cuts "id - message". Parameters may hold " - " themselves: a
// cut inside an open bracket is none.
func splitNodeID(s string) (id, msg string) {
	if strings.HasPrefix(s, "[") { // pytest-subtests: "[i=1] path::test"
		if i := strings.Index(s, "] "); i > 0 && strings.Contains(s[i:], "::") {
			s = s[i+2:]
		}
	}
	depth, from := 0, 0
	for i := 0; i+3 <= len(s); i++ {
		switch s[i] {
		case '[':
			depth++
		case ']':
			if depth > 0 {
				depth--
			}
		case ' ':
			if s[i:i+3] != " - " {
				continue
			}
			if depth == 0 {
				return s[:i], s[i+3:]
			}
			if from == 0 {
				from = i
			}
		}
	}
	// Unbalanced: a parameter with a single bracket. The last " - " behind a
	// closing bracket is the cut, else the first.
	if i := strings.LastIndex(s, "] - "); i > 0 {
		return s[:i+1], s[i+4:]
	}
	if from > 0 && !strings.HasSuffix(s, "]") {
		return s[:from], s[from+3:]
	}
	return s, ""
}

// suiteAndName cuts a node id at its last "::" outside the parameters.
func suiteAndName(id string) (suite, name string) {
	head := id
	if strings.HasSuffix(id, "]") {
		if i := strings.IndexByte(id, '['); i > 0 {
			head = id[:i]
		}
	}
	for i := len(head) - 2; i >= 0; i-- {
		if head[i] == ':' && head[i+1] == ':' {
			return id[:i], id[i+2:]
		}
	}
	return "", id
}

func fileOf(id string) string {
	file, _, found := strings.Cut(id, "::")
	if !found && !strings.HasSuffix(id, ".py") {
		return ""
	}
	return file
}

// domainOf returns what a block's header calls the test id.
func domainOf(id string) string {
	_, rest, found := strings.Cut(id, "::")
	if !found {
		return id
	}
	if i := strings.IndexByte(rest, '['); i >= 0 {
		return strings.ReplaceAll(rest[:i], "::", ".") + rest[i:]
	}
	return strings.ReplaceAll(rest, "::", ".")
}
