// Package web is the pages on which people watch what Switchback does: cases, plans,
// failures and rules, live.
//
// Pages are made on the server and are whole without script. With script, they hear
// of changes and are fetched again; only what differs is put in their place.
package web

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
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

// Viewer is who looks.
type Viewer struct {
	Login  string
	Avatar string
	Local  bool // on this machine, without sign-in
	// Repos are the repositories that may be seen, by the names under which their
	// streams are kept; nil are all.
	Repos []string
	CSRF  string // goes with every form
}

// May reports whether a repository may be seen.
func (v Viewer) May(repo string) bool { return v.Repos == nil || slices.Contains(v.Repos, repo) }

// Gate says who looks. What it serves itself, such as sign-in, it is asked first.
type Gate interface {
	// Viewer returns who makes a request, and false if nobody is signed in.
	Viewer(r *http.Request) (Viewer, bool, error)
	// Serve answers requests of its own, e.g. /sign-in, and reports whether this was one.
	Serve(w http.ResponseWriter, r *http.Request) bool
	// SignIn sends somebody to where they sign in, and back to where they wanted to be.
	SignIn(w http.ResponseWriter, r *http.Request)
}

// Names are the names of repositories, which may change.
type Names interface {
	// Now returns what the repository is called whose streams are kept under a name.
	Now(kept string) string
	// Kept returns the name under which the streams of a repository are kept.
	Kept(now string) string
}

// Same is Names where no repository has another name.
type Same struct{}

// Now implements Names.
func (Same) Now(kept string) string { return kept }

// Kept implements Names.
func (Same) Kept(now string) string { return now }

// Options are what the pages are made of.
type Options struct {
	Feed   *eventstream.Feed
	Stream func(ctx context.Context, key string) ([]routing.Event, error) // of a case; nil if there is none
	Events http.Handler                                                   // answers /events for who may look
	Gate   Gate
	Names  Names
	GitHub string // where people see GitHub, e.g. https://github.com
	Log    *slog.Logger
	Now    func() time.Time
}

// Server serves the pages.
type Server struct {
	o     Options
	mux   *http.ServeMux
	pages map[string]*template.Template

	origin http.CrossOriginProtection
}

// New returns the pages.
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
	s := &Server{o: o, mux: http.NewServeMux(), pages: map[string]*template.Template{}}
	names, err := fs.Glob(pageFiles, "pages/*.html")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		base := strings.TrimSuffix(strings.TrimPrefix(name, "pages/"), ".html")
		if base == "layout" {
			continue
		}
		t, err := template.New("layout.html").Funcs(s.funcs()).ParseFS(pageFiles, "pages/layout.html", name)
		if err != nil {
			return nil, err
		}
		s.pages[base] = t
	}
	for pattern, h := range map[string]handler{
		"GET /{$}":                        s.overview,
		"GET /cases":                      s.cases,
		"GET /case/{path...}":             s.oneCase,
		"GET /failures":                   s.failures,
		"GET /failure/{fingerprint}":      s.failure,
		"GET /rules":                      s.rules,
		"GET /feedback":                   s.feedback,
		"GET /plans":                      s.plans,
		"GET /plan/{owner}/{repo}/{plan}": s.plan,
	} {
		s.page(pattern, h)
	}
	return s, nil
}

// handler makes a page, or returns why there is none: ErrNotFound, or what went wrong.
type handler func(v Viewer, r *http.Request) (Page, error)

// ErrNotFound says that there is no such page, or none for who asks.
var ErrNotFound = errors.New("not found")

// Page is what a template shows.
type Page struct {
	Name  string // of the template
	Title string
	Live  []string // names of the events after which it is fetched again; none: it stands
	Query string   // of the events that it hears, e.g. repo=acme/shop
	Picks bool     // a reader can choose one of several repositories
	Body  any
}

// frame is what the layout is given.
type frame struct {
	Page
	Viewer Viewer
	Repo   string // what is looked at alone, "" if all
	Path   string
	Picker picker
	Error  string
}

