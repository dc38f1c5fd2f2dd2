package github

import (
	"context"
	"fmt"
	"net/http"
	"slices"
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
	HeadRef      string
	HeadRepo     string // "owner/name"; "" if the fork was deleted
	Status       string // queued, in_progress, completed …
	Conclusion   string // "" until completed
	URL          string
	CreatedAt    time.Time
	StartedAt    time.Time // of this attempt
	UpdatedAt    time.Time // once completed, about when that was
	PullRequests []int     // none for a fork: see PullRequestOf
}

// Job is one job of an attempt.
type Job struct {
	ID                     int64
	Name                   string
	Status, Conclusion     string
	URL                    string
	RunnerName             string // "" if no runner took it
	StartedAt, CompletedAt time.Time
	Steps                  []Step
}

// Step is one step of a job.
type Step struct {
	Number                 int
	Name                   string
	Status, Conclusion     string
	StartedAt, CompletedAt time.Time
}

// runJSON adds the fields that go-github v60 lacks.
type runJSON struct {
	github.WorkflowRun
	Path string `json:"path"`
}

// Run reads one attempt of a run; attempt 0 is the latest.
func (h *Client) Run(ctx context.Context, r Repo, id int64, attempt int) (WorkflowRun, error) {
	op := fmt.Sprintf("read run %d of %s", id, r)
	u := fmt.Sprintf("repos/%s/actions/runs/%d", r, id)
	if attempt > 0 {
		u += fmt.Sprintf("/attempts/%d", attempt)
	}
	req, err := h.gh.NewRequest(http.MethodGet, u, nil)
	if err != nil {
		return WorkflowRun{}, failf(op, nil, "%v", err)
	}
	var x runJSON
	if _, err := h.gh.Do(ctx, req, &x); err != nil {
		return WorkflowRun{}, Wrap(op, err)
	}
	path, _, _ := strings.Cut(x.Path, "@") // a required workflow's has a ref
	out := runOf(&x.WorkflowRun)
	out.WorkflowPath = path
	return out, nil
}

// runOf returns a run without its workflow's path.
func runOf(x *github.WorkflowRun) WorkflowRun {
	out := WorkflowRun{ID: x.GetID(), Attempt: x.GetRunAttempt(), Name: x.GetName(), Title: x.GetDisplayTitle(),
		Event: x.GetEvent(), HeadSHA: x.GetHeadSHA(), HeadRef: x.GetHeadBranch(), HeadRepo: x.GetHeadRepository().GetFullName(),
		Status: x.GetStatus(), Conclusion: x.GetConclusion(), URL: x.GetHTMLURL(),
		CreatedAt: x.GetCreatedAt().Time, StartedAt: x.GetRunStartedAt().Time, UpdatedAt: x.GetUpdatedAt().Time}
	for _, p := range x.PullRequests {
		out.PullRequests = append(out.PullRequests, p.GetNumber())
	}
	return out
}

// Jobs lists all jobs of an attempt; attempt 0 is the latest.
func (h *Client) Jobs(ctx context.Context, r Repo, runID int64, attempt int) ([]Job, error) {
	return list(fmt.Sprintf("list the jobs of run %d of %s", runID, r), func(o github.ListOptions) (page[Job], *github.Response, error) {
		var l *github.Jobs
		var res *github.Response
		var err error
		if attempt > 0 {
			l, res, err = h.gh.Actions.ListWorkflowJobsAttempt(ctx, r.Owner, r.Name, runID, int64(attempt), &o)
		} else {
			l, res, err = h.gh.Actions.ListWorkflowJobs(ctx, r.Owner, r.Name, runID, &github.ListWorkflowJobsOptions{Filter: "latest", ListOptions: o})
		}
		if err != nil {
			return page[Job]{}, res, err
		}
		p := page[Job]{total: total(l.TotalCount)}
		for _, j := range l.Jobs {
			p.items = append(p.items, job(j))
		}
		return p, res, nil
	})
}

// Telling returns the jobs whose logs explain the result of a run: the failed jobs, or all jobs
// that ran if none failed.
func Telling(jobs []Job, green bool) []Job {
	return slices.DeleteFunc(slices.Clone(jobs), func(j Job) bool {
		failed := j.Conclusion != "success" && j.Conclusion != "skipped" && j.Conclusion != "neutral"
		return green && j.Conclusion != "success" || !green && !failed
	})
}

func total(n *int) int {
	if n == nil {
		return -1
	}
	return *n
}

func job(j *github.WorkflowJob) Job {
	out := Job{ID: j.GetID(), Name: j.GetName(), Status: j.GetStatus(), Conclusion: j.GetConclusion(), URL: j.GetHTMLURL(),
		RunnerName: j.GetRunnerName(), StartedAt: j.GetStartedAt().Time, CompletedAt: j.GetCompletedAt().Time}
	for _, s := range j.Steps {
		out.Steps = append(out.Steps, Step{Number: int(s.GetNumber()), Name: s.GetName(), Status: s.GetStatus(), Conclusion: s.GetConclusion(),
			StartedAt: s.GetStartedAt().Time, CompletedAt: s.GetCompletedAt().Time})
	}
	return out
}
