package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/oauth2"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/sleep"
)

// rights returns the session with what may be seen in it, asking GitHub if that
// was long ago.
func (g *Gate) rights(ctx context.Context, s session) (session, error) {
	now := g.o.Now()
	age := now.Sub(s.asked)
	if age < g.o.Fresh {
		return s, nil
	}
	if now.Sub(s.tried) < min(pause, g.o.Fresh) {
		if age < stale {
			return s, nil
		}
		return s, errors.New("GitHub did not answer a moment ago")
	}
	// Pages that are loaded at once ask once; that one of them goes away does not
	// end it for the others.
	asked := g.asking.DoChan(s.id, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
		defer cancel()
		return g.ask(ctx, s)
	})
	var err error
	select {
	case <-ctx.Done():
		return s, ctx.Err()
	case res := <-asked:
		if err = res.Err; err == nil {
			return res.Val.(session), nil
		}
	}
	if errors.Is(err, errEnded) || age >= stale {
		return s, err
	}
	g.o.Log.Warn("GitHub does not say what somebody may see; what it said before holds for a while", "login", s.login, "err", err)
	return s, nil
}

// ask asks GitHub what may be seen in a session, and keeps it. A token that GitHub
// does not take any more ends the session.
func (g *Gate) ask(ctx context.Context, s session) (session, error) {
	now := g.o.Now()
	ids, err := g.readable(ctx, s.id, s.token)
	switch {
	case errors.Is(err, errEnded):
		return s, errors.Join(err, g.sessions.end(ctx, s.id))
	case err != nil:
		return s, errors.Join(err, g.sessions.try(context.WithoutCancel(ctx), s.id, now))
	}
	s.repos, s.asked, s.tried = ids, now, time.Time{}
	return s, g.sessions.see(ctx, s.id, ids, now)
}

// readable asks with a token, and with another one if that has come to its end.
func (g *Gate) readable(ctx context.Context, id string, k token) ([]int64, error) {
	fresh := false
	if !k.Until.IsZero() && g.o.Now().Add(time.Minute).After(k.Until) {
		var err error
		if k, err = g.another(ctx, id, k); err != nil {
			return nil, err
		}
		fresh = true
	}
	ids, err := g.as(k).readable(ctx)
	if !github.Unauthorized(err) {
		return ids, err
	}
	if fresh {
		return nil, errEnded
	}
	if k, err = g.another(ctx, id, k); err != nil {
		return nil, err
	}
	ids, err = g.as(k).readable(ctx)
	if github.Unauthorized(err) {
		return nil, errEnded
	}
	return ids, err
}

// another returns a token in the place of k. One that renews can be used once, so
// that one process of all does it; errEnded if none can be had.
func (g *Gate) another(ctx context.Context, id string, k token) (token, error) {
	for {
		now := g.o.Now()
		won, err := g.sessions.claim(ctx, id, now, now.Add(limit))
		if err != nil {
			return token{}, err
		}
		s, err := g.sessions.find(ctx, id)
		if err != nil {
			return token{}, err
		}
		switch {
		case s.token.Access != k.Access: // somebody was faster
			if won {
				err = g.sessions.release(ctx, id)
			}
			return s.token, err
		case won:
			return g.renew(ctx, id, k)
		}
		if err := sleep.For(ctx, 100*time.Millisecond); err != nil {
			return token{}, err
		}
	}
}

// renew makes another token at GitHub and keeps it.
func (g *Gate) renew(ctx context.Context, id string, k token) (token, error) {
	if k.Refresh == "" {
		return token{}, errEnded
	}
	t, err := g.oauth.TokenSource(g.client(ctx), &oauth2.Token{RefreshToken: k.Refresh}).Token()
	if err != nil {
		err = exchangeError(err)
		return token{}, errors.Join(err, g.sessions.release(context.WithoutCancel(ctx), id))
	}
	k = tokenOf(t)
	return k, g.sessions.renew(context.WithoutCancel(ctx), id, k) // GitHub gave it once
}

func tokenOf(t *oauth2.Token) token { return token{t.AccessToken, t.RefreshToken, t.Expiry} }

// client returns a context in which GitHub's answers about tokens are JSON.
func (g *Gate) client(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: wantsJSON{g.o.HTTP}, Timeout: limit})
}

type wantsJSON struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t wantsJSON) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Accept", "application/json")
	return t.RoundTripper.RoundTrip(r)
}

// exchangeError says why GitHub gave no token: errEnded where it does not want to.
// It quotes nothing that GitHub answered but the name of its error.
func exchangeError(err error) error {
	var e *oauth2.RetrieveError
	switch {
	case !errors.As(err, &e):
		return fmt.Errorf("GitHub could not be asked for a token: %w", err)
	case e.ErrorCode != "":
		return fmt.Errorf("%w: GitHub gives no token: %.80q", errEnded, e.ErrorCode)
	case e.Response != nil:
		return fmt.Errorf("GitHub gives no token: %s", e.Response.Status)
	}
	return errors.New("GitHub gives no token")
}

// person is GitHub as a user sees it.
type person struct {
	h   *github.Client
	err error
}

// as returns GitHub as whoever a token is of sees it.
func (g *Gate) as(k token) person {
	h, err := github.New(github.Options{Token: k.Access, BaseURL: g.o.API, HTTP: &http.Client{Transport: g.o.HTTP}, MaxWait: time.Second, Log: g.o.Log})
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
