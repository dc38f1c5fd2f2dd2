package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/server/queue"
)

// stands returns the status of a delivery in the App's queue.
func (s *story) stands(d Delivery) queue.Status {
	s.t.Helper()
	st, known, err := sharedApp.store.Deliveries.Find(s.t.Context(), d.GUID)
	if err != nil || !known {
		s.t.Fatalf("%s %s: %v", d.Event, d.GUID, err)
	}
	return st
}

// comes waits until a delivery is as it is wanted.
func (s *story) comes(d Delivery, state queue.State) (st queue.Status) {
	s.t.Helper()
	s.by.Until(fmt.Sprintf("%s %s is %s", d.Event, d.Action, state), func() bool {
		st = s.stands(d) // one that waits for another one with its key is retried soon
		return st.State == state && !strings.Contains(st.Error, "is being handled")
	})
	return st
}

// failsInApp sends a run of the head commit that failed, and does not wait.
func (s *story) failsInApp(test string) Delivery {
	s.t.Helper()
	s.runID++
	run := s.ranOn(s.r, "feature", failing(test))
	run.ID, run.Name, run.Pulls = s.runID, "unit", []int{s.number}
	return s.r.Send(s.t, "workflow_run", s.r.RunPayload(s.r.AddRun(run), "completed"))
}

// administers delivers an event about the installation, or about a repository, and waits.
func (s *story) administers(event, action string, installation int, more map[string]any) Delivery {
	s.t.Helper()
	payload := map[string]any{"action": action, "installation": map[string]any{"id": installation}}
	for k, v := range more {
		payload[k] = v
	}
	d := s.r.Send(s.t, event, payload)
	s.comes(d, queue.Done)
	return d
}

// turn fails the test unless the one comment of the App names fix attempt n.
func (s *story) turn(n int) {
	s.t.Helper()
	if got := s.bot(); len(got) != 1 || !strings.Contains(got[0], fmt.Sprintf("attempt %d of 3", n)) {
		s.t.Errorf("turn %d is not told of: %q", n, got)
	}
}

