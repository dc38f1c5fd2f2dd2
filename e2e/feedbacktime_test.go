package e2e

import (
	"strings"
	"testing"
	"time"
)

func TestFeedbackTimeout(t *testing.T) {
	t.Parallel()
	s := newAsking(t, "feedback: {timeout: 48h}\n")
	begin := s.now
	s.open()
	at := func(h int) Result {
		s.now = begin.Add(time.Duration(h)*time.Hour + time.Minute)
		return s.reconcile()
	}
	t.Run("S1-41 reminders at half and in the last 12 hours, each once", func(t *testing.T) {
		for _, c := range []struct{ hours, comments int }{{23, 0}, {24, 1}, {25, 1}, {36, 2}, {47, 2}} {
			at(c.hours)
			if said := s.said(); len(said) != c.comments {
				t.Errorf("after %d hours: %q", c.hours, said)
			}
		}
	})
	res := at(48)
	t.Run("S1-37..40 S1-42 the timeout keeps the level, carries the question over, and writes no row", func(t *testing.T) {
		want := `{"next_automation_level":20,"optimization_directives":[],"carry_over_issues":["HITL unanswered — review in the next cycle"],"approved_by":"timeout_fallback"}`
		if r := s.register(); res.Outputs["goal"] != want || len(r.Feedback) != 0 || r.Surveys[0].Goal.Line() != want {
			t.Errorf("%v %+v", res.Outputs, r.Feedback)
		}
		if i, said := s.issue(), s.said(); i.State != "closed" || len(said) != 3 || !strings.Contains(said[2], "timeout_fallback") || strings.Contains(i.Body, "[ ]") {
			t.Errorf("%s %q\n%s", i.State, said, i.Body)
		}
	})
	t.Run("S1-41 an answer after it is acknowledged and changes nothing", func(t *testing.T) {
		before := s.register()
		s.now = begin.Add(50 * time.Hour)
		s.inside("issue_comment", s.later(s.comment(Writer, "/switchback answer raise")), nil)
		if said := s.said(); len(said) != 4 || !strings.Contains(said[3], "changes nothing") || len(s.register().Feedback) != 0 || s.register().Surveys[0].Goal.Line() != before.Surveys[0].Goal.Line() {
			t.Errorf("%q", said)
		}
	})
	t.Run("a further reconcile finds nothing to do", func(t *testing.T) {
		n := len(s.said())
		if at(60); len(s.said()) != n {
			t.Errorf("%q", s.said())
		}
	})
	s.clean()
}

// later gives the comment of a webhook the time of the test.
func (s *asking) later(p map[string]any) map[string]any {
	p["comment"].(map[string]any)["created_at"] = s.now.UTC().Format(time.RFC3339)
	return p
}

func TestFeedbackReentry(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"workflow: optimize.yml", "repository_dispatch: optimize"} {
		s := newAsking(t, "feedback: {"+way+"}\n")
		ended := func(id int64, event, actor, title string) {
			t.Helper()
			run := s.r.AddRun(Run{ID: id, Name: "Nightly", Event: event, HeadBranch: "main", HeadSHA: s.r.SHA(t, "main"), Conclusion: "success", Actor: actor})
			p := s.r.RunPayload(run, "completed")
			w := p["workflow_run"].(map[string]any)
			w["updated_at"], w["display_title"] = s.now.UTC().Format(time.RFC3339), title
			s.inside("workflow_run", p, map[string]string{"workflows": "CI"})
		}
		s.open()
		ended(600, "schedule", Owner, "Nightly")
		t.Run("S1-44 nothing starts while nothing is carried over, by "+way, func(t *testing.T) {
			if d := s.r.Dispatches(); len(d) != 0 {
				t.Errorf("%+v", d)
			}
		})
		s.inside("issue_comment", s.comment(Writer, "/switchback answer keep the uploads fail still"), nil)
		s.now = s.now.Add(time.Hour)
		ended(77, "schedule", Owner, "Nightly")
		ended(601, "workflow_dispatch", ActionsBot, "Nightly")
		ended(602, "repository_dispatch", Owner, "again "+s.r.FullName+"!surveys/reentry/1")
		t.Run("S1-46 neither the run that was asked about counts nor one that the bot started, by "+way, func(t *testing.T) {
			if d := s.r.Dispatches(); len(d) != 0 {
				t.Errorf("%+v", d)
			}
		})
		for range 2 {
			ended(603, "schedule", Owner, "Nightly")
		}
		ended(604, "schedule", Owner, "Nightly")
		t.Run("S1-43 S1-45 S1-46 the next completed run dispatches phase 1 once, with the goal, by "+way, func(t *testing.T) {
			d := s.r.Dispatches()
			if len(d) != 1 {
				t.Fatalf("%+v", d)
			}
			if b := string(marshal(d[0].Body)); !strings.Contains(b, "!surveys/reentry/603") || !strings.Contains(b, "the uploads fail still") || !strings.Contains(b, "phase") {
				t.Error(b)
			}
		})
		s.clean()
	}
}

func TestFeedbackKilled(t *testing.T) {
	t.Parallel()
	// after puts a repository into the state that a chapter names.
	chapters := []struct {
		name  string
		event func(s *asking) (string, any, map[string]string)
	}{
		{"opening", func(*asking) (string, any, map[string]string) {
			return "schedule", nil, map[string]string{"command": "survey", "result": "result.json"}
		}},
		{"an answer", func(s *asking) (string, any, map[string]string) {
			s.open()
			return "issues", s.edit(Writer, tick("level:raise", "suggestion:split", "submit")), nil
		}},
		{"a re-entry", func(s *asking) (string, any, map[string]string) {
			s.open()
			s.inside("issue_comment", s.comment(Writer, "/switchback answer keep more"), nil)
			run := s.r.AddRun(Run{ID: 700, Name: "Nightly", Event: "schedule", HeadBranch: "main", HeadSHA: s.r.SHA(s.t, "main"), Conclusion: "success"})
			p := s.r.RunPayload(run, "completed")
			p["workflow_run"].(map[string]any)["updated_at"] = s.now.Add(time.Minute).UTC().Format(time.RFC3339)
			return "workflow_run", p, map[string]string{"workflows": "CI"}
		}},
	}
	for _, ch := range chapters {
		t.Run(ch.name+" killed at a request ends as if nothing had happened", func(t *testing.T) {
			t.Parallel()
			calm := newAsking(t, "feedback: {workflow: optimize.yml}\n")
			event, payload, in := ch.event(calm)
			v := calm.r.View()
			calm.inside(event, payload, in)
			total, want := v.count(), calm.end()
			for _, k := range killPoints(t, total, 4) {
				s := newAsking(t, "feedback: {workflow: optimize.yml}\n")
				event, payload, in := ch.event(s)
				a := s.step(event, payload, in)
				a.Kill = s.r.View().HoldAt(k.n, k.when)
				first := s.b.RunAction(t, a)
				a.Kill.Release()
				if !first.Killed {
					t.Errorf("request %d (%v) never was", k.n, k.when)
				}
				dispatched := len(s.r.Dispatches())
				s.now = s.now.Add(time.Hour)
				s.inside(event, payload, in)
				s.reconcile()
				got := s.end()
				// GitHub keeps no key of a dispatch: one whose answer was lost
				// may be sent a second time, with the same key.
				if dispatched == 1 {
					got = strings.Replace(got, "2 dispatches", "1 dispatches", 1)
				}
				if got != want {
					t.Errorf("killed at request %d (%v):\ngot  %s\nwant %s", k.n, k.when, got, want)
				}
				s.clean()
			}
		})
	}
}
