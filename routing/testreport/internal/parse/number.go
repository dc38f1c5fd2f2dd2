package parse

import (
	"math"
	"strconv"
	"strings"
)

// LeadingInt reads the digits at the start of s; the value is capped so that
// no input makes a reader emit without end.
func LeadingInt(s string) (n int, rest string, ok bool) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		if n < 1<<24 {
			n = n*10 + int(s[i]-'0')
		}
		i++
	}
	return min(n, 1<<22), s[i:], i > 0
}

// Number reads s if it is a number and nothing else. Most of what is no number costs nothing.
func Number(s string) (n int, ok bool) {
	if s == "" || s[0] > '9' || s[0] < '0' && s[0] != '-' && s[0] != '+' {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}

// Counted reads "3 failed" and the like: a number, a blank and a word.
func Counted(s string) (n int, word string, ok bool) {
	n, rest, ok := LeadingInt(s)
	if !ok || len(rest) < 2 || rest[0] != ' ' {
		return 0, "", false
	}
	return n, rest[1:], true
}

// CountedList reads "3 examples, 1 failure" into calls of take; it is false
// if a part is not counted or take refuses it.
func CountedList(s string, take func(n int, word string) bool) bool {
	for s != "" {
		part, rest, _ := strings.Cut(s, ", ")
		n, word, ok := Counted(part)
		if !ok || !take(n, word) {
			return false
		}
		s = rest
	}
	return true
}

// wordBefore returns the number in front of a word: NumBefore("3 tests, 1 failed", " failed") is 1.
func NumBefore(s, word string) (int, bool) {
	i := strings.Index(s, word)
	if i <= 0 {
		return 0, false
	}
	j := i
	for j > 0 && s[j-1] >= '0' && s[j-1] <= '9' {
		j--
	}
	n, _, ok := LeadingInt(s[j:i])
	return n, ok
}

// NumAfter returns the number behind a label: NumAfter("Failed: 1,", "Failed:") is 1.
func NumAfter(s, label string) (int, bool) {
	i := strings.Index(s, label)
	if i < 0 {
		return 0, false
	}
	n, _, ok := LeadingInt(strings.TrimLeft(s[i+len(label):], " "))
	return n, ok
}

// Declared reads a counting attribute; -1 means none.
func Declared(s string) int {
	n, ok := Number(strings.TrimSpace(s))
	if !ok || n < 0 || n > math.MaxInt32 {
		return -1
	}
	return n
}
