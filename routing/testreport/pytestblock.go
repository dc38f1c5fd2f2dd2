package testreport

import "strings"

// pytestPlace is a line of a traceback that names a file.
type pytestPlace struct {
	file string
	line int
	what string // exception type, or "in f"
	at   int
}

// pytestBlock is one entry of FAILURES or ERRORS.
type pytestBlock struct {
	at       int
	header   string
	text     kept // traceback
	output   kept // captured output
	captured bool
	places   []pytestPlace // the first and the last few
	message  string        // last group of E lines
	inError  bool          // the line before was an E line
	native   bool
	crashed  string // node id of a test a worker died with
}

const pytestPlaces = 40

func (b *pytestBlock) add(no int, t string) {
	if b.captured {
		b.output.add(t)
		return
	}
	b.text.add(t)
	if t == "" {
		b.inError = false
		return
	}
	if strings.HasPrefix(t, "E  ") || t == "E" {
		b.errorLine(t)
		return
	}
	b.inError = false
	if strings.HasPrefix(t, "Traceback (most recent call last):") {
		b.native = true
	}
	if i := strings.Index(t, " crashed while running '"); i >= 0 && strings.HasPrefix(t, "worker ") {
		b.message = strings.Clone(t)
		b.crashed = quoted(b.message[i:])
		return
	}
	if file, line, what, ok := pytestLocation(t); ok {
		b.addPlace(pytestPlace{file, line, what, no})
		return
	}
	if b.native && t[0] != ' ' && isException(t) {
		b.message = strings.Clone(CutText(t, b.text.max))
	}
}

// errorLine takes a line that starts with E. The last group of them is the
// message: earlier ones belong to exceptions that caused it.
func (b *pytestBlock) errorLine(t string) {
	t = strings.TrimPrefix(t[1:], " ")
	t = strings.TrimPrefix(strings.TrimPrefix(t, " "), " ")
	if !b.inError {
		b.message = strings.Clone(strings.TrimLeft(t, " "))
	} else if len(b.message) < b.text.max {
		b.message += "\n" + t
	}
	b.inError = true
}

func (b *pytestBlock) addPlace(p pytestPlace) {
	if len(b.places) >= pytestPlaces {
		copy(b.places[pytestPlaces/2:], b.places[pytestPlaces/2+1:])
		b.places = b.places[:pytestPlaces-1]
	}
	p.file, p.what = strings.Clone(p.file), strings.Clone(p.what)
	b.places = append(b.places, p)
}

func (b *pytestBlock) sawFile(file string) bool {
	if b == nil || file == "" {
		return false
	}
	for _, p := range b.places {
		if p.file == file || strings.HasSuffix(p.file, "/"+file) {
			return true
		}
	}
	return false
}

// place returns where it failed: the deepest place in the project, which a
// place in the test's own file beats only if nothing else is known.
func (b *pytestBlock) place(testFile string) pytestPlace {
	for i := len(b.places) - 1; i >= 0; i-- {
		if p := b.places[i]; !foreign(p.file) {
			return p
		}
	}
	return pytestPlace{file: testFile}
}

func (b *pytestBlock) where(at int) int {
	if b.at > 0 {
		return b.at
	}
	return at
}

// summary returns the message: the block's, else the short one of the summary.
func (b *pytestBlock) summary(short string) string {
	if b.message != "" {
		return strings.TrimSpace(b.message)
	}
	if short == "" && len(b.places) == 0 {
		return headLine(strings.TrimSpace(b.text.String()))
	}
	return short
}

// exception returns the exception's type: the last place names it without its
// module, the message with it.
func (b *pytestBlock) exception(msg string) string {
	if n := len(b.places); n > 0 {
		if w := b.places[n-1].what; w != "" && !strings.HasPrefix(w, "in ") {
			w, _, _ = strings.Cut(w, ":")
			if isException(w) {
				return w
			}
		}
	}
	head, _, _ := strings.Cut(msg, "\n")
	head, _, _ = strings.Cut(head, ":")
	if isException(head) {
		return head
	}
	if strings.HasPrefix(msg, "assert ") {
		return "AssertionError"
	}
	return ""
}

// isException recognises a dotted name that starts an exception's line.
func isException(s string) bool {
	head, _, _ := strings.Cut(s, ":")
	if len(head) > 200 || !isDotted(head) {
		return false
	}
	last := head[strings.LastIndexByte(head, '.')+1:]
	return last != "" && (last[0] >= 'A' && last[0] <= 'Z' || strings.HasPrefix(last, "_") || last == "error")
}

