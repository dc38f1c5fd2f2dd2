package lines

import (
	"bufio"
	"bytes"
	"io"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// HeadSize is how many bytes of an input are looked at to tell its format.
const HeadSize = 64 << 10

// Input is a decoded byte stream: UTF-8 without byte order mark and without
// NUL bytes, whatever came in. Invalid UTF-8 becomes U+FFFD when a line or a
// text is taken from it, never earlier, so that nothing is cut inside a rune.
type Input struct {
	Buf    *bufio.Reader
	Count  *CountingReader
	Broken error // what, other than the end, kept head from being longer
}

// CountingReader counts the bytes read.
type CountingReader struct {
	R io.Reader
	N int64
}

// Read implements io.Reader.
func (c *CountingReader) Read(p []byte) (int, error) {
	n, err := c.R.Read(p)
	c.N += int64(n)
	return n, err
}

// NewInput decodes r. UTF-16 is recognised by its byte order mark, or without
// one by NUL bytes in every other place of the first bytes.
func NewInput(r io.Reader) *Input {
	c := &CountingReader{R: r}
	br := bufio.NewReaderSize(c, 4<<10) // what is read into a larger buffer passes it by
	head, _ := br.Peek(1024)
	var dec io.Reader = br
	switch enc := sniff(head); enc {
	case "utf-16le":
		dec = transform.NewReader(bufio.NewReaderSize(br, HeadSize), unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder())
	case "utf-16be":
		dec = transform.NewReader(bufio.NewReaderSize(br, HeadSize), unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewDecoder())
	case "utf-8-bom":
		_, _ = br.Discard(3)
	}
	return &Input{Buf: bufio.NewReaderSize(nulFilter{dec}, HeadSize), Count: c}
}

func sniff(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte{0xEF, 0xBB, 0xBF}):
		return "utf-8-bom"
	case bytes.HasPrefix(head, []byte{0xFF, 0xFE}):
		return "utf-16le"
	case bytes.HasPrefix(head, []byte{0xFE, 0xFF}):
		return "utf-16be"
	}
	n := min(len(head), 256) &^ 1
	if n < 8 {
		return ""
	}
	var even, odd int
	for i := 0; i < n; i++ {
		if head[i] == 0 {
			if i%2 == 0 {
				even++
			} else {
				odd++
			}
		}
	}
	switch {
	case odd > n/2*8/10 && even == 0:
		return "utf-16le"
	case even > n/2*8/10 && odd == 0:
		return "utf-16be"
	}
	return ""
}

// nulFilter drops NUL bytes, which no text format has and which hide what
// follows them from C-based tools.
type nulFilter struct{ r io.Reader }

func (f nulFilter) Read(p []byte) (int, error) {
	for {
		n, err := f.r.Read(p)
		k := n
		if bytes.IndexByte(p[:n], 0) >= 0 {
			k = 0
			for _, b := range p[:n] {
				if b != 0 {
					p[k] = b
					k++
				}
			}
		}
		if k > 0 || err != nil || n == 0 {
			return k, err
		}
	}
}

// Head returns the first bytes of the decoded stream without consuming them.
func (in *Input) Head() []byte {
	h, err := in.Buf.Peek(HeadSize)
	if err != io.EOF && err != bufio.ErrBufferFull {
		in.Broken = err
	}
	return h
}

// ReadLine returns the next line without its end ("\n" or "\r\n"), at most max
// bytes of it, and how many bytes were left out. The slice is valid until the
// next call. At the end of the stream it returns io.EOF and no line.
func (in *Input) ReadLine(max int, buf *[]byte) (line []byte, cut int, err error) {
	frag, err := in.Buf.ReadSlice('\n')
	if err == nil || (err == io.EOF && len(frag) > 0) {
		if len(frag) > max {
			return TrimEOL(frag[:max]), len(frag) - max, nil
		}
		return TrimEOL(frag), 0, nil
	}
	if err != bufio.ErrBufferFull {
		return nil, 0, err
	}
	b := (*buf)[:0]
	for {
		space := max - len(b)
		if space > len(frag) {
			space = len(frag)
		}
		b = append(b, frag[:space]...)
		cut += len(frag) - space
		if err != bufio.ErrBufferFull {
			break
		}
		frag, err = in.Buf.ReadSlice('\n')
	}
	*buf = b
	if err != nil && err != io.EOF {
		return TrimEOL(b), cut, err
	}
	return TrimEOL(b), cut, nil
}

// TrimEOL takes off the end of a line, "\n" or "\r\n".
func TrimEOL(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] == '\n' {
		b = b[:n-1]
	}
	if n := len(b); n > 0 && b[n-1] == '\r' {
		b = b[:n-1]
	}
	return b
}
