package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/go-github/v60/github"
	"github.com/switchback-ci/switchback/bot/advice"
)

// Account is a user of GitHub.
type Account struct {
	ID     int64
	Login  string
	Avatar string // address of a picture, "" if there is none
}

// UsersService reads the account of the token.
type UsersService struct{ *core }

// Login returns the login under which this Client's posts appear. Unless Options contains it, it
// asks GET /user, which an installation token may not, then the GraphQL viewer, and assumes the
// login of GITHUB_TOKEN if both are refused. The answer is kept.
func (s *UsersService) Login(ctx context.Context) (string, error) { return s.botLogin(ctx) }

// Me returns the account of this token. It fails for an installation token, which has none.
func (s *UsersService) Me(ctx context.Context) (Account, error) {
	const op = "ask who signs in"
	u, _, err := s.gh.Users.Get(ctx, "")
	if err != nil {
		return Account{}, Wrap(op, err)
	}
	if u.GetID() == 0 || u.GetLogin() == "" {
		return Account{}, failf(op, nil, "GitHub does not say who it is")
	}
	return Account{u.GetID(), u.GetLogin(), u.GetAvatarURL()}, nil
}

// ListReadable returns the ids of the repositories that the user of this token may read, among those
// of the App that the token was created for. An installation that refuses the request, for instance
// because its organization requires SSO, contributes none.
func (s *UsersService) ListReadable(ctx context.Context) ([]int64, error) {
	all, err := list("list the installations that a user may see", func(o github.ListOptions) (page[*github.Installation], *github.Response, error) {
		some, res, err := s.gh.Apps.ListUserInstallations(ctx, &o)
		return page[*github.Installation]{some, -1}, res, err
	})
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, i := range all {
		op := fmt.Sprintf("list the repositories of installation %d that a user may see", i.GetID())
		repos, err := list(op, func(o github.ListOptions) (page[*github.Repository], *github.Response, error) {
			some, res, err := s.gh.Apps.ListUserRepos(ctx, i.GetID(), &o)
			if err != nil {
				return page[*github.Repository]{}, res, err
			}
			return page[*github.Repository]{some.Repositories, some.GetTotalCount()}, res, nil
		})
		if hidden(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, r := range repos {
			ids = append(ids, r.GetID())
		}
	}
	return ids, nil
}

// hidden reports whether GitHub returned that there is nothing to see.
func hidden(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind != advice.Later && (e.Status == http.StatusForbidden || e.Status == http.StatusNotFound)
}

// Unauthorized reports whether GitHub rejects the token.
func Unauthorized(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == http.StatusUnauthorized
}
