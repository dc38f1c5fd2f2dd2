package parse

import (
	"strconv"
	"strings"
)

// TrimSpaces is strings.TrimRight(s, " "), small enough to be inlined.
func TrimSpaces(s string) string {
	for len(s) > 0 && s[len(s)-1] == ' ' {
		s = s[:len(s)-1]
	}
	return s
}

// Ruled reads a line like "==== title ====" and returns its title. The two
// rules differ by one character at most, which ordinary text hardly does.
func Ruled(s string, c byte) (title string, ok bool) {
	s = TrimSpaces(s)
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

// OnlyOf reports whether t, at least n bytes, consists of c alone.
func OnlyOf(t string, c byte, n int) bool {
	if len(t) < n {
		return false
	}
	for i := 0; i < len(t); i++ {
		if t[i] != c {
			return false
		}
	}
	return true
}

// JoinPath joins the parts of a suite's name, without empty ones.
func JoinPath(parts ...string) string {
	kept := make([]string, 0, len(parts))
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, " > ")
}

// FirstLine returns the first line of s without blanks around it.
func FirstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return strings.TrimSpace(s)
}

// Dedent takes off the indentation that all lines share.
func Dedent(s string) string {
	lines := strings.Split(s, "\n")
	common := -1
	for _, l := range lines {
		if strings.TrimSpace(l) == "" {
			continue
		}
		n := len(l) - len(strings.TrimLeft(l, " "))
		if common < 0 || n < common {
			common = n
		}
	}
	if common <= 0 {
		return strings.Trim(s, "\n")
	}
	for i, l := range lines {
		lines[i] = l[min(common, len(l)-len(strings.TrimLeft(l, " "))):]
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// Quoted returns what stands between the first and the last single quote.
func Quoted(s string) string { return QuotedBy(s, '\'') }

// QuotedBy returns what stands between the first and the last q.
func QuotedBy(s string, q byte) string {
	i, j := strings.IndexByte(s, q), strings.LastIndexByte(s, q)
	if i < 0 || j <= i {
		return ""
	}
	return s[i+1 : j]
}

// IsDotted recognises names joined by dots.
func IsDotted(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '_' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return s != ""
}

// HeadLine returns the first line of s as it is.
func HeadLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// LastParen is strings.LastIndex(s, " ("), quicker where it stands near the end.
func LastParen(s string) int {
	for i := len(s) - 2; i >= 0; i-- {
		if s[i] == ' ' && s[i+1] == '(' {
			return i
		}
	}
	return -1
}

// Unindent removes the indentation that all lines of a block share.
func Unindent(text string) string {
	lines := strings.Split(text, "\n")
	least := 1 << 20
	for _, l := range lines {
		if s := strings.TrimLeft(l, " "); s != "" && !strings.HasPrefix(s, "[… ") {
			least = min(least, len(l)-len(s))
		}
	}
	for i, l := range lines {
		lines[i] = l[min(least, len(l)-len(strings.TrimLeft(l, " "))):]
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// Plural returns "1 test", "2 tests".
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// IsIdent reports whether s is made of letters, digits and the extra bytes given.
func IsIdent(s, extra string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80 || strings.IndexByte(extra, c) >= 0) {
			return false
		}
	}
	return s != ""
}

// FirstOf returns the first that is not empty.
func FirstOf(s ...string) string {
	for _, v := range s {
		if v != "" {
			return v
		}
	}
	return ""
}

// HasAny reports whether s contains one of the words.
func HasAny(s string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// YAMLScalar returns the value of a scalar of YAML, without its quotes.
func YAMLScalar(s string) string {
	if n := len(s); n >= 2 && (s[0] == '\'' || s[0] == '"') && s[n-1] == s[0] {
		if s[0] == '\'' {
			return strings.ReplaceAll(s[1:n-1], "''", "'")
		}
		return s[1 : n-1]
	}
	return s
}
