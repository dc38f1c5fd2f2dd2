package github

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/google/go-github/v60/github"
	"github.com/switchback-ci/switchback/bot/advice"
)

// ActionsBot posts what is posted with a workflow's GITHUB_TOKEN.
const ActionsBot = "github-actions[bot]"

// Login returns the login under which this Client's posts appear. Unless Options
// said so it asks GET /user, which installation tokens may not, then the
// GraphQL viewer, and takes the login for that of GITHUB_TOKEN if that is
// refused too. The answer is kept.
func (h *Client) Login(ctx context.Context) (string, error) {
	h.mu.Lock()
	login := h.login
	h.mu.Unlock()
	if login != "" {
		return login, nil
	}
	user, _, err := h.gh.Users.Get(ctx, "")
	if err == nil && user.GetLogin() != "" {
		return h.learn(user.GetLogin()), nil
	}
	if err := Wrap("ask who the token belongs to", err); err != nil {
		if kind := advice.Of(err).Kind; kind == advice.Later {
			return "", err
		}
	}
	login, err = h.viewer(ctx)
	if kind := advice.Of(err).Kind; kind == advice.Later {
		return "", err
	}
	if login == "" {
		login = ActionsBot
	}
	return h.learn(login), nil
}

// learn keeps login as the bot's own and returns it.
func (h *Client) learn(login string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.login = login
	return login
}

func (h *Client) viewer(ctx context.Context) (string, error) {
	const op = "ask who the token belongs to"
	path := "graphql"
	if strings.HasSuffix(h.gh.BaseURL.Path, "/v3/") {
		path = "../graphql" // GitHub Enterprise Server
	}
	req, err := h.gh.NewRequest(http.MethodPost, path, map[string]string{"query": "{viewer{login}}"})
	if err != nil {
		return "", failf(op, nil, "%v", err)
	}
	var out struct {
		Data struct{ Viewer struct{ Login string } }
	}
	_, err = h.gh.Do(again(ctx), req, &out)
	return out.Data.Viewer.Login, Wrap(op, err)
}

// mine reports whether a login is the bot's, or one under which it posted before.
func (h *Client) mine(author, login string) bool {
	return author != "" && (strings.EqualFold(author, login) ||
		slices.ContainsFunc(h.o.Former, func(f string) bool { return strings.EqualFold(f, author) }))
}

// own reports whether user is the bot itself.
func own(user *github.User, login string) bool {
	return user.GetLogin() != "" && strings.EqualFold(user.GetLogin(), login)
}
