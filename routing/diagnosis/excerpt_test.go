package diagnosis

import (
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
)

func TestExcerptOf(t *testing.T) {
	src := []byte("\xEF\xBB\xBFa\nb\r\nc\u202Ed\n\te\xff\n" + strings.Repeat("x", 5000) + "\nlast")
	e := ExcerptOf("f.go", src, 3, 1)
	if e == nil || e.Start != 2 || e.Mark != 3 || strings.Join(e.Lines, "|") != "b|cd|\te\uFFFD" {
		t.Fatalf("%+v", e)
	}
	if e := ExcerptOf("f.go", src, 6, 99); e == nil || e.Start != 1 || len(e.Lines) != 6 || len(e.Lines[4]) > 300 || e.Lines[5] != "last" {
		t.Fatalf("%+v", e)
	}
	for name, e := range map[string]*routing.Excerpt{
		"line 0":   ExcerptOf("f", src, 0, 2),
		"past end": ExcerptOf("f", src, 7, 0),
		"far past": ExcerptOf("f", src, 70, 3),
		"binary":   ExcerptOf("f", []byte("a\x00b"), 1, 1),
		"empty":    ExcerptOf("f", nil, 1, 1),
	} {
		if e != nil {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

func TestRelated(t *testing.T) {
	for name, c := range map[string]struct{ text, file, fn string }{
		"python":  {"Traceback (most recent call last):\n  File \"/usr/lib/python3.11/unittest/case.py\", line 3, in run\n  File \"tests/test_a.py\", line 5, in test_a\n  File \"app/core.py\", line 9, in total\n  File \"/x/site-packages/lib/a.py\", line 1, in f\nValueError", "app/core.py", "total"},
		"pytest":  {"tests/test_a.py:5: in test_a\n    total()\napp/core.py:9: in total\nE   ValueError", "app/core.py", "total"},
		"js":      {"Error: x\n    at Object.run (/w/node_modules/jest/a.js:1:2)\n    at total (src/cart.ts:12:5)\n    at node:internal/process:3:4", "src/cart.ts", "total"},
		"go":      {"goroutine 1 [running]:\npanic(...)\n\t/usr/local/go/src/runtime/panic.go:88\nmain.f()\n\t/home/x/app/cart.go:12 +0x1d", "/home/x/app/cart.go", ""},
		"java":    {"java.lang.X\n\tat org.junit.Assert.fail(Assert.java:89)\n\tat com.acme.shop.Cart$Inner.total(Cart.java:31)", "com/acme/shop/Cart.java", "total"},
		"kotlin":  {"\tat com.acme.CartKt.total(Cart.kt:3)", "com/acme/Cart.kt", "total"},
		"rust":    {"thread 'a' panicked at src/cart.rs:3:5:\n   1: core::x\n             at /rustc/abc/library/core/src/panicking.rs:7:14", "src/cart.rs", ""},
		"ruby":    {"/usr/local/bundle/gems/rspec/lib/a.rb:1:in `x'\n./lib/cart.rb:3:in `total'", "./lib/cart.rb", "total"},
		"php":     {"#0 /app/vendor/phpunit/A.php(3): x()\n#1 /app/src/Cart.php(12): total()", "/app/src/Cart.php", ""},
		"c#":      {"   at Acme.Cart.Total() in /app/Cart.cs:line 12", "/app/Cart.cs", "Acme.Cart.Total"},
		"c++":     {"src/cart.cpp:12:3: error: x", "src/cart.cpp", ""},
		"windows": {`C:\app\cart.go:12: x`, `C:\app\cart.go`, ""},
	} {
		got := Related(routing.Failure{}, c.text)
		if len(got) == 0 || got[0].File != c.file || got[0].Func != c.fn || !got[0].Project || got[0].Line == 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestMapPath(t *testing.T) {
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
		got, ok := MapPath(printed, tree)
		if !ok {
			got = ""
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", printed, got, want)
		}
	}
}

func TestTrimTrace(t *testing.T) {
	got := trimTrace("Error: expected 3\n    at total (src/cart.ts:12:5)\n    at run (/w/node_modules/jest-circus/a.js:1:2)\n    at <anonymous>\n\tat java.base/jdk.internal.X(Native Method)\n", frameOf)
	if got != "Error: expected 3\n    at total (src/cart.ts:12:5)" {
		t.Errorf("%q", got)
	}
	if n := strings.Count(trimTrace(strings.Repeat("line\n", 500), frameOf), "\n"); n > 32 {
		t.Errorf("%d lines are kept", n)
	}
}
