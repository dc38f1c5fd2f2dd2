package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// group is a merge group of two pull requests.
type group struct {
	*story
	other    *story
	branch   string
	sha      string
	begin    string
	finished int
}

// queued adds two pull requests to the merge queue, which squashes them onto the newest main.
func (s *story) queued(other *story) *group {
	s.t.Helper()
	s.runID += 10_000
	g := &group{story: s, other: other, begin: s.r.SHA(s.t, "main")}
	g.branch = fmt.Sprintf("gh-readonly-queue/main/pr-%d-%s", other.number, g.begin)
	s.r.Commit(s.t, g.branch, fmt.Sprintf("Add things (#%d)", s.number), map[string]string{"calc.go": fmt.Sprintf("package calc // %d\n", s.runID)})
	g.sha = s.r.Commit(s.t, g.branch, fmt.Sprintf("Add other (#%d)", other.number), map[string]string{"other.go": "package calc\n"})
	return g
}

// describes is the event that GitHub sends of the group.
func (g *group) describes(action string) map[string]any {
	return map[string]any{"action": action, "repository": map[string]any{"default_branch": "main", "full_name": g.r.FullName}, "merge_group": map[string]any{
		"head_ref": "refs/heads/" + g.branch, "head_sha": g.sha, "base_ref": "refs/heads/main", "base_sha": g.begin}}
}

// ran is a run of the group: a step of the Action in it, or on workflow_run, or the App's.
func (g *group) ran(report, conclusion string) Result {
	g.t.Helper()
	g.finished++
	g.runID++
	if g.by == nil && g.finished%2 == 1 {
		a := g.action(report, map[string]string{"job-status": conclusion})
		a.Event, a.Ref, a.SHA, a.Payload = "merge_group", "refs/heads/"+g.branch, g.sha, g.describes("checks_requested")
		return g.within(a, 0)
	}
	run := g.ranOn(g.r, g.branch, report)
	run.ID, run.Name, run.Event, run.HeadSHA, run.Conclusion, run.Jobs = g.runID, "unit", "merge_group", g.sha, conclusion, nil
	filed := g.r.AddRun(run)
	if g.by != nil {
		return g.toldRun(filed)
	}
	return g.within(g.outsideAction(filed, map[string]string{"reports": "**/report.xml", "checkpoint": "unit"}), 0)
}

// says checks that the comment of both pull requests says all parts, and returns the first one's.
func (g *group) says(parts ...string) {
	g.t.Helper()
	for _, s := range []*story{g.story, g.other} {
		s.wantSticky(parts...)
	}
}

// TestMergeQueue is S5-90, S5-91, S5-92, S5-93 and S5-94 through both faces.
func TestMergeQueue(t *testing.T) {
	both(t, func(t *testing.T, begin begin) {
		s := begin(t, "handoff: [{mention: \"@claude\"}]\n")
		s.inside = true
		other := s.beside("other")
		s.passes()
		g := s.queued(other)
		if s.by != nil {
			s.sends("merge_group", g.describes("checks_requested"))
		}
		s.want(g.ran(failing("TestAdd"), "failure"), 0, map[string]string{"decision": "GROUP_FAILED", "iteration": "0"})
		both := fmt.Sprintf(`\#%d, \#%d`, s.number, other.number)
		g.says("fails in the merge queue", "One of "+both, "TestAdd", g.branch, "No fix attempt is counted") // S5-90, S5-94

		other.passes()
		s.want(g.ran(failing("TestAdd"), "failure"), 0, map[string]string{"decision": "INTERACTION", "iteration": "0"})
		g.says("Each of "+both+" passes alone", g.branch) // S5-92
		if c := s.r.CheckRuns(t, g.sha); len(c) != 1 || c[0].Conclusion != "failure" {
			t.Errorf("S5-90: checks of the group: %+v", c)
		}

		s.ranMain("push", failing("TestAdd"))
		s.moveMain()
		g = s.queued(other)
		s.want(g.ran(failing("TestAdd"), "failure"), 0, map[string]string{"decision": "PRE_EXISTING", "iteration": "0"})
		g.says("It fails on main too, so none of "+both, g.branch) // S5-92

		said := s.sticky()
		s.ranMain("push", passing)
		g = s.queued(other)
		g.ran(failing("TestAdd"), "cancelled")
		if s.by != nil {
			over := g.describes("destroyed")
			over["reason"] = "invalidated"
			s.sends("merge_group", over)
			s.want(g.ran(failing("TestAdd"), "failure"), 0, map[string]string{"decision": "NONE"})
		}
		if now := s.sticky(); now != said {
			t.Errorf("S5-93: a cancelled group is told of:\n%s", now)
		}

		g = s.queued(other)
		s.want(g.ran(passing, "success"), 0, map[string]string{"decision": "PASS", "iteration": "0"})
		g.says("passes in the merge queue")
		for _, x := range []*story{s, other} { // S5-91
			if n := len(x.bot()); n != 1 {
				t.Errorf("S5-90: %d comments on #%d", n, x.number)
			}
			if all := strings.Join(x.bot(), "\n"); strings.Contains(all, "@claude") || strings.Contains(all, "attempt 1") {
				t.Errorf("S5-91: somebody is told to fix it:\n%s", all)
			}
		}
		s.clean()
	})
}
