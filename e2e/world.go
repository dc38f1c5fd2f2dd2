package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// Repo is a repository of the bench. Its methods act as its owner, past the
// recorder: only what the program under test does is recorded.
type Repo struct {
	Owner, Name, FullName string
	ID                    int64

	bench *Bench
	token string
}

// Call makes a request past recorder and validator and returns the status.
// In and out are JSON; out may be nil, and is left alone unless the status is
// below 300.
func (b *Bench) Call(tb testing.TB, token, method, path string, in, out any) int {
	tb.Helper()
	var body bytes.Buffer
	if in != nil {
		body.Write(marshal(in))
	}
	req := httptest.NewRequest(method, b.URL+path, &body)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	req.Header.Set("Content-Type", "application/json")
	res := &answer{header: http.Header{}}
	b.gaps.ServeHTTP(res, req)
	if out != nil && res.status < 300 {
		if err := json.Unmarshal(res.body.Bytes(), out); err != nil {
			tb.Fatalf("bench: %s %s: %v in %.500s", method, path, err, res.body.String())
		}
	}
	if res.status >= 300 {
		tb.Logf("bench: %s %s → %d %.300s", method, path, res.status, res.body.String())
	}
	return res.status
}

// must is Call, failing the test unless the answer is a success.
func (b *Bench) must(tb testing.TB, token, method, path string, in, out any) {
	tb.Helper()
	if s := b.Call(tb, token, method, path, in, out); s >= 300 {
		tb.Fatalf("bench: %s %s: status %d", method, path, s)
	}
}

// Must makes a request below the repository's path as its owner and fails the
// test unless the answer is a success.
func (r *Repo) Must(tb testing.TB, method, path string, in, out any) {
	tb.Helper()
	r.bench.must(tb, r.token, method, "/repos/"+r.FullName+path, in, out)
}

func (r *Repo) get(tb testing.TB, path string, out any) {
	tb.Helper()
	r.Must(tb, "GET", path, nil, out)
}

// View returns the requests to this repository from now on.
func (r *Repo) View() *View { return r.bench.View(r.FullName) }

// NewRepo makes a public repository of Owner with files on main.
func (b *Bench) NewRepo(tb testing.TB, files map[string]string) *Repo {
	tb.Helper()
	b.mu.Lock()
	b.repos++
	name := fmt.Sprintf("repo-%d", b.repos)
	b.mu.Unlock()
	r := b.adopt(tb, Owner, "POST", "/user/repos", map[string]any{"name": name, "auto_init": true})
	if len(files) > 0 {
		r.Commit(tb, "main", "first", files)
	}
	return r
}

func (b *Bench) adopt(tb testing.TB, login, method, path string, in any) *Repo {
	tb.Helper()
	var out struct {
		ID       int64
		Name     string
		FullName string `json:"full_name"`
	}
	b.must(tb, b.UserToken(login), method, path, in, &out)
	return &Repo{Owner: login, Name: out.Name, FullName: out.FullName, ID: out.ID, bench: b, token: b.UserToken(login)}
}

// Fork makes a fork owned by another of the bench's users. Emulate starts it
// with a history of its own, so Fork copies the files of main.
func (r *Repo) Fork(tb testing.TB, login string) *Repo {
	tb.Helper()
	f := r.bench.adopt(tb, login, "POST", "/repos/"+r.FullName+"/forks", map[string]any{})
	f.Commit(tb, "main", "copy", r.Tree(tb, "main"))
	return f
}

// Grant makes a user a collaborator: pull, triage, push, maintain or admin.
func (r *Repo) Grant(tb testing.TB, login, permission string) {
	tb.Helper()
	r.Must(tb, "PUT", "/collaborators/"+login, map[string]any{"permission": permission}, nil)
}

// SHA returns the commit a branch is at.
func (r *Repo) SHA(tb testing.TB, branch string) string {
	tb.Helper()
	var ref struct{ Object struct{ SHA string } }
	r.get(tb, "/git/ref/heads/"+branch, &ref)
	return ref.Object.SHA
}

// Branch makes a branch at a commit.
func (r *Repo) Branch(tb testing.TB, name, sha string) {
	tb.Helper()
	r.Must(tb, "POST", "/git/refs", map[string]any{"ref": "refs/heads/" + name, "sha": sha}, nil)
}

