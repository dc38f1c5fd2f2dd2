package e2e

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// onMain describes a run of the newest commit of the base branch.
func (s *story) onMain(event, report string) Action {
	s.t.Helper()
	a := s.action(report, map[string]string{"job-status": concluded(report)})
	a.Event, a.Ref, a.SHA = event, "refs/heads/main", s.r.SHA(s.t, "main")
	a.Payload = map[string]any{"repository": map[string]any{"default_branch": "main", "full_name": s.r.FullName}}
	return a
}

func concluded(report string) string {
	if strings.Contains(report, "<failure") {
		return "failure"
	}
	return "success"
}

// ranMain runs the tests of the base branch, of which the Action or the App takes note.
func (s *story) ranMain(event, report string) Result {
	s.t.Helper()
	s.runID++
	defer func() { s.runID++ }()
	if s.by == nil {
		return s.within(s.onMain(event, report), 0)
	}
	return s.toldRun(s.mainRun(event, report))
}

// mainRun files a run of the base branch.
func (s *story) mainRun(event, report string) *Run {
	run := s.ranOn(s.r, "main", report)
	run.ID, run.Name, run.HeadSHA, run.Event, run.Conclusion, run.Jobs = s.runID, "unit", s.r.SHA(s.t, "main"), event, concluded(report), nil
	return s.r.AddRun(run)
}

// moveMain adds a commit to the base branch.
func (s *story) moveMain() string {
	s.t.Helper()
	return s.r.Commit(s.t, "main", "work of others", map[string]string{"other.go": fmt.Sprintf("package calc\n\n// %d\n", s.runID)})
}

// asked returns the comments that ask for the branch to be updated.
func (s *story) asked() (out []string) {
	for _, c := range s.bot() {
		if strings.Contains(c, "Please update this branch") {
			out = append(out, c)
		}
	}
	return out
}

// check returns the conclusion of the bot's check of the head commit.
func (s *story) check() string {
	s.t.Helper()
	runs := s.r.CheckRuns(s.t, s.sha)
	if len(runs) != 1 {
		s.t.Fatalf("%d checks of %s", len(runs), s.sha)
	}
	return runs[0].Conclusion
}

func (s *story) wantSticky(parts ...string) {
	s.t.Helper()
	for _, p := range parts {
		if body := s.sticky(); !strings.Contains(body, p) {
			s.t.Errorf("%q is not in the comment:\n%s", p, body)
		}
	}
}

func TestBase(t *testing.T) {
	both(t, func(t *testing.T, begin begin) {
		s := begin(t, "")
		s.inside = true
		left := s.r.SHA(t, "main")

		s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY", "iteration": "1"})
		s.wantSticky("No run of main is known") // S5-4

		s.want(s.ranMain("push", failing("TestAdd")), 0, map[string]string{"decision": "RETRY", "iteration": "1"}) // S5-12
		s.push()
		s.view.Reset()
		s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "PRE_EXISTING", "iteration": "1"})
		s.wantSticky("1 also failing on main since "+left[:7], "Update the branch once main passes")
		if got := s.check(); got != "neutral" {
			t.Errorf("S5-5: the check ends as %s", got)
		}
		further := 0
		for _, q := range s.view.Requests() {
			if strings.Contains(q.Path, "/compare/") || strings.Contains(q.Path, "@main.jsonl") {
				further++
			}
		}
		if further == 0 || further > 2 {
			t.Errorf("S5-13: %d further reads\n%s", further, list(s.view))
		}

		s.push()
		s.want(s.run(failing("TestMine", "TestAdd"), nil), 0, map[string]string{"decision": "RETRY", "iteration": "2"})
		s.wantSticky("1 new failure · 1 also failing on main since "+left[:7], `"pre_existing"`) // S5-6

		s.push()
		s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "PRE_EXISTING"})
		if n := len(s.asked()); n != 0 {
			t.Errorf("%d comments ask for an update, and main fails still", n)
		}
		fixed := s.moveMain()
		s.want(s.ranMain("schedule", passing), 0, map[string]string{"decision": "PASS"}) // S5-12
		if asked := s.asked(); len(asked) != 1 || !strings.Contains(asked[0], fixed[:7]) {
			t.Errorf("S5-10: %q", asked)
		}
		s.wantSticky("main passes since")
		s.ranMain("push", passing)
		if n := len(s.asked()); n != 1 {
			t.Errorf("S5-10: %d comments ask for an update", n)
		}

		s.moveMain()
		s.ranMain("push", failing("TestLater"))
		s.push()
		s.want(s.run(failing("TestLater"), nil), 0, map[string]string{"decision": "PRE_EXISTING"}) // S5-8
		s.moveMain()
		s.ranMain("push", passing)
		if n := len(s.asked()); n != 2 {
			t.Errorf("S5-10: %d comments ask for an update after two repairs", n)
		}
		s.ranMain("push", strings.ReplaceAll(passing, "TestAdd", "TestFlaky"))
		s.ranMain("push", failing("TestFlaky"))
		s.push()
		s.want(s.run(failing("TestFlaky"), nil), 0, map[string]string{"decision": "RETRY", "iteration": "3"}) // S5-7
		s.clean()
	})
}

