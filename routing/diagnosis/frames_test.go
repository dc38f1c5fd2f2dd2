package diagnosis

import (
	"slices"
	"testing"
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
