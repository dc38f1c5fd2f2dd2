package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// end is the state of the world that a person sees after a story.
type end struct {
	comments, issues, labels, checks, ledger string
}

func (s *story) end() end {
	s.t.Helper()
	var e end
	for _, c := range s.bot() {
		e.comments += addresses.ReplaceAllString(firstLine(c), "(address)") + "\n"
	}
	for _, i := range s.r.Issues(s.t) {
		if i.Number != s.number {
			e.issues += fmt.Sprintf("%s %s %v, several: %v\n", i.Title, i.State, names(i.Labels), strings.Contains(i.Body, "Also on hold because of this"))
		}
	}
	e.issues = strings.ReplaceAll(e.issues, fmt.Sprintf("#%d", s.number), "#n")
	e.labels = fmt.Sprint(s.r.IssueLabels(s.t, s.number))
	for _, c := range s.r.CheckRuns(s.t, s.sha) {
		e.checks += c.Name + " " + c.Conclusion + "\n"
	}
	for _, ev := range s.events() {
		if strings.HasPrefix(ev, "run:") {
			e.ledger += ev + "\n"
		}
	}
	return e
}

// addresses differ from story to story.
var addresses = regexp.MustCompile(`\(http[^)]*\)`)

func firstLine(s string) string {
	l, _, _ := strings.Cut(s, "\n")
	return l
}

// chapters are runs that each do something else to the world. prepare plays
// what comes before; report and in are those of the run that is killed.
var chapters = []struct {
	name    string
	config  string
	prepare func(s *story)
	report  string
	in      map[string]string
}{
	{"the first failure", "", func(*story) {}, failing("TestAdd"), nil},
	{"a second failure", "", func(s *story) { s.run(failing("TestAdd"), nil); s.push() }, failing("TestSub"), nil},
	{"a section beside another", "", func(s *story) { s.run(environment, map[string]string{"checkpoint": "deploy"}) }, failing("TestAdd"), nil},
	{"an escalation", "", func(*story) {}, environment, nil},
	{"a pass that closes an escalation", "", func(s *story) { s.run(environment, nil); s.push() }, passing, map[string]string{"job-status": "success"}},
	{"a mention", "handoff: [{mention: \"@claude\"}]\n", func(*story) {}, failing("TestAdd"), nil},
	{"an escalation that another pull request shares", "", func(s *story) { s.beside("other").run(environment, nil) }, environment, nil},
	{"a pass that leaves a shared escalation to another", "", func(s *story) { s.run(environment, nil); s.beside("other").run(environment, nil); s.push() }, passing, map[string]string{"job-status": "success"}},
	{"an escalation beyond the fuse", "escalation: {max_issues: 1}\n", func(s *story) { s.beside("other").run(broken("Far"), nil) }, environment, nil},
}

// TestKilled kills the Action between any two requests, before GitHub has seen
// the request and after, runs it again, and compares the world with that of a
// story in which nothing happened.
func TestKilled(t *testing.T) {
	t.Parallel()
	for i, ch := range chapters {
		// Between two reads the world is what it was after the write before them: the first
		// chapter is killed there too, the others at writes. What is not killed is a process of
		// its own in the first chapter, and runs in this one in the others.
		points, only := "request", []func(Request) bool(nil)
		if i > 0 {
			points, only = "write", []func(Request) bool{writes}
		}
		t.Run(ch.name+" killed at a "+points+" leaves the world as if nothing had happened", func(t *testing.T) {
			t.Parallel()
			calm := newStory(t, ch.config)
			calm.inside = points == "write"
			ch.prepare(calm)
			calm.view.Reset()
			calm.run(ch.report, ch.in)
			total, want := calm.view.count(only...), calm.end()
			few := 4
			if i == 0 {
				few = total
			}
			for _, k := range killPoints(t, total, few) {
				s := newStory(t, ch.config)
				s.inside = calm.inside
				ch.prepare(s)
				a := s.action(ch.report, ch.in)
				v := s.r.View()
				a.Kill = v.HoldAt(k.n, k.when, only...)
				first := s.b.RunAction(t, a)
				a.Kill.Release()
				if !first.Killed {
					t.Errorf("%s %d (%v) never was", points, k.n, k.when)
				}
				res := s.run(ch.report, ch.in)
				if res.ExitCode != 0 {
					t.Fatalf(points+" %d, %v: the second run exits %d\n%s\n%s", k.n, k.when, res.ExitCode, res.Stdout, res.Stderr)
				}
				if got := s.end(); got != want {
					t.Errorf("killed at "+points+" %d (%v):\ngot  %+v\nwant %+v\n%s", k.n, k.when, got, want, list(v))
				}
				s.clean()
			}
		})
	}
}

