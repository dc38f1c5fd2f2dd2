// Package truncate shortens text to a limit without splitting a character, and says in the text
// that something is missing. The functions differ in what they keep and in what the limit counts;
// what they return never exceeds it unless the limit is too small for the note alone.
package truncate

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Ellipsis is the shortest note that something is missing.
const Ellipsis = "…"

// Head keeps the beginning of s and ends it with note: at most limit bytes in all.
func Head(s string, limit int, note string) string {
	if len(s) <= limit {
		return s
	}
	return s[:before(s, max(0, limit-len(note)))] + note
}

// Tail keeps the end of s behind note: at most limit bytes in all.
func Tail(s string, limit int, note string) string {
	if len(s) <= limit {
		return s
	}
	return note + s[after(s, len(s)-max(0, limit-len(note))):]
}

// Middle keeps as much of the beginning as of the end of s, around note: at most limit bytes in
// all. A limit that leaves little beside the note keeps the beginning alone.
func Middle(s string, limit int, note string) string {
	if len(s) <= limit {
		return s
	}
	if limit < 4*len(note) {
		return Head(s, limit, Ellipsis)
	}
	half := (limit - len(note)) / 2
	return s[:before(s, half)] + note + s[after(s, len(s)-half):]
}

// Counted keeps the first three quarters of limit bytes of s and the last quarter, and says between
// them how many bytes are left out. The note comes on top of the limit.
func Counted(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	head, tail := before(s, limit*3/4), after(s, len(s)-limit/4)
	return s[:head] + "\n[… " + strconv.Itoa(tail-head) + " bytes left out …]\n" + s[tail:]
}

// Runes keeps the beginning of s and ends it with note: at most limit characters in all.
func Runes(s string, limit int, note string) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:max(0, limit-utf8.RuneCountInString(note))]) + note
}

// MiddleRunes keeps the beginning and the end of s around an ellipsis: limit characters in all.
func MiddleRunes(s string, limit int) string {
	r := []rune(s)
	if len(r) <= limit {
		return s
	}
	tail := (limit - 1) / 2
	return string(r[:limit-1-tail]) + Ellipsis + string(r[len(r)-tail:])
}

// Lines keeps the first two thirds of limit lines and the last third, around a line that is an
// ellipsis, which comes on top of the limit.
func Lines(lines []string, limit int) []string {
	if len(lines) <= limit {
		return lines
	}
	head := limit * 2 / 3
	out := append(append([]string{}, lines[:head]...), Ellipsis)
	return append(out, lines[len(lines)-(limit-head):]...)
}

// Prefix returns at most limit bytes of the beginning of s, without a note: for what is a name or
// is counted by the caller.
func Prefix(s string, limit int) string { return Head(s, limit, "") }

// Message makes one line of an error message. It leaves out the middle of one that quotes more than a
// message says by itself: a list of all keys is kept whole.
func Message(s string) string {
	const most, head, tail = 4 << 10, 3 << 10, 512 // bytes
	s = strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "\uFFFD")
	if len(s) <= most {
		return s
	}
	return s[:before(s, head)] + " … " + s[after(s, len(s)-tail):]
}

// ShortSHA returns the first seven digits of a commit's SHA, as GitHub shows it.
func ShortSHA(sha string) string { return sha[:min(7, len(sha))] }

// before returns the last boundary of a character of s that is at most i.
func before(s string, i int) int {
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

// after returns the first boundary of a character of s that is at least i.
func after(s string, i int) int {
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return i
}
