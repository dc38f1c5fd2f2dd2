package signin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"golang.org/x/oauth2"

	"github.com/switchback-ci/switchback/bot/github"
)

// provider is the App's OAuth at GitHub.
type provider struct {
	oauth oauth2.Config
	api   string
	http  http.RoundTripper
	log   *slog.Logger
}

// authorizeURL returns the page at which a person lets the App act for them.
func (p *provider) authorizeURL(state, verifier string) string {
	return p.oauth.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier))
}

// exchange returns the token for a code. It returns errEnded if GitHub refuses the code.
func (p *provider) exchange(ctx context.Context, code, verifier string) (token, error) {
	t, err := p.oauth.Exchange(p.client(ctx), code, oauth2.VerifierOption(verifier))
	if err != nil {
		return token{}, exchangeError(err)
	}
	return tokenOf(t), nil
}

// refresh returns the token that replaces one. It returns errEnded if GitHub refuses.
func (p *provider) refresh(ctx context.Context, k token) (token, error) {
	t, err := p.oauth.TokenSource(p.client(ctx), &oauth2.Token{RefreshToken: k.Refresh}).Token()
	if err != nil {
		return token{}, exchangeError(err)
	}
	return tokenOf(t), nil
}

func tokenOf(t *oauth2.Token) token { return token{t.AccessToken, t.RefreshToken, t.Expiry} }

// client returns a context in which GitHub answers token requests as JSON.
func (p *provider) client(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: wantsJSON{p.http}, Timeout: limit})
}

type wantsJSON struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t wantsJSON) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Accept", "application/json")
	return t.RoundTripper.RoundTrip(r)
}

// exchangeError returns why GitHub issued no token: errEnded if it refused. Of GitHub's answer it
// quotes only the error code.
func exchangeError(err error) error {
	var e *oauth2.RetrieveError
	switch {
	case !errors.As(err, &e):
		return fmt.Errorf("request of a token from GitHub: %w", err)
	case e.ErrorCode != "":
		return fmt.Errorf("%w: GitHub issues no token: %.80q", errEnded, e.ErrorCode)
	case e.Response != nil:
		return fmt.Errorf("GitHub issues no token: %s", e.Response.Status)
	}
	return errors.New("GitHub issues no token")
}

// person is a client with the rights of a user.
type person struct {
	h   *github.Client
	err error
}

// as returns a client with the rights of the user of a token.
func (p *provider) as(k token) person {
	h, err := github.New(github.Options{Token: k.Access, BaseURL: p.api, HTTP: &http.Client{Transport: p.http}, MaxWait: time.Second, Log: p.log})
	return person{h, err}
}

func (p person) readable(ctx context.Context) ([]int64, error) {
	if p.err != nil {
		return nil, p.err
	}
	return p.h.Users.ListReadable(ctx)
}

func (p person) me(ctx context.Context) (github.Account, error) {
	if p.err != nil {
		return github.Account{}, p.err
	}
	return p.h.Users.Me(ctx)
}
