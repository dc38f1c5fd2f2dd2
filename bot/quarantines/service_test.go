package quarantines

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/bot/trackingissues"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/quarantine"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// hub is GitHub as far as a service sees it.
type hub struct {
	mu       sync.Mutex
	issues   []github.Issue
	keys     []string
	comments []string // markers, each time one is posted
	bodies   map[string]string
}

func keyOf(mark string) string {
	key, _, _ := strings.Cut(strings.TrimPrefix(mark, "<!-- switchback:v1 key="), " ")
	return key
}

func (h *hub) Upsert(_ context.Context, _ github.Repo, mark string, spec github.IssueSpec, _ string) (github.Issue, bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, k := range h.keys {
		if k == keyOf(mark) {
			h.issues[i].Body = string(spec.Write(h.issues[i].Body))
			return h.issues[i], false, nil
		}
	}
	n := len(h.issues) + 1
	i := github.Issue{Number: n, URL: fmt.Sprint("https://github.com/acme/app/issues/", n), Title: spec.Title, Body: string(spec.Body), State: "open"}
	h.issues, h.keys = append(h.issues, i), append(h.keys, keyOf(mark))
	return i, true, nil
}

func (h *hub) Rewrite(_ context.Context, _ github.Repo, n int, _ string, write func(string) markdown.Text) (github.Issue, bool, error) {
	h.issues[n-1].Body = string(write(h.issues[n-1].Body))
	return h.issues[n-1], true, nil
}

func (h *hub) CloseAs(_ context.Context, _ github.Repo, n int, _ string, _ markdown.Text, _ string) (bool, error) {
	h.issues[n-1].State = "closed"
	return true, nil
}

func (h *hub) Reopen(_ context.Context, _ github.Repo, n int, _ markdown.Text, _ string) (bool, error) {
	h.issues[n-1].State = "open"
	return true, nil
}

func (h *hub) PostOnce(_ context.Context, _ github.Repo, _ int, mark string, body markdown.Text, fresh bool) (string, bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.bodies == nil {
		h.bodies = map[string]string{}
	}
	if _, ok := h.bodies[mark]; ok && !fresh {
		return "1", false, nil
	}
	h.bodies[mark], h.comments = string(body), append(h.comments, mark)
	return "1", true, nil
}

func (h *hub) Absent(_ context.Context, _ github.Repo, err error) error { return err }

func (h *hub) Owners(_ context.Context, _ github.Repo, _, file string) ([]string, error) {
	if file == "" {
		return nil, nil
	}
	return []string{"@acme/testers", "@mona"}, nil
}

var errKilled = errors.New("killed")

// mortal lets every step of a process pass until it is to die: before the step or after it.
type mortal struct {
	*hub
	ledger.Ledger
	die   int
	after bool
	steps int
}

func (m *mortal) step(do func() error) error {
	m.steps++
	if m.die > 0 && (m.steps > m.die || m.steps == m.die && !m.after) {
		return errKilled
	}
	err := do()
	if m.steps == m.die {
		return errKilled
	}
	return err
}

func (m *mortal) Append(ctx context.Context, key string, seen ledger.Version, events []routing.Event) (v ledger.Version, err error) {
	err = m.step(func() (e error) { v, e = m.Ledger.Append(ctx, key, seen, events); return e })
	return v, err
}

func (m *mortal) Upsert(ctx context.Context, r github.Repo, mark string, spec github.IssueSpec, ref string) (i github.Issue, made bool, err error) {
	err = m.step(func() (e error) { i, made, e = m.hub.Upsert(ctx, r, mark, spec, ref); return e })
	return i, made, err
}

func (m *mortal) PostOnce(ctx context.Context, r github.Repo, n int, mark string, body markdown.Text, fresh bool) (id string, done bool, err error) {
	err = m.step(func() (e error) { id, done, e = m.hub.PostOnce(ctx, r, n, mark, body, fresh); return e })
	return id, done, err
}

func (m *mortal) CloseAs(ctx context.Context, r github.Repo, n int, a string, b markdown.Text, c string) (done bool, err error) {
	err = m.step(func() (e error) { done, e = m.hub.CloseAs(ctx, r, n, a, b, c); return e })
	return done, err
}

// process returns a service of another process each time.
func process(m *mortal, now time.Time, name string) *Service {
	return &Service{
		Ledger: m, GitHub: &GitHub{trackingissues.GitHub{Issues: m, Comments: m, Repositories: m}, m}, Repo: "acme/app", Config: config.File{}, Owner: name, TTL: time.Minute, Now: func() time.Time { return now },
	}
}

var adds = routing.TestRef{Checkpoint: "ci", Suite: "calc", Name: "TestAdd", File: "calc/add_test.go"}

func evidence(pull int) quarantine.Flaked {
	run := routing.Run{ID: fmt.Sprint(100 + pull), SHA: fmt.Sprint("abcdef", pull), URL: fmt.Sprint("https://github.com/acme/app/actions/runs/", 100+pull)}
	again := run
	again.Attempt = 2
	return quarantine.Flaked{Test: adds, Evidence: quarantine.Evidence{Case: fmt.Sprint("acme/app#", pull), Failed: run, Passed: again, At: noon}}
}

