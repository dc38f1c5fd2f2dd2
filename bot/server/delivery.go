package server

import (
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/bot/handler"
	"github.com/switchback-ci/switchback/bot/ledger/gitbranch"
	"github.com/switchback-ci/switchback/bot/server/queue"
	"github.com/switchback-ci/switchback/routing/truncate"
)

// delivery is a webhook of GitHub with its decoded payload.
type delivery struct {
	queue.Delivery
	event *handler.Event
}

// unreadable is the action of a payload that is malformed.
const unreadable = "?"

// decode decodes the payload of a delivery, once for all that is done about it.
func decode(s queue.Delivery) delivery {
	d := delivery{Delivery: s}
	var err error
	if d.event, err = handler.ParseEvent(s.Event, s.Payload); err != nil {
		d.Action = unreadable
		return d
	}
	d.Action, d.Installation, d.Key = clip(d.event.Action), d.event.Installation.ID, serializationKey(d.event)
	return d
}

// repository is the name of the repository at the time, "owner/name".
func (d delivery) repository() string { return clip(d.event.Repository.FullName) }

// wanted reports whether anything is done about a delivery. One that cannot be decoded is, to be
// shown. Login is that of the App's bot, "" if unknown.
func (d delivery) wanted(login string) bool {
	if login != "" && strings.EqualFold(d.event.Sender.Login, login) && handler.OwnIgnored(d.Event) {
		return false
	}
	if d.Action == unreadable {
		return handler.Known(d.Event)
	}
	if d.Event == "push" && d.event.Ref != "refs/heads/"+d.event.Repository.DefaultBranch {
		return false
	}
	return handler.Wanted(d.Event, d.Action)
}

// toLedger reports whether a delivery is a push to the ledger's branch, by a workflow.
func (d delivery) toLedger() bool {
	return d.Event == "push" && d.event.Ref == "refs/heads/"+gitbranch.Branch
}

// serializationKey names the subject of an event: deliveries of one key are handled one after
// another.
func serializationKey(e *handler.Event) string {
	repo := fmt.Sprint(e.Repository.ID)
	switch run := e.WorkflowRun; {
	case e.Name == "workflow_run" && run != nil && len(run.PullRequests) == 1:
		return fmt.Sprintf("%s#%d", repo, run.PullRequests[0].Number)
	case e.Name == "workflow_run" && run != nil && run.HeadRepo != nil:
		return clip(fmt.Sprintf("%s@%s:%s", repo, run.HeadRepo.FullName, run.HeadBranch))
	case e.Name == "workflow_run" && run != nil:
		return clip(fmt.Sprintf("%s@:%s", repo, run.HeadBranch))
	case e.Name == "workflow_run":
		return clip(repo + "@:")
	case e.MergeGroup != nil: // as its runs
		return clip(fmt.Sprintf("%s@%s:%s", repo, e.Repository.FullName, strings.TrimPrefix(e.MergeGroup.HeadRef, "refs/heads/")))
	case e.PullRequest != nil && e.PullRequest.Number > 0:
		return fmt.Sprintf("%s#%d", repo, e.PullRequest.Number)
	case e.Issue != nil && e.Issue.Number > 0:
		return fmt.Sprintf("%s#%d", repo, e.Issue.Number)
	}
	return repo
}

// clip bounds a text of a payload that is stored beside it.
func clip(s string) string {
	return truncate.Prefix(strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), ""), 200)
}
