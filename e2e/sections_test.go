package e2e

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/database/pgtest"
)

var sectionHead = regexp.MustCompile("(?m)^(?:### |- \\*\\*)\\S+ `?([\\w-]+)") // in code where it looks like an id of a tracker

// sections returns the checkpoints of the bot's only comment, in their order.
func (s *story) sections() []string {
	s.t.Helper()
	var out []string
	for _, m := range sectionHead.FindAllStringSubmatch(s.botComment().Body, -1) {
		out = append(out, m[1])
	}
	return out
}

func TestSections(t *testing.T) { both(t, testSections) }

func testSections(t *testing.T, begin begin) {
	s := begin(t, "")
	green := map[string]string{"checkpoint": "lint", "job-status": "success"}
	s.run(passing, green)
	if got := s.bot(); len(got) != 0 {
		t.Errorf("a first green run is news: %q", got)
	}
	t.Run("S5-96 one comment per pull request, the failing checkpoints before those that pass", func(t *testing.T) {
		s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY", "iteration": "1"})
		s.want(s.run(failing("TestFar"), map[string]string{"checkpoint": "integration"}), 0, map[string]string{"decision": "RETRY", "iteration": "1"})
		if got := s.sections(); !slices.Equal(got, []string{"integration", "unit", "lint"}) {
			t.Errorf("%q\n%s", got, s.botComment().Body)
		}
		if c := s.botComment().Body; !strings.Contains(c, "TestAdd") || !strings.Contains(c, "TestFar") || !strings.Contains(c, "- **✅ lint passes**") {
			t.Errorf("%s", c)
		}
	})
	t.Run("S5-96 each section has its packet", func(t *testing.T) {
		if s.by != nil {
			return // it needs the ledger's branch
		}
		all, errs, code := s.verify()
		one, _, _ := s.verify("--checkpoint", "unit")
		if code != 0 || strings.Count(all, `"switchback": 1`) != 2 || strings.Count(one, `"switchback": 1`) != 1 || !strings.Contains(one, `"checkpoint": "unit"`) {
			t.Errorf("%d %s%s\n%s", code, all, errs, one)
		}
		if out, errs, code := s.verify("--checkpoint", "lint"); code != 1 || out != "" || !strings.Contains(errs, "no packet of checkpoint") {
			t.Errorf("%d %s%s", code, out, errs)
		}
	})
	t.Run("S5-96 what passes becomes a line, in the same comment", func(t *testing.T) {
		id := s.botComment().ID
		s.push()
		s.want(s.run(passing, map[string]string{"job-status": "success"}), 0, map[string]string{"decision": "PASS"})
		if got := s.sections(); s.botComment().ID != id || !slices.Equal(got, []string{"integration", "lint", "unit"}) || !strings.Contains(s.botComment().Body, "- **✅ unit passes after 1 fix attempt**") {
			t.Errorf("%q\n%s", got, s.botComment().Body)
		}
	})
	s.clean()
}

func TestCommentPerCheckpoint(t *testing.T) { both(t, testCommentPerCheckpoint) }

func testCommentPerCheckpoint(t *testing.T, begin begin) {
	s := begin(t, "comment: checkpoint\n")
	s.run(failing("TestAdd"), nil)
	s.run(failing("TestFar"), map[string]string{"checkpoint": "integration"})
	s.run(passing, map[string]string{"checkpoint": "lint", "job-status": "success"})
	if got := s.bot(); len(got) != 2 || !strings.Contains(got[0], "TestAdd") || strings.Contains(got[0], "TestFar") || !strings.Contains(got[1], "TestFar") {
		t.Errorf("S5-96: %q", got)
	}
	s.clean()
}

// jobs are steps of one pull request that end at once, as those of several jobs of one workflow do:
// failures, an escalation and a pass.
func (s *story) jobs() []Action {
	return []Action{
		s.action(failing("TestAdd"), nil),
		s.action(environment, map[string]string{"checkpoint": "deploy"}),
		s.action(failing("TestFar"), map[string]string{"checkpoint": "integration"}),
		s.action(passing, map[string]string{"checkpoint": "lint", "job-status": "success"}),
	}
}

