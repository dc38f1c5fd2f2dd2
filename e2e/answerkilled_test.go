package e2e

import (
	"fmt"
	"testing"

	"github.com/switchback-ci/switchback/routing/answers"
)

// writes selects requests that change something: between two of them a process
// that is killed leaves the same world wherever that is.
func writes(q Request) bool { return q.Method != "GET" }

// TestAnswerKilled kills the Action at writes of a submitted answer. Told again, or reconciled, the
// world is as if nothing had happened.
func TestAnswerKilled(t *testing.T) {
	t.Parallel()
	for _, again := range []string{"told again", "reconciled"} {
		t.Run("an answer killed at a write and "+again+" is carried out once", func(t *testing.T) {
			t.Parallel()
			calm, issue := escalated(t, "")
			event := calm.tick(Writer, issue.Number, "reset", answers.Submit)
			calm.view.Reset()
			calm.tell(event)
			total, want := calm.view.count(writes), calm.world(issue.Number)
			for _, k := range killPoints(t, total, 4) {
				s, issue := escalated(t, "")
				event := s.tick(Writer, issue.Number, "reset", answers.Submit)
				a := s.told("issues", event)
				a.Kill = s.r.View().HoldAt(k.n, k.when, writes)
				first := s.b.RunAction(t, a)
				a.Kill.Release()
				if !first.Killed {
					t.Errorf("write %d (%v) never was", k.n, k.when)
				}
				if again == "told again" || s.count("human") == 0 && k.n == 1 && k.when == Before {
					s.tell(event) // the reconcile finds nothing that was not recorded
				} else {
					s.want(s.b.RunAction(t, s.told("schedule", map[string]any{})), 0, nil)
				}
				if got := s.world(issue.Number); got != want {
					t.Errorf("killed at write %d (%v):\ngot  %s\nwant %s", k.n, k.when, got, want)
				}
				s.clean()
			}
		})
	}
}

// world is what people see after an answer.
func (s *story) world(issue int) string {
	s.t.Helper()
	return fmt.Sprint(s.end(), s.count("human"), s.issueNow(issue)["state"], len(s.replies(issue)), s.count("run:RETRY"))
}
