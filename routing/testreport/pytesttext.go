package testreport

import (
	"strconv"
	"strings"
)

// kept collects the lines of a block in bounded memory: the first three
// quarters of max bytes and the last quarter, whatever comes between is counted.
type kept struct {
	max   int
	head  strings.Builder
	tail  []byte // lines behind the head, each after its line end
	lens  []int  // of the lines in tail
	off   int    // where in tail the first line is that is still kept
	first int    // which of lens that is
	lost  int    // bytes left out
}

func (k *kept) add(line string) {
	line = CutText(line, max(k.max/4, 64))
	if len(k.tail) == 0 && k.head.Len()+len(line) < k.max*3/4 {
		if k.head.Len() > 0 {
			k.head.WriteByte('\n')
		}
		k.head.WriteString(line)
		return
	}
	k.tail = append(append(k.tail, '\n'), line...)
	k.lens = append(k.lens, len(line)+1)
	for len(k.tail)-k.off > k.max/4 && k.first < len(k.lens)-1 {
		n := k.lens[k.first]
		k.off, k.lost, k.first = k.off+n, k.lost+n, k.first+1
	}
	if k.first > 64 && k.first > len(k.lens)/2 {
		k.tail = append(k.tail[:0], k.tail[k.off:]...)
		k.lens = append(k.lens[:0], k.lens[k.first:]...)
		k.off, k.first = 0, 0
	}
}

func (k *kept) String() string {
	s := k.head.String()
	if k.lost > 0 {
		s += "\n[… " + strconv.Itoa(k.lost) + " bytes left out …]"
	}
	return strings.Trim(s+string(k.tail[k.off:]), "\n")
}

// trimSpaces is strings.TrimRight(s, " "), small enough to be inlined.
func trimSpaces(s string) string {
	for len(s) > 0 && s[len(s)-1] == ' ' {
		s = s[:len(s)-1]
	}
	return s
}

// ruled reads a line like "==== title ====" and returns its title. The two
// rules differ by one character at most, which ordinary text hardly does.
func ruled(s string, c byte) (title string, ok bool) {
	s = trimSpaces(s)
	n := len(s)
	if n < 5 || s[0] != c || s[n-1] != c {
		return "", false
	}
	i, j := 0, n
	for i < n && s[i] == c {
		i++
	}
	for j > i && s[j-1] == c {
		j--
	}
	if j-i < 3 || s[i] != ' ' || s[j-1] != ' ' {
		return "", false
	}
	if d := (n - j) - i; d < -1 || d > 1 {
		return "", false
	}
	return strings.TrimSpace(s[i:j]), true
}

// leadingInt reads the digits at the start of s; the value is capped so that
// no input makes a reader emit without end.
func leadingInt(s string) (n int, rest string, ok bool) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		if n < 1<<24 {
			n = n*10 + int(s[i]-'0')
		}
		i++
	}
	return min(n, 1<<22), s[i:], i > 0
}

// location reads "path:line" or "path:line:column", as compilers, Node and
// Python print it, and returns what is left of it.
func location(s string) (file string, line, col int, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i <= 0 {
		return "", 0, 0, false
	}
	n, rest, isNum := leadingInt(s[i+1:])
	if !isNum || rest != "" {
		return "", 0, 0, false
	}
	j := strings.LastIndexByte(s[:i], ':')
	if j > 0 {
		if m, rest, isNum := leadingInt(s[j+1 : i]); isNum && rest == "" {
			return s[:j], m, n, true
		}
	}
	return s[:i], n, 0, true
}

// stepOver reports whether l says that the step which printed what came before
// has ended: nothing of a session that is still open can follow.
func stepOver(l Line) bool {
	if l.Mark == "" && (l.Text == "" || l.Text[0] != 'T') {
		return false // nearly all lines; the rest is too long to be inlined
	}
	return endsStep(l)
}

func endsStep(l Line) bool {
	switch l.Mark {
	case "error":
		return strings.HasPrefix(l.Text, "Process completed with exit code") ||
			strings.HasPrefix(l.Text, "The operation was canceled")
	case "group":
		return strings.HasPrefix(l.Text, "Run ")
	case "": // Travis
		return strings.HasPrefix(l.Text, `The command "`) && strings.Contains(l.Text, `" exited with `)
	}
	return false
}

// anonymous emits tests that a summary counts and nothing names. The budget is
// for the whole log: a summary is only text and may claim any number.
type anonymous struct{ left int }

func newAnonymous() *anonymous { return &anonymous{left: 1 << 22} }

func (a *anonymous) emit(out Sink, n int, t Test) {
	for ; n > 0 && a.left > 0; n, a.left = n-1, a.left-1 {
		out.Test(t)
	}
}

// foreign reports whether a path lies outside the project: installed
// packages, the interpreter's or the runtime's own files.
func foreign(path string) bool {
	for _, s := range [...]string{"site-packages/", "dist-packages/", "/lib/python", "node_modules/", "node:", "<frozen", "internal/", "/rustc/", ".cargo/registry", "library/std/", "library/core/"} {
		if strings.Contains(path, s) {
			return true
		}
	}
	return strings.HasPrefix(path, "<") || strings.HasPrefix(path, "native")
}
