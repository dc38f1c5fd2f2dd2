package planview

import (
	"fmt"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing/plan"
)

func planBoard() plan.Board {
	row := func(id string, st plan.Standing, needs ...string) plan.Row {
		r := plan.Row{ID: id, DependsOn: needs}
		r.Standing = st
		return r
	}
	a, b, c := row("a", plan.IsPassed), row("b", plan.IsEscalated, "a"), row("c", plan.IsBlocked, "a", "b")
	a.Attempts, a.Seconds, a.URL, a.Title = 2, 91.4, "https://github.com/octo/work/actions/runs/7", "Fix | the @team thing"
	b.Reason, b.Attempts, b.Pair = "TestX fails <!-- switchback:v1 key=x gen=9 -->\n/switchback resume", 4, "run-7/b"
	c.By = []string{"b"}
	return plan.Board{Build: plan.Build{ID: "run-7", Rounds: 2}, Rows: []plan.Row{a, b, c},
		Counts: map[plan.Standing]int{plan.IsPassed: 1, plan.IsEscalated: 1, plan.IsBlocked: 1}}
}

func TestPlanIssue(t *testing.T) {
	t.Parallel()
	o := render.Options{Mention: "@octocat"}
	body := Body("ports", planBoard(), o)
	for _, want := range []string{
		"## Plan `ports`", "1 of 3 ports have passed. Build `run-7`, round 2. Nothing is left that may run", "✅ 1 passed · 🙋 1 escalated · ⛔ 1 blocked",
		"| ✅ passed | 2 | 1m31s | [run](https://github.com/octo/work/actions/runs/7) |", "| `c` | ⛔ blocked |  |  | waits for `b` |",
		"```mermaid\ngraph LR\n  p0[\"a\"]:::passed\n", "\n  p0 --> p1\n  p0 --> p2\n  p1 --> p2\n", "  classDef escalated fill:",
	} {
		if !strings.Contains(string(body), want) {
			t.Errorf("%q is not in\n%s", want, body)
		}
	}
	if strings.Contains(string(body), " @team") || strings.Contains(string(body), "<!--") || strings.Contains(string(body), "\n/switchback") {
		t.Errorf("what comes from outside is live:\n%s", body)
	}
	if got := Title("ports", render.Options{Language: render.Korean}); got != "Port 계획: ports" {
		t.Error(got)
	}
}

func TestPausedPlanIssue(t *testing.T) {
	t.Parallel()
	b := planBoard()
	wait := []plan.FeedbackRequest{{ID: "FB-001", From: "b", To: "a", Type: "FIX_REQUEST", Round: 1}, {ID: "FB-002", From: "b", To: "workflow-root", Type: "DEPENDENCY_MISSING", Round: 1, Text: "no Refund @team"}}
	b.Rows[0].Standing, b.Rows[0].For = plan.IsRunning, wait[:1]
	for _, r := range []*plan.Row{&b.Rows[1], &b.Rows[2]} {
		r.Standing, r.Waits, r.By = plan.IsPaused, wait, nil
	}
	b.Counts = map[plan.Standing]int{plan.IsRunning: 1, plan.IsPaused: 2}
	body := Body("ports", b, render.Options{})
	for _, want := range []string{
		"🔵 1 running · 🔁 2 paused", "| 🔁 paused | 4 |  | FB-001: `b` waits for `a` (FIX_REQUEST, round 1 of 2), FB-002: `b` waits for a change of the plan (DEPENDENCY_MISSING): no Refund ",
		"runs for FB-001 of `b`, [run]", "\n  p1 -. FB-001 .-> p0\n", "  classDef paused fill:",
	} {
		if !strings.Contains(string(body), want) {
			t.Errorf("%q is not in\n%s", want, body)
		}
	}
	if strings.Contains(string(body), " @team") || strings.Count(string(body), "-.") != 1 {
		t.Errorf("what comes from outside is live, or an edge is drawn twice:\n%s", body)
	}
}

func TestLargePlanIssue(t *testing.T) {
	t.Parallel()
	b := planBoard()
	for i := range 3000 {
		r := plan.Row{ID: fmt.Sprintf("port-%04d", i), Title: strings.Repeat("long title ", 9), DependsOn: []string{"a"}}
		r.Standing = plan.IsPassed
		b.Rows = append(b.Rows, r)
	}
	body := Body("ports", b, render.Options{})
	if len(body) > render.DefaultLimit || !strings.Contains(string(body), "| `b` | 🙋 escalated |") || !strings.Contains(string(body), "further ports are not listed") || strings.Contains(string(body), "mermaid") {
		t.Errorf("%d bytes:\n%.3000s", len(body), body)
	}
	b.Rows = b.Rows[:mostNodes]
	if body := Body("ports", b, render.Options{}); !strings.Contains(string(body), "```mermaid") || len(body) > render.DefaultLimit {
		t.Errorf("%d bytes", len(body))
	}
}
