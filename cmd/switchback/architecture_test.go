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

// source is one Go file of the module.
type source struct {
	file, pkg string   // path from the root of the module; its directory
	name      string   // of the package clause
	imports   []string // those of this module without the module path
	clock     []int    // lines that read or wait for the clock
}

// test reports whether s is a test or belongs to a package that only tests use, such as
// corpustest. No other package may import one.
func (s source) test() bool {
	return strings.HasSuffix(s.file, "_test.go") || strings.HasSuffix(s.pkg, "test")
}

// testPrograms measure the program and use what supports tests.
var testPrograms = []string{"internal/load"}

// An importRule returns why a file must not import a package, "" if it may.
type importRule func(s source, imported string) string

var importRules = []importRule{
	func(s source, in string) string {
		switch {
		case within(s.pkg, "routing") && (within(in, "bot") || within(in, "cmd")):
			return "routing must not depend on bot or cmd"
		case within(s.pkg, "bot") && within(in, "cmd"):
			return "bot must not depend on cmd"
		}
		return ""
	},
	func(s source, in string) string {
		// These depend on no package of the module, so they may be below routing.
		if s.pkg == "routing" && within(in, "routing") && in != "routing/truncate" && in != "routing/history" && in != "routing/evidence" && !s.test() {
			return "routing imports none of its subpackages"
		}
		if s.pkg == "routing/evidence" && in != "routing/truncate" && (within(in, "routing") || within(in, "bot") || within(in, "cmd")) && !s.test() {
			return "routing imports it, so it imports nothing of the module but routing/truncate"
		}
		if (s.pkg == "routing/truncate" || s.pkg == "routing/history") && (within(in, "routing") || within(in, "bot") || within(in, "cmd")) && !s.test() {
			return "routing imports it, so it must not depend on the module"
		}
		return ""
	},
	func(s source, in string) string {
		if strings.HasPrefix(in, "github.com/google/go-github/") && s.pkg != "bot/github" {
			return "only bot/github uses the client library of GitHub"
		}
		return ""
	},
	func(s source, in string) string {
		outside := in == "net" || (strings.HasPrefix(in, "net/") && in != "net/url") || // net/url only parses text
			in == "os" || strings.HasPrefix(in, "os/") || in == "context" || in == "syscall"
		if within(s.pkg, "routing") && outside && !s.test() {
			return "routing uses no network, file or context"
		}
		return ""
	},
	func(s source, in string) string {
		if within(in, "tools") || (within(in, "e2e") && !within(s.pkg, "e2e") && !s.test()) {
			return "only tests depend on the tools and the end-to-end harness"
		}
		return ""
	},
}

func within(pkg, dir string) bool { return pkg == dir || strings.HasPrefix(pkg, dir+"/") }

// violations returns every violation of the rules in files, sorted.
func violations(files []source) []string {
	var out []string
	say := func(s source, format string, a ...any) { out = append(out, s.file+": "+fmt.Sprintf(format, a...)) }
	for _, s := range files {
		for _, in := range s.imports {
			for _, rule := range importRules {
				if why := rule(s, in); why != "" {
					say(s, "imports %s: %s", in, why)
				}
			}
		}
		for _, line := range s.clock {
			if within(s.pkg, "routing") && !s.test() {
				say(s, "line %d reads the clock: routing takes the time as a parameter", line)
			}
		}
		for _, part := range append(strings.Split(s.pkg, "/"), strings.TrimSuffix(s.name, "_test")) {
			if slices.Contains([]string{"util", "utils", "common", "helper", "helpers", "manager", "managers", "misc"}, part) {
				say(s, "the package name %q says nothing about its purpose", part)
			}
		}
	}
	for _, s := range files {
		for _, in := range s.imports {
			if (within(in, "routing") || within(in, "bot")) && strings.HasSuffix(in, "test") && !s.test() && !slices.Contains(testPrograms, s.pkg) {
				say(s, "imports %s: only tests may use a package that supports tests", in)
			}
		}
	}
	for _, c := range importCycles(files) {
		out = append(out, "import cycle: "+c)
	}
	sort.Strings(out)
	return slices.Compact(out)
}

