package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/database/pgtest"
)

// askedBefore is a repository in which a workflow asked people a while ago. Of
// the App's reconcile its first comment is held.
func askedBefore(t *testing.T, ago time.Duration, when When) (*asking, *Hold) {
	t.Helper()
	s := newAsking(t, "acts: app\nfeedback: {timeout: 48h}\n")
	s.now = s.now.Add(-ago)
	s.open()
	return s, s.view.HoldAt(1, when, func(q Request) bool { return q.Method == "POST" && strings.HasSuffix(q.Path, "/comments") })
}

// heard are the App's comments below the issue.
func (s *asking) heard() []string {
	s.t.Helper()
	var out []string
	for _, c := range s.r.Comments(s.t, s.issue().Number) {
		if c.User.Login == SwitchbackBot {
			out = append(out, c.Body)
		}
	}
	return out
}

// reconciles returns which of the replicas has the work of the survey: its process
// stands in the register.
func (s *asking) reconciles(all []*Served) *Served {
	s.t.Helper()
	owner := s.register().Surveys[0].Lease.Owner
	i := slices.IndexFunc(all, func(x *Served) bool { return strings.Contains(owner, fmt.Sprintf("/%d/", x.cmd.Process.Pid)) })
	if i < 0 {
		s.t.Fatalf("%q is none of the replicas", owner)
	}
	return all[i]
}

// Surveys are reminded of and ended by the timers of three replicas.
func TestAppTimers(t *testing.T) {
	t.Parallel()
	bin, err := switchback()
	if err != nil {
		t.Fatal(err)
	}
	reminded, told := askedBefore(t, 30*time.Hour, After)
	ended, tells := askedBefore(t, 49*time.Hour, Before)
	url := pgtest.URL(t)
	var all []*Served
	for range 3 {
		all = append(all, reminded.b.Serve(t, bin, url, "SWITCHBACK_RECONCILE=1s"))
	}
	one := all[0]
	for _, s := range []*asking{reminded, ended} {
		s.r.Install(firstInstall + int(s.r.ID)) // of one installation a second write would wait for the first
		s.r.Deliver(one.URL + "/webhook")
		if d := s.r.Send(t, "push", map[string]any{"ref": "refs/heads/main"}); d.Status != http.StatusAccepted {
			t.Fatalf("answered with %d", d.Status)
		}
	}
	for s, h := range map[*asking]*Hold{reminded: told, ended: tells} {
		select {
		case <-h.Reached:
		case <-time.After(2 * time.Minute):
			t.Fatalf("no replica comments\n%s\n%s", list(s.view), one.Log())
		}
	}
	reminded.reconciles(all).Kill()
	ended.reconciles(all).Kill()
	told.Drop()
	tells.Drop()
	live := slices.DeleteFunc(slices.Clone(all), func(x *Served) bool {
		select {
		case <-x.gone:
			return true
		default:
			return false
		}
	})
	done := func(s *asking) bool { return len(s.register().Surveys[0].Pending) == 0 }
	live[0].Until("the others have done it", func() bool { return done(reminded) && done(ended) })
	for _, x := range all {
		if !slices.Contains(live, x) {
			x.Start()
		}
	}
	n := len(reminded.view.Requests())
	one.Until("it was reconciled again, twice", func() bool {
		reads := slices.DeleteFunc(reminded.view.Requests()[n:], func(q Request) bool { return !strings.HasSuffix(q.Path, "/git/trees/switchback-ledger") })
		return len(reads) >= 3
	})
	t.Run("S1-41 one reminder, whoever was killed when it was posted", func(t *testing.T) {
		if got := reminded.heard(); len(got) != 1 || reminded.issue().State != "open" {
			t.Errorf("%s %q", reminded.issue().State, got)
		}
	})
	t.Run("S1-37..40 one timeout, whoever was killed before it was told", func(t *testing.T) {
		got, r := ended.heard(), ended.register()
		if len(got) != 1 || !strings.Contains(got[0], "timeout_fallback") || ended.issue().State != "closed" || len(r.Feedback) != 0 || !r.Surveys[0].TimedOut {
			t.Errorf("%s %q", ended.issue().State, got)
		}
	})
	reminded.clean()
	ended.clean()
}
