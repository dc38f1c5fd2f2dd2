package xmlstream

import (
	"bufio"
	"bytes"
	"io"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
)

// Reader reads XML token by token in bounded memory: text is kept only where
// it is asked for and only up to a limit, so a system-out of a gigabyte costs
// nothing (encoding/xml buffers each text whole). It never expands entities
// beyond the five of XML and numeric ones and never opens anything outside.
//
// It forgives what test tools write in practice (a bare & or <, control
// characters, wrong end tags) but says so in malformed, so that nobody takes a
// damaged document for a complete one.
type Reader struct {
	br    *bufio.Reader
	max   int // bytes kept of one tag
	depth int // nesting at which the reader gives up
	Line  int // 1-based line of the next byte

	Stack     []string
	Attrs     []Attr
	values    []byte // of attrs, one behind the other
	ends      []int  // of each in values
	names     [64]nameCache
	tag       []byte
	scratch   []byte
	Carry     []byte // an entity cut by the buffer's end
	pending   bool   // the last start tag closed itself
	closed    bool   // a root element has ended
	recode    bool   // whether the declared encoding is to be applied
	InLog     bool   // text between suites is given line by line
	byLine    bool   // so is text in the element being read, if inLog
	Keep      *bounded.Text
	Malformed int // line of the first damage, 0 if none
	Damage    string
}

// Kind is what a Token is.
type Kind byte

const (
	Start Kind = iota
	End
	Text
)

// Token is a start tag, an end tag, or text. Its attributes are those of
// the reader and valid until the next token.
type Token struct {
	Kind Kind
	Name string // local name, without prefix
	Line int
}

// Attr is an attribute of a start tag.
type Attr struct{ Name, Value string }

// NewReader reads from br, of which base lines were read before. With recode, a declared encoding
// is applied.
func NewReader(br *bufio.Reader, lim model.Limits, base int, recode bool) *Reader {
	return &Reader{br: br, max: lim.Line, depth: max(lim.Depth*4, 64), Line: base + 1, recode: recode}
}

// Attr returns the value of the attribute of the last start tag, "" if none.
func (x *Reader) Attr(name string) string {
	for i := range x.Attrs {
		if x.Attrs[i].Name == name {
			return x.Attrs[i].Value
		}
	}
	return ""
}

// Spoil notes that the document is damaged at a line; the first damage counts.
func (x *Reader) Spoil(line int, what string) {
	if x.Malformed == 0 {
		x.Malformed, x.Damage = line, what
	}
}

// Next returns the next token. At the end of the input it returns io.EOF.
func (x *Reader) Next() (Token, error) {
	if x.pending {
		x.pending = false
		return x.pop(), nil
	}
	if x.Keep == nil && !x.InLog {
		if tok, ok := x.quick(); ok {
			return tok, nil
		}
	}
	for {
		blank, any, err := x.text()
		if err != nil {
			return Token{}, err
		}
		if any && !blank {
			// The "<" stays unread; the text is a token of its own.
			if x.closed && len(x.Stack) == 0 && !x.InLog {
				x.Spoil(x.Line, "text stands behind the end of the document") // which nobody reads, whatever it says
			}
			return Token{Kind: Text, Line: x.Line}, nil
		}
		tok, ok, err := x.markup()
		if err != nil || ok {
			return tok, err
		}
	}
}

// text consumes up to the next "<" and appends to keep, if set.
func (x *Reader) text() (blank, any bool, err error) {
	blank = true
	if x.InLog && x.Keep == nil && len(x.Stack) > 0 && (x.byLine || strings.HasPrefix(x.Stack[len(x.Stack)-1], "testsuite")) {
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
			x.Line += bytes.Count(frag, newline)
			if x.Keep != nil {
				x.addText(frag, end)
			}
		}
		switch {
		case end:
			return blank, any, nil
		case err == bufio.ErrBufferFull:
			continue
		}
		x.Carry = x.Carry[:0]
		if any && !blank && err == io.EOF {
			return blank, any, nil
		}
		return blank, any, err
	}
}

