package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Blobs are data beside the streams of a ledger, each named after its content: what is too large for
// an event, and may be deleted when nothing needs it any more. They are safe for use by many
// goroutines and processes.
type Blobs interface {
	// Put keeps data beside a stream, which need not exist. What is there already stays as it is.
	Put(ctx context.Context, stream string, data []byte) (name string, err error)

	// Get returns a blob, nil if there is none of that name.
	Get(ctx context.Context, stream, name string) ([]byte, error)

	// List returns the names of all blobs, sorted, by the BlobFolder of their stream.
	List(ctx context.Context) (map[string][]string, error)

	// Delete deletes a blob of a folder. One that is not there is no error.
	Delete(ctx context.Context, folder, name string) error
}

// BlobKeeper is a ledger that keeps blobs.
type BlobKeeper interface{ Blobs() Blobs }

// BlobsOf returns the blobs of a ledger, nil if it keeps none.
func BlobsOf(l Ledger) Blobs {
	if k, ok := l.(BlobKeeper); ok {
		return k.Blobs()
	}
	return nil
}

// BlobFolder returns the folder of a stream's blobs: the name of its file without the extension.
func BlobFolder(stream string) string { return strings.TrimSuffix(FileName(stream), extension) }

// BlobName returns the name of a blob that holds data.
func BlobName(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// CheckBlob returns an error if what was read is not the blob of a name: it was cut or edited.
func CheckBlob(name string, data []byte) error {
	if BlobName(data) != name {
		return fmt.Errorf("the blob %s has another content than its name says", name)
	}
	return nil
}

// BlobsDir is the directory of the blobs in a ledger that is made of files.
const BlobsDir = "blobs"

// Blobs implements BlobKeeper.
func (d *Dir) Blobs() Blobs { return dirBlobs{filepath.Join(d.path, BlobsDir)} }

// Blobs implements BlobKeeper: in a directory beside the file.
func (f *File) Blobs() Blobs { return dirBlobs{f.path + "." + BlobsDir} }

var (
	_ BlobKeeper = (*Dir)(nil)
	_ BlobKeeper = (*File)(nil)
	_ BlobKeeper = (*Memory)(nil)
)

// dirBlobs are blobs in a directory, with a directory for each stream.
type dirBlobs struct{ root string }

// Put implements Blobs. A file appears whole or not at all.
func (b dirBlobs) Put(ctx context.Context, stream string, data []byte) (string, error) {
	name := BlobName(data)
	dir := filepath.Join(b.root, BlobFolder(stream))
	if err := errors.Join(ctx.Err(), CheckKey(stream), os.MkdirAll(dir, 0o777)); err != nil {
		return "", err
	}
	if have, ok, err := readFile(filepath.Join(dir, name)); err != nil || ok && bytes.Equal(have, data) {
		return name, err
	}
	temp, err := os.CreateTemp(dir, tempFile+"-*")
	if err != nil {
		return "", err
	}
	_, err = temp.Write(data)
	if err = errors.Join(err, temp.Sync(), temp.Close()); err == nil {
		err = rename(temp.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(temp.Name()))
	}
	return name, syncDir(dir)
}

// Get implements Blobs.
func (b dirBlobs) Get(ctx context.Context, stream, name string) ([]byte, error) {
	if err := errors.Join(ctx.Err(), CheckKey(stream)); err != nil || !isBlob(name) {
		return nil, err
	}
	data, ok, err := readFile(filepath.Join(b.root, BlobFolder(stream), name))
	if err != nil || !ok {
		return nil, err
	}
	return data, CheckBlob(name, data)
}

// List implements Blobs.
func (b dirBlobs) List(ctx context.Context) (map[string][]string, error) {
	folders, err := os.ReadDir(b.root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ctx.Err()
	}
	out := map[string][]string{}
	for _, f := range folders {
		files, failed := os.ReadDir(filepath.Join(b.root, f.Name()))
		err = errors.Join(err, failed, ctx.Err())
		for _, file := range files {
			if isBlob(file.Name()) {
				out[f.Name()] = append(out[f.Name()], file.Name())
			}
		}
	}
	return out, err
}

// Delete implements Blobs.
func (b dirBlobs) Delete(ctx context.Context, folder, name string) error {
	if !isBlob(name) || filepath.Base(folder) != folder {
		return ctx.Err()
	}
	err := os.Remove(filepath.Join(b.root, folder, name))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	_ = os.Remove(filepath.Join(b.root, folder)) // fails unless it is empty
	return errors.Join(ctx.Err(), err)
}

// isBlob reports whether a name is one of BlobName.
func isBlob(name string) bool {
	return len(name) == 2*sha256.Size && strings.Trim(name, "0123456789abcdef") == ""
}

// Blobs implements BlobKeeper.
func (m *Memory) Blobs() Blobs { return &m.blobs }

// memoryBlobs are blobs that end with the process.
type memoryBlobs struct {
	mu  sync.Mutex
	all map[string]map[string][]byte // by folder and name
}

// Put implements Blobs.
func (b *memoryBlobs) Put(ctx context.Context, stream string, data []byte) (string, error) {
	if err := errors.Join(ctx.Err(), CheckKey(stream)); err != nil {
		return "", err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all == nil {
		b.all = map[string]map[string][]byte{}
	}
	name, folder := BlobName(data), BlobFolder(stream)
	if b.all[folder] == nil {
		b.all[folder] = map[string][]byte{}
	}
	b.all[folder][name] = bytes.Clone(data)
	return name, nil
}

// Get implements Blobs.
func (b *memoryBlobs) Get(ctx context.Context, stream, name string) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.all[BlobFolder(stream)][name]), errors.Join(ctx.Err(), CheckKey(stream))
}

