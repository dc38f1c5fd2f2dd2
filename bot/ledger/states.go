package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Watched is a Ledger that tells cheaply which of its streams have moved on.
type Watched interface {
	Ledger

	// States returns for each stream a text that is another one whenever the stream
	// has moved on. It may be another one without that.
	States(ctx context.Context) (map[string]string, error)
}

var (
	_ Watched = (*Dir)(nil)
	_ Watched = (*File)(nil)
	_ Watched = (*Memory)(nil)
)

// States returns for each stream of a ledger a text that is another one whenever the
// stream has moved on. A ledger that is not Watched is read for it.
func States(ctx context.Context, l Ledger) (map[string]string, error) {
	if w, ok := l.(Watched); ok {
		return w.States(ctx)
	}
	keys, err := l.Keys(ctx)
	if err != nil {
		return nil, err
	}
	out := make(map[string]string, len(keys))
	for _, k := range keys {
		_, v, err := l.Load(ctx, k)
		if err != nil {
			return nil, err
		}
		out[k] = string(v)
	}
	return out, nil
}

// States implements Watched: by the size of each file, which only grows, and its time.
func (d *Dir) States(ctx context.Context) (map[string]string, error) {
	entries, err := os.ReadDir(filepath.Join(d.path, casesDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	out := make(map[string]string, len(entries))
	for _, e := range entries {
		key, ours := KeyOf(e.Name())
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !ours {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // gone since
		}
		if err != nil {
			return nil, err
		}
		if key == "" {
			if key, err = d.keyIn(ctx, e.Name()); err != nil {
				return nil, err
			}
		}
		out[key] = fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano())
	}
	return out, nil
}

// States implements Watched.
func (f *File) States(ctx context.Context) (map[string]string, error) {
	streams, _, err := f.streams()
	return contents(streams), errors.Join(ctx.Err(), err)
}

// States implements Watched.
func (m *Memory) States(ctx context.Context) (map[string]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return contents(m.streams), ctx.Err()
}

func contents(streams map[string][]byte) map[string]string {
	out := make(map[string]string, len(streams))
	for k, data := range streams {
		out[k] = string(ContentVersion(data))
	}
	return out
}
