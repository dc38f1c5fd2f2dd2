package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"
)

// User is an author as the API names them; Type is User or Bot.
type User struct{ Login, Type string }

// Comment is a comment on an issue or pull request.
type Comment struct {
	ID        int64
	Body      string
	User      User
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Label is a label of an issue or a repository.
type Label struct{ Name, Color, Description string }

// Issue is an issue.
type Issue struct {
	Number      int
	Title, Body string
	State       string
	StateReason string `json:"state_reason"`
	User        User
	Labels      []Label
	Assignees   []User
	PullRequest *struct{} `json:"pull_request"`
}

// CheckRun is a check run on a commit.
type CheckRun struct {
	ID                 int64
	Name               string
	Status, Conclusion string
	HeadSHA            string `json:"head_sha"`
	ExternalID         string `json:"external_id"`
	DetailsURL         string `json:"details_url"`
	Output             struct {
		Title, Summary, Text string
		AnnotationsCount     int `json:"annotations_count"`
	}
	App struct {
		ID   int
		Slug string
	}
}

// pages reads all pages of a list; key names the list in the answer, if any.
func pages[T any](tb testing.TB, r *Repo, path, key string) []T {
	tb.Helper()
	var all []T
	for page := 1; ; page++ {
		var raw json.RawMessage
		r.get(tb, fmt.Sprintf("%sper_page=100&page=%d", path, page), &raw)
		if key != "" {
			var m map[string]json.RawMessage
			if err := json.Unmarshal(raw, &m); err != nil {
				tb.Fatalf("bench: %s: %v", path, err)
			}
			raw = m[key]
		}
		var list []T
		if err := json.Unmarshal(raw, &list); err != nil {
			tb.Fatalf("bench: %s: %v", path, err)
		}
		all = append(all, list...)
		if len(list) < 100 || key == "check_runs" { // emulate gives these all at once
			return all
		}
	}
}

// Comments returns the comments of an issue or pull request, oldest first.
func (r *Repo) Comments(tb testing.TB, number int) []Comment {
	tb.Helper()
	return pages[Comment](tb, r, fmt.Sprintf("/issues/%d/comments?", number), "")
}

// Issues returns all issues, open and closed, oldest first, without the pull
// requests GitHub lists among them.
func (r *Repo) Issues(tb testing.TB) []Issue {
	tb.Helper()
	return slices.DeleteFunc(pages[Issue](tb, r, "/issues?state=all&direction=asc&", ""), func(i Issue) bool { return i.PullRequest != nil })
}

// IssueLabels returns the names of the labels of an issue or pull request.
func (r *Repo) IssueLabels(tb testing.TB, number int) []string {
	tb.Helper()
	var out []string
	for _, l := range pages[Label](tb, r, fmt.Sprintf("/issues/%d/labels?", number), "") {
		out = append(out, l.Name)
	}
	return out
}

// Labels returns the repository's labels.
func (r *Repo) Labels(tb testing.TB) []Label {
	tb.Helper()
	return pages[Label](tb, r, "/labels?", "")
}

// CheckRuns returns all check runs of a commit, also the older ones of a name.
func (r *Repo) CheckRuns(tb testing.TB, sha string) []CheckRun {
	tb.Helper()
	return pages[CheckRun](tb, r, "/commits/"+sha+"/check-runs?filter=all&", "check_runs")
}
