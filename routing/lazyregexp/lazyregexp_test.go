package lazyregexp

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// TestPatternsCompile compiles every pattern of the program that is compiled lazily.
func TestPatternsCompile(t *testing.T) {
	t.Parallel()
	found := 0
	compile := func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		if filepath.Base(name) == "matcher.go" {
			return nil // passes a parameter on, whose callers are checked
		}
		f, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !takesPattern(call.Fun) {
				return true
			}
			at := files.Position(call.Pos())
			v, err := types.Eval(files, nil, token.NoPos, types.ExprString(call.Args[0]))
			if err != nil || v.Value == nil {
				t.Errorf("%v: the pattern is not a constant, so this test cannot compile it: %v", at, err)
				return true
			}
			found++
			if _, err := regexp.Compile(constant.StringVal(v.Value)); err != nil {
				t.Errorf("%v: %v", at, err)
			}
			return true
		})
		return nil
	}
	for _, dir := range []string{"../../routing", "../../bot", "../../cmd"} {
		if err := filepath.WalkDir(dir, compile); err != nil {
			t.Error(err)
		}
	}
	if found < 100 {
		t.Errorf("found %d patterns", found)
	}
}

// takesPattern reports whether fun is a function that takes a pattern and compiles it later.
func takesPattern(fun ast.Expr) bool {
	f, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := f.X.(*ast.Ident)
	return ok && (x.Name == "lazyregexp" && f.Sel.Name == "New" || x.Name == "multimatch" && f.Sel.Name == "NewMatcher")
}

// TestRegexpConcurrently compares concurrent calls with package regexp.
func TestRegexpConcurrently(t *testing.T) {
	t.Parallel()
	const pattern = `(\w+)=(\d+)`
	r, want := New(pattern), regexp.MustCompile(pattern)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			const s = "a=1, b=22"
			if got := r.FindAllString(s, -1); strings.Join(got, " ") != strings.Join(want.FindAllString(s, -1), " ") {
				t.Errorf("%q", got)
			}
			if got := r.ReplaceAllString(s, "$2=$1"); got != want.ReplaceAllString(s, "$2=$1") {
				t.Errorf("%q", got)
			}
			if r.MatchString("none") || !r.Match([]byte("c=3")) {
				t.Error("matches differ from regexp")
			}
		})
	}
	all.Wait()
}
