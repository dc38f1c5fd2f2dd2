// Package signin is the dashboard's sign-in with GitHub. It lets a person see the repositories that
// they may read at GitHub.
//
// The browser holds a random secret, and the database its hash. The token that lists a person's
// repositories stays on the server. Replicas that share a database share the sessions. A sign-in in
// progress is stored only in the browser, so that it takes no memory here; its state is stored when
// it returns, until it expires, so that it is good for once.
package signin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/endpoint"
	"github.com/switchback-ci/switchback/bot/web"
)

// Paths of the gate, below the server's address.
const (
	Path         = "/sign-in"
	CallbackPath = "/sign-in/callback"
	outPath      = "/sign-out"
	signedOut    = "/signed-out"
)

const (
	// Fresh is how long GitHub's list of the repositories that a person may read is used.
	Fresh = 2 * time.Minute
	stale = 15 * time.Minute // how long the list is used while GitHub does not answer
	pause = 10 * time.Second // before GitHub is asked again after it did not answer
	limit = 30 * time.Second // of one question to GitHub, with all its requests
)

// Options configure a Gate.
type Options struct {
	DB           *database.DB // migrated by Line
	ClientID     string       // of the App
	ClientSecret string
	GitHub       string // where people see GitHub
	API          string // the address of its API
	Public       string // the address at which people see this server, see ParsePublic
	// Repositories returns the names of the streams of repositories, without those in which the App
	// does not work.
	Repositories func(ctx context.Context, ids []int64) ([]string, error)
	Fresh        time.Duration    // see Fresh
	Proxies      endpoint.Proxies // in front of this server; the limits of an address are those of the browser's
	HTTP         http.RoundTripper
	Now          func() time.Time
	Log          *slog.Logger
}

// Gate is the sign-in with GitHub.
type Gate struct {
	o        Options
	public   string // see Options.Public
	provider *provider
	access   *access
	cookies  cookies
	seal     *seal
	sessions sessions
	attempts *attempts
}

var _ web.Gate = (*Gate)(nil)

// New returns a Gate.
func New(o Options) (*Gate, error) {
	public, err := ParsePublic(o.Public)
	if err != nil {
		return nil, err
	}
	if o.ClientID == "" {
		return nil, errors.New("the App's client id is missing")
	}
	s, err := newSeal(o.ClientSecret)
	if err != nil {
		return nil, err
	}
	o.Fresh = cmp.Or(o.Fresh, Fresh)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.HTTP == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.ResponseHeaderTimeout = limit
		o.HTTP = t
	}
	p := &provider{api: o.API, http: o.HTTP, log: o.Log,
		oauth: oauth2.Config{ClientID: o.ClientID, ClientSecret: o.ClientSecret, RedirectURL: public + CallbackPath,
			Endpoint: oauth2.Endpoint{AuthURL: o.GitHub + "/login/oauth/authorize", TokenURL: o.GitHub + "/login/oauth/access_token", AuthStyle: oauth2.AuthStyleInParams}}}
	t := sessions{o.DB, s}
	return &Gate{o: o, public: public, provider: p, seal: s, sessions: t, cookies: cookies{secure: strings.HasPrefix(public, "https:")},
		access:   &access{provider: p, sessions: t, fresh: o.Fresh, now: o.Now, log: o.Log},
		attempts: newAttempts(o.Now)}, nil
}

// ParsePublic returns the normalized address at which people see the server. Plain http is allowed
// only on this machine, because the network could read the cookies.
func ParsePublic(s string) (string, error) {
	u, err := url.Parse(strings.TrimRight(s, "/"))
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("%q is not the address of a server; give it as https://switchback.example.com", s)
	case u.Path != "":
		return "", fmt.Errorf("%q has a path; the pages need an address of their own, as https://switchback.example.com", s)
	case u.Scheme == "http" && u.Hostname() != "localhost" && !net.ParseIP(u.Hostname()).IsLoopback():
		return "", fmt.Errorf("%q is not encrypted; who listens could sign in as somebody else: use https", s)
	}
	return u.Scheme + "://" + strings.ToLower(u.Host), nil
}

// Run deletes expired sessions and used states until ctx ends.
func (g *Gate) Run(ctx context.Context) {
	tick := time.NewTicker(10 * time.Minute)
	defer tick.Stop()
	for {
		if err := g.sessions.prune(ctx, g.o.Now()); err != nil && ctx.Err() == nil {
			g.o.Log.Warn("expired sessions could not be deleted; tried again", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Viewer implements web.Gate. The list of repositories is no older than Fresh; while GitHub does
// not answer, no older than a quarter of an hour.
func (g *Gate) Viewer(r *http.Request) (web.Viewer, bool, error) {
	ctx := r.Context()
	var v web.Viewer
	var err error
	if token, ok := agentToken(r); ok {
		v, err = g.agentViewer(ctx, token)
	} else if secret, ok := g.cookies.get(r, sessionCookie); ok {
		v, err = g.viewer(ctx, hash(secret))
	} else {
		return web.Viewer{}, false, nil
	}
	if errors.Is(err, errEnded) {
		return web.Viewer{}, false, nil
	}
	return v, err == nil, err
}

func (g *Gate) viewer(ctx context.Context, id string) (web.Viewer, error) {
	s, err := g.sessions.find(ctx, id)
	if err != nil {
		return web.Viewer{}, err
	}
	now := g.o.Now()
	if s.over(now) {
		return web.Viewer{}, errors.Join(errEnded, g.sessions.end(ctx, id))
	}
	if s, err = g.access.of(ctx, s); err != nil {
		return web.Viewer{}, err
	}
	names, err := g.o.Repositories(ctx, s.repos)
	if err != nil {
		return web.Viewer{}, err
	}
	if now.Sub(s.used) >= touched {
		if err := g.sessions.use(ctx, id, now); err != nil {
			return web.Viewer{}, err
		}
	}
	return web.Viewer{Login: s.login, Avatar: s.avatar, Repos: append([]string{}, names...), CSRF: g.seal.csrf(id)}, nil
}
