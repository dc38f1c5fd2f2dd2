package e2e

import (
	"testing"
)

// The workspace of a workflow on pull_request_target may hold the fork's head, if its author was
// careless; the configuration is the default branch's all the same. So it is on every event that a
// workflow of the default branch handles for somebody outside.
func TestConfigurationOfTheDefaultBranch(t *testing.T) {
	t.Parallel()
	for event, command := range map[string]string{"pull_request_target": "auto", "workflow_run": "step", "issue_comment": "step", "pull_request_review": "step"} {
		t.Run("S6-17 on "+event, func(t *testing.T) {
			t.Parallel()
			s := newStory(t, "max_iterations: 2\nhandoff: [{repository_dispatch: rework}]\n")
			f := s.fork("feature")
			s.sha = f.SHA(t, "feature")
			s.config = "max_iterations: 9\nhandoff: {forks: always, to: [{repository_dispatch: mine}]}\n" // of the checkout
			a := s.action(failing("TestAdd"), map[string]string{"command": command})
			a.Event = event
			s.want(s.b.RunAction(t, a), 0, map[string]string{"decision": "RETRY", "max-iterations": "2"})
			if d := s.r.Dispatches(); len(d) != 0 {
				t.Errorf("%+v", d)
			}
			s.clean()
		})
	}
	t.Run("S6-17 on pull_request the change's own, whose workflow it could edit as well", func(t *testing.T) {
		t.Parallel()
		s := newStory(t, "max_iterations: 2\n")
		s.config = "max_iterations: 9\n"
		s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY", "max-iterations": "9"})
	})
}