// A story: two flips, the answer, the reminder, the end, the release.
var story = []struct {
	at   time.Duration
	what string
}{{0, "flips"}, {time.Hour, "quarantine"}, {8 * 24 * time.Hour, "time"}, {11*24*time.Hour + 2*time.Hour, "time"}, {13 * 24 * time.Hour, "time"}, {14*24*time.Hour + 2*time.Hour, "time"}, {15 * 24 * time.Hour, "release"}}

func tell(ctx context.Context, s *Service, what string) error {
	id := quarantine.IDOf(adds)
	var e quarantine.Entry
	var err error
	switch what {
	case "flips":
		return s.Flaked(ctx, []quarantine.Flaked{evidence(1), evidence(2)})
	case "quarantine":
		e, err = s.Quarantine(ctx, quarantine.Request{Test: adds, Source: "edit/1"}, "mona")
	case "release":
		e, err = s.Release(ctx, id, "edit/2", "mona")
	default:
		return s.Reconcile(ctx, []quarantine.Flaked{evidence(1), evidence(2)}, nil)
	}
	if err != nil {
		return err
	}
	return s.Apply(ctx, e)
}

// Killed before or after any step, the next process goes on: there is one issue, and each comment once.
func TestKilledAnywhereS5_53_S5_55(t *testing.T) {
	t.Parallel()
	for die := 0; die < 60; die++ {
		for _, after := range []bool{false, true} {
			h, led := &hub{}, &ledger.Memory{}
			total := 0
			for n, x := range story {
				m := &mortal{hub: h, Ledger: led}
				if m.die = die - total; m.die <= 0 {
					m.die = 0
				}
				m.after = after
				err := tell(t.Context(), process(m, noon.Add(x.at), fmt.Sprint("p", n)), x.what)
				total += m.steps
				if err == nil {
					continue
				}
				if !errors.Is(err, errKilled) {
					t.Fatal(err)
				}
				alive := &mortal{hub: h, Ledger: led}
				later := noon.Add(x.at + 5*time.Minute) // after the lease
				if err := tell(t.Context(), process(alive, later, "again"), x.what); err != nil {
					t.Fatal(err)
				}
				if err := tell(t.Context(), process(alive, later.Add(5*time.Minute), "reconcile"), "time"); err != nil {
					t.Fatal(err)
				}
				total = 1 << 30 // one death for each story
			}
			st, err := process(&mortal{hub: h, Ledger: led}, noon, "reader").State(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			e, _ := st.Entry(quarantine.IDOf(adds))
			if len(h.issues) != 1 || len(h.comments) != 4 || h.issues[0].State != "closed" || len(e.Pending) != 0 || e.Number != 1 {
				t.Fatalf("S5-53, S5-55: killed at step %d (after it: %v): %d issues, comments %q, %+v", die, after, len(h.issues), h.comments, e)
			}
		}
	}
}

func TestOneIssueForEachTestS5_55(t *testing.T) {
	t.Parallel()
	h, led := &hub{}, &ledger.Memory{}
	m := &mortal{hub: h, Ledger: led}
	for _, x := range story[:2] {
		if err := tell(t.Context(), process(m, noon.Add(x.at), "p"), x.what); err != nil {
			t.Fatal(err)
		}
	}
	body := h.issues[0].Body
	for _, want := range []string{
		"@acme/testers @mona", "`calc › TestAdd`", "`calc/add_test.go`", "#1", "#2", "abcdef1", "actions/runs/101",
		"In quarantine until 2026-05-18 13:00 UTC", "<!-- sb:quarantine -->", "<!-- sb:fix -->", "<!-- sb:release -->", "<!-- sb:submit -->",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("S5-50, S5-55: the issue lacks %q:\n%s", want, body)
		}
	}
	if strings.Count(body, "@acme/testers") != 1 {
		t.Errorf("S5-50: the owners are mentioned more than once:\n%s", body)
	}
	for _, x := range story[2:] {
		if err := tell(t.Context(), process(m, noon.Add(x.at), "p"), x.what); err != nil {
			t.Fatal(err)
		}
	}
	if got := h.issues[0]; len(h.issues) != 1 || got.State != "closed" || strings.Contains(got.Body, "sb:submit") || !strings.Contains(got.Body, "**Released**") {
		t.Errorf("S5-55: %d issues, %s:\n%s", len(h.issues), got.State, got.Body)
	}
	// flaky again in two further pull requests: the same issue
	at := noon.Add(16 * 24 * time.Hour)
	more := []quarantine.Flaked{evidence(7), evidence(8)}
	for i := range more {
		more[i].Evidence.At = at
	}
	if err := process(m, at, "p").Flaked(t.Context(), more); err != nil {
		t.Fatal(err)
	}
	if got := h.issues[0]; len(h.issues) != 1 || got.State != "open" || !strings.Contains(got.Body, "Proposed for quarantine") {
		t.Errorf("S5-55: %d issues, %s:\n%s", len(h.issues), got.State, got.Body)
	}
}

func TestQuarantineDaysS5_50(t *testing.T) {
	t.Parallel()
	days := 3
	s := process(&mortal{hub: &hub{}, Ledger: &ledger.Memory{}}, noon, "p")
	s.Config.QuarantineFor = &days
	e, err := s.Quarantine(t.Context(), quarantine.Request{Test: adds}, "mona")
	if err != nil || e.Until != noon.Add(72*time.Hour) {
		t.Errorf("S5-50: until %s, %v", e.Until, err)
	}
}
