package setup

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"embed"
	"encoding/base64"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/handler"
	"github.com/switchback-ci/switchback/bot/server/credentials"
)

//go:embed page.html.tmpl
var files embed.FS

//go:embed style.css
var style string

// styleHash lets the stylesheet stand in the page: the server ends with the last page, before a
// browser could ask for another file.
var styleHash = func() string {
	sum := sha256.Sum256([]byte(style))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}()

var pages = template.Must(template.ParseFS(files, "page.html.tmpl"))

// Options say what is set up, and where it is kept.
type Options struct {
	Dir    string // the data directory
	Force  bool   // whether an App that is there may be replaced
	GitHub string // where people see GitHub; "" is github.com
	Wish   Wish   // what the page proposes
	Now    func() time.Time
	Log    *slog.Logger
}

// Server serves the page. Make one with New.
type Server struct {
	o    Options
	gh   *github.Client
	mux  *http.ServeMux
	done chan struct{}
	seen chan struct{}
	once sync.Once

	mu   sync.Mutex // of a creation: a code can be exchanged once
	p    pending
	app  *credentials.App
	path string // of the file that keeps it
}

const cookie = "switchback-setup"

// New prepares the data directory and returns the server. An App that is there
// already is a *credentials.ExistsError unless it may be replaced.
func New(o Options) (*Server, error) {
	var err error
	if o.GitHub, err = credentials.ParseGitHub(o.GitHub); err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if err := credentials.Prepare(o.Dir, o.Force); err != nil {
		return nil, err
	}
	s := &Server{o: o, mux: http.NewServeMux(), done: make(chan struct{}), seen: make(chan struct{})}
	if s.p, err = resume(o.Dir, o.Now()); err != nil {
		return nil, err
	}
	if s.gh, err = github.New(github.Options{BaseURL: credentials.APIURL(o.GitHub), Log: o.Log}); err != nil {
		return nil, err
	}
	s.mux.HandleFunc("GET /{$}", s.start)
	s.mux.HandleFunc("GET /review", s.review)
	s.mux.HandleFunc("GET /created", s.created)
	s.mux.HandleFunc("GET /done", s.finished)
	return s, nil
}

// Path is what to open, behind the server's address: it lets its reader in.
func (s *Server) Path() string { return "/?" + url.Values{"token": {s.p.Token}}.Encode() }

// Done is closed when the App is kept, Seen when somebody was shown so.
func (s *Server) Done() <-chan struct{} { return s.done }

// Seen is closed when the last page was shown.
func (s *Server) Seen() <-chan struct{} { return s.seen }

// App returns the App that was made and the file that keeps it, once Done.
func (s *Server) App() (credentials.App, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.app, s.path
}

// ServeHTTP implements http.Handler. Only who came with the address that was
// printed is let in: others on this machine could put an App of theirs in.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src "+styleHash+"; form-action 'self' "+origin(s.o.GitHub)+"; base-uri 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "strict-origin") // GitHub sees where a form comes from, and no more
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cache-Control", "no-store")
	if token := r.URL.Query().Get("token"); r.URL.Path == "/" && r.Method == http.MethodGet && equal(token, s.p.Token) {
		http.SetCookie(w, &http.Cookie{Name: cookie, Value: token, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, MaxAge: int(hour.Seconds())})
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	c, err := r.Cookie(cookie)
	if err != nil || !equal(c.Value, s.p.Token) {
		s.show(w, http.StatusForbidden, page{Title: "Open the address in the terminal", Errors: []string{
			"This page is for whoever started it. Open the whole address that `switchback setup` printed, with the token at its end."}})
		return
	}
	s.mux.ServeHTTP(w, r)
}

