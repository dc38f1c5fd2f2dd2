package github

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/google/go-github/v60/github"
)

// refusal is an answer that refuses a request, with the header that names what was lacking.
func refusal(method, path, header string) error {
	return &github.ErrorResponse{Message: "Resource not accessible by integration", Response: &http.Response{
		StatusCode: http.StatusForbidden, Header: http.Header{"X-Accepted-Github-Permissions": {header}},
		Request: &http.Request{Method: method, URL: &url.URL{Path: path}},
	}}
}

func TestMissingPermissions(t *testing.T) {
	t.Parallel()
	const repo = "/repos/acme/app"
	for _, c := range []struct{ method, path, header, want string }{
		{"POST", repo + "/issues", "issues=write", "issues: write"},
		{"POST", repo + "/issues/1/comments", "issues=write; pull_requests=write", "pull-requests: write"},
		{"POST", repo + "/check-runs", "", "checks: write"},
		{"GET", repo + "/actions/runs/1/artifacts", "", "actions: read"},
		{"PUT", repo + "/contents/a/issues", "", "contents: write"},
		{"POST", repo + "/git/refs", "", "contents: write"},
		{"POST", repo + "/issues/1/labels", "", "pull-requests: write"},
		{"PATCH", repo + "/issues/comments/7", "", "pull-requests: write"},
		{"POST", repo + "/issues", "", "issues: write"},
		{"GET", repo + "/contents/x", "contents=read,metadata=read", "contents: read"},
		{"GET", "/user", "", ""},
	} {
		err := Wrap("", refusal(c.method, c.path, c.header))
		var want []string
		if c.want != "" {
			want = []string{c.want}
		}
		if got := MissingPermissions(err); !slices.Equal(got, want) || !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s %s (%s): %q, want %q", c.method, c.path, c.header, got, want)
		}
	}
	issue, check := refusal("POST", repo+"/issues", ""), refusal("POST", repo+"/check-runs", "")
	err := errors.Join(fmt.Errorf("posting: %w", Wrap("open", issue)), fmt.Errorf("of the client: %w", check), Wrap("open", issue), errors.New("other"))
	if got := MissingPermissions(err); !slices.Equal(got, []string{"checks: write", "issues: write"}) {
		t.Errorf("%q", got)
	}
	if got := MissingPermissions(errors.New("other")); got != nil {
		t.Errorf("%q", got)
	}
}
