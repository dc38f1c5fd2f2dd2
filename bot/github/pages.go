package github

import (
	"github.com/google/go-github/v60/github"
	"github.com/switchback-ci/switchback/bot/advice"
)

const maxPages = 1000

// page is one page of a listing. Total is GitHub's total count, -1 if unknown.
type page[T any] struct {
	items []T
	total int
}

// list reads all pages of a listing. One that ends before the last page, or with fewer items than
// GitHub counted, is ErrIncomplete, because a decision on it could post twice.
func list[T any](op string, fetch func(github.ListOptions) (page[T], *github.Response, error)) ([]T, error) {
	var out []T
	last := 1
	for n := 1; ; {
		p, res, err := fetch(github.ListOptions{Page: n, PerPage: 100})
		if err != nil {
			return nil, Wrap(op, err)
		}
		out = append(out, p.items...)
		last = max(last, res.LastPage)
		switch {
		case res.NextPage == 0 && (n < last || len(out) < p.total):
			return nil, &Error{Kind: advice.Later, Op: op, Message: "the listing ended early", err: ErrIncomplete}
		case res.NextPage == 0:
			return out, nil
		case res.NextPage <= n || res.NextPage > maxPages:
			return nil, &Error{Kind: advice.Later, Op: op, Message: "the listing does not end", err: ErrIncomplete}
		}
		n = res.NextPage
	}
}

func total(n *int) int {
	if n == nil {
		return -1
	}
	return *n
}
