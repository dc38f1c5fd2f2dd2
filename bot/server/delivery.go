package server

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/bot/ledger/gitbranch"
	"github.com/switchback-ci/switchback/bot/server/queue"
	"github.com/switchback-ci/switchback/routing/truncate"
)

// delivery is a webhook of GitHub with what is read of every payload.
type delivery struct {
	queue.Delivery
	repositoryID int64
	repository   string // "owner/name" at the time
	sender       string // login of who did it
	otherBranch  bool   // a push that is not to the default branch
	ledgerBranch bool   // a push of what a workflow recorded
}

// wantedActions are the events that something is done about, with their
// actions; nil stands for every action.
var wantedActions = map[string][]string{
	"workflow_run":              {"completed"},
	"check_run":                 {"rerequested"},
	"check_suite":               {"rerequested"},
	"pull_request":              {"labeled", "unlabeled", "closed", "opened", "synchronize", "reopened"},
	"pull_request_review":       {"submitted"},
	"issues":                    {"edited", "closed", "reopened", "deleted", "transferred"},
	"issue_comment":             {"created"},
	"installation":              {"created", "deleted", "suspend", "unsuspend", "new_permissions_accepted"},
	"installation_repositories": {"added", "removed"},
	"installation_target":       {"renamed"},
	"repository":                {"renamed", "transferred", "deleted", "archived", "unarchived", "edited"},
	"push":                      nil,
}

// ownIgnored are events of which the App's own deeds are not wanted.
var ownIgnored = []string{"issues", "issue_comment", "pull_request", "pull_request_review"}

// wanted reports whether anything is done about a delivery. One that cannot be
// read is wanted, to be shown. Login is that of the App's bot, "" if unknown.
func (d delivery) wanted(login string) bool {
	if login != "" && strings.EqualFold(d.sender, login) && slices.Contains(ownIgnored, d.Event) {
		return false
	}
	return !d.otherBranch && wantedEvent(d.Event, d.Action)
}

// wantedEvent reports whether anything is done about deliveries of an event.
func wantedEvent(event, action string) bool {
	actions, ok := wantedActions[event]
	return ok && (actions == nil || action == unreadable || slices.Contains(actions, action))
}

// unreadable is the action of a payload that is malformed.
const unreadable = "?"

// head is what is read of every payload.
type head struct {
	Action       string `json:"action"`
	Installation struct {
		ID int64 `json:"id"`
	} `json:"installation"`
	Sender struct {
		Login string `json:"login"`
	} `json:"sender"`
	Repository struct {
		ID            int64  `json:"id"`
		FullName      string `json:"full_name"`
		DefaultBranch string `json:"default_branch"`
	} `json:"repository"`
	Number      int `json:"number"`
	PullRequest struct {
		Number int `json:"number"`
	} `json:"pull_request"`
	Issue struct {
		Number int `json:"number"`
	} `json:"issue"`
	WorkflowRun struct {
		HeadBranch     string `json:"head_branch"`
		HeadRepository struct {
			FullName string `json:"full_name"`
		} `json:"head_repository"`
		PullRequests []struct {
			Number int `json:"number"`
		} `json:"pull_requests"`
	} `json:"workflow_run"`
	Ref string `json:"ref"`
}

// opened reads what a delivery is about.
func opened(s queue.Delivery) delivery {
	d := delivery{Delivery: s}
	var h head
	if err := json.Unmarshal(s.Payload, &h); err != nil {
		d.Action = unreadable
		return d
	}
	d.Action, d.Installation, d.Lane = clip(h.Action), h.Installation.ID, h.lane(s.Event)
	d.repositoryID, d.repository = h.Repository.ID, clip(h.Repository.FullName)
	d.sender = h.Sender.Login
	d.otherBranch = s.Event == "push" && h.Ref != "refs/heads/"+h.Repository.DefaultBranch
	d.ledgerBranch = s.Event == "push" && h.Ref == "refs/heads/"+gitbranch.Branch
	return d
}

// lane names what a delivery is about.
func (h head) lane(event string) string {
	repo := fmt.Sprint(h.Repository.ID)
	switch {
	case event == "workflow_run" && len(h.WorkflowRun.PullRequests) == 1:
		return fmt.Sprintf("%s#%d", repo, h.WorkflowRun.PullRequests[0].Number)
	case event == "workflow_run":
		return clip(fmt.Sprintf("%s@%s:%s", repo, h.WorkflowRun.HeadRepository.FullName, h.WorkflowRun.HeadBranch))
	case h.PullRequest.Number > 0:
		return fmt.Sprintf("%s#%d", repo, h.PullRequest.Number)
	case h.Issue.Number > 0:
		return fmt.Sprintf("%s#%d", repo, h.Issue.Number)
	}
	return repo
}

// clip bounds a text of a payload that is kept beside it.
func clip(s string) string {
	return truncate.Prefix(strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), ""), 200)
}
