package gitbranch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/ledger/ledgertest"
	"github.com/switchback-ci/switchback/e2e"
	"github.com/switchback-ci/switchback/routing"
)

func TestMain(m *testing.M) { os.Exit(e2e.Main(m)) }

const key = "acme/app#12"

var casePath = regexp.MustCompile(`/contents/cases/`)

// world is a repository of the bench and what is seen of the requests to it.
type world struct {
	bench *e2e.Bench
	repo  *e2e.Repo
	view  *e2e.View
}

// newWorld makes a repository. At the end of the test every request to it has
// to have been one that GitHub's description allows.
func newWorld(tb testing.TB) *world {
	tb.Helper()
	b := e2e.Start(tb)
	r := b.NewRepo(tb, nil)
	w := &world{b, r, r.View()}
	all := r.View()
	tb.Cleanup(func() {
		for _, v := range all.Violations() {
			tb.Error(v)
		}
	})
	return w
}

// ledger returns a ledger of the repository, as another process has one. It
// waits for nothing and notes in waits how long it would have.
func (w *world) ledger(tb testing.TB) (*Git, *waits) {
	tb.Helper()
	n := &waits{start: time.Now()}
	g := w.ledgerOf(tb, github.Options{Now: n.now, Sleep: n.pause})
	g.pause = n.pause
	return g, n
}

func (w *world) ledgerOf(tb testing.TB, o github.Options) *Git {
	tb.Helper()
	o.BaseURL, o.Token, o.ContentInterval = w.bench.URL, w.bench.UserToken(e2e.Owner), -1
	c, err := github.New(o)
	if err != nil {
		tb.Fatal(err)
	}
	return NewGit(c, github.Repo{Owner: w.repo.Owner, Name: w.repo.Name}, "")
}

// waits is a clock that only goes on while somebody waits.
type waits struct {
	start time.Time
	mu    sync.Mutex
	all   []time.Duration
}

func (n *waits) now() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	at := n.start
	for _, d := range n.all {
		at = at.Add(d)
	}
	return at
}

func (n *waits) pause(ctx context.Context, d time.Duration) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, d)
	return ctx.Err()
}

// requests returns the requests since the last call, e.g. "GET 200 cases/a.jsonl".
func (w *world) requests() []string {
	var out []string
	for _, q := range w.view.Requests() {
		p := strings.TrimPrefix(q.Path, "/repos/"+w.repo.FullName+"/")
		out = append(out, fmt.Sprintf("%s %d %s", q.Method, q.Status, strings.TrimPrefix(p, "contents/")))
	}
	w.view.Reset()
	return out
}

func (w *world) expect(t *testing.T, what string, want ...string) {
	t.Helper()
	if got := w.requests(); !slices.Equal(got, want) {
		t.Errorf("%s: requests\n got %q\nwant %q", what, got, want)
	}
}

// fixed appends the note "1" to the stream, and forgets the requests for it.
func fixed(t *testing.T, w *world, g *Git) ledger.Version {
	t.Helper()
	v, err := g.Append(t.Context(), key, "", []routing.Event{ledgertest.Note(key, "1")})
	if err != nil {
		t.Fatal(err)
	}
	w.view.Reset()
	return v
}

