package testreport

import (
	"bufio"
	"bytes"
	"io"
	"strings"
)

// xmlReader reads XML token by token in bounded memory: text is kept only where
// it is asked for and only up to a limit, so a system-out of a gigabyte costs
// nothing (encoding/xml buffers each text whole). It never expands entities
// beyond the five of XML and numeric ones and never opens anything outside.
//
// It forgives what test tools write in practice (a bare & or <, control
// characters, wrong end tags) but says so in malformed, so that nobody takes a
// damaged document for a complete one.
type xmlReader struct {
	br    *bufio.Reader
	max   int // bytes kept of one tag
	depth int // nesting at which the reader gives up
	line  int // 1-based line of the next byte

	stack     []string
	attrs     []xmlAttr
	values    []byte // of attrs, one behind the other
	ends      []int  // of each in values
	names     [64]xmlName
	tag       []byte
	scratch   []byte
	carry     []byte // an entity cut by the buffer's end
	pending   bool   // the last start tag closed itself
	recode    bool   // whether the declared encoding is to be applied
	inLog     bool   // text between suites is given line by line
	byLine    bool   // so is text in the element being read, if inLog
	keep      *textBuf
	malformed int // line of the first damage, 0 if none
	damage    string
}

type xmlKind byte

const (
	xmlStart xmlKind = iota
	xmlEnd
	xmlText
)

// xmlToken is a start tag, an end tag, or text. Its attributes are those of
// the reader and valid until the next token.
type xmlToken struct {
	kind xmlKind
	name string // local name, without prefix
	line int
}

type xmlAttr struct{ name, value string }

func newXMLReader(br *bufio.Reader, lim Limits, base int, recode bool) *xmlReader {
	return &xmlReader{br: br, max: lim.Line, depth: max(lim.Depth*4, 64), line: base + 1, recode: recode}
}

// attr returns the value of the attribute of the last start tag, "" if none.
func (x *xmlReader) attr(name string) string {
	for i := range x.attrs {
		if x.attrs[i].name == name {
			return x.attrs[i].value
		}
	}
	return ""
}

func (x *xmlReader) spoil(line int, what string) {
	if x.malformed == 0 {
		x.malformed, x.damage = line, what
	}
}

// next returns the next token. At the end of the input it returns io.EOF.
func (x *xmlReader) next() (xmlToken, error) {
	if x.pending {
		x.pending = false
		return x.pop(), nil
	}
	if x.keep == nil && !x.inLog {
		if tok, ok := x.quick(); ok {
			return tok, nil
		}
	}
	for {
		blank, any, err := x.text()
		if err != nil {
			return xmlToken{}, err
		}
		if any && !blank {
			// The "<" stays unread; the text is a token of its own.
			return xmlToken{kind: xmlText, line: x.line}, nil
		}
		tok, ok, err := x.markup()
		if err != nil || ok {
			return tok, err
		}
	}
}

// text consumes up to the next "<" and appends to keep, if set.
func (x *xmlReader) text() (blank, any bool, err error) {
	blank = true
	if x.inLog && x.keep == nil && len(x.stack) > 0 && (x.byLine || strings.HasPrefix(x.stack[len(x.stack)-1], "testsuite")) {
		return x.textByLine()
	}
	for {
		frag, err := x.br.ReadSlice('<')
		end := err == nil
		if end {
			frag = frag[:len(frag)-1]
			_ = x.br.UnreadByte()
		}
		if len(frag) > 0 {
			any = true
			if blank && len(bytes.TrimSpace(frag)) > 0 {
				blank = false
			}
			x.line += bytes.Count(frag, newline)
			if x.keep != nil {
				x.addText(frag, end)
			}
		}
		switch {
		case end:
			return blank, any, nil
		case err == bufio.ErrBufferFull:
			continue
		}
		x.carry = x.carry[:0]
		if any && !blank && err == io.EOF {
			return blank, any, nil
		}
		return blank, any, err
	}
}

// textByLine is text that stops at the end of a line that is not blank: in a
// log, what follows may be no part of the document.
func (x *xmlReader) textByLine() (blank, any bool, err error) {
	blank = true
	for {
		c, err := x.br.ReadByte()
		switch {
		case err != nil && !blank:
			return blank, any, nil
		case err != nil:
			return blank, any, err
		case c == '<':
			return blank, any, x.br.UnreadByte()
		case c == '\n':
			x.line++
			if !blank {
				return blank, true, nil
			}
		case c > ' ':
			blank = false
		}
		any = true
	}
}

var newline = []byte{'\n'}

// addText decodes entities of one piece of text; an entity that runs over the
// end of the piece waits for the next.
func (x *xmlReader) addText(frag []byte, last bool) {
	if len(x.carry) > 0 {
		x.carry = append(x.carry, frag...)
		frag = x.carry
	}
	rest := 0
	if !last {
		if i := bytes.LastIndexByte(frag, '&'); i >= 0 && len(frag)-i < 12 && bytes.IndexByte(frag[i:], ';') < 0 {
			rest = len(frag) - i
		}
	}
	body := frag[:len(frag)-rest]
	if bytes.IndexByte(body, '&') < 0 {
		x.keep.add(body)
	} else {
		x.scratch = unescape(x.scratch[:0], body)
		x.keep.add(x.scratch)
	}
	x.carry = append(x.carry[:0], frag[len(frag)-rest:]...)
}

