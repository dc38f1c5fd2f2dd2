package planfile

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing/plan"
)

// Entry is a file of a commit, as git lists it.
type Entry struct {
	Path   string // with slashes
	Object string // git's id of its content
	Link   bool
	Size   int // bytes, 0 if it was not said
}

// Commit is the files of a commit, of which a plan is read without a checkout.
type Commit []Entry

// tree returns the files as those of a folder. None of them is read.
func (c Commit) tree() *tree {
	t := &tree{listed: true, sums: make(map[string]string, len(c))}
	for _, e := range c {
		t.files = append(t.files, e.Path)
		t.sums[e.Path] = sumOf(e.Object, e.Link)
	}
	slices.Sort(t.files)
	return t
}

// Hashes returns the hash of each port's content, as those of a checkout of the
// commit are.
func (c Commit) Hashes(p plan.Plan) (map[string]string, error) { return c.tree().hashes(p) }

// Hash returns the hash of one port's content.
func (c Commit) Hash(spec plan.Spec) (string, error) { return c.tree().hash(spec) }

// Files returns the files that a plan is made of: its own file, or what may be a
// port in its folder. There are none if it is not there.
func (c Commit) Files(name string) Commit {
	name = path.Clean(name)
	var out Commit
	for _, e := range c {
		rest, below := strings.CutPrefix(e.Path, name+"/")
		switch {
		case e.Path == name:
			return Commit{e}
		case name == ".":
			rest, below = e.Path, true
		}
		hidden := strings.HasPrefix(rest, ".") || strings.Contains(rest, "/.")
		if below && !hidden && isPort(e.Path) {
			out = append(out, e)
		}
	}
	return out
}

// Load reads a plan as Load of this package does a checkout of the commit. get
// reads the content of a file; its error is returned as it is. A plan that is not
// there is fs.ErrNotExist.
func (c Commit) Load(name string, get func(Entry) ([]byte, error)) (plan.Plan, error) {
	files := c.Files(name)
	if len(files) == 0 && !slices.ContainsFunc(c, func(e Entry) bool { return strings.HasPrefix(e.Path, path.Clean(name)+"/") }) {
		return plan.Plan{}, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	var out []plan.File
	var wrong []plan.Problem
	for _, e := range files {
		switch {
		case e.Link:
			wrong = append(wrong, plan.Problem{File: e.Path, Message: errLink.Error()})
			continue
		case e.Size > maxFile:
			wrong = append(wrong, plan.Problem{File: e.Path, Message: errLong.Error()})
			continue
		}
		data, err := get(e)
		if err != nil {
			return plan.Plan{}, err
		}
		if e.Path == path.Clean(name) || holds(e.Path, data) {
			out = append(out, plan.File{Name: e.Path, Data: data})
		}
	}
	return compile(out, wrong)
}
