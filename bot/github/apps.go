package github

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
)

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

// AppsService reads the webhook and the installations of a GitHub App, and creates the App. Except
// for ConvertManifest and ID its Client must authenticate as the App: see App.Self.
type AppsService struct{ *core }

// ListDeliveries lists attempts to deliver the App's webhooks, newest first, a
// hundred from cursor on; "" is the newest. Next is "" at the end. GitHub keeps
// them for a few days.
func (s *AppsService) ListDeliveries(ctx context.Context, cursor string) (list []HookDelivery, next string, err error) {
	l, res, err := s.gh.Apps.ListHookDeliveries(ctx, &github.ListCursorOptions{PerPage: 100, Cursor: cursor})
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
func (s *AppsService) Redeliver(ctx context.Context, id int64) error {
	_, _, err := s.gh.Apps.RedeliverHookDelivery(again(ctx), id)
	var accepted *github.AcceptedError
	if errors.As(err, &accepted) {
		return nil
	}
	return Wrap(fmt.Sprintf("ask for delivery %d again", id), err)
}

// ListInstallations lists the ids of the App's installations that are not
// suspended.
func (s *AppsService) ListInstallations(ctx context.Context) ([]int64, error) {
	return list("list the installations", func(o github.ListOptions) (page[int64], *github.Response, error) {
		l, res, err := s.gh.Apps.ListInstallations(ctx, &o)
		p := page[int64]{total: -1}
		for _, i := range l {
			if i.SuspendedAt == nil {
				p.items = append(p.items, i.GetID())
			}
		}
		return p, res, err
	})
}

// ID returns the id of the App with a slug, whose bot has the login "SLUG[bot]". An App that is
// private is ErrNotFound to others.
func (s *AppsService) ID(ctx context.Context, slug string) (int64, error) {
	a, _, err := s.gh.Apps.Get(ctx, slug)
	return a.GetID(), Wrap("read App "+slug, err)
}

// MadeApp is a GitHub App as GitHub tells of it when it was made from a
// manifest: GitHub shows its secrets only once.
type MadeApp struct {
	ID            int64
	Slug, Name    string
	Owner         string // login
	URL           string // of its page
	ClientID      string
	ClientSecret  string
	WebhookSecret string // "" if the App has no webhook
	PrivateKey    string // PEM
}

var manifestCode = lazyregexp.New(`^[A-Za-z0-9_-]{1,128}$`)

// ConvertManifest exchanges the code with which GitHub sent somebody back for
// the App that was made. A code is good for an hour and for one exchange: a
// used one is ErrNotFound. It needs no token. Where the outcome is unknown the
// error is Ambiguous, and the code may be used up.
func (s *AppsService) ConvertManifest(ctx context.Context, code string) (MadeApp, error) {
	const op = "exchange the code of the new App"
	if !manifestCode.MatchString(code) {
		return MadeApp{}, failf(op, nil, "that is not a code as GitHub gives it")
	}
	c, _, err := s.gh.Apps.CompleteAppManifest(once(ctx), code)
	if err != nil {
		return MadeApp{}, Wrap(op, err)
	}
	return MadeApp{ID: c.GetID(), Slug: c.GetSlug(), Name: c.GetName(), Owner: c.GetOwner().GetLogin(), URL: c.GetHTMLURL(),
		ClientID: c.GetClientID(), ClientSecret: c.GetClientSecret(), WebhookSecret: c.GetWebhookSecret(), PrivateKey: c.GetPEM()}, nil
}
