package diagnosis

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport"
)

// shape is what the structure of a log says of a line, whatever its words.
type shape uint8

const (
	traceEnd    shape = 1 << iota // the last line of a stack trace whose frames stand above it
	traceHead                     // the line above the frames of a stack trace
	afterBanner                   // the first text behind a line that announces a failure
	aboveFail                     // the line above one that says that a test failed
	oddRow                        // a row that says failed, next to rows of the same form that do not
	traceFrame                    // a frame
)

// maxShapes bounds how many lines' shapes are remembered.
const maxShapes = 2048

// shapes finds the structure of a log, line by line.
type shapes struct {
	of map[int]shape // by line number

	above  testreport.Line // the last line with text
	indent int             // of above
	frames int             // in the trace that is being read
	edge   int             // the indentation of the trace's header
	ends   bool            // the message stands behind the frames, not above them
	banner int             // lines with text that may follow the banner

	row     uint32 // form of above as a row of a table, 0: none
	rowSaid int    // what the row above says: 1 good, -1 bad, 0 neither
}

func (s *shapes) set(no int, f shape) {
	if s.of == nil {
		s.of = map[int]shape{}
	}
	if len(s.of) >= maxShapes {
		for k := range s.of { // the oldest half
			if k < no-maxShapes/2 {
				delete(s.of, k)
			}
		}
		if len(s.of) >= maxShapes {
			clear(s.of)
		}
	}
	s.of[no] |= f
}

// line reads the next line and returns its shape; head is the shape of the line with text before
// it, which the new one revealed.
func (s *shapes) line(l testreport.Line) (own, head shape) {
	lead := 0
	for lead < len(l.Text) && (l.Text[lead] == ' ' || l.Text[lead] == '\t') {
		lead++
	}
	if lead == len(l.Text) {
		if s.frames > 0 && !s.ends {
			s.frames = 0
		}
		s.row = 0
		return 0, 0
	}
	text := l.Text[lead:]
	switch {
	case isFrame(text, lead):
		own |= traceFrame
		if s.frames == 0 {
			s.edge = s.indent
			s.ends = strings.HasSuffix(s.above.Text, ":") && strings.Contains(s.above.Text, "last")
			if !s.ends && s.above.No > 0 && l.No-s.above.No <= 2 {
				head |= traceHead
			}
		}
		s.frames++
	case s.frames > 0 && s.ends && lead <= s.edge:
		own |= traceEnd
		s.frames = 0
	case s.frames > 0 && !s.ends && lead <= s.edge:
		s.frames = 0
	}
	if s.banner > 0 && own == 0 && letters(text) > 3 {
		s.banner--
		own |= afterBanner
	}
	if isFailHead(text) {
		if l.No-s.above.No == 1 && s.indent >= lead && !isFailHead(strings.TrimLeft(s.above.Text, " \t")) {
			head |= aboveFail
		}
	}
	if isBanner(text) {
		s.banner = 2
	}
	form, said := rowOf(text)
	if form != 0 && form == s.row && l.No-s.above.No == 1 {
		if said < 0 && s.rowSaid > 0 {
			own |= oddRow
		} else if said > 0 && s.rowSaid < 0 {
			head |= oddRow
		}
	}
	s.row, s.rowSaid = form, said
	if own != 0 {
		s.set(l.No, own)
	}
	if head != 0 {
		s.set(s.above.No, head)
	}
	return own, head
}

// seen ends the reading of a line that has text.
func (s *shapes) seen(l testreport.Line) {
	lead := len(l.Text) - len(strings.TrimLeft(l.Text, " \t"))
	if lead < len(l.Text) {
		s.above, s.indent = l, lead
	}
}

// isFrame reports whether text, which is indented by lead, is a frame of a stack trace, in any
// language: it begins as frames do and names a place.
func isFrame(text string, lead int) bool {
	switch text[0] {
	case 'a': // Java, JavaScript, C#, Rust
		return strings.HasPrefix(text, "at ") && strings.ContainsAny(text, ":(.")
	case 'F': // Python
		return strings.HasPrefix(text, `File "`) && strings.Contains(text, ", line ")
	case 'f': // Ruby
		return strings.HasPrefix(text, "from ") && placeAt(text) > 0
	case '#': // C, PHP
		return len(text) > 3 && text[1] >= '0' && text[1] <= '9' && strings.ContainsAny(text, ":(")
	}
	return lead > 0 && (strings.Contains(text, ":in `") || strings.Contains(text, ":in '") || strings.Contains(text, " +0x"))
}

// placeAt returns where ":<line number>" stands in text behind something with a dot, 0 if nowhere.
func placeAt(text string) int {
	dot := false
	for i := 0; i+1 < len(text); i++ {
		switch c := text[i]; {
		case c == '.' && text[i+1] != ' ':
			dot = true
		case (c == ':' || c == '(') && dot && i > 0 && text[i+1] >= '0' && text[i+1] <= '9':
			return i
		case c == ' ':
			dot = false
		}
	}
	return 0
}

// letters returns how many letters text has, at most 64 bytes of it.
func letters(text string) int {
	n := 0
	for i := range min(len(text), 64) {
		if c := text[i] | 0x20; c >= 'a' && c <= 'z' {
			n++
		}
	}
	return n
}

// isFailHead reports whether text is the head line of a failing test.
func isFailHead(text string) bool {
	if text == "" {
		return false
	}
	switch text[0] {
	case '-':
		return strings.HasPrefix(text, "--- FAIL")
	case 'F':
		return strings.HasPrefix(text, "FAIL: ") || strings.HasPrefix(text, "FAILED ")
	case '[':
		return strings.HasPrefix(text, "[  FAILED  ]")
	case 'n':
		return strings.HasPrefix(text, "not ok ")
	}
	return false
}

// isBanner reports whether text announces that failures follow: a short heading with such a word
// that ends with a colon or stands between rules of signs.
func isBanner(text string) bool {
	if len(text) > 80 || len(text) < 4 {
		return false
	}
	last := text[len(text)-1]
	signs := text[0] == last && strings.IndexByte("=-*#_~", last) >= 0 || strings.HasPrefix(text, "==") || strings.HasPrefix(text, "--") || strings.HasPrefix(text, "**")
	if last != ':' && !signs {
		return false
	}
	t := strings.ToLower(text)
	for _, w := range [...]string{"fail", "error", "wrong", "problem", "exception", "fatal", "unmet", "violation"} {
		if strings.Contains(t, w) {
			return !strings.Contains(t, "0 fail") && !strings.Contains(t, "0 error") && !strings.Contains(t, "no error")
		}
	}
	return false
}

// rowOf returns the form of text as a row of a table that ends with or holds a status, 0 if it has
// none: a hash of its separators. said is 1 if the status is good and -1 if it is bad.
func rowOf(text string) (form uint32, said int) {
	if len(text) < 6 || len(text) > 400 {
		return 0, 0
	}
	bars := strings.Count(text, "|")
	dots := strings.Contains(text, "....")
	if bars < 2 && !dots {
		return 0, 0
	}
	form = uint32(bars)*2 + 1
	if dots {
		form += 1 << 16
	}
	t := strings.ToUpper(text)
	switch {
	case strings.Contains(t, "FAIL") || strings.Contains(t, "ERROR") || strings.Contains(text, "✗") || strings.Contains(text, "❌") || strings.Contains(text, "✘"):
		said = -1
	case strings.Contains(t, "PASS") || strings.Contains(t, "SUCCESS") || strings.Contains(t, "OK") || strings.Contains(text, "✓") || strings.Contains(text, "✔") || strings.Contains(text, "✅"):
		said = 1
	}
	return form, said
}
