package lines

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// Line is one line of a log after cleaning: without the runner's timestamp,
// ANSI sequences, control characters, and valid UTF-8.
type Line struct {
	No   int    // 1-based in the input
	Text string // cleaned
	// Mark is the runner's own marking: "error", "warning", "notice",
	// "command", "group", "endgroup", "debug", "section" or "".
	// Text is then what stands behind the mark.
	Mark string
	// Props are the properties of a workflow command in its own form, "file=a.go,line=3,title=x". A
	// job's log no longer has them.
	Props string
	Cut   int // bytes of the line that were left out
	// Passing says that a console took the line for the start or the pass of a
	// test, and for nothing else: no word in it says what went wrong.
	Passing bool
}

// Clean makes a Line's Text of raw bytes. The common case (plain ASCII, no
// escape) costs one scan and one string.
func Clean(raw []byte) (text, mark string) { return (*Texts)(nil).Clean(raw) }

// Clean is the function of that name, with the memory of s.
func (s *Texts) Clean(raw []byte) (text, mark string) {
	if allPlain(raw) {
		raw = trimLeadingTime(raw)
	} else if allShown(raw) {
		raw = trimLeadingTime(trimLeadingTime(raw)) // twice, as below
	} else if raw = trimTimestamp(raw); NeedsScrub(raw) {
		raw = Scrub(raw)
		raw = trimTimestamp(raw) // a coloured prefix may hide one
	}
	if len(raw) < 2 {
		return string(raw), ""
	}
	switch {
	case raw[0] == '#' && bytes.HasPrefix(raw, []byte("##[")):
		if i := bytes.IndexByte(raw, ']'); i > 0 && i < 20 {
			return string(raw[i+1:]), string(raw[3:i])
		}
	case raw[0] == ':' && raw[1] == ':':
		if t, m, ok := workflowCommand(string(raw)); ok {
			return t, m
		}
	}
	return s.of(raw), ""
}

// Texts makes strings of short lines, several in one piece of memory. Who keeps
// one keeps the piece, which is no more than a long line would be.
type Texts struct{ piece strings.Builder }

const (
	pieceSize = 512
	ShortLine = 128
)

func (s *Texts) of(b []byte) string {
	if s == nil || len(b) > ShortLine || b[0] == '{' { // names in events are kept by the million
		return string(b)
	}
	if s.piece.Cap()-s.piece.Len() < len(b) {
		s.piece.Reset()
		s.piece.Grow(pieceSize)
	}
	n := s.piece.Len()
	_, _ = s.piece.Write(b)
	return s.piece.String()[n:]
}

// workflowCommand reads "::error file=a,line=1::text" as printed by a step
// whose commands were not processed.
// Properties returns the properties of a workflow command, "" if raw is none or has none.
func Properties(raw []byte) string {
	i := bytes.Index(raw, []byte("::"))
	if i < 0 || i > 60 {
		return ""
	}
	rest := raw[i+2:]
	end := bytes.Index(rest, []byte("::"))
	if end < 0 {
		return ""
	}
	_, props, _ := bytes.Cut(rest[:end], []byte(" "))
	if NeedsScrub(props) {
		props = Scrub(props)
	}
	return string(props)
}

// Property returns the value of a property.
func Property(props, name string) string {
	for _, p := range strings.Split(props, ",") {
		if v, ok := strings.CutPrefix(strings.TrimSpace(p), name+"="); ok {
			return commandData.Replace(v)
		}
	}
	return ""
}

// CommandData decodes the message of a workflow command.
func CommandData(s string) string { return commandData.Replace(s) }

var commandData = strings.NewReplacer("%0A", "\n", "%0a", "\n", "%0D", "", "%0d", "", "%3A", ":", "%3a", ":", "%2C", ",", "%2c", ",", "%25", "%")