func notes(t *testing.T, w *world) []string {
	t.Helper()
	g, _ := w.ledger(t)
	events, _, err := g.Load(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return ledgertest.Notes(events)
}

func checkNotes(t *testing.T, w *world, want ...string) {
	t.Helper()
	if got := notes(t, w); !slices.Equal(got, want) {
		t.Errorf("notes %q, want %q", got, want)
	}
}

func TestGit(t *testing.T) {
	t.Parallel()
	ledgertest.Size{Writers: 3, Appends: 4}.Run(t, func(tb testing.TB) ledger.Ledger {
		w := newWorld(tb)
		one, _ := w.ledger(tb)
		other, _ := w.ledger(tb)
		return ledgertest.Alternate(one, other) // as two processes have them
	})
}

func TestRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g, _ := w.ledger(t)
	const file = "cases/acme+app=12.jsonl"
	if _, _, err := g.Load(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	w.expect(t, "Load without a branch", "GET 404 "+file)
	fixedAt, err := g.Append(t.Context(), key, "", []routing.Event{ledgertest.Note(key, "1")})
	if err != nil {
		t.Fatal(err)
	}
	w.expect(t, "first Append", "PUT 404 "+file, "POST 201 git/trees", "POST 201 git/commits", "POST 201 git/refs", "PUT 201 "+file)
	_, v, err := g.Load(t.Context(), key)
	if err != nil || v != fixedAt {
		t.Fatal(v, fixedAt, err)
	}
	w.expect(t, "Load", "GET 200 "+file)
	if v, err = g.Append(t.Context(), key, v, []routing.Event{ledgertest.Note(key, "2")}); err != nil {
		t.Fatal(err)
	}
	w.expect(t, "Append after Load", "PUT 200 "+file)
	if _, err = g.Append(t.Context(), key, v, []routing.Event{ledgertest.Note(key, "3")}); err != nil {
		t.Fatal(err)
	}
	w.expect(t, "Append after Append", "PUT 200 "+file)
	if _, err = g.Append(t.Context(), "other", "", []routing.Event{ledgertest.Note("", "x")}); err != nil {
		t.Fatal(err)
	}
	w.expect(t, "first Append of another case", "PUT 201 cases/other.jsonl")
	if _, err = g.Keys(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.expect(t, "Keys", "GET 200 git/trees/switchback-ledger")
}

func TestBranch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g, _ := w.ledger(t)
	e := ledgertest.Note(key, "text <!-- & \u2028")
	if _, err := g.Append(t.Context(), key, "", []routing.Event{e, {Type: routing.EventHuman}, e}); err != nil {
		t.Fatal(err)
	}
	tree := w.repo.Tree(t, Branch)
	if len(tree) != 2 || !strings.HasPrefix(tree["README.md"], "# Switchback's ledger") || strings.Count(tree["cases/acme+app=12.jsonl"], "\n") != 3 {
		t.Errorf("the branch holds %q", tree)
	}
	var tip struct {
		Message string
		Parents []struct{ SHA string }
	}
	w.repo.Must(t, "GET", "/git/commits/"+w.repo.SHA(t, Branch), nil, &tip)
	if tip.Message != "acme+app=12: lease, human\n\n[skip ci]\n" || len(tip.Parents) != 1 {
		t.Errorf("the append's commit: %+v", tip)
	}
	w.repo.Must(t, "GET", "/git/commits/"+tip.Parents[0].SHA, nil, &tip)
	if len(tip.Parents) != 0 {
		t.Errorf("the branch begins on another: %+v", tip)
	}
}

// TestBranchRace lets processes make the branch at the same time.
func TestBranchRace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var wg sync.WaitGroup
	for i := range 4 {
		g, _ := w.ledger(t)
		wg.Go(func() {
			if err := ledgertest.AppendAnyhow(t.Context(), g, fmt.Sprint("case ", i), ledgertest.Note("", "x")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	g, _ := w.ledger(t)
	if keys, err := g.Keys(t.Context()); err != nil || len(keys) != 4 {
		t.Errorf("Keys = %q, %v", keys, err)
	}
}

// await waits until the hold is reached, or fails once the append has ended.
func await(t *testing.T, hold *e2e.Hold, result <-chan error) {
	t.Helper()
	select {
	case <-hold.Reached:
	case err := <-result:
		t.Fatalf("the append ended without the request to be held: %v", err)
	}
}

// TestBranchMadeMeanwhile has another process make the branch after this one
// found none.
func TestBranchMadeMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, _ := w.ledger(t)
	two, _ := w.ledger(t)
	hold := w.view.HoldAt(1, e2e.Before, func(q e2e.Request) bool { return strings.HasSuffix(q.Path, "/git/refs") })
	result := make(chan error)
	go func() {
		_, err := one.Append(t.Context(), "one", "", []routing.Event{ledgertest.Note("", "1")})
		result <- err
	}()
	await(t, hold, result)
	if _, err := two.Append(t.Context(), "two", "", []routing.Event{ledgertest.Note("", "1")}); err != nil {
		t.Error(err)
	}
	hold.Release()
	if err := <-result; err != nil {
		t.Error(err)
	}
	if keys, err := two.Keys(t.Context()); err != nil || !slices.Equal(keys, []string{"one", "two"}) {
		t.Errorf("Keys = %q, %v", keys, err)
	}
}

// moved is GitHub's answer to a write of a file while another file's commit
// moved the branch.
var moved = e2e.Fault{Method: "PUT", Path: casePath, Status: http.StatusConflict,
	Body: `{"message":"is at 5b2c9ab0a1e1d9c5b2d8f1b6b1c8b0d6a8c0f3e1 but expected 0c6e1b0a1e1d9c5b2d8f1b6b1c8b0d6a8c0f3e12"}`}

// TestFaults appends "2" to a stream of "1" while something goes wrong.
func TestFaults(t *testing.T) {
	t.Parallel()
	put := func(f e2e.Fault) e2e.Fault { f.Method, f.Path = "PUT", casePath; return f }
	times := func(n int, f e2e.Fault) e2e.Fault { f.Times = n; return f }
	for name, tc := range map[string]struct {
		fault    e2e.Fault
		requests []string // PUT and GET, with what they were answered
		wait     time.Duration
		err      string // "" means that the append succeeds
	}{
		"another case moved the branch":  {moved, []string{"PUT 409", "GET 200", "PUT 200"}, 0, ""},
		"others keep moving the branch":  {times(5, moved), []string{"PUT 409", "GET 200", "PUT 409", "GET 200", "PUT 409", "GET 200", "PUT 409", "GET 200", "PUT 409", "GET 200", "PUT 200"}, 0, ""},
		"the answer is lost":             {put(e2e.Fault{Drop: e2e.After}), []string{"PUT 0", "GET 200"}, 0, ""},
		"the request is lost":            {put(e2e.Fault{Drop: e2e.Before}), []string{"PUT 0", "GET 200", "PUT 200"}, 0, ""},
		"a server's error":               {put(e2e.Fault{Status: 502}), []string{"PUT 502", "GET 200", "PUT 200"}, 0, ""},
		"an error page":                  {put(e2e.Fault{Status: 503, Body: "<html>Unicorn!</html>"}), []string{"PUT 503", "GET 200", "PUT 200"}, 0, ""},
		"too many requests":              {put(e2e.RateLimited(429, 7*time.Second)), []string{"PUT 429", "PUT 200"}, 7 * time.Second, ""},
		"a limit longer than patience":   {put(e2e.RateLimited(403, 200*time.Second)), []string{"PUT 403"}, 0, "rate limit"},
		"no permission":                  {put(e2e.Fault{Status: 403, Body: `{"message":"Resource not accessible by integration"}`}), []string{"PUT 403"}, 0, "contents: write"},
		"a rule forbids it":              {put(e2e.Fault{Status: 409, Body: `{"message":"Repository rule violations found"}`}), []string{"PUT 409", "GET 200"}, 0, "rule violations"},
		"invalid for another reason":     {put(e2e.Fault{Status: 422, Body: `{"message":"Validation Failed"}`}), []string{"PUT 422", "GET 200"}, 0, "Validation Failed"},
		"not found for another reason":   {put(e2e.Fault{Status: 404}), []string{"PUT 404", "GET 200"}, 0, "contents: write"},
		"nothing but server's errors":    {times(-1, e2e.Fault{Status: 500}), []string{"PUT 500", "GET 500", "GET 500", "GET 500"}, 0, "500"},
		"an error, and one when looking": {e2e.Fault{Status: 500, Times: 2}, []string{"PUT 500", "GET 500", "GET 200", "PUT 200"}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			g, n := w.ledger(t)
			v := fixed(t, w, g)
			remove := w.view.Fault(tc.fault)
			_, err := g.Append(t.Context(), key, v, []routing.Event{ledgertest.Note(key, "2")})
			remove()
			if tc.err == "" && err != nil || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err) || errors.Is(err, ledger.ErrConflict)) {
				t.Errorf("Append: %v, want %q", err, tc.err)
			}
			if kind := advice.Of(err).Kind; kind == advice.Gone {
				t.Errorf("%v tells that the subject is gone", err)
			}
			got := w.requests()
			for i := range got {
				got[i], _, _ = strings.Cut(got[i], " cases/")
			}
			if !slices.Equal(got, tc.requests) {
				t.Errorf("requests %q, want %q", got, tc.requests)
			}
			if tc.wait > 0 && !slices.Contains(n.all, tc.wait) {
				t.Errorf("waited %v, want %v", n.all, tc.wait)
			}
			if tc.err == "" {
				checkNotes(t, w, "1", "2")
			} else {
				checkNotes(t, w, "1")
			}
		})
	}
}

