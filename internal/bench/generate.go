package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
)

// An input is one generated file. Its bytes depend on nothing but its fields.
type input struct {
	kind  string
	tests int   // where the size is a number of tests
	bytes int64 // where it is a number of bytes; write stops at the first line past it
	fails int
	// percent is the share of failing tests, for inputs that differ in nothing else.
	percent int
	write   func(g *gen, in input)
}

func (in input) name() string {
	if in.kind == kindFailing {
		return fmt.Sprintf("%s, %s tests, %d %% failing", kindJUnit, short(int64(in.tests), 1000, "k", "M"), in.percent)
	}
	if in.tests > 0 {
		return fmt.Sprintf("%s, %s tests", in.kind, short(int64(in.tests), 1000, "k", "M"))
	}
	return fmt.Sprintf("%s, %sB", in.kind, short(in.bytes, 1<<20, " M", " G"))
}

// short writes n in thousands or millions, of base (1000, or 1<<20 for bytes).
func short(n, base int64, small, large string) string {
	big := base * 1000
	if base != 1000 {
		big = base << 10
	}
	if n >= big {
		return fmt.Sprintf("%d%s", n/big, large)
	}
	return fmt.Sprintf("%d%s", n/base, small)
}

// gen writes to a file and draws from a generator of its own: the same on
// every machine and in every version of Go.
type gen struct {
	w     *bufio.Writer
	n     int64
	state uint64
}

func (g *gen) Write(p []byte) (int, error) {
	g.n += int64(len(p))
	return g.w.Write(p)
}

func (g *gen) printf(format string, a ...any) { fmt.Fprintf(g, format, a...) }

// rnd returns a number below n (xorshift).
func (g *gen) rnd(n int) int {
	g.state ^= g.state << 13
	g.state ^= g.state >> 7
	g.state ^= g.state << 17
	return int(g.state >> 33 % uint64(n))
}

