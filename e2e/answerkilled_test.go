package e2e

import (
	"fmt"
	"os"
	"testing"

	"github.com/switchback-ci/switchback/routing/answers"
)

// writes selects requests that change something: between two of them a process
// that is killed leaves the same world wherever that is.
func writes(q Request) bool { return q.Method != "GET" }

// sides are the sides of the n-th request at which a process is killed. Before a request
// the world is what it was after the one before it: KILL=all looks at both all the same.
func sides(n int) []When {
	if n == 1 || os.Getenv("KILL") == "all" {
		return []When{Before, After}
	}
	return []When{After}
}

// TestAnswerKilled kills the Action at every write of a submitted answer,
// before GitHub has seen it and after. Told again, or reconciled, the world is as if
// nothing had happened.
func TestAnswerKilled(t *testing.T) {
	t.Parallel()
	for _, again := range []string{"told again", "reconciled"} {
		t.Run("an answer killed at any write and "+again+" is carried out once", func(t *testing.T) {
			t.Parallel()
			calm, issue := escalated(t, "")
			calm.tell(calm.tick(Writer, issue.Number, "reset", answers.Submit))
			want := calm.world(issue.Number)
			points := 0
			for n := 1; ; n++ {
				killed := false
				for _, when := range sides(n) {
					s, issue := escalated(t, "")
					event := s.tick(Writer, issue.Number, "reset", answers.Submit)
					a := s.told("issues", event)
					a.Kill = s.r.View().HoldAt(n, when, writes)
					first := s.b.RunAction(t, a)
					a.Kill.Release()
					if !first.Killed {
						continue
					}
					killed = true
					points++
					if again == "told again" || s.count("human") == 0 && n == 1 && when == Before {
						s.tell(event) // the reconcile finds nothing that was not recorded
					} else {
						s.want(s.b.RunAction(t, s.told("schedule", map[string]any{})), 0, nil)
					}
					if got := s.world(issue.Number); got != want {
						t.Errorf("killed at write %d (%v):\ngot  %s\nwant %s", n, when, got, want)
					}
					s.clean()
				}
				if !killed {
					break
				}
			}
			if points < 5 {
				t.Errorf("only %d points were tried", points)
			}
			t.Logf("%d points", points)
		})
	}
}

// world is what people see after an answer.
func (s *story) world(issue int) string {
	s.t.Helper()
	return fmt.Sprint(s.end(), s.count("human"), s.issueNow(issue)["state"], len(s.replies(issue)), s.count("run:RETRY"))
}
