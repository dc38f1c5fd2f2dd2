package diagnosis

import (
	"slices"
	"sort"
	"strings"
)

// Tree maps printed paths to the files of a repository. It is built once for all paths of a run and
// holds the paths with their elements reversed, sorted, so that files with a common end are
// adjacent.
type Tree struct {
	files []treeFile
}

type treeFile struct{ rev, path string }

// NewTree indexes the paths of a repository, with slashes, relative to its root.
func NewTree(paths []string) *Tree {
	t := &Tree{files: make([]treeFile, 0, len(paths))}
	for _, p := range paths {
		p = strings.TrimPrefix(p, "./")
		t.files = append(t.files, treeFile{reversed(strings.Split(p, "/")), p})
	}
	slices.SortFunc(t.files, func(a, b treeFile) int { return strings.Compare(a.rev, b.rev) })
	return t
}

// reversed joins e from last to first. NUL sorts before any character of a name, so a path precedes
// those that it is the end of.
func reversed(e []string) string {
	var b strings.Builder
	for i := len(e) - 1; i >= 0; i-- {
		b.WriteString(e[i])
		b.WriteByte(0)
	}
	return b.String()
}

// Map returns the file that a tool printed as printed: the one that shares the longest run of
// trailing path elements with it. ok is false if no file shares the base name, or if two share
// equally much and neither is an end of printed.
func (t *Tree) Map(printed string) (string, bool) {
	want := elements(printed)
	if t == nil || len(want) == 0 {
		return "", false
	}
	found, score := t.deepest(want)
	if score == 0 {
		return "", false
	}
	best := found[0] // a file that is an end of printed sorts first
	if len(found) > 1 && strings.Count(best.rev, "\x00") != score {
		return "", false
	}
	got := strings.Split(best.path, "/")
	return best.path, plausible(want, got, score, rooted(printed)) && !installed(want, got)
}

// deepest returns the files that share the most trailing elements with want, and that number.
func (t *Tree) deepest(want []string) (found []treeFile, score int) {
	in, key := t.files, ""
	for i := len(want) - 1; i >= 0; i-- {
		key += want[i] + "\x00"
		next := withPrefix(in, key)
		if len(next) == 0 {
			break
		}
		in, score = next, score+1
	}
	return in, score
}

func withPrefix(files []treeFile, key string) []treeFile {
	lo := sort.Search(len(files), func(i int) bool { return files[i].rev >= key })
	n := sort.Search(len(files)-lo, func(i int) bool { return !strings.HasPrefix(files[lo+i].rev, key) })
	return files[lo : lo+n]
}

// plausible rejects a match by base name alone if both paths have directories that contradict each
// other: "lib/a/util.py" is not "b/util.py".
func plausible(want, got []string, score int, rooted bool) bool {
	return score > 1 || len(want) == 1 || len(got) == 1 && rooted && len(want) > 2
}

// rooted reports whether printed is absolute, so that directories of the checkout precede the path.
func rooted(printed string) bool {
	return strings.HasPrefix(printed, "/") || strings.Contains(printed, "://") || len(printed) > 2 && printed[1] == ':' && (printed[2] == '\\' || printed[2] == '/')
}

// elsewhere are directories of installed packages.
var elsewhere = []string{"site-packages", "dist-packages", "node_modules", "registry", "gems", "rustlib", "GOROOT", "toolchains", "jspm_packages", "bower_components"}

// installed reports whether want is in a directory of installed packages and got is not.
func installed(want, got []string) bool {
	for _, e := range elsewhere {
		if slices.Contains(want[:len(want)-1], e) && !slices.Contains(got, e) {
			return true
		}
	}
	if len(want) > 2 && want[0] == "usr" && (want[1] == "lib" || want[1] == "include") {
		return true
	}
	for i := 0; i+1 < len(want)-1; i++ {
		if want[i] == "pkg" && want[i+1] == "mod" && !slices.Contains(got, "mod") {
			return true
		}
	}
	return false
}

// classFiles are the extensions of files that are named after a class.
var classFiles = []string{".java", ".kt", ".scala", ".groovy", ".py", ".php", ".cs"}

// MapClass returns the file of a class, module or namespace: "com.acme.FooTest$Inner" is in
// src/test/java/com/acme/FooTest.java. The path of a Kotlin file can omit the first elements of its
// package. ok is false if several files fit or if name has no package.
func (t *Tree) MapClass(name string) (string, bool) {
	parts := classParts(name)
	if t == nil {
		return "", false
	}
	for n := len(parts); n > 1; n-- {
		for _, ext := range classFiles {
			want := slices.Clone(parts[:n])
			want[n-1] += ext
			if p, ok := t.class(want); ok {
				return p, true
			}
		}
	}
	return "", false
}

// classParts splits a class name, without nested classes, parameters and calls.
func classParts(name string) []string {
	name, _, _ = strings.Cut(name, "$")
	name, _, _ = strings.Cut(name, "[")
	name, _, _ = strings.Cut(name, "(")
	name = strings.Trim(strings.ReplaceAll(name, `\`, "."), ". ")
	if name == "" || strings.ContainsAny(name, " /:\t") || len(name) > 500 {
		return nil
	}
	return strings.Split(name, ".")
}

// class returns the file whose path ends in want, the directories of a package and a file name.
func (t *Tree) class(want []string) (string, bool) {
	found, score := t.deepest(want)
	if score == 0 || len(found) != 1 {
		return "", false
	}
	got := strings.Split(found[0].path, "/")
	if score == len(want) {
		return found[0].path, true
	}
	if score == len(got) || score < 2 {
		return "", false
	}
	above := got[len(got)-1-score]
	return found[0].path, slices.Contains([]string{"kotlin", "java", "scala", "groovy", "src", "test", "tests", "main"}, above)
}

// elements splits a printed path, without back slashes, scheme, query, "./" and "../".
func elements(printed string) []string {
	p := strings.ReplaceAll(strings.TrimSpace(printed), `\`, "/")
	if i := strings.Index(p, "://"); i > 0 && i < 16 {
		p = p[i+3:]
	}
	p, _, _ = strings.Cut(p, "?")
	var out []string
	for _, e := range strings.Split(p, "/") {
		if e != "" && e != "." && e != ".." {
			out = append(out, e)
		}
	}
	return out
}
