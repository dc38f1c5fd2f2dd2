package web

import (
	"html/template"
	"net/http"
	"net/url"
	"strconv"

	"github.com/switchback-ci/switchback/routing/truncate"
)

// kept are the settings of a page that stay when another one is changed.
var kept = []string{"repo", "state", "days", "q", "class"}

// settings returns those of a request.
func settings(r *http.Request) url.Values {
	out, q := url.Values{}, r.URL.Query()
	for _, k := range kept {
		if x := q.Get(k); x != "" {
			out.Set(k, oneLine(truncate.Head(x, mostSought, truncate.Ellipsis)))
		}
	}
	return out
}

// with is the query of the same page with one setting changed.
func with(r *http.Request, name, value string) template.URL {
	q := settings(r)
	if q.Set(name, value); value == "" {
		q.Del(name)
	}
	return template.URL("?" + q.Encode()) //nolint:gosec // encoded
}

// pageOf is which page of a list is asked for, 1 for the first.
func pageOf(r *http.Request) int {
	n, _ := strconv.Atoi(r.URL.Query().Get("page"))
	return min(max(n, 1), 100_000)
}

// pages are the queries of the pages before and behind one, "" if there is none.
func pages(r *http.Request, n int, more bool) (before, behind template.URL) {
	if n > 1 {
		before = with(r, "page", strconv.Itoa(n-1))
	}
	if more {
		behind = with(r, "page", strconv.Itoa(n+1))
	}
	return before, behind
}

// picker lets a reader choose one of several repositories.
type picker struct {
	Repos []string
	Keep  []setting // what else stays
}

type setting struct{ Name, Value string }

// picker is that of a page, if there is anything to choose.
func (s *Server) picker(r *http.Request, may []string) (picker, error) {
	var p picker
	list, err := s.o.Feed.Repos(r.Context(), may)
	if err != nil || len(list) < 2 {
		return p, err
	}
	for _, name := range list {
		p.Repos = append(p.Repos, s.o.Names.Now(name))
	}
	q := settings(r)
	for _, k := range kept {
		if x := q.Get(k); x != "" && k != "repo" {
			p.Keep = append(p.Keep, setting{k, x})
		}
	}
	return p, nil
}
