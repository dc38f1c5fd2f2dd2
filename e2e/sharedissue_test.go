package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// beside opens another pull request in the story's repository.
func (s *story) beside(branch string) *story {
	s.t.Helper()
	o := *s
	o.sha = s.r.Commit(s.t, branch, "work", map[string]string{"calc.go": "package calc // " + branch + "\n"})
	o.number = s.r.PullRequest(s.t, Owner, branch, "Add "+branch, "")
	o.runID = s.runID + int64(1000*o.number)
	return &o
}

// pushTo makes a new head commit of a branch.
func (s *story) pushTo(branch string) {
	s.t.Helper()
	s.runID++
	s.sha = s.r.Commit(s.t, branch, "more work", map[string]string{"calc.go": fmt.Sprintf("package calc\n\n// %d\n", s.runID)})
}

// issues returns the issues that are no pull requests, oldest first.
func (s *story) issues() []Issue {
	s.t.Helper()
	var out []Issue
	for _, i := range s.r.Issues(s.t) {
		if i.PullRequest == nil {
			out = append([]Issue{i}, out...)
		}
	}
	for a := range out {
		for b := range out[:a] {
			if out[b].Number > out[a].Number {
				out[a], out[b] = out[b], out[a]
			}
		}
	}
	return out
}

// states are numbers and states of the issues, in words.
func (s *story) states() string {
	var out []string
	for _, i := range s.issues() {
		out = append(out, i.State)
	}
	return strings.Join(out, " ")
}

func (s *story) escalates(report string) Result {
	s.t.Helper()
	// Nobody is killed, and on a busy machine a short lease ends while the issue is opened.
	res := s.b.RunAction(s.t, s.action(report, nil))
	if res.ExitCode != 0 || !strings.HasPrefix(res.Outputs["decision"], "ESCALATE") {
		s.t.Fatalf("exit %d, %v\n%s\n%s", res.ExitCode, res.Outputs, res.Stdout, res.Stderr)
	}
	return res
}

func (s *story) passes() {
	s.t.Helper()
	s.want(s.run(passing, map[string]string{"job-status": "success"}), 0, map[string]string{"decision": "PASS"})
}

// broken is an environment that fails in a way of its own.
func broken(what string) string {
	return strings.NewReplacer("TestStock", "Test"+what, "10.0.0.7:5432: connect: connection refused", what+".example: no such host").Replace(environment)
}

func TestSharedIssue(t *testing.T) {
	t.Parallel()
	s := newStory(t, "")
	o := s.beside("other")
	s.escalates(environment)
	o.escalates(environment)
	t.Run("failures with one fingerprint are one issue that lists their pull requests", func(t *testing.T) {
		all := s.issues()
		if len(all) != 1 || !strings.Contains(all[0].Body, "Also on hold because of this") ||
			!strings.Contains(all[0].Body, fmt.Sprintf("/pull/%d", s.number)) || !strings.Contains(all[0].Body, fmt.Sprintf("/pull/%d", o.number)) {
			t.Fatalf("%+v", all)
		}
		for _, n := range []int{s.number, o.number} {
			if !contains(s.r.IssueLabels(t, n), "switchback:paused") {
				t.Errorf("#%d is not paused", n)
			}
		}
		if c := o.bot(); len(c) != 1 || !strings.Contains(c[0], fmt.Sprintf("/issues/%d", all[0].Number)) {
			t.Errorf("the second comment does not link the issue: %q", c)
		}
	})
	s.push()
	s.passes()
	t.Run("it stays open for the one that still waits, and is about that one", func(t *testing.T) {
		i := s.issues()[0]
		if i.State != "open" || strings.Contains(i.Body, "Also on hold because of this") || !strings.Contains(i.Body, fmt.Sprintf("octo/%s#%d`", s.r.Name, o.number)) &&
			!strings.Contains(i.Body, fmt.Sprintf("%s#%d`", s.r.FullName, o.number)) {
			t.Errorf("%s\n%s", i.State, i.Body)
		}
		if contains(s.r.IssueLabels(t, s.number), "switchback:paused") || !contains(s.r.IssueLabels(t, o.number), "switchback:paused") {
			t.Error("labels")
		}
	})
	o.pushTo("other")
	o.passes()
	t.Run("it is closed with the last, with what fixed it", func(t *testing.T) {
		i := s.issues()[0]
		if got := s.last(i.Number); i.State != "closed" || !strings.Contains(got, o.sha[:7]) || !strings.Contains(got, "passes on") {
			t.Errorf("%s %q", i.State, got)
		}
	})
	s.clean()
}