// A token that may not write one file may write no other: that is asked once.
func TestRefusedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g, _ := w.ledger(t)
	fixed(t, w, g)
	w.view.Fault(e2e.Fault{Method: "PUT", Path: casePath, Status: 403, Body: `{"message":"Resource not accessible by integration"}`})
	for n, want := range [][]string{{"PUT 403 cases/other.jsonl"}, nil} {
		_, err := g.Append(t.Context(), []string{"other", "another"}[n], "", []routing.Event{ledgertest.Note("", "x")})
		if !errors.Is(err, github.ErrReadOnly) || !strings.Contains(err.Error(), "contents: write") {
			t.Errorf("append %d: %v", n+1, err)
		}
		w.expect(t, fmt.Sprintf("append %d", n+1), want...)
	}
}

func TestSecondaryLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.ledgerOf(t, github.Options{}) // that really waits
	v := fixed(t, w, g)
	w.view.Fault(e2e.Fault{Method: "PUT", Path: casePath, Status: 403, Header: http.Header{"Retry-After": {"1"}}, Body: e2e.RateLimited(403, 0).Body})
	began := time.Now()
	if _, err := g.Append(t.Context(), key, v, []routing.Event{ledgertest.Note(key, "2")}); err != nil {
		t.Error(err)
	}
	if waited := time.Since(began); waited < time.Second {
		t.Errorf("waited %v", waited)
	}
	checkNotes(t, w, "1", "2")
}

