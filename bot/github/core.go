package github

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/google/go-github/v60/github"
	"github.com/switchback-ci/switchback/bot/advice"
)

// ActionsBot posts what is posted with a workflow's GITHUB_TOKEN.
const ActionsBot = "github-actions[bot]"

// core sends the requests of all services of a Client, and knows the login of the bot.
type core struct {
	o  Options
	gh *github.Client
	tr *transport

	loginMu sync.Mutex
	login   string
}

// botLogin is UsersService.Login.
func (c *core) botLogin(ctx context.Context) (string, error) {
	if login := c.knownLogin(); login != "" {
		return login, nil
	}
	user, _, err := c.gh.Users.Get(ctx, "")
	if err == nil && user.GetLogin() != "" {
		return c.learn(user.GetLogin()), nil
	}
	if err := Wrap("ask who the token belongs to", err); err != nil {
		if kind := advice.Of(err).Kind; kind == advice.Later {
			return "", err
		}
	}
	login, err := c.viewer(ctx)
	if kind := advice.Of(err).Kind; kind == advice.Later {
		return "", err
	}
	if login == "" {
		login = ActionsBot
	}
	return c.learn(login), nil
}

// learn keeps login as the bot's own and returns it.
func (c *core) learn(login string) string {
	c.loginMu.Lock()
	defer c.loginMu.Unlock()
	c.login = login
	return login
}

func (c *core) viewer(ctx context.Context) (string, error) {
	const op = "ask who the token belongs to"
	path := "graphql"
	if strings.HasSuffix(c.gh.BaseURL.Path, "/v3/") {
		path = "../graphql" // GitHub Enterprise Server
	}
	req, err := c.gh.NewRequest(http.MethodPost, path, map[string]string{"query": "{viewer{login}}"})
	if err != nil {
		return "", failf(op, nil, "%v", err)
	}
	var out struct {
		Data struct{ Viewer struct{ Login string } }
	}
	_, err = c.gh.Do(again(ctx), req, &out)
	return out.Data.Viewer.Login, Wrap(op, err)
}

// knownLogin returns the bot's login if it was learned or set, else "".
func (c *core) knownLogin() string {
	c.loginMu.Lock()
	defer c.loginMu.Unlock()
	return c.login
}

// mine reports whether a login is the bot's, or one under which it posted before.
func (c *core) mine(author, login string) bool {
	return author != "" && (strings.EqualFold(author, login) ||
		slices.ContainsFunc(c.o.Former, func(f string) bool { return strings.EqualFold(f, author) }))
}

// own reports whether user is the bot itself.
func own(user *github.User, login string) bool {
	return user.GetLogin() != "" && strings.EqualFold(user.GetLogin(), login)
}

// read decodes the response to a GET of path into out.
func (c *core) read(ctx context.Context, op, path string, out any) (*github.Response, error) {
	req, err := c.gh.NewRequest(http.MethodGet, path, nil)
	if err != nil {
		return nil, failf(op, nil, "%v", err)
	}
	res, err := c.gh.Do(ctx, req, out)
	return res, Wrap(op, err)
}