// textByLine is text that stops at the end of a line that is not blank: in a
// log, what follows may be no part of the document.
func (x *Reader) textByLine() (blank, any bool, err error) {
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
			x.Line++
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
func (x *Reader) addText(frag []byte, last bool) {
	if len(x.Carry) > 0 {
		x.Carry = append(x.Carry, frag...)
		frag = x.Carry
	}
	rest := 0
	if !last {
		if i := bytes.LastIndexByte(frag, '&'); i >= 0 && len(frag)-i < 12 && bytes.IndexByte(frag[i:], ';') < 0 {
			rest = len(frag) - i
		}
	}
	body := frag[:len(frag)-rest]
	if bytes.IndexByte(body, '&') < 0 {
		x.Keep.Add(body)
	} else {
		x.scratch = unescape(x.scratch[:0], body)
		x.Keep.Add(x.scratch)
	}
	x.Carry = append(x.Carry[:0], frag[len(frag)-rest:]...)
}

// markup reads what starts with "<". ok is false for what is no token:
// comments, declarations, CDATA (whose text is kept), a bare "<".
func (x *Reader) markup() (tok Token, ok bool, err error) {
	line := x.Line
	head, err := x.br.Peek(2)
	if err != nil {
		if len(head) == 1 {
			x.Spoil(line, "it ends inside a tag")
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
			x.Spoil(line, "it ends inside a tag")
			return tok, false, io.EOF
		}
		return x.endTag(localName(bytes.TrimSpace(name)), line)
	case isNameStart(c):
		_, _ = x.br.Discard(1)
		body, err := x.readTag()
		if err != nil {
			x.Spoil(line, "it ends inside a tag")
			return tok, false, io.EOF
		}
		return x.startTag(body, line)
	}
	_, _ = x.br.Discard(1)
	if x.Keep != nil {
		x.Keep.Add(head[:1])
	}
	return tok, false, nil
}

func isNameStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == ':' || c >= 0x80
}

