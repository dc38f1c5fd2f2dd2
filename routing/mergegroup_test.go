package routing_test

import (
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/history"
)

const queue = "gh-readonly-queue/release/1.x/pr-12-4b6fe3a"

// inGroup returns v as a verdict of a merge group.
func inGroup(v routing.Verdict, pulls ...routing.GroupPull) routing.Verdict {
	v.Group = &routing.MergeGroup{Branch: queue, Base: "release/1.x", Pulls: pulls}
	return v
}

func pull(n int, passes bool) routing.GroupPull {
	return routing.GroupPull{Number: n, Head: "h", Passes: passes, Told: true}
}

func TestParseQueueBranch(t *testing.T) {
	t.Parallel()
	base, n, sha, ok := routing.ParseQueueBranch(queue)
	if base != "release/1.x" || n != 12 || sha != "4b6fe3a" || !ok {
		t.Errorf("S5-90: %q, %d, %q, %v", base, n, sha, ok)
	}
	for _, name := range []string{"main", "gh-readonly-queue/pr-1-a", "gh-readonly-queue/main/1", "gh-readonly-queue/main/pr-0-a", "gh-readonly-queue/main/pr-x"} {
		if _, _, _, ok := routing.ParseQueueBranch(name); ok {
			t.Errorf("S5-90: %q is taken for a merge group", name)
		}
	}
}

func TestMergeGroupDecisions(t *testing.T) {
	t.Parallel()
	c := routing.Case{Key: "acme/app@" + queue}
	base := record(t, routing.Case{Key: "acme/app@release/1.x"}, failing("a", 1, "old"))
	onBase := func(v routing.Verdict) routing.Verdict { return v.Against(base, history.MergeBase{SHA: "a"}, nil) }
	env := failing("g", 9, "x")
	env.Class = routing.EnvIssue
	unclear := failing("g", 9)
	unclear.Result = routing.Unclear
	partial := inGroup(failing("g", 9, "x"), pull(11, true), pull(12, true))
	partial.Group.Partial = true
	gone := inGroup(unclear, pull(12, true))
	gone.Group.Gone = true
	cut := inGroup(failing("g", 9, "x"), pull(12, true))
	cut.Group.Gone = true
	two := []routing.GroupPull{pull(11, true), pull(12, true)}
	for name, x := range map[string]struct {
		v      routing.Verdict
		kind   routing.Kind
		reason string
	}{
		"S5-92 each passes alone":              {inGroup(failing("g", 9, "x"), two...), routing.KindInteraction, "each of #11, #12 passes alone"},
		"S5-92 the only one passes alone":      {inGroup(failing("g", 9, "x"), pull(12, true)), routing.KindInteraction, "#12 passes alone, and fails merged into release/1.x"},
		"S5-94 one does not pass alone":        {inGroup(failing("g", 9, "x"), pull(11, false), pull(12, true)), routing.KindGroupFailed, "one of #11, #12"},
		"S5-94 not all of them are known":      {partial, routing.KindGroupFailed, "one of #11, #12"},
		"S5-94 none of them is known":          {inGroup(failing("g", 9, "x")), routing.KindGroupFailed, queue},
		"S5-92 an environment is none's":       {inGroup(env, two...), routing.KindGroupFailed, "one of #11, #12"},
		"S5-92 an unclear run says nothing":    {inGroup(unclear, two...), routing.KindGroupFailed, "one of #11, #12"},
		"S5-92 the base fails too":             {onBase(inGroup(failing("g", 9, "old"), two...)), routing.KindPreExisting, "also stands on release/1.x"},
		"S5-92 the base fails a part of it":    {onBase(inGroup(failing("g", 9, "old", "x"), two...)), routing.KindInteraction, "each of #11, #12"},
		"S5-90 a green group":                  {inGroup(failing("g", 9), two...), routing.KindPass, ""},
		"S5-93 its branch was deleted":         {gone, routing.KindNone, "its branch was deleted"},
		"S5-93 a test failed, and it is gone":  {cut, routing.KindInteraction, "#12 passes alone"},
		"S5-91 a limit of none returns no run": {inGroup(failing("g", 9, "x"), pull(11, false)), routing.KindGroupFailed, "#11 merged into release/1.x"},
	} {
		d := decide(c, x.v)
		if d.Kind != x.kind || d.Iteration != 0 || !strings.Contains(d.Reason, x.reason) {
			t.Errorf("%s: %s (%s), iteration %d: %s", name, d.Kind, d.Rule, d.Iteration, d.Reason)
		}
		for _, e := range d.Effects { // S5-91
			if e.Kind != routing.EffectSection && e.Kind != routing.EffectCheck {
				t.Errorf("%s: effect %s", name, e.Kind)
			}
		}
		if want := len(x.v.Group.Pulls) + 1; x.kind != routing.KindNone && len(d.Effects) != want {
			t.Errorf("S5-90 %s: %d effects, want %d", name, len(d.Effects), want)
		}
		after := record(t, c, x.v)
		if cp := after.Checkpoints["ci"]; cp.Retries != 0 || len(cp.Returned) != 0 || cp.Escalation != nil {
			t.Errorf("S5-91 %s: %d fix attempts", name, cp.Retries)
		}
	}
}

