// Package web is the dashboard: pages of cases, incidents, failures and rules that update while a ledger
// changes. Features add pages as a Section.
//
// The server renders whole pages, which work without script. With script a page listens to events,
// loads itself again after a change, and replaces what differs.
package web

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/routing"
)

//go:embed pages
var pageFiles embed.FS

//go:embed static
var staticFiles embed.FS

// Viewer is the person who makes a request.
type Viewer struct {
	Login  string
	Avatar string
	Local  bool // on this machine, without sign-in
	Agent  bool // an agent, with a token of the person
	// Repos are the repositories that the person may read, by the names of their streams; nil: all.
	Repos []string
	CSRF  string // the token of every form
}

// May reports whether the person may read a repository.
func (v Viewer) May(repo string) bool { return v.Repos == nil || slices.Contains(v.Repos, repo) }

// Gate identifies viewers. It answers requests such as sign-in itself.
type Gate interface {
	// Viewer returns the viewer of a request, and false if nobody is signed in.
	Viewer(r *http.Request) (Viewer, bool, error)
	// Serve answers requests of the gate, e.g. /sign-in, and reports whether this is one.
	Serve(w http.ResponseWriter, r *http.Request) bool
	// SignIn redirects to the sign-in, which returns to the requested page.
	SignIn(w http.ResponseWriter, r *http.Request)
}

// Names translates the names of repositories, which may change.
type Names interface {
	// Now returns the present name of the repository whose streams have a name.
	Now(kept string) string
	// Kept returns the name of the streams of the repository that has a name now.
	Kept(now string) string
}

// Same is the Names of repositories that were never renamed.
type Same struct{}

// Now implements Names.
func (Same) Now(kept string) string { return kept }

// Kept implements Names.
func (Same) Kept(now string) string { return now }

// Options configure a Server.
type Options struct {
	Store  *eventstream.Store
	Stream func(ctx context.Context, key string) ([]routing.Event, error) // of a case or of incidents; empty if there is none
	Events http.Handler                                                   // answers /events for viewers; nil: not found
	Agents http.Handler                                                   // answers AgentsPath for viewers; nil: not found
	Gate   Gate
	Names  Names
	GitHub string // where people see GitHub, e.g. https://github.com
	Log    *slog.Logger
	Now    func() time.Time
	// Sections are the pages of features, in addition to those of cases, incidents, failures and rules.
	Sections []Section
}

// Server is the router of the dashboard: it identifies the viewer, calls the handler of a page and
// renders it.
type Server struct {
	gate   Gate
	events http.Handler
	agents http.Handler
	cases  eventstream.Cases
	names  Names
	log    *slog.Logger
	mux    *http.ServeMux
	pages  map[string]*template.Template

	origin http.CrossOriginProtection
}

// New returns a Server of the built-in sections and those of o.
func New(o Options) (*Server, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Names == nil {
		o.Names = Same{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	l := links{o.Names, o.GitHub}
	sections := append([]Section{
		{Pages: must(fs.Sub(pageFiles, "pages"))},
		overviewPage{o.Store, o.Names, o.Now}.section(),
		casePages{o.Store.Cases, o.Stream, l}.section(),
		incidentPages{o.Store.Incidents, o.Stream, l}.section(),
		failurePages{o.Store.Failures, o.Names}.section(),
		rulesPage{o.Store.Figures, o.Names, o.Now}.section(),
	}, o.Sections...)
	var err error
	s := &Server{gate: o.Gate, events: o.Events, agents: o.Agents, cases: o.Store.Cases, names: o.Names, log: o.Log, mux: http.NewServeMux()}
	if s.pages, err = templates(sections, funcs(l, o.Now, navigation(sections))); err != nil {
		return nil, err
	}
	for _, section := range sections {
		for pattern, h := range section.Routes {
			s.page(pattern, h)
		}
	}
	return s, nil
}

// frame is the data of the layout.
type frame struct {
	Page
	Viewer Viewer
	Repo   string // the selected repository, "" for all
	Path   string
	Picker picker
	Error  string
}

func (s *Server) page(pattern string, h Handler) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		v := r.Context().Value(viewerKey{}).(Viewer)
		may := v.Repos
		v.Repos = s.only(v, r)
		p, err := h(v, r)
		f := frame{Page: p, Viewer: v}
		if err == nil && p.Picks {
			f.Picker, err = s.picker(r, may)
		}
		switch {
		case errors.Is(err, ErrNotFound):
			s.fail(w, r, http.StatusNotFound, "There is no such page, or it is of a repository that you cannot see.")
		case err != nil && r.Context().Err() != nil: // the client has gone
		case err != nil:
			s.log.Error("the page could not be rendered", "path", r.URL.Path, "err", err)
			s.fail(w, r, http.StatusInternalServerError, "The page could not be made. The server's log says why.")
		default:
			s.show(w, r, http.StatusOK, f)
		}
	})
}