func origin(web string) string {
	u, err := url.Parse(web)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// start asks what the App is to be called and where its server is.
func (s *Server) start(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	wish, made := s.p.Wish, s.app != nil
	s.mu.Unlock()
	if made {
		http.Redirect(w, r, "/done", http.StatusSeeOther)
		return
	}
	s.show(w, http.StatusOK, page{Title: "Set up Switchback", Step: "ask", Wish: propose(s.o.Wish, wish)})
}

// propose prefers what the command line says to what was said before.
func propose(given, before Wish) Wish {
	return Wish{Name: cmp.Or(given.Name, before.Name, "Switchback"), Server: cmp.Or(given.Server, before.Server),
		Org: cmp.Or(given.Org, before.Org), Dispatch: given.Dispatch || before.Dispatch}
}

// review shows what GitHub is about to be asked for.
func (s *Server) review(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	wish, err := Wish{Name: q.Get("name"), Server: q.Get("server"), Org: q.Get("org"), Dispatch: q.Has("dispatch")}.Check()
	if err != nil {
		s.show(w, http.StatusUnprocessableEntity, page{Title: "Set up Switchback", Step: "ask", Wish: wish, Errors: lines(err)})
		return
	}
	s.mu.Lock()
	s.p.Wish = wish
	p := s.p
	s.mu.Unlock()
	if err := p.save(s.o.Dir); err != nil {
		s.o.Log.Warn("what was typed is not kept", "error", err) // it can be typed again
	}
	manifest, err := wish.Manifest("http://" + r.Host + "/created")
	if err != nil {
		s.show(w, http.StatusInternalServerError, page{Title: "That did not work", Errors: lines(err)})
		return
	}
	s.show(w, http.StatusOK, page{Title: "Create the App", Step: "review", Wish: wish, Manifest: manifest, Action: wish.action(s.o.GitHub, p.State)})
}

// created takes whom GitHub sends back. What GitHub tells is kept even when
// the reader has gone.
func (s *Server) created(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.app != nil {
		http.Redirect(w, r, "/done", http.StatusSeeOther)
		return
	}
	q := r.URL.Query()
	if !equal(q.Get("state"), s.p.State) {
		s.show(w, http.StatusForbidden, page{Title: "That was not started here", Retry: true, Errors: []string{
			"GitHub sent you here with another state than the one this page began with, so nothing was kept. If you just created an App, delete it again and start anew."}})
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), time.Minute)
	defer cancel()
	made, err := s.gh.Apps.ConvertManifest(ctx, q.Get("code"))
	if err != nil {
		s.o.Log.Warn("no App was kept", "error", err)
		s.show(w, http.StatusBadGateway, page{Title: "GitHub did not give the App away", Retry: true, Apps: s.appsPage(), Errors: remedies(err)})
		return
	}
	a := credentials.App{ID: made.ID, Slug: made.Slug, Name: made.Name, URL: made.URL, GitHub: s.o.GitHub, Server: s.p.Wish.Server, ClientID: made.ClientID,
		ClientSecret: credentials.Secret(made.ClientSecret), PrivateKey: credentials.Secret(made.PrivateKey), WebhookSecret: credentials.Secret(made.WebhookSecret)}
	if s.path, err = credentials.Save(ctx, s.o.Dir, a, s.o.Force); err != nil {
		s.o.Log.Error("the App exists, but its credentials could not be kept", "app", a, "error", err)
		s.show(w, http.StatusInternalServerError, page{Title: "The App could not be kept", Retry: true, Apps: s.appsPage(), Errors: append(lines(err),
			"The App exists on GitHub, but what it is known by is lost. Delete it there, fix what is wrong here, and start anew.")})
		return
	}
	s.app = &a
	if err := forget(s.o.Dir); err != nil {
		s.o.Log.Warn("left behind", "error", err)
	}
	close(s.done)
	http.Redirect(w, r, "/done", http.StatusSeeOther)
}

// appsPage is where the owner's Apps can be deleted.
func (s *Server) appsPage() string {
	if s.p.Wish.Org != "" {
		return s.o.GitHub + "/organizations/" + url.PathEscape(s.p.Wish.Org) + "/settings/apps"
	}
	return s.o.GitHub + "/settings/apps"
}

// remedies says what to do when the code was not exchanged.
func remedies(err error) []string {
	out := lines(err)
	switch kind := advice.Of(err).Kind; {
	case errors.Is(err, github.ErrNotFound):
		return append(out, "The code was used already, or is older than an hour. If the App exists, delete it on GitHub and start anew, or make a private key and a webhook secret there and give them to `switchback serve` in the environment.")
	case github.Ambiguous(err):
		return append(out, "The answer was lost on its way. Load this page again; if GitHub does not know the code any more, delete the App there and start anew.")
	case kind == advice.Later:
		return append(out, "Load this page again in a while; the code is good for an hour.")
	}
	return out
}

func (s *Server) finished(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.app == nil {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	s.show(w, http.StatusOK, page{Title: s.app.Name + " is set up", Step: "done", App: *s.app, Path: s.path, Serve: Serve(s.o.Dir), Install: Install(*s.app), Wish: s.p.Wish})
	s.once.Do(func() { close(s.seen) })
}

// Install is where an App is installed.
func Install(a credentials.App) string { return strings.TrimRight(a.URL, "/") + "/installations/new" }

// Serve is the command that runs the App kept in dir.
func Serve(dir string) string {
	if strings.ContainsAny(dir, " '\"\\$`&;|<>()*?[]#~!") {
		dir = "'" + strings.ReplaceAll(dir, "'", `'\''`) + "'"
	}
	return "switchback serve --data " + dir
}

// page is what the template shows; what does not apply is empty.
type page struct {
	Title    string
	Step     string // ask, review or done
	Errors   []string
	Retry    bool
	Wish     Wish
	Manifest string
	Action   string
	Apps     string
	App      credentials.App
	Path     string
	Serve    string
	Install  string
	GitHub   string
}

// Style returns the stylesheet for the template.
func (page) Style() template.CSS { return template.CSS(style) }

// Grants returns the App's permissions for the template.
func (p page) Grants() []handler.Permission {
	all := handler.Permissions(p.Wish.Dispatch)
	for i := range all {
		all[i].Why = plain(all[i].Why)
	}
	return all
}

// Subscriptions returns the App's events for the template.
func (p page) Subscriptions() []handler.Subscription {
	all := handler.Subscriptions()
	for i := range all {
		all[i].Why = plain(all[i].Why)
	}
	return all
}

// plain returns Markdown without its marks of code.
func plain(markdown string) string { return strings.ReplaceAll(markdown, "`", "") }

func (s *Server) show(w http.ResponseWriter, status int, p page) {
	p.GitHub = s.o.GitHub
	var buf bytes.Buffer
	if err := pages.Execute(&buf, p); err != nil {
		s.o.Log.Error("the page", "error", err)
		http.Error(w, "the page could not be made", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(buf.Bytes())
}

func lines(err error) []string { return strings.Split(err.Error(), "\n") }
