package github

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"
)

// directoryBudget bounds what is read of an archive to list it, and with it the memory of the list:
// enough for many times 10,000 names of ordinary length.
const directoryBudget = 8 << 20

// unpack checks all entries and then passes those that match to fn.
func unpack(f io.ReaderAt, size int64, l Limits, match func(string) bool, fn func(string, io.Reader) error, op string) error {
	bounded := &boundedReaderAt{r: f, left: directoryBudget}
	z, err := zip.NewReader(bounded, size)
	if err != nil && bounded.left < 0 {
		return failf(op, ErrTooLarge, "the archive's directory is larger than %d bytes", directoryBudget)
	}
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // which check finds itself
		return failf(op, ErrUnsafe, "not a zip archive: %v", err)
	}
	bounded.off = true
	files, err := check(z.File, l, match, op)
	if err != nil {
		return err
	}
	left := l.Total
	for _, e := range files {
		n, err := give(e, min(left, l.File), fn, op)
		if err != nil {
			return err
		}
		left -= n
	}
	return nil
}

// check rejects an archive with an invalid entry, and returns the entries to read.
func check(all []*zip.File, l Limits, match func(string) bool, op string) ([]*zip.File, error) {
	if len(all) > l.Files {
		return nil, failf(op, ErrTooLarge, "%d entries, the limit is %d", len(all), l.Files)
	}
	var take []*zip.File
	var sum uint64
	seen := make(map[string]bool, len(all))
	for _, e := range all {
		name, reason := entryName(e)
		if reason == "" && seen[name] {
			reason = "its name is there twice"
		}
		if reason != "" {
			return nil, failf(op, ErrUnsafe, "entry %q: %s", e.Name, reason)
		}
		seen[name] = true
		if e.Mode().IsDir() || !match(name) {
			continue
		}
		if sum += e.UncompressedSize64; e.UncompressedSize64 > uint64(l.File) || sum > uint64(l.Total) || sum < e.UncompressedSize64 {
			return nil, failf(op, ErrTooLarge, "entry %q has %d bytes unpacked", e.Name, e.UncompressedSize64)
		}
		e.Name = name
		take = append(take, e)
	}
	return take, nil
}

// entryName returns the normalized name of an entry, or why it is rejected.
func entryName(e *zip.File) (name, reason string) {
	name = strings.TrimSuffix(strings.TrimPrefix(e.Name, "./"), "/")
	switch {
	case !utf8.ValidString(e.Name) || strings.ContainsRune(e.Name, 0):
		return "", "its name is not text"
	case strings.Contains(e.Name, `\`):
		return "", "a backslash in its name"
	case path.IsAbs(e.Name) || len(e.Name) > 1 && e.Name[1] == ':':
		return "", "an absolute path"
	case name == ".." || strings.HasPrefix(name, "../") || strings.Contains(name+"/", "/../"):
		return "", "a path that climbs"
	case path.Clean(name) != name:
		return "", "a path that is not plain"
	case e.Mode()&fs.ModeSymlink != 0:
		return "", "a symbolic link"
	case !e.Mode().IsDir() && !e.Mode().IsRegular():
		return "", "not a regular file"
	}
	return name, ""
}

// give passes one entry to fn and returns how many bytes were unpacked.
func give(e *zip.File, limit int64, fn func(string, io.Reader) error, op string) (int64, error) {
	rc, err := e.Open()
	if err != nil {
		return 0, failf(op, ErrUnsafe, "entry %q: %v", e.Name, err)
	}
	defer rc.Close()
	b := &boundedReader{r: rc, left: limit, name: e.Name, op: op}
	err = fn(e.Name, b)
	if b.err != nil {
		return 0, b.err
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", e.Name, err)
	}
	return limit - b.left, nil
}

// boundedReader fails after left bytes, and records that it did.
type boundedReader struct {
	r        io.Reader
	left     int64
	name, op string
	err      error
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.r.Read(p)
	if int64(n) > b.left {
		b.err = failf(b.op, ErrTooLarge, "entry %q is larger unpacked than it may be", b.name)
		return 0, b.err
	}
	b.left -= int64(n)
	if err != nil && err != io.EOF {
		b.err = failf(b.op, ErrUnsafe, "entry %q: %v", b.name, err)
		err = b.err
	}
	return n, err
}

// boundedReaderAt fails after left bytes unless it is off.
type boundedReaderAt struct {
	r    io.ReaderAt
	left int64
	off  bool
}

func (b *boundedReaderAt) ReadAt(p []byte, at int64) (int, error) {
	if b.off {
		return b.r.ReadAt(p, at)
	}
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, errors.New("too much to read")
	}
	return b.r.ReadAt(p, at)
}
