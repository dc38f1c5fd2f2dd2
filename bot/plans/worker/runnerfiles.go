package worker

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// RunnerFiles are the files through which a step speaks to the runner, as they were before workers
// ran. Workers are not told their paths, but can find them: what they write there would set
// variables, PATH and outputs of the steps that follow.
type RunnerFiles struct {
	content map[string][]byte // by path; nil: there was no file
}

// KeepRunnerFiles reads the files that the environment names.
func KeepRunnerFiles(getenv func(string) string) (RunnerFiles, error) {
	f := RunnerFiles{content: map[string][]byte{}}
	for _, name := range []string{"GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STATE", "GITHUB_STEP_SUMMARY"} {
		path := getenv(name)
		if path == "" {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
		f.content[path] = data
	}
	return f, nil
}

// Restore gives the files the content that they had, and returns the names of those that were
// changed.
func (f RunnerFiles) Restore() (changed []string, err error) {
	for path, was := range f.content {
		if sameFile(path, was) {
			continue
		}
		changed = append(changed, filepath.Base(path))
		err = errors.Join(err, os.RemoveAll(path)) // a link or a folder may stand in its place
		if was != nil {
			err = errors.Join(err, os.WriteFile(path, was, 0o644))
		}
	}
	return changed, err
}

// sameFile reports whether a path is an ordinary file with that content, or nothing for nil.
func sameFile(path string, content []byte) bool {
	info, err := os.Lstat(path)
	if content == nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(content)) {
		return false
	}
	data, err := os.ReadFile(path)
	return err == nil && bytes.Equal(data, content)
}
