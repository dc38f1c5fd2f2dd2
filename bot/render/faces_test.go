package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
)

func decide(t *testing.T, p routing.Policy, vs ...routing.Verdict) (routing.Case, routing.Decision) {
	t.Helper()
	c := play(t, p, vs[:len(vs)-1]...)
	v := vs[len(vs)-1]
	d := routing.Decide(c, v, p, t0)
	return step(t, c, v, p, len(vs)-1), d
}

func TestText(t *testing.T) {
	t.Parallel()
	P := routing.DefaultPolicy()
	f := func(n int) routing.Verdict { return runOf(n, routing.Fail, routing.LogicError, coupon()) }
	skip := P
	skip.Max, skip.OnMax = 0, routing.OnMaxSkip
	manual := P
	manual.Manual = true
	for _, tc := range []struct {
		id   string
		p    routing.Policy
		runs []routing.Verdict
		want string
	}{
		{"S4-61 S4-62 S4-63 S4-64 S4-65 a rework and its detail lines", P, []routing.Verdict{f(1), f(2)}, `⟳ Reworking "unit" (iteration 2/3, target: implement)
  → Recorded refinement attempt 2
  → Added refinement iteration 2 notes to story
  → Reset implement_complete flag for rework
  ↳ Triggering implement agent for refinement...
`},
		{"S4-66 the breaker", P, []routing.Verdict{f(1), f(2), f(3), f(4)}, `🛑 Story "unit" reached max refinement attempts (3/3)
   Manual intervention required
`},
		{"S4-30 skip", skip, []routing.Verdict{f(1)}, `🛑 Story "unit" reached max refinement attempts (0/0)
   Skipped; the others continue
`},
		{"S4-23 a manual rework waits", manual, []routing.Verdict{f(1)}, `⟳ Reworking "unit" (iteration 1/3, target: implement)
  → Recorded refinement attempt 1
  → Added refinement iteration 1 notes to story
  → Reset implement_complete flag for rework
  ↳ Waiting for a command before the hand-off
`},
		{"a pass", P, []routing.Verdict{f(1), runOf(2, routing.Pass, "")}, `✔ "unit" passed after 1 rework(s)
  → Every checkpoint has passed
`},
		{"an escalation", P, []routing.Verdict{runOf(1, routing.Fail, routing.EnvIssue)}, `🛑 "unit" needs a person: ESCALATE_ENV (0/3)
   the environment failed, not the work
   Manual intervention required
`},
		{"nothing", P, []routing.Verdict{runOf(1, routing.Errored, "")}, `· "unit": nothing to do: the analysis itself failed (no reason given); no turn is spent
`},
	} {
		t.Run(tc.id, func(t *testing.T) {
			t.Parallel()
			_, d := decide(t, tc.p, tc.runs...)
			if got := Text("unit", d, Options{}); got != tc.want {
				t.Errorf("got\n%swant\n%s", got, tc.want)
			}
		})
	}
}

func TestDetails(t *testing.T) {
	t.Parallel()
	got := Details(stories(t)["max_retry"], options())
	t.Run("S4-67 the count is shown", func(t *testing.T) {
		if !strings.Contains(got, "refinement count: 3/3") || !strings.Contains(got, "total time: 51m, feedback: ineffective") {
			t.Errorf("got\n%s", got)
		}
	})
	golden(t, "details.txt", strings.TrimRight(got, "\n"))
}

func TestCheck(t *testing.T) {
	t.Parallel()
	P := routing.DefaultPolicy()
	none, skip, fail := P, P, P
	none.Max, skip.Max, fail.Max = 0, 0, 0
	skip.OnMax, fail.OnMax = routing.OnMaxSkip, routing.OnMaxError
	F, L := routing.Fail, routing.LogicError
	for _, tc := range []struct {
		id, want string
		p        routing.Policy
		v        routing.Verdict
	}{
		{"a pass succeeds", "success", P, runOf(1, routing.Pass, "")},
		{"a rework fails", "failure", P, runOf(1, F, L, coupon())},
		{"S4-28 an escalation asks for action", "action_required", none, runOf(1, F, L, coupon())},
		{"S4-29 on_max error fails the check", "failure", fail, runOf(1, F, L, coupon())},
		{"S4-30 on_max skip is neutral", "neutral", skip, runOf(1, F, L, coupon())},
		{"the analysis failed", "neutral", P, runOf(1, routing.Errored, "")},
	} {
		t.Run(tc.id, func(t *testing.T) {
			t.Parallel()
			r := Check(play(t, tc.p, tc.v), "unit", commit(1), options())
			if r.Conclusion != tc.want || r.Title == "" || r.Summary == "" {
				t.Errorf("%s %q, want %s\n%s", r.Conclusion, r.Title, tc.want, r.Summary)
			}
			inert(t, r.Summary, Options{})
		})
	}
	t.Run("S0-23 a failing run while a person is awaited asks for action", func(t *testing.T) {
		t.Parallel()
		c := play(t, P, runOf(1, F, routing.EnvIssue, coupon()), runOf(2, F, L, coupon()))
		if r := Check(c, "unit", commit(2), options()); r.Conclusion != "action_required" || !strings.Contains(string(r.Summary), "waits for a human") {
			t.Errorf("%+v", r)
		}
	})
	t.Run("annotations have a place in the repository and are few", func(t *testing.T) {
		t.Parallel()
		r := Check(play(t, P, runOf(1, F, L, append([]routing.Failure{coupon(), hostile()}, many(200)...)...)), "unit", "", options())
		if len(r.Annotations) != MaxAnnotations || r.Annotations[0].Path != "tests/test_coupon.py" || r.Annotations[0].Line != 41 {
			t.Errorf("%d annotations, first %+v", len(r.Annotations), r.Annotations[0])
		}
		for _, a := range r.Annotations {
			if !relative(a.Path) || a.Message == "" || a.Title == "" || strings.Contains(fmt.Sprint(a), "\x1b") {
				t.Errorf("%+v", a)
			}
		}
	})
}

