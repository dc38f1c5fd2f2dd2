package github

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/google/go-github/v60/github"
)

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

// JobsService reads the jobs of workflow runs and their logs.
type JobsService struct {
	*core
	files *downloader
}

// List lists all jobs of an attempt; attempt 0 is the latest.
func (s *JobsService) List(ctx context.Context, r Repo, runID int64, attempt int) ([]Job, error) {
	return list(fmt.Sprintf("list the jobs of run %d of %s", runID, r), func(o github.ListOptions) (page[Job], *github.Response, error) {
		var l *github.Jobs
		var res *github.Response
		var err error
		if attempt > 0 {
			l, res, err = s.gh.Actions.ListWorkflowJobsAttempt(ctx, r.Owner, r.Name, runID, int64(attempt), &o)
		} else {
			l, res, err = s.gh.Actions.ListWorkflowJobs(ctx, r.Owner, r.Name, runID, &github.ListWorkflowJobsOptions{Filter: "latest", ListOptions: o})
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

func job(j *github.WorkflowJob) Job {
	out := Job{ID: j.GetID(), Name: j.GetName(), Status: j.GetStatus(), Conclusion: j.GetConclusion(), URL: j.GetHTMLURL(),
		RunnerName: j.GetRunnerName(), StartedAt: j.GetStartedAt().Time, CompletedAt: j.GetCompletedAt().Time}
	for _, s := range j.Steps {
		out.Steps = append(out.Steps, Step{Number: int(s.GetNumber()), Name: s.GetName(), Status: s.GetStatus(), Conclusion: s.GetConclusion(),
			StartedAt: s.GetStartedAt().Time, CompletedAt: s.GetCompletedAt().Time})
	}
	return out
}

// Log opens the log of a job, of any size; the caller closes it. A job that never started has
// none: ErrNotFound.
func (s *JobsService) Log(ctx context.Context, r Repo, jobID int64) (io.ReadCloser, error) {
	return s.files.open(ctx, fmt.Sprintf("read the log of job %d of %s", jobID, r), fmt.Sprintf("repos/%s/actions/jobs/%d/logs", r, jobID))
}
