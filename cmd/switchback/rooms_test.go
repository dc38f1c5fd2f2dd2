package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
)

const modulePath = "github.com/switchback-ci/switchback/"

// source is one Go file of the module, as the rules of the rooms see it.
type source struct {
	file, pkg string   // path below the root; its folder
	name      string   // of the package clause
	imports   []string // those of this module without the module's path
	clock     []int    // lines that call time.Now, time.Since or time.Until
}

func (s source) test() bool {
	return strings.HasSuffix(s.file, "_test.go") || strings.HasSuffix(s.pkg, "test") // what tests share
}

// A roomRule returns why a file may not import something, "" if it may.
type roomRule func(s source, imported string) string

var roomRules = []roomRule{
	func(s source, in string) string {
		switch {
		case within(s.pkg, "routing") && (within(in, "bot") || within(in, "cmd")):
			return "the core knows nothing of what surrounds it"
		case within(s.pkg, "bot") && within(in, "cmd"):
			return "bot does not know its command line"
		}
		return ""
	},
	func(s source, in string) string {
		if s.pkg == "routing" && within(in, "routing") && !s.test() {
			return "the root of the core imports none of its subpackages"
		}
		return ""
	},
	func(s source, in string) string {
		if strings.HasPrefix(in, "github.com/google/go-github/") && s.pkg != "bot/github" && s.pkg != "bot/ledger/gitbranch" {
			return "only bot/github and bot/ledger/gitbranch know GitHub's client"
		}
		return ""
	},
	func(s source, in string) string {
		outside := in == "net" || (strings.HasPrefix(in, "net/") && in != "net/url") || // net/url only takes text apart
			in == "os" || strings.HasPrefix(in, "os/") || in == "context" || in == "syscall"
		if within(s.pkg, "routing") && outside && !s.test() {
			return "the core has no network, file or context"
		}
		return ""
	},
	func(s source, in string) string {
		if within(in, "tools") || (within(in, "e2e") && !within(s.pkg, "e2e") && !s.test()) {
			return "nothing but tests stands on the bench"
		}
		return ""
	},
}

func within(pkg, room string) bool { return pkg == room || strings.HasPrefix(pkg, room+"/") }

// roomBreaches returns every breach of the rules in files, sorted.
func roomBreaches(files []source) []string {
	var out []string
	say := func(s source, format string, a ...any) { out = append(out, s.file+": "+fmt.Sprintf(format, a...)) }
	for _, s := range files {
		for _, in := range s.imports {
			for _, rule := range roomRules {
				if why := rule(s, in); why != "" {
					say(s, "imports %s: %s", in, why)
				}
			}
		}
		for _, line := range s.clock {
			if within(s.pkg, "routing") && !s.test() {
				say(s, "line %d asks the clock: the core is told the time", line)
			}
		}
		for _, part := range append(strings.Split(s.pkg, "/"), strings.TrimSuffix(s.name, "_test")) {
			if slices.Contains([]string{"util", "utils", "common", "helper", "helpers", "manager", "managers", "misc"}, part) {
				say(s, "a package named %q says nothing of the field", part)
			}
		}
	}
	for _, c := range circles(files) {
		out = append(out, "packages import each other in a circle: "+c)
	}
	sort.Strings(out)
	return slices.Compact(out)
}

// circles finds packages of the core that import each other, tests included:
// Go itself refuses the other circles, not those that external tests close.
func circles(files []source) []string {
	edges := map[string]map[string]bool{}
	for _, s := range files {
		if edges[s.pkg] == nil {
			edges[s.pkg] = map[string]bool{}
		}
		for _, in := range s.imports {
			if in != s.pkg && within(s.pkg, "routing") && within(in, "routing") {
				edges[s.pkg][in] = true
			}
		}
	}
	var out []string
	for p := range edges {
		if reaches(edges, p, p, map[string]bool{}) {
			out = append(out, p)
		}
	}
	return out
}

func reaches(edges map[string]map[string]bool, from, to string, seen map[string]bool) bool {
	for next := range edges[from] {
		if next == to {
			return true
		}
		if !seen[next] {
			seen[next] = true
			if reaches(edges, next, to, seen) {
				return true
			}
		}
	}
	return false
}

