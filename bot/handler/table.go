package handler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Row is a row of the dispatch table: the handler of an event, where it runs and what it needs.
type Row struct {
	Event   string   // as GitHub sends it in X-GitHub-Event
	Actions []string // of the event; nil: all

	New     func(Deps) Handler // nil for events about installations, which the App's server handles
	App     bool               // the App handles it
	Command string             // command of the Action that handles it, "" for none

	Needs []string // permissions, as "checks:write"
}

// anything are the permissions of handlers that decide about runs and cases.
var anything = []string{"actions:write", "checks:write", "contents:read", "issues:write", "pull_requests:write"}

// routes returns the rows of runs, reviews, answers and the configuration.
func routes() []Row {
	return []Row{
		{Event: "workflow_run", Actions: []string{"completed"}, App: true, Command: "workflow-run", Needs: anything,
			New: func(d Deps) Handler { return workflowRun{d} }},
		{Event: "check_run", Actions: []string{"rerequested"}, App: true, Needs: anything,
			New: func(d Deps) Handler { return rerequested{d} }},
		{Event: "check_suite", Actions: []string{"rerequested"}, App: true, Needs: anything,
			New: func(d Deps) Handler { return rerequested{d} }},
		{Event: "pull_request", Actions: []string{"labeled", "unlabeled"}, App: true, Command: "answer", Needs: anything,
			New: func(d Deps) Handler { return pausedLabel{newCases(d)} }},
		{Event: "pull_request", Actions: []string{"closed"}, App: true, Needs: anything,
			New: func(d Deps) Handler { return closedPullRequest{newCases(d)} }},
		{Event: "pull_request", Actions: []string{"opened", "synchronize", "reopened"}, App: true, Command: "replay", Needs: []string{"contents:read", "pull_requests:write"},
			New: func(d Deps) Handler { return configReplay{d} }},
		{Event: "pull_request_review", Actions: []string{"submitted"}, App: true, Command: "review", Needs: anything,
			New: func(d Deps) Handler { return review{d} }},
		{Event: "issues", Actions: []string{"edited", "closed", "reopened", "deleted", "transferred"}, App: true, Command: "answer", Needs: anything,
			New: newEscalationIssue},
		{Event: "issue_comment", Actions: []string{"created"}, App: true, Command: "answer", Needs: anything,
			New: func(d Deps) Handler { return commands{newCases(d)} }},
		{Event: "schedule", Command: "reconcile", Needs: anything,
			New: func(d Deps) Handler { return reconcile{d} }},
	}
}

// planRoutes returns the rows of plans of ports. Their workers are runs like others, so they come
// before the rows of runs.
func planRoutes() []Row {
	return []Row{
		{Event: "workflow_run", Actions: []string{"completed"}, App: true, Needs: []string{"actions:write", "checks:write", "contents:read", "issues:write"},
			New: func(d Deps) Handler { return portWorker{planDriver{d}} }},
		{Event: "push", App: true, Needs: []string{"actions:write", "checks:write", "contents:read", "issues:write"},
			New: func(d Deps) Handler { return planPush{planDriver{d}} }},
	}
}

// surveyRoutes returns the rows of surveys. Their issues are no escalations, so they come before the
// rows of answers.
func surveyRoutes() []Row {
	answer := func(d Deps) Handler { return surveyAnswer{d} }
	return []Row{
		{Event: "workflow_run", Actions: []string{"completed"}, App: true, Command: "workflow-run", Needs: []string{"actions:write", "issues:write"},
			New: func(d Deps) Handler { return surveyCycle{d} }},
		{Event: "issues", Actions: []string{"edited", "closed", "reopened", "deleted", "transferred"}, App: true, Command: "answer", Needs: []string{"issues:write"}, New: answer},
		{Event: "issue_comment", Actions: []string{"created"}, App: true, Command: "answer", Needs: []string{"issues:write"}, New: answer},
	}
}

// quarantineRoutes returns the rows of the issues of flaky tests. They are no escalations, so they come
// before the rows of answers.
func quarantineRoutes() []Row {
	return []Row{
		{Event: "issues", Actions: []string{"edited", "closed", "reopened", "deleted", "transferred"}, App: true, Command: "answer", Needs: []string{"contents:read", "issues:write"},
			New: func(d Deps) Handler { return quarantineIssue{d} }},
	}
}

// handoffRoutes returns the rows by which workers who are told in turn acknowledge. Other handlers do
// what else the events ask for.
func handoffRoutes() []Row {
	answer := func(d Deps) Handler { return handoffAnswer{handoffs{d}} }
	return []Row{
		{Event: "workflow_run", Actions: []string{"completed"}, App: true, Command: "workflow-run", Needs: []string{"actions:write", "contents:read", "issues:write", "pull_requests:write"}, New: answer},
		{Event: "pull_request", Actions: []string{"synchronize", "closed"}, App: true, Needs: []string{"issues:write", "pull_requests:write"}, New: answer},
		{Event: "issue_comment", Actions: []string{"created"}, App: true, Command: "answer", Needs: []string{"actions:write", "issues:write", "pull_requests:write"}, New: answer},
	}
}

// serverRoutes returns the events by which the App's server follows its installations and their
// repositories.
func serverRoutes() []Row {
	return []Row{
		{Event: "push", App: true, Needs: []string{"contents:read"}},
		{Event: "installation", Actions: []string{"created", "deleted", "suspend", "unsuspend", "new_permissions_accepted"}, App: true},
		{Event: "installation_repositories", Actions: []string{"added", "removed"}, App: true},
		{Event: "installation_target", Actions: []string{"renamed"}, App: true},
		{Event: "repository", Actions: []string{"renamed", "transferred", "deleted", "archived", "unarchived", "edited"}, App: true, Needs: []string{"metadata:read"}},
	}
}

