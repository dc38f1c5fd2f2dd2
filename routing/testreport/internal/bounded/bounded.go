package bounded

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// CutText returns s if it has at most max bytes, else its first three quarters
// and its last quarter of max around a note of how much is missing. It never
// cuts inside a rune.
func CutText(s string, max int) string {
	if len(s) <= max {
		return s
	}
	head, tail := max*3/4, len(s)-max/4
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + "\n[… " + strconv.Itoa(tail-head) + " bytes left out …]\n" + s[tail:]
}

// Block collects the lines of a block in bounded memory: the first three
// quarters of max bytes and the last quarter, whatever comes between is counted.
type Block struct {
	Max   int
	Head  strings.Builder
	Tail  []byte // lines behind the head, each after its line end
	lens  []int  // of the lines in tail
	off   int    // where in tail the first line is that is still kept
	first int    // which of lens that is
	lost  int    // bytes left out
}

// Add adds a line; a long one loses its middle.
func (k *Block) Add(line string) {
	line = CutText(line, max(k.Max/4, 64))
	if len(k.Tail) == 0 && k.Head.Len()+len(line) < k.Max*3/4 {
		if k.Head.Len() > 0 {
			k.Head.WriteByte('\n')
		}
		k.Head.WriteString(line)
		return
	}
	k.Tail = append(append(k.Tail, '\n'), line...)
	k.lens = append(k.lens, len(line)+1)
	for len(k.Tail)-k.off > k.Max/4 && k.first < len(k.lens)-1 {
		n := k.lens[k.first]
		k.off, k.lost, k.first = k.off+n, k.lost+n, k.first+1
	}
	if k.first > 64 && k.first > len(k.lens)/2 {
		k.Tail = append(k.Tail[:0], k.Tail[k.off:]...)
		k.lens = append(k.lens[:0], k.lens[k.first:]...)
		k.off, k.first = 0, 0
	}
}

// String returns the lines, with a note where bytes are missing.
func (k *Block) String() string {
	s := k.Head.String()
	if k.lost > 0 {
		s += "\n[… " + strconv.Itoa(k.lost) + " bytes left out …]"
	}
	return strings.Trim(s+string(k.Tail[k.off:]), "\n")
}
