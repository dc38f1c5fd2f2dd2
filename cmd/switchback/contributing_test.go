package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const maxMethods = 15

// methodCounts returns how many methods each type of the module has, by "package.Type". Tests and
// packages that support tests do not count.
func methodCounts(t *testing.T, root string) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, s := range moduleSources(t, root) {
		if s.test() || within(s.pkg, "e2e") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, s.file), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
				out[s.pkg+"."+receiver(fn.Recv.List[0].Type)]++
			}
		}
	}
	return out
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return fmt.Sprintf("%T", e)
}

func contributing(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// TestTypesStaySmall compares the types of many methods with the table of CONTRIBUTING.md.
func TestTypesStaySmall(t *testing.T) {
	t.Parallel()
	page := contributing(t)
	_, limits, ok := strings.Cut(page, "\n## Limits on types and files\n")
	limits, _, _ = strings.Cut(limits, "\n## ")
	if !ok {
		t.Fatal("CONTRIBUTING.md has no section on limits")
	}
	listed := map[string]int{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (\\d+) \\| \\S.*\\|$").FindAllStringSubmatch(limits, -1) {
		listed[row[1]], _ = strconv.Atoi(row[2])
	}
	counts := methodCounts(t, filepath.Join("..", ".."))
	if len(counts) < 100 {
		t.Fatalf("only %d types have methods: the test reads the wrong directory", len(counts))
	}
	for name, n := range counts {
		if n > maxMethods && listed[name] == 0 {
			t.Errorf("%s has %d methods: split it, or give the reason in CONTRIBUTING.md", name, n)
		}
	}
	for name, said := range listed {
		switch n := counts[name]; {
		case n <= maxMethods:
			t.Errorf("%s has %d methods: remove it from CONTRIBUTING.md", name, n)
		case n != said:
			t.Errorf("%s has %d methods; CONTRIBUTING.md says %d", name, n, said)
		}
	}
}

var (
	quoted   = regexp.MustCompile("`([^`\n]+)`")
	repoPath = regexp.MustCompile(`^(\.ci|\.github|bot|cmd|docs|e2e|internal|routing|scripts|tools)(/[\w.-]+)+/?$`)
)

// pathsIn returns the texts in backticks that name a path of this repository.
func pathsIn(text string) []string {
	var out []string
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		// Made by npm, so absent before the first `make e2e-tools`; and of a user's repository.
		if repoPath.MatchString(m[1]) && m[1] != "e2e/node_modules" && !strings.HasPrefix(m[1], ".github/") {
			out = append(out, path.Clean(m[1]))
		}
	}
	return out
}

// TestRecipes looks for every path that CONTRIBUTING.md names; each recipe must name one.
func TestRecipes(t *testing.T) {
	t.Parallel()
	page := contributing(t)
	for _, p := range pathsIn(page) {
		if _, err := os.Stat(filepath.Join("..", "..", p)); err != nil && !isType(p) {
			t.Errorf("CONTRIBUTING.md names %s: %v", p, err)
		}
	}
	_, recipes, _ := strings.Cut(page, "\n## Recipes\n")
	recipes, _, _ = strings.Cut(recipes, "\n## ")
	all := strings.Split(recipes, "\n### ")[1:]
	if len(all) < 5 {
		t.Fatalf("%d recipes", len(all))
	}
	for _, r := range all {
		if len(pathsIn(r)) == 0 {
			title, _, _ := strings.Cut(r, "\n")
			t.Errorf("the recipe %q names no path", title)
		}
	}
}

// isType reports whether p is a row of the table of types, such as bot/github.Client, which
// TestTypesStaySmall checks.
func isType(p string) bool {
	pkg, name, ok := strings.Cut(p, ".")
	info, err := os.Stat(filepath.Join("..", "..", pkg))
	return ok && err == nil && info.IsDir() && !strings.Contains(name, "/") && name != "go"
}