// importCycles returns the packages of routing that import themselves through others, tests
// included: the compiler rejects all cycles except those through external tests.
func importCycles(files []source) []string {
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

// TestArchitecture checks the dependency rule: cmd imports bot, bot imports routing, never back.
func TestArchitecture(t *testing.T) {
	t.Parallel()
	files := moduleSources(t, filepath.Join("..", ".."))
	found := map[string]int{}
	for _, f := range files {
		found[strings.SplitN(f.pkg, "/", 2)[0]]++
	}
	for _, dir := range []string{"routing", "bot", "cmd"} {
		if found[dir] < 5 {
			t.Fatalf("only %d files found in %s: the test reads the wrong directory", found[dir], dir)
		}
	}
	for _, v := range violations(files) {
		t.Error(v)
	}
}

// TestArchitectureRules shows every rule a file that violates it.
func TestArchitectureRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, src, want string
	}{
		{"routing/x.go", "package routing\nimport _ \"" + modulePath + "bot/github\"", "routing must not"},
		{"routing/testreport/x_test.go", "package testreport\nimport _ \"" + modulePath + "bot/github\"", "routing must not"},
		{"routing/testreport/x.go", "package testreport\nimport _ \"" + modulePath + "cmd/switchback\"", "routing must not"},
		{"bot/server/x.go", "package server\nimport _ \"" + modulePath + "cmd/switchback\"", "bot must not"},
		{"routing/x.go", "package routing\nimport _ \"" + modulePath + "routing/plan\"", "routing imports none"},
		{"bot/render/x.go", "package render\nimport _ \"github.com/google/go-github/v60/github\"", "only bot/github uses"},
		{"bot/ledger/gitbranch/x.go", "package gitbranch\nimport _ \"github.com/google/go-github/v60/github\"", "only bot/github uses"},
		{"cmd/switchback/x.go", "package main\nimport _ \"github.com/google/go-github/v99/github\"", "only bot/github"},
		{"routing/truncate/x.go", "package truncate\nimport _ \"" + modulePath + "routing/plan\"", "must not depend on the module"},
		{"routing/x.go", "package routing\nimport _ \"net\"", "routing uses no network"},
		{"routing/plan/x.go", "package plan\nimport _ \"net/http\"", "routing uses no network"},
		{"routing/plan/x.go", "package plan\nimport _ \"os\"", "routing uses no network"},
		{"routing/plan/x.go", "package plan\nimport _ \"context\"", "routing uses no network"},
		{"routing/x.go", "package routing\nimport \"time\"\nvar t = time.Now()", "line 3 reads the clock"},
		{"routing/x.go", "package routing\nimport clk \"time\"\nvar t = clk.Now", "line 3 reads the clock"},
		{"bot/util/x.go", "package util", `"util"`},
		{"bot/x/x.go", "package helpers", `"helpers"`},
		{"bot/x/x.go", "package x\nimport _ \"" + modulePath + "bot/ledger/ledgertest\"", "only tests may use"},
		{"bot/github/x.go", "package github\nimport _ \"" + modulePath + "e2e\"", "only tests depend on the tools and the end-to-end harness"},
	} {
		s, err := readSource(c.file, []byte(c.src))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(violations([]source{s}), "\n"); !strings.Contains(got, c.want) || !strings.HasPrefix(got, c.file) {
			t.Errorf("%s\n%s\nwant a violation with %q; got %q", c.file, c.src, c.want, got)
		}
	}
	cycle := []source{
		{file: "routing/plan/a.go", pkg: "routing/plan", name: "plan", imports: []string{"routing/answers"}},
		{file: "routing/answers/a_test.go", pkg: "routing/answers", name: "answers", imports: []string{"routing/plan"}},
	}
	if got := violations(cycle); len(got) != 2 {
		t.Errorf("an import cycle is not found: %q", got)
	}
	fine := []source{
		{file: "routing/a_test.go", pkg: "routing", name: "routing", imports: []string{"os", "routing/testreport"}, clock: []int{3}},
		{file: "bot/github/a.go", pkg: "bot/github", name: "github", imports: []string{"github.com/google/go-github/v60/github", "net/http", "routing"}},
	}
	if got := violations(fine); len(got) != 0 {
		t.Errorf("allowed imports are violations: %q", got)
	}
}

// features are the packages of plans and surveys. The rest of routing and bot, the core, must
// build without them.
var features = []string{"routing/plan", "routing/survey", "bot/plans", "bot/surveys", "bot/render/planview", "bot/render/surveyview"}

func isFeature(pkg string) bool {
	return slices.ContainsFunc(features, func(f string) bool { return within(pkg, f) })
}

