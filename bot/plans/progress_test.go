package plans

import (
	"fmt"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/plan"
)

func TestShowProgress(t *testing.T) {
	t.Parallel()
	begin := func(plan string) (*site, *Runner) {
		s := newSite(t, plan)
		d := s.runner("1", 1)
		if _, err := d.Begin(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Issue().Show(t.Context()); err != nil {
			t.Fatal(err)
		}
		return s, d
	}
	live := func(d *Runner, id string, turn int) {
		t.Helper()
		if err := d.Issue().ShowProgress(t.Context(), id, turn); err != nil {
			t.Fatal(err)
		}
	}
	s, d := begin(document)
	shows := func(want string) {
		t.Helper()
		if body := s.world.issues[0].Body; !strings.Contains(body, want) {
			t.Errorf("%q is not in\n%s", want, body)
		}
	}
	t.Run("S2-96 a turn is shown, and an older one does not come back", func(t *testing.T) {
		live(d, "a", 2)
		shows("| `a` | 🔵 running | 2 |")
		live(d, "b", 1)
		live(d, "a", 1)
		shows("| `a` | 🔵 running | 2 |")
		shows("| `b` | 🔵 running | 1 |")
	})
	t.Run("the end is shown before the round ends, and the round takes it as it is", func(t *testing.T) {
		s.ran("1", "a", plan.Success, 2)
		live(d, "a", 0)
		shows("| `a` | ✅ passed | 2 |")
		s.ran("1", "b", plan.Running, 1)
		live(d, "b", 0)
		shows("| `b` | 🔵 running | 1 |")
		s.ran("1", "b", plan.Success, 1)
		r, err := d.Collect(t.Context(), "run-1", 1)
		s.is(r, err, "c", "a=passed", "b=passed", "c=running", "d=pending")
	})
	t.Run("another run's port, and one that was not handed out, change nothing", func(t *testing.T) {
		before := s.world.issues[0].Body
		live(s.runner("2", 1), "c", 1)
		live(d, "d", 1)
		if got := s.world.issues[0].Body; got != before {
			t.Errorf("%s", got)
		}
	})
	t.Run("of a large round no turn is shown", func(t *testing.T) {
		var text strings.Builder
		for i := range mostLive + 1 {
			fmt.Fprintf(&text, "- {id: p%d}\n", i)
		}
		s, d := begin(text.String())
		before := s.world.issues[0].Body
		live(d, "p1", 2)
		if got := s.world.issues[0].Body; got != before {
			t.Errorf("%s", got)
		}
	})
}
