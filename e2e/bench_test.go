package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
)

// clientEnv makes this test binary a client of the bench: its value is
// "METHOD URL", the requests are made one after the other.
const clientEnv = "SWITCHBACK_BENCH_CLIENT"

func TestMain(m *testing.M) {
	if list := os.Getenv(clientEnv); list != "" {
		os.Exit(client(list))
	}
	os.Exit(Main(m))
}

func client(list string) int {
	for _, line := range strings.Split(list, "\n") {
		var method, url, body string
		if _, err := fmt.Sscan(line, &method, &url); err != nil {
			return 3
		}
		if _, rest, ok := strings.Cut(line, "{"); ok {
			body = "{" + rest
		}
		res, err := request(os.Getenv("GITHUB_TOKEN"), method, os.Getenv("GITHUB_API_URL")+url, body, nil)
		if err != nil {
			return 4
		}
		res.Body.Close()
	}
	out, err := os.OpenFile(os.Getenv("GITHUB_OUTPUT"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = out.WriteString("done=yes\ntext<<E\na\nb\nE\n")
	}
	if err != nil {
		return 5
	}
	return 0
}

func request(token, method, url, body string, header http.Header) (*http.Response, error) {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for k, v := range header {
		req.Header[k] = v
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	return http.DefaultClient.Do(req)
}

// do makes a request as a program under test would and decodes the answer.
func do(t *testing.T, b *Bench, token, method, path string, in, out any) *http.Response {
	t.Helper()
	body := ""
	if in != nil {
		body = string(marshal(in))
	}
	res, err := request(token, method, b.URL+path, body, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if out != nil {
		if err := json.Unmarshal(data, out); err != nil {
			t.Fatalf("%s %s: %d: %v in %.300s", method, path, res.StatusCode, err, data)
		}
	}
	return res
}

func wantStatus(t *testing.T, res *http.Response, want int) {
	t.Helper()
	if res.StatusCode != want {
		t.Errorf("%s %s: status %d, want %d", res.Request.Method, res.Request.URL.Path, res.StatusCode, want)
	}
}

func TestBenchStart(t *testing.T) {
	b := Start(t)
	t.Logf("emulate %v, prism %v", b.EmulateStart, b.PrismStart)
	wantStatus(t, do(t, b, b.UserToken(Owner), "GET", "/user", nil, nil), 200)
	wantStatus(t, do(t, b, b.UserToken(Owner), "GET", "/api/v3/user", nil, nil), 200)
	wantStatus(t, do(t, b, "unknown", "GET", "/user", nil, nil), 401)
}

func TestBenchPullRequestAndComment(t *testing.T) {
	b := Start(t)
	r := b.NewRepo(t, map[string]string{".github/switchback.yml": "version: 1\n", "a/b.txt": "text"})
	if text, _, ok := r.File(t, "main", ".github/switchback.yml"); !ok || text != "version: 1\n" {
		t.Errorf("file: %q, %v", text, ok)
	}
	first := r.Commit(t, "feature/x", "change", map[string]string{"a/b.txt": "other"})
	n := r.PullRequest(t, Writer, "feature/x", "Title", "Body")
	second := r.Commit(t, "feature/x", "again", map[string]string{"a/b.txt": "third"})
	token := b.AppToken(t, ActionsAppID, r, nil)
	v := r.View()
	var pull struct {
		User User
		Head struct{ SHA, Ref string }
	}
	do(t, b, token, "GET", fmt.Sprintf("/repos/%s/pulls/%d", r.FullName, n), nil, &pull)
	if first == second || pull.Head.SHA != second || pull.User.Login != Writer {
		t.Errorf("pull request: %+v, want head %s", pull, second)
	}
	var list []struct{ Number int }
	do(t, b, token, "GET", "/repos/"+r.FullName+"/pulls?head="+Owner+":feature/x", nil, &list)
	if len(list) != 1 || list[0].Number != n {
		t.Errorf("by head: %+v", list)
	}
	do(t, b, token, "GET", "/repos/"+r.FullName+"/commits/"+second+"/pulls", nil, &list)
	if len(list) != 1 || list[0].Number != n {
		t.Errorf("by commit: %+v", list)
	}
	var c struct {
		Comment
		App struct{ ID int } `json:"performed_via_github_app"`
	}
	wantStatus(t, do(t, b, token, "POST", fmt.Sprintf("/repos/%s/issues/%d/comments", r.FullName, n), map[string]any{"body": "hello <b>"}, &c), 201)
	if c.User != (User{ActionsBot, "Bot"}) || c.App.ID != ActionsAppID || c.Body != "hello <b>" {
		t.Errorf("comment: %+v", c)
	}
	wantStatus(t, do(t, b, token, "PATCH", fmt.Sprintf("/repos/%s/issues/comments/%d", r.FullName, c.ID), map[string]any{"body": "edited"}, nil), 200)
	if got := r.Comments(t, n); len(got) != 1 || got[0].Body != "edited" || got[0].User.Login != ActionsBot {
		t.Errorf("comments: %+v", got)
	}
	wantStatus(t, do(t, b, token, "POST", fmt.Sprintf("/repos/%s/issues/%d/labels", r.FullName, n), map[string]any{"labels": []string{"turn"}}, nil), 200)
	var labelled []Issue
	do(t, b, token, "GET", "/repos/"+r.FullName+"/issues?labels=turn", nil, &labelled)
	if len(labelled) != 1 || labelled[0].PullRequest == nil || labelled[0].Number != n {
		t.Errorf("issues with the label: %+v", labelled)
	}
	var one Issue
	wantStatus(t, do(t, b, token, "GET", fmt.Sprintf("/repos/%s/issues/%d", r.FullName, n), nil, &one), 200)
	if one.PullRequest == nil || len(one.Labels) != 1 {
		t.Errorf("the pull request as an issue: %+v", one)
	}
	var labels struct{ Labels []Label }
	do(t, b, token, "GET", fmt.Sprintf("/repos/%s/pulls/%d", r.FullName, n), nil, &labels)
	if len(labels.Labels) != 1 || len(r.Issues(t)) != 0 {
		t.Errorf("the pull request's labels: %+v", labels)
	}
	if len(v.Requests()) != 9 || len(v.Content()) != 3 {
		t.Errorf("requests: %v", v.Requests())
	}
	if bad := v.Violations(); bad != nil {
		t.Errorf("violations: %q", bad)
	}
}

func TestBenchForkPullRequest(t *testing.T) {
	b := Start(t)
	r := b.NewRepo(t, map[string]string{"x": "1"})
	f := r.Fork(t, Stranger)
	sha := f.Commit(t, "patch", "p", map[string]string{"x": "2"})
	n := r.PullRequest(t, Stranger, Stranger+":patch", "T", "")
	var pull struct {
		Head struct {
			SHA  string
			Repo struct {
				FullName string `json:"full_name"`
				Fork     bool
			}
		}
	}
	do(t, b, b.UserToken(Owner), "GET", fmt.Sprintf("/repos/%s/pulls/%d", r.FullName, n), nil, &pull)
	if pull.Head.SHA != sha || pull.Head.Repo.FullName != f.FullName || !pull.Head.Repo.Fork {
		t.Errorf("pull request: %+v", pull)
	}
	var list []struct{ Number int }
	do(t, b, b.UserToken(Owner), "GET", "/repos/"+r.FullName+"/pulls?head="+Stranger+":patch", nil, &list)
	if len(list) != 1 {
		t.Errorf("by head: %+v", list)
	}
}

func TestBenchChecks(t *testing.T) {
	b := Start(t)
	r := b.NewRepo(t, nil)
	sha := r.SHA(t, "main")
	actions, app := b.AppToken(t, ActionsAppID, r, nil), b.AppToken(t, SwitchbackAppID, r, nil)
	v := r.View()
	in := map[string]any{"name": "switchback", "head_sha": sha, "status": "in_progress", "external_id": "k"}
	var made CheckRun
	path := "/repos/" + r.FullName + "/check-runs"
	wantStatus(t, do(t, b, app, "POST", path, in, &made), 201)
	wantStatus(t, do(t, b, b.UserToken(Owner), "POST", path, in, nil), 403)
	in["name"] = "other"
	wantStatus(t, do(t, b, actions, "POST", path, in, nil), 201)
	done := map[string]any{"status": "completed", "conclusion": "failure", "output": map[string]any{"title": "t", "summary": "s"}}
	wantStatus(t, do(t, b, actions, "PATCH", fmt.Sprint(path, "/", made.ID), done, nil), 403)
	wantStatus(t, do(t, b, app, "PATCH", fmt.Sprint(path, "/", made.ID), done, nil), 200)
	var list struct {
		Runs []CheckRun `json:"check_runs"`
	}
	do(t, b, app, "GET", "/repos/"+r.FullName+"/commits/"+sha+"/check-runs?check_name=switchback", nil, &list)
	if len(list.Runs) != 1 || list.Runs[0].Conclusion != "failure" || list.Runs[0].App.ID != SwitchbackAppID {
		t.Errorf("by name: %+v", list)
	}
	do(t, b, app, "GET", fmt.Sprintf("/repos/%s/commits/%s/check-runs?app_id=%d", r.FullName, sha, ActionsAppID), nil, &list)
	if len(list.Runs) != 1 || list.Runs[0].Name != "other" {
		t.Errorf("by app: %+v", list)
	}
	if got := r.CheckRuns(t, sha); len(got) != 2 {
		t.Errorf("check runs: %+v", got)
	}
	if bad := v.Violations(); bad != nil {
		t.Errorf("violations: %q", bad)
	}
}

func TestBenchLabelsAndIssues(t *testing.T) {
	b := Start(t)
	r := b.NewRepo(t, nil)
	token := b.AppToken(t, SwitchbackAppID, r, nil)
	v := r.View()
	wantStatus(t, do(t, b, token, "POST", "/repos/"+r.FullName+"/labels", map[string]any{"name": "switchback:design", "color": "d73a4a"}, nil), 201)
	wantStatus(t, do(t, b, token, "POST", "/repos/"+r.FullName+"/labels", map[string]any{"name": "switchback:design", "color": "d73a4a"}, nil), 422)
	var is Issue
	wantStatus(t, do(t, b, token, "POST", "/repos/"+r.FullName+"/issues", map[string]any{"title": "T", "body": "B", "labels": []string{"switchback:design"}}, &is), 201)
	var list []Issue
	do(t, b, token, "GET", "/repos/"+r.FullName+"/issues?state=open&labels=switchback:design", nil, &list)
	if len(list) != 1 || list[0].User != (User{SwitchbackBot, "Bot"}) {
		t.Errorf("issues: %+v", list)
	}
	wantStatus(t, do(t, b, token, "PATCH", fmt.Sprintf("/repos/%s/issues/%d", r.FullName, is.Number), map[string]any{"state": "closed", "state_reason": "completed"}, nil), 200)
	if got := r.Issues(t); len(got) != 1 || got[0].State != "closed" {
		t.Errorf("issues: %+v", got)
	}
	if got := r.IssueLabels(t, is.Number); len(got) != 1 {
		t.Errorf("labels: %v", got)
	}
	if bad := v.Violations(); bad != nil {
		t.Errorf("violations: %q", bad)
	}
	wantStatus(t, do(t, b, token, "POST", "/repos/"+r.FullName+"/issues", map[string]any{"body": "no title"}, nil), 422)
	if bad := v.Violations(); len(bad) != 1 {
		for _, q := range v.Requests() {
			t.Logf("%v %+v", q, q.Violations)
		}
		t.Errorf("a bad request is not reported: %q, %+v", bad, v.Requests())
	}
}

func TestBenchCompareAndSwap(t *testing.T) {
	b := Start(t)
	r := b.NewRepo(t, map[string]string{"l/case 1.jsonl": "1\n"})
	r.Branch(t, "switchback-ledger", r.SHA(t, "main"))
	_, sha, _ := r.File(t, "switchback-ledger", "l/case 1.jsonl")
	token := b.AppToken(t, ActionsAppID, r, nil)
	v := r.View()
	put := func(sha string) *http.Response {
		return do(t, b, token, "PUT", "/repos/"+r.FullName+"/contents/l/case%201.jsonl", map[string]any{"message": "m", "branch": "switchback-ledger",
			"content": base64.StdEncoding.EncodeToString([]byte("2\n" + sha)), "sha": sha}, nil)
	}
	wantStatus(t, put(sha), 200)
	wantStatus(t, put(sha), 409)
	head := r.SHA(t, "switchback-ledger")
	next := r.Commit(t, "switchback-ledger", "n", map[string]string{"x": "y"})
	side := r.Commit(t, "side", "s", map[string]string{"z": "z"})
	wantStatus(t, do(t, b, token, "PATCH", "/repos/"+r.FullName+"/git/refs/heads/switchback-ledger", map[string]any{"sha": side}, nil), 422)
	if got := r.SHA(t, "switchback-ledger"); got != next || got == head {
		t.Errorf("the ref moved to %s", got)
	}
	wantStatus(t, do(t, b, token, "POST", "/repos/"+r.FullName+"/git/refs", map[string]any{"ref": "refs/heads/side", "sha": side}, nil), 422)
	if bad := v.Violations(); bad != nil {
		t.Errorf("violations: %q", bad)
	}
}

func TestBenchPermissions(t *testing.T) {
	b := Start(t)
	r := b.NewRepo(t, nil)
	r.Grant(t, Writer, "push")
	r.Grant(t, Triager, "triage")
	token := b.AppToken(t, ActionsAppID, r, map[string]string{"contents": "read"})
	for login, want := range map[string]string{Owner: "admin", Writer: "write", Triager: "read", Stranger: "read"} {
		var got struct{ Permission string }
		do(t, b, token, "GET", "/repos/"+r.FullName+"/collaborators/"+login+"/permission", nil, &got)
		if got.Permission != want {
			t.Errorf("%s: %q, want %q", login, got.Permission, want)
		}
	}
	wantStatus(t, do(t, b, token, "GET", "/repos/"+r.FullName+"/collaborators/nobody/permission", nil, nil), 404)
	wantStatus(t, do(t, b, token, "GET", "/user", nil, nil), 403)
	var repos struct {
		Repositories []struct {
			FullName string `json:"full_name"`
		}
	}
	all := ""
	for page := 1; page == 1 || len(repos.Repositories) == 100; page++ {
		repos.Repositories = nil
		do(t, b, token, "GET", fmt.Sprintf("/installation/repositories?per_page=100&page=%d", page), nil, &repos)
		all += fmt.Sprint(repos)
	}
	if !strings.Contains(all, r.FullName+"}") {
		t.Errorf("repositories of the installation: %s", all)
	}
	wantStatus(t, do(t, b, token, "POST", "/repos/"+r.FullName+"/issues", map[string]any{"title": "T"}, nil), 403)
}

func TestBenchPages(t *testing.T) {
	b := Start(t)
	r := b.NewRepo(t, nil)
	n := issue(t, r)
	for i := range 31 {
		r.Comment(t, Stranger, n, fmt.Sprint(i))
	}
	v := r.View()
	url := fmt.Sprintf("%s/repos/%s/issues/%d/comments", b.URL, r.FullName, n)
	res, err := request(b.UserToken(Owner), "GET", url, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	m := regexp.MustCompile(`<(` + regexp.QuoteMeta(b.URL) + `[^>]*)>; rel="next"`).FindStringSubmatch(res.Header.Get("Link"))
	if m == nil {
		t.Fatalf("Link: %q", res.Header.Get("Link"))
	}
	var list []Comment
	do(t, b, b.UserToken(Owner), "GET", strings.TrimPrefix(m[1], b.URL), nil, &list)
	if len(list) != 1 || list[0].Body != "30" || len(v.Requests()) != 2 {
		t.Errorf("second page: %+v", list)
	}
}

func TestBenchLimits(t *testing.T) {
	b := Start(t)
	r := b.NewRepo(t, nil)
	path := fmt.Sprintf("/repos/%s/issues/%d/comments", r.FullName, issue(t, r))
	wantStatus(t, do(t, b, b.UserToken(Owner), "POST", path, map[string]any{"body": strings.Repeat("é", 65536)}, nil), 201)
	wantStatus(t, do(t, b, b.UserToken(Owner), "POST", path, map[string]any{"body": strings.Repeat("é", 65537)}, nil), 422)
}
