package ctrf

import (
	"strings"
	"unicode/utf8"
)

// appendSuite appends suite as the list of its parts, each masked by mask.
func appendSuite(b []byte, suite string, mask func(string) string) []byte {
	b = append(b, '[')
	for {
		part, rest, more := strings.Cut(suite, suiteSeparator)
		b = appendText(b, mask(part))
		if !more {
			return append(b, ']')
		}
		b, suite = append(b, ','), rest
	}
}

// plain holds the bytes that stand in JSON as they are.
var plain = func() (p [256]bool) {
	for c := 0x20; c < 0x7f; c++ {
		p[c] = true
	}
	for _, c := range `"\<>&` {
		p[c] = false
	}
	return p
}()

func allPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if !plain[s[i]] {
			return false
		}
	}
	return true
}

// appendText appends s as encoding/json writes it: <, > and & escaped, U+FFFD
// for invalid UTF-8.
func appendText(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plain[c] {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			b = appendEscape(append(b, s[from:i]...), c)
			i++
			from = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b = append(append(b, s[from:i]...), `\ufffd`...)
			from = i + n
		case r == 0x2028 || r == 0x2029:
			b = append(append(b, s[from:i]...), `\u202`...)
			b = append(b, '0'+byte(r&0xf))
			from = i + n
		}
		i += n
	}
	return append(append(b, s[from:]...), '"')
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, `\b`...)
	case '\f':
		return append(b, `\f`...)
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	case 0x7f:
		return append(b, c)
	}
	const hex = "0123456789abcdef"
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
}
