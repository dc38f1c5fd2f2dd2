package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/e2e"
)

func TestPullRequestOf(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"a": "1"})
	ctx := context.Background()
	sha := w.repo.Commit(t, "feature/x", "c", map[string]string{"a": "2"})
	n := w.repo.PullRequest(t, e2e.Owner, "feature/x", "Title", "")
	w.repo.Must(t, "POST", fmt.Sprintf("/issues/%d/labels", n), map[string]any{"labels": []string{"l"}}, nil)
	fork := w.repo.Fork(t, e2e.Stranger)
	forkSHA := fork.Commit(t, "patch", "c", map[string]string{"a": "3"})
	m := w.repo.PullRequest(t, e2e.Stranger, e2e.Stranger+":patch", "Fork", "")

	p := ok(w.PullRequests.Get(ctx, w.r, n))(t)
	if p.Number != n || p.HeadSHA != sha || p.HeadRef != "feature/x" || p.HeadRepo != w.r.String() || p.BaseRef != "main" || p.BaseSHA == "" ||
		p.Author != e2e.Owner || p.Title != "Title" || p.State != "open" || p.Draft || p.Fork || !slices.Equal(p.Labels, []string{"l"}) {
		t.Errorf("pull request: %+v", p)
	}
	for _, c := range []struct {
		sha, repo, ref string
		want           int
	}{
		{sha, w.r.String(), "feature/x", n},
		{sha, strings.ToUpper(w.r.String()), "", n},
		{forkSHA, fork.FullName, "patch", m},
		{forkSHA, fork.FullName, "other", 0},
		{forkSHA, w.r.String(), "patch", 0},
		{sha, fork.FullName, "patch", 0},
		{sha, "", "feature/x", 0},
		{w.repo.SHA(t, "main"), w.r.String(), "feature/x", 0},
		{strings.Repeat("0", 40), fork.FullName, "patch", 0},
	} {
		got, found, err := w.PullRequests.FindByHead(ctx, w.r, c.sha, c.repo, c.ref)
		if err != nil || found != (c.want != 0) || got.Number != c.want {
			t.Errorf("%+v: %+v, %v, %v", c, got, found, err)
		}
		if found && got.Fork != (c.want == m) {
			t.Errorf("%+v: fork %v", c, got.Fork)
		}
	}
	defer w.view.Fault(e2e.Fault{Path: regexp.MustCompile(`/pulls$`), Times: -1, Status: 500})()
	_, found, err := w.PullRequests.FindByHead(ctx, w.r, sha, w.r.String(), "feature/x")
	if wantKind(t, err, advice.Later); found {
		t.Error("found in a listing that failed")
	}
	_, _, err = w.PullRequests.FindByHead(ctx, w.r, "../../x", "", "")
	wantKind(t, err, advice.Fail)
}

func TestSeveralPullRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	sha := strings.Repeat("a", 40)
	one := `{"number":%d,"state":"open","head":{"sha":"` + sha + `","repo":{"full_name":"f/r"}}}`
	defer w.view.Fault(e2e.Fault{Path: regexp.MustCompile(`/pulls$`), Status: 200, Body: fmt.Sprintf("["+one+","+one+"]", 1, 2)})()
	if _, found, err := w.PullRequests.FindByHead(context.Background(), w.r, sha, "f/r", "b"); found || !errors.Is(err, ErrSeveral) {
		t.Errorf("guessed: %v, %v", found, err)
	}
}

func TestRunJobsAndLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ctx := context.Background()
	jobs := []e2e.Job{{Name: "build", Log: "line 1\nline 2\n", Steps: []e2e.Step{{Name: "make", Conclusion: "failure"}}}, {Name: "never", NoLog: true}}
	for i := range 130 {
		jobs = append(jobs, e2e.Job{Name: fmt.Sprint("matrix ", i)})
	}
	x := w.repo.AddRun(e2e.Run{HeadSHA: w.repo.SHA(t, "main"), HeadBranch: "main", Conclusion: "failure", Pulls: []int{7}, Jobs: jobs})
	w.repo.AddRun(e2e.Run{ID: x.ID, Attempt: 2, HeadSHA: x.HeadSHA, Conclusion: "success", Jobs: jobs[:1]})
	run := ok(w.Runs.Get(ctx, w.r, x.ID, 1))(t)
	if run.ID != x.ID || run.Attempt != 1 || run.WorkflowPath != ".github/workflows/ci.yml" || run.Conclusion != "failure" || run.HeadSHA != x.HeadSHA ||
		run.HeadRepo != w.r.String() || run.Event != "pull_request" || !slices.Equal(run.PullRequests, []int{7}) || run.CreatedAt.IsZero() || run.URL == "" {
		t.Errorf("run: %+v", run)
	}
	if run := ok(w.Runs.Get(ctx, w.r, x.ID, 0))(t); run.Attempt != 2 {
		t.Errorf("latest: %+v", run)
	}
	all := ok(w.Jobs.List(ctx, w.r, x.ID, 1))(t)
	if len(all) != 132 || all[0].Steps[0].Conclusion != "failure" || all[0].RunnerName == "" || all[0].StartedAt.IsZero() {
		t.Errorf("%d jobs, the first %+v", len(all), all[0])
	}
	if got := ok(w.Jobs.List(ctx, w.r, x.ID, 0))(t); len(got) != 1 {
		t.Errorf("latest attempt: %d jobs", len(got))
	}
	// The bench's storage is another host and refuses a token.
	for name, f := range map[string]e2e.Fault{"none": {Path: regexp.MustCompile("^$")}, "502": {Status: 502}, "dropped": {Drop: e2e.Before}, "429": e2e.RateLimited(429, time.Second)} {
		remove := w.view.Fault(f)
		body := ok(w.Jobs.Log(ctx, w.r, all[0].ID))(t)
		data := ok(io.ReadAll(body))(t)
		if body.Close(); string(data) != jobs[0].Log {
			t.Errorf("%s: log %q", name, data)
		}
		remove()
	}
	_, err := w.Jobs.Log(ctx, w.r, all[1].ID)
	if wantKind(t, err, advice.Gone); !errors.Is(err, ErrNotFound) {
		t.Errorf("a job without log: %v", err)
	}
	_, err = w.Runs.Get(ctx, w.r, 1, 0)
	wantKind(t, err, advice.Gone)
	remove := w.view.Fault(e2e.Fault{Path: regexp.MustCompile(`/jobs$`), Status: 200, Body: `{"total_count":5,"jobs":[{"id":1}]}`})
	defer remove()
	if _, err := w.Jobs.List(ctx, w.r, x.ID, 1); !errors.Is(err, ErrIncomplete) {
		t.Errorf("one of five jobs: %v", err)
	}
}

func TestArtifacts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ctx := context.Background()
	x := w.repo.AddRun(e2e.Run{HeadSHA: w.repo.SHA(t, "main"), Artifacts: []e2e.Artifact{
		{Name: "reports", Files: map[string]string{"a/junit.xml": "<x/>", "b.txt": "no"}}, {Name: "old", Expired: true}}})
	list := ok(w.Artifacts.List(ctx, w.r, x.ID))(t)
	if len(list) != 2 || list[0].Name != "reports" || list[0].Size == 0 || !list[1].Expired {
		t.Fatalf("artifacts: %+v", list)
	}
	xml := func(name string) bool { return strings.HasSuffix(name, ".xml") }
	archives := w.Artifacts.Archives(w.r, t.TempDir())
	files := ok(archives.Open(ctx, list[0], xml))(t)
	if len(files) != 1 || files[0].Name != "a/junit.xml" {
		t.Fatalf("%v", files)
	}
	for range 2 {
		rc := ok(files[0].Open())(t)
		if data := ok(io.ReadAll(rc))(t); string(data) != "<x/>" {
			t.Errorf("%s", data)
		}
		if err := errors.Join(rc.Close(), rc.Close()); err != nil {
			t.Error(err)
		}
	}
	for _, expired := range []bool{true, false} { // as listed, and as if it expired since
		list[1].Expired = expired
		_, err := archives.Open(ctx, list[1], xml)
		wantKind(t, err, advice.Gone)
	}
}

