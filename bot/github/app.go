package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/google/go-github/v60/github"
	"github.com/switchback-ci/switchback/bot/advice"
)

// ErrSuspended says that the installation is suspended: its owner may let it
// work again.
var ErrSuspended = advice.New("the installation is suspended", advice.Advice{Kind: advice.Blocked, Reason: "suspended"})

// App authenticates as a GitHub App, and makes the Clients that authenticate
// as its installations. It is safe for concurrent use.
type App struct {
	base  string
	tr    *ghinstallation.AppsTransport
	gh    *github.Client
	plain http.RoundTripper
}

// NewApp returns the App of an id with its private key in PEM form. baseURL is
// the address of the API, "" that of github.com. It sends nothing yet.
func NewApp(id int64, privateKey []byte, baseURL string) (*App, error) {
	if baseURL == "" {
		baseURL = DefaultURL
	}
	base := strings.TrimRight(baseURL, "/")
	u, err := url.Parse(base + "/")
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("github: %q is not the address of an API", baseURL)
	}
	a := &App{base: base, plain: plainTransport()}
	if a.tr, err = ghinstallation.NewAppsTransport(a.plain, id, privateKey); err != nil {
		return nil, errors.New("github: the App's private key cannot be read") // the cause might quote it
	}
	a.tr.BaseURL = base
	a.gh = github.NewClient(&http.Client{Transport: a.tr})
	a.gh.BaseURL, a.gh.UserAgent = u, "switchback"
	return a, nil
}

// Slug returns the App's slug, which names its bot: SLUG[bot].
func (a *App) Slug(ctx context.Context) (string, error) {
	app, _, err := a.gh.Apps.Get(ctx, "")
	if err != nil {
		return "", Wrap("ask which App this is", err)
	}
	return app.GetSlug(), nil
}

// InstallationOf returns the installation of the App that a repository belongs
// to; ErrNotFound if there is none.
func (a *App) InstallationOf(ctx context.Context, r Repo) (int64, error) {
	i, _, err := a.gh.Apps.FindRepositoryInstallation(ctx, r.Owner, r.Name)
	return i.GetID(), Wrap("find the installation of "+r.String(), err)
}

// Installation returns a Client that authenticates as an installation of the App. Its
// tokens are made when they are needed and kept as long as they are good. A
// Client whose installation was deleted returns errors that are ErrNotFound, one
// whose installation is suspended ErrSuspended.
func (a *App) Installation(id int64, o Options) (*Client, error) {
	t := ghinstallation.NewFromAppsTransport(a.tr, id)
	t.BaseURL = a.base
	o.BaseURL, o.HTTP, o.Token = a.base, &http.Client{Transport: a.plain}, ""
	o.Tokens = func(ctx context.Context) (string, error) {
		token, err := t.Token(ctx)
		return token, tokenError(id, err)
	}
	return New(o)
}

// tokenError says what it means that an installation gets no token.
func tokenError(id int64, err error) error {
	var h *ghinstallation.HTTPError
	if err == nil || !errors.As(err, &h) || h.Response == nil {
		return err
	}
	_ = h.Response.Body.Close()
	e := &Error{Kind: advice.Later, Op: fmt.Sprintf("get a token for installation %d", id), Status: h.Response.StatusCode, Message: http.StatusText(h.Response.StatusCode)}
	switch s := h.Response.StatusCode; {
	case s == http.StatusNotFound, s == http.StatusGone:
		e.Kind, e.err, e.Message = advice.Gone, ErrNotFound, "there is no such installation"
	case s == http.StatusForbidden && h.Response.Header.Get("Retry-After") == "":
		e.Kind, e.err, e.Message = advice.Blocked, ErrSuspended, "the installation is suspended"
	case s == http.StatusUnauthorized:
		e.Kind, e.Message = advice.Fail, "GitHub does not know the App by its id and private key"
	}
	return e
}

// Self returns a Client that authenticates as the App itself, about its own webhook and
// installations. What is an installation's to do it may not.
func (a *App) Self(o Options) (*Client, error) {
	o.BaseURL, o.HTTP, o.Token, o.Tokens = a.base, &http.Client{Transport: a.tr}, "", nil
	return New(o)
}