func TestSharedAtOnce(t *testing.T) {
	t.Parallel()
	s := newStory(t, "")
	stories := []*story{s}
	for n := 2; n <= 4; n++ {
		stories = append(stories, s.beside(fmt.Sprint("branch-", n)))
	}
	actions := make([]Action, len(stories))
	for i, o := range stories {
		actions[i] = o.action(environment, nil)
	}
	s.atOnce(len(stories), func(i int) Action { return actions[i] })
	all := s.issues()
	if len(all) != 1 {
		t.Fatalf("%d issues for one broken machine", len(all))
	}
	for _, o := range stories {
		if c := o.bot(); !strings.Contains(all[0].Body, fmt.Sprintf("/pull/%d)", o.number)) || len(c) != 1 || !strings.Contains(c[0], fmt.Sprintf("/issues/%d", all[0].Number)) {
			t.Errorf("#%d is not listed, or its comment does not link the issue: %q\n%s", o.number, c, all[0].Body)
		}
	}
	t.Run("all pass at once and the issue is closed once", func(t *testing.T) {
		for i, o := range stories {
			o.pushTo([]string{"feature", "branch-2", "branch-3", "branch-4"}[i])
			actions[i] = o.action(passing, map[string]string{"job-status": "success"})
		}
		s.atOnce(len(stories), func(i int) Action { return actions[i] })
		n := 0
		for _, c := range s.r.Comments(t, all[0].Number) {
			if c.User.Login == ActionsBot {
				n++
			}
		}
		if got := s.states(); got != "closed" || n != 1 {
			t.Errorf("%s, %d comments", got, n)
		}
	})
	s.clean()
}

func TestFuse(t *testing.T) {
	t.Parallel()
	s := newStory(t, "escalation: {max_issues: 2}\n")
	stories := []*story{s}
	for n := 2; n <= 4; n++ {
		stories = append(stories, s.beside(fmt.Sprint("branch-", n)))
	}
	var last Result
	for n, o := range stories {
		last = o.escalates(broken(fmt.Sprint("Host", n+1)))
	}
	all := s.issues()
	t.Run("at most so many issues are filed, over all processes, and then one summary, loudly", func(t *testing.T) {
		if len(all) != 3 || !strings.Contains(all[2].Title, "Too many escalations") || !contains(names(all[2].Labels), "severity:critical") {
			t.Fatalf("%+v", all)
		}
		for n, in := range []bool{false, false, true, true} {
			if got := strings.Contains(all[2].Body, fmt.Sprintf("/pull/%d)", stories[n].number)); got != in {
				t.Errorf("pull request %d is listed: %v\n%s", n+1, got, all[2].Body)
			}
		}
		if !strings.Contains(last.Stderr, "level=ERROR") || !strings.Contains(last.Stderr, "too many new issues") {
			t.Errorf("not loud: %s", last.Stderr)
		}
		if !contains(s.r.IssueLabels(t, stories[3].number), "switchback:paused") {
			t.Error("what is listed is not paused")
		}
		if c := stories[3].bot(); len(c) != 1 || !strings.Contains(c[0], fmt.Sprintf("/issues/%d", all[2].Number)) {
			t.Errorf("the comment does not link the summary: %q", c)
		}
	})
	t.Run("the summary is closed when all of it passes", func(t *testing.T) {
		for n := 2; n < 4; n++ {
			stories[n].pushTo(fmt.Sprint("branch-", n+1))
			fixed := strings.Replace(passing, "</testsuite>", fmt.Sprintf(`<testcase classname="calc" name="TestHost%d"/></testsuite>`, n+1), 1)
			stories[n].want(stories[n].run(fixed, map[string]string{"job-status": "success"}), 0, map[string]string{"decision": "PASS"})
			if got, want := s.states(), []string{"open open open", "open open closed"}[n-2]; got != want {
				t.Errorf("after %d: %s, want %s", n-1, got, want)
			}
		}
	})
	s.clean()
}