func workflowCommand(s string) (text, mark string, ok bool) {
	rest := s[2:]
	name, text, found := strings.Cut(rest, "::")
	if !found {
		return "", "", false
	}
	name, _, _ = strings.Cut(name, " ")
	switch name {
	case "error", "warning", "notice", "group", "endgroup", "debug":
		return text, name, true
	}
	return "", "", false
}

var columnOne = []byte("\x1b[1G")

const ones = 0x0101010101010101

// allPlain reports whether b holds no byte but those of ASCII that show as they are.
func allPlain(b []byte) bool {
	// Eight bytes at a time: a high bit shows where one is below 0x20 or above
	// 0x7e. The borrow of one such byte may hit others, but is then one already.
	n := len(b)
	if n < 8 {
		for _, c := range b {
			if c < 0x20 || c >= 0x7f {
				return false
			}
		}
		return true
	}
	x := binary.LittleEndian.Uint64(b)
	seen := (x - 0x20*ones) | (x + ones) | x
	if seen&(0x80*ones) != 0 {
		return false // marks of tests stand at the start
	}
	for i := 8; i < n-8; i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		seen |= (x - 0x20*ones) | (x + ones) | x
	}
	x = binary.LittleEndian.Uint64(b[n-8:])
	seen |= (x - 0x20*ones) | (x + ones) | x
	return seen&(0x80*ones) == 0
}

// plainPart returns how many bytes at the start of b are of ASCII and show as
// they are.
func plainPart(b []byte) int {
	// Eight bytes at a time, as allPlain. No byte is borrowed of those before it.
	i := 0
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		if high := ((x - 0x20*ones) | (x + ones) | x) & (0x80 * ones); high != 0 {
			return i + bits.TrailingZeros64(high)/8
		}
	}
	if i > 0 && i < len(b) { // the last ones, with blanks behind them
		rest := len(b) - i
		x := binary.LittleEndian.Uint64(b[len(b)-8:])>>(64-8*rest) | (0x20*ones)<<(8*rest)
		if high := ((x - 0x20*ones) | (x + ones) | x) & (0x80 * ones); high != 0 {
			return i + bits.TrailingZeros64(high)/8
		}
		return len(b)
	}
	for i < len(b) && b[i] >= 0x20 && b[i] < 0x7f {
		i++
	}
	return i
}

// allShown reports whether b is valid UTF-8 without tabs and all that scrub
// changes. It may deny it of characters that are rare.
func allShown(b []byte) bool {
	for i := plainPart(b); i < len(b); {
		n := shownLen(b[i:])
		if n == 0 {
			return false
		}
		i += n
		if i < len(b) && b[i] < 0x80 { // most words are all ASCII or all not
			i += plainPart(b[i:])
		}
	}
	return true
}

// shownLen returns the length of the character at the start of b, 0 if it may
// be one that scrub changes. Invisible are none that begin with the bytes let through.
func shownLen(b []byte) int {
	switch c := b[0]; {
	case c >= 0x20 && c < 0x7f:
		return 1
	case c >= 0xe2 && c <= 0xec:
		if len(b) > 2 && b[1]&0xc0 == 0x80 && b[2]&0xc0 == 0x80 && (c > 0xe2 || b[1] > 0x81) {
			return 3
		}
	case c >= 0xc3 && c <= 0xdf && c != 0xd8:
		if len(b) > 1 && b[1]&0xc0 == 0x80 {
			return 2
		}
	}
	return 0
}

// NeedsScrub reports whether b may hold what Scrub changes.
func NeedsScrub(b []byte) bool {
	// Eight bytes at a time: a high bit shows where one is below 0x20 or above
	// 0x7e. Tabs show too and are told apart byte by byte.
	for len(b) >= 8 {
		x := binary.LittleEndian.Uint64(b)
		if ((x-0x20*ones)|(x+ones)|x)&(0x80*ones) != 0 && odd(b[:8]) {
			return true
		}
		b = b[8:]
	}
	return odd(b)
}

