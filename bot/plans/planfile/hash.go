package planfile

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/switchback-ci/switchback/routing/plan"
)

// Hashes returns the hash of each port's content: what its file says of the
// work, and the files of the repository at root that its paths name. Status and
// priority say when it is done, not what, and do not count; neither do comments.
func Hashes(root string, p plan.Plan) (map[string]string, error) {
	t := tree{root: root, sums: map[string]string{}}
	return t.hashes(p)
}

func (t *tree) hashes(p plan.Plan) (map[string]string, error) {
	out := map[string]string{}
	for _, spec := range p.Ports() {
		sum, err := t.hash(spec)
		if err != nil {
			return nil, fmt.Errorf("port %s: %w", spec.ID, err)
		}
		out[spec.ID] = sum
	}
	return out, nil
}

// Hash returns the hash of one port's content, as Hashes does.
func Hash(root string, spec plan.Spec) (string, error) {
	t := tree{root: root, sums: map[string]string{}}
	return t.hash(spec)
}

// tree is the files of a repository, listed once, each read once.
type tree struct {
	root   string
	listed bool
	files  []string // sorted, with slashes
	sums   map[string]string
}

func (t *tree) hash(spec plan.Spec) (string, error) {
	paths := spec.Paths
	spec.Status, spec.Priority = "", 0
	text, err := json.Marshal(spec)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	h.Write(text)
	names := map[string]bool{}
	for _, glob := range paths {
		found, err := t.match(glob)
		if err != nil {
			return "", err
		}
		for _, f := range found {
			names[f] = true
		}
	}
	sorted := make([]string, 0, len(names))
	for n := range names {
		sorted = append(sorted, n)
	}
	sort.Strings(sorted)
	for _, n := range sorted {
		sum, err := t.sum(n)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "\n%q %s", n, sum)
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// match returns the files that a glob names. A folder stands for all in it.
func (t *tree) match(glob string) ([]string, error) {
	if err := t.list(); err != nil {
		return nil, err
	}
	glob = strings.TrimSuffix(glob, "/")
	base, _ := doublestar.SplitPattern(glob) // only what is below it can match
	if base == "." {
		base = ""
	}
	var out []string
	for i := sort.SearchStrings(t.files, base); i < len(t.files) && strings.HasPrefix(t.files[i], base); i++ {
		name := t.files[i]
		if ok, err := doublestar.Match(glob, name); err != nil {
			return nil, err
		} else if !ok {
			if ok, err = doublestar.Match(glob+"/**", name); err != nil || !ok {
				continue
			}
		}
		out = append(out, name)
	}
	return out, nil
}

func (t *tree) list() error {
	if t.listed {
		return nil
	}
	t.listed = true
	err := filepath.WalkDir(t.root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			if p == t.root {
				return err
			}
			// What a container left of another user is of no concern unless
			// a glob names it; reading it says then what is wrong.
			if rel, err := filepath.Rel(t.root, p); err == nil {
				t.files = append(t.files, filepath.ToSlash(rel))
			}
			return fs.SkipDir
		}
		if d.IsDir() {
			if d.Name() == ".git" || d.Name() == ".switchback" { // what running a port leaves is not what it is about
				return fs.SkipDir
			}
			return nil
		}
		if d.Type().IsRegular() || d.Type()&fs.ModeSymlink != 0 {
			rel, err := filepath.Rel(t.root, p)
			if err != nil {
				return err
			}
			t.files = append(t.files, filepath.ToSlash(rel))
		}
		return nil
	})
	sort.Strings(t.files)
	return err
}

// sum returns the hash of a file, or, for a link, of where it leads: what is
// behind it may be outside of the repository.
func (t *tree) sum(name string) (string, error) {
	if s, ok := t.sums[name]; ok {
		return s, nil
	}
	full := filepath.Join(t.root, filepath.FromSlash(name))
	info, err := os.Lstat(full)
	if err != nil {
		return "", err
	}
	link := info.Mode()&fs.ModeSymlink != 0
	var object string
	switch {
	case link:
		var to string
		if to, err = os.Readlink(full); err == nil {
			object, err = blob(strings.NewReader(to), int64(len(to)))
		}
	case info.IsDir():
		err = fmt.Errorf("%s: the folder cannot be read; its paths name it", name)
	default:
		var f *os.File
		if f, err = os.Open(full); err == nil {
			defer f.Close()
			object, err = blob(f, info.Size())
		}
	}
	if err != nil {
		return "", err
	}
	t.sums[name] = sumOf(object, link)
	return t.sums[name], nil
}

// sumOf is the sum of a file whose content is an object of git.
func sumOf(object string, link bool) string {
	if link {
		return "link " + object
	}
	return object
}

// blob returns the id that git gives to a content. So whoever has only git's list
// of a commit's files, and none of them, sums up the same.
func blob(r io.Reader, size int64) (string, error) {
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", size)
	_, err := io.Copy(h, r)
	return hex.EncodeToString(h.Sum(nil)), err
}
