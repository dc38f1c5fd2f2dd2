package diagnosis

import (
	"fmt"
	"testing"
)

var sampleTree = []string{
	"src/a.py", "pkg/src/a.py", "setup.py", "pkg/setup.py", "index.js",
	"packages/web/src/index.ts", "packages/api/src/index.ts", "packages/api/src/util/x.ts",
	"core/src/test/java/com/acme/FooTest.java", "web/src/test/java/com/acme/web/FooTest.java",
	"app/src/test/kotlin/login/LoginTest.kt", "lib/src/main/scala/com/acme/Lib.scala",
	"a/src/test/java/com/acme/DupTest.java", "b/src/test/java/com/acme/DupTest.java",
	"tests/unit/test_x.py", "tests/Unit/BarTest.php", "vendor/node_modules/dep/index.js", "Src/Main/Program.cs", "x/util.go", "y/util.go",
}

func TestTreeMap(t *testing.T) {
	tree := NewTree(sampleTree)
	for _, c := range []struct{ printed, want string }{
		{"src/a.py", "src/a.py"},
		{"./pkg/src/a.py", "pkg/src/a.py"},
		{"/home/runner/work/r/r/src/a.py", "src/a.py"},
		{"/home/runner/work/r/r/pkg/src/a.py", "pkg/src/a.py"},
		{`D:\a\r\r\Src\Main\Program.cs`, "Src/Main/Program.cs"},
		{`Main\Program.cs`, "Src/Main/Program.cs"},
		{"D:/a/r/r/Src/Main/Program.cs", "Src/Main/Program.cs"},
		{"D:", ""}, {"D", ""},
		{"/app/setup.py", ""}, // two elements say too little
		{"/builds/g/p/setup.py", "setup.py"},
		{"/usr/lib/python3/dist-packages/foo/setup.py", ""},
		{"/opt/venv/lib/python3.12/site-packages/src/a.py", ""},
		{"web/src/index.ts", "packages/web/src/index.ts"},
		{"src/index.ts", ""}, // two packages have it
		{"src/util/x.ts", "packages/api/src/util/x.ts"},
		{"webpack:///./src/util/x.ts?abcd", "packages/api/src/util/x.ts"},
		{"http://localhost:9876/base/packages/api/src/util/x.ts?1", "packages/api/src/util/x.ts"},
		{"file:///w/packages/api/src/util/x.ts", "packages/api/src/util/x.ts"},
		{"FooTest.java", ""},
		{"com/acme/web/FooTest.java", "web/src/test/java/com/acme/web/FooTest.java"},
		{"LoginTest.kt", "app/src/test/kotlin/login/LoginTest.kt"},
		{"util.go", ""},
		{"z/util.go", ""},
		{"other/LoginTest.kt", ""}, // its directory contradicts
		{"node_modules/dep/index.js", "vendor/node_modules/dep/index.js"},
		{"/w/r/node_modules/none/index.js", ""},
		{"none.py", ""}, {"", ""}, {"/", ""}, {"..", ""},
	} {
		got, ok := tree.Map(c.printed)
		if !ok {
			got = ""
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.printed, got, c.want)
		}
	}
	if _, ok := (*Tree)(nil).Map("a"); ok {
		t.Error("no tree maps")
	}
}

func TestTreeMapPrinted(t *testing.T) {
	tree := []string{"src/cart.go", "lib/a/util.py", "lib/b/util.py", "app/src/main/java/com/acme/Cart.java", "web/src/cart.ts", "index.js", "web/index.js", "README.md"}
	for printed, want := range map[string]string{
		"src/cart.go":                        "src/cart.go",
		"/home/runner/work/x/x/src/cart.go":  "src/cart.go",
		`D:\a\x\x\src\cart.go`:               "src/cart.go",
		"./src/cart.go":                      "src/cart.go",
		"file:///w/web/src/cart.ts":          "web/src/cart.ts",
		"com/acme/Cart.java":                 "app/src/main/java/com/acme/Cart.java",
		"Cart.java":                          "app/src/main/java/com/acme/Cart.java",
		"util.py":                            "",
		"/x/a/util.py":                       "lib/a/util.py",
		"index.js":                           "index.js",
		"nowhere.go":                         "",
		"":                                   "",
		"/usr/lib/python3/other/dir/cart.go": "",
		"github.com/x/y/src/cart.go":         "src/cart.go",
		"/home/runner/work/x/x/README.md":    "README.md",
		"/opt/node_modules/thing/dist/src/web.go": "",
	} {
		got, ok := NewTree(tree).Map(printed)
		if !ok {
			got = ""
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", printed, got, want)
		}
	}
}

func TestTreeMapClass(t *testing.T) {
	tree := NewTree(sampleTree)
	for _, c := range []struct{ name, want string }{
		{"com.acme.FooTest", "core/src/test/java/com/acme/FooTest.java"},
		{"com.acme.FooTest$Inner$Deep", "core/src/test/java/com/acme/FooTest.java"},
		{"com.acme.FooTest.Inner", "core/src/test/java/com/acme/FooTest.java"},
		{"com.acme.web.FooTest", "web/src/test/java/com/acme/web/FooTest.java"},
		{"com.acme.FooTest[1]", "core/src/test/java/com/acme/FooTest.java"},
		{"org.company.login.LoginTest", "app/src/test/kotlin/login/LoginTest.kt"},
		{"com.acme.Lib", "lib/src/main/scala/com/acme/Lib.scala"},
		{"com.acme.DupTest", ""},
		{"com.other.FooTest", ""},
		{"FooTest", ""},
		{"tests.unit.test_x.TestX", "tests/unit/test_x.py"},
		{`Tests\Unit\BarTest`, "tests/Unit/BarTest.php"},
		{`Unit\BarTest`, "tests/Unit/BarTest.php"},
		{"a b.c", ""}, {"", ""}, {"$", ""},
	} {
		got, ok := tree.MapClass(c.name)
		if !ok {
			got = ""
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// BenchmarkTree maps 1,000 paths in a tree of 50,000 files, of which many
// share their names; building the index is part of it.
func BenchmarkTree(b *testing.B) {
	paths := make([]string, 0, 50000)
	for i := range 50000 {
		paths = append(paths, fmt.Sprintf("packages/p%d/src/m%d/%s", i/50, i%50, []string{"index.ts", "main.go", fmt.Sprintf("f%d.py", i)}[i%3]))
	}
	for b.Loop() {
		t := NewTree(paths)
		n := 0
		for i := range 1000 {
			if _, ok := t.Map("/home/runner/work/r/r/" + paths[i*49]); ok {
				n++
			}
		}
		if n != 1000 {
			b.Fatal(n)
		}
	}
}
