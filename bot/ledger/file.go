package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"github.com/switchback-ci/switchback/routing"
)

// File is a ledger in one JSON-lines file that holds the streams of all its
// cases, for small ledgers that are handed around. An append writes the whole
// new file beside the old one and renames it into place, under a lock beside
// it, as Dir does.
type File struct {
	path string
	turn chan struct{}
}

var _ Ledger = (*File)(nil)

// OpenPath returns the ledger at path: a File if that is an existing regular
// file or a name that ends in .jsonl, else a Dir.
func OpenPath(path string) (Ledger, error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.Mode().IsRegular(), err != nil && strings.HasSuffix(path, ".jsonl"):
		return &File{path: path, turn: make(chan struct{}, 1)}, nil
	}
	return Open(path)
}

// Load implements Ledger.
func (f *File) Load(ctx context.Context, key string) ([]routing.Event, Version, error) {
	if err := errors.Join(ctx.Err(), CheckKey(key)); err != nil {
		return nil, "", err
	}
	streams, _, err := f.streams()
	if err != nil {
		return nil, "", err
	}
	data, ok := streams[key]
	events, err := f.decode(key, data)
	return events, versionOf(data, ok), err
}

// decode returns the events of a stream. The lines that an error counts are those of the stream.
func (f *File) decode(key string, data []byte) ([]routing.Event, error) {
	events, err := DecodeStored(key, data)
	if bad := (*LineError)(nil); errors.As(err, &bad) {
		return nil, fmt.Errorf("%s: %w; restore the file from a copy", f.path, bad.Err)
	}
	return events, err
}

// Append implements Ledger.
func (f *File) Append(ctx context.Context, key string, seen Version, events []routing.Event) (Version, error) {
	add, err := Encode(key, "", events)
	if err := errors.Join(ctx.Err(), err); err != nil || len(events) == 0 {
		return seen, err
	}
	select {
	case f.turn <- struct{}{}:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { <-f.turn }()
	if err := os.MkdirAll(filepath.Dir(f.path), 0o777); err != nil {
		return "", err
	}
	l := flock.New(f.path + lockFile)
	if _, err := l.TryLockContext(ctx, lockPoll); err != nil {
		return "", lockError(ctx, l, err)
	}
	defer l.Close()
	streams, all, err := f.streams()
	if err != nil {
		return "", err
	}
	old, ok := streams[key]
	if versionOf(old, ok) != seen {
		return "", ErrConflict
	}
	add = follow(key, old, add)
	temp := f.path + tempFile
	if err := writeThrough(temp, slices.Concat(all, add)); err != nil {
		return "", errors.Join(err, os.Remove(temp))
	}
	if err := rename(temp, f.path); err != nil {
		return "", errors.Join(err, os.Remove(temp))
	}
	return ContentVersion(slices.Concat(old, add)), syncDir(filepath.Dir(filepath.Clean(f.path)))
}

// Keys implements Ledger.
func (f *File) Keys(ctx context.Context) ([]string, error) {
	streams, _, err := f.streams()
	if err := errors.Join(ctx.Err(), err); err != nil {
		return nil, err
	}
	var keys []string
	for k := range streams {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys, nil
}

// streams returns the lines of each case, and the whole file.
func (f *File) streams() (map[string][]byte, []byte, error) {
	all, _, err := readFile(f.path)
	if err != nil {
		return nil, nil, err
	}
	out := map[string][]byte{}
	for n, rest := 1, all; len(rest) > 0; n++ {
		text, more, whole := bytes.Cut(rest, []byte("\n"))
		e, err := decodeLine(text, whole)
		if err == nil {
			err = CheckKey(e.Stream)
		}
		if err != nil {
			return nil, nil, Located(f.path, &LineError{n, fmt.Errorf("is no line of a ledger: %w", err)})
		}
		out[e.Stream] = append(append(out[e.Stream], text...), '\n')
		rest = more
	}
	return out, all, nil
}
