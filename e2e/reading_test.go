package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/internal/githubpage"
)

// longReport is a JUnit report of n failing and as many passing tests, with names, places and messages
// that are as long as those of real projects.
func longReport(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<testsuite name="tests.integration.test_checkout" tests="%d" failures="%d">`, 2*n, n)
	for i := range n {
		fmt.Fprintf(&b, `<testcase classname="tests.integration.test_checkout_%d.TestCheckoutOfSeveralItems" name="test_total_of_an_order_with_a_discount_%03d" file="tests/integration/checkout/test_checkout_%d.py" line="%d">
<failure message="AssertionError: the total of order %d is not what the customer was shown in the cart before the discount was applied">def test_total():
    order = checkout(cart)
&gt;   assert order.total == shown, message
E   AssertionError: the total of order %d is not what the customer was shown in the cart before the discount was applied
tests/integration/checkout/test_checkout_%d.py:%d: AssertionError</failure></testcase><testcase classname="tests.other" name="test_%d"/>`, i%9, i, i%9, 20+i, i, i, i%9, 20+i, i)
	}
	return b.String() + "</testsuite>"
}

// routed is the comment that `switchback route` would post of reports, a run each.
func routed(t *testing.T, reports ...string) (comment string) {
	t.Helper()
	bin, err := switchback()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for i, report := range reports {
		file := filepath.Join(dir, "report.xml")
		if err := os.WriteFile(file, []byte(report), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(bin, "route", "--case", "acme/shop#12", "--checkpoint", "unit", "--ledger", filepath.Join(dir, "ledger"),
			"--run", fmt.Sprint(100+i), "--url", fmt.Sprint("https://github.com/acme/shop/actions/runs/", 100+i), "--sha", fmt.Sprintf("%040x", i+10), file)
		cmd.Stderr = os.Stderr
		text, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		var out struct{ Effects []struct{ Kind, Body string } }
		if err := json.Unmarshal(text, &out); err != nil {
			t.Fatal(err)
		}
		for _, e := range out.Effects {
			if e.Kind == "comment" {
				comment = e.Body
			}
		}
	}
	return comment
}

// TestCommentsAreShort opens comments as GitHub shows them, at 900 pixels: what is to be done fits the
// screen, and nothing has to be scrolled to the side.
func TestCommentsAreShort(t *testing.T) {
	t.Parallel()
	tab := NewBrowser(t).Tab(t, "reader", nil)
	tab.Look(900, 900, "light")
	for _, c := range []struct{ failures, most int }{{1, 600}, {5, 1000}, {500, 1600}} {
		t.Run(fmt.Sprintf("S0-28 %d failures", c.failures), func(t *testing.T) {
			comment := routed(t, longReport(c.failures), longReport(c.failures))
			if head, _, _ := strings.Cut(comment, "\n"); !strings.HasPrefix(head, fmt.Sprintf("### ❌ unit: %d of %d tests failed · fix attempt 2 of 3", c.failures, 2*c.failures)) {
				t.Errorf("the headline is %q", head)
			}
			page, err := githubpage.HTML(comment)
			if err != nil {
				t.Fatal(err)
			}
			tab := *tab
			tab.tb = t
			tab.Show(page)
			if dir := os.Getenv("PICTURES"); dir != "" {
				tab.Picture(filepath.Join(dir, fmt.Sprintf("comment-%d.png", c.failures)), true)
			}
			if n := tab.Height("article"); n > c.most {
				t.Errorf("%d failures are %d pixels high, more than %d", c.failures, n, c.most)
			} else {
				t.Logf("%d failures are %d pixels high", c.failures, n)
			}
			if n := tab.Overflow(); n > 0 {
				t.Errorf("%d failures: %d pixels do not fit", c.failures, n)
			}
		})
	}
}