func readSource(file string, src []byte) (source, error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, src, parser.SkipObjectResolution)
	if err != nil {
		return source{}, err
	}
	s := source{file: file, pkg: path.Dir(file), name: f.Name.Name}
	clock := ""
	for _, im := range f.Imports {
		p, _ := strconv.Unquote(im.Path.Value)
		s.imports = append(s.imports, strings.TrimPrefix(p, modulePath))
		if p == "time" {
			clock = "time"
			if im.Name != nil {
				clock = im.Name.Name
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || clock == "" {
			return true
		}
		x, ok := sel.X.(*ast.Ident)
		if ok && x.Name == clock && slices.Contains([]string{"Now", "Since", "Until", "Sleep", "After", "NewTimer", "Tick", "NewTicker"}, sel.Sel.Name) {
			s.clock = append(s.clock, set.Position(sel.Pos()).Line)
		}
		return true
	})
	return s, nil
}

func moduleSources(t *testing.T, root string) []source {
	t.Helper()
	var out []source
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && p != root {
			switch name := d.Name(); {
			case strings.HasPrefix(name, "."), name == "node_modules", name == "testdata", name == "bin", name == "tools":
				return fs.SkipDir
			}
		}
		if d.IsDir() || !strings.HasSuffix(p, ".go") {
			return nil
		}
		src, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		s, err := readSource(filepath.ToSlash(rel), src)
		out = append(out, s)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRoomsKeepTheirDirection(t *testing.T) {
	t.Parallel()
	files := moduleSources(t, filepath.Join("..", ".."))
	rooms := map[string]int{}
	for _, f := range files {
		rooms[strings.SplitN(f.pkg, "/", 2)[0]]++
	}
	for _, room := range []string{"routing", "bot", "cmd"} {
		if rooms[room] < 5 {
			t.Fatalf("only %d files found in %s: the test looks at the wrong folder", rooms[room], room)
		}
	}
	for _, b := range roomBreaches(files) {
		t.Error(b)
	}
}

// A test that cannot fail is a defect: every rule is shown a file that breaks it.
func TestRoomRulesRefuse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, src, want string
	}{
		{"routing/x.go", "package routing\nimport _ \"" + modulePath + "bot/github\"", "the core knows nothing"},
		{"routing/testreport/x_test.go", "package report\nimport _ \"" + modulePath + "bot/github\"", "the core knows nothing"},
		{"routing/testreport/x.go", "package report\nimport _ \"" + modulePath + "cmd/switchback\"", "the core knows nothing"},
		{"bot/server/x.go", "package app\nimport _ \"" + modulePath + "cmd/switchback\"", "bot does not know"},
		{"routing/x.go", "package routing\nimport _ \"" + modulePath + "routing/plan\"", "the root of the core imports none"},
		{"bot/render/x.go", "package render\nimport _ \"github.com/google/go-github/v60/github\"", "only bot/github"},
		{"cmd/switchback/x.go", "package main\nimport _ \"github.com/google/go-github/v99/github\"", "only bot/github"},
		{"routing/x.go", "package routing\nimport _ \"net\"", "no network"},
		{"routing/plan/x.go", "package port\nimport _ \"net/http\"", "no network"},
		{"routing/plan/x.go", "package port\nimport _ \"os\"", "no network"},
		{"routing/plan/x.go", "package port\nimport _ \"context\"", "no network"},
		{"routing/x.go", "package routing\nimport \"time\"\nvar t = time.Now()", "line 3 asks the clock"},
		{"routing/x.go", "package routing\nimport clk \"time\"\nvar t = clk.Now", "line 3 asks the clock"},
		{"bot/util/x.go", "package util", `"util"`},
		{"bot/x/x.go", "package helpers", `"helpers"`},
		{"bot/github/x.go", "package hub\nimport _ \"" + modulePath + "e2e\"", "nothing but tests stands on the bench"},
	} {
		s, err := readSource(c.file, []byte(c.src))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(roomBreaches([]source{s}), "\n"); !strings.Contains(got, c.want) || !strings.HasPrefix(got, c.file) {
			t.Errorf("%s\n%s\nis not refused for %q; got %q", c.file, c.src, c.want, got)
		}
	}
	circle := []source{
		{file: "routing/plan/a.go", pkg: "routing/plan", name: "port", imports: []string{"routing/answers"}},
		{file: "routing/answers/a_test.go", pkg: "routing/answers", name: "prompt", imports: []string{"routing/plan"}},
	}
	if got := roomBreaches(circle); len(got) != 2 {
		t.Errorf("a circle is not refused: %q", got)
	}
	fine := []source{
		{file: "routing/a_test.go", pkg: "routing", name: "routing", imports: []string{"os", "routing/testreport"}, clock: []int{3}},
		{file: "bot/github/a.go", pkg: "bot/github", name: "hub", imports: []string{"github.com/google/go-github/v60/github", "net/http", "routing"}},
	}
	if got := roomBreaches(fine); len(got) != 0 {
		t.Errorf("what is allowed is refused: %q", got)
	}
}
