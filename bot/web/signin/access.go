package signin

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/sleep"
)

// access knows which repositories the users of sessions may read.
type access struct {
	provider *provider
	sessions sessions
	fresh    time.Duration // see Fresh
	now      func() time.Time
	log      *slog.Logger
	asking   singleflight.Group // by session
}

// of returns the session with the repositories that its user may read, and asks GitHub if its last
// answer is too old.
func (a *access) of(ctx context.Context, s session) (session, error) {
	now := a.now()
	age := now.Sub(s.asked)
	if age < a.fresh {
		return s, nil
	}
	if now.Sub(s.tried) < min(pause, a.fresh) {
		if age < stale {
			return s, nil
		}
		return s, errors.New("GitHub did not answer a moment ago")
	}
	// Concurrent requests ask once; cancelling one of them does not cancel the question.
	asked := a.asking.DoChan(s.id, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
		defer cancel()
		return a.ask(ctx, s)
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
	a.log.Warn("GitHub does not list the repositories of a user; the last list is used", "login", s.login, "err", err)
	return s, nil
}

// ask asks GitHub which repositories the user may read, and stores the answer. A token that GitHub
// rejects ends the session.
func (a *access) ask(ctx context.Context, s session) (session, error) {
	now := a.now()
	ids, err := a.readable(ctx, s.id, s.token)
	switch {
	case errors.Is(err, errEnded):
		return s, errors.Join(err, a.sessions.end(ctx, s.id))
	case err != nil:
		return s, errors.Join(err, a.sessions.try(context.WithoutCancel(ctx), s.id, now))
	}
	s.repos, s.asked, s.tried = ids, now, time.Time{}
	return s, a.sessions.see(ctx, s.id, ids, now)
}

// readable asks with a token, and with a new one if that has expired.
func (a *access) readable(ctx context.Context, id string, k token) ([]int64, error) {
	fresh := false
	if !k.Until.IsZero() && a.now().Add(time.Minute).After(k.Until) {
		var err error
		if k, err = a.another(ctx, id, k); err != nil {
			return nil, err
		}
		fresh = true
	}
	ids, err := a.provider.as(k).readable(ctx)
	if !github.Unauthorized(err) {
		return ids, err
	}
	if fresh {
		return nil, errEnded
	}
	if k, err = a.another(ctx, id, k); err != nil {
		return nil, err
	}
	ids, err = a.provider.as(k).readable(ctx)
	if github.Unauthorized(err) {
		return nil, errEnded
	}
	return ids, err
}

// another returns the token that replaces k, errEnded if there is none. A refresh token is valid
// once, so one process of all uses it.
func (a *access) another(ctx context.Context, id string, k token) (token, error) {
	for {
		now := a.now()
		won, err := a.sessions.claim(ctx, id, now, now.Add(limit))
		if err != nil {
			return token{}, err
		}
		s, err := a.sessions.find(ctx, id)
		if err != nil {
			return token{}, err
		}
		switch {
		case s.token.Access != k.Access: // another process was faster
			if won {
				err = a.sessions.release(ctx, id)
			}
			return s.token, err
		case won:
			return a.renew(ctx, id, k)
		}
		if err := sleep.For(ctx, 100*time.Millisecond); err != nil {
			return token{}, err
		}
	}
}

// renew refreshes a token and stores the new one.
func (a *access) renew(ctx context.Context, id string, k token) (token, error) {
	if k.Refresh == "" {
		return token{}, errEnded
	}
	k, err := a.provider.refresh(ctx, k)
	if err != nil {
		return token{}, errors.Join(err, a.sessions.release(context.WithoutCancel(ctx), id))
	}
	return k, a.sessions.renew(context.WithoutCancel(ctx), id, k) // GitHub issues it once
}
