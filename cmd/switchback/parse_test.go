package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/ctrf/ctrftest"
)

func document(t *testing.T, out string) ctrftest.Document {
	t.Helper()
	d, problems := ctrftest.Check([]byte(out))
	for _, p := range problems {
		t.Error(p)
	}
	if len(problems) > 0 {
		t.Fatalf("no valid CTRF:\n%.2000s", out)
	}
	return d
}

func TestParsePrintsCTRF(t *testing.T) {
	t.Parallel()
	r := run(t, "", "parse", recorded("2-wrong-result.txt"))
	if r.code != 0 || r.err != "" {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	d := document(t, r.out)
	if s := d.Results.Summary; s.Tests != 6 || s.Passed != 2 || s.Failed != 3 || s.Skipped != 1 {
		t.Errorf("summary %+v", s)
	}
	found := false
	for _, x := range d.Results.Tests {
		if x.Status == "failed" && (x.Extra.Class == "" || x.Extra.Fingerprint == "" || len(x.Extra.Evidence) == 0) {
			t.Errorf("%s lacks class, evidence or fingerprint: %+v", x.Name, x.Extra)
		}
		if x.Name != "TestDiscount/rounds_down" {
			continue
		}
		found = true
		if strings.Join(x.Suite, "") != "example.com/shop" || x.FilePath != "coupon_test.go" || x.Line != 26 || !strings.Contains(x.Message, "got 900, want 899") || x.Trace == "" {
			t.Errorf("%+v", x)
		}
		e := x.Extra
		if e.Expected != "899" || e.Actual != "900" || e.Class != "LOGIC_ERROR" || e.Evidence[0].Signal == "" || e.Evidence[0].Text == "" || !strings.HasPrefix(e.Fingerprint, "v1:") {
			t.Errorf("%+v", e)
		}
	}
	if !found {
		t.Error("TestDiscount/rounds_down is not listed")
	}
}

// Every recording of the readers' corpus gives a valid document, whose failing
// tests have a class, evidence and a fingerprint each.
func TestParseOfEveryRecording(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../routing/testreport/testdata/*/*.txt")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d recordings, %v", len(files), err)
	}
	read := 0
	for _, f := range files {
		r := run(t, "", "parse", f)
		if r.code == 3 && r.out == "" && r.err != "" {
			continue
		}
		if r.code != 0 {
			t.Errorf("%s: exit %d: %s", f, r.code, r.err)
			continue
		}
		read++
		for _, x := range document(t, r.out).Results.Tests {
			if x.Status == "failed" && (x.Extra.Class == "" || (x.Extra.Fingerprint == "" && !x.Extra.Synthetic) || len(x.Extra.Evidence) == 0) {
				t.Errorf("%s: %s lacks class, evidence or fingerprint: %+v", f, x.Name, x.Extra)
			}
		}
	}
	if read < len(files)/2 {
		t.Errorf("only %d of %d recordings were read", read, len(files))
	}
}

func TestParseInputs(t *testing.T) {
	t.Parallel()
	green, err := os.ReadFile(recorded("3-pass.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, in string
		args     []string
		tests    int
	}{
		{"the standard input", string(green), []string{"parse", "-"}, 6},
		{"several files", "", []string{"parse", recorded("3-pass.txt"), recorded("2-wrong-result.txt")}, 12},
		{"the standard input and a file", string(green), []string{"parse", "-", recorded("2-wrong-result.txt")}, 12},
		{"a format by name", string(green), []string{"parse", "--format", "gotest", "-"}, 6},
		{"auto by name", string(green), []string{"parse", "--format", "auto", "-o", "ctrf", "-"}, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := process(t, c.in, c.args...)
			if r.code != 0 {
				t.Fatalf("exit %d: %s", r.code, r.err)
			}
			if n := document(t, r.out).Results.Summary.Tests; n != c.tests {
				t.Errorf("%d tests, want %d", n, c.tests)
			}
		})
	}
}

// What is not readable is said, with its name, and nothing is printed.
func TestParseUnreadable(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"empty": "", "white space": " \n\n", "prose": "it works on my machine\n", "binary": "\x00\x01\x02\xff\xfe\x7f",
		"zip": "PK\x03\x04\x14\x00", "bzip2": "BZh91AY&SY", "gzip cut off": "\x1f\x8b\x08\x00\x00\x00\x00\x00",
		"JSON": `{"hello":"world"}`, "XML": `<?xml version="1.0"?><project/>`, "HTML": "<!doctype html><html><body>404</body></html>",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := file(t, "input.dat", content)
			for _, args := range [][]string{{"parse", path}, {"parse", "-o", "text", path}, {"parse", recorded("3-pass.txt"), path}} {
				if r := process(t, "", args...); r.code != 3 || r.out != "" || !strings.Contains(r.err, "input.dat") {
					t.Errorf("%v: exit %d, output %.100q, error %q", args, r.code, r.out, r.err)
				}
			}
			if r := process(t, content, "parse", "-"); r.code != 3 || r.out != "" || r.err == "" {
				t.Errorf("standard input: exit %d, output %.100q, error %q", r.code, r.out, r.err)
			}
		})
	}
}

func TestParseText(t *testing.T) {
	t.Parallel()
	r := run(t, "", "parse", "-o", "text", recorded("2-wrong-result.txt"))
	for _, want := range []string{"gotest: 6 tests, 2 passed, 3 failed, 1 skipped\n", "FAIL example.com/shop > TestDiscount/rounds_down (coupon_test.go:26)\n", "got 900, want 899"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("%q is not in\n%s", want, r.out)
		}
	}
}

// A build failure is no green document: it stands there as a failing entry.
func TestParseBuildFailure(t *testing.T) {
	t.Parallel()
	r := run(t, "# example.com/shop\n./cart.go:7:2: undefined: total\nFAIL\texample.com/shop [build failed]\nok  \texample.com/tax\t0.1s\nFAIL\n", "parse", "-")
	d := document(t, r.out)
	if r.code != 0 || d.Results.Summary.Failed == 0 || len(d.Results.Tests) == 0 || d.Results.Tests[0].Status != "failed" || !d.Results.Tests[0].Extra.Synthetic {
		t.Errorf("exit %d\n%s", r.code, r.out)
	}
}

// S0-25 over a document and a console.
func TestParseFailingCases(t *testing.T) {
	t.Parallel()
	junit := `<testsuite name="s"><testcase classname="shop.CartTest" name="sums"><failure type="java.lang.AssertionError" message="expected:&lt;3&gt; but was:&lt;4&gt;">java.lang.AssertionError: expected:&lt;3&gt; but was:&lt;4&gt;
	at shop.CartTest.sums(CartTest.java:17)
</failure></testcase><testcase classname="shop.CartTest" name="empty"/></testsuite>`
	pytest := `============================= test session starts ==============================
collected 2 items

tests/test_cart.py F.                                                    [100%]

=================================== FAILURES ===================================
___________________________________ test_sum ___________________________________

    def test_sum():
>       assert add(1, 2) == 4
E       assert 3 == 4
E        +  where 3 = add(1, 2)

tests/test_cart.py:5: AssertionError
=========================== short test summary info ============================
FAILED tests/test_cart.py::test_sum - assert 3 == 4
========================= 1 failed, 1 passed in 0.05s ==========================
`
	for _, c := range []struct {
		name, in, test, message, trace, file string
		line                                 int
	}{
		{"S0-25 a report: failing case, message and stack trace", junit, "sums", "expected:<3> but was:<4>", "at shop.CartTest.sums(CartTest.java:17)", "", 0},
		{"S0-25 a console: failing case, message and stack trace", pytest, "test_sum", "assert 3 == 4", "tests/test_cart.py:5: AssertionError", "tests/test_cart.py", 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := document(t, run(t, c.in, "parse", "-").out)
			if s := d.Results.Summary; s.Tests != 2 || s.Passed != 1 || s.Failed != 1 {
				t.Fatalf("%+v", s)
			}
			x := d.Results.Tests[0]
			if x.Name != c.test || !strings.Contains(x.Message, c.message) || !strings.Contains(x.Trace, c.trace) {
				t.Errorf("%+v", x)
			}
			if c.line != 0 && (x.FilePath != c.file || x.Line != c.line) {
				t.Errorf("place %s:%d", x.FilePath, x.Line)
			}
		})
	}
}
