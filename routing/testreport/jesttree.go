package testreport

import (
	"slices"
	"strings"
)

// jestTitle is a line of the tree that groups tests.
type jestTitle struct {
	indent int
	title  string
}

// treeLine takes a line of the tree that the verbose reporter prints.
func (r *jestRun) treeLine(no int, t string) bool {
	indent := 0
	for indent < len(t) && t[indent] == ' ' {
		indent++
	}
	text := t[indent:]
	if indent < 2 {
		return false
	}
	for len(r.tree) > 0 && r.tree[len(r.tree)-1].indent >= indent {
		r.tree = r.tree[:len(r.tree)-1]
		r.joined = false
	}
	st, rest := jestMark(text)
	if rest == "" {
		if len(r.tree) < 50 {
			r.tree = append(r.tree, jestTitle{indent, strings.Clone(CutText(text, 1<<10))})
			r.joined = false
		}
		return true
	}
	r.treeTest(no, st, trimJestTime(rest))
	return true
}

// trimJestTime removes " (12 ms)" at the end of a test's name.
func trimJestTime(name string) string {
	if strings.HasSuffix(name, "s)") {
		if i := lastParen(name); i > 0 {
			if c := name[i+2]; c >= '0' && c <= '9' { // at least "s)" stands there
				return name[:i]
			}
		}
	}
	return name
}

// lastParen is strings.LastIndex(s, " ("), quicker where it stands near the end.
func lastParen(s string) int {
	for i := len(s) - 2; i >= 0; i-- {
		if s[i] == ' ' && s[i+1] == '(' {
			return i
		}
	}
	return -1
}

// treePath joins the titles of the tree as Jest does and as a suite is named.
// Tests in a row mostly share them.
func (r *jestRun) treePath() (path, suite string) {
	p := &r.path
	if r.joined {
		return p.path, p.suite
	}
	r.joined = true
	if !slices.EqualFunc(p.of, r.tree, func(s string, t jestTitle) bool { return s == t.title }) {
		p.of = p.of[:0]
		for _, t := range r.tree {
			p.of = append(p.of, t.title)
		}
		p.path = strings.Join(p.of, " › ")
		p.suite = strings.ReplaceAll(p.path, " › ", " > ")
	}
	return p.path, p.suite
}

// jestMark cuts the mark off a line of the tree. rest is empty if the line is
// a title.
func jestMark(text string) (st Status, rest string) {
	if text == "" || text[0] != 0xe2 && text[0] != 0xc3 {
		return "", ""
	}
	n := 3
	if text[0] == 0xc3 {
		n = 2
	}
	if len(text) < n+2 || text[n] != ' ' {
		return "", ""
	}
	rest = text[n+1:]
	switch text[:n] {
	case "✓", "√":
		return Passed, rest
	case "✕", "×":
		return Failed, rest
	case "○":
		return Skipped, rest
	case "✎":
		return Pending, rest
	}
	return "", ""
}

func (r *jestRun) treeTest(no int, st Status, name string) {
	path, suite := r.treePath()
	key := func() string {
		if path == "" {
			return r.file + "\x00" + name
		}
		return r.file + "\x00" + path + " › " + name
	}
	t := &r.now // no other field of it is ever set
	t.Status, t.Suite, t.Name, t.File, t.At, t.Flaky, t.Retries = st, suite, name, r.file, no, false, 0
	switch st {
	case Passed:
		r.named.passed++
		if len(r.retried) == 0 {
			break
		}
		if k := key(); r.retried[k] > 0 {
			t.Flaky, t.Retries = true, r.retried[k]
			delete(r.retried, k)
		}
	case Skipped:
		t.Name = strings.TrimPrefix(t.Name, "skipped ")
		r.named.skipped++
	case Pending:
		t.Name = strings.TrimPrefix(t.Name, "todo ")
		r.named.todo++
	default:
		if k := key(); r.byKey[k] == nil {
			r.add(k, &jestTest{file: r.file, suite: t.Suite, name: strings.Clone(name), at: no})
		}
		return
	}
	hand(r.out, t)
}

// jestPath is the joined titles of a tree.
type jestPath struct {
	of          []string
	path, suite string
}
