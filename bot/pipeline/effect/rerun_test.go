package effect

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
)

// asked returns a case whose newest run is to be run again, and the effect.
func asked(n int) (routing.Case, routing.Effect) {
	last := routing.Run{Repository: "acme/app", ID: fmt.Sprint(n), Attempt: 1}
	cp := routing.Checkpoint{Name: "ci", Last: last, Runs: map[string]routing.RunState{last.Key(): {Decision: routing.Decision{Kind: routing.KindRerun}, Decided: true}}}
	key := fmt.Sprint("acme/app#", n)
	return routing.Case{Key: key, Checkpoints: map[string]routing.Checkpoint{"ci": cp}},
		routing.Effect{Kind: routing.EffectRerun, Key: key + "/ci/rerun", Checkpoint: "ci", Target: fmt.Sprint(n, "/1")}
}

func TestRerunWithinAnHourS5_33(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)
	led := &ledger.Memory{}
	h := &runs{}
	g := &GitHub{Hub: h.hub(), Repo: github.Repo{Owner: "acme", Name: "app"}, Ledger: led, Now: func() time.Time { return now }}
	refused := 0
	for n := 1; n <= mostReruns+3; n++ {
		c, e := asked(n)
		for range 2 { // as after a process that was ended before it recorded the effect
			h.attempt = 1
			ref, err := g.Do(t.Context(), c, e, false)
			if err != nil {
				t.Fatal(err)
			}
			if ref != "" {
				refused++
			}
		}
	}
	if refused != 2*3 || len(h.rerun) != 2*mostReruns {
		t.Errorf("S5-33: %d run again, %d refused", len(h.rerun), refused)
	}
	now = now.Add(time.Hour)
	h.attempt = 1
	c, e := asked(99)
	if ref, err := g.Do(t.Context(), c, e, false); err != nil || ref != "" {
		t.Errorf("S5-33: an hour later: %q, %v", ref, err)
	}
}

func TestRerunRefusedS5_34(t *testing.T) {
	t.Parallel()
	c, e := asked(7)
	for kind, told := range map[advice.Kind]bool{advice.Fail: true, advice.Gone: true, advice.Later: false} {
		h := &runs{attempt: 1, refuses: &github.Error{Kind: kind, Message: "Resource not accessible by integration"}}
		g := &GitHub{Hub: h.hub(), Repo: github.Repo{Owner: "acme", Name: "app"}, Subject: Subject{Number: 7}, Ledger: &ledger.Memory{}}
		ref, err := g.Do(t.Context(), c, e, false)
		if (err == nil) != told || strings.HasPrefix(ref, "refused") != told || (len(h.posts) == 1) != told {
			t.Errorf("S5-34: %s: %q, %v, posts %q", kind, ref, err, h.posts)
		}
		if told && (!strings.Contains(h.posts[0], "actions: write") || !strings.Contains(h.posts[0], "returned at once")) {
			t.Errorf("S5-34: %q", h.posts[0])
		}
	}
}
