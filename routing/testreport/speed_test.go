package testreport_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/reader"
)

// BenchmarkJobLog measures all consoles on lines that are of no test.
func BenchmarkJobLog(b *testing.B) {
	in := strings.Repeat(`Get:12 http://archive.example.org/ubuntu noble/main amd64 libpart amd64 1.2-3ubuntu2 [34 kB]
[INFO] Downloaded from central: https://repo.example.org/maven2/org/example/part/1.0/part-1.jar (12 kB at 2.1 MB/s)
#7 12.345 Step 3/40 : RUN apt-get install -y part
2026/01/02 03:04:05 INFO request served method=GET path=/v1/orders/7 status=200 bytes=123
   Compiling part v0.1.0 (/home/runner/work/app/crates/part)
[12/1000] Building CXX object src/CMakeFiles/app.dir/part.cpp.o
cc -O2 -g -Wall -Iinclude -DVERSION=7 -c -o build/part.o src/part.c

src/part.c:12:9: warning: unused variable 'n' [-Wunused-variable]
        at org.example.part.Handler.invoke(Handler.java:123)
  processed orders 12 of 34 in 7 ms, cache hit ratio 0.7, worker-3
`, 1000)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := reader.Read(strings.NewReader(in), model.Options{}, discard{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkConsoles measures what a console costs a line of its own format.
func BenchmarkConsoles(b *testing.B) {
	many := func(n int, format string) string {
		var s strings.Builder
		for i := range n {
			fmt.Fprintf(&s, format, i, i)
		}
		return s.String()
	}
	for _, in := range []struct {
		name    string
		console string
		text    string
	}{
		{"pytest -v", "pytest", "===== test session starts =====\n" + many(10000, "tests/test_part.py::test_handles[%d] PASSED [ %d%%]\n")},
		{"pytest xdist", "pytest", "===== test session starts =====\n" + many(10000, "[gw1] [ 42%%] PASSED tests/test_part%d.py::test_handles[%d] \n")},
		{"pytest captured", "pytest", "===== FAILURES =====\n_____ test_a _____\n" + many(10000, "2026-01-02 03:04:05 INFO processed %d of %d in 12 ms\n")},
		{"jest tree", "jest", "PASS src/part/handler.test.js (1.234 s)\n  handler\n" + many(10000, "    ✓ handles orders %d (%d ms)\n")},
		{"vitest", "vitest", " RUN  v1.2.3 /home/a\n\n" + many(10000, " ✓ src/part%d/handler.test.ts > handles orders %d 12ms\n")},
	} {
		b.Run(in.name, func(b *testing.B) {
			all := strings.Split(strings.TrimSuffix(in.text, "\n"), "\n")
			b.SetBytes(int64(len(in.text)))
			b.ReportAllocs()
			for b.Loop() {
				c := format.Lookup(in.console).Console(discard{}, model.DefaultLimits())
				for i, l := range all {
					c.Line(lines.Line{No: i + 1, Text: l})
				}
				c.End()
			}
		})
	}
}

type discard struct{}

func (discard) Test(model.Test) {}

func (discard) Problem(model.Problem) {}

func (discard) Diagnostic(model.Diagnostic) {}

func (discard) Cut(string) {}
