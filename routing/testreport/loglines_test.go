package testreport

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// readAs returns the lines and all that was found in what r gives.
func readAs(r io.Reader, lim Limits) string {
	var b strings.Builder
	c := NewCollector(lim)
	c.OnTest = func(t *Test) { fmt.Fprintf(&b, "test %+v\n", *t) }
	info, err := Read(r, Options{Limits: lim, OnLine: func(l Line) { fmt.Fprintf(&b, "line %+v\n", l) }}, c)
	rep := c.Finish(info)
	fmt.Fprintf(&b, "%+v %v\n%+v\n%+v\n%+v\n", info, err, rep.Problems, rep.Diagnostics, rep.Cut)
	return b.String()
}

// FuzzLines compares what is read of a text that stands whole in the buffer
// with what is read of it byte by byte.
func FuzzLines(f *testing.F) {
	for _, s := range []string{
		"a\nb\r\n\r\n\n  \n\t{\"x\":1}\n", "=== RUN   TestA\n--- FAIL: TestA (0.00s)\nFAIL\nFAIL\ta\t0.1s",
		"[1]\n[ {\"a\":1}]\n[{\"name\":\"a\"}]\nlast", "2024-01-02T03:04:05.1234567Z {\"numTotalTests\":1,\n2024-01-02T03:04:05.1234567Z \"testResults\":[]}\nx\n",
		"<testsuite name=\"a\"><testcase name=\"b\"/>\n</testsuite>\n text\n", "x\n <testsuite name=\"a\">\n <testcase name=\"b\"/>\n</testsuite> behind\n",
		strings.Repeat("0123456789", 30) + "\nshort\n", "job\tstep\t2024-01-02T03:04:05.1234567Z ##[error]Process completed with exit code 1.\n::error::m\n:\n#\n",
		strings.Repeat(" ", 300) + "{\"Action\":\"run\",\"Package\":\"a\"}\n", "\x1b[31m2024-01-02T03:04:05.1234567Z a\x1b[0m\n[2024-01-02T03:04:05.123Z] b\n[task 2024-01-02T03:04:05.123Z] c\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		lim := Limits{Line: 64}
		whole, split := readAs(strings.NewReader(s), lim), readAs(iotest.OneByteReader(strings.NewReader(s)), lim)
		if whole != split {
			t.Errorf("%q\nwhole:\n%s\nbyte by byte:\n%s", s, whole, split)
		}
	})
}

// FuzzAllPlain compares the test of eight bytes at a time with that of one.
func FuzzAllPlain(f *testing.F) {
	for _, s := range []string{"", "plain", "plain text of more than 8", "tab\tin a longer line", "0123456\x1f", "\x7f2345678", "12345678\x80", "1234567\xff12345678", "12345678 ~ "} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		want := !strings.ContainsFunc(string(b), func(r rune) bool { return r < 0x20 || r >= 0x7f })
		if got, part := allPlain(b), plainPart(b) == len(b); got != want || part != want {
			t.Errorf("%q: %v, %v", b, got, part)
		}
		if want && needsScrub(b) {
			t.Errorf("%q would be scrubbed", b)
		}
	})
}

// FuzzClean compares the short ways of a line with the long way.
func FuzzClean(f *testing.F) {
	for _, s := range []string{
		"    ✓ adds (1 ms)", "2024-01-02T03:04:05.1234567Z ✓ a", "2024-01-02T03:04:05.1234567Z 2024-01-02T03:04:05.1234567Z é", "2024-01-02T03:04:05.1234567Z 2024-01-02T03:04:05.1234567Z 2024-01-02T03:04:05.1234567Z é",
		"[2024-01-02T03:04:05.123Z] 日本語のテスト", "\u200b", "a\u202eb", "\u2060", "\u180e", "\u061c", "\u00ad", "\u0085", "\ufeffa", "\U0001f600", "\ud7ff",
		"\xe2\x82", "\xe2\x82\xac", "\xe2\x28\xa1", "\xc3\x28", "\xc3", "\xed\xa0\x80", "é\tb", "é\rb", "é\x7f", "##[error]é", "::error::é", "12345678é2345678\x1b[0m",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if allShown(b) && (bytes.ContainsAny(b, "\t\x1b\r") || string(scrub(b)) != string(b)) {
			t.Errorf("%q would be scrubbed to %q", b, scrub(b))
		}
		long := trimTimestamp(b)
		if needsScrub(long) {
			long = trimTimestamp(scrub(long))
		}
		if text, mark := clean(b); mark == "" && text != string(long) {
			t.Errorf("%q: %q, the long way says %q", b, text, long)
		}
	})
}