// table is the dispatch table: every event that anything is done about. The handlers of one event
// run in this order.
var table = slices.Concat(serverRoutes(), planRoutes(), surveyRoutes(), quarantineRoutes(), handoffRoutes(), routes())

// Wanted reports whether the App does anything about an event with an action. Its server answers all
// others and drops them.
func Wanted(event, action string) bool {
	return slices.ContainsFunc(table, func(r Row) bool { return r.App && r.Event == event && r.takes(action) })
}

// Known reports whether the App does anything about some action of an event.
func Known(event string) bool {
	return slices.ContainsFunc(table, func(r Row) bool { return r.App && r.Event == event })
}

func (r Row) takes(action string) bool { return r.Actions == nil || slices.Contains(r.Actions, action) }

// Deliver handles an event as the App does. An event that lacks what it is about is ErrMalformed.
func Deliver(ctx context.Context, d Deps, e *Event) error {
	if e.incomplete() {
		return fmt.Errorf("%w: it lacks what the event %s is about", ErrMalformed, e.Name)
	}
	return handle(ctx, d, e, func(r Row) bool { return r.App && r.Event == e.Name && r.takes(e.Action) })
}

// Run handles an event as the Action does with one of its commands. The event is given as the one
// whose rows apply: the action of the payload is left to the handlers.
func Run(ctx context.Context, d Deps, command, event string, e *Event) error {
	return handle(ctx, d, e, func(r Row) bool { return r.Command == command && r.Event == event })
}

// handle runs the handlers of the rows that are chosen, until one is done with the event.
func handle(ctx context.Context, d Deps, e *Event, chosen func(Row) bool) error {
	var failed error
	for _, r := range table {
		if r.New == nil || !chosen(r) {
			continue
		}
		done, err := r.New(d).Handle(ctx, e)
		failed = errors.Join(failed, err)
		if done {
			break
		}
	}
	return failed
}

// ownIgnored are the events that the App does not handle when its own bot caused them.
var ownIgnored = []string{"issues", "issue_comment", "pull_request", "pull_request_review"}

// OwnIgnored reports whether an event that the App's own bot caused is dropped.
func OwnIgnored(event string) bool { return slices.Contains(ownIgnored, event) }

// Permission is a permission of the App. Why says in Markdown what it is for.
type Permission struct{ Key, Name, Level, Why string }

// permissions says what each permission is for. Its level is the highest that a row of the table needs.
var permissions = []Permission{
	{Key: "actions", Name: "Actions", Why: "Reads the runs, logs and artifacts that are analyzed; runs failed jobs again, and starts the workflow that fixes a failure."},
	{Key: "checks", Name: "Checks", Why: "Shows the decision on a commit as a check."},
	{Key: "contents", Name: "Contents", Why: "Reads `.github/switchback.yml`, CODEOWNERS, and the code around a failing line. Nothing is written."},
	{Key: "issues", Name: "Issues", Why: "Opens escalation issues, and reads the boxes that are ticked there and the commands in comments."},
	{Key: "metadata", Name: "Metadata", Why: "GitHub requires it of every App. It says who may answer."},
	{Key: "pull_requests", Name: "Pull requests", Why: "Keeps the one comment that returns a failure for a fix, and the labels."},
}

// contentsWrite is what contents:write is for. The App has it only if its owner wants that.
const contentsWrite = "Reads `.github/switchback.yml`, CODEOWNERS, and the code around a failing line; sends `repository_dispatch`, for which GitHub requires write; drives ports and surveys, whose ledger is the branch `switchback-ledger`; and updates the branches of pull requests where `base.update` says so. Nothing else is written."

// Permissions returns the least permissions with which the App's handlers work; with dispatch also
// contents:write, for repository_dispatch, plans, surveys and base.update.
func Permissions(dispatch bool) []Permission {
	out := slices.Clone(permissions)
	for i := range out {
		p := &out[i]
		for _, r := range table {
			for _, need := range r.Needs {
				if key, level, _ := strings.Cut(need, ":"); r.App && key == p.Key && p.Level != "write" {
					p.Level = level
				}
			}
		}
		if p.Key == "contents" && dispatch {
			p.Level, p.Why = "write", contentsWrite
		}
	}
	return out
}

// Subscription is an event that the App subscribes to. Why says in Markdown what is done about it.
type Subscription struct{ Event, Why string }

// subscriptions says what each event of the table is for.
var subscriptions = []Subscription{
	{"workflow_run", "A run has completed, and is analyzed."},
	{"pull_request", "The label `switchback:paused` was added or removed, the pull request was closed, or its commits may change the configuration."},
	{"pull_request_review", "A review requests changes or approves."},
	{"issues", "A box was ticked on an escalation, or its issue was closed or opened again."},
	{"issue_comment", "Somebody answers with a command such as `/switchback resume`."},
	{"push", "The default branch may have another configuration, or another plan of ports."},
	{"repository", "A repository has another name or owner, and keeps its history."},
}

// unasked are the events that GitHub sends every App: that it was installed or removed, and that
// somebody pressed Re-run on one of its checks.
var unasked = []string{"installation", "installation_repositories", "installation_target", "check_run", "check_suite"}

// Subscriptions returns the events of the table that the App subscribes to: all that GitHub does not
// send unasked.
func Subscriptions() []Subscription { return slices.Clone(subscriptions) }
