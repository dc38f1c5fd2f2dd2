package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"
)

// WorkflowRun is one attempt of a workflow run.
type WorkflowRun struct {
	ID           int64
	Attempt      int
	Name         string // of the workflow
	Title        string // of the run, as shown
	WorkflowPath string // e.g. .github/workflows/ci.yml
	Event        string
	HeadSHA      string
	HeadTree     string // "" if GitHub does not say it
	HeadRef      string
	HeadRepo     string // "owner/name"; "" if the fork was deleted
	Status       string // queued, in_progress, completed …
	Conclusion   string // "" until completed
	URL          string
	CreatedAt    time.Time
	StartedAt    time.Time // of this attempt
	Actor        string    // login of who started it, such as by a push
	UpdatedAt    time.Time // once completed, about when that was
	PullRequests []int     // none for a fork: see PullRequestsService.FindByHead
}

// runJSON adds the fields that go-github v60 lacks.
type runJSON struct {
	github.WorkflowRun
	Path string `json:"path"`
}

// RunsService reads, re-runs and cancels workflow runs.
type RunsService struct{ *core }

// Get reads one attempt of a run; attempt 0 is the latest.
func (s *RunsService) Get(ctx context.Context, r Repo, id int64, attempt int) (WorkflowRun, error) {
	op := fmt.Sprintf("read run %d of %s", id, r)
	u := fmt.Sprintf("repos/%s/actions/runs/%d", r, id)
	if attempt > 0 {
		u += fmt.Sprintf("/attempts/%d", attempt)
	}
	var x runJSON
	if _, err := s.read(ctx, op, u, &x); err != nil {
		return WorkflowRun{}, err
	}
	path, _, _ := strings.Cut(x.Path, "@") // a required workflow's has a ref
	out := runOf(&x.WorkflowRun)
	out.WorkflowPath = path
	return out, nil
}

// runOf returns a run without its workflow's path.
func runOf(x *github.WorkflowRun) WorkflowRun {
	out := WorkflowRun{ID: x.GetID(), Attempt: x.GetRunAttempt(), Name: x.GetName(), Title: x.GetDisplayTitle(),
		Event: x.GetEvent(), HeadSHA: x.GetHeadSHA(), HeadTree: x.GetHeadCommit().GetTreeID(), HeadRef: x.GetHeadBranch(), HeadRepo: x.GetHeadRepository().GetFullName(),
		Status: x.GetStatus(), Conclusion: x.GetConclusion(), URL: x.GetHTMLURL(),
		CreatedAt: x.GetCreatedAt().Time, StartedAt: x.GetRunStartedAt().Time, UpdatedAt: x.GetUpdatedAt().Time, Actor: x.GetActor().GetLogin()}
	for _, p := range x.PullRequests {
		out.PullRequests = append(out.PullRequests, p.GetNumber())
	}
	return out
}

// LastSuccessful returns the id of the newest successful run of a workflow on a branch, false if
// there is none. file is the path of the workflow.
func (s *RunsService) LastSuccessful(ctx context.Context, r Repo, file, branch string) (id int64, ok bool, err error) {
	op := fmt.Sprintf("look for a successful run of %s in %s", file, r)
	l, _, err := s.gh.Actions.ListWorkflowRunsByFileName(ctx, r.Owner, r.Name, url.PathEscape(path.Base(file)),
		&github.ListWorkflowRunsOptions{Status: "success", Branch: branch, ListOptions: github.ListOptions{PerPage: 1}})
	if err != nil {
		return 0, false, Wrap(op, err)
	}
	if len(l.WorkflowRuns) == 0 {
		return 0, false, nil
	}
	return l.WorkflowRuns[0].GetID(), true, nil
}

// FinishedRun is a workflow run whose latest attempt has completed, with its JSON, which is the
// same as in an event.
type FinishedRun struct {
	ID         int64
	Attempt    int
	Workflow   int64 // the workflow's id
	Event      string
	HeadSHA    string
	HeadBranch string
	HeadRepo   string // "owner/name"; "" if the fork was deleted
	Created    time.Time
	Updated    time.Time
	JSON       json.RawMessage
}

// ListFinished lists a page, from 1, of a repository's completed runs, the most recently created
// first. Next is 0 on the last page.
func (s *RunsService) ListFinished(ctx context.Context, r Repo, page int) (runs []FinishedRun, next int, err error) {
	op := "list the finished runs of " + r.String()
	var l struct {
		Runs []json.RawMessage `json:"workflow_runs"`
	}
	res, err := s.read(ctx, op, fmt.Sprintf("repos/%s/actions/runs?status=completed&per_page=100&page=%d", r, page), &l)
	if err != nil {
		return nil, 0, err
	}
	for _, raw := range l.Runs {
		var x github.WorkflowRun
		if err := json.Unmarshal(raw, &x); err != nil {
			return nil, 0, failf(op, nil, "%v", err)
		}
		runs = append(runs, FinishedRun{ID: x.GetID(), Attempt: max(1, x.GetRunAttempt()), Workflow: x.GetWorkflowID(), Event: x.GetEvent(), HeadSHA: x.GetHeadSHA(),
			HeadBranch: x.GetHeadBranch(), HeadRepo: x.GetHeadRepository().GetFullName(), Created: x.GetCreatedAt().Time, Updated: x.GetUpdatedAt().Time, JSON: raw})
	}
	return runs, res.NextPage, nil
}

// RerunFailed re-runs the failed jobs of a run. It is no error if the run is already running again.
func (s *RunsService) RerunFailed(ctx context.Context, r Repo, runID int64) error {
	_, err := s.gh.Actions.RerunFailedJobsByID(ctx, r.Owner, r.Name, runID)
	var res *github.ErrorResponse
	if errors.As(err, &res) && res.Response.StatusCode == http.StatusForbidden && strings.Contains(res.Message, "already running") {
		return nil
	}
	return Wrap(opf("run the failed jobs of run %d of %s again", runID, r), err)
}

// Cancel cancels a run. It is no error if the run has already completed.
func (s *RunsService) Cancel(ctx context.Context, r Repo, runID int64) error {
	_, err := s.gh.Actions.CancelWorkflowRunByID(ctx, r.Owner, r.Name, runID)
	var taken *github.AcceptedError // as GitHub answers it
	var res *github.ErrorResponse
	if errors.As(err, &taken) || errors.As(err, &res) && res.Response.StatusCode == http.StatusConflict {
		return nil
	}
	return Wrap(opf("cancel run %d of %s", runID, r), err)
}