func TestFileAndTree(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{".github/switchback.yml": "version: 1\n", "d/ü #1?.txt": "é"})
	ctx := context.Background()
	for name, want := range map[string]string{".github/switchback.yml": "version: 1\n", "d/ü #1?.txt": "é"} {
		if got := ok(w.Contents.Get(ctx, w.r, name, "main"))(t); string(got) != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, name := range []string{"none", "d"} {
		if _, err := w.Contents.Get(ctx, w.r, name, ""); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"../x", "/x", "a/../../x", "", "a//b"} {
		_, err := w.Contents.Get(ctx, w.r, name, "")
		wantKind(t, err, advice.Fail)
	}
	paths, truncated, err := w.Contents.Tree(ctx, w.r, w.repo.SHA(t, "main"))
	if err != nil || truncated || !slices.Contains(paths, "d/ü #1?.txt") || slices.Contains(paths, "d") {
		t.Errorf("%q, %v, %v", paths, truncated, err)
	}
}

func TestDispatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{".github/workflows/fix.yml": "on: workflow_dispatch\n"})
	ctx := context.Background()
	x := w.repo.AddRun(e2e.Run{HeadSHA: w.repo.SHA(t, "main"), HeadBranch: "main", Event: "workflow_dispatch", Name: "fix key=abc"})
	if err := w.Dispatches.StartWorkflow(ctx, w.r, "fix.yml", "main", map[string]string{"case": "1"}); err != nil {
		t.Error(err)
	}
	if err := w.Dispatches.SendEvent(ctx, w.r, "switchback-rework", map[string]any{"key": "k"}); err != nil {
		t.Error(err)
	}
	if err := w.Runs.RerunFailed(ctx, w.r, x.ID); err != nil {
		t.Error(err)
	}
	got := w.repo.Dispatches()
	if len(got) != 3 || got[0].Name != "fix.yml" || got[0].Ref != "main" || got[1].Name != "switchback-rework" || got[2].Kind != "rerun-failed-jobs" {
		t.Errorf("dispatches: %+v", got)
	}
	var sent struct{ Client_Payload struct{ Key string } }
	data, _ := json.Marshal(got[1].Body)
	if err := json.Unmarshal(data, &sent); err != nil || sent.Client_Payload.Key != "k" {
		t.Errorf("payload: %s, %v", data, err)
	}
	w.view.Reset()
	many := map[string]int{}
	for i := range 11 {
		many[fmt.Sprint(i)] = i
	}
	for _, payload := range []any{many, map[string]string{"a": strings.Repeat("x", 64<<10)}, []int{1}, make(chan int)} {
		wantKind(t, w.Dispatches.SendEvent(ctx, w.r, "e", payload), advice.Fail)
	}
	wantKind(t, w.Dispatches.StartWorkflow(ctx, w.r, "fix.yml", "main", map[string]string{"a": strings.Repeat("x", 70_000)}), advice.Fail)
	if len(w.view.Requests()) != 0 {
		t.Errorf("sent: %v", w.view.Requests())
	}
	wantKind(t, w.Dispatches.StartWorkflow(ctx, w.r, "none.yml", "main", nil), advice.Gone)
	for needle, want := range map[string]bool{"key=abc": true, "key=abd": false} {
		if got := ok(w.Dispatches.HasRunSince(ctx, w.r, "workflow_dispatch", time.Now().Add(-time.Minute), needle))(t); got != want {
			t.Errorf("%s: %v", needle, got)
		}
	}
	if ok(w.Dispatches.HasRunSince(ctx, w.r, "workflow_dispatch", time.Now().Add(time.Hour), "key=abc"))(t) {
		t.Error("found one from before")
	}
	defer w.view.Fault(e2e.Fault{Method: "POST", Drop: e2e.After})()
	if err := w.Dispatches.StartWorkflow(ctx, w.r, "fix.yml", "main", nil); !Ambiguous(err) {
		t.Errorf("not ambiguous: %v", err)
	}
	defer w.view.Fault(e2e.Fault{Method: "POST", Status: http.StatusForbidden, Body: `{"message":"This workflow is already running"}`})()
	if err := w.Runs.RerunFailed(ctx, w.r, x.ID); err != nil {
		t.Errorf("already running: %v", err)
	}
}
