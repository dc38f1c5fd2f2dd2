package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/answers"
)

func TestPortIssue(t *testing.T) {
	t.Parallel()
	p := newPlanStory(t, twoPorts, "escalation: {mention: \"@writer\", assignees: [writer]}\n")
	p.does(p.step("plan", nil))
	t.Run("S2-96 the check of the commit shows how far the build is", func(t *testing.T) {
		if c := p.check(); c.Status != "in_progress" || c.Output.Title != "0 of 2 ports have passed. · 1 running" || !strings.Contains(c.Output.Summary, "mermaid") {
			t.Errorf("%+v", c)
		}
	})
	p.b.RunAction(t, p.step("port", map[string]string{"port": "model"}))
	t.Run("S2-96 how a port ended is shown before its round ends", func(t *testing.T) {
		if row := p.row("model"); !strings.Contains(row, "🙋 escalated | 2 |") {
			t.Error(row)
		}
	})
	p.does(p.step("collect", map[string]string{"level": p.level}))
	t.Run("its check asks for action", func(t *testing.T) {
		if c := p.check(); c.Status != "completed" || c.Conclusion != "action_required" || c.Name != "switchback / plan ports.yml" {
			t.Errorf("%+v", c)
		}
	})
	issue := p.one("Escalation report")
	t.Run("S2-29 S2-63 S2-65 a port whose reworks are used up has one labelled issue with its report", func(t *testing.T) {
		labels := p.r.IssueLabels(t, issue.Number)
		slices.Sort(labels)
		if !slices.Equal(labels, []string{"escalation:test_failure", "severity:high", "switchback"}) {
			t.Errorf("%v", labels)
		}
		for _, want := range []string{"@writer", "Port `model` needs a person after 2 attempts", "| 1/1 |", "`TestWork`", "got 2, want 3", "<!-- sb:retry:2 -->", "<!-- sb:again -->", "<!-- sb:as-passed -->", "<!-- sb:wont-fix -->", "**Submit**"} {
			if !strings.Contains(issue.Body, want) {
				t.Errorf("%q is not in\n%s", want, issue.Body)
			}
		}
		if !strings.Contains(p.row("model"), fmt.Sprintf("#%d", issue.Number)) {
			t.Errorf("the plan's issue does not lead there: %s", p.row("model"))
		}
	})
	t.Run("S2-70 a build that fails again changes that issue and files none", func(t *testing.T) {
		p.walks("model")
		if n := len(p.titled("Escalation report")); n != 1 {
			t.Errorf("%d issues", n)
		}
	})
	t.Run("a stranger's command is refused", func(t *testing.T) {
		p.want(p.say(Stranger, issue.Number, "/switchback reset"), 0, nil)
		if got := p.last(issue.Number); !strings.Contains(got, "Only people with") || len(p.journal("model").Answers) != 0 {
			t.Error(got)
		}
	})
	t.Run("a command that is none of a port's is told which are", func(t *testing.T) {
		p.want(p.say(Writer, issue.Number, "/switchback phase plan"), 0, nil)
		if got := p.last(issue.Number); !strings.Contains(got, "does not apply to a port") {
			t.Error(got)
		}
	})
	t.Run("S2-71 an answer resolves it, says who, starts the next build once, and gives the turns it names", func(t *testing.T) {
		p.tell(p.tick(Writer, issue.Number, "retry:2"))
		submit := p.tick(Writer, issue.Number, answers.Submit)
		p.tell(submit)
		p.wantClosed(issue.Number, true)
		comments, starts := len(p.r.Comments(t, issue.Number)), p.starts()
		p.tell(submit)
		j := p.journal("model")
		if len(j.Answers) != 1 || len(j.Waiting()) != 0 || j.Escalations[len(j.Escalations)-1].ResolvedBy != Writer {
			t.Errorf("%+v", j)
		}
		if len(starts) != 1 || !strings.HasPrefix(starts[0], "ports.yml main next/") || len(p.r.Comments(t, issue.Number)) != comments || len(p.starts()) != 1 {
			t.Errorf("%q, then %q", starts, p.starts())
		}
		p.walks("model")
		if l := p.journal("model").Loop; l.CurrentTry != 4 || l.Attempt != 4 {
			t.Errorf("%d failures in turn %d, want 4 in 4", l.CurrentTry, l.Attempt)
		}
	})
	second := p.titled("Escalation report")[1]
	t.Run("a command on the plan's issue skips the port, which counts as passed", func(t *testing.T) {
		plan := p.one("Plan of ports").Number
		id, res := p.comment(Writer, plan, "/switchback skip model")
		p.want(res, 0, nil)
		p.wantClosed(second.Number, true)
		if got := p.r.Reactions(t, id); len(got) != 1 || got[0].Content != "+1" {
			t.Errorf("%+v %s", got, p.last(plan))
		}
		p.walks("refunds")
		if row := p.row("model"); !strings.Contains(row, "✅ passed") || !strings.Contains(row, "`@writer` decided") {
			t.Error(row)
		}
	})
	third := p.one("port refunds")
	t.Run("wont-fix leaves it blocked, and nothing of it runs again", func(t *testing.T) {
		p.want(p.say(Writer, third.Number, "/switchback wont-fix"), 0, nil)
		if got := p.issueNow(third.Number)["state_reason"]; got != "not_planned" {
			t.Errorf("closed as %v", got)
		}
		p.workflow = "gone.yml"
		p.walks()
		if row := p.row("refunds"); !strings.Contains(row, "⏸️ held") {
			t.Error(row)
		}
	})
	t.Run("S2-72 a reset runs it again, and a pass closes what is open", func(t *testing.T) {
		plan := p.one("Plan of ports").Number
		p.want(p.say(Writer, plan, "/switchback reset refunds"), 0, nil)
		if got := p.last(plan); !strings.Contains(got, "could not be started from here") {
			t.Errorf("the workflow is gone, and that is not said: %s", got)
		}
		p.walks("refunds")
		again := p.titled("port refunds")
		if len(again) != 2 {
			t.Fatalf("%d issues", len(again))
		}
		write(t, p.ws, "right.txt", "")
		p.walks("refunds")
		p.wantClosed(again[1].Number, true)
		if got := p.last(again[1].Number); !strings.Contains(got, "Port `refunds` has passed") {
			t.Error(got)
		}
	})
	p.clean()
}
