package handler

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/routing"
)

const (
	queueBranch = "gh-readonly-queue/main/pr-12-b000000"
	groupSHA    = "9999999999999999999999999999999999999999"
)

// queueHub is what GitHub has of a repository with a merge queue.
type queueHub struct {
	*httptest.Server
	mu       sync.Mutex
	commits  []object         // between the beginning of the group and its commit, oldest first
	linked   map[string][]int // pull requests of commits whose message names none
	pulls    map[int]object
	comments map[int][]object
	checks   []object
	gone     bool // the branch of the queue is deleted
	asked    []string

	kill   func() // ends the process at the write that killAt counts down to
	killAt int
	after  bool // once the write was applied
}

type object = map[string]any

func commitOf(sha, message string, parents ...string) object {
	var ps []object
	for _, p := range parents {
		ps = append(ps, object{"sha": p})
	}
	return object{"sha": sha, "commit": object{"message": message}, "parents": ps}
}

func newQueueHub(t *testing.T) *queueHub {
	h := &queueHub{linked: map[string][]int{}, pulls: map[int]object{}, comments: map[int][]object{}}
	for _, n := range []int{11, 12} {
		h.pulls[n] = object{"number": n, "state": "open", "user": object{"login": "dev"}, "head": object{"sha": headOf(n), "ref": fmt.Sprint("b", n), "repo": object{"full_name": "acme/app"}}, "base": object{"ref": "main", "sha": "b0"}}
	}
	h.commits = []object{commitOf("c11", "Add one (#11)", "b000000"), commitOf(groupSHA, "Add two (#12)\n\nsee #9", "c11")}
	mux := http.NewServeMux()
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.asked = append(h.asked, r.Method+" "+r.URL.Path)
		if r.Method == http.MethodGet {
			mux.ServeHTTP(w, r)
			return
		}
		h.killAt--
		if h.killAt == 0 && !h.after {
			h.kill()
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		mux.ServeHTTP(w, r)
		if h.killAt == 0 {
			h.kill()
		}
	}))
	t.Cleanup(h.Close)
	h.serve(mux)
	return h
}

func headOf(n int) string { return fmt.Sprintf("%040d", n) }

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func (h *queueHub) serve(mux *http.ServeMux) {
	const repo = "/api/v3/repos/acme/app"
	number := func(r *http.Request) (n int) { _, _ = fmt.Sscan(r.PathValue("n"), &n); return n }
	read := func(r *http.Request) (out object) { _ = json.NewDecoder(r.Body).Decode(&out); return out }
	answer := func(pattern string, status int, of func(r *http.Request) any) {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" "+repo+path, func(w http.ResponseWriter, r *http.Request) {
			v := of(r)
			if v == nil {
				reply(w, http.StatusNotFound, object{"message": "Not Found"})
				return
			}
			reply(w, status, v)
		})
	}
	answer("GET /compare/{basehead}", 200, func(*http.Request) any {
		if h.commits == nil {
			return nil
		}
		return object{"commits": h.commits, "merge_base_commit": object{"sha": "b000000"}}
	})
	answer("GET /commits/{sha}/pulls", 200, func(r *http.Request) any {
		out := []object{}
		for _, n := range h.linked[r.PathValue("sha")] {
			out = append(out, h.pulls[n])
		}
		return out
	})
	answer("GET /git/ref/{ref...}", 200, func(*http.Request) any {
		if h.gone {
			return nil
		}
		return object{"object": object{"sha": groupSHA}}
	})
	answer("GET /pulls/{n}", 200, func(r *http.Request) any {
		if p, ok := h.pulls[number(r)]; ok {
			return p
		}
		return nil
	})
	answer("POST /issues/{n}/comments", 201, func(r *http.Request) any {
		c := read(r)
		c["id"], c["user"], c["created_at"] = 1+len(h.comments[number(r)])+100*number(r), object{"login": "bot[bot]", "type": "Bot"}, time.Now()
		h.comments[number(r)] = append(h.comments[number(r)], c)
		return c
	})
	comment := func(n int) any {
		for _, c := range h.comments[n/100] {
			if c["id"] == n {
				return c
			}
		}
		return nil
	}
	answer("GET /issues/{n}/{what}", 200, func(r *http.Request) any {
		n, id := number(r), 0
		if _, err := fmt.Sscan(r.PathValue("what"), &id); err == nil {
			return comment(id)
		}
		return append([]object{}, h.comments[n]...)
	})
	answer("PATCH /issues/comments/{n}", 200, func(r *http.Request) any {
		c, known := comment(number(r)).(object)
		if !known {
			return nil
		}
		c["body"] = read(r)["body"]
		return c
	})
	answer("GET /commits/{sha}/check-runs", 200, func(*http.Request) any { return object{"total_count": len(h.checks), "check_runs": h.checks} })
	answer("POST /check-runs", 201, func(r *http.Request) any {
		c := read(r)
		c["id"], c["app"] = len(h.checks)+1, object{"id": 1}
		h.checks = append(h.checks, c)
		return c
	})
	answer("PATCH /check-runs/{n}", 200, func(r *http.Request) any {
		c := h.checks[number(r)-1]
		for k, v := range read(r) {
			c[k] = v
		}
		return c
	})
}

