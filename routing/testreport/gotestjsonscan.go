package testreport

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// goEvent is one line of go test -json. Output is valid until the next scan.
type goEvent struct {
	Time, Action, Package, ImportPath, Test, FailedBuild string

	Elapsed float64
	Output  []byte

	hasOutput bool
	buf       []byte
}

// scan reads a flat JSON object. It returns false if s is not the beginning of
// one; whole tells that it was read to its end. A line that was cut still gives
// the fields before the cut. Fields it does not know are skipped.
//
// It is about ten times faster than encoding/json and forgives the cut, which
// that cannot. On well-formed input the two agree.
func (e *goEvent) scan(s string) (ok, whole bool) {
	*e = goEvent{buf: e.buf[:0]}
	sc := jsonScan{s: s}
	sc.space()
	if !sc.eat('{') {
		return false, false
	}
	sc.space()
	if sc.eat('}') {
		return true, sc.atEnd()
	}
	for {
		sc.space()
		if sc.i >= len(s) {
			return true, false
		}
		key, kok, kwhole := sc.str(nil)
		if !kok {
			return false, false
		}
		if !kwhole {
			return true, false
		}
		sc.space()
		if !sc.eat(':') {
			return sc.i >= len(s), false
		}
		sc.space()
		vok, vwhole := e.value(&sc, key)
		if !vok || !vwhole {
			return vok, false
		}
		sc.space()
		switch {
		case sc.eat(','):
		case sc.eat('}'):
			return true, sc.atEnd()
		default:
			return sc.i >= len(s), false
		}
	}
}

func (e *goEvent) value(sc *jsonScan, key string) (ok, whole bool) {
	if sc.i >= len(sc.s) {
		return true, false
	}
	if sc.s[sc.i] != '"' {
		start := sc.i
		ok, whole = sc.skip(0)
		if key == "Elapsed" && ok && whole {
			if f, err := strconv.ParseFloat(sc.s[start:sc.i], 64); err == nil {
				e.Elapsed = f
			}
		}
		return ok, whole
	}
	var to *string
	switch key {
	case "Output":
		var b string
		b, ok, whole = sc.str(&e.buf)
		e.hasOutput = true
		if len(e.buf) > 0 {
			e.Output = e.buf
		} else {
			e.Output = append(e.buf, b...)
			e.buf = e.Output
		}
		return ok, whole
	case "Action":
		to = &e.Action
	case "Package":
		to = &e.Package
	case "Test":
		to = &e.Test
	case "ImportPath":
		to = &e.ImportPath
	case "FailedBuild":
		to = &e.FailedBuild
	case "Time":
		to = &e.Time
	default:
		var sink []byte
		_, ok, whole = sc.str(&sink)
		return ok, whole
	}
	v, ok, whole := sc.str(nil)
	if whole {
		*to = v // half a name is no name
	}
	return ok, whole
}

// jsonScan is a position in a JSON text.
type jsonScan struct {
	s string
	i int
}

func (c *jsonScan) space() {
	for c.i < len(c.s) {
		switch c.s[c.i] {
		case ' ', '\t', '\r', '\n':
			c.i++
		default:
			return
		}
	}
}

func (c *jsonScan) eat(b byte) bool {
	if c.i < len(c.s) && c.s[c.i] == b {
		c.i++
		return true
	}
	return false
}

func (c *jsonScan) atEnd() bool {
	c.space()
	return c.i == len(c.s)
}

// str reads a string. Without escapes it is a part of the text; with them it
// is decoded into buf, or a new buffer if that is nil.
func (c *jsonScan) str(buf *[]byte) (v string, ok, whole bool) {
	if !c.eat('"') {
		return "", false, false
	}
	start := c.i
	for c.i < len(c.s) {
		switch b := c.s[c.i]; {
		case b == '"':
			v = c.s[start:c.i]
			c.i++
			return v, true, true
		case b == '\\':
			return c.escaped(start, buf)
		case b < 0x20:
			return "", false, false
		}
		c.i++
	}
	return c.s[start:], true, false
}

