package handler

import (
	"context"
	"io"
	"slices"
	"sync"

	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/routing/diagnosis"
)

// mostBaselines is how many jobs' logs a BaselineCache keeps: of one repository few jobs fail at a time,
// and each takes up to some megabytes.
const mostBaselines = 8

// BaselineCache keeps the logs of jobs that passed between events. The zero value is empty; it is
// safe for concurrent use.
type BaselineCache struct {
	mu    sync.Mutex
	known map[int64]*diagnosis.Baseline // by the job's id; nil: its log cannot be read
	order []int64
}

// of returns the baseline of a job, which read reads if it is not kept.
func (c *BaselineCache) of(job int64, read func() *diagnosis.Baseline) *diagnosis.Baseline {
	if c == nil {
		return read()
	}
	c.mu.Lock()
	b, ok := c.known[job]
	c.mu.Unlock()
	if ok {
		return b
	}
	b = read()
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.known[job]; !ok {
		if c.known == nil {
			c.known = map[int64]*diagnosis.Baseline{}
		}
		if len(c.order) >= mostBaselines {
			delete(c.known, c.order[0])
			c.order = slices.Delete(c.order, 0, 1)
		}
		c.order = append(c.order, job)
		c.known[job] = b
	}
	return b
}

// baseline returns how to get the log of the last successful run of the one job of r that failed: nil
// if several failed, since the logs of two jobs tell nothing of each other. It costs a request for
// the run, one for its jobs and one for the log, and whatever goes wrong there only takes the help
// away.
func (h workflowRun) baseline(ctx context.Context, r github.WorkflowRun, failed []github.Job) func() *diagnosis.Baseline {
	if len(failed) != 1 || r.WorkflowPath == "" || h.DefaultBranch == "" {
		return nil
	}
	return func() *diagnosis.Baseline {
		id, ok, err := h.GitHub.Runs.LastSuccessful(ctx, h.Repo, r.WorkflowPath, h.DefaultBranch)
		if err != nil || !ok || id == r.ID {
			return nil
		}
		jobs, err := h.GitHub.Jobs.List(ctx, h.Repo, id, 0)
		if err != nil {
			return nil
		}
		i := slices.IndexFunc(jobs, func(j github.Job) bool { return j.Name == failed[0].Name && j.Conclusion == "success" })
		if i < 0 {
			return nil
		}
		return h.Baselines.of(jobs[i].ID, func() *diagnosis.Baseline {
			return analysis.ReadBaseline(func() (io.ReadCloser, error) { return h.GitHub.Jobs.Log(ctx, h.Repo, jobs[i].ID) })
		})
	}
}
