package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/go-github/v60/github"
)

// Self returns a Client that authenticates as the App itself, about its own webhook and
// installations. What is an installation's to do it may not.
func (a *App) Self(o Options) (*Client, error) {
	o.BaseURL, o.HTTP, o.Token, o.Tokens = a.base, &http.Client{Transport: a.tr}, "", nil
	return New(o)
}

// HookDelivery is one attempt of GitHub to deliver a webhook to the App.
type HookDelivery struct {
	ID         int64
	GUID       string // the same for all attempts: X-GitHub-Delivery
	At         time.Time
	OK         bool // it was answered with a status of success
	Redelivery bool
	Event      string
	Action     string // "" if the event has none
}

// HookDeliveries lists attempts to deliver the App's webhooks, newest first, a
// hundred from cursor on; "" is the newest. Next is "" at the end. GitHub keeps
// them for a few days.
func (h *Client) HookDeliveries(ctx context.Context, cursor string) (list []HookDelivery, next string, err error) {
	l, res, err := h.gh.Apps.ListHookDeliveries(ctx, &github.ListCursorOptions{PerPage: 100, Cursor: cursor})
	if err != nil {
		return nil, "", Wrap("list the deliveries of the App's webhook", err)
	}
	for _, d := range l {
		list = append(list, HookDelivery{ID: d.GetID(), GUID: d.GetGUID(), At: d.GetDeliveredAt().Time, OK: d.GetStatusCode() >= 200 && d.GetStatusCode() < 300,
			Redelivery: d.GetRedelivery(), Event: d.GetEvent(), Action: d.GetAction()})
	}
	return list, res.Cursor, nil
}

// Redeliver asks GitHub to deliver a webhook once more, which it does a little
// later, under the same GUID.
func (h *Client) Redeliver(ctx context.Context, id int64) error {
	_, _, err := h.gh.Apps.RedeliverHookDelivery(again(ctx), id)
	var accepted *github.AcceptedError
	if errors.As(err, &accepted) {
		return nil
	}
	return Wrap(fmt.Sprintf("ask for delivery %d again", id), err)
}

// Installations lists the ids of the App's installations that are not
// suspended.
func (h *Client) Installations(ctx context.Context) ([]int64, error) {
	return list("list the installations", func(o github.ListOptions) (page[int64], *github.Response, error) {
		l, res, err := h.gh.Apps.ListInstallations(ctx, &o)
		p := page[int64]{total: -1}
		for _, i := range l {
			if i.SuspendedAt == nil {
				p.items = append(p.items, i.GetID())
			}
		}
		return p, res, err
	})
}

// InstalledRepo is a repository of an installation.
type InstalledRepo struct {
	ID            int64
	Repo          Repo
	DefaultBranch string
}

// Repositories lists the repositories of this installation in which anything
// can happen: none that is archived or disabled.
func (h *Client) Repositories(ctx context.Context) ([]InstalledRepo, error) {
	all, err := list("list the repositories of the installation", func(o github.ListOptions) (page[*github.Repository], *github.Response, error) {
		l, res, err := h.gh.Apps.ListRepos(ctx, &o)
		if err != nil {
			return page[*github.Repository]{}, res, err
		}
		return page[*github.Repository]{items: l.Repositories, total: total(l.TotalCount)}, res, nil
	})
	var out []InstalledRepo
	for _, x := range all {
		r, perr := ParseRepo(x.GetFullName())
		if perr == nil && !x.GetArchived() && !x.GetDisabled() {
			out = append(out, InstalledRepo{ID: x.GetID(), Repo: r, DefaultBranch: x.GetDefaultBranch()})
		}
	}
	return out, err
}
