package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// This file has the routes whose answers emulate has, but not as GitHub does.

// user refuses installation tokens: emulate would name the account's owner.
func (g *gaps) user(w http.ResponseWriter, r *http.Request) {
	if id, _ := g.tokens.who(r.Header.Get("Authorization")); id.App != 0 {
		fail(w, http.StatusForbidden, "Resource not accessible by integration")
		return
	}
	g.forward(w, r)
}

// installationRepos lists the repositories of Owner: all that tests have made.
func (g *gaps) installationRepos(w http.ResponseWriter, r *http.Request) {
	id, _ := g.tokens.who(r.Header.Get("Authorization"))
	if id.App == 0 {
		fail(w, http.StatusForbidden, "You must authenticate with an installation access token in order to list repositories for an installation.")
		return
	}
	all := []any{}
	for page := 1; ; page++ {
		var some []any
		g.ask(fmt.Sprintf("/users/%s/repos?per_page=100&page=%d", Owner, page), &some)
		if all = append(all, some...); len(some) < 100 {
			break
		}
	}
	g.mu.Lock()
	chosen := g.chosen
	g.mu.Unlock()
	if id.App == SwitchbackAppID && len(chosen) > 0 {
		all = slices.DeleteFunc(all, func(repo any) bool {
			m, _ := repo.(map[string]any)
			return !slices.Contains(chosen, fmt.Sprint(m["full_name"]))
		})
	}
	page, link := paginate(r, g.base, all)
	w.Header()["Link"] = link
	reply(w, http.StatusOK, map[string]any{"total_count": len(all), "repository_selection": "all", "repositories": page})
}

// permission uses GitHub's four legacy words and answers for any user.
func (g *gaps) permission(w http.ResponseWriter, r *http.Request) {
	var user, repo, have map[string]any
	if g.ask("/repos/"+repoName(r), &repo) != http.StatusOK || g.ask("/users/"+r.PathValue("login"), &user) != http.StatusOK {
		fail(w, http.StatusNotFound, "Not Found")
		return
	}
	role := "read"
	if repo["private"] == true {
		role = "none"
	}
	if g.ask(r.URL.Path, &have) == http.StatusOK {
		role = fmt.Sprint(have["role_name"])
	}
	legacy := role
	switch role {
	case "maintain":
		legacy = "write"
	case "triage":
		legacy = "read"
	}
	reply(w, http.StatusOK, map[string]any{"permission": legacy, "role_name": role, "user": user})
}