// isDotted recognises names joined by dots.
func isDotted(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '_' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return s != ""
}

func (b *pytestBlock) kind(msg, phase string) Kind {
	switch {
	case b.crashed != "":
		return KindCrash
	case strings.HasPrefix(msg, "Failed: Timeout >"), strings.HasPrefix(msg, "Failed: Timeout ("),
		strings.HasPrefix(msg, "Timeout >"), strings.HasPrefix(msg, "Timeout ("):
		return KindTimeout
	case phase != "":
		return KindSetup
	case strings.HasPrefix(msg, "assert"), strings.HasPrefix(msg, "AssertionError"), strings.HasPrefix(msg, "Failed: "),
		strings.HasPrefix(msg, "[XPASS(strict)]"), strings.Contains(headLine(msg), "AssertionError"):
		return KindAssertion
	case msg == "":
		return ""
	}
	return KindError
}

func headLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// inBlocks takes a line of FAILURES, ERRORS or PASSES.
func (s *pytestSession) inBlocks(no int, t string) bool {
	if len(t) > 4 && (t[0] == '_' || t[0] == ' ') {
		title, ok := ruled(t, '_')
		if !ok {
			title, ok = unruledHeader(t)
		}
		if ok && strings.Trim(title, "_ ") != "" {
			s.closeBlock()
			if strings.HasPrefix(title, "coverage: ") {
				s.section = pytestRest
				return true
			}
			if s.section != pytestQuietBlocks {
				s.blocks++
			}
			s.block = &pytestBlock{at: no, header: strings.Clone(title), text: kept{max: s.lim.Text}, output: kept{max: s.lim.Text}}
			return true
		}
	}
	if s.block == nil {
		if file, line, what, ok := pytestLocation(t); ok && len(s.lineTB) < 20*s.lim.Failing && s.section == pytestFailures {
			s.lineTB = append(s.lineTB, pytestPlace{strings.Clone(file), line, strings.Clone(CutText(what, 1<<10)), no})
		}
		return true
	}
	if len(t) > 0 && t[0] == '-' {
		if title, ok := ruled(t, '-'); ok {
			if strings.HasPrefix(title, "Captured ") || strings.HasPrefix(title, "live log") {
				s.block.captured = true
			} else if strings.HasPrefix(title, "coverage: ") {
				s.closeBlock()
				s.section = pytestRest
				return true
			}
		}
	}
	if title, ok := ruled(t, '+'); ok && title == "Timeout" {
		return true
	}
	s.block.add(no, t)
	return true
}

// unruledHeader reads a header that fills the line, which pytest before 4.0
// printed without rules: " TestX.test_y[param] _".
func unruledHeader(t string) (string, bool) {
	title := strings.TrimSpace(strings.TrimSuffix(t, " _"))
	if t[0] != ' ' || t[1] == ' ' || len(title) < 72 {
		return "", false
	}
	i := strings.IndexByte(title, '[')
	if i > 0 && !strings.HasSuffix(title, "]") {
		return "", false
	}
	if i < 0 {
		i = len(title)
	}
	return title, isDotted(title[:i]) && strings.Contains(title[:i], "test")
}

// closeBlock gives the open block to the test it is of.
func (s *pytestSession) closeBlock() {
	b := s.block
	s.block, s.depth = nil, 0
	if b == nil || s.section == pytestQuietBlocks {
		return
	}
	domain, phase := b.header, ""
	if s.section == pytestErrors {
		domain, phase = errorPhase(b.header)
	}
	if b.crashed != "" {
		t := s.fail(b.at, b.crashed, "", "")
		t.block = b
		return
	}
	if t := s.byID[domain+"\x00"+phaseKey(phase)]; t != nil && t.block == nil {
		t.block, t.phase = b, phase
		return
	}
	free := func(t *pytestTest) bool { return t.block == nil && t.id != "" }
	t := s.unmatched(domain, phase, func(t *pytestTest) bool { return free(t) && b.sawFile(fileOf(t.id)) }, free)
	if t == nil {
		t = &pytestTest{domain: domain, phase: phase, at: b.at, block: b}
		s.add(t)
		return
	}
	t.block, t.phase = b, phase
}

// errorPhase reads the header of an entry of ERRORS.
func errorPhase(header string) (domain, phase string) {
	for _, p := range [...][2]string{{"ERROR collecting ", "collect"}, {"ERROR at setup of ", "setup"}, {"ERROR at teardown of ", "teardown"}} {
		if d, ok := strings.CutPrefix(header, p[0]); ok {
			return d, p[1]
		}
	}
	return strings.TrimPrefix(header, "ERROR "), "error"
}
