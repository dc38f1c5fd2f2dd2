package effect

import (
	"context"
	"time"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/render/markdown"
)

// Hub is what effects need of GitHub, a field for each service of the client.
type Hub struct {
	Checks       Checks
	CodeOwners   CodeOwners
	Comments     Comments
	Commits      Commits
	Dispatches   Dispatches
	Issues       Issues
	Labels       Labels
	PullRequests PullRequests
	Repositories Repositories
	Runs         Runs
}

// HubOf returns the services of a client.
func HubOf(c *github.Client) Hub {
	return Hub{
		Checks:       c.Checks,
		CodeOwners:   c.CodeOwners,
		Comments:     c.Comments,
		Commits:      c.Commits,
		Dispatches:   c.Dispatches,
		Issues:       c.Issues,
		Labels:       c.Labels,
		PullRequests: c.PullRequests,
		Repositories: c.Repositories,
		Runs:         c.Runs,
	}
}

// The services, as github.Client has them.
type (
	Checks interface {
		Upsert(ctx context.Context, r github.Repo, sha string, c github.Check, fresh bool) (ref string, err error)
	}
	CodeOwners interface {
		List(ctx context.Context, r github.Repo, ref string, files []string) ([]string, error)
	}
	Comments interface {
		Upsert(ctx context.Context, r github.Repo, issue int, marker string, body markdown.Text, ref string) (id string, changed bool, err error)
		PostOnce(ctx context.Context, r github.Repo, issue int, marker string, body markdown.Text, fresh bool) (id string, posted bool, err error)
		React(ctx context.Context, r github.Repo, comment int64) error
	}
	Commits interface {
		Contains(ctx context.Context, r github.Repo, base, head string) (bool, error)
	}
	Dispatches interface {
		StartWorkflow(ctx context.Context, r github.Repo, workflow, ref string, inputs map[string]string) error
		SendEvent(ctx context.Context, r github.Repo, event string, payload any) error
		HasRunSince(ctx context.Context, r github.Repo, event string, since time.Time, needle string) (bool, error)
	}
	Issues interface {
		Get(ctx context.Context, r github.Repo, number int) (github.Issue, error)
		Find(ctx context.Context, r github.Repo, marker string) (github.Issue, bool, error)
		Upsert(ctx context.Context, r github.Repo, marker string, spec github.IssueSpec, ref string) (issue github.Issue, created bool, err error)
		Rewrite(ctx context.Context, r github.Repo, number int, marker string, write func(live string) markdown.Text) (github.Issue, bool, error)
		Close(ctx context.Context, r github.Repo, number int, comment markdown.Text, marker string) (closed bool, err error)
		CloseAs(ctx context.Context, r github.Repo, number int, reason string, comment markdown.Text, marker string) (closed bool, err error)
		Reopen(ctx context.Context, r github.Repo, number int, comment markdown.Text, marker string) (reopened bool, err error)
	}
	Labels interface {
		Sync(ctx context.Context, r github.Repo, issue int, current []string, add, remove []github.LabelSpec) (changed bool, err error)
	}
	PullRequests interface {
		UpdateBranch(ctx context.Context, r github.Repo, number int, head string) error
	}
	Repositories interface {
		Absent(ctx context.Context, r github.Repo, err error) error
	}
	Runs interface {
		Get(ctx context.Context, r github.Repo, id int64, attempt int) (github.WorkflowRun, error)
		RerunFailed(ctx context.Context, r github.Repo, runID int64) error
	}
)
