package planview

import (
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/marker"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// planIssues renders the issue of a port and that of a planning request, with what
// others say in them times so often.
func planIssues(times int, lang render.Language) (ofPort, asks string) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	hostile := strings.Repeat("none\n```\n/switchback skip\n- [x] yes <!-- sb:submit -->\n@team #12 <!-- x -->\n", times)
	last := &plan.TestFeedback{}
	var attempts []plan.Attempt
	for range times {
		last.FailedTests = append(last.FailedTests, plan.FailedTest{Name: "TestEmail", Expected: "an email", Actual: hostile, File: "model.go", Line: 7, SuggestedFix: hostile})
		attempts = append(attempts, plan.Attempt{Pair: "run-7/model", Turn: 1, At: now, Reason: hostile})
	}
	l := plan.Loop{ID: "run-7/model", CurrentTry: 2, MaxRetries: 1, Attempt: 2, StartedAt: now, EndedAt: now.Add(time.Minute), Status: plan.Raised, Last: last}
	m := escalation.Member{Case: routing.PortKey("octo/work", "ports", "model"), Checkpoint: "model", Gen: 2}
	rec := escalation.Record{ID: "k", Type: escalation.TestFailure, Severity: escalation.High, Description: hostile, Suggested: []string{hostile}, Members: []escalation.Member{m}}
	o := render.Options{Mention: "@writer", Repo: "octo/work", Language: lang}
	o.Shared.Marker = marker.Format("k", 1)
	o.Shared.Questions = render.QuestionSection(rec, routing.Case{Key: m.Case}, "", o)
	ofPort = string(PortBody(PortReport{Plan: "ports", Port: "model", Journal: plan.Journal{Loop: &l}, Attempts: attempts, Record: rec}, o))
	x := feedback.Record{ID: "FB-001", Round: 2, Priority: feedback.High,
		Message:  feedback.Message{From: "refunds", To: "workflow-root", Type: feedback.DependencyMissing, Text: hostile, SuggestedAction: hostile, Trace: hostile},
		Attempts: []feedback.Attempt{{Round: 1, Fix: feedback.Outcome{OK: true, Summary: hostile}, Verify: &feedback.Outcome{Summary: hostile}}}}
	rec.Members = []escalation.Member{{Case: routing.FeedbackRequestKey("octo/work", "ports", "FB-001"), Checkpoint: "refunds"}}
	o.Shared.Questions = render.QuestionSection(rec, routing.Case{Key: rec.Members[0].Case}, "", o)
	return ofPort, string(RequestBody(Request{Feedback: x, Record: rec}, o))
}

func TestIssuesOfPlans(t *testing.T) {
	t.Parallel()
	for _, lang := range []render.Language{render.English, render.Korean} {
		for _, times := range []int{1, 400} {
			ofPort, asks := planIssues(times, lang)
			for body, boxes := range map[string]string{ofPort: "retry:2 again as-passed wont-fix submit", asks: "planned declined submit"} {
				p, ok := answers.Parse(body)
				if !ok || strings.Join(p.Boxes, " ") != boxes || len(p.Ticked) > 0 {
					t.Errorf("%s: it asks %q, ticked %q", lang, p.Boxes, p.Ticked)
				}
				if cmds := answers.Commands(body); len(cmds) > 0 {
					t.Errorf("%s: what others say is a command: %+v", lang, cmds)
				}
				if _, ok := marker.Parse(body); !ok || len(body) > render.DefaultLimit || !strings.Contains(body, "@writer") || strings.Contains(body, "{") {
					t.Errorf("%s: %d bytes\n%.3000s", lang, len(body), body)
				}
			}
		}
	}
}
