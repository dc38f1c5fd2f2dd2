package handler

import (
	"slices"
	"strings"
)

// Permission is a permission of the App, and what it is for.
type Permission struct{ Key, Name, Level, Why string }

// contentsWrite is what the permission contents:write is for, which the App has only if it is asked for.
const contentsWrite = "Reads .github/switchback.yml, CODEOWNERS, and the code around a failing line; sends repository_dispatch, for which GitHub asks for write; and drives ports and prompts, whose ledger is the branch switchback-ledger. Nothing else is written."

// permissions says what each permission is for. Its level is that of the rows of the table.
var permissions = []Permission{
	{Key: "actions", Name: "Actions", Why: "Reads the runs, logs and artifacts that are analyzed; runs failed jobs again, and starts the workflow that fixes a failure."},
	{Key: "checks", Name: "Checks", Why: "Shows the decision on a commit as a check."},
	{Key: "contents", Name: "Contents", Why: "Reads .github/switchback.yml, CODEOWNERS, and the code around a failing line. Nothing is written."},
	{Key: "issues", Name: "Issues", Why: "Opens escalation issues, and reads the boxes that are ticked there and the commands in comments."},
	{Key: "metadata", Name: "Metadata", Why: "GitHub requires it of every App. It says who may answer."},
	{Key: "pull_requests", Name: "Pull requests", Why: "Keeps the one comment that returns a failure for a fix, and the labels."},
}

// Permissions returns the permissions that the handlers of the App need, the least ones; with
// dispatch also those of repository_dispatch, and of plans and surveys that the App drives.
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

// Subscription is an event that the App subscribes to, and what it is for.
type Subscription struct{ Event, Why string }

// subscriptions says what each event is for.
var subscriptions = []Subscription{
	{"workflow_run", "A run has completed, and is analyzed."},
	{"pull_request", "The label switchback:paused was added or removed, the pull request was closed, or its commits may change the configuration."},
	{"pull_request_review", "A review requests changes or approves."},
	{"issues", "A box was ticked on an escalation, or its issue closed or opened again."},
	{"issue_comment", "Somebody answers with a command such as /switchback resume."},
	{"push", "The default branch may have another configuration, or another plan of ports."},
	{"repository", "A repository has another name or owner, and keeps its history."},
}

// unasked are the events that GitHub sends every App: that it was installed or removed, and that
// somebody pressed "Re-run" on one of its checks.
var unasked = []string{"installation", "installation_repositories", "installation_target", "check_run", "check_suite"}

// Subscriptions returns the events that the App subscribes to: those of the table that GitHub does
// not send unasked.
func Subscriptions() []Subscription { return slices.Clone(subscriptions) }
