package github

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/bot/advice"
)

// roles are GitHub's roles in a repository, in ascending order.
var roles = []string{"none", "read", "triage", "write", "maintain", "admin"}

// Permission returns the current permission of a user in a repository: admin, write, read or none;
// maintain counts as write and triage as read.
func (h *Client) Permission(ctx context.Context, r Repo, login string) (string, error) {
	p, err := h.permission(ctx, r, login)
	return p.Permission, err
}

// Role returns the current role of a user in a repository: none, read, triage, write, maintain or
// admin. A custom role of an organization counts as the role that it is based on.
func (h *Client) Role(ctx context.Context, r Repo, login string) (string, error) {
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

// permission sends the request without go-github's method, whose type lacks the role.
func (h *Client) permission(ctx context.Context, r Repo, login string) (permission, error) {
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
