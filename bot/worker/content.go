package worker

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/switchback-ci/switchback/routing/port"
)

// Hash names the content of a port: what is written of it but for its status
// and priority, and the files under its paths below root. A port that passed is
// not run again while that stays the same.
func Hash(spec port.Spec, root string) (string, error) {
	spec.Status, spec.Priority = "", 0
	head, err := json.Marshal(spec)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	sum.Write(head)
	dir, err := os.OpenRoot(root)
	if err != nil {
		return "", err
	}
	defer dir.Close()
	names, err := matching(dir.FS(), spec.Paths)
	if err != nil {
		return "", err
	}
	for _, name := range names {
		one, err := fileHash(dir, name)
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(sum, "\n%q %x", name, one)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// matching returns the regular files that any of the globs matches, sorted, but
// for what git and the program itself keep.
func matching(tree fs.FS, globs []string) ([]string, error) {
	var out []string
	for _, g := range globs {
		err := doublestar.GlobWalk(tree, strings.TrimSuffix(g, "/"), func(name string, d fs.DirEntry) error {
			switch {
			case d.IsDir() && (d.Name() == ".git" || d.Name() == ".switchback"):
				return doublestar.SkipDir
			case d.Type().IsRegular():
				out = append(out, name)
			}
			return nil
		}, doublestar.WithNoFollow())
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func fileHash(dir *os.Root, name string) ([]byte, error) {
	f, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return nil, err
	}
	return sum.Sum(nil), nil
}