// escaped reads on from the first escape of a string that began at start.
func (c *jsonScan) escaped(start int, buf *[]byte) (v string, ok, whole bool) {
	var own []byte
	if buf == nil {
		buf = &own
	}
	b := append((*buf)[:0], c.s[start:c.i]...)
	defer func() { *buf = b }()
	give := func() string {
		if buf == &own {
			return string(b)
		}
		return ""
	}
	for c.i < len(c.s) {
		switch ch := c.s[c.i]; {
		case ch == '"':
			c.i++
			return give(), true, true
		case ch < 0x20:
			return "", false, false
		case ch != '\\':
			b = append(b, ch)
			c.i++
		default:
			if c.i+1 >= len(c.s) {
				c.i = len(c.s)
				return give(), true, false
			}
			esc := c.s[c.i+1]
			if esc == 'u' {
				r, n := c.unicode()
				if n < 0 {
					return "", false, false
				}
				if n == 0 {
					c.i = len(c.s)
					return give(), true, false
				}
				b = utf8.AppendRune(b, r)
				c.i += n
				continue
			}
			d, known := unescaped(esc)
			if !known {
				return "", false, false
			}
			b = append(b, d)
			c.i += 2
		}
	}
	return give(), true, false
}

func unescaped(c byte) (byte, bool) {
	switch c {
	case 'n':
		return '\n', true
	case 't':
		return '\t', true
	case 'r':
		return '\r', true
	case 'b':
		return '\b', true
	case 'f':
		return '\f', true
	case '"', '\\', '/':
		return c, true
	}
	return 0, false
}

// unicode reads \uXXXX and a second one that completes a pair. It returns the
// length, 0 where the text ends within, -1 where it is malformed.
func (c *jsonScan) unicode() (rune, int) {
	r, n := hex4(c.s[c.i:])
	if n <= 0 || !utf16.IsSurrogate(r) {
		return r, n
	}
	if r2, n2 := hex4(c.s[c.i+6:]); n2 > 0 {
		if p := utf16.DecodeRune(r, r2); p != utf8.RuneError {
			return p, 12
		}
	}
	return utf8.RuneError, 6
}

func hex4(s string) (rune, int) {
	if len(s) >= 2 && s[:2] != "\\u" {
		return 0, -1
	}
	if len(s) < 6 {
		return 0, 0
	}
	n, err := strconv.ParseUint(s[2:6], 16, 32)
	if err != nil {
		return 0, -1
	}
	return rune(n), 6
}

// skip passes over any other value: numbers, words, nested ones.
func (c *jsonScan) skip(depth int) (ok, whole bool) {
	if c.i >= len(c.s) {
		return true, false
	}
	switch b := c.s[c.i]; {
	case b == '"':
		_, ok, whole := c.str(nil)
		return ok, whole
	case b == '{' || b == '[':
		return c.skipNested(depth)
	case b == '-' || b >= '0' && b <= '9' || b == 't' || b == 'f' || b == 'n':
		start := c.i
		for c.i < len(c.s) {
			b := c.s[c.i]
			if b == ',' || b == '}' || b == ']' || b <= ' ' {
				return jsonLiteral(c.s[start:c.i]), true
			}
			c.i++
		}
		return true, false
	}
	return false, false
}

func jsonLiteral(s string) bool {
	if s == "true" || s == "false" || s == "null" {
		return true
	}
	_, err := strconv.ParseFloat(s, 64)
	return err == nil && s[len(s)-1] != '.'
}

func (c *jsonScan) skipNested(depth int) (ok, whole bool) {
	if depth > 50 {
		return false, false
	}
	object := c.s[c.i] == '{'
	end := byte(']')
	if object {
		end = '}'
	}
	c.i++
	c.space()
	if c.eat(end) {
		return true, true
	}
	for {
		c.space()
		if c.i >= len(c.s) {
			return true, false
		}
		if object {
			if _, ok, whole := c.str(nil); !ok || !whole {
				return ok, false
			}
			c.space()
			if !c.eat(':') {
				return c.i >= len(c.s), false
			}
			c.space()
		}
		if ok, whole := c.skip(depth + 1); !ok || !whole {
			return ok, false
		}
		c.space()
		switch {
		case c.eat(','):
		case c.eat(end):
			return true, true
		default:
			return c.i >= len(c.s), false
		}
	}
}
