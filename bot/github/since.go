package github

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/google/go-github/v60/github"
)

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

// FinishedRuns lists a page, from 1, of a repository's completed runs, the most recently created
// first. Next is 0 on the last page.
func (h *Client) FinishedRuns(ctx context.Context, r Repo, page int) (runs []FinishedRun, next int, err error) {
	op := "list the finished runs of " + r.String()
	var l struct {
		Runs []json.RawMessage `json:"workflow_runs"`
	}
	res, err := h.read(ctx, op, fmt.Sprintf("repos/%s/actions/runs?status=completed&per_page=100&page=%d", r, page), &l)
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

// OpenPullRequests lists the open pull requests of a repository.
func (h *Client) OpenPullRequests(ctx context.Context, r Repo) ([]PullRequest, error) {
	return list("list the open pull requests of "+r.String(), func(o github.ListOptions) (page[PullRequest], *github.Response, error) {
		l, res, err := h.gh.PullRequests.List(ctx, r.Owner, r.Name, &github.PullRequestListOptions{State: "open", ListOptions: o})
		return pullRequests(r, l), res, err
	})
}

// PostedComment is a comment on an issue or pull request, with its JSON.
type PostedComment struct {
	ID      int64
	Issue   int // number
	Body    string
	ByBot   bool
	Created time.Time
	Updated time.Time
	Author  json.RawMessage
	JSON    json.RawMessage
}

// CommentsSince lists a page, from 1, of the comments on all issues and pull requests of a
// repository that were created or changed at or after a time, the least recently changed first.
// Next is 0 on the last page.
func (h *Client) CommentsSince(ctx context.Context, r Repo, since time.Time, page int) (comments []PostedComment, next int, err error) {
	op := "list the new comments of " + r.String()
	q := url.Values{"since": {since.UTC().Format(time.RFC3339)}, "sort": {"updated"}, "direction": {"asc"}, "per_page": {"100"}, "page": {strconv.Itoa(page)}}
	var l []json.RawMessage
	res, err := h.read(ctx, op, fmt.Sprintf("repos/%s/issues/comments?%s", r, q.Encode()), &l)
	if err != nil {
		return nil, 0, err
	}
	for _, raw := range l {
		var x github.IssueComment
		var author struct{ User json.RawMessage }
		if err := json.Unmarshal(raw, &x); err != nil {
			return nil, 0, failf(op, nil, "%v", err)
		}
		_ = json.Unmarshal(raw, &author) // it was read just now
		number, err := strconv.Atoi(lastOf(x.GetIssueURL()))
		if err != nil {
			return nil, 0, failf(op, nil, "comment %d is on %q", x.GetID(), x.GetIssueURL())
		}
		comments = append(comments, PostedComment{ID: x.GetID(), Issue: number, Body: x.GetBody(), ByBot: x.GetUser().GetType() == "Bot",
			Created: x.GetCreatedAt().Time, Updated: x.GetUpdatedAt().Time, Author: author.User, JSON: raw})
	}
	return comments, res.NextPage, nil
}

func lastOf(address string) string {
	for i := len(address) - 1; i >= 0; i-- {
		if address[i] == '/' {
			return address[i+1:]
		}
	}
	return address
}

// IssueJSON returns the JSON of an issue or pull request, as an event about an issue contains it.
func (h *Client) IssueJSON(ctx context.Context, r Repo, number int) (json.RawMessage, error) {
	var out json.RawMessage
	_, err := h.read(ctx, fmt.Sprintf("read %s#%d", r, number), fmt.Sprintf("repos/%s/issues/%d", r, number), &out)
	return out, err
}

func (h *Client) read(ctx context.Context, op, path string, out any) (*github.Response, error) {
	req, err := h.gh.NewRequest(http.MethodGet, path, nil)
	if err != nil {
		return nil, failf(op, nil, "%v", err)
	}
	res, err := h.gh.Do(ctx, req, out)
	return res, Wrap(op, err)
}
