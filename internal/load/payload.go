package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"strings"
)

// delivery is a webhook as GitHub would send it.
type delivery struct {
	id, event string
	body      []byte
}

// newDelivery gives each delivery a sender of its own, because equal bodies are one event to the servers.
func newDelivery(event string, doc map[string]any) (delivery, error) {
	doc["installation"] = map[string]any{"id": installation, "node_id": "MDIz"}
	id, sender := rand.Text(), user("dev")
	sender["node_id"] = id
	doc["repository"], doc["sender"] = repository(), sender
	body, err := json.Marshal(doc)
	return delivery{id, event, body}, err
}

// small is a delivery on whose account nothing is to be asked or told: a label
// that means nothing here, or a pull request of no case that was closed. What it
// costs is to take, store and do it, and to look into the ledger.
func small(n int64) (delivery, error) {
	p := pull(n)
	p["body"] = words(sizes[mathrand.IntN(len(sizes))])
	if n%3 == 0 {
		p["state"], p["closed_at"] = "closed", "2026-01-02T03:04:05Z"
		return newDelivery("pull_request", map[string]any{"action": "closed", "number": n, "pull_request": p})
	}
	return newDelivery("pull_request", map[string]any{"action": "labeled", "number": n, "pull_request": p, "label": map[string]any{"name": "documentation"}})
}

// sizes of what a person wrote, in bytes; GitHub takes 64 KiB.
var sizes = []int{0, 0, 200, 200, 500, 1000, 2000, 4000, 16_000, 60_000}

// failed is the delivery of a failed run of a pull request, the k-th.
func failed(n int64, k int) (delivery, error) {
	r := run(n*runsOf + int64(k))
	return newDelivery("workflow_run", map[string]any{"action": "completed", "workflow_run": r, "workflow": map[string]any{"id": 5, "name": checkpoint}})
}

func words(bytes int) string {
	var b strings.Builder
	for b.Len() < bytes {
		fmt.Fprintf(&b, "The %x of the %x is no longer read twice.\n", mathrand.Uint32(), mathrand.Uint32())
	}
	return b.String()
}

// address is as long as those in GitHub's payloads.
const address = "https://api.github.example.com/repos/" + fullName

func pull(n int64) map[string]any {
	side := func(ref string) map[string]any {
		return map[string]any{"label": owner + ":" + ref, "ref": ref, "sha": sha(n), "user": user(owner), "repo": repository()}
	}
	p := map[string]any{
		"id": n, "number": n, "state": "open", "title": "Work on it", "body": "", "user": user("dev"), "labels": []any{}, "draft": false, "merged": false,
		"head": side(branch(n)), "base": side("main"), "created_at": "2026-01-02T03:04:05Z", "updated_at": "2026-01-02T03:04:05Z",
	}
	for _, k := range []string{"url", "html_url", "diff_url", "patch_url", "issue_url", "commits_url", "review_comments_url", "review_comment_url", "comments_url", "statuses_url"} {
		p[k] = fmt.Sprintf("%s/%s/%d", address, k, n)
	}
	return p
}

func user(login string) map[string]any {
	u := map[string]any{"login": login, "id": 1, "node_id": "MDQ6VXNlcjE=", "type": "User", "site_admin": false}
	for _, k := range []string{"avatar", "html", "followers", "following", "gists", "starred", "subscriptions", "organizations", "repos", "events", "received_events"} {
		u[k+"_url"] = "https://api.github.example.com/users/" + login + "/" + k
	}
	return u
}

func repository() map[string]any {
	r := map[string]any{"id": repositoryID, "name": name, "full_name": fullName, "private": true, "default_branch": "main", "owner": user(owner),
		"html_url": "https://github.example.com/" + fullName, "fork": false, "topics": []any{}, "language": "Go"}
	for _, k := range strings.Fields(`archive assignees blobs branches clone collaborators comments commits compare contents contributors deployments downloads events
		forks git_commits git_refs git_tags git hooks issue_comment issue_events issues keys labels languages merges milestones mirror notifications pulls releases
		ssh stargazers statuses subscribers subscription svn tags teams trees`) {
		r[k+"_url"] = address + "/" + k + "{/sha}"
	}
	return r
}
