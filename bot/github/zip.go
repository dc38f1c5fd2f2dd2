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

// directoryBudget bounds what is read of a run's archives to list them, and with it the memory of
// the lists: enough for many times 20,000 names of ordinary length.
const directoryBudget = 16 << 20

// list checks all entries and returns those whose names match.
func (r *archive) list(size int64, match func(string) bool) ([]ArchiveFile, error) {
	bounded := &boundedReaderAt{r: r, left: directoryBudget - r.run.listed}
	z, err := zip.NewReader(bounded, size)
	r.run.listed = directoryBudget - bounded.left
	if err != nil && bounded.left < 0 {
		return nil, exceeded(r.op, "bytes of lists of files", fmt.Sprint(directoryBudget))
	}
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // which check finds itself
		return nil, failf(r.op, ErrUnsafe, "not a zip archive: %v", err)
	}
	bounded.off = true
	entries, err := r.check(z.File, match)
	if err != nil {
		return nil, err
	}
	var out []ArchiveFile
	for _, e := range entries {
		out = append(out, ArchiveFile{Name: e.Name, Open: func() (io.ReadCloser, error) { return r.open(e) }})
	}
	return out, nil
}

// check rejects an archive with an invalid entry, and returns the entries to read.
func (r *archive) check(all []*zip.File, match func(string) bool) ([]*zip.File, error) {
	limits := r.run.limits
	if r.run.used.Files += len(all); r.run.used.Files > limits.Files {
		return nil, exceeded(r.op, "files", fmt.Sprint(limits.Files))
	}
	var take []*zip.File
	seen := make(map[string]bool, len(all))
	for _, e := range all {
		name, reason := entryName(e)
		if reason == "" && seen[name] {
			reason = "its name is there twice"
		}
		if reason != "" {
			return nil, failf(r.op, ErrUnsafe, "entry %q: %s", e.Name, reason)
		}
		seen[name] = true
		if e.Mode().IsDir() || !match(name) {
			continue
		}
		if e.UncompressedSize64 > uint64(limits.File) { // an honest one; the others are counted
			return nil, tooLarge(r.op, e.Name, limits.File)
		}
		e.Name = name
		take = append(take, e)
	}
	return take, nil
}

// tooLarge says that one file is larger than it may be, and what to do.
func tooLarge(op, name string, limit int64) *Error {
	return failf(op, ErrTooLarge, "entry %q has more than %d bytes unpacked, which is the most that is read of a file; split the report", name, limit)
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

// open begins to unpack an entry.
func (r *archive) open(e *zip.File) (io.ReadCloser, error) {
	if err := r.acquire(); err != nil {
		return nil, Wrap(r.op, err)
	}
	rc, err := e.Open()
	if err != nil {
		_ = r.release()
		return nil, failf(r.op, ErrUnsafe, "entry %q: %v", e.Name, err)
	}
	return &entryReader{r: rc, left: r.run.limits.File, name: e.Name, archive: r}, nil
}

// entryReader unpacks an entry, and stops for good when it, or its run, is too large.
type entryReader struct {
	r       io.ReadCloser
	left    int64
	name    string
	archive *archive
	err     error
	closed  bool
}

func (b *entryReader) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		b.err = tooLarge(b.archive.op, b.name, b.archive.run.limits.File)
		return 0, b.err
	}
	if over := b.archive.run.unpacked(n, b.archive.op); over != nil {
		b.err = over
		return 0, b.err
	}
	if err != nil && err != io.EOF {
		b.err = failf(b.archive.op, ErrUnsafe, "entry %q: %v", b.name, err)
		err = b.err
	}
	return n, err
}

func (b *entryReader) Close() error {
	if b.closed {
		return nil
	}
	b.closed = true
	return errors.Join(b.r.Close(), b.archive.release())
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
