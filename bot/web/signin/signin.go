// Package signin lets people into the dashboard who sign in with GitHub, and shows
// them the repositories that they may read there.
//
// A browser holds a random secret, of which the database has the hash; the token by
// which GitHub is asked what somebody may see stays on the server. Replicas that
// share a database share the sessions. A sign-in that has begun is kept in the
// browser alone, so that it takes up nothing here.
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
	"golang.org/x/sync/singleflight"

	"github.com/switchback-ci/switchback/bot/database"
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
	// Fresh is how long what GitHub said somebody may see is taken for true.
	Fresh = 2 * time.Minute
	stale = 15 * time.Minute // how long it is while GitHub does not answer
	pause = 10 * time.Second // before GitHub is asked again that did not answer
	limit = 30 * time.Second // for all that is asked of GitHub at once
	atOne = 16               // sign-ins that are ended at GitHub at once
)

// Options say who is let in, and by what.
type Options struct {
	DB           *database.DB // that Line was brought to
	ClientID     string       // of the App
	ClientSecret string
	GitHub       string // where people see GitHub
	API          string // the address of its API
	Public       string // the address at which people see this server, see ParsePublic
	// Repositories returns the names under which the streams of repositories are kept,
	// of those ids that the App works in.
	Repositories func(ctx context.Context, ids []int64) ([]string, error)
	Fresh        time.Duration // see Fresh
	HTTP         http.RoundTripper
	Now          func() time.Time
	Log          *slog.Logger
}

// Gate lets in who signs in with GitHub.
type Gate struct {
	o        Options
	oauth    oauth2.Config
	seal     *seal
	sessions sessions
	secure   bool // cookies are for https alone
	asking   singleflight.Group
	ending   chan struct{} // one for each sign-in that is ended at GitHub
}

var _ web.Gate = (*Gate)(nil)

// New returns the gate.
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
	return &Gate{o: o, seal: s, sessions: sessions{o.DB, s}, secure: strings.HasPrefix(public, "https:"), ending: make(chan struct{}, atOne),
		oauth: oauth2.Config{ClientID: o.ClientID, ClientSecret: o.ClientSecret, RedirectURL: public + CallbackPath,
			Endpoint: oauth2.Endpoint{AuthURL: o.GitHub + "/login/oauth/authorize", TokenURL: o.GitHub + "/login/oauth/access_token", AuthStyle: oauth2.AuthStyleInParams}}}, nil
}

// ParsePublic returns the address at which people see the server in the form in
// which it is used. Plain http is for this machine alone: cookies go over the wire.
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

// Run forgets sessions that are over, until ctx ends.
func (g *Gate) Run(ctx context.Context) {
	tick := time.NewTicker(10 * time.Minute)
	defer tick.Stop()
	for {
		if err := g.sessions.prune(ctx, g.o.Now()); err != nil && ctx.Err() == nil {
			g.o.Log.Warn("sessions that are over are not forgotten; tried again", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Viewer implements dash.Gate. What it returns was said by GitHub, and is no older
// than Fresh; while GitHub does not answer, no older than a quarter of an hour.
func (g *Gate) Viewer(r *http.Request) (web.Viewer, bool, error) {
	ctx := r.Context()
	secret, ok := g.cookie(r, sessionCookie)
	if !ok {
		return web.Viewer{}, false, nil
	}
	v, err := g.viewer(ctx, hash(secret))
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
	if s, err = g.rights(ctx, s); err != nil {
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