// readTag returns what stands up to the ">" that ends the tag, quotes heeded,
// at most max bytes of it.
func (x *Reader) readTag() ([]byte, error) {
	x.tag = x.tag[:0]
	var quote byte
	for {
		frag, err := x.br.ReadSlice('>')
		if err != nil && err != bufio.ErrBufferFull {
			x.Line += bytes.Count(frag, newline)
			return nil, io.ErrUnexpectedEOF
		}
		x.Line += bytes.Count(frag, newline)
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

// Skip reads to the end of the element that was just opened. An end tag that
// closes an element further out ends it too.
func (x *Reader) Skip() error {
	depth := len(x.Stack) - 1
	for len(x.Stack) > depth {
		if _, err := x.Next(); err != nil {
			return err
		}
	}
	return nil
}

// Content reads to the end of the element that was just opened and keeps its
// text, that of child elements too, in buf.
func (x *Reader) Content(buf *bounded.Text) error {
	buf.Reset()
	x.Keep = buf
	err := x.Skip()
	x.Keep = nil
	x.Carry = x.Carry[:0]
	return err
}

// bang reads a comment, a CDATA section or a document type.
func (x *Reader) bang() error {
	line := x.Line
	head, _ := x.br.Peek(9)
	var err error
	switch {
	case bytes.HasPrefix(head, []byte("<!--")):
		_, _ = x.br.Discard(4)
		err = x.until("-->", nil)
	case bytes.Equal(head, []byte("<![CDATA[")):
		_, _ = x.br.Discard(9)
		err = x.until("]]>", x.Keep)
	default:
		err = x.doctype()
	}
	if err != nil {
		x.Spoil(line, "it ends inside a comment, CDATA section or declaration")
		return io.EOF
	}
	return nil
}

// until reads up to and with end, three bytes of which the last is ">", and
// adds what stands before it to keep.
func (x *Reader) until(end string, keep *bounded.Text) error {
	var last [3]byte
	for {
		frag, err := x.br.ReadSlice('>')
		if err != nil && err != bufio.ErrBufferFull {
			if keep != nil {
				keep.Add(frag)
			}
			return io.ErrUnexpectedEOF
		}
		x.Line += bytes.Count(frag, newline)
		for _, c := range frag[max(0, len(frag)-3):] {
			last[0], last[1], last[2] = last[1], last[2], c
		}
		if keep != nil {
			keep.Add(frag)
		}
		if err == nil && string(last[:]) == end {
			if keep != nil {
				keep.Trim(len(end))
			}
			return nil
		}
	}
}

// quick reads the next start or end tag if all of it, and the white space
// before it, stands in the buffer and is well-formed: nearly every token of a
// report. It does what text and markup do, without a copy of the tag; where it
// is not sure it consumes nothing and leaves the work to them.
func (x *Reader) quick() (tok Token, ok bool) {
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
	tok = Token{Kind: Start, Line: x.Line + lines}
	x.Line += lines + bytes.Count(b[i:i+n], newline)
	top := len(x.Stack) - 1
	tok.Name = x.Stack[top]
	if b[i+1] == '/' {
		tok.Kind = End
		x.Stack = x.Stack[:top]
		x.closed = top == 0
	}
	_, _ = x.br.Discard(i + n)
	return tok, true
}

// quickEnd returns the length of the end tag that b begins with if it closes
// the innermost element, else 0.
func (x *Reader) quickEnd(b []byte) int {
	if len(x.Stack) == 0 {
		return 0
	}
	name := x.Stack[len(x.Stack)-1]
	n := 2 + len(name)
	if n >= len(b) || b[n] != '>' || n >= x.max || string(b[2:n]) != name {
		return 0
	}
	return n + 1
}

// quickStart reads the start tag that b begins with, pushes its name and
// returns its length, 0 if the tag is not plain.
func (x *Reader) quickStart(b []byte) int {
	if len(x.Stack) >= x.depth {
		return 0
	}
	j := 1 + nameLen(b[1:])
	name := b[1:j]
	x.Attrs, x.values, x.ends = x.Attrs[:0], x.values[:0], x.ends[:0]
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
		x.Attrs[i].Value = all[from:end]
		from = end
	}
	x.Stack = append(x.Stack, x.intern(name))
	return j
}

// quickAttr reads the attribute at b[j:] and returns where it ends, 0 if it is
// not plain. Its value is added to values.
func (x *Reader) quickAttr(b []byte, j int) int {
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
	x.Attrs = append(x.Attrs, Attr{Name: x.intern(name)})
	x.ends = append(x.ends, len(x.values))
	return j + end + 2
}

// intern is localName with a memory: reports repeat a handful of names.
func (x *Reader) intern(b []byte) string {
	const long = 40
	if len(b) == 0 || len(b) > long {
		return localName(b)
	}
	at := &x.names[(len(b)*7+int(b[0])*3+int(b[len(b)-1]))%len(x.names)]
	if at.written != string(b) {
		*at = nameCache{string(b), localName(b)}
	}
	return at.local
}

// nameCache is a name as it is written and without its prefix.
type nameCache struct{ written, local string }

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

func (x *Reader) startTag(body []byte, line int) (Token, bool, error) {
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
	tok := Token{Kind: Start, Name: localName(name), Line: line}
	x.Stack = append(x.Stack, tok.Name)
	if len(x.Stack) > x.depth {
		x.Spoil(line, "it nests too deep")
		return tok, false, io.EOF
	}
	return tok, true, nil
}

func (x *Reader) parseAttrs(b []byte, line int) {
	x.Attrs = x.Attrs[:0]
	for {
		b = bytes.TrimLeft(b, " \t\r\n")
		if len(b) == 0 {
			return
		}
		eq := bytes.IndexByte(b, '=')
		if eq <= 0 {
			x.Spoil(line, "an attribute has no value")
			return
		}
		name := bytes.TrimRight(b[:eq], " \t\r\n")
		if bytes.ContainsAny(name, " \t\r\n\"'<") {
			x.Spoil(line, "an attribute is malformed")
		}
		b = bytes.TrimLeft(b[eq+1:], " \t\r\n")
		if len(b) == 0 || b[0] != '"' && b[0] != '\'' {
			x.Spoil(line, "an attribute is not quoted")
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
		x.Attrs = append(x.Attrs, Attr{localName(name), string(val)})
	}
}

// endTag closes the innermost element of that name and what is still open in it.
func (x *Reader) endTag(name string, line int) (Token, bool, error) {
	n := len(x.Stack)
	if n > 0 && x.Stack[n-1] == name {
		tok := x.pop()
		tok.Line = line
		return tok, true, nil
	}
	x.Spoil(line, "</"+bounded.CutText(name, 40)+"> closes nothing that is open")
	for i := n - 2; i >= 0; i-- {
		if x.Stack[i] == name {
			x.Stack = x.Stack[:i]
			return Token{Kind: End, Name: name, Line: line}, true, nil
		}
	}
	return Token{}, false, nil
}

func (x *Reader) pop() Token {
	n := len(x.Stack) - 1
	tok := Token{Kind: End, Name: x.Stack[n], Line: x.Line}
	x.Stack = x.Stack[:n]
	x.closed = n == 0
	return tok
}
