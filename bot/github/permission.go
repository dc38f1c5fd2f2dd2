package github

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/bot/advice"
)

// roles are GitHub's roles in a repository, each holding those before it.
var roles = []string{"none", "read", "triage", "write", "maintain", "admin"}

// Permission returns what a user may do in a repository as GitHub says it now:
// admin, write, read or none; maintain counts as write there and triage as read.
func (h *Hub) Permission(ctx context.Context, r Repo, login string) (string, error) {
	p, err := h.permission(ctx, r, login)
	return p.Permission, err
}

// Role returns the role of a user in a repository as GitHub says it now: none,
// read, triage, write, maintain or admin. A role that an organisation made up
// counts as the one of these that it gives.
func (h *Hub) Role(ctx context.Context, r Repo, login string) (string, error) {
	p, err := h.permission(ctx, r, login)
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

// permission asks by hand: the client's own type lacks the role.
func (h *Hub) permission(ctx context.Context, r Repo, login string) (permission, error) {
	var p permission
	req, err := h.gh.NewRequest(http.MethodGet, "repos/"+r.Owner+"/"+r.Name+"/collaborators/"+url.PathEscape(login)+"/permission", nil)
	if err == nil {
		_, err = h.gh.Do(ctx, req, &p)
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