func TestReopening(t *testing.T) {
	t.Parallel()
	s := newStory(t, "escalation: {quiet: 0s}\n")
	first := s.sha
	s.escalates(environment)
	s.push()
	s.passes()
	t.Run("a failing commit that contains the fix opens the issue again", func(t *testing.T) {
		s.push()
		s.escalates(environment)
		if got := s.states(); got != "open" || !strings.Contains(s.issues()[0].Body, s.sha[:7]) {
			t.Errorf("%s", got)
		}
		if got := s.last(s.issues()[0].Number); !strings.Contains(got, "fails again") {
			t.Errorf("%q", got)
		}
	})
	t.Run("one that does not contain it files another", func(t *testing.T) {
		s.push()
		s.passes()
		s.r.Must(t, "PATCH", "/git/refs/heads/feature", map[string]any{"sha": first, "force": true}, nil)
		s.push()
		s.escalates(environment)
		if got := s.states(); got != "closed open" {
			t.Errorf("%s", got)
		}
	})
	s.clean()
}

func TestQuiet(t *testing.T) {
	t.Parallel()
	s := newStory(t, "")
	s.escalates(environment)
	s.push()
	s.passes()
	s.push()
	res := s.escalates(environment)
	t.Run("shortly after a green run closed the issue nothing is opened, and nothing fails", func(t *testing.T) {
		if got := s.states(); got != "closed" || !contains(s.r.IssueLabels(t, s.number), "switchback:paused") {
			t.Errorf("%s, %v\n%s", got, s.r.IssueLabels(t, s.number), res.Stderr)
		}
		if res := s.reconcile("schedule", nil); res.ExitCode != 0 || s.states() != "closed" {
			t.Errorf("a reconcile: exit %d, %s\n%s", res.ExitCode, s.states(), res.Stdout)
		}
	})
	t.Run("the reconcile opens it when the time is over", func(t *testing.T) {
		s.r.Commit(t, "main", "shorter", map[string]string{".github/switchback.yml": "escalation: {quiet: 0s}\nretry_delay: 0s\n"})
		for range 2 {
			if res := s.reconcile("schedule", nil); res.ExitCode != 0 || s.states() != "open" {
				t.Errorf("exit %d, %s\n%s%s", res.ExitCode, s.states(), res.Stdout, res.Stderr)
			}
		}
	})
	s.clean()
}

func TestQuietPasses(t *testing.T) {
	t.Parallel()
	s := newStory(t, "")
	s.escalates(environment)
	s.push()
	s.passes()
	s.push()
	s.escalates(environment)
	s.push()
	s.passes()
	if got := s.states(); got != "closed" || contains(s.r.IssueLabels(t, s.number), "switchback:paused") {
		t.Errorf("%s", got)
	}
	n := 0
	for _, c := range s.r.Comments(t, s.issues()[0].Number) {
		if c.User.Login == ActionsBot {
			n++
		}
	}
	if n != 1 {
		t.Errorf("flapping within the quiet period left %d comments on the issue, want the one that closed it", n)
	}
	s.clean()
}