func odd(b []byte) bool {
	for _, c := range b {
		if (c < 0x20 && c != '\t') || c >= 0x7f {
			return true
		}
	}
	return false
}

// Scrub removes ANSI escape sequences, applies carriage returns the way a
// terminal shows them (the last non-empty part wins), drops control,
// zero-width and bidi characters and replaces invalid UTF-8.
func Scrub(b []byte) []byte {
	if i := bytes.LastIndexByte(bytes.TrimRight(b, "\r"), '\r'); i >= 0 {
		if last := bytes.TrimRight(b[i+1:], "\r"); len(bytes.TrimSpace(last)) > 0 {
			b = last
		}
	}
	if bytes.IndexByte(b, 0x1b) >= 0 {
		if i := bytes.LastIndex(b, columnOne); i >= 0 { // the cursor's way of a carriage return
			if rest := b[i+len(columnOne):]; len(bytes.TrimSpace(rest)) > 0 {
				b = rest
			}
		}
	}
	var out []byte // nil while all so far stays as it is
	kept := 0      // what out holds ends here in b
	for i := 0; i < len(b); {
		n, shown := visible(b[i:])
		if !shown {
			if out == nil {
				out = make([]byte, 0, len(b))
			}
			out = append(out, b[kept:i]...)
			if r, _ := utf8.DecodeRune(b[i:]); r == utf8.RuneError && b[i] >= 0x80 && n == 1 {
				out = utf8.AppendRune(out, r)
			}
			kept = i + n
		}
		i += n
	}
	if out == nil {
		return b
	}
	return append(out, b[kept:]...)
}

// visible returns the length of what stands at the start of b, a character or
// an escape sequence, and whether it is shown as it is.
func visible(b []byte) (n int, shown bool) {
	switch c := b[0]; {
	case c == '\t' || c >= 0x20 && c < 0x7f:
		for n = 1; n < len(b) && b[n] >= 0x20 && b[n] < 0x7f; n++ {
		}
		return n, true
	case c == 0x1b:
		return escapeLen(b), false
	case c < 0x80:
		return 1, false
	}
	r, n := utf8.DecodeRune(b)
	return n, !Invisible(r) && (r != utf8.RuneError || n > 1)
}

// escapeLen returns the length of the escape sequence at the start of b.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 1
	}
	switch b[1] {
	case '[': // CSI: parameters, intermediates, one final byte
		for i := 2; i < len(b); i++ {
			if b[i] >= 0x40 && b[i] <= 0x7e {
				return i + 1
			}
			if b[i] < 0x20 || b[i] > 0x7e {
				return i
			}
		}
		return len(b)
	case ']': // OSC: up to BEL or ST
		for i := 2; i < len(b); i++ {
			if b[i] == 0x07 {
				return i + 1
			}
			if b[i] == 0x1b && i+1 < len(b) && b[i+1] == '\\' {
				return i + 2
			}
		}
		return len(b)
	case '(', ')':
		return min(3, len(b))
	}
	return 2
}

