package signin

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/web"
)

// An agent has no browser to sign in with. A person who is signed in makes a token for it, which
// reads what that person may read, at web.AgentsPath alone, until the session ends.

//go:embed pages
var pageFiles embed.FS

const (
	agentPrefix = "sba_" // so that scanners for secrets find a token
	perSession  = 5      // tokens of one session; the oldest ends when there are more
)

// agentPage is the page on which a token is made.
type agentPage struct {
	Address string // of the tools
	CSRF    string
	Token   string // just made, "" otherwise
	Until   time.Time
}

// Section returns the page on which a person makes a token for an agent.
func (g *Gate) Section() web.Section {
	pages, err := fs.Sub(pageFiles, "pages")
	if err != nil {
		panic(err) // the directory is embedded
	}
	return web.Section{Links: []web.Link{{Path: "/agents", Title: "Agents", Order: 90}}, Pages: pages,
		Routes: map[string]web.Handler{"GET /agents": g.showAgents, "POST /agents": g.makeAgent}}
}

func (g *Gate) showAgents(v web.Viewer, _ *http.Request) (web.Page, error) {
	return web.Page{Name: "agents", Title: "Agents", Body: agentPage{Address: g.public + web.AgentsPath, CSRF: v.CSRF}}, nil
}

func (g *Gate) makeAgent(v web.Viewer, r *http.Request) (web.Page, error) {
	secret, ok := g.cookies.get(r, sessionCookie)
	if !ok {
		return web.Page{}, web.ErrNotFound
	}
	s, err := g.sessions.find(r.Context(), hash(secret))
	if err != nil {
		return web.Page{}, err
	}
	token := agentPrefix + random()
	if err := (agents{g.sessions}).add(r.Context(), hash(token), s.id, g.o.Now()); err != nil {
		return web.Page{}, err
	}
	g.o.Log.Info("made a token for an agent", "login", s.login)
	p, err := g.showAgents(v, r)
	b := p.Body.(agentPage)
	b.Token, b.Until = token, s.began.Add(absolute).UTC()
	p.Body = b
	return p, err
}

// agentToken returns the token of a request to the tools for agents.
func agentToken(r *http.Request) (string, bool) {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	return token, ok && r.URL.Path == web.AgentsPath && strings.EqualFold(scheme, "bearer") && strings.HasPrefix(token, agentPrefix)
}

// agentViewer returns the viewer of a token: who made it, as long as the session lasts.
func (g *Gate) agentViewer(ctx context.Context, token string) (web.Viewer, error) {
	id, err := (agents{g.sessions}).session(ctx, hash(token))
	if err != nil {
		return web.Viewer{}, err
	}
	v, err := g.viewer(ctx, id)
	v.CSRF, v.Agent = "", true
	return v, err
}

// agents are the tokens of agents, of all replicas.
type agents struct{ sessions }

// add stores a token of a session, and deletes the oldest if there are too many.
func (t agents) add(ctx context.Context, id, session string, at time.Time) error {
	return t.tx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "INSERT INTO signin_agent (id, session, made_at) VALUES ($1, $2, $3)", id, session, at.UnixMilli()); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM signin_agent WHERE session = $1 AND id NOT IN
			(SELECT id FROM signin_agent WHERE session = $1 ORDER BY made_at DESC, id LIMIT $2)`, session, perSession)
		return err
	})
}

// session returns the session of a token, errEnded if there is none.
func (t agents) session(ctx context.Context, id string) (session string, err error) {
	err = t.db.Read.QueryRowContext(ctx, "SELECT session FROM signin_agent WHERE id = $1", id).Scan(&session)
	if errors.Is(err, sql.ErrNoRows) {
		return "", errEnded
	}
	if err != nil {
		return "", fmt.Errorf("tokens of agents: %w", err)
	}
	return session, nil
}