// assignable says if an issue can be assigned to a user: to a collaborator.
func (g *gaps) assignable(w http.ResponseWriter, r *http.Request) {
	var repo struct{ Owner struct{ Login string } }
	login := r.PathValue("login")
	g.ask("/repos/"+repoName(r), &repo)
	if strings.EqualFold(repo.Owner.Login, login) || g.ask("/repos/"+repoName(r)+"/collaborators/"+login+"/permission", nil) == http.StatusOK {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	fail(w, http.StatusNotFound, "Not Found")
}

// pullsOfCommit lists the open pull requests whose head, in this repository,
// is the commit or contains it. Those from forks are not found here.
func (g *gaps) pullsOfCommit(w http.ResponseWriter, r *http.Request) {
	repo, sha := repoName(r), r.PathValue("sha")
	var pulls []map[string]any
	g.ask("/repos/"+repo+"/pulls?state=open&per_page=100", &pulls)
	out := []any{}
	for _, p := range pulls {
		g.correct(p)
		head := p["head"].(map[string]any)
		from, _ := head["repo"].(map[string]any)
		if from != nil && from["full_name"] == repo && (head["sha"] == sha || g.contains(repo, p, sha)) {
			out = append(out, p)
		}
	}
	reply(w, http.StatusOK, out)
}

func (g *gaps) contains(repo string, pull map[string]any, sha string) bool {
	var cmp struct{ Commits []struct{ SHA string } }
	head := pull["head"].(map[string]any)
	base := pull["base"].(map[string]any)
	g.ask(fmt.Sprintf("/repos/%s/compare/%v...%v", repo, base["ref"], head["sha"]), &cmp)
	for _, c := range cmp.Commits {
		if c.SHA == sha {
			return true
		}
	}
	return false
}

var issueList = regexp.MustCompile(`^/repos/([^/]+/[^/]+)/issues$`)

// showIssue answers for pull requests too, which emulate does not find here.
func (g *gaps) showIssue(w http.ResponseWriter, r *http.Request) {
	if issue := g.pullIssue(repoName(r), r.PathValue("number")); issue != nil {
		reply(w, http.StatusOK, issue)
		return
	}
	g.forward(w, r)
}

// pullIssue returns a pull request as the issue it is too; nil if it is none.
func (g *gaps) pullIssue(repo, number string) map[string]any {
	var pull map[string]any
	if g.ask("/repos/"+repo+"/pulls/"+number, &pull) != http.StatusOK {
		return nil
	}
	at := g.base + "/repos/" + repo
	issue := map[string]any{"url": at + "/issues/" + number, "repository_url": at, "html_url": pull["html_url"],
		"labels_url": at + "/issues/" + number + "/labels{/name}", "comments_url": at + "/issues/" + number + "/comments",
		"events_url": at + "/issues/" + number + "/events", "timeline_url": at + "/issues/" + number + "/timeline", "performed_via_github_app": nil}
	for _, k := range []string{"id", "node_id", "number", "title", "user", "labels", "state", "locked", "assignee", "assignees", "milestone",
		"comments", "created_at", "updated_at", "closed_at", "body", "author_association", "active_lock_reason", "draft"} {
		issue[k] = pull[k]
	}
	g.correct(issue)
	return issue
}

// markPull gives an issue that is a pull request the key that says so.
func (g *gaps) markPull(issue map[string]any) {
	path := fmt.Sprintf("%s/pulls/%v", strings.TrimPrefix(fmt.Sprint(issue["repository_url"]), g.base), issue["number"])
	if g.isPull(path) {
		issue["pull_request"] = map[string]any{"url": g.base + path, "html_url": strings.Replace(fmt.Sprint(issue["html_url"]), "/issues/", "/pull/", 1),
			"diff_url": g.base + path + ".diff", "patch_url": g.base + path + ".patch", "merged_at": nil}
	}
}

// isPull reports whether an issue's number is that of a pull request. It stays one, so emulate is
// asked once.
func (g *gaps) isPull(path string) bool {
	if is, known := g.pulls.Load(path); known {
		return is.(bool)
	}
	status := g.ask(path, nil)
	if status == http.StatusOK || status == http.StatusNotFound {
		g.pulls.Store(path, status == http.StatusOK)
	}
	return status == http.StatusOK
}

// withPulls adds the pull requests to the first page of a list of issues:
// to GitHub they are issues, emulate leaves them out.
func (g *gaps) withPulls(repo string, q url.Values, list any) any {
	issues, ok := list.([]any)
	if page := q.Get("page"); !ok || page != "" && page != "1" {
		return list
	}
	state := q.Get("state")
	if state == "" {
		state = "open"
	}
	var pulls []struct{ Number int }
	g.ask("/repos/"+repo+"/pulls?per_page=100&state="+state, &pulls)
	for _, p := range pulls {
		if issue := g.pullIssue(repo, strconv.Itoa(p.Number)); issue != nil && chosen(issue, q) {
			issues = append(issues, issue)
		}
	}
	slices.SortStableFunc(issues, func(a, b any) int {
		n := func(v any) int { return int(v.(map[string]any)["number"].(float64)) }
		if q.Get("direction") == "asc" {
			return n(a) - n(b)
		}
		return n(b) - n(a)
	})
	return issues
}

// chosen applies the labels and creator filters of a list of issues.
func chosen(issue map[string]any, q url.Values) bool {
	user, _ := issue["user"].(map[string]any)
	if c := q.Get("creator"); c != "" && user["login"] != c {
		return false
	}
	have := map[string]bool{}
	labels, _ := issue["labels"].([]any)
	for _, l := range labels {
		have[fmt.Sprint(l.(map[string]any)["name"])] = true
	}
	for want := range strings.SplitSeq(q.Get("labels"), ",") {
		if want != "" && !have[want] {
			return false
		}
	}
	return true
}

// needApp refuses users' own tokens, which cannot make check runs.
func (g *gaps) needApp(w http.ResponseWriter, r *http.Request) {
	if id, _ := g.tokens.who(r.Header.Get("Authorization")); id.App == 0 {
		fail(w, http.StatusForbidden, "You must authenticate via a GitHub App.")
		return
	}
	g.forward(w, r)
}

// editCheckRun refuses Apps that did not make the check run.
func (g *gaps) editCheckRun(w http.ResponseWriter, r *http.Request) {
	id, _ := g.tokens.who(r.Header.Get("Authorization"))
	g.mu.Lock()
	maker, known := g.checkApp[r.URL.Path]
	g.mu.Unlock()
	if known && maker != id.App {
		fail(w, http.StatusForbidden, fmt.Sprintf("Invalid app_id `%d` - check run can only be modified by the GitHub App that created it.", id.App))
		return
	}
	g.needApp(w, r)
}

// Dispatch is a workflow that was asked to start.
type Dispatch struct {
	Kind  string // repository_dispatch, workflow_dispatch, rerun, rerun-failed-jobs, rerun-job or cancel
	Name  string // event type, workflow file, run id or job id
	Ref   string
	Login string // who asked
	Body  map[string]any
}

func (g *gaps) record(r *http.Request, d Dispatch) {
	id, _ := g.tokens.who(r.Header.Get("Authorization"))
	d.Login = id.Login
	g.mu.Lock()
	g.dispatches[repoName(r)] = append(g.dispatches[repoName(r)], d)
	begin := g.begins[repoName(r)]
	g.mu.Unlock()
	if begin != nil {
		begin(d)
	}
}

func (g *gaps) repositoryDispatch(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	if err := readJSON(r, &body); err != nil || body["event_type"] == nil {
		fail(w, http.StatusUnprocessableEntity, "Invalid request.")
		return
	}
	if payload, ok := body["client_payload"].(map[string]any); ok && len(payload) > 10 {
		fail(w, http.StatusUnprocessableEntity, "No more than 10 properties are allowed in client_payload")
		return
	}
	g.record(r, Dispatch{Kind: "repository_dispatch", Name: fmt.Sprint(body["event_type"]), Body: body})
	w.WriteHeader(http.StatusNoContent)
}

func (g *gaps) workflowDispatch(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	if err := readJSON(r, &body); err != nil || body["ref"] == nil {
		fail(w, http.StatusUnprocessableEntity, "Invalid request.")
		return
	}
	ref := strings.TrimPrefix(fmt.Sprint(body["ref"]), "refs/heads/")
	if g.ask("/repos/"+repoName(r)+"/git/ref/heads/"+ref, nil) != http.StatusOK {
		fail(w, http.StatusUnprocessableEntity, "No ref found for: "+ref)
		return
	}
	if g.ask("/repos/"+repoName(r)+"/contents/.github/workflows/"+r.PathValue("workflow")+"?ref="+ref, nil) != http.StatusOK {
		fail(w, http.StatusNotFound, "Not Found")
		return
	}
	g.record(r, Dispatch{Kind: "workflow_dispatch", Name: r.PathValue("workflow"), Ref: ref, Body: body})
	w.WriteHeader(http.StatusNoContent)
}

// serveBlob gives what a redirect points to. As GitHub's storage does, it
// refuses a client that passes its token on.
func (g *gaps) serveBlob(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	b, ok := g.blobs[r.PathValue("name")]
	g.mu.Unlock()
	switch {
	case r.Header.Get("Authorization") != "":
		http.Error(w, "AuthenticationFailed: a signed URL takes no Authorization header", http.StatusForbidden)
	case !ok:
		http.Error(w, "BlobNotFound", http.StatusNotFound)
	default:
		w.Header().Set("Content-Type", b.contentType)
		_, _ = w.Write(b.data)
	}
}

// redirect offers data at a URL of another host and sends the client there.
func (g *gaps) redirect(w http.ResponseWriter, contentType string, data []byte) {
	name := randomHex(16)
	g.mu.Lock()
	g.blobs[name] = blob{contentType, data}
	g.mu.Unlock()
	w.Header().Set(redirectHeader, strings.Replace(g.base, "127.0.0.1", "localhost", 1)+"/_bench/blob/"+name)
	w.Header().Set("Content-Type", "text/plain")
	_, _ = io.WriteString(w, "moved\n")
}

// compare finds the commits of forks too: in the fork, whose branch of the base's name has the
// commits that it was made with.
func (g *gaps) compare(w http.ResponseWriter, r *http.Request) {
	if g.ask(r.URL.Path, nil) != http.StatusNotFound {
		g.forward(w, r)
		return
	}
	_, head, _ := strings.Cut(r.PathValue("basehead"), "...")
	var pulls []map[string]any
	g.ask("/repos/"+repoName(r)+"/pulls?state=all&per_page=100", &pulls)
	for _, p := range pulls {
		h, _ := p["head"].(map[string]any)
		from, _ := h["repo"].(map[string]any)
		if h["sha"] != head || from == nil {
			continue
		}
		var found map[string]any
		if g.ask(fmt.Sprintf("/repos/%v/compare/%s", from["full_name"], r.PathValue("basehead")), &found) == http.StatusOK {
			reply(w, http.StatusOK, found)
			return
		}
	}
	fail(w, http.StatusNotFound, "Not Found")
}
