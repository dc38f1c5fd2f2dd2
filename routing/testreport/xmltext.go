package testreport

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

var knownNames = map[string]string{}

func init() {
	for _, n := range []string{
		"testsuites", "testsuite", "testcase", "failure", "error", "skipped", "system-out", "system-err", "properties", "property",
		"name", "classname", "class", "time", "file", "line", "message", "type", "tests", "failures", "errors", "status", "result",
		"value", "timestamp", "hostname", "id", "package", "assertions", "disabled", "url",
	} {
		knownNames[n] = n
	}
}

// localName returns the name without its prefix, without an allocation for
// the names that every report is full of.
func localName(b []byte) string {
	if i := bytes.LastIndexByte(b, ':'); i > 0 && i < len(b)-1 {
		b = b[i+1:]
	}
	if s, ok := knownNames[string(b)]; ok {
		return s
	}
	return string(b)
}

// unescape appends b to out; it replaces the five entities of XML and numeric ones; any other stays
// as it is written.
func unescape(out, b []byte) []byte {
	for {
		i := bytes.IndexByte(b, '&')
		if i < 0 {
			return append(out, b...)
		}
		out, b = append(out, b[:i]...), b[i:]
		end := bytes.IndexByte(b[:min(len(b), 12)], ';')
		if end < 0 {
			out, b = append(out, '&'), b[1:]
			continue
		}
		if r, ok := entity(string(b[1:end])); ok {
			out = utf8.AppendRune(out, r)
		} else {
			out = append(out, b[:end+1]...)
		}
		b = b[end+1:]
	}
}

func entity(name string) (rune, bool) {
	switch name {
	case "lt":
		return '<', true
	case "gt":
		return '>', true
	case "amp":
		return '&', true
	case "quot":
		return '"', true
	case "apos":
		return '\'', true
	}
	if len(name) < 2 || name[0] != '#' {
		return 0, false
	}
	digits, base := name[1:], 10
	if digits[0] == 'x' || digits[0] == 'X' {
		digits, base = digits[1:], 16
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || n > utf8.MaxRune {
		return 0, false
	}
	return rune(n), true
}

// textBuf keeps the first and the last bytes of a text, each up to max.
type textBuf struct {
	max        int
	head, tail []byte
	dropped    int
}

func (t *textBuf) reset() { t.head, t.tail, t.dropped = t.head[:0], t.tail[:0], 0 }

func (t *textBuf) add(b []byte) {
	if room := t.max - len(t.head); room > 0 {
		n := min(room, len(b))
		t.head, b = append(t.head, b[:n]...), b[n:]
	}
	if len(b) > t.max {
		t.dropped += len(t.tail) + len(b) - t.max
		t.tail = append(t.tail[:0], b[len(b)-t.max:]...)
		return
	}
	t.tail = append(t.tail, b...)
	t.shrink()
}

// shrink cuts the tail to its last max bytes once it has twice that.
func (t *textBuf) shrink() {
	if len(t.tail) > 2*t.max {
		over := len(t.tail) - t.max
		t.dropped += over
		t.tail = append(t.tail[:0], t.tail[over:]...)
	}
}

// trim removes the last n bytes.
func (t *textBuf) trim(n int) {
	k := min(n, len(t.tail))
	t.tail = t.tail[:len(t.tail)-k]
	t.head = t.head[:max(0, len(t.head)-(n-k))]
}

// String returns the text, valid UTF-8, with a note where bytes are missing.
func (t *textBuf) String() string {
	if t.dropped == 0 {
		return cleanText(string(t.head) + string(t.tail))
	}
	return cleanText(string(t.head) + "\n[… " + strconv.Itoa(t.dropped) + " bytes left out …]\n" + string(t.tail))
}

// cleanText removes ANSI sequences, control and invisible characters and
// carriage returns from a text of several lines.
func cleanText(s string) string {
	if !needsScrubText(s) {
		return s
	}
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, l := range lines {
		if b := []byte(l); needsScrub(b) {
			lines[i] = string(scrub(b))
		}
	}
	return strings.Join(lines, "\n")
}

func needsScrubText(s string) bool {
	// Eight bytes at a time as in needsScrub.
	const ones = 0x0101010101010101
	for len(s) >= 8 {
		x := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		if ((x-0x20*ones)|(x+ones)|x)&(0x80*ones) != 0 && oddText(s[:8]) {
			return true
		}
		s = s[8:]
	}
	return oddText(s)
}

func oddText(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 && c != '\n' && c != '\t' || c >= 0x7f {
			return true
		}
	}
	return false
}