func TestBaseOfFork(t *testing.T) {
	both(t, func(t *testing.T, begin begin) {
		s := begin(t, "")
		s.inside = true
		f := s.fork("feature")
		s.ranMain("push", failing("TestAdd"))
		run := s.ranOn(f, "feature", failing("TestAdd"))
		run.Name, run.Jobs = "unit", nil
		filed := s.r.AddRun(run)
		res := Result{}
		if s.by != nil {
			res = s.toldRun(filed)
		} else {
			res = s.within(s.outsideAction(filed, map[string]string{"reports": "**/report.xml", "checkpoint": "unit"}), 0)
		}
		s.want(res, 0, map[string]string{"decision": "PRE_EXISTING", "iteration": "0"}) // S5-11
		s.clean()
	})
}

// TestBaseUnread: what GitHub never answers excuses nothing, and what it answers later is asked again.
func TestBaseUnread(t *testing.T) {
	t.Parallel()
	s := newStory(t, "")
	s.inside = true
	s.ranMain("push", failing("TestAdd"))
	remove := s.view.Fault(Fault{Method: "GET", Path: regexp.MustCompile(`/compare/`), Status: http.StatusForbidden})
	s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY"})
	s.wantSticky("could not be compared with main")
	remove()
	s.push()
	s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "PRE_EXISTING"})
}

// TestBaseUpdated: with base.update the branch is updated, once.
func TestBaseUpdated(t *testing.T) {
	both(t, func(t *testing.T, begin begin) {
		s := begin(t, "base: {update: true}\n")
		s.inside = true
		s.ranMain("push", failing("TestAdd"))
		s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "PRE_EXISTING"})
		s.moveMain()
		s.ranMain("push", passing)
		updated := s.r.SHA(t, "feature")
		if updated == s.sha || len(s.asked()) != 0 {
			t.Errorf("S5-10: the branch is at %s, was at %s; %q", updated, s.sha, s.asked())
		}
		s.ranMain("push", passing)
		if again := s.r.SHA(t, "feature"); again != updated {
			t.Errorf("S5-10: the branch is updated twice")
		}
		s.clean()
	})
}

// TestBaseKilled kills the run of the base that resumes a pull request, and runs it again.
func TestBaseKilled(t *testing.T) {
	t.Parallel()
	asks := func(q Request) bool { return q.Method == "POST" && strings.HasSuffix(q.Path, "/comments") }
	resumes := func(q Request) bool {
		return q.Method == "PUT" && strings.Contains(q.Path, "/contents/cases/") && !strings.Contains(q.Path, "@main")
	}
	for name, only := range map[string]func(Request) bool{"the comment": asks, "the record": resumes} {
		for _, when := range []When{Before, After} {
			t.Run(fmt.Sprintf("S5-10 killed at %s (%v) the author is asked once", name, when), func(t *testing.T) {
				t.Parallel()
				s := newStory(t, "")
				s.inside = true
				s.ranMain("push", failing("TestAdd"))
				s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "PRE_EXISTING"})
				s.moveMain()
				s.runID++
				a := s.onMain("push", passing)
				a.Kill = s.view.HoldAt(1, when, only)
				first := s.b.RunAction(t, a)
				a.Kill.Release()
				if !first.Killed {
					t.Fatalf("it is not killed\n%s\n%s\n%s", first.Stdout, first.Stderr, list(s.view))
				}
				if res := s.within(s.onMain("push", passing), 0); res.ExitCode != 0 {
					t.Fatalf("exit %d\n%s", res.ExitCode, res.Stderr)
				}
				if asked := s.asked(); len(asked) != 1 {
					t.Errorf("%d comments\n%s", len(asked), list(s.view))
				}
				s.clean()
			})
		}
	}
}

// leg is a step in one leg of a matrix of two.
func leg(a Action, os string) Action {
	a.Inputs["matrix"], a.Inputs["matrix-total"] = fmt.Sprintf(`{"os":%q}`, os), "2"
	return a
}

func TestBaseLegs(t *testing.T) {
	t.Parallel()
	s := newStory(t, "")
	red, green := failing("TestAdd"), strings.ReplaceAll(passing, "TestSub", "TestAdd")
	mine := func(report, os string) Action {
		return leg(s.action(report, map[string]string{"job-status": concluded(report)}), os)
	}
	s.runID++
	s.within(leg(s.onMain("push", red), "ubuntu"), 0)
	s.within(leg(s.onMain("push", green), "windows"), 0)
	s.runID++
	t.Run("S5-1 the leg that fails on the base is excused", func(t *testing.T) {
		s.want(s.b.RunAction(t, mine(red, "ubuntu")), 0, map[string]string{"decision": "NONE"}) // the other leg may fail otherwise
		s.want(s.b.RunAction(t, mine(green, "windows")), 0, map[string]string{"decision": "PRE_EXISTING"})
	})
	s.push()
	t.Run("S5-1 S5-35 the leg that passes on the base is not, though the other fails in the same way", func(t *testing.T) {
		s.want(s.b.RunAction(t, mine(green, "ubuntu")), 0, nil)
		s.want(s.b.RunAction(t, mine(red, "windows")), 0, map[string]string{"decision": "RETRY", "iteration": "1"})
	})
	s.push()
	t.Run("S5-3 a leg that the base does not have is new", func(t *testing.T) {
		a := mine(red, "macos")
		a.Inputs["matrix-total"] = "3"
		s.want(s.b.RunAction(t, a), 0, map[string]string{"decision": "RETRY", "iteration": "2"})
	})
	s.clean()
}
