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
	"strings"
	"unicode/utf8"

	"github.com/switchback-ci/switchback/bot/handler"
	"github.com/switchback-ci/switchback/routing/lazyregexp"
)

// Where the server takes webhooks, and whom GitHub sends back who signed in there,
// below its address.
const (
	WebhookPath  = "/webhook"
	CallbackPath = "/sign-in/callback"
)

// Wish is what somebody wants the App to be.
type Wish struct {
	Name     string `json:"name"`     // as GitHub shows it; unique on its GitHub
	Server   string `json:"server"`   // where `switchback serve` can be reached
	Org      string `json:"org"`      // the organisation that is to own it; "" for the person
	Dispatch bool   `json:"dispatch"` // whether it hands over by repository_dispatch
}

// maxName is the longest name of an App that GitHub takes.
const maxName = 34

var login = lazyregexp.New(`^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98}[A-Za-z0-9])?$`)

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
	for _, g := range handler.Permissions(w.Dispatch) {
		permissions[g.Key] = g.Level
	}
	var events []string
	for _, s := range handler.Subscriptions() {
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