// TestLostAnswers loses an answer while another process appends the same.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	t.Run("another appended to ours", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		one, _ := w.ledger(t)
		two, _ := w.ledger(t)
		v := fixed(t, w, one)
		hold := w.view.HoldAt(1, e2e.After, func(q e2e.Request) bool { return q.Method == "PUT" })
		result := make(chan error)
		go func() {
			mine, err := one.Append(t.Context(), key, v, []routing.Event{ledgertest.Note(key, "2")})
			if err == nil {
				_, again := one.Append(t.Context(), key, mine, []routing.Event{ledgertest.Note(key, "never")})
				if !errors.Is(again, ledger.ErrConflict) {
					err = fmt.Errorf("an append that knows nothing of the other's: %w", again)
				}
			}
			result <- err
		}()
		await(t, hold, result)
		if err := ledgertest.AppendAnyhow(t.Context(), two, key, ledgertest.Note(key, "3")); err != nil {
			t.Error(err)
		}
		hold.Drop()
		if err := <-result; err != nil {
			t.Error(err)
		}
		checkNotes(t, w, "1", "2", "3")
	})
	t.Run("another's equal event is not ours", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		one, _ := w.ledger(t)
		two, _ := w.ledger(t)
		v := fixed(t, w, one)
		hold := w.view.HoldAt(1, e2e.Before, func(q e2e.Request) bool { return q.Method == "PUT" })
		result := make(chan error)
		go func() {
			_, err := one.Append(t.Context(), key, v, []routing.Event{ledgertest.Note(key, "same")})
			result <- err
		}()
		await(t, hold, result)
		if err := ledgertest.AppendAnyhow(t.Context(), two, key, ledgertest.Note(key, "same")); err != nil {
			t.Error(err)
		}
		hold.Drop()
		if err := <-result; !errors.Is(err, ledger.ErrConflict) {
			t.Errorf("Append: %v, want ErrConflict", err)
		}
		checkNotes(t, w, "1", "same")
	})
}

