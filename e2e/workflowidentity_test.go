package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
)

// A pull request names its workflows as it likes. What counts is the file that the default branch
// has under the path of the run's workflow.
func TestWorkflowIdentity(t *testing.T) {
	t.Parallel()
	s := newStory(t, "")
	f := s.fork("feature")
	s.want(s.outside(s.r.AddRun(s.ranOn(f, "feature", failing("TestAdd"))), map[string]string{"reports": "**/report.xml"}), 0, map[string]string{"decision": "RETRY", "iteration": "1"})

	green := func() Run {
		run := s.ranOn(f, "feature", passing)
		run.Conclusion = "success"
		return run
	}
	t.Run("S6-11 a green run of a workflow that the pull request added under another's name decides nothing for it", func(t *testing.T) {
		s.sha = f.Commit(t, "feature", "a workflow of the same name", map[string]string{".github/workflows/mine.yml": "name: CI\non: pull_request\n"})
		forged := green()
		forged.Name, forged.Path, forged.Unmerged = "CI", ".github/workflows/mine.yml", true
		res := s.outside(s.r.AddRun(forged), map[string]string{"reports": "**/report.xml"})
		if res.ExitCode != 0 {
			t.Fatalf("exit %d\n%s", res.ExitCode, res.Stdout)
		}
		c := s.caseOf()
		if got := c.Checkpoints["CI"].State; got == routing.Completed {
			t.Errorf("checkpoint CI is %s by a run of mine.yml", got)
		}
		if _, own := c.Checkpoints[".github/workflows/mine.yml"]; !own {
			t.Errorf("checkpoints %v, want one with the path of the new workflow", c.Names())
		}
	})
	t.Run("S6-11 it is not among the workflows that were chosen by name or by path", func(t *testing.T) {
		forged := green()
		forged.Name, forged.Path, forged.Unmerged = "CI", ".github/workflows/mine.yml", true
		for _, chosen := range []string{"CI", "mine.yml", ".github/workflows/mine.yml"} {
			events := len(s.events())
			res := s.outside(s.r.AddRun(forged), map[string]string{"reports": "**/report.xml", "workflows": chosen})
			if res.ExitCode != 0 || len(s.events()) != events || !s.logged(res, "is not among the workflows that are analyzed") {
				t.Errorf("workflows: %s: exit %d, %d new events\n%s", chosen, res.ExitCode, len(s.events())-events, res.Stdout)
			}
		}
	})
	t.Run("S6-11 a renamed workflow keeps the name of the default branch, and the change of it is told", func(t *testing.T) {
		s.sha = f.Commit(t, "feature", "a new name", map[string]string{".github/workflows/ci.yml": "name: Nothing to see\non: pull_request\n"})
		renamed := green()
		renamed.Name, renamed.Path, renamed.Unmerged = "Nothing to see", ".github/workflows/ci.yml", true
		s.r.AddRun(Run{HeadSHA: s.r.SHA(t, "main"), Event: "push", HeadBranch: "main", Conclusion: "success"}) // CI, on the default branch
		res := s.outside(s.r.AddRun(renamed), map[string]string{"reports": "**/report.xml", "workflows": "ci.yml"})
		s.want(res, 0, map[string]string{"decision": "PASS"})
		if got := strings.Join(s.bot(), "\n"); !strings.Contains(got, "changes what CI runs (`.github/workflows/ci.yml`") {
			t.Errorf("%s", got)
		}
		if got := s.caseOf().Checkpoints["CI"].State; got != routing.Completed {
			t.Errorf("checkpoint CI is %s", got)
		}
	})
}

// caseOf returns the case of the story's pull request, from the ledger's branch.
func (s *story) caseOf() routing.Case {
	s.t.Helper()
	key := fmt.Sprintf("%s#%d", s.r.FullName, s.number)
	var events []routing.Event
	for path, text := range s.r.Tree(s.t, "switchback-ledger") {
		if !strings.HasSuffix(path, ".jsonl") {
			continue
		}
		for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
			var e routing.Event
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				s.t.Fatalf("ledger line %q: %v", line, err)
			}
			if e.Stream == key {
				events = append(events, e)
			}
		}
	}
	c, err := routing.Fold(key, events)
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}