// List implements Blobs.
func (b *memoryBlobs) List(ctx context.Context) (map[string][]string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := map[string][]string{}
	for folder, blobs := range b.all {
		if len(blobs) > 0 {
			out[folder] = slices.Sorted(maps.Keys(blobs))
		}
	}
	return out, ctx.Err()
}

// Delete implements Blobs.
func (b *memoryBlobs) Delete(ctx context.Context, folder, name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.all[folder], name)
	return ctx.Err()
}

// copyBlobs adds the blobs of a stream that another ledger has and this one has not.
func copyBlobs(ctx context.Context, from, to Blobs, stream string, names, have []string) error {
	for _, name := range names {
		if slices.Contains(have, name) {
			continue
		}
		data, err := from.Get(ctx, stream, name)
		if err != nil {
			return fmt.Errorf("the source: %w", err)
		}
		if data == nil {
			continue // deleted since it was listed
		}
		if _, err := to.Put(ctx, stream, data); err != nil {
			return fmt.Errorf("the target: %w", err)
		}
	}
	return nil
}

// CopyBlobs adds to a ledger the blobs of streams that another one has and it has not. A ledger that
// keeps none gets none.
func CopyBlobs(ctx context.Context, from, to Ledger, streams []string) error {
	source, target := BlobsOf(from), BlobsOf(to)
	if source == nil || target == nil {
		return nil
	}
	all, err := source.List(ctx)
	if err != nil {
		return fmt.Errorf("the source: %w", err)
	}
	if len(all) == 0 {
		return nil
	}
	have, err := target.List(ctx)
	if err != nil {
		return fmt.Errorf("the target: %w", err)
	}
	for _, s := range streams {
		folder := BlobFolder(s)
		if err := copyBlobs(ctx, source, target, s, all[folder], have[folder]); err != nil {
			return err
		}
	}
	return nil
}

// ForgetBlobs deletes up to most blobs of a ledger that are not needed. needed holds the names of
// those that are, by the folders that are looked at; other folders stay as they are.
func ForgetBlobs(ctx context.Context, l Ledger, needed map[string]map[string]bool, most int) error {
	blobs := BlobsOf(l)
	if blobs == nil || len(needed) == 0 {
		return nil
	}
	all, err := blobs.List(ctx)
	if err != nil {
		return err
	}
	n := 0
	for folder, kept := range needed {
		for _, name := range all[folder] {
			if kept[name] {
				continue
			}
			if n++; n > most {
				return err
			}
			err = errors.Join(err, blobs.Delete(ctx, folder, name))
		}
	}
	return err
}