// featureImports are the packages of the core that still import a feature, and why. A package
// that stops doing so must be removed here.
var featureImports = map[string]string{
	"routing/activity": "translates the events of plans and surveys for subscribers",
	"routing/stats":    "counts feedback requests in the statistics of a repository",
	"bot/action":       "constructs the runner of plans and the surveys, and handles their events",
	"bot/handler":      "handles the events of plans and surveys; its table registers their handlers",
	"bot/eventstream":  "serves the state of plans and ports to subscribers",
	"bot/export":       "exports the ledgers of plans and surveys as SQL tables",
	"bot/server":       "registers the pages of plans",
}

// coreWithFeatures returns the packages outside the features that import one, tests excluded.
func coreWithFeatures(files []source) map[string][]string {
	out := map[string][]string{}
	for _, s := range files {
		if s.test() || isFeature(s.pkg) || !within(s.pkg, "routing") && !within(s.pkg, "bot") {
			continue
		}
		for _, in := range s.imports {
			if isFeature(in) && !slices.Contains(out[s.pkg], in) {
				out[s.pkg] = append(out[s.pkg], in)
			}
		}
	}
	return out
}

// TestCoreIsFreeOfFeatures shows which packages would build if plans and surveys were deleted:
// all but those of featureImports and those that import one of these.
func TestCoreIsFreeOfFeatures(t *testing.T) {
	t.Parallel()
	files := moduleSources(t, filepath.Join("..", ".."))
	have := coreWithFeatures(files)
	for pkg, in := range have {
		if featureImports[pkg] == "" {
			sort.Strings(in)
			t.Errorf("%s imports %s: the core must build without plans and surveys", pkg, strings.Join(in, ", "))
		}
	}
	for pkg := range featureImports {
		if have[pkg] == nil {
			t.Errorf("%s imports no feature any more: remove it from featureImports", pkg)
		}
	}
	for _, pkg := range buildsAlone {
		if via := pathToFeature(files, pkg, map[string]bool{}); via != "" {
			t.Errorf("%s does not build without plans and surveys: %s", pkg, via)
		}
	}
}

// buildsAlone are the packages of the core that have no feature among their dependencies, direct
// or indirect.
var buildsAlone = []string{
	"routing", "routing/answers", "routing/diagnosis", "routing/diagnosis/multimatch", "routing/escalation", "routing/lazyregexp",
	"routing/replay", "routing/testreport", "bot/ctrf", "bot/database", "bot/github", "bot/github/ratelimit", "bot/ledger", "bot/ledger/gitbranch",
	"bot/ledger/sqlledger", "bot/pipeline", "bot/server/credentials", "bot/server/queue", "bot/config", "bot/pipeline/effect", "bot/render", "bot/analysis",
}

// pathToFeature returns how pkg depends on a feature, "" if it does not.
func pathToFeature(files []source, pkg string, seen map[string]bool) string {
	seen[pkg] = true
	for _, s := range files {
		if s.pkg != pkg || s.test() {
			continue
		}
		for _, in := range s.imports {
			if isFeature(in) {
				return pkg + " → " + in
			}
			if (within(in, "routing") || within(in, "bot")) && !seen[in] {
				if via := pathToFeature(files, in, seen); via != "" {
					return pkg + " → " + via
				}
			}
		}
	}
	return ""
}

func TestFeatureImportsAreFound(t *testing.T) {
	t.Parallel()
	files := []source{
		{file: "routing/stats/a.go", pkg: "routing/stats", imports: []string{"routing/plan/feedback"}},
		{file: "routing/stats/a_test.go", pkg: "routing/stats", imports: []string{"routing/survey"}},
		{file: "bot/plans/a.go", pkg: "bot/plans", imports: []string{"routing/plan"}},
		{file: "bot/web/a.go", pkg: "bot/web", imports: []string{"routing/stats"}},
		{file: "cmd/switchback/a.go", pkg: "cmd/switchback", imports: []string{"bot/plans"}},
	}
	if got := fmt.Sprint(coreWithFeatures(files)); got != "map[routing/stats:[routing/plan/feedback]]" {
		t.Errorf("found %s", got)
	}
	if got := pathToFeature(files, "bot/web", map[string]bool{}); got != "bot/web → routing/stats → routing/plan/feedback" {
		t.Errorf("path %q", got)
	}
}
