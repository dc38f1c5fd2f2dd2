package testreport

import (
	"bytes"
	"io"
)

func (x *xmlReader) startTag(body []byte, line int) (xmlToken, bool, error) {
	if n := len(body); n > 0 && body[n-1] == '/' {
		x.pending = true
		body = body[:n-1]
	}
	i := bytes.IndexAny(body, " \t\r\n")
	name := body
	if i >= 0 {
		name = body[:i]
		body = body[i:]
	} else {
		body = nil
	}
	x.parseAttrs(body, line)
	tok := xmlToken{kind: xmlStart, name: localName(name), line: line}
	x.stack = append(x.stack, tok.name)
	if len(x.stack) > x.depth {
		x.spoil(line, "it nests too deep")
		return tok, false, io.EOF
	}
	return tok, true, nil
}

func (x *xmlReader) parseAttrs(b []byte, line int) {
	x.attrs = x.attrs[:0]
	for {
		b = bytes.TrimLeft(b, " \t\r\n")
		if len(b) == 0 {
			return
		}
		eq := bytes.IndexByte(b, '=')
		if eq <= 0 {
			x.spoil(line, "an attribute has no value")
			return
		}
		name := bytes.TrimRight(b[:eq], " \t\r\n")
		if bytes.ContainsAny(name, " \t\r\n\"'<") {
			x.spoil(line, "an attribute is malformed")
		}
		b = bytes.TrimLeft(b[eq+1:], " \t\r\n")
		if len(b) == 0 || b[0] != '"' && b[0] != '\'' {
			x.spoil(line, "an attribute is not quoted")
			return
		}
		end := bytes.IndexByte(b[1:], b[0])
		val := b[1:]
		if end >= 0 {
			val, b = b[1:1+end], b[end+2:]
		} else {
			b = nil // the tag was cut
		}
		if bytes.IndexByte(val, '&') >= 0 {
			x.scratch = unescape(x.scratch[:0], val)
			val = x.scratch
		}
		x.attrs = append(x.attrs, xmlAttr{localName(name), string(val)})
	}
}

// endTag closes the innermost element of that name and what is still open in it.
func (x *xmlReader) endTag(name string, line int) (xmlToken, bool, error) {
	n := len(x.stack)
	if n > 0 && x.stack[n-1] == name {
		tok := x.pop()
		tok.line = line
		return tok, true, nil
	}
	x.spoil(line, "</"+CutText(name, 40)+"> closes nothing that is open")
	for i := n - 2; i >= 0; i-- {
		if x.stack[i] == name {
			x.stack = x.stack[:i]
			return xmlToken{kind: xmlEnd, name: name, line: line}, true, nil
		}
	}
	return xmlToken{}, false, nil
}

func (x *xmlReader) pop() xmlToken {
	n := len(x.stack) - 1
	tok := xmlToken{kind: xmlEnd, name: x.stack[n], line: x.line}
	x.stack = x.stack[:n]
	return tok
}
