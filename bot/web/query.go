package web

import (
	"html/template"
	"net/http"
	"net/url"
	"strconv"

	"github.com/switchback-ci/switchback/routing/truncate"
)

// kept are the settings of a page that stay when another changes.
var kept = []string{"repo", "state", "days", "q", "class"}

// settings returns the settings of a request.
func settings(r *http.Request) url.Values {
	out, q := url.Values{}, r.URL.Query()
	for _, k := range kept {
		if x := q.Get(k); x != "" {
			out.Set(k, OneLine(truncate.Head(x, mostSought, truncate.Ellipsis)))
		}
	}
	return out
}

// with returns the query of the same page with another value of one setting.
func with(r *http.Request, name, value string) template.URL {
	q := settings(r)
	if q.Set(name, value); value == "" {
		q.Del(name)
	}
	return template.URL("?" + q.Encode()) //nolint:gosec // encoded
}

// pageOf returns the requested page of a list, 1 for the first.
func pageOf(r *http.Request) int {
	n, _ := strconv.Atoi(r.URL.Query().Get("page"))
	return min(max(n, 1), 100_000)
}

// pages returns the queries of the neighbours of page n, "" if there is none.
func pages(r *http.Request, n int, more bool) (previous, next template.URL) {
	if n > 1 {
		previous = with(r, "page", strconv.Itoa(n-1))
	}
	if more {
		next = with(r, "page", strconv.Itoa(n+1))
	}
	return previous, next
}

// picker lets a reader choose one of several repositories.
type picker struct {
	Repos []string
	Keep  []setting // the settings that stay
}

type setting struct{ Name, Value string }

// RepoQuery returns the query of the events of the repository that a request selects, "" if it
// selects none. Events have the present name of the repository; a link may hold an older one.
func RepoQuery(names Names, r *http.Request) string {
	if repo := r.URL.Query().Get("repo"); repo != "" {
		return url.Values{"repo": {names.Now(names.Kept(repo))}}.Encode()
	}
	return ""
}
