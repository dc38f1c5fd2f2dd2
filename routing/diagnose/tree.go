package diagnose

import (
	"path"
	"strings"
)

// Tree is an index of a repository's files for mapping printed paths, built
// once and used for every path of a run.
type Tree struct {
	byBase map[string][]string
}

// NewTree indexes the paths of a repository, with slashes, relative to its root.
func NewTree(paths []string) *Tree {
	t := &Tree{byBase: make(map[string][]string, len(paths))}
	for _, p := range paths {
		p = strings.TrimPrefix(p, "./")
		b := path.Base(p)
		t.byBase[b] = append(t.byBase[b], p)
	}
	return t
}

// MapPath returns the file of tree that a tool printed as printed. It builds
// an index each time; use Tree.Map for more than one path.
func MapPath(printed string, tree []string) (string, bool) { return NewTree(tree).Map(printed) }

// Map returns the file that a tool printed as printed: the one that shares the
// longest run of trailing path elements with it. It is not ok if none shares
// the base name or if two share equally much.
func (t *Tree) Map(printed string) (string, bool) {
	want := elements(printed)
	if t == nil || len(want) == 0 {
		return "", false
	}
	best, score, tied := "", 0, false
	for _, p := range t.byBase[want[len(want)-1]] {
		n := shared(want, strings.Split(p, "/"))
		switch {
		case n > score:
			best, score, tied = p, n, false
		case n == score:
			tied = true
		}
	}
	if tied && score == len(want) {
		// The whole printed path stands in two places: only an exact path decides.
		for _, p := range t.byBase[want[len(want)-1]] {
			if p == strings.Join(want, "/") {
				return p, true
			}
		}
	}
	if best == "" || tied {
		return "", false
	}
	return best, plausible(want, strings.Split(best, "/"), score)
}

// plausible refuses a match by base name alone where both paths have
// directories that contradict each other: "lib/a/util.py" is not "b/util.py".
func plausible(want, got []string, score int) bool {
	return score > 1 || len(want) == 1 || len(got) == 1 && absolute(want)
}

func absolute(e []string) bool { return len(e) > 3 }

// elements splits a printed path: back slashes, "file://", a query and "./"
// and "../" at its head are gone.
func elements(printed string) []string {
	p := strings.ReplaceAll(strings.TrimSpace(printed), `\`, "/")
	p = strings.TrimPrefix(p, "file://")
	p, _, _ = strings.Cut(p, "?")
	var out []string
	for _, e := range strings.Split(p, "/") {
		if e != "" && e != "." && e != ".." {
			out = append(out, e)
		}
	}
	return out
}

func shared(a, b []string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}