func TestClosedByPeople(t *testing.T) {
	t.Parallel()
	s := newStory(t, "")
	s.r.Grant(t, Writer, "push")
	s.escalates(environment)
	first := s.sha
	number := s.issues()[0].Number
	s.r.Must(t, "PATCH", fmt.Sprintf("/issues/%d", number), map[string]any{"state": "closed"}, nil)
	s.want(s.say(Writer, s.number, "/switchback resume"), 0, nil)
	t.Run("what a person closed stays closed for its commit", func(t *testing.T) {
		s.runID++
		s.escalates(environment)
		if got := s.states(); got != "closed" {
			t.Errorf("%s", got)
		}
	})
	t.Run("a later commit opens it again", func(t *testing.T) {
		s.want(s.say(Writer, s.number, "/switchback resume"), 0, nil)
		s.push()
		s.escalates(environment)
		if got := s.states(); got != "open" {
			t.Errorf("%s", got)
		}
	})
	t.Run("a commit of another line files another", func(t *testing.T) {
		s.r.Must(t, "PATCH", fmt.Sprintf("/issues/%d", number), map[string]any{"state": "closed"}, nil)
		s.want(s.say(Writer, s.number, "/switchback resume"), 0, nil)
		s.r.Must(t, "PATCH", "/git/refs/heads/feature", map[string]any{"sha": first, "force": true}, nil)
		s.push()
		s.escalates(environment)
		if got := s.states(); got != "closed open" {
			t.Errorf("%s", got)
		}
	})
	s.clean()
}

func TestEvidence(t *testing.T) {
	t.Parallel()
	s := newStory(t, "")
	s.escalates(environment)
	t.Run("a run that fails while a human is awaited is in the issue, and no other is filed", func(t *testing.T) {
		s.push()
		s.want(s.run(environment, nil), 0, map[string]string{"decision": "NONE"})
		if i := s.onlyIssue(); !strings.Contains(i.Body, s.sha[:7]) || !strings.Contains(i.Body, "Since then") {
			t.Errorf("%s", i.Body)
		}
	})
	number := s.onlyIssue().Number
	s.r.Must(t, "DELETE", fmt.Sprintf("/issues/%d/labels", number), nil, nil) // no listing has it any more
	s.view.Fault(Fault{Times: -1, Status: 410, Path: issuePath(number)})
	t.Run("a deleted issue is not filed again for what is known", func(t *testing.T) {
		s.want(s.run(environment, map[string]string{"matrix": `{"os":"b"}`, "matrix-total": "2"}), 0, map[string]string{"decision": "NONE"})
		if len(s.issues()) != 1 {
			t.Errorf("%s", s.states())
		}
	})
	t.Run("it is filed again for what is new", func(t *testing.T) {
		s.push()
		s.want(s.run(environment, nil), 0, map[string]string{"decision": "NONE"})
		if all := s.issues(); len(all) != 2 || !strings.Contains(all[1].Body, s.sha[:7]) {
			t.Errorf("%s", s.states())
		}
	})
	s.clean()
}

func TestOwnersAreAssigned(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, config, want string }{
		{"the owners of the failing files that can be assigned", "max_iterations: 0\n", Writer},
		{"whom the configuration names", "max_iterations: 0\nescalation: {assignees: [" + Owner + "]}\n", Owner},
		{"nobody, where nobody is to be called", "max_iterations: 0\nnotify_on_escalation: false\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStory(t, c.config)
			s.r.Grant(t, Writer, "push")
			s.r.Commit(t, "main", "owners", map[string]string{".github/CODEOWNERS": "* @" + Owner + "\ncalc_test.go @" + Stranger + " @octo/team @" + Writer + "\n"})
			s.escalates(failing("TestAdd"))
			got := ""
			for _, u := range s.onlyIssue().Assignees {
				got += u.Login
			}
			if got != c.want {
				t.Errorf("assigned %q, want %q", got, c.want)
			}
			s.clean()
		})
	}
}

func TestAutoResolve(t *testing.T) {
	t.Parallel()
	s := newStory(t, "escalation: {auto_resolve: {blocked: false}}\n")
	s.escalates(environment)
	s.push()
	s.passes()
	t.Run("S2-72 without auto_resolve a person closes it, and is told that it passes", func(t *testing.T) {
		i := s.issues()[0]
		if got := s.last(i.Number); i.State != "open" || !strings.Contains(got, "a person closes this one") {
			t.Errorf("%s %q", i.State, got)
		}
		if contains(s.r.IssueLabels(t, s.number), "switchback:paused") {
			t.Error("the pull request is still paused")
		}
	})
	s.clean()
}
