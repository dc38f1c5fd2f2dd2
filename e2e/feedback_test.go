package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestFeedback(t *testing.T) {
	t.Parallel()
	s := newAsking(t, "")
	res := s.open()
	issue := s.issue()
	t.Run("S1-1 the survey is an issue with result and review, once, after the audit row", func(t *testing.T) {
		if res.Outputs["survey-issue"] != fmt.Sprint(issue.Number) || !contains(names(issue.Labels), "switchback:feedback") {
			t.Errorf("%v %+v", res.Outputs, issue)
		}
		s.open()
		s.issue()
		if r := s.register(); len(r.Audits) != 1 || len(r.Surveys) != 1 || r.Surveys[0].Number != issue.Number {
			t.Errorf("%+v", r)
		}
	})
	t.Run("S1-8 toggles alone record nothing", func(t *testing.T) {
		s.inside("issues", s.edit(Writer, tick("level:raise", "suggestion:cache")), nil)
		if n := len(s.said()); n != 0 || !s.register().Surveys[0].Open() {
			t.Errorf("%d comments, %+v", n, s.register().Surveys[0])
		}
	})
	t.Run("S1-7 several levels at submit are refused with a reply and Submit is unticked", func(t *testing.T) {
		s.inside("issues", s.edit(Writer, tick("level:keep", "submit")), nil)
		said, body := s.said(), s.issue().Body
		if len(said) != 1 || !strings.Contains(said[0], "Nothing was recorded") || !s.register().Surveys[0].Open() {
			t.Errorf("%q", said)
		}
		if strings.Contains(body, "[x] **Submit**") || strings.Count(body, "[x]") != 3 {
			t.Errorf("the ticks should stay but for Submit:\n%s", body)
		}
	})
	untick := func(body string) string { return strings.Replace(body, "[x] Appropriate", "[ ] Appropriate", 1) }
	payload := s.edit(Writer, func(b string) string { return tick("submit", "suggestion:retry")(untick(b)) })
	res = s.inside("issues", payload, nil)
	want := `{"next_automation_level":30,"optimization_directives":["Cache the modules","Retry uploads"],"carry_over_issues":[],"approved_by":"human_feedback"}`
	t.Run("S1-33 S1-34 the goal is output, file and ledger event of the answer", func(t *testing.T) {
		file, err := os.ReadFile(res.Outputs["goal-file"])
		if err != nil || res.Outputs["goal"] != want || filepath.Base(res.Outputs["goal-file"]) != "goal.json" {
			t.Errorf("%v %v", res.Outputs, err)
		}
		var a, b any
		if json.Unmarshal(file, &a) != nil || json.Unmarshal([]byte(want), &b) != nil || fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("%s", file)
		}
		if g := s.register().Surveys[0].Goal; g == nil || g.Line() != want {
			t.Errorf("%+v", g)
		}
	})
	t.Run("S1-18 S1-21 the row names the responder", func(t *testing.T) {
		r := s.register()
		if len(r.Feedback) != 1 || *r.Feedback[0].UserID != Writer || r.Feedback[0].ID != "FB-0001" || r.Feedback[0].RelatedAuditID != r.Audits[0].ID {
			t.Errorf("%+v", r.Feedback)
		}
	})
	t.Run("the answer is acknowledged, shown as consumed, and the issue closed", func(t *testing.T) {
		said, i := s.said(), s.issue()
		if len(said) != 2 || !strings.Contains(said[1], "20 → 30") || !strings.Contains(said[1], "FB-0001") || i.State != "closed" {
			t.Errorf("%s %q", i.State, said)
		}
		if strings.Contains(i.Body, "[ ]") || strings.Contains(i.Body, "[x]") || !strings.Contains(i.Body, "☑ (1) Cache the modules") {
			t.Error(i.Body)
		}
	})
	t.Run("S1-32 a double submit records once and says nothing more", func(t *testing.T) {
		again := s.inside("issues", payload, nil)
		if n := len(s.said()); n != 2 || len(s.register().Feedback) != 1 || again.Outputs["goal"] != want {
			t.Errorf("%d comments, %v", n, again.Outputs)
		}
	})
	t.Run("S1-32 whoever answers second is told who was first", func(t *testing.T) {
		s.inside("issue_comment", s.comment(Owner, "/switchback answer lower"), nil)
		if said := s.said(); len(said) != 3 || !strings.Contains(said[2], "`"+Writer+"` answered before") || len(s.register().Feedback) != 1 {
			t.Errorf("%q", said)
		}
	})
	s.clean()
}