// markup reads what starts with "<". ok is false for what is no token:
// comments, declarations, CDATA (whose text is kept), a bare "<".
func (x *xmlReader) markup() (tok xmlToken, ok bool, err error) {
	line := x.line
	head, err := x.br.Peek(2)
	if err != nil {
		if len(head) == 1 {
			x.spoil(line, "it ends inside a tag")
		}
		return tok, false, io.EOF
	}
	switch c := head[1]; {
	case c == '!':
		return tok, false, x.bang()
	case c == '?':
		return tok, false, x.instruction()
	case c == '/':
		_, _ = x.br.Discard(2)
		name, err := x.readTag()
		if err != nil {
			x.spoil(line, "it ends inside a tag")
			return tok, false, io.EOF
		}
		return x.endTag(localName(bytes.TrimSpace(name)), line)
	case isNameStart(c):
		_, _ = x.br.Discard(1)
		body, err := x.readTag()
		if err != nil {
			x.spoil(line, "it ends inside a tag")
			return tok, false, io.EOF
		}
		return x.startTag(body, line)
	}
	_, _ = x.br.Discard(1)
	if x.keep != nil {
		x.keep.add(head[:1])
	}
	return tok, false, nil
}

func isNameStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == ':' || c >= 0x80
}

// readTag returns what stands up to the ">" that ends the tag, quotes heeded,
// at most max bytes of it.
func (x *xmlReader) readTag() ([]byte, error) {
	x.tag = x.tag[:0]
	var quote byte
	for {
		frag, err := x.br.ReadSlice('>')
		if err != nil && err != bufio.ErrBufferFull {
			x.line += bytes.Count(frag, newline)
			return nil, io.ErrUnexpectedEOF
		}
		x.line += bytes.Count(frag, newline)
		quote = quoteAfter(quote, frag)
		if len(x.tag) < x.max {
			x.tag = append(x.tag, frag[:min(len(frag), x.max-len(x.tag))]...)
		}
		if err == nil && quote == 0 {
			return bytes.TrimSuffix(x.tag, []byte{'>'}), nil
		}
	}
}

// quoteAfter returns the quote that is open behind b if quote was before it.
func quoteAfter(quote byte, b []byte) byte {
	for {
		if quote == 0 {
			i := bytes.IndexAny(b, `"'`)
			if i < 0 {
				return 0
			}
			quote, b = b[i], b[i+1:]
		}
		i := bytes.IndexByte(b, quote)
		if i < 0 {
			return quote
		}
		quote, b = 0, b[i+1:]
	}
}

// skip reads to the end of the element that was just opened. An end tag that
// closes an element further out ends it too.
func (x *xmlReader) skip() error {
	depth := len(x.stack) - 1
	for len(x.stack) > depth {
		if _, err := x.next(); err != nil {
			return err
		}
	}
	return nil
}

// content reads to the end of the element that was just opened and keeps its
// text, that of child elements too, in buf.
func (x *xmlReader) content(buf *textBuf) error {
	buf.reset()
	x.keep = buf
	err := x.skip()
	x.keep = nil
	x.carry = x.carry[:0]
	return err
}

// bang reads a comment, a CDATA section or a document type.
func (x *xmlReader) bang() error {
	line := x.line
	head, _ := x.br.Peek(9)
	var err error
	switch {
	case bytes.HasPrefix(head, []byte("<!--")):
		_, _ = x.br.Discard(4)
		err = x.until("-->", nil)
	case bytes.Equal(head, []byte("<![CDATA[")):
		_, _ = x.br.Discard(9)
		err = x.until("]]>", x.keep)
	default:
		err = x.doctype()
	}
	if err != nil {
		x.spoil(line, "it ends inside a comment, CDATA section or declaration")
		return io.EOF
	}
	return nil
}

// until reads up to and with end, three bytes of which the last is ">", and
// adds what stands before it to keep.
func (x *xmlReader) until(end string, keep *textBuf) error {
	var last [3]byte
	for {
		frag, err := x.br.ReadSlice('>')
		if err != nil && err != bufio.ErrBufferFull {
			if keep != nil {
				keep.add(frag)
			}
			return io.ErrUnexpectedEOF
		}
		x.line += bytes.Count(frag, newline)
		for _, c := range frag[max(0, len(frag)-3):] {
			last[0], last[1], last[2] = last[1], last[2], c
		}
		if keep != nil {
			keep.add(frag)
		}
		if err == nil && string(last[:]) == end {
			if keep != nil {
				keep.trim(len(end))
			}
			return nil
		}
	}
}
