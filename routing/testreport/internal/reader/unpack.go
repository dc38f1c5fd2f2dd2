package reader

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
)

// ErrPacked says that the input is packed in a way that is not read.
var ErrPacked = errors.New("unpack it, and give the files in it")

// maxUnpacked bounds what a packed input may expand to, in bytes.
const maxUnpacked = 4 << 30

// packings are archives and compressions by their first bytes.
var packings = []struct{ magic, name string }{
	{"PK\x03\x04", "a zip archive"},
	{"PK\x05\x06", "an empty zip archive"},
	{"\x1f\x8b", "packed with gzip twice"},
	{"BZh", "packed with bzip2"},
	{"\xfd7zXZ\x00", "packed with xz"},
	{"\x28\xb5\x2f\xfd", "packed with zstd"},
	{"7z\xbc\xaf\x27\x1c", "a 7z archive"},
}

// tarMagic stands at byte 257 of a tar archive.
const tarMagic = "ustar"

// unpack returns what r holds, unpacked if it is packed with gzip, up to limit
// bytes. Other packings are an error that wraps ErrPacked.
func unpack(r io.Reader, limit int64) (io.Reader, error) {
	head := make([]byte, 512)
	n, err := io.ReadFull(r, head)
	head = head[:n]
	switch err {
	case nil:
		r = io.MultiReader(bytes.NewReader(head), r)
	case io.EOF, io.ErrUnexpectedEOF:
		r = bytes.NewReader(head)
	default:
		r = io.MultiReader(bytes.NewReader(head), failingReader{err})
	}
	if !bytes.HasPrefix(head, []byte("\x1f\x8b")) {
		return r, packed(head)
	}
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("it is packed with gzip and damaged: %w", err)
	}
	br := bufio.NewReaderSize(&boundedReader{r: z, left: limit, limit: limit}, lines.HeadSize)
	head, _ = br.Peek(512)
	return br, packed(head)
}

func packed(head []byte) error {
	for _, p := range packings {
		if bytes.HasPrefix(head, []byte(p.magic)) {
			return fmt.Errorf("it is %s: %w", p.name, ErrPacked)
		}
	}
	if len(head) > 257 && bytes.HasPrefix(head[257:], []byte(tarMagic)) {
		return fmt.Errorf("it is a tar archive: %w", ErrPacked)
	}
	return nil
}

type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }

// boundedReader gives an error where io.LimitReader would end: what is cut off
// silently may be what failed.
type boundedReader struct {
	r           io.Reader
	left, limit int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left <= 0 && len(p) > 0 {
		if n, err := b.r.Read(p[:1]); n == 0 {
			return 0, err
		}
		return 0, fmt.Errorf("it is packed with gzip and expands to more than %d MiB: %w", b.limit>>20, ErrPacked)
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
