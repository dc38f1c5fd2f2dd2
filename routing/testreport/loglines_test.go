package testreport_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/reader"
)

// readAs returns the lines and all that was found in what r gives.
func readAs(r io.Reader, lim model.Limits) string {
	var b strings.Builder
	c := model.NewCollector(lim)
	c.OnTest = func(t *model.Test) { fmt.Fprintf(&b, "test %+v\n", *t) }
	info, err := reader.Read(r, model.Options{Limits: lim, OnLine: func(l lines.Line) { fmt.Fprintf(&b, "line %+v\n", l) }}, c)
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
		lim := model.Limits{Line: 64}
		whole, split := readAs(strings.NewReader(s), lim), readAs(iotest.OneByteReader(strings.NewReader(s)), lim)
		if whole != split {
			t.Errorf("%q\nwhole:\n%s\nbyte by byte:\n%s", s, whole, split)
		}
	})
}
