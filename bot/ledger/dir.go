package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"github.com/switchback-ci/switchback/routing"
)

// Dir is a ledger in a directory: below it, cases/ has one file for each case.
// A clone of a ledger branch is one.
//
// An append writes the whole new file beside the old one and renames it into
// place, so that at any moment, and for any reader, a file is the old or the
// new one. Writers exclude each other by a lock on the file .lock, which the
// system gives up when its holder dies.
type Dir struct {
	path      string
	turn      chan struct{} // of this process's writers, before the lock
	lockReads bool          // an open file cannot be replaced
}

var _ Ledger = (*Dir)(nil)

const (
	casesDir = "cases"
	lockFile = ".lock"
	tempFile = ".append" // one suffices, writers exclude each other
	lockPoll = 5 * time.Millisecond
)

// Open returns the ledger in the directory path, which the first append makes
// if there is none. It fails if path is something else.
func Open(path string) (*Dir, error) {
	if path == "" {
		return nil, errors.New("the path of a ledger is empty: name a directory")
	}
	switch info, err := os.Stat(path); {
	case err == nil && !info.IsDir():
		return nil, fmt.Errorf("%s is not a directory: a ledger is a directory with one file per case, name one that exists or is to be made", path)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	return &Dir{path: path, turn: make(chan struct{}, 1), lockReads: runtime.GOOS == "windows"}, nil
}

// Load implements Ledger.
func (d *Dir) Load(ctx context.Context, key string) ([]routing.Event, Version, error) {
	if err := errors.Join(ctx.Err(), CheckKey(key)); err != nil {
		return nil, "", err
	}
	data, ok, err := d.read(ctx, FileName(key))
	if err != nil || !ok {
		return nil, "", err
	}
	events, err := DecodeStored(key, data)
	if err != nil {
		return nil, "", Located(d.file(FileName(key)), err)
	}
	return events, ContentVersion(data), nil
}

// Append implements Ledger. It waits for the lock as long as ctx allows.
func (d *Dir) Append(ctx context.Context, key string, seen Version, events []routing.Event) (Version, error) {
	add, err := Encode(key, "", events)
	if err := errors.Join(ctx.Err(), err); err != nil || len(events) == 0 {
		return seen, err
	}
	if err := d.make(); err != nil {
		return "", err
	}
	unlock, err := d.lock(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	name := FileName(key)
	old, ok, err := readFile(d.file(name))
	if err != nil {
		return "", err
	}
	if versionOf(old, ok) != seen {
		return "", ErrConflict
	}
	data := Append(key, old, add)
	return ContentVersion(data), d.replace(name, data)
}

// Keys implements Ledger.
func (d *Dir) Keys(ctx context.Context) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(d.path, casesDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ctx.Err()
	}
	var keys []string
	for _, e := range entries {
		key, ours := KeyOf(e.Name())
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !ours {
			continue
		}
		if key == "" {
			if key, err = d.keyIn(ctx, e.Name()); err != nil {
				return nil, err
			}
		}
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys, err
}

func (d *Dir) keyIn(ctx context.Context, name string) (string, error) {
	data, _, err := d.read(ctx, name)
	if err != nil {
		return "", err
	}
	key, err := KeyIn(data)
	if err == nil && FileName(key) != name {
		err = &LineError{1, fmt.Errorf("is of stream %q, whose file is %s", key, FileName(key))}
	}
	if err != nil {
		return "", Located(d.file(name), err)
	}
	return key, nil
}

func (d *Dir) file(name string) string { return filepath.Join(d.path, casesDir, name) }

// make makes the directories, and sees to it that they outlive a power cut.
func (d *Dir) make() error {
	cases := filepath.Join(d.path, casesDir)
	if _, err := os.Stat(cases); err == nil {
		return nil
	}
	if err := os.MkdirAll(cases, 0o777); err != nil {
		return err
	}
	return errors.Join(syncDir(d.path), syncDir(filepath.Dir(filepath.Clean(d.path))))
}

// lock waits for the sole right to write.
func (d *Dir) lock(ctx context.Context) (unlock func(), err error) {
	select {
	case d.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	l := flock.New(filepath.Join(d.path, lockFile))
	if _, err := l.TryLockContext(ctx, lockPoll); err != nil {
		<-d.turn
		return nil, lockError(ctx, l, err)
	}
	return func() {
		_ = l.Close() // ends the lock whatever it says
		<-d.turn
	}, nil
}

func lockError(ctx context.Context, l *flock.Flock, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("lock %s: %w", l.Path(), err)
}

func (d *Dir) read(ctx context.Context, name string) ([]byte, bool, error) {
	if _, err := os.Stat(d.file(name)); d.lockReads && err == nil {
		l := flock.New(filepath.Join(d.path, lockFile))
		if _, err := l.TryRLockContext(ctx, lockPoll); err != nil {
			return nil, false, lockError(ctx, l, err)
		}
		defer l.Close()
	}
	return readFile(d.file(name))
}

// readFile returns the content of a file and whether there is one.
func readFile(path string) ([]byte, bool, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return data, err == nil, err
}

// replace puts data in the place of a case's file. The caller holds the lock.
func (d *Dir) replace(name string, data []byte) error {
	temp := filepath.Join(d.path, tempFile)
	if err := writeThrough(temp, data); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	if err := rename(temp, d.file(name)); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return syncDir(filepath.Join(d.path, casesDir))
}

// writeThrough writes a file, over what a killed writer left, down to the disk.
func writeThrough(path string, data []byte) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// rename renames a file over another. On Windows it tries again for a moment
// while another program, say a virus scanner, has either of them open.
func rename(from, to string) error {
	for try := 0; ; try++ {
		err := os.Rename(from, to)
		if err == nil || runtime.GOOS != "windows" || try == 20 || !errors.Is(err, fs.ErrPermission) {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// syncDir makes the names in a directory outlive a power cut. Windows has no
// such call and needs none.
func syncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
