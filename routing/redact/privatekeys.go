package redact

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
)

// A key between its lines, or to the end of a text that is cut. In JSON its line ends are escaped.
var privateKey = lazyregexp.New(`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|$)`)

// What a PuTTY key file has behind the number of private lines.
var puttyKey = lazyregexp.New(`(?s)Private-Lines: \d+\s.*?(?:Private-MAC: [0-9a-f]+|$)`)

// keyBodies masks private keys, also where the log that showed them is cut: without the first
// line, and without both.
func keyBodies(s string) string {
	if strings.Contains(s, "-----BEGIN ") && strings.Contains(s, "PRIVATE KEY") {
		s = privateKey.ReplaceAllString(s, Mask)
	}
	if strings.Contains(s, "Private-Lines: ") {
		s = puttyKey.ReplaceAllString(s, Mask)
	}
	if strings.IndexByte(s, '\n') < 0 {
		return s
	}
	return bodies(s)
}

// fullLine reports whether a line has the width of a key's: 64 characters in PEM and PGP, 70 in
// OpenSSH. MIME, in which images are sent, has 76. Hashes have fewer kinds of characters.
func fullLine(line string) bool {
	return (len(line) == 64 || len(line) == 70) && base64Text(line) && allKinds(line)
}

func base64Text(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] != '=' && (!base64Char(s[i]) || s[i] == '-' || s[i] == '_') {
			return false
		}
	}
	return true
}

// allKinds reports whether s has letters of both cases and digits.
func allKinds(s string) bool {
	return strings.ContainsAny(s, "abcdefghijklmnopqrstuvwxyz") && strings.ContainsAny(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") && strings.ContainsAny(s, "0123456789")
}

// payload returns where the text of a line of a log begins: behind a time, a quote mark and blanks.
func payload(line string) int {
	i := 0
	if n := strings.IndexByte(line, ' '); n >= 20 && n <= 35 && line[n-1] == 'Z' && line[4] == '-' && line[10] == 'T' {
		i = n + 1
	}
	for i < len(line) && strings.IndexByte(" \t>|", line[i]) >= 0 {
		i++
	}
	return i
}

// body is the body of a key that stands without its first line: base64 over several lines.
type body struct {
	from, to int
	full     int  // lines of a key's width
	closed   bool // a shorter line ended it
}

// bodies masks bodies of keys: two full lines or more, or lines that the last line of a key
// follows. Those of certificates, public keys and signatures stay.
func bodies(s string) string {
	var b strings.Builder
	var at body
	copied, public := 0, false
	end := func(last int) {
		if at.full >= 2 && !public || at.full >= 1 && last > 0 {
			b.WriteString(s[copied:at.from])
			b.WriteString(Mask)
			copied = max(at.to, last)
		}
		at = body{}
	}
	for from := 0; from < len(s); {
		next := len(s) + 1
		if n := strings.IndexByte(s[from:], '\n'); n >= 0 {
			next = from + n + 1
		}
		line := strings.TrimRight(s[from:next-1], " \r")
		start := from
		if len(line) > 12 {
			start += payload(line)
		}
		text, to := s[start:from+len(line)], from+len(line)
		switch {
		case fullLine(text) && !at.closed:
			if at.full == 0 && at.to == 0 {
				at.from = start
			}
			at.full, at.to = at.full+1, to
		case at.full > 0 && len(text) >= 4 && len(text) <= 70 && base64Text(text) && (!at.closed || text[0] == '='):
			at.to, at.closed = to, true
		case strings.HasPrefix(text, "-----END ") && strings.Contains(text, "PRIVATE KEY"):
			end(to)
			public = false
		default:
			end(0)
			if strings.HasPrefix(text, "----") {
				public = strings.Contains(text, "BEGIN ")
			}
			if len(text) >= 16 && len(text) < 70 && base64Text(text) && allKinds(text) {
				at = body{from: start, to: to} // may be the rest of a line that was cut
			}
		}
		from = next
	}
	end(0)
	if copied == 0 {
		return s
	}
	b.WriteString(s[copied:])
	return b.String()
}
