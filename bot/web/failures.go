package web

import (
	"cmp"
	"html/template"
	"net/http"
	"slices"

	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/activity"
	"github.com/switchback-ci/switchback/routing/truncate"
)

// failurePages are the list of failures by fingerprint and the page of each fingerprint.
type failurePages struct {
	failures eventstream.Failures
	names    Names
}

func (p failurePages) section() Section {
	return Section{Links: []Link{{"/failures", "Failures", 40}},
		Routes: map[string]Handler{"GET /failures": p.list, "GET /failure/{fingerprint}": p.one}}
}

// failures is a page of the list of clusters.
type failures struct {
	Text       string
	Class      routing.Class
	Classes    []routing.Class
	Clusters   []eventstream.Cluster
	Prev, Next template.URL // queries of the neighbouring pages, "" if there is none
	Sought     bool
}

// mostSought is the longest text of a search, in bytes.
const mostSought = 200

var failureEvents = []string{string(activity.RunAnalyzed)}

func (p failurePages) list(v Viewer, r *http.Request) (Page, error) {
	q := r.URL.Query()
	b := failures{Text: OneLine(truncate.Head(q.Get("q"), mostSought, truncate.Ellipsis)), Class: routing.Class(q.Get("class")), Classes: routing.Classes()}
	if !b.Class.Valid() {
		b.Class = ""
	}
	b.Sought = b.Text != "" || b.Class != ""
	n := pageOf(r)
	var err error
	if b.Clusters, err = p.failures.Clusters(r.Context(), eventstream.Wanted{Repos: v.Repos, Text: b.Text, Class: b.Class}, (n-1)*perPage, perPage+1); err != nil {
		return Page{}, err
	}
	b.Prev, b.Next = pages(r, n, len(b.Clusters) > perPage)
	b.Clusters = b.Clusters[:min(len(b.Clusters), perPage)]
	return Page{Name: "failures", Title: "Failures", Live: failureEvents, Query: RepoQuery(p.names, r), Picks: true, Body: b}, nil
}

// failure is the page of one cluster.
type failure struct {
	eventstream.Cluster
	Seen  []eventstream.Seen
	More  int
	Fixed []fixedBy
	All   int // that were fixed
}

// fixedBy says how many failures were fixed after a number of iterations.
type fixedBy struct{ Iterations, N int }

func (p failurePages) one(v Viewer, r *http.Request) (Page, error) {
	ctx, print := r.Context(), r.PathValue("fingerprint")
	c, ok, err := p.failures.Cluster(ctx, v.Repos, print)
	if err != nil {
		return Page{}, err
	}
	if !ok {
		return Page{}, ErrNotFound
	}
	b := failure{Cluster: c}
	if b.Seen, err = p.failures.Seen(ctx, v.Repos, print, perPage); err != nil {
		return Page{}, err
	}
	b.More = max(0, c.Cases-len(b.Seen))
	fixed, err := p.failures.FixedBy(ctx, v.Repos, print)
	if err != nil {
		return Page{}, err
	}
	for iterations, n := range fixed {
		b.Fixed = append(b.Fixed, fixedBy{iterations, n})
		b.All += n
	}
	slices.SortFunc(b.Fixed, func(a, b fixedBy) int { return cmp.Compare(a.Iterations, b.Iterations) })
	return Page{Name: "failure", Title: clusterTitle(c), Live: failureEvents, Body: b}, nil
}

// clusterTitle returns the title of a cluster.
func clusterTitle(c eventstream.Cluster) string {
	return orElse(OneLine(c.Name), orElse(OneLine(c.Suite), "A failure without a name"))
}
