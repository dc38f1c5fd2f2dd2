package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestBenchRuns(t *testing.T) {
	b := Start(t)
	r := b.NewRepo(t, map[string]string{".github/workflows/rework.yml": "on: workflow_dispatch\n"})
	run := r.AddRun(Run{HeadSHA: r.SHA(t, "main"), HeadBranch: "main", Conclusion: "failure",
		Jobs:      []Job{{Name: "test", Log: "--- FAIL: TestX\n"}},
		Artifacts: []Artifact{{Name: "junit", Files: map[string]string{"junit.xml": "<testsuite/>"}}}})
	r.AddRun(Run{ID: run.ID, Attempt: 2, Conclusion: "success", Jobs: []Job{{Name: "test"}}})
	token := b.AppToken(t, ActionsAppID, r, nil)
	v := r.View()
	base := fmt.Sprintf("/repos/%s/actions/runs/%d", r.FullName, run.ID)
	var got struct {
		Conclusion string
		Attempt    int `json:"run_attempt"`
	}
	do(t, b, token, "GET", base, nil, &got)
	if got.Conclusion != "success" || got.Attempt != 2 {
		t.Errorf("latest: %+v", got)
	}
	do(t, b, token, "GET", base+"/attempts/1", nil, &got)
	if got.Conclusion != "failure" || got.Attempt != 1 {
		t.Errorf("first: %+v", got)
	}
	var jobs struct{ Jobs []struct{ ID int64 } }
	do(t, b, token, "GET", base+"/attempts/1/jobs", nil, &jobs)
	res, err := request(token, "GET", fmt.Sprintf("%s/repos/%s/actions/jobs/%d/logs", b.URL, r.FullName, jobs.Jobs[0].ID), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	log, _ := io.ReadAll(res.Body)
	res.Body.Close()
	if string(log) != "--- FAIL: TestX\n" || !strings.HasPrefix(res.Request.URL.Host, "localhost:") {
		t.Errorf("log: %q from %s", log, res.Request.URL)
	}
	var arts struct {
		Artifacts []struct {
			URL string `json:"archive_download_url"`
		}
	}
	do(t, b, token, "GET", base+"/artifacts", nil, &arts)
	res, err = request(token, "GET", arts.Artifacts[0].URL, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	zip, _ := io.ReadAll(res.Body)
	res.Body.Close()
	if !strings.HasPrefix(string(zip), "PK") {
		t.Errorf("artifact: %.100q", zip)
	}
	wantStatus(t, do(t, b, token, "POST", base+"/rerun-failed-jobs", nil, nil), 201)
	wantStatus(t, do(t, b, token, "POST", "/repos/"+r.FullName+"/dispatches", map[string]any{"event_type": "rework", "client_payload": map[string]any{"n": 1}}, nil), 204)
	wantStatus(t, do(t, b, token, "POST", "/repos/"+r.FullName+"/actions/workflows/rework.yml/dispatches", map[string]any{"ref": "main", "inputs": map[string]any{"a": "b"}}, nil), 204)
	wantStatus(t, do(t, b, token, "POST", "/repos/"+r.FullName+"/actions/workflows/none.yml/dispatches", map[string]any{"ref": "main"}, nil), 404)
	if d := r.Dispatches(); len(d) != 3 || d[0].Kind != "rerun-failed-jobs" || d[1].Name != "rework" || d[2].Login != ActionsBot {
		t.Errorf("dispatches: %+v", d)
	}
	if bad := v.Violations(); bad != nil {
		t.Errorf("violations: %q", bad)
	}
}

func TestBenchWebhooks(t *testing.T) {
	b := Start(t)
	got := make(chan *http.Request, 20)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-GitHub-Event") != "repository" { // of NewRepo, which may still be on its way
			got <- r
		}
	}))
	defer s.Close()
	r := b.NewRepo(t, nil)
	r.Deliver(s.URL)
	r.Comment(t, Stranger, issue(t, r), "hi")
	events := map[string]bool{} // they come in any order, as GitHub's do
	for range 2 {
		q := <-got
		events[q.Header.Get("X-GitHub-Event")] = q.Header.Get("X-Hub-Signature-256") != ""
	}
	if !events["issues"] || !events["issue_comment"] {
		t.Errorf("events: %v", events)
	}
	r.Deliver("")
	lost := r.Send(t, "workflow_run", r.RunPayload(r.AddRun(Run{HeadSHA: r.SHA(t, "main"), Conclusion: "failure"}), "completed"))
	r.Deliver(s.URL)
	jwt, err := b.tokens.jwt(SwitchbackAppID, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	wantStatus(t, do(t, b, jwt, "GET", "/app", nil, nil), 200)
	var list []struct{ GUID string }
	do(t, b, jwt, "GET", "/app/hook/deliveries?per_page=100&status=failure", nil, &list)
	if !strings.Contains(fmt.Sprint(list), lost.GUID) {
		t.Errorf("deliveries: %v", list)
	}
	wantStatus(t, do(t, b, jwt, "POST", fmt.Sprintf("/app/hook/deliveries/%d/attempts", lost.ID), nil, nil), 202)
	if q := <-got; q.Header.Get("X-GitHub-Delivery") != lost.GUID {
		t.Errorf("redelivered: %v", q.Header)
	}
}

func issue(t *testing.T, r *Repo) int {
	t.Helper()
	var out Issue
	r.Must(t, "POST", "/issues", map[string]any{"title": "T"}, &out)
	return out.Number
}

func TestBenchActionlint(t *testing.T) {
	b := Start(t)
	cmd := exec.Command(b.Tool(t, "actionlint"), "-version")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
