package server

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/database/pgtest"
	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/bot/notify"
	"github.com/switchback-ci/switchback/bot/server/queue"
	"github.com/switchback-ci/switchback/internal/sample"
)

// TestDigests is S5-100: once a week each owner's digest becomes one job, however many processes look.
func TestDigests(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{"SQLite": "", "PostgreSQL": pgtest.URL(t)} {
		t.Run("S5-100 "+name, func(t *testing.T) {
			t.Parallel()
			s, err := queue.Open(t.Context(), url, t.TempDir(), eventstream.Line(), notify.Line())
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			monday := time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)
			events := eventstream.New(s.Database())
			for _, x := range slices.Collect(sample.Cases(sample.Options{Seed: 3, Cases: 30, End: monday.Add(-time.Hour), Repos: []string{"acme/shop", "acme/depot", "rival/shop"}})) {
				if _, err := events.Projector.Fill(t.Context(), []eventstream.Stream{{Key: x.Key, Events: x.Events}}); err != nil {
					t.Fatal(err)
				}
			}
			process := func() *notifications {
				return &notifications{events: events, positions: notify.Positions{DB: s.Database()}, jobs: s.Jobs, names: &names{store: s}}
			}
			one, two := process(), process()
			e := notify.Endpoint{Name: "ops", On: []notify.Topic{notify.Escalation}, Repositories: []string{"*/*"}, DigestAt: "monday 00:00"}
			jobs := func() []notifyOne { return notifyJobs(t, s) }
			look := func(at time.Time) {
				t.Helper()
				for _, n := range []*notifications{one, two, one} {
					if err := n.look(t.Context(), e, at); err != nil {
						t.Fatal(err)
					}
				}
			}
			look(monday.Add(-10 * time.Hour))
			if n := len(jobs()); n != 0 {
				t.Fatalf("a new endpoint hears of the past: %d jobs", n)
			}
			look(monday)
			list := jobs()
			if len(list) != 2 {
				t.Fatalf("%d digests for two owners: %+v", len(list), list)
			}
			for _, j := range list {
				if f := j.Message.Figures; j.Message.Topic != notify.Digest || f == nil || f.Passed+f.Returned+f.Escalated == 0 || f.Waiting > 0 && len(f.Longest) == 0 {
					t.Errorf("%+v %+v", j.Message, f)
				}
			}
			look(monday.Add(6 * 24 * time.Hour))
			if n := len(jobs()); n != 2 {
				t.Errorf("%d digests within the week", n)
			}
			look(monday.Add(7 * 24 * time.Hour))
			if n := len(jobs()); n != 4 {
				t.Errorf("%d digests after two weeks", n)
			}
		})
	}
}

// notifyJobs returns the jobs that tell endpoints, in their order.
func notifyJobs(t *testing.T, s *queue.Store) (out []notifyOne) {
	t.Helper()
	rows, err := s.Database().Read.QueryContext(t.Context(), "SELECT args FROM river_job WHERE kind = 'notify' ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		var j notifyOne
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(text), &j); err != nil {
			t.Fatal(err)
		}
		out = append(out, j)
	}
	return out
}

// TestIncidentsAreTold is S5-100: that an incident opened, and is over, becomes one job for each
// endpoint that asked for it, however many processes look and however often.
func TestIncidentsAreTold(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{"SQLite": "", "PostgreSQL": pgtest.URL(t)} {
		t.Run("S5-100 "+name, func(t *testing.T) {
			t.Parallel()
			s, err := queue.Open(t.Context(), url, t.TempDir(), eventstream.Line(), notify.Line())
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			events := eventstream.New(s.Database())
			process := func() *notifications {
				return &notifications{events: events, positions: notify.Positions{DB: s.Database()}, jobs: s.Jobs, names: &names{store: s}, web: "https://github.com"}
			}
			one, two := process(), process()
			o := sample.Incidents{Repo: "acme/shop", At: time.Now()}
			step := func(do func()) {
				t.Helper()
				do()
				if _, err := events.Projector.Fill(t.Context(), []eventstream.Stream{{Key: o.Stream().Key, Events: o.Stream().Events}}); err != nil {
					t.Fatal(err)
				}
				for _, e := range []notify.Endpoint{{Name: "ops", On: []notify.Topic{notify.Incident}}, {Name: "others", On: []notify.Topic{notify.Escalation, notify.Quarantine}}} {
					for _, n := range []*notifications{one, two, one} {
						if err := n.look(t.Context(), e, time.Now()); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
			step(func() { o.Fail("nothing that others share", 1, 1) })
			step(func() { o.Fail("getaddrinfo EAI_AGAIN registry.npmjs.org", 2, 5) })
			if list := notifyJobs(t, s); len(list) != 0 {
				t.Fatalf("told before there is an issue to link: %+v", list)
			}
			step(func() { o.File(901) })
			step(func() { o.End("mona") })
			list := notifyJobs(t, s)
			if len(list) != 2 || list[0].Message.Change != notify.Opened || list[1].Message.Change != notify.Over || list[0].Endpoint != "ops" {
				t.Fatalf("%+v", list)
			}
			if m := list[0].Message; m.Repository != "acme/shop" || m.URL != "https://github.com/acme/shop/issues/901" || m.OnHold != 4 || m.Reason != "env-dns: registry.npmjs.org" || list[1].Message.By != "mona" {
				t.Errorf("%+v", list)
			}
		})
	}
}