// TestDeleted has a human delete what the ledger knows.
func TestDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g, _ := w.ledger(t)
	v := fixed(t, w, g)
	w.repo.Must(t, "DELETE", "/git/refs/heads/"+Branch, nil, nil)
	if _, err := g.Append(t.Context(), key, v, []routing.Event{ledgertest.Note(key, "2")}); !errors.Is(err, ledger.ErrConflict) {
		t.Errorf("Append: %v, want ErrConflict", err)
	}
	if err := ledgertest.AppendAnyhow(t.Context(), g, key, ledgertest.Note(key, "3")); err != nil {
		t.Error(err)
	}
	checkNotes(t, w, "3")
}

func TestBadLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g, _ := w.ledger(t)
	fixed(t, w, g)
	text, _, _ := w.repo.File(t, Branch, "cases/acme+app=12.jsonl")
	w.repo.Commit(t, Branch, "edit", map[string]string{"cases/acme+app=12.jsonl": text + "oops\n"})
	_, _, err := g.Load(t.Context(), key)
	want := fmt.Sprintf("%s@switchback-ledger:cases/acme+app=12.jsonl:2: is not an event", w.repo.FullName)
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Load: %v\nwant %s", err, want)
	}
}

// TestS6_13_RewrittenBranchIsNotBelieved is S6-13: a forced push that drops or changes events in
// the middle of a case is found.
func TestS6_13_RewrittenBranchIsNotBelieved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g, _ := w.ledger(t)
	fixed(t, w, g)
	for _, note := range []string{"2", "3"} {
		if err := ledgertest.AppendAnyhow(t.Context(), g, key, ledgertest.Note(key, note)); err != nil {
			t.Fatal(err)
		}
	}
	const file = "cases/acme+app=12.jsonl"
	text, _, _ := w.repo.File(t, Branch, file)
	first, rest, _ := strings.Cut(text, "\n")
	_, rest, _ = strings.Cut(rest, "\n")
	w.repo.Commit(t, Branch, "edit", map[string]string{file: first + "\n" + rest})
	_, _, err := g.Load(t.Context(), key)
	want := fmt.Sprintf("%s@switchback-ledger:%s:2: event 2 of stream %s does not follow from the event before it", w.repo.FullName, file, key)
	if !errors.Is(err, ledger.ErrChain) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Load: %v\nwant %s", err, want)
	}
}

func TestCancelledWhileWaiting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g, _ := w.ledger(t)
	v := fixed(t, w, g)
	ctx, cancel := context.WithCancel(t.Context())
	g.pause = func(ctx context.Context, _ time.Duration) error { cancel(); return ctx.Err() }
	w.view.Fault(moved)
	if _, err := g.Append(ctx, key, v, []routing.Event{ledgertest.Note(key, "2")}); !errors.Is(err, context.Canceled) {
		t.Errorf("Append: %v", err)
	}
	checkNotes(t, w, "1")
}
