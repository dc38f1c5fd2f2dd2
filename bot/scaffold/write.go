package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// ExistsError says which files are there already.
type ExistsError struct{ Files []string }

func (e *ExistsError) Error() string {
	verb := "exists"
	if len(e.Files) > 1 {
		verb = "exist"
	}
	return strings.Join(e.Files, ", ") + " " + verb + " already, so nothing was written"
}

// Write writes files below the folder root, all of them or none. Without force a file that is there
// is an *ExistsError.
func Write(root string, files []File, force bool) (err error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer r.Close()
	w := writing{root: r}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.undo())
		}
	}()
	if err := w.check(files, force); err != nil {
		return err
	}
	for _, f := range files {
		if err := w.prepare(f); err != nil {
			return fmt.Errorf("%s: %w; nothing was written", f.Path, err)
		}
	}
	for _, f := range files {
		if err := w.replace(f); err != nil {
			return fmt.Errorf("%s: %w; nothing was written", f.Path, err)
		}
	}
	return nil
}

// writing is a set of files of which none is in its place yet, or all are.
type writing struct {
	root     *os.Root
	made     []string          // folders that were created, outer ones first
	prepared []string          // new files beside their places
	before   map[string][]byte // what was in a place, nil if nothing was
	replaced []string
}

// check refuses to write over what is there, and reads what may be replaced.
func (w *writing) check(files []File, force bool) error {
	w.before = map[string][]byte{}
	var there []string
	for _, f := range files {
		switch st, err := w.root.Lstat(f.Path); {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return fmt.Errorf("%s: %w; nothing was written", f.Path, err)
		case !force:
			there = append(there, f.Path)
			continue
		case !st.Mode().IsRegular():
			return fmt.Errorf("%s is no file; nothing was written", f.Path)
		}
		data, err := w.root.ReadFile(f.Path)
		if err != nil {
			return fmt.Errorf("%w; nothing was written", err)
		}
		w.before[f.Path] = append([]byte{}, data...)
	}
	if len(there) > 0 {
		return &ExistsError{there}
	}
	return nil
}

// prepare writes a file beside its place.
func (w *writing) prepare(f File) error {
	dir := ""
	for part := range strings.SplitSeq(path.Dir(f.Path), "/") {
		dir = path.Join(dir, part)
		err := w.root.Mkdir(dir, 0o755)
		if err == nil {
			w.made = append(w.made, dir)
		} else if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	name := besides(f.Path)
	w.prepared = append(w.prepared, name)
	return w.root.WriteFile(name, []byte(f.Text), 0o644)
}

func (w *writing) replace(f File) error {
	if err := w.root.Rename(besides(f.Path), f.Path); err != nil {
		return err
	}
	w.replaced = append(w.replaced, f.Path)
	return nil
}

func besides(name string) string { return path.Join(path.Dir(name), "."+path.Base(name)+".new") }

// undo removes what was written, and puts back what was there.
func (w *writing) undo() error {
	var errs []error
	for _, name := range w.replaced {
		if old := w.before[name]; old != nil {
			errs = append(errs, w.root.WriteFile(name, old, 0o644))
			continue
		}
		errs = append(errs, w.root.Remove(name))
	}
	for _, name := range w.prepared {
		if err := w.root.Remove(name); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	for i := len(w.made) - 1; i >= 0; i-- {
		errs = append(errs, w.root.Remove(w.made[i]))
	}
	return errors.Join(errs...)
}
