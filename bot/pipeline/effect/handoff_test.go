package effect

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/routing"
)

// starts is a hub that knows dispatches and nothing else.
type starts struct {
	Dispatches
	inputs []map[string]string
}

func (s *starts) hub() Hub { return Hub{Dispatches: s} }

func (s *starts) StartWorkflow(_ context.Context, _ github.Repo, _, _ string, in map[string]string) error {
	s.inputs = append(s.inputs, in)
	return nil
}

func (s *starts) HasRunSince(_ context.Context, _ github.Repo, _ string, _ time.Time, key string) (bool, error) {
	for _, in := range s.inputs {
		if in["key"] == key {
			return true, nil
		}
	}
	return false, nil
}

func failing(t *testing.T, c routing.Case, id, sha, test string) (routing.Case, routing.Effect) {
	t.Helper()
	v := routing.Verdict{
		Checkpoint: "ci", Run: routing.Run{Repository: "acme/app", ID: id, SHA: strings.Repeat(sha, 40)}, Result: routing.Fail, Class: routing.LogicError,
		Counts:   routing.Counts{Tests: 2, Passed: 1, Failed: 1},
		Failures: []routing.Failure{{Name: test, Class: routing.LogicError, Fingerprint: "v1:" + test, Message: "got 1, want 2", Suggestion: "fix " + test, Decisive: true}},
	}
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	d := routing.Decide(c, v, routing.DefaultPolicy(), now)
	next, err := c.Apply(routing.RunEvent(c.Key, v, d, now))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range d.Effects {
		if e.Kind == routing.EffectHandoff {
			return next, e
		}
	}
	t.Fatalf("no hand-off in %+v", d.Effects)
	return next, routing.Effect{}
}

func TestHandoffByWorkflow(t *testing.T) {
	t.Parallel()
	s := &starts{}
	var waited []time.Duration
	g := &GitHub{
		Hub: s.hub(), Repo: github.Repo{Owner: "acme", Name: "app"}, Subject: Subject{Number: 12, Author: "octocat", DefaultBranch: "main", Trusted: true},
		Config: config.File{Handoff: config.Handoffs{To: []config.Handoff{{Workflow: "fix.yml", Inputs: map[string]string{"model": "large"}}}}},
		Sleep:  func(_ context.Context, d time.Duration) error { waited = append(waited, d); return nil },
	}
	c, first := failing(t, routing.Case{Key: "acme/app#12"}, "1", "a", "TestOne")
	c, second := failing(t, c, "2", "b", "TestTwo")
	t.Run("S0-34 the worker is started again with its context and the feedback", func(t *testing.T) {
		if _, err := g.Do(t.Context(), c, second, true); err != nil {
			t.Fatal(err)
		}
		in := s.inputs[0]
		if len(s.inputs) != 1 || in["key"] != second.Key || in["key"] == first.Key || in["model"] != "large" {
			t.Fatalf("%+v", s.inputs)
		}
		var p struct {
			Case, Checkpoint, SHA string
			Iteration             int
			Failures              []struct{ Name, Message, Suggestion string }
			Changed               struct{ Fixed, New []string }
			History               []struct {
				Iteration int
				SHA       string
			}
		}
		if err := json.Unmarshal([]byte(in["packet"]), &p); err != nil {
			t.Fatal(err)
		}
		if p.Case != "acme/app#12" || p.Checkpoint != "ci" || p.Iteration != 2 || p.SHA != strings.Repeat("b", 40) {
			t.Errorf("%+v", p)
		}
		if len(p.Failures) != 1 || p.Failures[0].Name != "TestTwo" || p.Failures[0].Message != "got 1, want 2" || p.Failures[0].Suggestion != "fix TestTwo" {
			t.Errorf("feedback %+v", p.Failures)
		}
		if len(p.History) != 2 || p.History[0].SHA != strings.Repeat("a", 40) || len(p.Changed.New) != 1 {
			t.Errorf("context %+v, changed %+v", p.History, p.Changed)
		}
	})
	t.Run("S0-52 after the retry delay", func(t *testing.T) {
		if len(waited) != 1 || waited[0] != 5*time.Second {
			t.Errorf("waited %v", waited)
		}
	})
	if _, err := g.Do(t.Context(), c, second, false); err != nil || len(s.inputs) != 1 {
		t.Errorf("started a second time for one turn: %v, %d", err, len(s.inputs))
	}
}

// What is decided and what is sent are two barriers: an effect that was recorded before the
// configuration changed, or by another version, starts nobody either.
func TestStrangersStartNobody(t *testing.T) {
	t.Parallel()
	c, e := failing(t, routing.Case{Key: "acme/app#12"}, "1", "a", "TestOne")
	cp := c.Checkpoints["ci"]
	cp.Acts = append(cp.Acts, routing.Act{Action: routing.HumanHandoff, By: "maintainer", SHA: e.SHA})
	approved := routing.Case{Key: c.Key, Checkpoints: map[string]routing.Checkpoint{"ci": cp}}
	other := strings.Repeat("b", 40)
	for name, x := range map[string]struct {
		c       routing.Case
		forks   string
		subject Subject
		starts  int
	}{
		"unapproved":                         {c, "", Subject{Number: 12}, 0},
		"unapproved, said":                   {c, config.ForksApproved, Subject{Number: 12}, 0},
		"never, although approved":           {approved, config.ForksNever, Subject{Number: 12, Head: e.SHA}, 0},
		"approved":                           {approved, "", Subject{Number: 12, Head: e.SHA}, 1},
		"approved for a commit before":       {approved, "", Subject{Number: 12, Head: other}, 0},
		"always":                             {c, config.ForksAlways, Subject{Number: 12}, 1},
		"of people who may write":            {c, "", Subject{Number: 12, Trusted: true}, 1},
		"a branch, which only they may push": {c, config.ForksNever, Subject{Branch: "main"}, 1},
	} {
		t.Run("S6-4 "+name, func(t *testing.T) {
			t.Parallel()
			s := &starts{}
			g := &GitHub{
				Hub: s.hub(), Repo: github.Repo{Owner: "acme", Name: "app"}, Subject: x.subject, Sleep: func(context.Context, time.Duration) error { return nil },
				Config: config.File{
					Handoff:  config.Handoffs{Forks: x.forks, To: []config.Handoff{{Workflow: "fix.yml"}}},
					Reviewer: &config.Handoff{Workflow: "review.yml"}, Checkpoints: map[string]config.Checkpoint{"e2e": {Start: &config.Handoff{Workflow: "e2e.yml"}}},
				},
			}
			review, ready := e, e
			review.Kind, review.Key, ready.Kind, ready.Key, ready.Target = routing.EffectReview, "review", routing.EffectReady, "ready", "e2e"
			for _, e := range []routing.Effect{e, review, ready} {
				if _, err := g.Do(t.Context(), x.c, e, true); err != nil {
					t.Fatal(err)
				}
			}
			if len(s.inputs) != 3*x.starts {
				t.Errorf("%d of 3 workflows started", len(s.inputs))
			}
		})
	}
}
