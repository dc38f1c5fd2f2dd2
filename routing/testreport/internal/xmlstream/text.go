package xmlstream

import (
	"bytes"
	"strconv"
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