// Invisible reports whether r shows nothing or changes the direction of what
// follows: C1 controls, zero-width and bidirectional formatting characters,
// variation tags. U+200D is kept out too: it joins emoji, but also hides text.
func Invisible(r rune) bool {
	switch {
	case r >= 0x80 && r < 0xa0,
		r == 0x00ad, r == 0x061c, r == 0x180e,
		r >= 0x200b && r <= 0x200f,
		r >= 0x2028 && r <= 0x202e,
		r >= 0x2060 && r <= 0x206f,
		r == 0xfeff,
		r >= 0xfff9 && r <= 0xfffb,
		r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return false
}

// trimTimestamp removes what CI runners put before a line: GitHub's
// "2024-01-02T03:04:05.1234567Z ", with or without the "job\tstep\t" that
// `gh run view --log` adds.
// Jenkins and Taskcluster set the time in brackets: "[2024-…Z] ", "[task 2024-…Z] ".
func trimTimestamp(b []byte) []byte {
	if rest := trimLeadingTime(b); len(rest) < len(b) {
		return rest
	}
	// gh run view --log: "job name\tstep name\t2024-…Z text"
	if i := bytes.IndexByte(b, '\t'); i > 0 && i < 200 {
		if j := bytes.IndexByte(b[i+1:], '\t'); j >= 0 && j < 200 {
			rest := bytes.TrimPrefix(b[i+j+2:], []byte("\xEF\xBB\xBF"))
			if n := timestampLen(rest); n > 0 {
				return rest[n:]
			}
		}
	}
	return b
}

// trimLeadingTime is trimTimestamp for lines without tabs.
func trimLeadingTime(b []byte) []byte {
	if len(b) == 0 || b[0] != '[' && b[0]-'0' > 9 {
		return b // inlined, for the many lines without
	}
	return trimTimeAhead(b)
}

func trimTimeAhead(b []byte) []byte {
	switch c := b[0]; {
	case c == '[':
		rest := bytes.TrimPrefix(b[1:], []byte("task "))
		if n := bracketedLen(rest); n > 0 {
			return rest[n:]
		}
	case c >= '0' && c <= '9':
		return b[timestampLen(b):]
	}
	return b
}

// bracketedLen returns the length of a leading "2024-01-02T03:04:05.123Z] ", or 0.
func bracketedLen(b []byte) int {
	const layout = "dddd-dd-ddTdd:dd:dd.dddZ]"
	if len(b) < len(layout) || b[len(layout)-1] != ']' {
		return 0
	}
	for i := 0; i < len(layout); i++ {
		c := b[i]
		if layout[i] == 'd' && (c < '0' || c > '9') || layout[i] != 'd' && c != layout[i] {
			return 0
		}
	}
	if len(b) > len(layout) && b[len(layout)] == ' ' {
		return len(layout) + 1
	}
	return len(layout)
}

// timestampLen returns the length of a leading RFC 3339 time in UTC with
// fraction, and the one space behind it, or 0. A time without a fraction is
// left alone: programs print those themselves.
func timestampLen(b []byte) int {
	const whole, fraction = len("dddd-dd-ddTdd:dd:dd."), len("ddddddd") // of GitHub's runners
	if len(b) < whole+2 || b[4] != '-' || !timeStart.is(b) || !timeMiddle.is(b[8:]) || !timeEnd.is(b[whole-8:]) {
		return 0
	}
	i := whole
	if len(b) > whole+fraction && timeFraction.is(b[whole:]) {
		i += fraction
	} else {
		for i < len(b) && b[i] >= '0' && b[i] <= '9' {
			i++
		}
		if i-whole < 6 || i >= len(b) || b[i] != 'Z' {
			return 0
		}
	}
	i++
	if i < len(b) && b[i] == ' ' {
		i++
	}
	return i
}

// shape is what eight bytes look like: digits and, where none stands, given bytes.
type shape struct{ flip, least uint64 }

// shapeOf makes a shape of eight bytes, in which d stands for a digit.
func shapeOf(layout string) (s shape) {
	for i := 7; i >= 0; i-- {
		flip, least := uint64(layout[i]), uint64(0x7f)
		if layout[i] == 'd' {
			flip, least = '0', 0x7f-9
		}
		s.flip, s.least = s.flip<<8|flip, s.least<<8|least
	}
	return s
}

// is reports whether b begins with eight bytes of the shape: what is left of
// each behind flip is at most 9 for a digit and 0 for a given byte.
func (s shape) is(b []byte) bool {
	x := binary.LittleEndian.Uint64(b) ^ s.flip
	return (x|(x+s.least))&(0x80*ones) == 0
}

var (
	timeStart    = shapeOf("dddd-dd-")
	timeMiddle   = shapeOf("ddTdd:dd")
	timeEnd      = shapeOf("d:dd:dd.")
	timeFraction = shapeOf("dddddddZ")
)