func (in input) create(file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	g := &gen{w: bufio.NewWriterSize(f, 1<<20), state: 88172645463325252}
	in.write(g, in)
	if err := g.w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// every spreads fails failures over n tests.
func (in input) every() int {
	if in.fails == 0 {
		return 0
	}
	return max(1, in.tests/in.fails)
}

func junit(g *gen, in input) { writeJUnit(g, in, 0) }

// junitOutput is a document that is mostly what its tests printed.
func junitOutput(g *gen, in input) { writeJUnit(g, in, 1<<17) }

// writeJUnit writes suites of 100 cases until the tests or the bytes are
// reached; each hundredth case prints output bytes.
func writeJUnit(g *gen, in input, output int) {
	g.printf("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n")
	fails, step := 0, in.every()
	if in.tests == 0 {
		step = 20
	}
	for n, s := 0, 0; in.tests > 0 && n < in.tests || in.tests == 0 && g.n < in.bytes; s++ {
		g.printf("<testsuite name=\"com.example.app.Module%dTest\" tests=\"100\" timestamp=\"2026-01-02T03:04:05\" hostname=\"runner\">\n", s)
		for i := 0; i < 100; i++ {
			n++
			head := fmt.Sprintf("  <testcase name=\"handles case %d of &lt;%s&gt;\" classname=\"com.example.app.Module%dTest\" time=\"%d.%03d\"", n, word(g), s, g.rnd(2), g.rnd(1000))
			switch {
			case step > 0 && n%step == 0 && fails < in.fails:
				fails++
				g.printf("%s>\n    <failure message=\"expected:&lt;%d&gt; but was:&lt;%d&gt;\" type=\"org.opentest4j.AssertionFailedError\"><![CDATA[org.opentest4j.AssertionFailedError: expected: <%d> but was: <%d>\n", head, n, n+1, n, n+1)
				for k := 0; k < 20; k++ {
					g.printf("\tat com.example.app.Module%dTest.handles(Module%dTest.java:%d)\n", s, s, 10+k)
				}
				g.printf("]]></failure>\n  </testcase>\n")
			case output > 0 && i%50 == 0:
				g.printf("%s>\n    <system-out><![CDATA[", head)
				for end := g.n + int64(output); g.n < end; {
					plainNoise(g)
				}
				g.printf("]]></system-out>\n  </testcase>\n")
			default:
				g.printf("%s/>\n", head)
			}
		}
		g.printf("</testsuite>\n")
	}
	g.printf("</testsuites>\n")
}

func word(g *gen) string {
	return [...]string{"orders", "tokens", "accounts", "streams", "leases", "shards", "pages", "keys"}[g.rnd(8)]
}

func goTestJSON(g *gen, in input) {
	fails, step := 0, in.every()
	ev := func(action, pkg, test, rest string) {
		g.printf("{\"Time\":\"2026-01-02T03:04:05.%09dZ\",\"Action\":%q,\"Package\":%q%s%s}\n", g.rnd(1e9), action, pkg, test, rest)
	}
	for n, p := 0, 0; n < in.tests; p++ {
		pkg := fmt.Sprintf("example.com/app/internal/part%d", p)
		ev("start", pkg, "", "")
		bad := false
		for i := 0; i < 100; i++ {
			n++
			name := fmt.Sprintf("TestHandles%s%d", strings.ToUpper(word(g)), n)
			test := fmt.Sprintf(",\"Test\":%q", name)
			ev("run", pkg, test, "")
			ev("output", pkg, test, fmt.Sprintf(",\"Output\":\"=== RUN   %s\\n\"", name))
			result, word := "pass", "PASS"
			if n%step == 0 && fails < in.fails {
				fails++
				bad, result, word = true, "fail", "FAIL"
				ev("output", pkg, test, fmt.Sprintf(",\"Output\":\"    part_test.go:%d: got %d, want %d\\n\"", 10+i, n, n+1))
			}
			ev("output", pkg, test, fmt.Sprintf(",\"Output\":\"--- %s: %s (0.0%ds)\\n\"", word, name, g.rnd(10)))
			ev(result, pkg, test, fmt.Sprintf(",\"Elapsed\":0.0%d", g.rnd(10)))
		}
		result, line := "pass", "ok  \\t"+pkg+"\\t0.012s"
		if bad {
			result, line = "fail", "FAIL\\t"+pkg+"\\t0.012s"
		}
		ev("output", pkg, "", ",\"Output\":\""+line+"\\n\"")
		ev(result, pkg, "", ",\"Elapsed\":0.012")
	}
}

func goTest(g *gen, in input) {
	fails := 0
	for n, p := 0, 0; g.n < in.bytes; p++ {
		bad := false
		for i := 0; i < 100; i++ {
			n++
			name := fmt.Sprintf("TestHandles_%s_%d", word(g), n)
			g.printf("=== RUN   %s\n", name)
			if n%5 == 0 {
				noise(g)
			}
			if n%200 == 0 && fails < in.fails {
				fails++
				bad = true
				g.printf("    part_test.go:%d: got %d, want %d\n--- FAIL: %s (0.01s)\n", 10+i, n, n+1, name)
				continue
			}
			g.printf("--- PASS: %s (0.0%ds)\n", name, g.rnd(10))
		}
		if bad {
			g.printf("FAIL\nFAIL\texample.com/app/internal/part%d\t0.012s\n", p)
		} else {
			g.printf("PASS\nok  \texample.com/app/internal/part%d\t0.012s\n", p)
		}
	}
}

func pytest(g *gen, in input) {
	g.printf("============================= test session starts ==============================\nplatform linux -- Python 3.12.3, pytest-8.2.0, pluggy-1.5.0\nrootdir: /home/runner/work/app/app\ncollected 1000000 items\n\n")
	var failed []string
	n := 0
	for ; g.n < in.bytes*9/10; n++ {
		name := fmt.Sprintf("tests/test_part%d.py::test_handles_%s[%d]", n/100, word(g), n)
		if n%200 == 0 && len(failed) < in.fails {
			failed = append(failed, name)
			g.printf("%s FAILED [ %d%%]\n", name, g.n*100/in.bytes)
			continue
		}
		g.printf("%s PASSED [ %d%%]\n", name, g.n*100/in.bytes)
	}
	g.printf("\n=================================== FAILURES ===================================\n")
	for i, name := range failed {
		short := name[strings.LastIndex(name, ":")+1:]
		g.printf("_____ %s _____\n\n    def test():\n>       assert %d == %d\nE       assert %d == %d\n\ntests/test_part.py:%d: AssertionError\n", short, i, i+1, i, i+1, 10+i)
		if i%10 == 0 {
			g.printf("----------------------------- Captured stdout call -----------------------------\n")
			for k := 0; k < 20; k++ {
				noise(g)
			}
		}
	}
	g.printf("=========================== short test summary info ============================\n")
	for i, name := range failed {
		g.printf("FAILED %s - assert %d == %d\n", name, i, i+1)
	}
	g.printf("================= %d failed, %d passed in 812.34s (0:13:32) =================\n", len(failed), n-len(failed))
}

func jest(g *gen, in input) {
	suites, badSuites, tests, fails := 0, 0, 0, 0
	name := ""
	for ; g.n < in.bytes; suites++ {
		bad := suites%20 == 0 && fails < in.fails
		if bad {
			badSuites++
			g.printf("FAIL src/part%d/handler.test.js\n", suites)
		} else {
			g.printf("PASS src/part%d/handler.test.js (%d.%03d s)\n", suites, g.rnd(9), g.rnd(1000))
		}
		g.printf("  handler %d\n", suites)
		for i := 0; i < 40; i++ {
			tests++
			if bad && i == 7 {
				fails++
				name = fmt.Sprintf("handles %s %d", word(g), tests)
				g.printf("    ✕ %s (%d ms)\n", name, g.rnd(99))
				continue
			}
			g.printf("    ✓ handles %s %d (%d ms)\n", word(g), tests, g.rnd(99))
		}
		if bad {
			g.printf("\n  ● handler %d › %s\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: 1\n    Received: 2\n\n      at Object.toBe (src/part%d/handler.test.js:7:11)\n\n", suites, name, suites)
		}
	}
	g.printf("\nTest Suites: %d failed, %d passed, %d total\nTests:       %d failed, %d passed, %d total\nSnapshots:   0 total\nTime:        812.3 s\n", badSuites, suites-badSuites, suites, fails, tests-fails, tests)
}

// jobLog is a GitHub job log: time stamps, groups, what builds print, a test
// run of go now and then.
func jobLog(g *gen, in input) {
	w := &stamped{g: g}
	inner := &gen{w: bufio.NewWriterSize(w, 1<<12), state: 362436069}
	fails := 0
	for step := 0; g.n < in.bytes; step++ {
		inner.printf("##[group]Run make part%d\n\x1b[36;1mmake part%d\x1b[0m\nshell: /usr/bin/bash -e {0}\n##[endgroup]\n", step, step)
		for i := 0; i < 5000; i++ {
			noise(inner)
		}
		for i := 0; i < 5 && fails < in.fails; i++ {
			fails++
			inner.printf("--- FAIL: TestStep%d_%d (0.01s)\n    part_test.go:%d: got %d, want %d\n", step, i, 10+i, i, i+1)
		}
		inner.printf("FAIL\nFAIL\texample.com/app/part%d\t0.012s\n", step)
		_ = inner.w.Flush()
	}
	inner.printf("##[error]Process completed with exit code 1.\n")
	_ = inner.w.Flush()
}

// stamped puts the runner's time before each line.
type stamped struct {
	g   *gen
	mid bool
}

func (s *stamped) Write(p []byte) (int, error) {
	for _, line := range strings.SplitAfter(string(p), "\n") {
		if line == "" {
			continue
		}
		if !s.mid {
			s.g.printf("2026-01-02T03:%02d:%02d.%07dZ ", s.g.rnd(60), s.g.rnd(60), s.g.rnd(1e7))
		}
		s.mid = !strings.HasSuffix(line, "\n")
		_, _ = io.WriteString(s.g, line)
	}
	return len(p), nil
}

// noise writes one line of what builds and programs print.
func noise(g *gen) {
	a, b := g.rnd(1000), g.rnd(100000)
	switch g.rnd(20) {
	case 0:
		g.printf("Get:%d http://azure.archive.ubuntu.com/ubuntu noble/main amd64 libpart%d amd64 1.%d-3ubuntu2 [%d kB]\n", a, a, b, b)
	case 1:
		g.printf("[INFO] Downloaded from central: https://repo.example.org/maven2/org/example/part-%d/%d.0/part-%d.jar (%d kB at 2.1 MB/s)\n", a, b, a, b)
	case 2:
		g.printf("npm warn deprecated part-%d@%d.0.0: this version is no longer supported\n", a, b)
	case 3:
		g.printf("#%d %d.%03d Step %d/40 : RUN apt-get install -y part%d\n", a%30, b%100, a, a%40, b)
	case 4:
		g.printf("2026/01/02 03:04:05 INFO request served method=GET path=/v1/%s/%d status=200 bytes=%d\n", word(g), a, b)
	case 5:
		g.printf("\x1b[32m✓\x1b[39m built src/%s/part%d.js \x1b[2m%d.%02d kB\x1b[22m\n", word(g), a, b, a%100)
	case 6:
		g.printf("   Compiling part-%d v0.%d.0 (/home/runner/work/app/crates/part-%d)\n", a, b%100, a)
	case 7:
		g.printf("[%d/1000] Building CXX object src/CMakeFiles/app.dir/part%d.cpp.o\n", a, b)
	case 8:
		g.printf("cc -O2 -g -Wall -Iinclude -DVERSION=%d -c -o build/part%d.o src/part%d.c\n", a, b, b)
	case 9:
		g.printf("Requirement already satisfied: part-%d>=1.%d in /opt/hostedtoolcache/Python/3.12.3/x64/lib/python3.12/site-packages\n", a, b%50)
	case 10:
		g.printf("\n")
	case 11:
		g.printf("{\"level\":\"info\",\"ts\":%d.%d,\"msg\":\"lease renewed\",\"shard\":%d}\n", b, a, a)
	case 12:
		g.printf("src/part%d.c:%d:9: warning: unused variable 'n%d' [-Wunused-variable]\n", a, b%900, b)
	case 13:
		g.printf("remote: Counting objects: %d%% (%d/%d)\rremote: Counting objects: 100%% (%d/%d), done.\n", a%100, a, b, b, b)
	case 14:
		g.printf("        at org.example.part%d.Handler.invoke(Handler.java:%d)\n", a, b%900)
	default:
		g.printf("  processed %s %d of %d in %d ms, cache hit ratio 0.%d, worker-%d\n", word(g), b, b+a, a, a, a%16)
	}
}

// plainNoise is noise without the bytes that XML forbids.
func plainNoise(g *gen) {
	var b strings.Builder
	n, w := g.n, g.w
	g.w = bufio.NewWriter(&b)
	noise(g)
	_ = g.w.Flush()
	g.n, g.w = n, w
	g.printf("%s", strings.NewReplacer("\x1b", "", "\r", "\n").Replace(b.String()))
}

// oneLine is a log with one line as long as the whole.
func oneLine(g *gen, in input) {
	g.printf("=== RUN   TestA\n--- PASS: TestA (0.00s)\n")
	for g.n < in.bytes {
		g.printf("%d:%s,", g.rnd(1e6), word(g))
	}
	g.printf("\n=== RUN   TestB\n    b_test.go:7: got 1, want 2\n--- FAIL: TestB (0.00s)\nFAIL\nFAIL\texample.com/app\t0.01s\n")
}
