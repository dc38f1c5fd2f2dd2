package testreport

import (
	"bytes"
)

// quick reads the next start or end tag if all of it, and the white space
// before it, stands in the buffer and is well-formed: nearly every token of a
// report. It does what text and markup do, without a copy of the tag; where it
// is not sure it consumes nothing and leaves the work to them.
func (x *xmlReader) quick() (tok xmlToken, ok bool) {
	b, _ := x.br.Peek(x.br.Buffered())
	i, lines := 0, 0
	for i < len(b) && b[i] <= ' ' {
		switch b[i] {
		case '\n':
			lines++
		case ' ', '\t', '\r':
		default:
			return tok, false
		}
		i++
	}
	if i+2 >= len(b) || b[i] != '<' {
		return tok, false
	}
	n := 0
	if b[i+1] == '/' {
		n = x.quickEnd(b[i:])
	} else if isNameStart(b[i+1]) {
		n = x.quickStart(b[i:])
	}
	if n == 0 {
		return tok, false
	}
	tok = xmlToken{kind: xmlStart, line: x.line + lines}
	x.line += lines + bytes.Count(b[i:i+n], newline)
	top := len(x.stack) - 1
	tok.name = x.stack[top]
	if b[i+1] == '/' {
		tok.kind = xmlEnd
		x.stack = x.stack[:top]
	}
	_, _ = x.br.Discard(i + n)
	return tok, true
}

// quickEnd returns the length of the end tag that b begins with if it closes
// the innermost element, else 0.
func (x *xmlReader) quickEnd(b []byte) int {
	if len(x.stack) == 0 {
		return 0
	}
	name := x.stack[len(x.stack)-1]
	n := 2 + len(name)
	if n >= len(b) || b[n] != '>' || n >= x.max || string(b[2:n]) != name {
		return 0
	}
	return n + 1
}

// quickStart reads the start tag that b begins with, pushes its name and
// returns its length, 0 if the tag is not plain.
func (x *xmlReader) quickStart(b []byte) int {
	if len(x.stack) >= x.depth {
		return 0
	}
	j := 1 + nameLen(b[1:])
	name := b[1:j]
	x.attrs, x.values, x.ends = x.attrs[:0], x.values[:0], x.ends[:0]
	for {
		j = skipSpace(b, j)
		if j+1 >= len(b) || j >= x.max {
			return 0
		}
		if b[j] == '>' {
			j++
			break
		}
		if b[j] == '/' && b[j+1] == '>' {
			x.pending = true
			j += 2
			break
		}
		if j = x.quickAttr(b, j); j == 0 {
			return 0
		}
	}
	all, from := string(x.values), 0
	for i, end := range x.ends {
		x.attrs[i].value = all[from:end]
		from = end
	}
	x.stack = append(x.stack, x.intern(name))
	return j
}

// quickAttr reads the attribute at b[j:] and returns where it ends, 0 if it is
// not plain. Its value is added to values.
func (x *xmlReader) quickAttr(b []byte, j int) int {
	n := nameLen(b[j:])
	if n == 0 {
		return 0
	}
	name := b[j : j+n]
	if j = skipSpace(b, j+n); j >= len(b) || b[j] != '=' {
		return 0
	}
	if j = skipSpace(b, j+1); j >= len(b) || b[j] != '"' && b[j] != '\'' {
		return 0
	}
	end := bytes.IndexByte(b[j+1:], b[j])
	if end < 0 {
		return 0
	}
	val := b[j+1 : j+1+end]
	if bytes.IndexByte(val, '&') >= 0 {
		x.values = unescape(x.values, val)
	} else {
		x.values = append(x.values, val...)
	}
	x.attrs = append(x.attrs, xmlAttr{name: x.intern(name)})
	x.ends = append(x.ends, len(x.values))
	return j + end + 2
}

// intern is localName with a memory: reports repeat a handful of names.
func (x *xmlReader) intern(b []byte) string {
	const long = 40
	if len(b) == 0 || len(b) > long {
		return localName(b)
	}
	at := &x.names[(len(b)*7+int(b[0])*3+int(b[len(b)-1]))%len(x.names)]
	if at.written != string(b) {
		*at = xmlName{string(b), localName(b)}
	}
	return at.local
}

// xmlName is a name as it is written and without its prefix.
type xmlName struct{ written, local string }

// nameByte holds the bytes of plain names.
var nameByte = func() (t [256]bool) {
	for i := range t {
		c := byte(i)
		t[i] = isNameStart(c) || c >= '0' && c <= '9' || c == '-' || c == '.'
	}
	return t
}()

func nameLen(b []byte) int {
	i := 0
	for i < len(b) && nameByte[b[i]] {
		i++
	}
	return i
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}