// only returns the repositories that a request selects, of those that the viewer may read.
func (s *Server) only(v Viewer, r *http.Request) []string {
	one := r.URL.Query().Get("repo")
	if one == "" {
		return v.Repos
	}
	kept := s.names.Kept(one)
	if !v.May(kept) {
		return []string{}
	}
	return []string{kept}
}

func (s *Server) show(w http.ResponseWriter, r *http.Request, status int, f frame) {
	f.Path, f.Repo = r.URL.Path, OneLine(r.URL.Query().Get("repo"))
	var b bytes.Buffer
	if err := s.pages[f.Name].Execute(&b, f); err != nil {
		s.log.Error("the page could not be rendered", "path", r.URL.Path, "err", err)
		http.Error(w, "The page could not be made. The server's log says why.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}

func (s *Server) fail(w http.ResponseWriter, r *http.Request, status int, text string) {
	v, _ := r.Context().Value(viewerKey{}).(Viewer)
	s.show(w, r, status, frame{Page: Page{Name: "error", Title: http.StatusText(status)}, Viewer: v, Error: text})
}

// AgentsPath is the path of the tools for agents below the server's address.
const AgentsPath = "/mcp"

type viewerKey struct{}

// policy restricts pages to resources of this server.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https://avatars.githubusercontent.com; " +
	"connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	if file, ok := strings.CutPrefix(r.URL.Path, "/static/"); ok && r.Method == http.MethodGet {
		s.static(w, r, file)
		return
	}
	h.Set("Cache-Control", "no-store")
	if err := s.origin.Check(r); err != nil {
		http.Error(w, "the request comes from another site", http.StatusForbidden)
		return
	}
	if s.gate.Serve(w, r) {
		return
	}
	v, ok, err := s.gate.Viewer(r)
	switch {
	case err != nil:
		s.log.Warn("the viewer cannot be identified", "err", err)
		s.fail(w, r, http.StatusBadGateway, "GitHub could not be asked what you may see. Load the page again in a while.")
		return
	case !ok && r.URL.Path == "/events":
		http.Error(w, "sign in first", http.StatusUnauthorized)
		return
	case !ok:
		s.gate.SignIn(w, r)
		return
	}
	if !v.asked(w, r) {
		http.Error(w, "the form is not from a page of this server; load the page again", http.StatusForbidden)
		return
	}
	r = r.WithContext(context.WithValue(r.Context(), viewerKey{}, v))
	switch {
	case r.URL.Path == "/events" && s.events != nil:
		s.events.ServeHTTP(w, r)
		return
	case r.URL.Path == AgentsPath && s.agents != nil:
		s.agents.ServeHTTP(w, r)
		return
	}
	if _, pattern := s.mux.Handler(r); pattern == "" {
		s.fail(w, r, http.StatusNotFound, "There is no such page.")
		return
	}
	s.mux.ServeHTTP(w, r)
}

// ViewerOf returns the viewer of a request that the Server passed on, such as to Options.Events.
func ViewerOf(r *http.Request) Viewer {
	v, _ := r.Context().Value(viewerKey{}).(Viewer)
	return v
}

// static serves the files that pages load. They change only with the program.
func (s *Server) static(w http.ResponseWriter, r *http.Request, file string) {
	if strings.Contains(file, "vendor/") {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable") // the version is in the file name
	} else {
		w.Header().Set("Cache-Control", "no-cache")
	}
	http.ServeFileFS(w, r, staticFiles, "static/"+file)
}

// picker returns the picker of a page, empty if there is only one repository.
func (s *Server) picker(r *http.Request, may []string) (picker, error) {
	var p picker
	list, err := s.cases.Repos(r.Context(), may)
	if err != nil || len(list) < 2 {
		return p, err
	}
	for _, name := range list {
		p.Repos = append(p.Repos, s.names.Now(name))
	}
	q := settings(r)
	for _, k := range kept {
		if x := q.Get(k); x != "" && k != "repo" {
			p.Keep = append(p.Keep, setting{k, x})
		}
	}
	return p, nil
}