func (s *story) wantJobs(what string) {
	s.t.Helper()
	got, body := s.sections(), s.botComment().Body
	if !slices.Equal(got, []string{"deploy", "integration", "unit", "lint"}) || !strings.Contains(body, "TestAdd") || !strings.Contains(body, "TestFar") {
		s.t.Errorf("%s: %q\n%s\n%s", what, got, body, list(s.view))
	}
	if !strings.Contains(body, fmt.Sprintf(`[\#%d](`, s.onlyIssue().Number)) {
		s.t.Errorf("%s: the comment does not name the issue\n%s\n%s", what, body, list(s.view))
	}
}

func TestSectionsAtOnce(t *testing.T) {
	t.Parallel()
	t.Run("S5-96 jobs that end at once lose and double no section", func(t *testing.T) {
		t.Parallel()
		for range 3 {
			s := newStory(t, "")
			jobs := s.jobs()
			s.atOnce(len(jobs), func(i int) Action { return jobs[i] })
			s.wantJobs("at once")
			s.clean()
		}
	})
	t.Run("S5-96 nor where one of them is killed at a write, and run again", func(t *testing.T) {
		t.Parallel()
		for _, k := range killPoints(t, 8, 4) { // of whichever job makes the write
			s := newStory(t, "")
			jobs := s.jobs()
			victim := &jobs[k.n%3]
			hold := s.view.HoldAt(k.n, k.when, writes)
			victim.Kill = hold
			results := make([]Result, len(jobs))
			var wg sync.WaitGroup
			for i := range jobs {
				wg.Go(func() { results[i] = s.b.RunAction(t, jobs[i]) })
			}
			wg.Wait()
			hold.Release()
			killed := 0
			for i, res := range results {
				if res.Killed {
					killed++
					again := jobs[i]
					again.Kill = nil
					s.want(s.b.RunAction(t, again), 0, nil)
				}
			}
			if killed == 0 {
				t.Errorf("write %d (%v) never was", k.n, k.when)
			}
			s.wantJobs(fmt.Sprintf("killed at write %d (%v)", k.n, k.when))
		}
	})
}

// Six workflows of one commit end at once, and are told to three replicas, which are killed while one
// of them writes the comment.
func TestSectionsOfReplicas(t *testing.T) {
	t.Parallel()
	bin, err := switchback()
	if err != nil {
		t.Fatal(err)
	}
	s := newStory(t, "reports: [\"**/report.xml\"]\nacts: app\n")
	url := pgtest.URL(t)
	var apps []*Served
	for range 3 {
		apps = append(apps, s.b.Serve(t, bin, url))
	}
	s.by = apps[0]
	t.Cleanup(func() { s.r.Deliver("") })
	comments := func(q Request) bool { return writes(q) && strings.Contains(q.Path, "/comments") }
	for _, when := range []When{Before, After} {
		t.Run("S5-96 killed "+map[When]string{Before: "before", After: "after"}[when]+" the comment is written", func(t *testing.T) {
			s.push()
			hold := s.view.HoldAt(1, when, comments)
			var want []string
			for i := range 6 {
				run := s.ranOn(s.r, "feature", failing(fmt.Sprintf("TestOf%d", i)))
				run.Name, run.Conclusion, run.Pulls, run.Jobs = fmt.Sprintf("part-%d", i), "failure", []int{s.number}, nil
				want = append(want, run.Name)
				s.r.Deliver(apps[i%3].URL + "/webhook")
				if d := s.r.Send(t, "workflow_run", s.r.RunPayload(s.r.AddRun(run), "completed")); d.Status != http.StatusAccepted {
					t.Fatalf("answered with %d", d.Status)
				}
			}
			select {
			case <-hold.Reached:
			case <-time.After(time.Minute):
				t.Fatalf("no replica writes a comment\n%s", list(s.view))
			}
			for _, app := range apps {
				app.Kill()
			}
			hold.Drop()
			for _, app := range apps {
				app.Start()
			}
			for _, app := range apps {
				app.Idle()
			}
			if got := s.sections(); !slices.Equal(got, want) {
				t.Errorf("%q\n%s", got, list(s.view))
			}
			for i := range want {
				if body := s.botComment().Body; !strings.Contains(body, fmt.Sprintf("TestOf%d", i)) || strings.Count(body, s.sha[:7]) < len(want) {
					t.Errorf("nothing new of %s\n%s", want[i], body)
				}
			}
		})
	}
}
