package diagnosis

import (
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/testreport"
)

func TestNormaliseSame(t *testing.T) {
	for _, c := range [][2]string{
		{"at 2024-01-02T03:04:05.678Z it broke", "at 2025-11-12T13:14:15Z it broke"},
		{"pointer 0xc000123456 is bad", "pointer 0x7f00deadbeef is bad"},
		{"id 123e4567-e89b-12d3-a456-426614174000 gone", "id 00000000-e89b-12d3-a456-426614174fff gone"},
		{"dial tcp 10.1.0.82:52774: refused", "dial tcp 10.9.9.9:443: refused"},
		{"took 1.25s to fail", "took 310ms to fail"},
		{"a.py:12: boom", "a.py:19: boom"},
		{"src/a.ts:3:15 boom", "src/a.ts:30:1 boom"},
		{"A.java:[27,122] incompatible", "A.java:[1,2] incompatible"},
		{`File "/x/a.py", line 12, in f`, `File "/x/a.py", line 99, in f`},
		{"open /tmp/pytest-of-x/pytest-1/a.txt: no", "open /tmp/pytest-of-y/pytest-22/b.txt: no"},
		{"/home/runner/work/app/app/src/a.go broke", "/__w/app/app/src/a.go broke"},
		{"/builds/group/app/src/a.go broke", "src/a.go broke"},
		{`D:\a\app\app\src broke`, "src broke"},
		{"commit 4cd33ef59e1b6d327e9e3da0e6063217f076afef", "commit 597be33c510aaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
		{"\x1b[31mred\x1b[0m text", "red   text"},
		{"goroutine 17 [running]", "goroutine 4211 [running]"},
		{"pid 123 died", "pid 99 died"},
		{"listening on localhost:41233", "listening on localhost:8080"},
		{"Mon Jan  2", "Mon Jan 2"},
	} {
		if a, b := Normalise(c[0]), Normalise(c[1]); a != b {
			t.Errorf("%q and %q differ: %q, %q", c[0], c[1], a, b)
		}
	}
}

func TestNormaliseDifferent(t *testing.T) {
	for _, c := range [][2]string{
		{"expected 3, got 4", "expected 3, got 5"},
		{"assert 404 == 200", "assert 500 == 200"},
		{"undefined: Foo", "undefined: Bar"},
		{"want 1.5 got 2.5", "want 1.5 got 3.5"},
		{"facade broke", "decade broke"},
		{"deadbeef", "feedface"}, // words of hex letters alone are words
		{"a.py broke", "b.py broke"},
		{"version 1.2.3", "version 1.2.4"},
	} {
		if a, b := Normalise(c[0]), Normalise(c[1]); a == b {
			t.Errorf("%q and %q agree: %q", c[0], c[1], a)
		}
	}
}

func fp(t *testing.T, x testreport.Test) string {
	t.Helper()
	x.Status = testreport.Failed
	d := Diagnose(&testreport.Report{Counts: testreport.Counts{Tests: 1, Failed: 1}, Failing: []testreport.Test{x}}, nil, Options{})
	if len(d.Failures) != 1 || !strings.HasPrefix(d.Failures[0].Fingerprint, "v1:") || len(d.Failures[0].Fingerprint) != 35 {
		t.Fatalf("%+v", d.Failures)
	}
	return d.Failures[0].Fingerprint
}

func TestFingerprint(t *testing.T) {
	base := testreport.Test{Name: "test_sum", Suite: "tests/test_a.py", File: "tests/test_a.py", Line: 12, Type: "AssertionError", Message: "assert 3 == 4",
		Trace: "tests/test_a.py:12: in test_sum\nE   AssertionError: assert 3 == 4"}
	with := func(f func(*testreport.Test)) testreport.Test { x := base; f(&x); return x }
	same := map[string]testreport.Test{
		"line moved":     with(func(x *testreport.Test) { x.Line = 40; x.Trace = strings.ReplaceAll(x.Trace, ":12:", ":40:") }),
		"suite dotted":   with(func(x *testreport.Test) { x.Suite = "tests.test_a" }),
		"absolute file":  with(func(x *testreport.Test) { x.File = "/home/runner/work/a/a/tests/test_a.py" }),
		"at another row": with(func(x *testreport.Test) { x.At = 999 }),
	}
	other := map[string]testreport.Test{
		"other values": with(func(x *testreport.Test) { x.Message = "assert 3 == 5" }),
		"other test":   with(func(x *testreport.Test) { x.Name = "test_sub" }),
		"other type":   with(func(x *testreport.Test) { x.Type = "ValueError" }),
	}
	want := fp(t, base)
	for n, x := range same {
		if fp(t, x) != want {
			t.Errorf("%s: another fingerprint", n)
		}
	}
	for n, x := range other {
		if fp(t, x) == want {
			t.Errorf("%s: the same fingerprint", n)
		}
	}
}

func FuzzFingerprint(f *testing.F) {
	f.Add("assert 1 == 2 at 0xdeadbeef01 in a.py:12", "T::t", "E   x\n  at f (a.js:1:2)")
	f.Add("\xff\xfe/tmp/x 12s", "", "")
	f.Fuzz(func(t *testing.T, message, name, trace string) {
		n := Normalise(message)
		if n2 := Normalise(message); n != n2 {
			t.Errorf("not deterministic: %q, %q", n, n2)
		}
		moved := Normalise(strings.ReplaceAll(message, "\x00", "") + " f.py:1: x")
		if moved != Normalise(strings.ReplaceAll(message, "\x00", "")+" f.py:77: x") {
			t.Errorf("a line number changes %q", message)
		}
		x := testreport.Test{Name: name, Message: message, Trace: trace}
		y := x
		y.At, y.Duration = 7, 9
		if fp(t, x) != fp(t, y) {
			t.Errorf("the place in the log changes the fingerprint")
		}
	})
}

// TestS6_5_FingerprintWithoutSecret is S6-5: a failure whose message shows a secret is the same
// failure when the secret was replaced.
func TestS6_5_FingerprintWithoutSecret(t *testing.T) {
	t.Parallel()
	fail := func(secret string) string {
		return fp(t, testreport.Test{Name: "login with " + secret, Message: "401: " + secret + " is not accepted by postgres://app:" + strings.ToLower(secret[8:24]) + "@db/x"})
	}
	one, two := "ghs_"+"12345_"+strings.Repeat("aB3x", 9), "ghs_"+"77777_"+strings.Repeat("Zz9q", 12)
	if a, b := fail(one), fail(two); a != b {
		t.Errorf("%s and %s", a, b)
	}
	if a, b := fail(one), fail("another word that says nothing"); a == b {
		t.Error("messages of different failures agree")
	}
}

// TestIdentity: reports of one run in several formats name a test alike.
func TestIdentity(t *testing.T) {
	for _, c := range []struct {
		f    routing.Failure
		want string
	}{
		{routing.Failure{Suite: "pkg.mod.Cls", Name: "test_a"}, "cls/test_a"},
		{routing.Failure{Suite: "pkg/mod.py::Cls", Name: "test_a"}, "cls/test_a"},
		{routing.Failure{Suite: "pkg/mod.py", Name: "test_a"}, "mod/test_a"},
		{routing.Failure{Suite: `src\pkg\mod.py`, Name: "test_a"}, "mod/test_a"},
		{routing.Failure{Suite: "outer > inner", Name: "Adds"}, "inner/adds"},
		{routing.Failure{Suite: "pkg/", Name: "TestA"}, "pkg//testa"},
		{routing.Failure{Suite: "pkg", Name: "TestA"}, "pkg/testa"},
		{routing.Failure{Name: "TestA"}, "/testa"},
		{routing.Failure{Kind: "diagnostic", Name: "tsc TS1", File: `src\a.ts`, Suite: "x"}, "diagnostic tsc TS1 a.ts"},
		{routing.Failure{Kind: "log", Name: "it failed", File: "src/a.ts"}, "log it failed a.ts"},
	} {
		if got := identity(c.f); got != c.want {
			t.Errorf("%+v is %q, want %q", c.f, got, c.want)
		}
	}
}