func TestSummary(t *testing.T) {
	t.Parallel()
	P := routing.DefaultPolicy()
	c, d := decide(t, P, runOf(1, routing.Fail, routing.LogicError, hostile(), coupon()))
	got := Summary(c, "unit", d, options())
	inert(t, got, Options{})
	for _, w := range []string{"| 120 | 116 | 2 | 2 |", "- **Decision:** `RETRY` (returned for a fix, rule `fixable`)", "test_percent_coupon_is_capped", "- **Next:** The failure is returned for a fix"} {
		if !strings.Contains(string(got), w) {
			t.Errorf("no %q in\n%s", w, got)
		}
	}
	c, d = decide(t, P, runOf(1, routing.Fail, routing.LogicError, many(2000)...))
	if got := Summary(c, "unit", d, options()); len(got) > 1<<20 {
		t.Errorf("%d bytes", len(got))
	}
	c, d = decide(t, P, runOf(1, routing.Errored, ""))
	if got := Summary(c, "unit", d, options()); !strings.Contains(string(got), "this run changes nothing") {
		t.Errorf("got\n%s", got)
	}
}

func TestFeedback(t *testing.T) {
	t.Parallel()
	all := stories(t)
	o := options()
	o.Mention = ""
	got := Feedback(all["second"], "unit", 2, o)
	inert(t, got, o)
	golden(t, "feedback_2.md", got)
	for id, wants := range map[string][]string{
		"S0-28 a failure summary":         {"## Failure summary\n\n**2 of 120 tests failed at"},
		"S0-29 suggestions":               {"## What to do\n\n1. Apply the cap in `Coupon.apply`"},
		"S0-30 code, expected and actual": {"> 30 |", "- Decimal('50.00')\n+ Decimal('60.00')"},
		"S0-33 earlier feedback":          {"## Earlier feedback\n\n1. returned for a fix\n   - `test_percent_coupon_is_capped`: Apply the cap"},
	} {
		t.Run(id, func(t *testing.T) {
			for _, w := range wants {
				if !strings.Contains(string(got), w) {
					t.Errorf("no %q in\n%s", w, got)
				}
			}
		})
	}
	t.Run("S0-32 an earlier iteration keeps its own", func(t *testing.T) {
		before := Feedback(play(t, routing.DefaultPolicy(), runOf(1, routing.Fail, routing.LogicError, coupon(), missing())), "unit", 1, o)
		if after := Feedback(all["second"], "unit", 1, o); after != before || before == "" {
			t.Errorf("changed from\n%s\nto\n%s", before, after)
		}
	})
	t.Run("S0-35 a pass makes no feedback", func(t *testing.T) {
		if got := Feedback(all["pass"], "unit", 3, o); got != "" {
			t.Errorf("got\n%s", got)
		}
	})
	t.Run("S0-31 kept per case, checkpoint and iteration", func(t *testing.T) {
		if got := FeedbackPath("acme/shop#12", "unit", 2); got != "acme%2Fshop%2312/unit/iterations/2/feedback.md" {
			t.Error(got)
		}
		if got := FeedbackPath("..", "../x", 2); strings.Contains(got, "../") {
			t.Error(got)
		}
	})
	t.Run("S4-40 a review's summary", func(t *testing.T) {
		v := routing.ReviewVerdict("review", routing.Run{ID: "1", SHA: commit(1)}, routing.ReviewResult{Decision: routing.Rejected, Issues: []routing.ReviewIssue{
			{Severity: routing.Blocker, Category: "security", Description: "the token is logged", File: "a.go", Line: 3, SuggestedFix: "Do not log it."},
			{Severity: routing.Critical, Category: "tests", Description: "none"}, {Severity: routing.Critical, Category: "tests", Description: "flaky"},
		}}, routing.FailOn{routing.Blocker: 1})
		c := play(t, routing.DefaultPolicy(), v)
		if got := Comment(c, "review", o); !strings.Contains(string(got), "Review failed: 1 blocker(s), 2 critical") || !strings.Contains(string(got), "the token is logged") || !strings.Contains(string(got), "Do not log it.") {
			t.Errorf("got\n%s", got)
		}
	})
}
