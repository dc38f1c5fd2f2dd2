// Package setup creates the GitHub App: a page on this machine explains what
// the App may do, sends its reader to GitHub with a manifest, and keeps the
// credentials with which GitHub sends them back.
// https://docs.github.com/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Where the server takes webhooks, and whom GitHub sends back who signed in there,
// below its address.
const (
	WebhookPath  = "/webhook"
	CallbackPath = "/sign-in/callback"
)

// A Grant is a permission of the App, and what it is for.
type Grant struct {
	Key, Name, Level, Why string
}

// Grants are all that the App may do, the least with which it does its work.
func Grants(dispatch bool) []Grant {
	contents := Grant{"contents", "Contents", "read", "To read .github/switchback.yml, CODEOWNERS, and the code around a failing line. Nothing is written."}
	if dispatch {
		contents.Level = "write"
		contents.Why = "To read .github/switchback.yml, CODEOWNERS, and the code around a failing line; to send repository_dispatch, for which GitHub asks for write; and to drive ports and prompts, whose ledger is the branch switchback-ledger. Nothing else is written."
	}
	return []Grant{
		{"actions", "Actions", "write", "To read the runs, logs and artifacts that are analyzed; to run failed jobs again and to start the workflow that a failure is handed to."},
		{"checks", "Checks", "write", "To show the decision on a commit as a check."},
		contents,
		{"issues", "Issues", "write", "To call a human with an issue, and to read the boxes that are ticked there and the commands in comments."},
		{"metadata", "Metadata", "read", "GitHub asks for it of every App. It tells who may answer."},
		{"pull_requests", "Pull requests", "write", "To keep the one comment that hands a failure back, and the labels."},
	}
}

// A Subscription is an event that GitHub sends the App, and what it is for.
type Subscription struct {
	Event, Why string
}

// Subscriptions are the events that the App asks for. That it was installed or
// taken away, and that somebody asked for one of its checks again, GitHub says
// without being asked.
func Subscriptions() []Subscription {
	return []Subscription{
		{"workflow_run", "A run has finished, and is analyzed."},
		{"pull_request", "The label switchback:paused was put on or taken off, it was closed, or its commits may change the configuration."},
		{"pull_request_review", "A review asks for changes or approves."},
		{"issues", "A box was ticked on an escalation, or its issue closed or opened again."},
		{"issue_comment", "Somebody answers with a command such as /switchback resume."},
		{"push", "The default branch may have another configuration."},
		{"repository", "A repository has another name or owner, and keeps its history."},
	}
}

// Wish is what somebody wants the App to be.
type Wish struct {
	Name     string `json:"name"`     // as GitHub shows it; unique on its GitHub
	Server   string `json:"server"`   // where `switchback serve` can be reached
	Org      string `json:"org"`      // the organisation that is to own it; "" for the person
	Dispatch bool   `json:"dispatch"` // whether it hands over by repository_dispatch
}

// maxName is the longest name of an App that GitHub takes.
const maxName = 34

var login = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98}[A-Za-z0-9])?$`)

// Check returns the wish as it is sent to GitHub, or everything that is wrong.
func (w Wish) Check() (Wish, error) {
	var errs []error
	w.Name, w.Org = strings.TrimSpace(w.Name), strings.TrimSpace(w.Org)
	w.Server = strings.TrimSuffix(strings.TrimRight(strings.TrimSpace(w.Server), "/"), WebhookPath)
	if n := utf8.RuneCountInString(w.Name); n == 0 || n > maxName {
		errs = append(errs, fmt.Errorf("the name has %d characters; GitHub takes 1 to %d", n, maxName))
	}
	if w.Org != "" && !login.MatchString(w.Org) {
		errs = append(errs, fmt.Errorf("%q is not the name of an organisation as it stands in its address", w.Org))
	}
	u, err := url.Parse(w.Server)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		errs = append(errs, fmt.Errorf("%q is not the address of a server; give one as https://switchback.example.com", w.Server))
	case u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback():
		errs = append(errs, errors.New("the server's address is on this machine: GitHub has to reach it from outside"))
	}
	return w, errors.Join(errs...)
}

// Manifest returns the manifest of the App; back is where GitHub sends its
// owner afterwards.
func (w Wish) Manifest(back string) (string, error) {
	permissions := map[string]string{}
	for _, g := range Grants(w.Dispatch) {
		permissions[g.Key] = g.Level
	}
	var events []string
	for _, s := range Subscriptions() {
		events = append(events, s.Event)
	}
	data, err := json.Marshal(map[string]any{
		"name": w.Name, "url": w.Server, "description": "Takes failing CI back to whoever can fix it, a bounded number of times.",
		"hook_attributes": map[string]any{"url": w.Server + WebhookPath, "active": true},
		"redirect_url":    back, "callback_urls": []string{w.Server + CallbackPath}, "public": false, "default_permissions": permissions, "default_events": events,
	})
	return string(data), err
}

// action is the address to which the manifest is posted.
func (w Wish) action(github, state string) string {
	path := "/settings/apps/new"
	if w.Org != "" {
		path = "/organizations/" + url.PathEscape(w.Org) + path
	}
	return github + path + "?" + url.Values{"state": {state}}.Encode()
}
