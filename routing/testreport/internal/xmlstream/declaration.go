package xmlstream

import (
	"bufio"
	"bytes"
	"io"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"

	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
)

// doctype skips a document type with its internal subset: brackets inside
// quotes and comments do not count. What it declares is not used.
func (x *Reader) doctype() error {
	depth, quote := 0, byte(0)
	for {
		c, err := x.br.ReadByte()
		if err != nil {
			return err
		}
		if c == '\n' {
			x.Line++
		}
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '<':
			if b, _ := x.br.Peek(3); string(b) == "!--" {
				_, _ = x.br.Discard(3)
				if err := x.until("-->", nil); err != nil {
					return err
				}
				continue
			}
			depth++
		case c == '>':
			if depth--; depth == 0 {
				return nil
			}
		}
	}
}

// instruction reads "<?…?>". The encoding an XML declaration names is put to
// use from there on, unless the input was decoded already.
func (x *Reader) instruction() error {
	var buf bounded.Text
	buf.Max = 1 << 10
	line := x.Line
	_, _ = x.br.Discard(2)
	for {
		frag, err := x.br.ReadSlice('>')
		if err != nil && err != bufio.ErrBufferFull {
			x.Spoil(line, "it ends inside a declaration")
			return io.EOF
		}
		x.Line += bytes.Count(frag, newline)
		buf.Add(frag)
		if err == nil && bytes.HasSuffix(frag, []byte("?>")) {
			break
		}
	}
	if s := buf.String(); x.recode && strings.HasPrefix(s, "xml") {
		x.recode = false
		if dec := decoderOf(s); dec != nil {
			x.br = bufio.NewReaderSize(dec.Reader(x.br), lines.HeadSize)
		}
	}
	return nil
}

// decoderOf returns the decoder for the encoding an XML declaration names, nil
// for the Unicode ones (the input is decoded by its bytes) and unknown ones.
func decoderOf(declaration string) *encoding.Decoder {
	_, s, ok := strings.Cut(declaration, "encoding")
	if !ok {
		return nil
	}
	s = strings.TrimLeft(s, " \t\r\n=")
	if len(s) < 2 || s[0] != '"' && s[0] != '\'' {
		return nil
	}
	name, _, _ := strings.Cut(s[1:], s[:1])
	name = strings.ToLower(strings.TrimSpace(name))
	if strings.HasPrefix(name, "utf") || strings.HasPrefix(name, "ucs") || strings.HasPrefix(name, "iso-10646") || name == "us-ascii" || name == "ascii" {
		return nil
	}
	e, err := htmlindex.Get(name)
	if err != nil {
		return nil
	}
	return e.NewDecoder()
}
