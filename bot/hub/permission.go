package hub

import "context"

// Permission returns what a user may do in a repository as GitHub says it now:
// admin, write, read or none; maintain counts as write there and triage as read.
func (h *Hub) Permission(ctx context.Context, r Repo, login string) (string, error) {
	p, _, err := h.gh.Repositories.GetPermissionLevel(ctx, r.Owner, r.Name, login)
	if err != nil {
		if kind, _ := Verdict(Wrap("", err)); kind == Gone {
			return "none", nil
		}
		return "", Wrap(opf("read what %s may do in %s", login, r), err)
	}
	return p.GetPermission(), nil
}
