package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// github answers what the server asks of GitHub, on loopback, at once and always
// well: what is measured is the server. It knows one repository with any number
// of pull requests, each of whose runs has failed. It is for the load alone;
// tests have GitHub's emulator.
type github struct {
	url  string // the address at which people see it
	logs string // where logs are kept: as with GitHub's, on another host

	mu       sync.Mutex
	comments map[string][]map[string]any // by the number of the pull request
	next     int64
	asked    int
	unknown  map[string]int // requests that were answered with 404, but for those that GitHub would, too
}

const (
	owner, name  = "acme", "load"
	fullName     = owner + "/" + name
	repositoryID = 4242
	installation = 77
	slug         = "switchback"
	checkpoint   = "unit"
)

// configuration is that of the default branch: the App acts, and every
// failure is returned for a fix.
const configuration = "acts: app\nmax_iterations: 10\nretry_delay: 0s\n"

func newGitHub() (*github, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	logs, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	g := &github{url: "http://" + l.Addr().String(), logs: "http://" + logs.Addr().String(), comments: map[string][]map[string]any{}, next: 1000, unknown: map[string]int{}}
	for l, h := range map[net.Listener]http.Handler{l: g.routes(), logs: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, jobLog) })} {
		go func() { _ = (&http.Server{Handler: h, ReadHeaderTimeout: time.Minute}).Serve(l) }() // until the program ends
	}
	return g, nil
}

func (g *github) routes() http.Handler {
	mux := http.NewServeMux()
	answer := func(pattern string, status int, doc func(r *http.Request) any) {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" /api/v3"+path, func(w http.ResponseWriter, r *http.Request) { g.reply(w, status, doc(r)) })
	}
	const repo = "/repos/" + fullName
	object := func(kv ...any) map[string]any {
		m := map[string]any{}
		for i := 0; i < len(kv); i += 2 {
			m[kv[i].(string)] = kv[i+1]
		}
		return m
	}
	answer("GET /app", 200, func(*http.Request) any { return object("id", 1, "slug", slug) })
	answer("POST /app/installations/{id}/access_tokens", 201, func(*http.Request) any {
		return object("token", "ghs_load", "expires_at", time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	})
	for _, path := range []string{"/app/hook/deliveries", "/app/installations"} { // nothing went untold
		answer("GET "+path, 200, func(*http.Request) any { return []any{} })
	}
	answer("GET /repositories/{id}", 200, func(*http.Request) any { return repository() })
	answer("GET "+repo, 200, func(*http.Request) any { return repository() })
	answer("GET "+repo+"/contents/.github/switchback.yml", 200, func(*http.Request) any {
		return object("type", "file", "encoding", "base64", "name", "switchback.yml", "path", ".github/switchback.yml",
			"content", base64.StdEncoding.EncodeToString([]byte(configuration)))
	})
	answer("GET "+repo+"/actions/runs/{id}", 200, func(r *http.Request) any { return run(number(r.PathValue("id"))) })
	answer("GET "+repo+"/actions/runs/{id}/attempts/{n}", 200, func(r *http.Request) any { return run(number(r.PathValue("id"))) })
	answer("GET "+repo+"/actions/workflows/{file}/runs", 200, func(*http.Request) any { return map[string]any{"total_count": 0, "workflow_runs": []any{}} }) // none has passed
	jobs := func(r *http.Request) any {
		return object("total_count", 1, "jobs", []any{object("id", number(r.PathValue("id")), "name", "unit", "status", "completed", "conclusion", "failure",
			"steps", []any{object("name", "go test", "number", 1, "status", "completed", "conclusion", "failure")})})
	}
	answer("GET "+repo+"/actions/runs/{id}/jobs", 200, jobs)
	answer("GET "+repo+"/actions/runs/{id}/attempts/{n}/jobs", 200, jobs)
	mux.HandleFunc("GET /api/v3"+repo+"/actions/jobs/{id}/logs", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, g.logs+"/log", http.StatusFound)
	})
	answer("GET "+repo+"/pulls", 200, func(*http.Request) any { return []any{} })
	answer("GET "+repo+"/compare/{basehead}", 200, func(*http.Request) any { // a base that has not moved
		return object("status", "ahead", "merge_base_commit", object("sha", sha(0), "commit", object("committer", object("date", "2026-01-02T03:00:00Z"))))
	})
	answer("GET "+repo+"/pulls/{n}", 200, func(r *http.Request) any { return pull(number(r.PathValue("n"))) })
	mux.HandleFunc("GET /api/v3"+repo+"/issues/{n}/{what}", func(w http.ResponseWriter, r *http.Request) {
		n, what := r.PathValue("n"), r.PathValue("what")
		switch doc := g.comment(number(what)); {
		case what == "comments": // of an issue
			g.mu.Lock()
			list := append([]map[string]any{}, g.comments[n]...)
			g.mu.Unlock()
			g.reply(w, http.StatusOK, list)
		case n == "comments" && doc != nil:
			g.reply(w, http.StatusOK, doc)
		default:
			g.reply(w, http.StatusNotFound, object("message", "Not Found"))
		}
	})
	answer("POST "+repo+"/issues/{n}/comments", 201, func(r *http.Request) any {
		c := g.made(r)
		c["user"] = object("login", slug+"[bot]", "type", "Bot")
		g.mu.Lock()
		defer g.mu.Unlock()
		g.comments[r.PathValue("n")] = append(g.comments[r.PathValue("n")], c)
		return c
	})
	answer("PATCH "+repo+"/issues/comments/{id}", 200, g.changed)
	answer("GET "+repo+"/commits/{sha}/check-runs", 200, func(*http.Request) any { return object("total_count", 0, "check_runs", []any{}) })
	answer("GET "+repo+"/commits/{sha}/pulls", 200, func(*http.Request) any { return []any{} })
	answer("POST "+repo+"/check-runs", 201, func(r *http.Request) any { return g.made(r) })
	answer("PATCH "+repo+"/check-runs/{id}", 200, g.changed)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || !strings.Contains(r.URL.Path, "/contents/") && !strings.Contains(r.URL.Path, "/git/") {
			g.mu.Lock()
			g.unknown[r.Method+" "+r.URL.Path]++
			g.mu.Unlock()
		}
		g.reply(w, http.StatusNotFound, object("message", "Not Found"))
	})
	return mux
}

