package github

import (
	"fmt"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/e2e"
)

func TestAcks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	n := w.issue(t)
	var posted struct{ ID int64 }
	w.repo.Must(t, "POST", fmt.Sprintf("/issues/%d/comments", n), map[string]any{"body": "please fix"}, &posted)
	look := func(login string, since time.Time) string {
		a, found, err := w.Acks.Find(t.Context(), w.r, n, posted.ID, login, since)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%v %v %s", found, a.Reaction, a.Login)
	}
	before, after := time.Now().Add(-time.Minute), time.Now().Add(time.Minute)
	if got := look("nobody", before); got != "false false " {
		t.Errorf("S5-81 nobody: %s", got)
	}
	if got := look("@"+e2e.Owner, before); got != "true false "+e2e.Owner {
		t.Errorf("S5-81 a comment of the login: %s", got)
	}
	if got := look(e2e.Owner, after); got != "false false " {
		t.Errorf("S5-81 a comment from before the worker was told: %s", got)
	}
	if err := w.Comments.React(t.Context(), w.r, posted.ID); err != nil {
		t.Fatal(err)
	}
	if got := look(e2e.SwitchbackBot, after); got != "true true "+e2e.SwitchbackBot {
		t.Errorf("S5-81 a reaction: %s", got)
	}
	for author, same := range map[string]bool{"Claude": true, "claude[bot]": true, "claude2": false, "": false} {
		if SameLogin(author, "@claude") != same {
			t.Errorf("S5-81 %q is @claude: %v", author, !same)
		}
	}
}

// A client whose clock is wrong has GitHub's time from its responses.
func TestTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	o := options(w.clock, w.b.URL, "")
	wrong := time.Now().Add(-5 * time.Minute)
	o.Now = func() time.Time { return wrong }
	h, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if got := h.Time(); !got.Equal(wrong) {
		t.Errorf("before any response: %v", got)
	}
	w.view.Ahead(time.Hour)
	_, _ = h.Repositories.DefaultBranch(t.Context(), w.r)
	if d := h.Time().Sub(time.Now().Add(time.Hour)).Abs(); d > 10*time.Second {
		t.Errorf("S5-82: %v off", d)
	}
}
