package github

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/e2e"
)

func TestMain(m *testing.M) { os.Exit(e2e.Main(m)) }

// clock is the time of a test. Sleeping passes it at once.
type clock struct {
	mu    sync.Mutex
	skip  time.Duration
	slept []time.Duration
	still time.Time // if set, time passes in sleep only
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.still.IsZero() {
		return c.still.Add(c.skip)
	}
	return time.Now().Add(c.skip)
}

func (c *clock) sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.skip += d
	c.slept = append(c.slept, d)
	return ctx.Err()
}

func (c *clock) total() (d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, x := range c.slept {
		d += x
	}
	return d
}

// world is a repository of the emulator and a Client that acts on it.
type world struct {
	*Client
	b     *e2e.Bench
	repo  *e2e.Repo
	r     Repo
	view  *e2e.View
	clock *clock
}

func options(c *clock, url, token string) Options {
	return Options{BaseURL: url, Token: token, ContentInterval: -1, Now: c.now, Sleep: c.sleep}
}

// newWorld acts as the Switchback App. The test fails if a request was made
// that GitHub's own description does not allow.
func newWorld(t *testing.T, files map[string]string) *world {
	t.Helper()
	b := e2e.Start(t)
	repo := b.NewRepo(t, files)
	w := &world{b: b, repo: repo, r: Repo{repo.Owner, repo.Name}, view: repo.View(), clock: &clock{}}
	w.Client = w.as(t, b.AppToken(t, e2e.SwitchbackAppID, repo, nil), e2e.SwitchbackBot)
	t.Cleanup(func() {
		for _, v := range w.view.Violations() {
			t.Errorf("violation: %s", v)
		}
	})
	return w
}

func (w *world) as(t *testing.T, token, login string) *Client {
	t.Helper()
	o := options(w.clock, w.b.URL, token)
	o.Login = login
	h, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// issue opens an issue as the owner and returns its number.
func (w *world) issue(t *testing.T) int {
	t.Helper()
	var out struct{ Number int }
	w.repo.Must(t, "POST", "/issues", map[string]any{"title": "subject"}, &out)
	return out.Number
}

// count returns how many requests of a method were made since Reset.
func (w *world) count(method string) (n int) {
	for _, q := range w.view.Requests() {
		if q.Method == method {
			n++
		}
	}
	return n
}

func ok[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func wantKind(t *testing.T, err error, want advice.Kind) time.Duration {
	t.Helper()
	a := advice.Of(err)
	kind, after := a.Kind, a.After
	if kind != want {
		t.Errorf("verdict %q, want %q: %v", kind, want, err)
	}
	return after
}
