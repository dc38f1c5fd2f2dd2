package planview

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/rendertest"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/marker"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// pagesOf are all pages about a plan in which every text of workers and strangers is a, b or c.
func pagesOf(a, b, c string, l render.Language) []rendertest.Page {
	const most = 1500
	a, b, c = a[:min(most, len(a))], b[:min(most, len(b))], c[:min(most, len(c))]
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	o := render.Options{Mention: "@maintainer", Repo: "octo/work", Language: l}
	var out []rendertest.Page
	add := func(name, key string, body md) {
		out = append(out, rendertest.Page{Name: string(l) + " " + name, Body: body, Marker: key})
	}
	err := errors.New("e " + b)

	row := func(id string, st plan.Standing) plan.Row {
		r := plan.Row{ID: id, Title: "t" + b, By: []string{"x" + c}, DependsOn: []string{"first"}}
		r.Standing, r.Reason, r.Attempts, r.Seconds, r.URL = st, "r"+a, 2, 91, c
		return r
	}
	wait := []plan.FeedbackRequest{{ID: "i" + a, From: "f" + a, To: "first", Type: feedback.Type("t" + b), Round: 1, Text: c},
		{ID: "i" + b, From: "f" + a, To: feedback.DefaultRoot, Type: feedback.Type("t" + c), Round: 1, Text: "x" + b}}
	first, second, third := row("first", plan.IsRunning), row("s"+a, plan.IsPaused), row("t"+b, plan.IsEscalated)
	first.For, second.Waits = wait[:1], wait
	third.Decided, third.Issue = &plan.Answer{By: "b" + a, Action: routing.HumanSkip}, 7
	board := plan.Board{Build: plan.Build{ID: "b" + b, URL: c}, Rows: []plan.Row{first, second, third}, Counts: map[plan.Standing]int{plan.IsRunning: 1, plan.IsPaused: 1, plan.IsEscalated: 1}}
	add("plan", "", Body(a, board, o))
	add("invalid plan", "", Invalid(a, []plan.Problem{{File: b, Line: 3, Message: c}, {File: c, Message: a}}, o))
	add("needs a runner", "", NeedsRunner(a, o))
	add("cannot start", "", CannotStart(err, o))
	requests := []feedback.Record{{ID: "i" + a, Status: feedback.Status("s" + b), Message: feedback.Message{From: a, To: b, Type: feedback.Type("t" + c)}}}
	add("status", "", Status(a, plan.BuildState{Ports: map[string]plan.Known{"p" + a: first.Known, "q": third.Known}}, requests, o))
	add("passed", "", PortPassed(third, o))
	add("gone", "", PortGone(a, o))
	add("decided", "", PortDecided(a, plan.Answer{By: b, Action: routing.HumanResume}, o))
	add("build not started", "", BuildNotStarted(err, o))

	last := &plan.TestFeedback{FailedTests: []plan.FailedTest{{Name: "n" + a, Expected: "e" + b, Actual: c, StackTrace: b, File: "f" + c, Line: 7, SuggestedFix: "s" + a}, {Name: a, SuggestedFix: "s" + c}}}
	attempts := []plan.Attempt{{Pair: "p" + a, Turn: 1, At: now, Reason: b}, {Pair: a, Turn: 2, At: now, Failed: []string{"f" + c, a}}}
	loop := plan.Loop{ID: "run-7/model", CurrentTry: 2, MaxRetries: 1, Attempt: 2, StartedAt: now, EndedAt: now.Add(time.Minute), Status: plan.Raised, Last: last}
	m := escalation.Member{Case: routing.PortKey("octo/work", "ports", "model"), Checkpoint: "model", Gen: 2, RunURL: c}
	rec := escalation.Record{ID: "k", Type: escalation.TestFailure, Severity: escalation.High, Description: a, Suggested: []string{"s" + b, "s" + c}, Members: []escalation.Member{m}}
	rec.Answers = []escalation.Answered{{By: "b" + a, Boxes: []string{"x" + b, "again"}, At: now}}
	o.Shared.Marker = marker.Format("k", 1)
	o.Shared.Questions = render.QuestionSection(rec, routing.Case{Key: m.Case}, "", o)
	add("port", "k", PortBody(PortReport{Plan: a, Port: b, Journal: plan.Journal{Loop: &loop}, Attempts: attempts, Record: rec}, o))
	x := feedback.Record{ID: "i" + a, Round: 2, Priority: feedback.High,
		Message: feedback.Message{From: a, To: b, Type: feedback.DependencyMissing, Text: "t" + b, SuggestedAction: "a" + c, SuggestedFix: "f" + a, RequestedInfo: "r" + b, Trace: "t" + c,
			Artifacts: []feedback.Artifact{{Path: "p" + a, Line: 1, End: 2}}},
		Attempts: []feedback.Attempt{{Round: 1, Fix: feedback.Outcome{OK: true, Summary: a}, Verify: &feedback.Outcome{Summary: b, Trace: c}}}}
	rec.Members = []escalation.Member{{Case: routing.FeedbackRequestKey("octo/work", "ports", "FB-001"), Checkpoint: "refunds"}}
	o.Shared.Questions = render.QuestionSection(rec, routing.Case{Key: rec.Members[0].Case}, "", o)
	add("request", "k", RequestBody(Request{Feedback: x, Record: rec}, o))
	add("request done", "", RequestDone(x, "b"+c, o))
	cmd := answers.Command{Line: "/switchback " + a}
	add("not sent", "", NotSent(cmd, feedback.Sent{ID: "i" + b, Refusal: &feedback.Refusal{Why: feedback.Rounds, Text: "t" + c}, Escalation: &feedback.Escalation{Node: "n" + a, Feedback: "f" + b}}, "n"+c, o))
	add("no plan", "", NoPlan(cmd, "p"+b, o))
	add("no port", "", NoPort(cmd, b, c, o))
	add("who sends", "", WhoSends(cmd, b, []string{"m" + a, "m" + c}, o))
	add("not asked", "", NotAsked(cmd, o))
	return out
}

func inertPages(t testing.TB, a, b, c string) {
	t.Helper()
	rendertest.Compare(t, "https://github.com", "@maintainer", func(f func(string) string) []rendertest.Page {
		return append(pagesOf(f(a), f(b), f(c), render.English), pagesOf(f(a), f(b), f(c), render.Korean)...)
	})
}

func TestPlanPagesOnGitHub(t *testing.T) {
	t.Parallel()
	for i, s := range rendertest.Seeds() {
		t.Run(fmt.Sprintf("S6-1 no text of a worker or a stranger is live on a page about a plan/%d", i), func(t *testing.T) {
			t.Parallel()
			inertPages(t, s, s+"\n"+s, "t\n"+s)
		})
	}
}

func FuzzPlanPagesOnGitHub(f *testing.F) {
	for _, s := range rendertest.Corpus() {
		f.Add(s, s+"\n"+s, strings.Repeat("t\n", 2)+s)
	}
	f.Fuzz(func(t *testing.T, a, b, c string) { inertPages(t, a, b, c) })
}
