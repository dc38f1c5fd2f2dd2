package render

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
)

// A workflow with `contains(github.event.comment.body, '@claude')` reads a body as it is, whatever is
// quoted in it, and without regard to case.
func TestHandlesOfStrangers(t *testing.T) {
	t.Parallel()
	const bait = "please @Claude-dev, @claude do it; @ACME/bots @@claude mail a@claude.example but @other"
	f := routing.Failure{
		Name: bait, Suite: bait, File: "a/@claude/b.py", Line: 3, Kind: bait, Message: bait, Expected: bait, Actual: "x " + bait, Trace: bait + "\n" + bait, Suggestion: bait,
		Class: routing.LogicError, Fingerprint: "@claude", Evidence: []routing.Evidence{{Line: 1, Text: bait, Signal: bait}},
		Excerpt: &routing.Excerpt{File: "@claude.go", Start: 1, Mark: 1, Lines: []string{bait, bait}},
	}
	v := runOf(1, routing.Fail, routing.LogicError, f)
	v.Checkpoint, v.Reason, v.Notes, v.Workflows = "@claude", bait, []string{bait}, []string{".github/workflows/@claude.yml"}
	w := v
	w.Run.ID, w.Run.SHA = "2", commit(2)
	green := runOf(3, routing.Pass, "")
	green.Checkpoint, green.Unmet = v.Checkpoint, []string{bait}
	for _, lang := range []Language{English, Korean} {
		for _, vs := range [][]routing.Verdict{{v}, {v, w}, {v, green}} {
			c := play(t, routing.DefaultPolicy(), vs...)
			o := Options{Handles: []string{"claude", "acme/bots"}, Mention: "@octocat", Language: lang, HandoffNote: bait, Approval: &Approval{What: []string{bait}, Role: "write"}}
			e := routing.Effect{Kind: routing.EffectHandoff, Checkpoint: v.Checkpoint, Target: bait}
			for name, body := range map[string]string{
				"comment": string(Comment(c, v.Checkpoint, o)), "issue": string(IssueBody(c, v.Checkpoint, o)), "feedback": string(Feedback(c, v.Checkpoint, 1, o)),
				"check": string(Check(c, v.Checkpoint, "", o).Summary) + string(Check(c, v.Checkpoint, "", o).Title), "packet": string(Packet(c, v.Checkpoint, o)), "status": string(Status(c, o)), "hand-off": string(Handoff(c, e, o, "7", 12)),
				"fixed": string(Fixed(c, v.Checkpoint, o)), "leftover": string(Leftover(c, v.Checkpoint, o)), "reopened": string(Reopened(c, v.Checkpoint, o)), "lost": string(Lost(v.Checkpoint, "deleted", o)),
				"not done": string(NotDone(bait, routing.Refuse("x", "{a}", "a", bait), o)), "title": o.Unmentioned(bait),
			} {
				if low := strings.ToLower(body); strings.Contains(low, "@claude") || strings.Contains(low, "@acme/bots") {
					i := max(0, strings.Index(low, "@claude")-80)
					t.Errorf("S6-4 %s: a stranger's text triggers: %q", name, body[i:min(len(body), i+200)])
				}
			}
			if got := string(Handoff(c, e, Options{Handles: o.Handles, Mention: "@claude"}, "", 12)); !strings.HasPrefix(got, "@claude ") || strings.Count(got, "@claude") != 1 {
				t.Errorf("S6-4 our own mention: %s", got)
			}
		}
		if c := string(Comment(play(t, routing.DefaultPolicy(), v), v.Checkpoint, Options{Handles: []string{"claude"}, Mention: "@octocat", Language: lang})); !strings.Contains(c, "(at)Claude-dev") || !strings.Contains(c, "@other") || !strings.Contains(c, "@octocat") {
			t.Errorf("S6-4 unreadable: %s", c)
		}
	}
	var p struct {
		Failures []struct{ Name, Message string }
	}
	if err := json.Unmarshal(Packet(play(t, routing.DefaultPolicy(), v), v.Checkpoint, Options{Handles: []string{"claude"}}), &p); err != nil || len(p.Failures) != 1 || p.Failures[0].Message != bait {
		t.Errorf("S6-4 a worker reads what the test said: %v %+v", err, p)
	}
}

func TestCommentOfAWaitingHandoff(t *testing.T) {
	t.Parallel()
	p := routing.DefaultPolicy()
	p.ApproveHandoff = true
	c := play(t, p, runOf(1, routing.Fail, routing.LogicError, coupon()))
	o := Options{Repo: "acme/shop", Mention: "@stranger", Approval: &Approval{What: []string{"claude", "fix.yml"}, Role: "write"}}
	for lang, want := range map[Language][]string{
		English: {"@stranger please fix", "`claude`, `fix.yml` waits", "the permission `write` releases it for commit [`" + commit(1)[:7] + "`]", "`/switchback handoff unit`"},
		Korean:  {"@stranger", "`claude`, `fix.yml`", "`write` 권한이 있는 사람이 `/switchback handoff unit`", "[`" + commit(1)[:7] + "`]"},
	} {
		o.Language = lang
		got := string(Comment(c, "unit", o))
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("S6-4 %s lacks %q:\n%s", lang, w, got)
			}
		}
		inert(t, Comment(c, "unit", o), o)
	}
}
