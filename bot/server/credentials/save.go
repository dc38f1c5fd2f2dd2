package credentials

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"
)

const (
	fileName = "app.json"
	lockName = ".app.lock"
	tempName = ".app.json.new" // one suffices, writers exclude each other
)

// modes says whether the system keeps who may read a file in its mode.
var modes = runtime.GOOS != "windows"

// ExistsError is returned where an App is saved already.
type ExistsError struct {
	Path string
	App  App
}

func (e *ExistsError) Error() string {
	return fmt.Sprintf("%s holds the App %s (%d) already; use another --data, or --force to put a new one in its place (the old one's is kept beside it)", e.Path, e.App.Name, e.App.ID)
}

// Prepare makes the data directory, for its owner alone, and finds out whether
// an App can be saved there: what GitHub tells of a new App it tells once. The
// mode of a directory that is there already is its owner's business.
func Prepare(dir string, force bool) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("the data directory: %w", err)
	}
	f, err := os.CreateTemp(dir, ".writable-")
	if err != nil {
		return fmt.Errorf("the data directory: %w", err)
	}
	if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
		return fmt.Errorf("the data directory: %w", err)
	}
	return exists(dir, force)
}

// exists returns an *ExistsError for an App in dir, unless it may be replaced.
func exists(dir string, force bool) error {
	if force {
		return nil
	}
	path := filepath.Join(dir, fileName)
	a, err := Read(dir)
	if errors.Is(err, ErrNone) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("an App seems to be saved already: %w", err)
	}
	return &ExistsError{path, a}
}

// Save keeps a in the data directory dir and returns the file's path. Whoever
// is stopped meanwhile leaves what was there before, or the whole App. One that
// is there already is replaced only by force, and then kept as app-ID-*.json; the
// same App again changes nothing and is no error.
func Save(ctx context.Context, dir string, a App, force bool) (string, error) {
	path := filepath.Join(dir, fileName)
	data, err := encode(a)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("the data directory: %w", err)
	}
	lock := flock.New(filepath.Join(dir, lockName), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, 10*time.Millisecond); err != nil {
		return "", fmt.Errorf("the lock of %s: %w", dir, err)
	}
	defer lock.Unlock()
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, data) {
		return path, nil
	}
	if err := exists(dir, force); err != nil {
		return "", err
	}
	if err := keepOld(dir); err != nil {
		return "", err
	}
	return path, replace(dir, fileName, data)
}

// keepOld copies the App that is about to be replaced: its private key may be
// the only one there is.
func keepOld(dir string) error {
	path := filepath.Join(dir, fileName)
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	old, err := decode(path, data)
	if err != nil {
		old.ID = 0 // it is kept as it is
	}
	sum := sha256.Sum256(data) // the same App may have been saved with other secrets before
	return replace(dir, fmt.Sprintf("app-%d-%x.json", old.ID, sum[:4]), data)
}

// replace writes a file that is the old or the new one at any moment.
func replace(dir, name string, data []byte) (err error) {
	temp := filepath.Join(dir, tempName)
	_ = os.Remove(temp) // of somebody who was stopped; its mode may be any
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	if err := os.Rename(temp, filepath.Join(dir, name)); err != nil {
		return err
	}
	if d, err := os.Open(dir); err == nil && modes {
		defer d.Close()
		return d.Sync()
	}
	return nil
}

func encode(a App) ([]byte, error) {
	data, err := json.MarshalIndent(a, "", "  ")
	return append(data, '\n'), err
}

// decode does not quote what it cannot read.
func decode(path string, data []byte) (App, error) {
	var a App
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&a); err != nil {
		at := dec.InputOffset()
		var syntax *json.SyntaxError
		var kind *json.UnmarshalTypeError
		switch {
		case errors.As(err, &syntax):
			at = syntax.Offset
		case errors.As(err, &kind):
			at = kind.Offset
		}
		line := 1 + bytes.Count(data[:min(at, int64(len(data)))], []byte("\n"))
		return App{}, fmt.Errorf("%s:%d: %w; restore the file, or run `switchback setup --force`", path, line, err)
	}
	return a, nil
}
