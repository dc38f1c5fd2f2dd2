package render

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/render/rendertest"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/history"
)

var update = flag.Bool("update", false, "write the golden files")

func golden[T ~string](t *testing.T, name string, page T) {
	t.Helper()
	got := string(page)
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got+"\n" != string(want) {
		t.Errorf("%s differs; read the difference, then run with -update\n%s", path, firstDifference(got+"\n", string(want)))
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d\n got %q\nwant %q", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

var t0 = time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)

const caseKey = "acme/shop#12"

func commit(n int) string {
	return strings.Repeat(fmt.Sprintf("%x", 10+n%6), 38) + fmt.Sprintf("%02d", n)
}

func runOf(n int, result routing.Result, class routing.Class, fs ...routing.Failure) routing.Verdict {
	v := routing.Verdict{
		Checkpoint: "unit", Result: result, Class: class, Failures: fs,
		Run: routing.Run{Repository: "acme/shop", ID: fmt.Sprint(7000 + n), Attempt: 1, SHA: commit(n),
			URL: fmt.Sprintf("https://github.com/acme/shop/actions/runs/%d", 7000+n)},
		Counts: routing.Counts{Tests: 120, Passed: 118 - len(fs), Failed: len(fs), Skipped: 2},
	}
	for i := range v.Failures {
		v.Failures[i].Decisive = i == 0
	}
	return v
}

func play(t testing.TB, p routing.Policy, vs ...routing.Verdict) routing.Case {
	t.Helper()
	c := routing.Case{Key: caseKey}
	for i, v := range vs {
		c = step(t, c, v, p, i)
	}
	return c
}

// ranAll are the tests that failed before, which all ran, and those of v failed.
func ranAll(c routing.Case, v routing.Verdict) history.Ran {
	var out []history.Named
	add := func(f routing.Failure, s history.Status) {
		out = append(out, history.Named{ID: history.TestID(v.Checkpoint, f.Suite, f.Name), Suite: f.Suite, Name: f.Name, Status: s})
	}
	failed := map[string]bool{}
	for _, f := range v.Failures {
		failed[f.Suite+"\x00"+f.Name] = true
		add(f, history.Failed)
	}
	for _, c := range v.Cut {
		failed[c.Suite+"\x00"+c.Name] = true
		add(routing.Failure{Suite: c.Suite, Name: c.Name}, history.Failed)
	}
	for _, t := range c.Checkpoints[v.Checkpoint].Attempts {
		for _, f := range t.Verdict.Failures {
			if !failed[f.Suite+"\x00"+f.Name] {
				add(f, history.Passed)
			}
		}
		for _, c := range t.Verdict.Cut {
			if !failed[c.Suite+"\x00"+c.Name] {
				add(routing.Failure{Suite: c.Suite, Name: c.Name}, history.Passed)
			}
		}
	}
	return history.NewRan(out, false)
}

func step(t testing.TB, c routing.Case, v routing.Verdict, p routing.Policy, i int) routing.Case {
	t.Helper()
	now := t0.Add(time.Duration(i) * 17 * time.Minute)
	v = v.Follows(c, func() history.Ran { return ranAll(c, v) }, routing.Case{}, p)
	d := routing.Decide(c, v, p, now)
	next, err := c.Apply(routing.RunEvent(c.Key, v, d, now))
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func coupon() routing.Failure {
	return routing.Failure{
		Name: "test_percent_coupon_is_capped", Suite: "tests.test_coupon.TestCoupon", Class: routing.LogicError, Fingerprint: "v1:9c1f03ab",
		File: "tests/test_coupon.py", Line: 41, Kind: "assertion",
		Message: "AssertionError: assert Decimal('60.00') == Decimal('50.00')", Expected: "Decimal('50.00')", Actual: "Decimal('60.00')",
		Trace:      "    def test_percent_coupon_is_capped(self):\n        cart = Cart([Item(\"book\", 120)])\n>       assert Coupon.percent(50, cap=50).apply(cart).discount == Decimal(\"50.00\")\nE       AssertionError: assert Decimal('60.00') == Decimal('50.00')\n\ntests/test_coupon.py:41: AssertionError",
		Excerpt:    &routing.Excerpt{File: "shop/coupon.py", Start: 27, Mark: 30, Lines: []string{"    def apply(self, cart):", "        amount = self.rate * cart.total", "        # the cap is checked by the caller", "        return replace(cart, discount=amount)", "", "    @classmethod", "    def percent(cls, rate, cap=None):"}},
		Suggestion: "Apply the cap in `Coupon.apply`: expected Decimal('50.00'), got Decimal('60.00') at tests/test_coupon.py:41.", Certain: true,
		Evidence: []routing.Evidence{{Line: 212, Text: "E       AssertionError: assert Decimal('60.00') == Decimal('50.00')", Signal: "pytest-assertion"}},
	}
}

func missing() routing.Failure {
	return routing.Failure{
		Name: "test_coupon_expires", Suite: "tests.test_coupon.TestCoupon", Class: routing.NotImplemented, Fingerprint: "v1:0b77e2d4",
		File: "shop/coupon.py", Line: 52, Kind: "error", Message: "NotImplementedError: expiry",
		Trace:      "shop/coupon.py:52: in expired\n    raise NotImplementedError(\"expiry\")\nE   NotImplementedError: expiry",
		Suggestion: "Implement `Coupon.expired` in shop/coupon.py:52.", Certain: true,
		Evidence: []routing.Evidence{{Line: 230, Text: "E   NotImplementedError: expiry", Signal: "not-implemented"}},
	}
}

func cartTotal() routing.Failure {
	return routing.Failure{
		Name: "test_total_with_tax", Suite: "tests.test_cart", Class: routing.LogicError, Fingerprint: "v1:5d5d5d5d", File: "tests/test_cart.py", Line: 18, Kind: "assertion",
		Message: "receipt differs", Expected: "book      120.00\ncoupon    -50.00\ntax         7.00\ntotal      77.00", Actual: "book      120.00\ncoupon    -50.00\ntax        12.00\ntotal      82.00",
		Suggestion: "Compute the tax after the discount.", Certain: true,
		Evidence: []routing.Evidence{{Line: 300, Text: "E  AssertionError: receipt differs", Signal: "pytest-assertion"}},
	}
}

func many(n int) []routing.Failure {
	var fs []routing.Failure
	for i := range n {
		fs = append(fs, routing.Failure{
			Name: fmt.Sprintf("TestEndpoint/case_%03d", i), Suite: fmt.Sprintf("github.com/acme/shop/api%d", i%7), Class: routing.LogicError,
			Fingerprint: fmt.Sprintf("v1:%08x", i), File: fmt.Sprintf("api%d/endpoint_test.go", i%7), Line: 10 + i,
			Message: fmt.Sprintf("status = 500, want 200 (request %d)", i), Expected: "200", Actual: "500",
			Trace:      strings.Repeat(fmt.Sprintf("    endpoint_test.go:%d: goroutine stack line of some length to make it heavy\n", i), 30),
			Excerpt:    &routing.Excerpt{File: "api/endpoint.go", Start: 1, Mark: 8, Lines: strings.Split(strings.Repeat("\tif err := serve(w, r); err != nil { return err }\n", 14), "\n")},
			Suggestion: "Make the handler answer 200.", Evidence: []routing.Evidence{{Line: i, Text: "status = 500, want 200", Signal: "go-test"}},
		})
	}
	return fs
}

func hostile() routing.Failure { return rendertest.Hostile() }

func inert[T ~string](t *testing.T, page T, o Options) {
	t.Helper()
	rendertest.Inert(t, string(page), o.Server(), o.Mentions())
}

func secretive(s string) string {
	return strings.ReplaceAll(s, "ghp_0123456789abcdefghij0123456789abcdef", "[redacted]")
}
