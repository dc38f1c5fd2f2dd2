package ctrf

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/switchback-ci/switchback/routing/report"
)

// appendTest appends what json.Marshal(entry(t)) gives, a test compares the
// two, at a tenth of the price: a document of a million tests is little else.
func appendTest(b []byte, t *report.Test) []byte {
	b = appendText(append(b, `{"name":`...), named(t.Name))
	status, raw := status(t.Status)
	b = appendText(append(b, `,"status":`...), status)
	b = strconv.AppendInt(append(b, `,"duration":`...), max(0, t.Duration.Milliseconds()), 10)
	if t.Suite != "" {
		b = appendSuite(append(b, `,"suite":[`...), t.Suite)
	}
	if shows(t) {
		b = appendField(b, `,"message":`, t.Message)
		b = appendField(b, `,"trace":`, t.Trace)
	}
	b = appendNumber(b, `,"line":`, t.Line)
	b = appendField(b, `,"rawStatus":`, raw)
	b = appendField(b, `,"filePath":`, t.File)
	b = appendNumber(b, `,"retries":`, t.Retries)
	if t.Flaky {
		b = append(b, `,"flaky":true`...)
	}
	return append(b, '}')
}

func appendSuite(b []byte, suite string) []byte {
	for {
		part, rest, more := strings.Cut(suite, suiteSeparator)
		b = appendText(b, part)
		if !more {
			return append(b, ']')
		}
		b, suite = append(b, ','), rest
	}
}

func appendField(b []byte, key, value string) []byte {
	if value == "" {
		return b
	}
	return appendText(append(b, key...), value)
}

func appendNumber(b []byte, key string, n int) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendInt(append(b, key...), int64(n), 10)
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