func (s *Server) page(pattern string, h handler) {
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
		case err != nil && r.Context().Err() != nil: // who asked has gone
		case err != nil:
			s.o.Log.Error("no page", "path", r.URL.Path, "err", err)
			s.fail(w, r, http.StatusInternalServerError, "The page could not be made. The server's log says why.")
		default:
			s.show(w, r, http.StatusOK, f)
		}
	})
}

// only returns the repositories that a request is about, of those that may be seen.
func (s *Server) only(v Viewer, r *http.Request) []string {
	one := r.URL.Query().Get("repo")
	if one == "" {
		return v.Repos
	}
	kept := s.o.Names.Kept(one)
	if !v.May(kept) {
		return []string{}
	}
	return []string{kept}
}

func (s *Server) show(w http.ResponseWriter, r *http.Request, status int, f frame) {
	f.Path, f.Repo = r.URL.Path, oneLine(r.URL.Query().Get("repo"))
	var b bytes.Buffer
	if err := s.pages[f.Name].Execute(&b, f); err != nil {
		s.o.Log.Error("no page", "path", r.URL.Path, "err", err)
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

type viewerKey struct{}

// policy lets pages load nothing but what this server has.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: https://avatars.githubusercontent.com; " +
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
		http.Error(w, "another site asked for that", http.StatusForbidden)
		return
	}
	if s.o.Gate.Serve(w, r) {
		return
	}
	v, ok, err := s.o.Gate.Viewer(r)
	switch {
	case err != nil:
		s.o.Log.Warn("who looks is not known", "err", err)
		s.fail(w, r, http.StatusBadGateway, "GitHub could not be asked what you may see. Load the page again in a while.")
		return
	case !ok && r.URL.Path == "/events":
		http.Error(w, "sign in first", http.StatusUnauthorized)
		return
	case !ok:
		s.o.Gate.SignIn(w, r)
		return
	}
	if !v.asked(w, r) {
		http.Error(w, "no page of this server asked for that; load the page again", http.StatusForbidden)
		return
	}
	r = r.WithContext(context.WithValue(r.Context(), viewerKey{}, v))
	if r.URL.Path == "/events" && s.o.Events != nil {
		s.o.Events.ServeHTTP(w, r)
		return
	}
	if _, pattern := s.mux.Handler(r); pattern == "" {
		s.fail(w, r, http.StatusNotFound, "There is no such page.")
		return
	}
	s.mux.ServeHTTP(w, r)
}

// ViewerOf returns who makes a request that the pages passed on, such as of events.
func ViewerOf(r *http.Request) Viewer {
	v, _ := r.Context().Value(viewerKey{}).(Viewer)
	return v
}

// static serves what pages load. It changes with the program alone.
func (s *Server) static(w http.ResponseWriter, r *http.Request, file string) {
	if strings.Contains(file, "vendor/") {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable") // the version is in its name
	} else {
		w.Header().Set("Cache-Control", "no-cache")
	}
	http.ServeFileFS(w, r, staticFiles, "static/"+file)
}

// casePath is the page of a case.
func (s *Server) casePath(key string) string {
	repo := repoOf(key)
	subject := strings.TrimPrefix(key[len(repo):], "#")
	return "/case/" + escapePath(s.o.Names.Now(repo)+"/"+subject)
}

// planPath is the page of a plan, behind /plan/.
func (s *Server) planPath(key string) string {
	plan, _ := routing.ParsePlanKey(key)
	return escapePath(s.o.Names.Now(repoOf(key)) + "/" + plan)
}

func escapePath(p string) string {
	parts := strings.Split(p, "/")
	for i, x := range parts {
		parts[i] = url.PathEscape(x)
	}
	return strings.Join(parts, "/")
}

// subject is what a case is called, e.g. acme/shop#12.
func (s *Server) subject(key string) string {
	repo := repoOf(key)
	return fmt.Sprint(s.o.Names.Now(repo), key[len(repo):])
}
