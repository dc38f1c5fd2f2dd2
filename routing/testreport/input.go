package testreport

import (
	"bufio"
	"bytes"
	"io"

	"github.com/switchback-ci/switchback/routing/truncate"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

const headSize = 64 << 10

// input is a decoded byte stream: UTF-8 without byte order mark and without
// NUL bytes, whatever came in. Invalid UTF-8 becomes U+FFFD when a line or a
// text is taken from it, never earlier, so that nothing is cut inside a rune.
type input struct {
	br     *bufio.Reader
	count  *countingReader
	broken error // what, other than the end, kept head from being longer
}

type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// newInput decodes r. UTF-16 is recognised by its byte order mark, or without
// one by NUL bytes in every other place of the first bytes.
func newInput(r io.Reader) *input {
	c := &countingReader{r: r}
	br := bufio.NewReaderSize(c, 4<<10) // what is read into a larger buffer passes it by
	head, _ := br.Peek(1024)
	var dec io.Reader = br
	switch enc := sniff(head); enc {
	case "utf-16le":
		dec = transform.NewReader(bufio.NewReaderSize(br, headSize), unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder())
	case "utf-16be":
		dec = transform.NewReader(bufio.NewReaderSize(br, headSize), unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewDecoder())
	case "utf-8-bom":
		_, _ = br.Discard(3)
	}
	return &input{br: bufio.NewReaderSize(nulFilter{dec}, headSize), count: c}
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

// head returns the first bytes of the decoded stream without consuming them.
func (in *input) head() []byte {
	h, err := in.br.Peek(headSize)
	if err != io.EOF && err != bufio.ErrBufferFull {
		in.broken = err
	}
	return h
}

// line returns the next line without its end ("\n" or "\r\n"), at most max
// bytes of it, and how many bytes were left out. The slice is valid until the
// next call. At the end of the stream it returns io.EOF and no line.
func (in *input) line(max int, buf *[]byte) (line []byte, cut int, err error) {
	frag, err := in.br.ReadSlice('\n')
	if err == nil || (err == io.EOF && len(frag) > 0) {
		if len(frag) > max {
			return trimEOL(frag[:max]), len(frag) - max, nil
		}
		return trimEOL(frag), 0, nil
	}
	if err != bufio.ErrBufferFull {
		return nil, 0, err
	}
	b := (*buf)[:0]
	for {
		room := max - len(b)
		if room > len(frag) {
			room = len(frag)
		}
		b = append(b, frag[:room]...)
		cut += len(frag) - room
		if err != bufio.ErrBufferFull {
			break
		}
		frag, err = in.br.ReadSlice('\n')
	}
	*buf = b
	if err != nil && err != io.EOF {
		return trimEOL(b), cut, err
	}
	return trimEOL(b), cut, nil
}

func trimEOL(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] == '\n' {
		b = b[:n-1]
	}
	if n := len(b); n > 0 && b[n-1] == '\r' {
		b = b[:n-1]
	}
	return b
}

// CutText returns s if it has at most max bytes, else its first three quarters
// and its last quarter of max around a note of how much is missing. It never
// cuts inside a rune.
func CutText(s string, max int) string {
	return truncate.Counted(s, max)
}
