package render

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
)

// cases are failures of a parametrized test, at one line.
func cases(n int) []routing.Failure {
	var fs []routing.Failure
	for i := range n {
		f := coupon()
		f.Name, f.Fingerprint = fmt.Sprintf("test_price[%d]", i), fmt.Sprint("v1:", i)
		f.Suggestion, f.Certain = "Correct the code that test_price checks.", false
		fs = append(fs, f)
	}
	return fs
}

func TestCommentOfCauses(t *testing.T) {
	t.Parallel()
	P := routing.DefaultPolicy()
	comment := func(fs ...routing.Failure) string {
		return string(Comment(play(t, P, runOf(1, routing.Fail, routing.LogicError, fs...)), "unit", options()))
	}
	t.Run("S0-28 failures of one line are one cause, and a row each", func(t *testing.T) {
		got := comment(append(cases(3), missing())...)
		has(t, "comment", got, "### ❌ unit: 4 of 120 tests failed · fix attempt 1 of 3", "<summary><code>test_price</code>, 3 cases</summary>", "<summary><code>test_coupon_expires</code></summary>",
			"| `test_price[0]`<br>", "| `test_price[2]`<br>", "2 other tests fail by this: `test_price[1]`, `test_price[2]`")
		if n := strings.Count(got, "```diff"); n != 1 {
			t.Errorf("the assertion is shown %d times\n%s", n, got)
		}
		if strings.Contains(got, "E       AssertionError: assert Decimal('60.00') == Decimal('50.00')\n\n") {
			t.Errorf("the assertion stands in the log too\n%s", got)
		}
	})
	t.Run("S0-28 of many failures each cause has a row", func(t *testing.T) {
		has(t, "comment", comment(append(cases(40), missing())...), "| `test_price[0]` and 39 more<br>", "| `test_coupon_expires`<br>", "!| `test_price[1]`")
	})
	t.Run("S0-29 advice stands where it is certain", func(t *testing.T) {
		has(t, "comment", comment(cases(1)...), "!Do this")
		has(t, "comment", comment(missing()), "**Do this:** Implement `Coupon.expired`")
		d := routing.Decision{Kind: routing.KindRetry, Verdict: runOf(1, routing.Fail, routing.LogicError, cases(1)...)}
		has(t, "feedback", string(Feedback(play(t, P, d.Verdict), "unit", 1, options())), "1. Correct the code that `test_price` checks")
	})
	t.Run("S0-26 one failure of the environment hides no other", func(t *testing.T) {
		env := missing()
		env.Class, env.Name = routing.EnvIssue, "test_stock"
		got := comment(append(cases(2), cartTotal(), missing(), env)...)
		has(t, "comment", got, "1 of 5 looks like the environment: `test_stock`.", "| `test_price[1]`<br>", "| `test_stock`<br>", "!LOGIC_ERROR`", "!kind:")
		has(t, "comment", comment(env), "!looks like the environment")
	})
	t.Run("S0-33 the packet has 10 kB at most, and says where the rest is", func(t *testing.T) {
		m := packetBlock.FindStringSubmatch(comment(many(500)...))
		if m == nil || len(m[1]) > packetSize {
			t.Fatalf("%d bytes", len(m[1]))
		}
		var p struct {
			Omitted  int
			Rest     string
			Failures []any
		}
		if err := json.Unmarshal([]byte(m[1]), &p); err != nil || p.Omitted+len(p.Failures) != 500 || !strings.Contains(p.Rest, "get_packet") || len(p.Failures) < 5 {
			t.Errorf("%v: %d failures, %d omitted, %q", err, len(p.Failures), p.Omitted, p.Rest)
		}
		if m := packetBlock.FindStringSubmatch(comment(missing())); strings.Contains(m[1], `"rest"`) {
			t.Errorf("a whole packet has a rest:\n%s", m[1])
		}
	})
}

func TestCheckAndSummaryAreNoCopies(t *testing.T) {
	t.Parallel()
	odd := missing()
	odd.Name, odd.File, odd.Fingerprint = "test_without_a_place", "", "v1:odd"
	c, d := decide(t, routing.DefaultPolicy(), runOf(1, routing.Fail, routing.LogicError, append(many(60), odd)...))
	check, summary := Check(c, "unit", "", options()), string(Summary(c, "unit", d, options()))
	t.Run("the check has totals and annotations", func(t *testing.T) {
		has(t, "check", string(check.Summary), "| 120 | 57 | 61 | 2 |", "Not annotated: ", "`test_without_a_place`", "!```", "!<summary><code>")
		if len(check.Annotations) != MaxAnnotations {
			t.Errorf("%d annotations", len(check.Annotations))
		}
	})
	t.Run("the summary has a row for each failure", func(t *testing.T) {
		has(t, "summary", summary, "| `TestEndpoint/case_000`<br>", "| `TestEndpoint/case_059`<br>", "| `test_without_a_place` |", "!```", "!<summary><code>")
	})
}

func TestBrief(t *testing.T) {
	t.Parallel()
	c, d := decide(t, routing.DefaultPolicy(), runOf(1, routing.Fail, routing.LogicError, coupon(), missing()))
	got := Brief(c, "unit", d, options(), Screen{})
	const want = `❌ unit: 2 of 120 tests failed · fix attempt 1 of 3

  ✗ test_percent_coupon_is_capped  tests/test_coupon.py:41  expected Decimal('50.00'), got Decimal('60.00')
  ✗ test_coupon_expires            shop/coupon.py:52        NotImplementedError: expiry

Next: The failure is returned for a fix; push a fix, the next run decides.
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	narrow := Brief(c, "unit", d, options(), Screen{Columns: 60})
	for line := range strings.Lines(narrow) {
		if strings.Contains(line, "✗") && len([]rune(strings.TrimSpace(line))) > 60 {
			t.Errorf("%q is wider than the terminal", line)
		}
	}
	if colored := Brief(c, "unit", d, options(), Screen{Columns: 200, Color: true}); !strings.Contains(colored, "\x1b[31m✗\x1b[0m") {
		t.Errorf("no colour: %q", colored)
	}
	c, d = decide(t, routing.DefaultPolicy(), runOf(1, routing.Fail, routing.LogicError, hostile()))
	if got := Brief(c, "unit", d, options(), Screen{}); strings.ContainsAny(got, "\x1b\u202e") || strings.Contains(got, "ghp_") {
		t.Errorf("%q", got)
	}
}
