package github

import (
	"slices"
	"strings"
	"testing"

	"github.com/hmarr/codeowners"

	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/e2e"
	"github.com/switchback-ci/switchback/routing/marker"
)

func TestOwnersNamed(t *testing.T) {
	t.Parallel()
	rules, err := codeowners.ParseFile(strings.NewReader("* @octo/all mail@example.com\n*.go @gopher\n/api/ @ann @bob @octo/api\n/api/gen/\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		files []string
		want  string
	}{
		{[]string{"README.md"}, ""},
		{[]string{"cmd/main.go"}, "gopher"},
		{[]string{"api/x.go", "cmd/main.go"}, "ann bob gopher"},
		{[]string{"api/x.go", "api/y.go"}, "ann bob"},
		{[]string{"api/gen/x.go"}, ""},
	} {
		if got := strings.Join(named(rules, c.files), " "); got != c.want {
			t.Errorf("%v: %q, want %q", c.files, got, c.want)
		}
	}
}

// GitHub leaves out lines that it cannot read, and takes the others.
func TestOwnersOddLines(t *testing.T) {
	t.Parallel()
	rules, bad := rulesOf([]byte("\ufeff* @all\r\n[Section] @gitlab\n!neg.go @x\n*.go not-an-owner\n*.py @ann # why\n\n/문서/ @bob\na\\ b.txt @carl\nnobody.go"))
	if bad == nil {
		t.Error("no error is told")
	}
	for file, want := range map[string]string{"x.c": "all", "x.go": "all", "x.py": "ann", "a b.txt": "carl", "nobody.go": ""} {
		if got := strings.Join(named(rules, []string{file}), " "); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
	if rules, bad := rulesOf([]byte("* @all\n")); bad != nil || len(rules) != 1 {
		t.Errorf("%v %v", rules, bad)
	}
}

func TestOwners(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	if got, err := w.CodeOwners.List(t.Context(), w.r, "main", []string{"a.go"}); err != nil || got != nil {
		t.Errorf("without a file: %v %v", got, err)
	}
	w.repo.Grant(t, e2e.Writer, "push")
	w.repo.Commit(t, "main", "owners", map[string]string{"docs/CODEOWNERS": "* @" + e2e.Owner + "\n"})
	w.repo.Commit(t, "main", "owners", map[string]string{".github/CODEOWNERS": "* @" + e2e.Stranger + " @" + e2e.Writer + " @octo/team\n"})
	got, err := w.CodeOwners.List(t.Context(), w.r, "main", []string{"a.go"})
	if err != nil || !slices.Equal(got, []string{e2e.Writer}) {
		t.Errorf("the first file counts, and who can be assigned: %v %v", got, err)
	}
}

func TestContains(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	a := w.repo.Commit(t, "one", "a", map[string]string{"a": "a"})
	b := w.repo.Commit(t, "one", "b", map[string]string{"b": "b"})
	c := w.repo.Commit(t, "two", "c", map[string]string{"c": "c"})
	for _, x := range []struct {
		base, head string
		want       bool
	}{{a, b, true}, {b, a, false}, {a, a, true}, {a, c, false}, {strings.Repeat("0", 40), b, false}, {"", "", false}} {
		if got, err := w.Commits.Contains(t.Context(), w.r, x.base, x.head); err != nil || got != x.want {
			t.Errorf("%s in %s: %v %v", x.base, x.head, got, err)
		}
	}
}

// A body is made out of the one that stands there, also when that changes while
// it is written.
func TestRewriteIssue(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	i, _, err := w.Issues.Upsert(t.Context(), w.r, marker.Format("k", 5), spec("T"), "")
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	_, changed, err := w.Issues.Rewrite(t.Context(), w.r, i.Number, marker.Format("k", 5), func(live string) markdown.Text {
		calls++
		return markdown.Text("new\n" + strings.Repeat("tick\n", strings.Count(live, "[x]")))
	})
	if err != nil || !changed || calls != 1 {
		t.Errorf("%v %v, %d calls", changed, err, calls)
	}
	if got, _ := w.Issues.Get(t.Context(), w.r, i.Number); got.Body != "new\n\n"+marker.Format("k", 5) {
		t.Errorf("%q", got.Body)
	}
	if _, changed, err = w.Issues.Rewrite(t.Context(), w.r, i.Number, marker.Format("k", 5), func(string) markdown.Text { return "new" }); changed || err != nil {
		t.Errorf("the same again: %v %v", changed, err)
	}
	if _, changed, err = w.Issues.Rewrite(t.Context(), w.r, i.Number, marker.Format("k", 4), func(string) markdown.Text { return "old" }); changed || err != nil {
		t.Errorf("an older generation: %v %v", changed, err)
	}
}

// Owners are those of the last rule that matches, also where that names none, with teams.
func TestOwnersOfAFileS5_50(t *testing.T) {
	t.Parallel()
	text := []byte("* @acme/core\n/calc/ @mona docs@example.com @acme/testers\n*_gen.go\n!broken\n/calc/deep/*.go @octo\n")
	for file, want := range map[string]string{
		"README.md": "@acme/core", "calc/add_test.go": "@mona @acme/testers", "./calc/add_test.go": "@mona @acme/testers",
		"calc/add_gen.go": "", "calc/deep/x.go": "@octo", "": "",
	} {
		got := ""
		if file != "" {
			got = strings.Join(OwnersIn(text, file), " ")
		}
		if got != want {
			t.Errorf("S5-50: %q is owned by %q, want %q", file, got, want)
		}
	}
}
