package handler

import (
	"slices"
	"strings"
)

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
const contentsWrite = "Reads `.github/switchback.yml`, CODEOWNERS, and the code around a failing line; sends `repository_dispatch`, for which GitHub requires write; and drives ports and prompts, whose ledger is the branch `switchback-ledger`. Nothing else is written."

// Permissions returns the least permissions with which the App's handlers work; with dispatch also
// contents:write, for repository_dispatch, plans and surveys.
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
