package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
)

// ranInGroup returns c after a merge group of #12 and #13 has failed by fs.
func ranInGroup(t *testing.T, c routing.Case, kind routing.Kind, fs ...routing.Failure) routing.Case {
	t.Helper()
	v := runOf(1, routing.Fail, routing.LogicError, fs...)
	e := routing.GroupRan{
		Checkpoint: v.Checkpoint, Kind: kind, Run: v.Run, Result: v.Result, Class: v.Class, Counts: v.Counts, Failures: fs, Failed: len(fs), Generation: c.Generation + 1,
		Group: routing.MergeGroup{Branch: "gh-readonly-queue/main/pr-13-a", Base: "@main", Pulls: []routing.GroupPull{{Number: 12, Head: commit(1)}, {Number: 13}}},
	}
	c, err := c.Apply(routing.GroupRanEvent(c.Key, e, c.Updated))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestS5_90_MergeGroupSection is S5-90 and S5-94: the comment of a case, or of a checkpoint, tells first
// what the merge group came to, in few enough bytes, and accuses nobody.
func TestS5_90_MergeGroupSection(t *testing.T) {
	t.Parallel()
	bare := routing.Case{Key: caseKey}
	passed := play(t, routing.DefaultPolicy(), runOf(1, routing.Pass, ""))
	for name, c := range map[string]routing.Case{"alone": bare, "beside a checkpoint": passed} {
		c = ranInGroup(t, c, routing.KindGroupFailed, coupon(), missing())
		checkpoint := runOf(1, routing.Pass, "").Checkpoint
		for of, body := range map[string]md{"case": caseComment(c, options()), "checkpoint": Comment(c, checkpoint, options())} {
			text := string(body)
			if !strings.HasPrefix(text, "### 🚦") || !strings.Contains(text, `One of \#12, \#13`) || strings.Contains(text, "@main") && !strings.Contains(text, "`@main`") {
				t.Errorf("S5-94 %s, comment of a %s:\n%s", name, of, text)
			}
			if n := strings.Count(text, "<!-- switchback"); n != 1 || !strings.HasSuffix(strings.TrimSpace(text), "-->") {
				t.Errorf("S5-90 %s, comment of a %s: %d markers", name, of, n)
			}
		}
		o := options()
		o.Limit = 1500
		for i := range 40 {
			o.Language = []Language{English, Korean}[i%2]
			c = ranInGroup(t, c, routing.KindInteraction, coupon(), missing(), routing.Failure{Name: fmt.Sprint("T", i), Message: strings.Repeat("x", 3000)})
			if n := len(caseComment(c, o)); n > o.Limit {
				t.Errorf("S5-90 %s: %d bytes", name, n)
			}
		}
	}
	pushed := ranInGroup(t, passed, routing.KindInteraction, coupon())
	for name, g := range pushed.Groups {
		g.Group.Pulls[0].Head = commit(9)
		g.Group.Pulls[0].Number = number(t, pushed.Key)
		pushed.Groups[name] = g
	}
	if text := string(caseComment(pushed, options())); strings.Contains(text, "🚦") || !strings.Contains(text, "with an earlier commit of this pull request") {
		t.Errorf("S5-90 a group of an earlier commit:\n%s", text)
	}
}

func number(t *testing.T, key string) (n int) {
	t.Helper()
	_, digits, _ := strings.Cut(key, "#")
	if _, err := fmt.Sscan(digits, &n); err != nil {
		t.Fatal(err)
	}
	return n
}
