package surveys

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/survey"
)

// world is GitHub as far as a service sees it.
type world struct {
	mu       sync.Mutex
	issues   []github.Issue
	keys     []string          // of the issues
	comments map[string]string // by marker
	posts    int               // comments made, also a second one of a marker
	starts   []string          // keys of dispatches
	gone     bool              // the issue was deleted
}

func newWorld() *world { return &world{comments: map[string]string{}} }

func keyOf(marker string) string {
	key, _, _ := strings.Cut(strings.TrimPrefix(marker, "<!-- switchback:v1 key="), " ")
	return key
}

func (w *world) Upsert(_ context.Context, _ github.Repo, marker string, spec github.IssueSpec, _ string) (github.Issue, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, k := range w.keys {
		if k == keyOf(marker) {
			return w.issues[i], false, nil
		}
	}
	i := github.Issue{Number: len(w.issues) + 1, Title: spec.Title, Body: string(spec.Body), State: "open"}
	w.issues, w.keys = append(w.issues, i), append(w.keys, keyOf(marker))
	return i, true, nil
}

func (w *world) Rewrite(_ context.Context, _ github.Repo, n int, _ string, write func(string) markdown.Text) (github.Issue, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gone {
		return github.Issue{}, false, github.ErrMoved
	}
	w.issues[n-1].Body = string(write(w.issues[n-1].Body))
	return w.issues[n-1], true, nil
}

func (w *world) CloseAs(_ context.Context, _ github.Repo, n int, _ string, _ markdown.Text, _ string) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.issues[n-1].State = "closed"
	return true, nil
}

func (w *world) PostOnce(_ context.Context, _ github.Repo, _ int, marker string, body markdown.Text, fresh bool) (string, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gone {
		return "", false, github.ErrMoved
	}
	if _, ok := w.comments[marker]; ok && !fresh {
		return "1", false, nil
	}
	w.posts++
	w.comments[marker] = string(body)
	return "1", true, nil
}

func (w *world) StartWorkflow(_ context.Context, _ github.Repo, _, _ string, in map[string]string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.starts = append(w.starts, in["key"])
	return nil
}

func (w *world) SendEvent(ctx context.Context, r github.Repo, _ string, payload any) error {
	return w.StartWorkflow(ctx, r, "", "", map[string]string{"key": fmt.Sprint(payload.(map[string]any)["key"])})
}

func (w *world) HasRunSince(_ context.Context, _ github.Repo, _ string, _ time.Time, needle string) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.starts {
		if s == needle {
			return true, nil
		}
	}
	return false, nil
}

// errKilled ends a process in a test.
var errKilled = errors.New("killed")

// mortal lets every step of a process pass until it is to die: before the step
// or after it. Zero lives for ever.
type mortal struct {
	*world
	led   ledger.Ledger
	die   int
	after bool
	mu    sync.Mutex
	steps int
}

// step does one step outside, or dies around it.
func (m *mortal) step(do func() error) error {
	m.mu.Lock()
	m.steps++
	dies, dead := m.steps == m.die, m.die > 0 && m.steps > m.die
	m.mu.Unlock()
	if dead || dies && !m.after {
		return errKilled
	}
	err := do()
	if dies {
		return errKilled
	}
	return err
}

func (m *mortal) Load(ctx context.Context, key string) (e []routing.Event, v ledger.Version, err error) {
	return m.led.Load(ctx, key)
}

func (m *mortal) Keys(ctx context.Context) ([]string, error) { return m.led.Keys(ctx) }

func (m *mortal) Append(ctx context.Context, key string, seen ledger.Version, events []routing.Event) (v ledger.Version, err error) {
	err = m.step(func() (e error) { v, e = m.led.Append(ctx, key, seen, events); return e })
	return v, err
}

func (m *mortal) Upsert(ctx context.Context, r github.Repo, marker string, spec github.IssueSpec, ref string) (i github.Issue, made bool, err error) {
	err = m.step(func() (e error) { i, made, e = m.world.Upsert(ctx, r, marker, spec, ref); return e })
	return i, made, err
}

func (m *mortal) Rewrite(ctx context.Context, r github.Repo, n int, marker string, write func(string) markdown.Text) (i github.Issue, done bool, err error) {
	err = m.step(func() (e error) { i, done, e = m.world.Rewrite(ctx, r, n, marker, write); return e })
	return i, done, err
}

func (m *mortal) CloseAs(ctx context.Context, r github.Repo, n int, a string, b markdown.Text, c string) (done bool, err error) {
	err = m.step(func() (e error) { done, e = m.world.CloseAs(ctx, r, n, a, b, c); return e })
	return done, err
}

func (m *mortal) PostOnce(ctx context.Context, r github.Repo, n int, marker string, body markdown.Text, fresh bool) (id string, done bool, err error) {
	err = m.step(func() (e error) { id, done, e = m.world.PostOnce(ctx, r, n, marker, body, fresh); return e })
	return id, done, err
}

func (m *mortal) StartWorkflow(ctx context.Context, r github.Repo, a, b string, in map[string]string) error {
	return m.step(func() error { return m.world.StartWorkflow(ctx, r, a, b, in) })
}

// state is what a person sees in the end, and what is recorded.
func (w *world) state(r survey.State) string {
	var b strings.Builder
	for _, i := range w.issues {
		fmt.Fprintf(&b, "issue %d %s\n%s\n", i.Number, i.State, i.Body)
	}
	fmt.Fprintf(&b, "%d comments, %d posted, %v\n", len(w.comments), w.posts, w.starts)
	for _, p := range r.Surveys {
		fmt.Fprintf(&b, "%s open %v pending %v issue %d reminded %d\n", p.ID, p.Open(), p.Pending, p.Number, p.Reminded)
		if p.Goal != nil {
			b.WriteString(p.Goal.Line() + "\n")
		}
	}
	for _, f := range r.Feedback {
		fmt.Fprintf(&b, "%s %s\n", f.ID, f.FeedbackText)
	}
	for _, s := range r.Reentries {
		fmt.Fprintf(&b, "run %s %v %v\n", s.Run, s.Surveys, s.Done)
	}
	return b.String()
}

func (m *mortal) Absent(_ context.Context, _ github.Repo, err error) error { return err }

// away are the issues of a repository that the App was taken from.
type away struct{ *mortal }

func (away) PostOnce(context.Context, github.Repo, int, string, markdown.Text, bool) (string, bool, error) {
	return "", false, github.ErrMoved
}

func (away) Absent(context.Context, github.Repo, error) error { return github.ErrAbsent }