func (g *github) reply(w http.ResponseWriter, status int, doc any) {
	g.mu.Lock()
	g.asked++
	g.mu.Unlock()
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(doc) // a client that went away
}

// made gives what was posted, with an id.
func (g *github) made(r *http.Request) map[string]any {
	doc := map[string]any{}
	_ = json.NewDecoder(r.Body).Decode(&doc) // the server writes JSON
	g.mu.Lock()
	defer g.mu.Unlock()
	g.next++
	doc["id"] = g.next
	return doc
}

// comment returns a comment, or nil.
func (g *github) comment(id int64) map[string]any {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, list := range g.comments {
		for _, c := range list {
			if c["id"] == id {
				return c
			}
		}
	}
	return nil
}

func (g *github) changed(r *http.Request) any {
	doc := g.made(r)
	doc["id"] = number(r.PathValue("id"))
	doc["user"] = map[string]any{"login": slug + "[bot]", "type": "Bot"}
	return doc
}

// A run's id tells its pull request: id = number × runsOf + n.
const runsOf = 1000

func run(id int64) map[string]any {
	n := id / runsOf
	return map[string]any{
		"id": id, "name": checkpoint, "run_attempt": 1, "run_number": id % runsOf, "event": "pull_request", "status": "completed", "conclusion": "failure",
		"head_branch": branch(n), "head_sha": sha(n), "path": ".github/workflows/ci.yml", "display_title": "Work on it", "workflow_id": 5,
		"html_url": fmt.Sprintf("https://github.example.com/%s/actions/runs/%d", fullName, id), "actor": user("dev"), "triggering_actor": user("dev"),
		"created_at": "2026-01-02T03:04:05Z", "updated_at": "2026-01-02T03:05:05Z", "run_started_at": "2026-01-02T03:04:05Z",
		"repository": repository(), "head_repository": repository(),
		"pull_requests": []any{map[string]any{"id": n, "number": n, "head": map[string]any{"ref": branch(n), "sha": sha(n)}}},
	}
}

func branch(n int64) string { return fmt.Sprintf("work-%d", n) }
func sha(n int64) string    { return fmt.Sprintf("%040x", n+0xabcdef0000) }

func number(s string) (n int64) {
	_, _ = fmt.Sscan(s, &n) // 0 if it is none
	return n
}

// jobLog is of a job whose test failed, among lines that say nothing.
var jobLog = func() string {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "2026-01-02T03:04:%02d.0000000Z === RUN   TestCase%d\n2026-01-02T03:04:%02d.0000000Z --- PASS: TestCase%d (0.01s)\n", i%60, i, i%60, i)
	}
	for _, line := range []string{"=== RUN   TestAdd", "    calc_test.go:7: Add(1, 2): got 4, want 3", "--- FAIL: TestAdd (0.00s)", "FAIL", "FAIL\texample.com/calc\t0.012s", "##[error]Process completed with exit code 1."} {
		b.WriteString("2026-01-02T03:05:00.0000000Z " + line + "\n")
	}
	return b.String()
}()