// Commit puts files on a branch in one commit, makes the branch from main if
// there is none, and returns the commit. An open pull request's head follows.
func (r *Repo) Commit(tb testing.TB, branch, message string, files map[string]string) string {
	tb.Helper()
	var ref struct{ Object struct{ SHA string } }
	if r.bench.gaps.ask("/repos/"+r.FullName+"/git/ref/heads/"+branch, &ref) != http.StatusOK {
		ref.Object.SHA = r.SHA(tb, "main")
		r.Branch(tb, branch, ref.Object.SHA)
	}
	parent := ref.Object.SHA
	var base struct{ Tree struct{ SHA string } }
	r.get(tb, "/git/commits/"+parent, &base)
	tree := []any{}
	for path, text := range files {
		tree = append(tree, map[string]any{"path": path, "mode": "100644", "type": "blob", "content": text})
	}
	var made struct{ SHA string }
	r.Must(tb, "POST", "/git/trees", map[string]any{"base_tree": base.Tree.SHA, "tree": tree}, &made)
	r.Must(tb, "POST", "/git/commits", map[string]any{"message": message, "tree": made.SHA, "parents": []string{parent}}, &made)
	r.Must(tb, "PATCH", "/git/refs/heads/"+branch, map[string]any{"sha": made.SHA}, nil)
	return made.SHA
}

// PullRequest opens a pull request against main as login and returns its
// number. For a fork's branch, head is "login:branch".
func (r *Repo) PullRequest(tb testing.TB, login, head, title, body string) int {
	tb.Helper()
	var out struct{ Number int }
	r.bench.must(tb, r.bench.UserToken(login), "POST", "/repos/"+r.FullName+"/pulls",
		map[string]any{"title": title, "body": body, "head": head, "base": "main"}, &out)
	return out.Number
}

// Comment posts on an issue or pull request as login and returns the id.
func (r *Repo) Comment(tb testing.TB, login string, number int, body string) int64 {
	tb.Helper()
	var out struct{ ID int64 }
	r.bench.must(tb, r.bench.UserToken(login), "POST", fmt.Sprintf("/repos/%s/issues/%d/comments", r.FullName, number), map[string]any{"body": body}, &out)
	return out.ID
}

// AddRun files an attempt of a workflow run, its jobs, logs and artifacts. The
// run it returns has its ids; use its ID for the next attempt.
func (r *Repo) AddRun(run Run) *Run { return r.bench.gaps.addRun(r.FullName, run) }

// OnDispatch lets fn do what GitHub does with whatever is asked to start from
// now on, before who asked is answered.
func (r *Repo) OnDispatch(fn func(Dispatch)) {
	r.bench.gaps.mu.Lock()
	defer r.bench.gaps.mu.Unlock()
	r.bench.gaps.begins[r.FullName] = fn
}

// SetRun changes a run that was added.
func (r *Repo) SetRun(id int64, change func(*Run)) *Run {
	return r.bench.gaps.setRun(r.FullName, id, change)
}

// RunPayload is the run as a workflow_run event's payload gives it; action is
// requested, in_progress or completed.
func (r *Repo) RunPayload(run *Run, action string) map[string]any {
	js := r.bench.gaps.runJSON(run)
	return map[string]any{"action": action, "workflow_run": js, "repository": js["repository"], "sender": js["actor"],
		"workflow": map[string]any{"id": js["workflow_id"], "name": run.Name, "path": run.Path, "state": "active"}}
}

// Dispatches returns the workflows that were asked to start, oldest first.
func (r *Repo) Dispatches() []Dispatch {
	r.bench.gaps.mu.Lock()
	defer r.bench.gaps.mu.Unlock()
	return append([]Dispatch(nil), r.bench.gaps.dispatches[r.FullName]...)
}

// File returns a file of a branch and its blob's SHA; ok is false if there is none.
func (r *Repo) File(tb testing.TB, branch, path string) (text, sha string, ok bool) {
	tb.Helper()
	var out struct{ Content, SHA string }
	if r.bench.gaps.ask("/repos/"+r.FullName+"/contents/"+path+"?ref="+url.QueryEscape(branch), &out) != http.StatusOK {
		return "", "", false
	}
	data, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(out.Content, "\n", ""))
	if err != nil {
		tb.Fatalf("bench: %s: %v", path, err)
	}
	return string(data), out.SHA, true
}

// Tree returns all files of a branch; nil if there is no such branch.
func (r *Repo) Tree(tb testing.TB, branch string) map[string]string {
	tb.Helper()
	var out struct {
		Tree []struct{ Path, Type, SHA string }
	}
	if r.bench.gaps.ask("/repos/"+r.FullName+"/git/trees/"+branch+"?recursive=1", &out) != http.StatusOK {
		return nil
	}
	files := map[string]string{}
	for _, e := range out.Tree {
		if e.Type != "blob" {
			continue
		}
		if text, known := r.bench.blobs.Load(e.SHA); known {
			files[e.Path] = text.(string)
			continue
		}
		text, sha, _ := r.File(tb, branch, e.Path) // of a newer commit, perhaps
		r.bench.blobs.Store(sha, text)
		files[e.Path] = text
	}
	return maps.Clone(files)
}
