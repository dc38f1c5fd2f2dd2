package render

import (
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/marker"
)

// playActs plays runs and what people did in between.
func playActs(t *testing.T, steps ...any) (routing.Case, routing.Decision) {
	t.Helper()
	c, now := routing.Case{Key: caseKey}, t0
	var last routing.Decision
	policy := func(string) routing.Policy { return routing.DefaultPolicy() }
	for _, s := range steps {
		now = now.Add(10 * time.Minute)
		var e routing.Event
		switch s := s.(type) {
		case routing.Verdict:
			last = routing.Decide(c, s, policy(""), now)
			e = routing.RunEvent(c.Key, s, last, now)
		case routing.HumanActed:
			s.Checkpoint = "unit"
			if err := c.Admit(s); err != nil {
				t.Fatal(err)
			}
			e = routing.HumanEvent(c.Key, s, now)
		}
		var err error
		var more []routing.Event
		if c, err = c.Apply(e); err == nil {
			c, more, err = routing.Release(c, policy, now)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range more {
			run, _ := e.Run()
			last = run.Decision
		}
	}
	return c, last
}

func named(n int, class routing.Class, names ...string) routing.Verdict {
	var fs []routing.Failure
	for _, name := range names {
		fs = append(fs, routing.Failure{Name: name, Class: class, Fingerprint: "fp:" + name, Message: "got 1", Kind: "assertion", File: "a.go", Line: 3})
	}
	return runOf(n, routing.Fail, class, fs...)
}

func has(t *testing.T, what, got string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if no, isNo := strings.CutPrefix(want, "!"); isNo == strings.Contains(got, strings.TrimPrefix(no, "!")) {
			t.Errorf("%s: %q\n%s", what, want, got)
		}
	}
}

func TestAnswersShown(t *testing.T) {
	t.Parallel()
	t.Run("quarantined failures are named as such and never hidden", func(t *testing.T) {
		c, d := playActs(t, named(1, routing.LogicError, "TestReal", "TestFlaky"), routing.HumanActed{Action: routing.HumanQuarantine, Test: "TestFlaky", By: "mona"})
		has(t, "comment", string(Comment(c, "unit", Options{})), "1 failure is in quarantine and does not count: `TestFlaky`", "`mona` put `TestFlaky` into quarantine", "| `TestReal`<br>", "!<code>TestFlaky")
		has(t, "summary", string(Summary(c, "unit", d, Options{})), "in quarantine and does not count: `TestFlaky`", "What people decided")
		k := Check(c, "unit", "", Options{})
		has(t, "check", k.Title+string(k.Summary), "1 in quarantine", "`TestFlaky`")
		if len(k.Annotations) != 1 || k.Annotations[0].Title != "TestReal" {
			t.Errorf("%+v", k.Annotations)
		}
		has(t, "Korean", string(Comment(c, "unit", Options{Language: Korean})), "격리된 실패 1건", "사람이 결정한 내용")
	})
	t.Run("a pass that only quarantine made says so", func(t *testing.T) {
		c, d := playActs(t, named(1, routing.LogicError, "TestFlaky"), routing.HumanActed{Action: routing.HumanQuarantine, Test: "TestFlaky", By: "mona"})
		k := Check(c, "unit", "", Options{})
		if k.Conclusion != "success" || k.Title != "Passed, 1 in quarantine" {
			t.Errorf("%s %q", k.Conclusion, k.Title)
		}
		has(t, "comment", string(Comment(c, "unit", Options{})), "passes", "does not count: `TestFlaky`", "(undone)", "!Fixed on the way")
		has(t, "summary", string(Summary(c, "unit", d, Options{})), "what failed is in quarantine")
	})
	t.Run("what will not be fixed fails its check and says who said so", func(t *testing.T) {
		c, _ := playActs(t, named(1, routing.EnvIssue, "TestNet"), routing.HumanActed{Action: routing.HumanWontFix, By: "mona"})
		k := Check(c, "unit", "", Options{})
		if k.Conclusion != "failure" || k.Title != "Will not be fixed: environment" {
			t.Errorf("%s %q", k.Conclusion, k.Title)
		}
		has(t, "comment", string(Comment(c, "unit", Options{})), "`mona` decided that this will not be fixed")
		has(t, "Korean", string(Comment(c, "unit", Options{Language: Korean})), "수정하지 않기로")
	})
	t.Run("a corrected class is shown with what it was", func(t *testing.T) {
		c, d := playActs(t, named(1, routing.EnvIssue, "TestNet"), routing.HumanActed{Action: routing.HumanWrong, Class: routing.LogicError, By: "mona"})
		has(t, "comment", string(Comment(c, "unit", Options{})), "it was: environment", "said that it is “wrong result”, not “environment”", "fix attempt 1 of 3")
		has(t, "summary", string(Summary(c, "unit", d, Options{})), "mona said that it is `LOGIC_ERROR`")
	})
	t.Run("a check that a person has answered waits for nobody", func(t *testing.T) {
		for action, want := range map[routing.HumanAction]string{routing.HumanResume: "failure", routing.HumanSkip: "neutral", routing.HumanRerun: "failure"} {
			c, _ := playActs(t, named(1, routing.EnvIssue, "TestNet"), routing.HumanActed{Action: action, By: "mona"})
			if k := Check(c, "unit", "", Options{}); k.Conclusion != want {
				t.Errorf("%s: %s %q", action, k.Conclusion, k.Title)
			}
		}
	})
	t.Run("a name calls nobody and breaks nothing", func(t *testing.T) {
		c, _ := playActs(t, named(1, routing.EnvIssue, "TestNet"), routing.HumanActed{Action: routing.HumanQuarantine, Test: "@all `x` <!-- y", By: "@mona"})
		body := Comment(c, "unit", Options{})
		has(t, "comment", string(body), string(markdown.Code("@mona")+" put "+markdown.Code("@all `x` <!-- y")+" into quarantine"))
		if m, ok := marker.Parse(string(body)); !ok || m.Key != CommentKey(caseKey, "unit") {
			t.Errorf("the marker is %q", m.Key)
		}
	})
}