func TestDelivered(t *testing.T) {
	t.Parallel()
	t.Run("S0-12 the same run delivered five times, one after the other, counts once", func(t *testing.T) {
		s := newStory(t, "")
		for range 5 {
			s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY", "iteration": "1"})
		}
		if n, c := s.count("run"), len(s.bot()); n != 1 || c != 1 {
			t.Errorf("%d runs recorded, %d comments", n, c)
		}
		s.clean()
	})
	t.Run("S0-12 the same run delivered five times at once counts once", func(t *testing.T) {
		s := newStory(t, "")
		s.atOnce(5, func(int) Action { return s.action(failing("TestAdd"), nil) })
		if n, c, k := s.count("run"), len(s.bot()), len(s.r.CheckRuns(t, s.sha)); n != 1 || c != 1 || k != 1 {
			t.Errorf("%d runs recorded, %d comments, %d checks", n, c, k)
		}
		s.clean()
	})
	t.Run("two jobs of one pull request at once share a comment and lose nothing", func(t *testing.T) {
		s := newStory(t, "")
		s.atOnce(2, func(i int) Action {
			return s.action(failing("TestAdd"), map[string]string{"checkpoint": fmt.Sprintf("job-%d", i)})
		})
		if n, c := s.count("run:RETRY"), s.sections(); n != 2 || len(c) != 2 || c[0] != "job-0" || c[1] != "job-1" {
			t.Errorf("%d runs recorded, sections %q", n, c)
		}
		s.clean()
	})
	t.Run("two failing legs of a matrix at once are one turn and one comment with both", func(t *testing.T) {
		s := newStory(t, "")
		s.atOnce(2, func(i int) Action {
			return s.action(failing(fmt.Sprintf("TestLeg%d", i)), map[string]string{"matrix": fmt.Sprintf(`{"os":"%d"}`, i), "matrix-total": "2"})
		})
		bot := s.bot()
		if len(bot) != 1 || !strings.Contains(bot[0], "TestLeg0") || !strings.Contains(bot[0], "TestLeg1") || !strings.Contains(bot[0], "1 of 3") {
			t.Errorf("%q", bot)
		}
		s.clean()
	})
}

// atOnce runs n steps side by side and fails the test for one that fails.
func (s *story) atOnce(n int, action func(i int) Action) {
	s.t.Helper()
	var wg sync.WaitGroup
	results := make([]Result, n)
	for i := range n {
		a := action(i)
		wg.Go(func() { results[i] = s.b.RunAction(s.t, a) })
	}
	wg.Wait()
	for i, res := range results {
		if res.ExitCode != 0 {
			s.t.Errorf("step %d exits %d\n%s\n%s", i, res.ExitCode, res.Stdout, res.Stderr)
		}
	}
}

// TestS6_13_ForgedLedgerIsNotBelieved is S6-13: somebody who may push to the ledger's branch,
// but is not Switchback, cannot take back an iteration: the run ends with what is wrong, and
// posts and records nothing.
func TestS6_13_ForgedLedgerIsNotBelieved(t *testing.T) {
	t.Parallel()
	s := newStory(t, "")
	for range 2 {
		s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY"})
		s.push()
	}
	for path, text := range s.r.Tree(t, "switchback-ledger") {
		if strings.HasSuffix(path, fmt.Sprintf("=%d.jsonl", s.number)) {
			_, rest, _ := strings.Cut(text, "\n")
			s.r.Commit(t, "switchback-ledger", "begin anew", map[string]string{path: rest})
		}
	}
	before := s.end()
	res := s.run(failing("TestAdd"), nil)
	s.want(res, 1, nil)
	if said := res.Stdout + res.Stderr; !strings.Contains(said, "does not follow from the event before it") || !strings.Contains(said, ":1: event 1 of stream") || !strings.Contains(said, "restore the file from its history") {
		t.Errorf("%s", said)
	}
	if after := s.end(); after.comments != before.comments {
		t.Errorf("%s\n%s", before.comments, after.comments)
	}
}
