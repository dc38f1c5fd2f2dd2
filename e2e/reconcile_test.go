package e2e

import (
	"regexp"
	"testing"
)

// reconcile runs the Action as a scheduled workflow.
func (s *story) reconcile(event string, in map[string]string) Result {
	s.t.Helper()
	a := s.action("", map[string]string{"reports": "", "checkpoint": "", "job-status": "success"})
	for k, v := range in {
		a.Inputs[k] = v
	}
	a.Event, a.Payload = event, map[string]any{"schedule": "*/15 * * * *", "repository": map[string]any{"default_branch": "main"}}
	a.Workspace = s.t.TempDir()
	return s.b.RunAction(s.t, a)
}

func TestReconcile(t *testing.T) {
	t.Parallel()
	for i, ch := range chapters {
		event, in := "schedule", map[string]string{}
		if i%2 == 1 {
			event, in = "push", map[string]string{"command": "reconcile"}
		}
		t.Run(ch.name+" killed once it was recorded is finished by the reconcile", func(t *testing.T) {
			t.Parallel()
			calm := newStory(t, ch.config)
			calm.inside = true
			ch.prepare(calm)
			calm.run(ch.report, ch.in)
			want := calm.end()
			for skip := 1; skip <= 2; skip++ { // before anything was posted, and in the midst of it
				if skip == 1+i%2 && !everyKill { // by turns
					continue
				}
				s := newStory(t, ch.config)
				s.inside = true // what is killed, and what reconciles it, are processes
				ch.prepare(s)
				before := s.end()
				a := s.action(ch.report, ch.in)
				a.Kill = s.view.HoldAt(skip, Before, Request.Content, visibly)
				if res := s.b.RunAction(t, a); !res.Killed {
					t.Fatalf("not killed\n%s", list(s.view))
				}
				if got := s.end(); got == want || got == before {
					t.Errorf("the kill left all or nothing to do: %+v", got)
				}
				for range 2 { // the second finds nothing left
					if res := s.reconcile(event, in); res.ExitCode != 0 {
						t.Fatalf("exit %d\n%s\n%s", res.ExitCode, res.Stdout, res.Stderr)
					}
				}
				if got := s.end(); got != want {
					t.Errorf("killed at visible request %d:\ngot  %+v\nwant %+v\n%s", skip, got, want, list(s.view))
				}
				s.clean()
			}
		})
	}
	t.Run("a reconcile with nothing to do costs two requests", func(t *testing.T) {
		s := newStory(t, "")
		s.view.Reset()
		res := s.reconcile("schedule", nil)
		if n := len(s.view.Requests()); res.ExitCode != 0 || n > 2 || len(s.view.Content()) != 0 {
			t.Errorf("exit %d, %d requests\n%s\n%s", res.ExitCode, n, list(s.view), res.Stdout)
		}
		s.clean()
	})
}

// visibly is true of requests that make or edit what people see.
func visibly(q Request) bool { return !ledgerPath.MatchString(q.Path) }

var ledgerPath = regexp.MustCompile(`/(contents|git)/`)
