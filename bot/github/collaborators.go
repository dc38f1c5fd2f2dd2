package github

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/bot/advice"
)

// roles are GitHub's roles in a repository, in ascending order.
var roles = []string{"none", "read", "triage", "write", "maintain", "admin"}

// CollaboratorsService reads what a user may do in a repository.
type CollaboratorsService struct{ *core }

// Permission returns the current permission of a user in a repository: admin, write, read or none;
// maintain counts as write and triage as read.
func (s *CollaboratorsService) Permission(ctx context.Context, r Repo, login string) (string, error) {
	p, err := s.get(ctx, r, login)
	return p.Permission, err
}

// Role returns the current role of a user in a repository: none, read, triage, write, maintain or
// admin. A custom role of an organization counts as the role that it is based on.
func (s *CollaboratorsService) Role(ctx context.Context, r Repo, login string) (string, error) {
	p, err := s.get(ctx, r, login)
	if slices.Contains(roles, p.Role) {
		return p.Role, err
	}
	return p.Permission, err
}

// Allows reports whether role have holds role want.
func Allows(have, want string) bool {
	w := slices.Index(roles, want)
	return w >= 0 && slices.Index(roles, have) >= w
}

type permission struct {
	Permission string `json:"permission"`
	Role       string `json:"role_name"`
}

// get sends the request without go-github's method, whose type lacks the role.
func (s *CollaboratorsService) get(ctx context.Context, r Repo, login string) (permission, error) {
	var p permission
	req, err := s.gh.NewRequest(http.MethodGet, "repos/"+r.Owner+"/"+r.Name+"/collaborators/"+url.PathEscape(login)+"/permission", nil)
	if err == nil {
		_, err = s.gh.Do(ctx, req, &p)
	}
	if err != nil {
		if kind := advice.Of(Wrap("", err)).Kind; kind == advice.Gone {
			return permission{Permission: "none"}, nil
		}
		return permission{}, Wrap(opf("read what %s may do in %s", login, r), err)
	}
	p.Permission, p.Role = strings.ToLower(p.Permission), strings.ToLower(p.Role)
	return p, nil
}

// Assignable reports whether an issue can be assigned to a user.
func (s *CollaboratorsService) Assignable(ctx context.Context, r Repo, login string) (bool, error) {
	ok, _, err := s.gh.Issues.IsAssignee(ctx, r.Owner, r.Name, login)
	if err = Wrap(opf("ask if %s can be assigned in %s", login, r), err); errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return ok && err == nil, err
}
