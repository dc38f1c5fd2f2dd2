package testreport

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// takeRaw implements bulkReader: it takes events of go test -json that are
// written as test2json does, their fields in their order, plain ASCII.
func (g *goTestJSON) takeRaw(b []byte, most, no int) int {
	n := g.plain(b, most)
	if n > 0 {
		g.take(&g.event, Line{No: no})
	}
	return n
}

var (
	goTimeKey    = []byte(`{"Time":"`)
	goFirstKey   = []byte(`{"Action":"`)
	goActionKey  = []byte(`,"Action":"`)
	goPackageKey = []byte(`,"Package":"`)
	goTestKey    = []byte(`,"Test":"`)
	goElapsedKey = []byte(`,"Elapsed":`)
	goOutputKey  = []byte(`,"Output":"`)
)

// goPlainActions are the actions of plain events, the frequent ones first.
var goPlainActions = [...]string{"output", "run", "pass", "fail", "skip", "pause", "cont", "start", "bench"}

// plain reads the event on the line that b begins with into g.event and
// g.text. It returns the line's length, at most most, or 0 if the line is not
// there whole or not plain.
func (g *goTestJSON) plain(b []byte, most int) int {
	e := &g.event
	*e = goEvent{buf: e.buf[:0]}
	i := 0
	switch {
	case bytes.HasPrefix(b, goTimeKey):
		n := plainLen(b[len(goTimeKey):])
		if i = len(goTimeKey) + n; n == 0 || i >= len(b) || b[i] != '"' || !bytes.HasPrefix(b[i+1:], goActionKey) {
			return 0
		}
		i += 1 + len(goActionKey)
	case bytes.HasPrefix(b, goFirstKey):
		i = len(goFirstKey)
	default:
		return 0
	}
	for _, a := range &goPlainActions {
		if b[min(i, len(b)-1)] == a[0] && i+len(a) < len(b) && b[i+len(a)] == '"' && string(b[i:i+len(a)]) == a {
			e.Action = a
			i += len(a) + 1
			break
		}
	}
	if e.Action == "" || !bytes.HasPrefix(b[i:], goPackageKey) {
		return 0
	}
	last := ""
	if g.last != nil {
		last = g.last.name
	}
	if e.Package, i = plainName(b, i+len(goPackageKey), last); i == 0 {
		return 0
	}
	if bytes.HasPrefix(b[i:], goTestKey) {
		last = ""
		if g.lastTest != nil {
			last = g.lastTest.name
		}
		if e.Test, i = plainName(b, i+len(goTestKey), last); i == 0 {
			return 0
		}
	}
	if bytes.HasPrefix(b[i:], goElapsedKey) {
		i += len(goElapsedKey)
		n := i
		for n < len(b) && (b[n] >= '0' && b[n] <= '9' || b[n] == '.') {
			n++
		}
		f, ok := plainDecimal(string(b[i:n]))
		if !ok || b[i] == '.' || b[n-1] == '.' {
			return 0
		}
		e.Elapsed, i = f, n
	}
	g.text = ""
	if bytes.HasPrefix(b[i:], goOutputKey) {
		n := e.plainOutput(b[i+len(goOutputKey):])
		if n == 0 {
			return 0
		}
		i += len(goOutputKey) + n
	}
	if i+1 >= len(b) || b[i] != '}' || b[i+1] != '\n' || i > most {
		return 0
	}
	if e.hasOutput {
		g.text, _ = clean(trimEOL(e.Output))
	}
	return i + 2
}

// plainName reads a name of plain ASCII at b[i:], up to its quote; last is
// what it probably is. It returns where it ends, 0 if it is empty or not plain.
func plainName(b []byte, i int, last string) (string, int) {
	if n := len(last); n > 0 && i+n < len(b) && b[i+n] == '"' && string(b[i:i+n]) == last {
		return last, i + n + 1
	}
	n := plainLen(b[i:])
	if n == 0 || i+n >= len(b) || b[i+n] != '"' {
		return "", 0
	}
	return string(b[i : i+n]), i + n + 1
}

// plainOutput decodes the string that b begins with, behind its quote, into
// Output. It returns its length with the quote at its end, 0 if it is not plain.
func (e *goEvent) plainOutput(b []byte) int {
	for i := 0; ; {
		n := plainLen(b[i:])
		e.buf = append(e.buf, b[i:i+n]...)
		i += n
		if i+1 >= len(b) {
			return 0
		}
		if b[i] == '"' {
			e.Output, e.hasOutput = e.buf, true
			return i + 1
		}
		if b[i] != '\\' {
			return 0
		}
		if b[i+1] != 'u' {
			c, ok := unescaped(b[i+1])
			if !ok {
				return 0
			}
			e.buf = append(e.buf, c)
			i += 2
			continue
		}
		if i+6 > len(b) {
			return 0
		}
		r, err := strconv.ParseUint(string(b[i+2:i+6]), 16, 32)
		if err != nil || r >= 0xd800 && r < 0xe000 {
			return 0 // a pair is left to the slower reader
		}
		e.buf = utf8.AppendRune(e.buf, rune(r))
		i += 6
	}
}

// plainByte holds what stands in a JSON string for itself: ASCII that is
// neither a control character nor a quote nor a backslash.
var plainByte = func() (t [256]bool) {
	for c := 0x20; c < 0x7f; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

func plainLen(b []byte) int {
	for i, c := range b {
		if !plainByte[c] {
			return i
		}
	}
	return len(b)
}
