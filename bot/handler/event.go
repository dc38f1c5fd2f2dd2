package handler

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/routing"
)

// Event is what is used of the payload of any event. It is decoded once, and every handler of the
// event reads the same one.
type Event struct {
	Name string `json:"-"` // of the event, as GitHub sends it in X-GitHub-Event

	Action       string       `json:"action"`
	PullRequest  *PullRequest `json:"pull_request"`
	WorkflowRun  *WorkflowRun `json:"workflow_run"`
	Review       *Review      `json:"review"`
	Comment      *Comment     `json:"comment"`
	Issue        *Issue       `json:"issue"`
	CheckRun     *CheckRun    `json:"check_run"`
	CheckSuite   *CheckSuite  `json:"check_suite"`
	MergeGroup   *MergeGroup  `json:"merge_group"`
	Label        *Label       `json:"label"`
	Sender       Sender       `json:"sender"`
	Changes      Changes      `json:"changes"`
	Repository   Repository   `json:"repository"`
	Installation Installation `json:"installation"`

	Inputs json.RawMessage `json:"inputs"` // of workflow_dispatch

	Reason string `json:"reason"` // of merge_group: why the group ended

	Ref    string `json:"ref"`    // of push: the branch or tag
	Before string `json:"before"` // of push: the commit that the branch was at
	After  string `json:"after"`  // of push: the commit that it is at

	// HeadCommit is that of push.
	HeadCommit struct {
		ID     string `json:"id"`
		TreeID string `json:"tree_id"`
	} `json:"head_commit"`

	Repositories        []RepositoryID `json:"repositories"` // of a new installation
	RepositoriesAdded   []RepositoryID `json:"repositories_added"`
	RepositoriesRemoved []RepositoryID `json:"repositories_removed"`
}

// ParseEvent decodes the payload of the event of a name. Its error is ErrMalformed.
func ParseEvent(name string, payload []byte) (*Event, error) {
	e := &Event{Name: name}
	if err := json.Unmarshal(payload, e); err != nil {
		return &Event{Name: name}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return e, nil
}

// incomplete reports whether an event lacks what it is about.
func (e *Event) incomplete() bool {
	switch e.Name {
	case "workflow_run":
		return e.WorkflowRun == nil || e.WorkflowRun.ID <= 0
	case "pull_request":
		return e.PullRequest == nil || e.PullRequest.Number <= 0
	case "pull_request_review":
		return e.PullRequest == nil || e.PullRequest.Number <= 0 || e.Review == nil
	case "issues":
		return e.Issue == nil || e.Issue.Number <= 0
	case "issue_comment":
		return e.Issue == nil || e.Issue.Number <= 0 || e.Comment == nil
	case "check_run":
		return e.CheckRun == nil
	case "check_suite":
		return e.CheckSuite == nil
	case "merge_group":
		return e.MergeGroup == nil || e.MergeGroup.Branch() == ""
	}
	return false
}

// Sender is the account that caused an event.
type Sender struct {
	ID    int64  `json:"id"`
	Login string `json:"login"`
	Type  string `json:"type"`
}

// Label is a label in an event.
type Label struct {
	Name string `json:"name"`
}

// Changes are what an edit changed; Body is nil if it is not among that.
type Changes struct {
	Body *struct {
		From string `json:"from"`
	} `json:"body"`
}

// Installation is the installation of the App that an event is sent to.
type Installation struct {
	ID int64 `json:"id"`
}

// Repository is the repository that an event happened in.
type Repository struct {
	ID            int64  `json:"id"`
	FullName      string `json:"full_name"` // "owner/name" at the time
	DefaultBranch string `json:"default_branch"`
}

// RepositoryID is a repository that an installation has or had.
type RepositoryID struct {
	ID int64 `json:"id"`
}

// App is a GitHub App in an event.
type App struct {
	ID int64 `json:"id"`
}

// Comment is a comment in an event.
type Comment struct {
	ID        int64  `json:"id"`
	Body      string `json:"body"`
	User      Sender `json:"user"`
	App       *App   `json:"performed_via_github_app"`
	CreatedAt string `json:"created_at"`
}

// Issue is an issue or pull request in an event.
type Issue struct {
	Number      int       `json:"number"`
	Body        string    `json:"body"`
	User        Sender    `json:"user"`
	PullRequest *struct{} `json:"pull_request"`
	StateReason string    `json:"state_reason"`
	UpdatedAt   string    `json:"updated_at"`
	ClosedAt    string    `json:"closed_at"`
}

// CheckRun is a check run in an event.
type CheckRun struct {
	ExternalID string `json:"external_id"`
	HeadSHA    string `json:"head_sha"`
	App        *App   `json:"app"`
}

// CheckSuite is a check suite in an event.
type CheckSuite struct {
	HeadSHA    string `json:"head_sha"`
	HeadBranch string `json:"head_branch"`
	App        *App   `json:"app"`
	Pulls      []struct {
		Number int `json:"number"`
	} `json:"pull_requests"`
}

// MergeGroup is a merge group in an event.
type MergeGroup struct {
	HeadRef string `json:"head_ref"` // "refs/heads/" and the branch that the queue made
	HeadSHA string `json:"head_sha"`
	BaseRef string `json:"base_ref"` // "refs/heads/" and the branch that the group is merged into
	BaseSHA string `json:"base_sha"`
}

// Branch returns the branch that the queue made, "" if it is no such branch.
func (g *MergeGroup) Branch() string {
	name, _ := strings.CutPrefix(g.HeadRef, "refs/heads/")
	if !routing.InQueue(name) {
		return ""
	}
	return name
}

// PullRequest is a pull request in an event.
type PullRequest struct {
	Number    int    `json:"number"`
	State     string `json:"state"`
	UpdatedAt string `json:"updated_at"`
	ClosedAt  string `json:"closed_at"`
	User      struct {
		Login string `json:"login"`
	} `json:"user"`
	Head struct {
		SHA  string `json:"sha"`
		Ref  string `json:"ref"`
		Repo *struct {
			FullName string `json:"full_name"`
		} `json:"repo"`
	} `json:"head"`
	Labels []struct {
		Name string `json:"name"`
	} `json:"labels"`
}

// WorkflowRun is a run in an event.
type WorkflowRun struct {
	ID         int64  `json:"id"`
	Attempt    int    `json:"run_attempt"`
	Name       string `json:"name"`
	Path       string `json:"path"`
	Event      string `json:"event"`
	HeadSHA    string `json:"head_sha"`
	HeadBranch string `json:"head_branch"`
	HeadRepo   *struct {
		FullName string `json:"full_name"`
	} `json:"head_repository"`
	Conclusion string `json:"conclusion"`
	Status     string `json:"status"`
	URL        string `json:"html_url"`
	Title      string `json:"display_title"`
	UpdatedAt  string `json:"updated_at"`
	Actor      struct {
		Login string `json:"login"`
	} `json:"actor"`
	PullRequests []struct {
		Number int `json:"number"`
	} `json:"pull_requests"`
}

// Review is a pull request review in an event.
type Review struct {
	ID       int64  `json:"id"`
	State    string `json:"state"`
	Body     string `json:"body"`
	CommitID string `json:"commit_id"`
	URL      string `json:"html_url"`
	User     struct {
		Login string `json:"login"`
		Type  string `json:"type"`
	} `json:"user"`
}
