package testreport

import (
	"fmt"
	"strings"
	"testing"
)

// verboseRun is what go test -v prints for packages of a hundred tests.
func verboseRun(tests int) string {
	var b strings.Builder
	for i := range tests {
		name := fmt.Sprintf("TestHandles_orders_%d", i)
		fmt.Fprintf(&b, "=== RUN   %s\n", name)
		if i%5 == 0 {
			fmt.Fprintf(&b, "2026/01/02 03:04:05 INFO request served method=GET path=/v1/orders/%d status=200\n", i)
		}
		if i%50 == 0 {
			fmt.Fprintf(&b, "    part_test.go:%d: got %d, want %d\n--- FAIL: %s (0.01s)\n", i, i, i+1, name)
		} else {
			fmt.Fprintf(&b, "--- PASS: %s (0.03s)\n", name)
		}
		if i%100 == 99 {
			fmt.Fprintf(&b, "FAIL\nFAIL\texample.com/app/part%d\t0.012s\n", i/100)
		}
	}
	return b.String()
}

func BenchmarkGoTestVerbose(b *testing.B) {
	in := verboseRun(10000)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := Parse(strings.NewReader(in), Options{})
		if err != nil || r.Counts.Tests != 10000 || r.Counts.Failed != 200 {
			b.Fatal(r, err)
		}
	}
}

// However many tests run at once, each end finds its own beginning.
func TestManyGoTestsAtOnce(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, fewOpen, fewOpen + 1, 100} {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "=== RUN   Test%d\n=== PAUSE Test%d\n", i, i)
		}
		for i := range n {
			fmt.Fprintf(&b, "=== CONT  Test%d\n    a_test.go:%d: got 1, want 2\n--- FAIL: Test%d (0.00s)\n", i, i+1, i)
		}
		b.WriteString("=== RUN   Test0\n--- PASS: Test0 (0.00s)\nFAIL\nFAIL\ta\t0.1s\n") // -count
		r := parseString(t, b.String(), Options{})
		if r.Counts.Tests != n+1 || r.Counts.Failed != n || r.Counts.Passed != 1 || !r.Failing[0].Flaky {
			t.Errorf("%d at once: %+v", n, r.Counts)
		}
		for i, f := range r.Failing {
			if f.Name != fmt.Sprintf("Test%d", i) || f.Line != i+1 {
				t.Errorf("%d at once: %s at %d", n, f.Name, f.Line)
			}
		}
	}
}
