package e2e

import (
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/server/queue"
)

// The App is taken from a repository while it posts there, and no server runs when
// that is told.
func TestAppTakenAwayUnheard(t *testing.T) {
	t.Parallel()
	s := newServed(t, appConfig, "SWITCHBACK_RECONCILE=1s")
	id, next := firstInstall+int(s.r.ID), 700_000+int(s.r.ID)
	s.r.Install(id)
	s.ran(failing("TestAdd"), "failure")
	s.app.Idle()
	before := s.mine(s.number)
	s.push()
	h := s.view.HoldAt(1, Before, func(q Request) bool { return q.Method == "PATCH" && strings.Contains(q.Path, "/comments/") })
	s.ran(failing("TestAdd"), "failure")
	s.reached(h)
	s.b.SetInstall(id, "deleted")
	s.app.Kill()
	h.Release()
	s.app.Start()
	st, err := queue.OpenBeside(t.Context(), "", s.app.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	s.app.Until("it is found that the App is not there any more", func() bool {
		r, known, err := st.Repositories.Get(t.Context(), s.r.ID)
		return err == nil && known && r.Gone
	})
	if got := s.mine(s.number); strings.Join(got, "") != strings.Join(before, "") {
		t.Fatalf("something was posted: %q", got)
	}
	s.r.Install(next)
	s.r.Send(t, "installation", map[string]any{"action": "created", "installation": map[string]any{"id": next},
		"repositories": []any{map[string]any{"id": s.r.ID, "full_name": s.r.FullName}}})
	s.app.Until("what was being posted is posted after all", func() bool {
		got := s.mine(s.number)
		return len(got) == 1 && got[0] != before[0]
	})
	s.app.Idle()
	s.clean()
}
