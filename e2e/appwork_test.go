package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// reached waits until a request is held.
func (s *served) reached(h *Hold) Request {
	s.t.Helper()
	select {
	case q := <-h.Reached:
		return q
	case <-s.app.gone:
		s.t.Fatalf("the server ended before the request was made\n%s", s.app.Log())
	case <-time.After(2 * time.Minute):
		s.t.Fatalf("the request was not made\n%s", s.app.Log())
	}
	return Request{}
}

// again is another repository that the same server works in.
func (s *served) again(config string) *served {
	s.t.Helper()
	v := &served{newStory(s.t, config), s.app}
	v.r.Grant(s.t, Writer, "push")
	v.receive()
	return v
}

// called fails the test unless there is one escalation.
func (s *served) called() {
	s.t.Helper()
	s.app.Idle()
	s.wantSticky("TestAdd")
	if i := s.onlyIssue(); i.State != "open" || i.User.Login != SwitchbackBot {
		s.t.Errorf("issue %+v", i)
	}
	if c := s.r.CheckRuns(s.t, s.sha); len(c) != 1 || c[0].Conclusion != "action_required" {
		s.t.Errorf("checks %+v", c)
	}
	if got := s.r.IssueLabels(s.t, s.number); !contains(got, "switchback:paused") {
		s.t.Errorf("labels %v", got)
	}
	s.clean()
}

func TestAppKilled(t *testing.T) {
	t.Parallel()
	const config = "reports: [\"**/report.xml\"]\nmax_iterations: 0\n"
	s := newServed(t, config)
	for i, p := range []struct {
		n    int
		when When
	}{{1, After}, {2, Before}, {4, After}} {
		if i > 0 {
			s = s.again(config)
		}
		h := s.view.HoldAt(p.n, p.when, writes)
		d := s.ran(failing("TestAdd"), "failure")
		q := s.reached(h)
		s.app.Kill()
		h.Release()
		s.app.Start()
		t.Run(fmt.Sprintf("killed at write %d (%s) and started again, nothing is lost and nothing done twice", p.n, q.Method), func(t *testing.T) {
			s.called()
			s.twice(d)
		})
	}
	t.Run("killed while deliveries arrive, those that were answered are worked on", func(t *testing.T) {
		s := s.again(config)
		h := s.view.HoldAt(1, Before, func(q Request) bool { return q.Method == "GET" })
		first := s.ran(failing("TestAdd"), "failure")
		s.reached(h)
		s.r.Comment(t, Writer, s.number, "/switchback help")
		s.heard("issue_comment", "created", Writer)
		s.app.Kill()
		h.Release()
		if code := s.app.Again(first); code != http.StatusBadGateway {
			t.Errorf("a dead server answers %d", code)
		}
		s.app.Start()
		s.app.Idle()
		if code := s.app.Again(first); code != http.StatusAccepted {
			t.Errorf("%d", code)
		}
		s.app.Idle()
		got := s.mine(s.number)
		if len(got) != 2 || !strings.Contains(strings.Join(got, ""), "TestAdd") || !strings.Contains(strings.Join(got, ""), "/switchback retry") {
			t.Errorf("%q", got)
		}
	})
}

func TestAppStops(t *testing.T) {
	t.Parallel()
	s := newServed(t, appConfig)
	h := s.view.HoldAt(1, Before, writes)
	s.ran(failing("TestAdd"), "failure")
	s.reached(h)
	t.Run("told to stop it takes nothing more, and ends what it is at", func(t *testing.T) {
		s.app.Signal(syscall.SIGTERM)
		s.app.Until("it takes no more webhooks", func() bool {
			res, err := hookClient.Get(s.app.URL + "/readyz")
			if err != nil {
				return true
			}
			defer res.Body.Close()
			return res.StatusCode != http.StatusOK
		})
		h.Release()
		<-s.app.gone
		if state := s.app.cmd.ProcessState; !state.Success() {
			t.Errorf("%v", state)
		}
		if got := s.mine(s.number); len(got) != 1 || !strings.Contains(got[0], "1 of 1") {
			t.Errorf("%q", got)
		}
	})
	t.Run("told twice it ends at once, and goes on when it is started again", func(t *testing.T) {
		s.app.Start()
		s.push()
		h := s.view.HoldAt(1, Before, writes)
		s.ran(failing("TestAdd"), "failure")
		s.reached(h)
		s.app.Signal(syscall.SIGTERM)
		s.app.Until("it stops", func() bool { return strings.Contains(s.app.Log(), "msg=stopping") })
		s.app.Signal(syscall.SIGTERM)
		<-s.app.gone // the request is still held
		h.Release()
		s.app.Start()
		s.called()
	})
}

// Of many runs of one case that wait, the newest state is posted.
func TestAppOvertaken(t *testing.T) {
	t.Parallel()
	s := newServed(t, strings.Replace(appConfig, "max_iterations: 1", "max_iterations: 9", 1))
	h := s.view.HoldAt(1, Before, func(q Request) bool { return q.Method == "GET" })
	const runs = 6
	s.ran(failing("TestAdd"), "failure")
	s.reached(h)
	for range runs - 1 {
		s.push()
		s.ran(failing("TestAdd", "TestSub"), "failure")
	}
	s.view.Reset()
	h.Release()
	s.app.Idle()
	posts := 0
	for _, q := range s.view.Content() {
		if strings.Contains(q.Path, "/comments") {
			posts++
		}
	}
	if posts != 1 {
		t.Errorf("%d writes of the comment for %d runs:\n%s", posts, runs, list(s.view))
	}
	if n := s.app.Metric("switchback_deliveries_overtaken_total"); n != runs-1 {
		t.Errorf("%v deliveries were overtaken, want %d", n, runs-1)
	}
	if n := s.app.Metric("switchback_decisions_total"); n != runs {
		t.Errorf("%v decisions for %d runs", n, runs)
	}
	s.wantSticky("TestSub")
	s.clean()
}