func TestFeedbackComment(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, goal string }{
		{"S1-8 S1-17 a command with text", "Thank you.\n\n/switchback answer lower accept 2 look at the cache",
			`{"next_automation_level":10,"optimization_directives":["Split the suite of @octo"],"carry_over_issues":["Thank you.\n\nlook at the cache"],"approved_by":"human_feedback"}`},
		{"S1-8 S1-9 a reply with the boxes", "boxes",
			`{"next_automation_level":20,"optimization_directives":["Retry uploads"],"carry_over_issues":["So be it."],"approved_by":"human_feedback"}`},
	} {
		t.Run(c.name+" is an answer", func(t *testing.T) {
			s := newAsking(t, "")
			s.open()
			text := c.text
			if text == "boxes" {
				text = tick("level:keep", "suggestion:retry", "submit")(s.issue().Body) + "\n\nSo be it."
			}
			if res := s.inside("issue_comment", s.comment(Writer, text), nil); res.Outputs["goal"] != c.goal {
				t.Errorf("%s\n%q", res.Outputs["goal"], s.said())
			}
			s.clean()
		})
	}
	s := newAsking(t, "feedback: {permission: maintain}\n")
	s.open()
	t.Run("who may not answer is told so and nothing is recorded", func(t *testing.T) {
		s.inside("issue_comment", s.comment(Writer, "/switchback answer raise"), nil)
		if said := s.said(); len(said) != 1 || !strings.Contains(said[0], "`maintain`") || !strings.Contains(said[0], "`write`") || !s.register().Surveys[0].Open() {
			t.Errorf("%q", said)
		}
	})
	t.Run("what they tick is put back", func(t *testing.T) {
		s.inside("issues", s.edit(Writer, tick("level:raise", "submit")), nil)
		if body, said := s.issue().Body, s.said(); strings.Contains(body, "[x]") || len(said) != 1 { // it was said within the hour
			t.Errorf("%q\n%s", said, body)
		}
	})
	t.Run("what they delete is put back, ticks of others included", func(t *testing.T) {
		s.inside("issues", s.edit(Owner, tick("suggestion:cache")), nil)
		before := s.issue().Body
		s.inside("issues", s.edit(Writer, func(string) string { return "mine" }), nil)
		if body := s.issue().Body; body != before {
			t.Errorf("%s", body)
		}
		s.inside("issues", s.edit(Owner, func(b string) string { return strings.Replace(b, "[x]", "[ ]", 1) }), nil)
	})
	t.Run("a body that was blanked is put back", func(t *testing.T) {
		s.inside("issues", s.edit(Owner, func(string) string { return "oops" }), nil)
		if body := s.issue().Body; !strings.Contains(body, "sb:submit") || !s.register().Surveys[0].Open() {
			t.Error(body)
		}
	})
	t.Run("a discussion is no answer", func(t *testing.T) {
		n := len(s.said())
		s.inside("issue_comment", s.comment(Owner, "I would raise it."), nil)
		if got := len(s.said()); got != n || !s.register().Surveys[0].Open() {
			t.Errorf("%d comments more", got-n)
		}
	})
	t.Run("S1-7 a command without level is refused", func(t *testing.T) {
		s.inside("issue_comment", s.comment(Owner, "/switchback answer higher"), nil)
		if said := s.said(); !strings.Contains(said[len(said)-1], "Nothing was recorded") || !s.register().Surveys[0].Open() {
			t.Errorf("%q", said)
		}
	})
	t.Run("the owner may", func(t *testing.T) {
		if res := s.inside("issue_comment", s.comment(Owner, "/switchback answer raise"), nil); !strings.Contains(res.Outputs["goal"], `"next_automation_level":30`) {
			t.Errorf("%v", res.Outputs)
		}
	})
	s.clean()
}

func TestFeedbackEditedAway(t *testing.T) {
	t.Parallel()
	s := newAsking(t, "")
	s.open()
	t.Run("what somebody edits away of the questions is put back, what was ticked and written with it", func(t *testing.T) {
		mine := func(b string) string {
			return strings.Replace(tick("suggestion:cache", "level:lower")(b), "<!-- sb:text -->\n", "<!-- sb:text -->\n\nof my own\n", 1)
		}
		s.inside("issues", s.edit(Owner, mine), nil)
		before := s.issue().Body
		for name, edit := range map[string]func(string) string{
			"all of it": func(string) string { return "" },
			"a choice":  func(b string) string { return without(without(b, "sb:level:lower"), "/sb:text") },
		} {
			s.inside("issues", s.edit(Owner, edit), nil)
			if body := s.issue().Body; body != before {
				t.Errorf("%s: was\n%s\nis\n%s", name, before, body)
			}
		}
	})
	t.Run("a command that does not answer is told how to", func(t *testing.T) {
		n := len(s.said())
		s.inside("issue_comment", s.comment(Owner, "/switchback raise"), nil)
		if said := s.said(); len(said) != n+1 || !strings.Contains(said[n], "`/switchback answer raise|lower|keep`") || !s.register().Surveys[0].Open() {
			t.Errorf("%q", said[n:])
		}
	})
	s.clean()
}

// without takes the line that holds part away.
func without(body, part string) string {
	lines := slices.DeleteFunc(strings.Split(body, "\n"), func(l string) bool { return strings.Contains(l, part) })
	return strings.Join(lines, "\n")
}

func TestFeedbackResult(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, result string
		report       bool
		want         string
	}{
		{"S1-1 without its report nothing is asked", resultJSON, false, "result.json: report_path: there is no file"},
		{"S1-14 a level that there is not", strings.Replace(resultJSON, ":20", ":15", 1), true, "result.json: automation_level: 15 is no level; write the number 10, 20 or 30"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newAsking(t, "")
			s.result, s.report = c.result, c.report
			res := s.b.RunInside(t, s.step("schedule", nil, map[string]string{"command": "survey", "result": "result.json"}), s.now)
			if res.ExitCode != 2 || !strings.Contains(res.Stdout, c.want) || len(s.r.Issues(t)) != 0 || s.r.Tree(t, "switchback-ledger") != nil {
				t.Errorf("exit %d\n%s", res.ExitCode, res.Stdout)
			}
		})
	}
}