// state is what people see: the comments and the checks, without the times in markers.
func (h *queueHub) state() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var b strings.Builder
	for _, n := range []int{11, 12} {
		for _, c := range h.comments[n] {
			text, _, _ := strings.Cut(c["body"].(string), "<!-- switchback")
			fmt.Fprintf(&b, "#%d: %s\n", n, text)
		}
	}
	for _, c := range h.checks {
		fmt.Fprintf(&b, "check %v %v: %v\n", c["name"], c["head_sha"], c["conclusion"])
	}
	return b.String()
}

// deps are those of a process, whose clock is ahead of the last one's.
func (h *queueHub) deps(t *testing.T, led ledger.Ledger, ahead time.Duration) Deps {
	t.Helper()
	client, err := github.New(github.Options{Token: "t", BaseURL: h.URL + "/api/v3/", Login: "bot[bot]", Log: slog.New(slog.DiscardHandler), ContentInterval: time.Millisecond, MaxWait: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	d := Deps{
		Repo: github.Repo{Owner: "acme", Name: "app"}, GitHub: client, Ledger: led, DefaultBranch: "main", Process: fmt.Sprint("p", ahead), LeaseTTL: time.Minute,
		Now: func() time.Time { return time.Now().Add(ahead) }, Log: slog.New(slog.DiscardHandler),
		Reporter: silent{}, Metrics: silent{}, Waiter: silent{}, Config: config.File{},
	}
	if d.Rules, err = analysis.Rules(d.Config); err != nil {
		t.Fatal(err)
	}
	return d
}

// silent waits for nothing and shows nothing.
type silent struct{}

func (silent) Notice(string)                                    {}
func (silent) Warning(string)                                   {}
func (silent) Tests() analysis.Tests                            { return nil }
func (silent) Routed(Routed) error                              { return nil }
func (silent) Replayed(Replayed) error                          { return nil }
func (silent) Decided(routing.Decision, routing.Class)          {}
func (silent) Applied(routing.EffectKind, error)                {}
func (silent) Pause(ctx context.Context, _ time.Duration) error { return ctx.Err() }
func (silent) Delay(ctx context.Context, _ time.Duration) error { return ctx.Err() }
func (silent) Defers() bool                                     { return false }
func (silent) Defer(string) bool                                { return false }

// report is a JUnit report of one test.
func report(name string, fails bool) string {
	failure := ""
	if fails {
		failure = `<failure message="got 2, want 3">calc_test.go:7: got 2, want 3</failure>`
	}
	return fmt.Sprintf(`<testsuite name="calc"><testcase classname="calc" name=%q>%s</testcase></testsuite>`, name, failure)
}

func runIn(s effect.Subject, id int, sha, text, conclusion string) CheckpointRun {
	return CheckpointRun{
		Subject: s, Checkpoint: "unit", Run: routing.Run{Repository: "acme/app", ID: fmt.Sprint(id), Attempt: 1, SHA: sha},
		Input: analysis.Input{Conclusion: conclusion, Looked: []string{"report.xml"}, Sources: []analysis.Source{{Name: "report.xml", Open: func() (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(text)), nil
		}}}},
	}
}

func groupRun(id int, text, conclusion string) CheckpointRun {
	return runIn(effect.Subject{Branch: queueBranch, DefaultBranch: "main"}, id, groupSHA, text, conclusion)
}

// passAlone records green runs of pull requests.
func passAlone(t *testing.T, d Deps, numbers ...int) {
	t.Helper()
	for _, n := range numbers {
		s := effect.Subject{Number: n, Author: "dev", Base: "main", Head: headOf(n)}
		c := routing.Case{Key: s.Key(d.Repo)}
		v := routing.Verdict{Checkpoint: "unit", Run: routing.Run{ID: fmt.Sprint(n), SHA: headOf(n)}, Result: routing.Pass, Counts: routing.Counts{Tests: 1, Passed: 1}}
		dec := routing.Decide(c, v, routing.DefaultPolicy(), d.Now())
		dec.Effects = nil
		if _, err := d.Ledger.Append(t.Context(), c.Key, "", []routing.Event{routing.RunEvent(c.Key, v, dec, d.Now())}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestS5_90_MergeGroupKilled is S5-90: killed at any write, before GitHub has applied it or after, a
// merge group leaves the world as if nothing had happened.
func TestS5_90_MergeGroupKilled(t *testing.T) {
	t.Parallel()
	calm := newQueueHub(t)
	led := &ledger.Memory{}
	d := calm.deps(t, led, 0)
	passAlone(t, d, 11, 12)
	if err := Route(t.Context(), d, groupRun(100, report("TestAdd", true), "failure")); err != nil {
		t.Fatal(err)
	}
	want := calm.state()
	for _, part := range []string{"#11:", "#12:", `\#11, \#12 passes alone`, "check switchback / unit " + groupSHA + ": failure", "TestAdd"} {
		if !strings.Contains(want, part) {
			t.Fatalf("S5-90 %q is missing:\n%s", part, want)
		}
	}
	if strings.Count(want, "### 🚦") != 2 || strings.Count(want, "check ") != 1 {
		t.Fatalf("S5-90:\n%s", want)
	}
	for n := 1; n <= 3; n++ {
		for _, after := range []bool{false, true} {
			h, led := newQueueHub(t), &ledger.Memory{}
			d := h.deps(t, led, 0)
			passAlone(t, d, 11, 12)
			ctx, kill := context.WithCancel(t.Context())
			h.kill, h.killAt, h.after = kill, n, after
			if err := Route(ctx, d, groupRun(100, report("TestAdd", true), "failure")); err == nil {
				t.Fatalf("write %d: the process was not killed", n)
			}
			kill()
			again := h.deps(t, led, 5*time.Minute)
			for range 2 { // its own delivery comes again, and a reconcile
				if err := Route(t.Context(), again, groupRun(100, report("TestAdd", true), "failure")); err != nil {
					t.Fatal(err)
				}
				if got := h.state(); got != want {
					t.Errorf("S5-90 killed at write %d, after it: %v, and not reconciled yet:\n%s", n, after, got)
				}
				if err := reconcileLedger(t.Context(), again); err != nil {
					t.Fatal(err)
				}
			}
			if got := h.state(); got != want {
				t.Errorf("S5-90 killed at write %d, after it: %v:\n%s\nwant:\n%s", n, after, got, want)
			}
		}
	}
}

// TestMergeGroupPulls: which pull requests are in a group follows from its commits and its name.
func TestMergeGroupPulls(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		change  func(h *queueHub)
		want    string
		partial bool
	}{
		"squashed": {func(*queueHub) {}, "#11 #12", false},
		"merged": {func(h *queueHub) {
			h.commits = []object{commitOf("own", "Fix what #11 broke (#9)", "b000000"), commitOf("m11", "Merge pull request #11 from dev/b11", "b000000", "own"), commitOf(groupSHA, "Merge pull request #12 from dev/b12", "m11", "x")}
		}, "#11 #12", false},
		"rebased": {func(h *queueHub) {
			h.commits = []object{commitOf("c1", "one", "b000000"), commitOf("c2", "two", "c1"), commitOf(groupSHA, "three", "c2")}
			h.linked["c1"], h.linked["c2"], h.linked[groupSHA] = []int{11}, []int{12}, []int{12}
		}, "#11 #12", false},
		"a commit that names none": {func(h *queueHub) { h.commits[0] = commitOf("c11", "one", "b000000") }, "#12", true},
		"a commit that is gone":    {func(h *queueHub) { h.commits = nil }, "#12", true},
		"more commits than a page": {func(h *queueHub) { h.commits = h.commits[:1] }, "#12", true},
		"another branch's":         {func(h *queueHub) { h.pulls[11]["base"] = object{"ref": "next"} }, "#12", false},
		"one that is not there":    {func(h *queueHub) { delete(h.pulls, 11) }, "#12", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newQueueHub(t)
			x.change(h)
			d := h.deps(t, &ledger.Memory{}, 0)
			g, err := groupOf(t.Context(), d, groupRun(100, "", "failure"), routing.Verdict{Result: routing.Fail, Failures: []routing.Failure{{Name: "x", Fingerprint: "x"}}})
			if err != nil || strings.Join(g.Numbers(), " ") != x.want || g.Partial != x.partial || g.Base != "main" {
				t.Errorf("S5-90: %+v, %v", g, err)
			}
			if n := len(h.asked); n > 1+mostUnnamed+3 {
				t.Errorf("S5-90: %d requests\n%s", n, strings.Join(h.asked, "\n"))
			}
		})
	}
}

// TestS5_92_PassesAlone is S5-92: a pull request passes alone if its newest commit does.
func TestS5_92_PassesAlone(t *testing.T) {
	t.Parallel()
	h := newQueueHub(t)
	d := h.deps(t, &ledger.Memory{}, 0)
	passAlone(t, d, 11, 12)
	h.pulls[11]["head"].(object)["sha"] = headOf(13)
	g, err := groupOf(t.Context(), d, groupRun(100, "", "failure"), routing.Verdict{Result: routing.Fail, Failures: []routing.Failure{{Name: "x", Fingerprint: "x"}}})
	if err != nil || len(g.Pulls) != 2 || g.Pulls[0].Passes || !g.Pulls[1].Passes {
		t.Errorf("S5-92: %+v, %v", g, err)
	}
}

// TestS5_93_MergeGroupIgnored is S5-93: cancelled runs, groups that are made anew and branches that are
// gone say nothing to anybody; a green run tells only those who were told of a failure.
func TestS5_93_MergeGroupIgnored(t *testing.T) {
	t.Parallel()
	broken := `<testsuite name="calc"></testsuite>`
	for name, x := range map[string]struct {
		before func(h *queueHub, d Deps) error
		run    CheckpointRun
		checks int
	}{
		"a cancelled run": {nil, groupRun(100, report("TestAdd", true), "cancelled"), 0},
		"an invalidated group": {func(_ *queueHub, d Deps) error {
			return destroyed(t, d, "invalidated")
		}, groupRun(100, report("TestAdd", true), "failure"), 0},
		"a dequeued group without a result": {func(_ *queueHub, d Deps) error {
			return destroyed(t, d, "dequeued")
		}, groupRun(100, broken, "failure"), 0},
		"a deleted branch": {func(h *queueHub, _ Deps) error { h.gone = true; return nil }, groupRun(100, broken, "failure"), 0},
		"a green group":    {nil, groupRun(100, report("TestAdd", false), "success"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newQueueHub(t)
			d := h.deps(t, &ledger.Memory{}, 0)
			passAlone(t, d, 11, 12)
			if x.before != nil {
				if err := x.before(h, d); err != nil {
					t.Fatal(err)
				}
			}
			if err := Route(t.Context(), d, x.run); err != nil {
				t.Fatal(err)
			}
			if len(h.comments) != 0 || len(h.checks) != x.checks {
				t.Errorf("S5-93:\n%s", h.state())
			}
		})
	}
	h := newQueueHub(t)
	d := h.deps(t, &ledger.Memory{}, 0)
	if err := Route(t.Context(), d, groupRun(100, report("TestAdd", true), "failure")); err != nil {
		t.Fatal(err)
	}
	if got := h.state(); strings.Count(got, `One of \#11, \#12`) != 2 { // S5-94: neither is known to pass alone
		t.Errorf("S5-94:\n%s", got)
	}
	if err := Route(t.Context(), d, groupRun(101, report("TestAdd", false), "success")); err != nil {
		t.Fatal(err)
	}
	if got := h.state(); strings.Count(got, "passes in the merge queue") != 2 || strings.Contains(got, "One of") || !strings.Contains(got, ": success") {
		t.Errorf("S5-90:\n%s", got)
	}
	if i := slices.IndexFunc(h.asked, func(s string) bool { return strings.Contains(s, "dispatches") || strings.Contains(s, "/labels") }); i >= 0 {
		t.Errorf("S5-91: %s", h.asked[i])
	}
}

func destroyed(t *testing.T, d Deps, reason string) error {
	for _, action := range []string{"checks_requested", "destroyed", "destroyed"} {
		e, err := ParseEvent("merge_group", fmt.Appendf(nil, `{"action": %q, "reason": %q, "merge_group": {"head_ref": "refs/heads/%s", "head_sha": %q, "base_ref": "refs/heads/main", "base_sha": "b000000"}}`, action, reason, queueBranch, groupSHA))
		if err == nil {
			err = Deliver(t.Context(), d, e)
		}
		if err != nil {
			return err
		}
	}
	if n, _, err := d.Ledger.Load(t.Context(), "acme/app@"+queueBranch); err != nil || len(n) != 2 {
		return fmt.Errorf("%d events: %w", len(n), err)
	}
	return nil
}
