package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/switchback-ci/switchback/bot/analysis"
)

// open returns the named file, or the standard input for "-".
func open(s streams, name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(s.in), nil
	}
	return os.Open(name)
}

func sources(s streams, files []string) []analysis.Source {
	out := make([]analysis.Source, 0, len(files))
	for _, f := range distinct(files) {
		out = append(out, analysis.Source{Name: sourceName(f), Open: func() (io.ReadCloser, error) { return open(s, f) }})
	}
	return out
}

// distinct returns files without those that stand in the list before, by whatever path.
func distinct(files []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, f := range files {
		path := f
		if f != "-" {
			path = analysis.Resolved(f)
		}
		if !seen[path] {
			seen[path] = true
			out = append(out, f)
		}
	}
	return out
}

func sourceName(file string) string {
	if file == "-" {
		return "standard input"
	}
	return file
}

// exist returns an error for the first file that cannot be opened: a wrong path on the command line is
// a mistake, not a run without a report.
func exist(s streams, files []string) error {
	for _, f := range files {
		if f == "-" {
			continue
		}
		r, err := os.Open(f)
		if errors.Is(err, fs.ErrNotExist) {
			return noFile(f)
		}
		if err != nil {
			return err
		}
		st, err := r.Stat()
		_ = r.Close()
		if err != nil {
			return err
		}
		if st.IsDir() {
			return &os.PathError{Op: "read", Path: f, Err: errIsDir}
		}
	}
	return nil
}

// noFile is the error of a file that is not there.
func noFile(name string) error {
	if filepath.IsAbs(name) {
		return fmt.Errorf("there is no file %s; check the path", name)
	}
	return fmt.Errorf("there is no file %s here; check the path, which is relative to the working directory", name)
}

var errIsDir = errIsDirectory{}

type errIsDirectory struct{}

func (errIsDirectory) Error() string { return "is a directory; name the files in it" }