func TestAppInstallation(t *testing.T) {
	t.Parallel()
	t.Run("suspended, nothing is written, and with the end of that the work goes on", func(t *testing.T) {
		t.Parallel()
		s := newAppStory(t, "")
		id := firstInstall + int(s.r.ID)
		s.failsInApp("TestAdd")
		s.settled()
		s.turn(1)
		s.b.SetInstall(id, "suspended") // the server's token was made before
		s.push()
		before := s.view.Content()
		first := s.failsInApp("TestSub")
		if st := s.comes(first, queue.Waiting); !strings.Contains(st.Error, "suspended") {
			t.Errorf("%+v", st)
		}
		s.administers("installation", "suspend", id, nil)
		s.r.Comment(t, Owner, s.number, "/switchback help") // it gets no token any more
		s.by.Until("the comment waits", func() bool {
			for _, d := range s.r.Deliveries() {
				if d.Event == "issue_comment" && d.Status == http.StatusAccepted && by("issue_comment", "created", Owner)(d) {
					return s.stands(d).State == queue.Waiting
				}
			}
			return false
		})
		if after := s.view.Content(); len(after) != len(before) {
			for _, q := range after[len(before):] {
				if q.Status < 300 {
					t.Errorf("%v was written", q)
				}
			}
		}
		s.b.SetInstall(id, "")
		s.administers("installation", "unsuspend", id, nil)
		s.settled()
		got := strings.Join(s.bot(), "\n")
		if len(s.bot()) != 2 || !strings.Contains(got, "attempt 2 of 3") || !strings.Contains(got, "/switchback retry") {
			t.Errorf("%q", got)
		}
		s.clean()
	})
	t.Run("deleted and installed again, it finds its ledger", func(t *testing.T) {
		t.Parallel()
		s := newAppStory(t, "")
		id, next := firstInstall+int(s.r.ID), 500_000+int(s.r.ID)
		s.failsInApp("TestAdd")
		s.settled()
		s.b.SetInstall(id, "deleted")
		s.administers("installation", "deleted", id, map[string]any{"repository": nil})
		s.push()
		lost := s.failsInApp("TestSub") // from before, and late
		if st := s.comes(lost, queue.Gone); st.Attempts != 1 {
			t.Errorf("tried %d times", st.Attempts)
		}
		s.r.Install(next)
		s.administers("installation", "created", next, map[string]any{"repositories": []any{map[string]any{"id": s.r.ID, "full_name": s.r.FullName}}})
		s.failsInApp("TestMul")
		s.settled()
		s.turn(2)
		s.clean()
	})
	t.Run("a repository that is taken away and given again, told in the wrong order", func(t *testing.T) {
		t.Parallel()
		s := newAppStory(t, "")
		id := firstInstall + int(s.r.ID)
		one := []any{map[string]any{"id": s.r.ID, "full_name": s.r.FullName}}
		s.failsInApp("TestAdd")
		s.settled()
		s.r.Install(0)
		s.administers("installation_repositories", "removed", id, map[string]any{"repositories_removed": one})
		s.push()
		s.comes(s.failsInApp("TestSub"), queue.Gone) // its number is another installation's, for the App has none here
		s.turn(1)
		s.r.Install(id)
		s.administers("installation_repositories", "added", id, map[string]any{"repositories_added": one})
		// The removal of before. Its body differs from that one's: equal bodies are handled once.
		s.administers("installation_repositories", "removed", id, map[string]any{"repositories_removed": one, "repository_selection": "selected"})
		if r, _, err := sharedApp.store.Repositories.Get(t.Context(), s.r.ID); err != nil || r.Gone {
			t.Errorf("%+v %v", r, err)
		}
		s.failsInApp("TestMul")
		s.settled()
		s.turn(2)
		s.clean()
	})
	t.Run("transferred to another owner, it is the other installation's, whatever is told late", func(t *testing.T) {
		t.Parallel()
		s := newAppStory(t, "")
		old, next := firstInstall+int(s.r.ID), 500_000+int(s.r.ID)
		s.failsInApp("TestAdd")
		s.settled()
		s.push()
		run := s.ranOn(s.r, "feature", failing("TestSub"))
		run.ID, run.Name, run.Pulls = 77, "unit", []int{s.number}
		late := s.r.RunPayload(s.r.AddRun(run), "completed")
		late["installation"] = map[string]any{"id": old}
		s.r.Install(next)
		s.administers("repository", "transferred", next, map[string]any{"changes": map[string]any{}})
		s.r.Send(t, "workflow_run", late) // of the old installation, which still reads what is public
		s.settled()
		s.turn(2)
		s.administers("repository", "transferred", old, nil)
		if r, _, err := sharedApp.store.Repositories.Get(t.Context(), s.r.ID); err != nil || r.Installation != int64(next) {
			t.Errorf("%+v %v", r, err)
		}
		s.clean()
	})
	t.Run("renamed twice and told backwards, it has the name that it has", func(t *testing.T) {
		t.Parallel()
		s := newAppStory(t, "")
		id := firstInstall + int(s.r.ID)
		s.failsInApp("TestAdd")
		s.settled()
		first := s.r.FullName
		for _, to := range []string{"-middle", "-last"} {
			s.r.Must(t, "PATCH", "", map[string]any{"name": strings.TrimSuffix(s.r.Name, "-middle") + to}, nil)
			s.r.Name = strings.TrimSuffix(s.r.Name, "-middle") + to
			s.r.FullName = Owner + "/" + s.r.Name
		}
		s.view = s.r.View()
		s.r.Install(id)
		s.r.Deliver(s.by.URL + "/webhook")
		for _, name := range []string{s.r.FullName, first + "-middle", first} {
			s.administers("repository", "renamed", id, map[string]any{"repository": map[string]any{"id": s.r.ID, "full_name": name, "default_branch": "main"}})
		}
		s.push()
		s.failsInApp("TestSub")
		s.settled()
		s.turn(2)
		s.clean()
	})
	t.Run("archived, its work waits until it is taken out again; made private, it goes on", func(t *testing.T) {
		t.Parallel()
		s := newAppStory(t, "")
		id := firstInstall + int(s.r.ID)
		gone := s.view.Fault(Fault{Method: "POST", Times: -1, Status: http.StatusForbidden, Body: `{"message":"Repository was archived so is read-only."}`})
		d := s.failsInApp("TestAdd")
		if st := s.comes(d, queue.Waiting); !strings.Contains(st.Error, "archived") || len(s.bot()) != 0 {
			t.Errorf("%+v %q", st, s.bot())
		}
		s.administers("repository", "archived", id, nil)
		gone()
		s.administers("repository", "unarchived", id, nil)
		s.settled()
		s.turn(1)
		s.r.Must(t, "PATCH", "", map[string]any{"private": true}, nil)
		s.push()
		s.failsInApp("TestSub")
		s.settled()
		s.turn(2)
		s.clean()
	})
	t.Run("deleted while work waits, the work is over", func(t *testing.T) {
		t.Parallel()
		s := newAppStory(t, "")
		id := firstInstall + int(s.r.ID)
		h := s.view.HoldAt(1, Before, writes)
		d := s.failsInApp("TestAdd")
		<-h.Reached
		comment := s.r.Send(t, "issue_comment", s.said(Owner, "/switchback help"))
		s.r.Must(t, "DELETE", "", nil, nil)
		h.Release()
		s.comes(comment, queue.Gone)
		s.by.Until("the run is over", func() bool {
			st := s.stands(d).State
			return st == queue.Gone || st == queue.Done
		})
		p := map[string]any{"action": "deleted", "installation": map[string]any{"id": id}, "repository": map[string]any{"id": s.r.ID, "full_name": s.r.FullName},
			"sender": map[string]any{"login": Owner}}
		s.b.gaps.deliver(s.r.FullName, "repository", marshal(p))
		s.by.Until("its row says so", func() bool {
			r, _, err := sharedApp.store.Repositories.Get(t.Context(), s.r.ID)
			return err == nil && r.Gone
		})
	})
}

// said is the payload of a comment of login on the pull request.
func (s *story) said(login, text string) map[string]any {
	s.t.Helper()
	return map[string]any{"action": "created", "issue": s.issueNow(s.number), "sender": s.user(login),
		"comment": map[string]any{"id": s.r.Comment(s.t, login, s.number, text), "body": text, "user": s.user(login), "performed_via_github_app": nil}}
}