// A second run of a group's commit brings what was said up to date; a group never waits for needs, and
// starts neither dependents nor a reviewer.
func TestMergeGroupAgain(t *testing.T) {
	t.Parallel()
	c := record(t, routing.Case{Key: "acme/app@" + queue}, inGroup(failing("g", 9, "x"), pull(11, true), pull(12, true)))
	again := decide(c, inGroup(failing("g", 10, "x"), pull(11, true), pull(12, true)))
	if again.Kind != routing.KindInteraction || !again.Again || len(again.Effects) != 3 {
		t.Errorf("S5-90: %+v", again)
	}
	if same := decide(c, inGroup(failing("g", 9, "x"), pull(11, true))); !same.Repeated {
		t.Errorf("S5-90 a run is counted twice: %+v", same)
	}
	p := routing.DefaultPolicy()
	p.Checkpoints, p.Needs, p.Reviewer, p.RunReviewerOnPass = []string{"ci", "e2e"}, map[string][]string{"e2e": {"ci"}, "ci": {"lint"}}, true, true
	if d := routing.Decide(c, inGroup(failing("g", 11), pull(11, true)), p, time.Unix(5000, 0)); d.Kind != routing.KindPass || len(d.Ready) != 0 || len(d.Effects) != 2 {
		t.Errorf("S5-91: %+v", d)
	}
}

func TestMergeGroupEnded(t *testing.T) {
	t.Parallel()
	env := failing("g", 9)
	env.Result, env.Class = routing.Fail, routing.EnvIssue
	for _, x := range []struct {
		ended string
		v     routing.Verdict
		kind  routing.Kind
	}{
		{routing.GroupInvalidated, failing("g", 9, "x"), routing.KindNone},
		{routing.GroupDequeued, failing("g", 9, "x"), routing.KindInteraction},
		{routing.GroupDequeued, env, routing.KindNone},
		{"", env, routing.KindGroupFailed},
	} {
		c := routing.Case{Key: "acme/app@" + queue}
		for _, noted := range []routing.GroupNoted{{Base: "release/1.x", SHA: "g"}, {Ended: x.ended}} {
			c = apply(t, c, routing.GroupEvent(c.Key, noted, time.Unix(9, 0)))
		}
		d := decide(c, inGroup(x.v, pull(12, true)))
		if d.Kind != x.kind || d.Kind == routing.KindNone && len(d.Effects) != 0 {
			t.Errorf("S5-93 ended %q: %s (%s), %d effects", x.ended, d.Kind, d.Rule, len(d.Effects))
		}
		if c.Noted.Base != "release/1.x" || c.Noted.Ended != x.ended {
			t.Errorf("S5-93: %+v", c.Noted)
		}
	}
}

// The case of a pull request knows what the newest of its groups came to, once.
func TestMergeGroupOfPullRequest(t *testing.T) {
	t.Parallel()
	group := record(t, routing.Case{Key: "acme/app@" + queue}, inGroup(failing("g", 9, "x", "y"), pull(11, true), pull(12, true)))
	ran, ok := routing.GroupResult(group, "ci")
	if !ok || ran.Kind != routing.KindInteraction || len(ran.Failures) != 2 || ran.Failed != 2 {
		t.Fatalf("S5-90: %+v, %v", ran, ok)
	}
	pr := record(t, routing.Case{Key: "acme/app#12"}, failing("h", 1))
	pr.Pending = nil
	told := apply(t, pr, routing.GroupRanEvent(pr.Key, ran, time.Unix(9, 0)))
	if len(told.Pending) != 1 || told.Pending[0].Kind != routing.EffectComment || told.Generation != pr.Generation+1 {
		t.Errorf("S5-90: %+v", told.Pending)
	}
	if cp := told.Checkpoints["ci"]; cp.Retries != 0 || cp.State != routing.Completed {
		t.Errorf("S5-91: %+v", cp)
	}
	if ran.NewsOf(told) {
		t.Error("S5-90: it is told twice")
	}
	older := ran
	older.Group.Branch, older.Run.ID = "gh-readonly-queue/main/pr-12-0", "8"
	newer := ran
	newer.Group.Branch, newer.Run.ID = "gh-readonly-queue/main/pr-12-1", "10"
	if older.NewsOf(told) || !newer.NewsOf(told) {
		t.Error("S5-90: an older group replaces a newer one")
	}
	if told.Groups["ci"].Stale(told) {
		t.Error("S5-90: the group of the newest commit is stale")
	}
	if pushed := record(t, told, failing("i", 20, "z")); !pushed.Groups["ci"].Stale(pushed) {
		t.Error("S5-90: the group of an earlier commit is not")
	}
	if got := strings.Join(ran.Group.Numbers(), " "); got != "#11 #12" {
		t.Errorf("S5-94: %q", got)
	}
}
