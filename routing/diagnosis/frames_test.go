package diagnosis

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
)

// TestJavaFrame holds the short cut against the regexp it stands for.
func TestJavaFrame(t *testing.T) {
	i := slices.IndexFunc(frameForms, func(f frameForm) bool { return f.javaPackageGroup > 0 })
	read := 0
	for _, line := range []string{
		"\tat com.example.app.Module7Test.handles(Module7Test.java:10)",
		"  at a.B$1.<init>(B.kt:3) ~[x.jar:1.0]",
		"at Foo.bar(Foo.java:1)",
		"\tat bar(Foo.java:1)",
		"\tat .bar(Foo.java:1)",
		"\tat a..bar(Foo.java:1)",
		"\tat a.b.(Foo.java:1)",
		"\tat a.b(Foo.java:1",
		"\tat a.b(Foo.java:x)",
		"\tat a.b(Foo.java:)",
		"\tat a.b(Foo.bar.java:1)",
		"\tat a.b(Foo.rb:1)",
		"\tat a.b(Native Method)",
		"\tat app//org.junit.A.b(A.java:5)",
		"\tat a b.c(A.java:5) at d.e(F.java:6)",
		"\tat é.c(A.java:5)",
		"repeat a.b(A.java:5)",
		"",
	} {
		got, ok := javaFrame(line)
		want := frameForms[i].re.FindStringSubmatch(line)
		if !ok {
			continue
		}
		read++
		if want == nil || !slices.Equal(got[1:], want[1:]) {
			t.Errorf("%q: %q, the regexp gives %q", line, got, want)
		}
	}
	if read < 3 {
		t.Errorf("%d frames were read", read)
	}
}

func TestJavaFile(t *testing.T) {
	for in, want := range map[string]string{
		"com.example.app.FooTest.": "com/example/app/F.java",
		"com.example.Outer.Inner.": "com/example/F.java",
		"Foo.":                     "F.java",
		"a.b.":                     "a/F.java",
		"Outer.Inner.":             "F.java",
		"a.Outer.":                 "a/F.java",
	} {
		if got := javaFile(in, "F.java"); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
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
		got := related(&routing.Failure{}, newTraceMemo(true).of(c.text))
		if len(got) == 0 || got[0].File != c.file || got[0].Func != c.fn || !got[0].Project || got[0].Line == 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestTrimTrace(t *testing.T) {
	got := trimmed("Error: expected 3\n    at total (src/cart.ts:12:5)\n    at run (/w/node_modules/jest-circus/a.js:1:2)\n    at <anonymous>\n\tat java.base/jdk.internal.X(Native Method)\n")
	if got != "Error: expected 3\n    at total (src/cart.ts:12:5)" {
		t.Errorf("%q", got)
	}
	if n := strings.Count(trimmed(strings.Repeat("line\n", 500)), "\n"); n > 32 {
		t.Errorf("%d lines are kept", n)
	}
}

func trimmed(text string) string { return trimTrace(traceLines(nil, text, frameOf)) }
