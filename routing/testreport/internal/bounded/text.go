package bounded

import (
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
)

// Text keeps the first and the last bytes of a text, each up to max.
type Text struct {
	Max        int
	Head, tail []byte
	dropped    int
}

// Reset empties the text and keeps its memory.
func (t *Text) Reset() { t.Head, t.tail, t.dropped = t.Head[:0], t.tail[:0], 0 }

// Add adds bytes.
func (t *Text) Add(b []byte) {
	if space := t.Max - len(t.Head); space > 0 {
		n := min(space, len(b))
		t.Head, b = append(t.Head, b[:n]...), b[n:]
	}
	if len(b) > t.Max {
		t.dropped += len(t.tail) + len(b) - t.Max
		t.tail = append(t.tail[:0], b[len(b)-t.Max:]...)
		return
	}
	t.tail = append(t.tail, b...)
	t.shrink()
}

// shrink cuts the tail to its last max bytes once it has twice that.
func (t *Text) shrink() {
	if len(t.tail) > 2*t.Max {
		over := len(t.tail) - t.Max
		t.dropped += over
		t.tail = append(t.tail[:0], t.tail[over:]...)
	}
}

// Trim removes the last n bytes.
func (t *Text) Trim(n int) {
	k := min(n, len(t.tail))
	t.tail = t.tail[:len(t.tail)-k]
	t.Head = t.Head[:max(0, len(t.Head)-(n-k))]
}

// String returns the text, valid UTF-8, with a note where bytes are missing.
func (t *Text) String() string {
	if t.dropped == 0 {
		return CleanText(string(t.Head) + string(t.tail))
	}
	return CleanText(string(t.Head) + "\n[… " + strconv.Itoa(t.dropped) + " bytes left out …]\n" + string(t.tail))
}

// CleanText removes ANSI sequences, control and invisible characters and
// carriage returns from a text of several lines.
func CleanText(s string) string {
	if !needsScrubText(s) {
		return s
	}
	parts := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, l := range parts {
		if b := []byte(l); lines.NeedsScrub(b) {
			parts[i] = string(lines.Scrub(b))
		}
	}
	return strings.Join(parts, "\n")
}

func needsScrubText(s string) bool {
	// Eight bytes at a time as in lines.NeedsScrub.
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

// AddLine adds a line and its end.
func (t *Text) AddLine(s string) {
	if len(t.Head) == t.Max && len(t.tail)+len(s) < 2*t.Max {
		t.tail = append(append(t.tail, s...), '\n') // as below
		return
	}
	t.addString(s)
	t.addString("\n")
}

func (t *Text) addString(s string) {
	if n := min(t.Max-len(t.Head), len(s)); n > 0 {
		t.Head, s = append(t.Head, s[:n]...), s[n:]
	}
	if s == "" {
		return
	}
	if len(s) > t.Max {
		t.dropped += len(s) - t.Max
		s = s[len(s)-t.Max:]
	}
	t.tail = append(t.tail, s...)
	t.shrink()
}
