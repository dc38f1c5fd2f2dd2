package github

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// permissionOf are the permissions that requests need, by path. GitHub names them in a header, but
// not in every answer.
var permissionOf = []struct {
	path *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`/check-(runs|suites)`), "checks"},
	{regexp.MustCompile(`/actions/`), "actions"},
	{regexp.MustCompile(`/(contents|git|branches|dispatches|merges)(/|$)`), "contents"},
	{regexp.MustCompile(`/pulls(/|$)|/issues/comments/|/issues/[0-9]+/(comments|labels)`), "pull-requests"},
	{regexp.MustCompile(`/(issues|labels)(/|$)`), "issues"},
	{regexp.MustCompile(`/statuses/`), "statuses"},
}

// missingPermission returns what a token lacked for a request, as the key and value below
// permissions: of a workflow; "" if that is unknown. Of several permissions that would each do it is
// pull-requests, if that is one: most requests with a choice are about pull requests.
func missingPermission(res *http.Response) string {
	for choice := range strings.SplitSeq(sortedChoices(res.Header.Get("X-Accepted-GitHub-Permissions")), ";") {
		first, _, _ := strings.Cut(choice, ",")
		if name, level, ok := strings.Cut(strings.TrimSpace(first), "="); ok {
			return strings.ReplaceAll(name, "_", "-") + ": " + level
		}
	}
	if res.Request == nil {
		return ""
	}
	level := "read"
	if writes(res.Request.Method) {
		level = "write"
	}
	for _, p := range permissionOf {
		if p.path.MatchString(res.Request.URL.Path) {
			return p.name + ": " + level
		}
	}
	return ""
}

// sortedChoices puts the choice that names pull_requests before the others.
func sortedChoices(header string) string {
	all := strings.Split(header, ";")
	slices.SortStableFunc(all, func(a, b string) int {
		x, y := strings.Contains(a, "pull_requests"), strings.Contains(b, "pull_requests")
		switch {
		case x == y:
			return 0
		case x:
			return -1
		}
		return 1
	})
	return strings.Join(all, ";")
}

// MissingPermissions returns the permissions for want of which GitHub refused requests, sorted, each
// once. err may join many errors; those of the client itself are found as well.
func MissingPermissions(err error) []string {
	var out []string
	var visit func(error)
	visit = func(err error) {
		if err == nil {
			return
		}
		if many, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range many.Unwrap() {
				visit(e)
			}
			return
		}
		if e, ok := err.(*Error); ok {
			if e.Missing != "" {
				out = append(out, e.Missing)
			}
			return
		}
		if one, ok := err.(interface{ Unwrap() error }); ok && one.Unwrap() != nil {
			visit(one.Unwrap())
			return
		}
		if e, ok := Wrap("", err).(*Error); ok && e.Missing != "" {
			out = append(out, e.Missing)
		}
	}
	visit(err)
	slices.Sort(out)
	return slices.Compact(out)
}
