package signin

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// pending is a sign-in that has begun. The browser keeps it, sealed.
type pending struct {
	State    string    `json:"state"`    // comes back from GitHub
	Verifier string    `json:"verifier"` // that this server began it (PKCE)
	Return   string    `json:"return"`   // where they wanted to be
	Until    time.Time `json:"until"`
}

// atGitHub is how long somebody may stay at GitHub.
const atGitHub = 15 * time.Minute

// Serve implements dash.Gate.
func (g *Gate) Serve(w http.ResponseWriter, r *http.Request) bool {
	var only string
	var h http.HandlerFunc
	switch r.URL.Path {
	case Path:
		only, h = http.MethodGet, g.begin
	case CallbackPath:
		only, h = http.MethodGet, g.back
	case outPath:
		only, h = http.MethodPost, g.out
	case signedOut:
		only, h = http.MethodGet, func(w http.ResponseWriter, r *http.Request) {
			g.say(w, http.StatusOK, notice{Title: "Signed out", Text: "You are signed out here. At GitHub you are still signed in."})
		}
	default:
		return false
	}
	if r.Method != only {
		w.Header().Set("Allow", only)
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return true
	}
	h(w, r)
	return true
}

// SignIn implements dash.Gate. A page is taken to GitHub and back; what a page loads
// is told to load the page.
func (g *Gate) SignIn(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Header.Get("HX-Request") != "":
		w.Header().Set("HX-Refresh", "true")
		http.Error(w, "sign in first", http.StatusUnauthorized)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		http.Error(w, "sign in first", http.StatusUnauthorized)
	default:
		http.Redirect(w, r, Path+"?"+url.Values{"return": {local(r.URL.RequestURI())}}.Encode(), http.StatusSeeOther)
	}
}

// begin sends somebody to GitHub.
func (g *Gate) begin(w http.ResponseWriter, r *http.Request) {
	p := pending{State: random(), Verifier: oauth2.GenerateVerifier(), Return: local(r.URL.Query().Get("return")), Until: g.o.Now().Add(atGitHub)}
	sealed, err := closeWith(g.seal.pending, p, pendingCookie)
	if err != nil {
		g.broken(w, "a sign-in cannot begin", err)
		return
	}
	g.setCookie(w, pendingCookie, sealed, atGitHub)
	http.Redirect(w, r, g.oauth.AuthCodeURL(p.State, oauth2.S256ChallengeOption(p.Verifier)), http.StatusSeeOther)
}

// back takes whom GitHub sends back.
func (g *Gate) back(w http.ResponseWriter, r *http.Request) {
	sealed, _ := g.cookie(r, pendingCookie)
	var p pending
	q := r.URL.Query()
	if openWith(g.seal.pending, sealed, pendingCookie, &p) != nil || g.o.Now().After(p.Until) || !equal(q.Get("state"), p.State) {
		g.say(w, http.StatusForbidden, notice{Title: "Not signed in", Again: true,
			Text: "This sign-in was not begun in this browser, or too long ago. Begin it again."})
		return
	}
	g.setCookie(w, pendingCookie, "", -1)
	if q.Get("error") != "" || q.Get("code") == "" {
		g.say(w, http.StatusForbidden, notice{Title: "Not signed in", Again: true, Text: "GitHub did not let you sign in, or you did not want to."})
		return
	}
	select {
	case g.ending <- struct{}{}:
		defer func() { <-g.ending }()
	default:
		w.Header().Set("Retry-After", "5")
		g.say(w, http.StatusServiceUnavailable, notice{Title: "Not signed in", Again: true, Text: "Many sign in just now. Begin again in a few seconds."})
		return
	}
	secret, s, err := g.enter(r, q.Get("code"), p.Verifier)
	switch {
	case errors.Is(err, errEnded):
		g.o.Log.Warn("somebody could not sign in", "err", err)
		g.say(w, http.StatusForbidden, notice{Title: "Not signed in", Again: true, Text: "GitHub does not know this sign-in, or it was used already. Begin it again."})
		return
	case err != nil:
		g.broken(w, "somebody could not sign in", err)
		return
	}
	g.o.Log.Info("signed in", "login", s.login)
	g.setCookie(w, sessionCookie, secret, absolute)
	http.Redirect(w, r, p.Return, http.StatusSeeOther)
}

// enter makes a session of GitHub's code, and ends the one that the browser had.
func (g *Gate) enter(r *http.Request, code, verifier string) (secret string, s session, err error) {
	ctx := r.Context()
	t, err := g.oauth.Exchange(g.client(ctx), code, oauth2.VerifierOption(verifier))
	if err != nil {
		return "", s, exchangeError(err)
	}
	k := tokenOf(t)
	me, err := g.as(k).me(ctx)
	if err != nil {
		return "", s, err
	}
	if old, ok := g.cookie(r, sessionCookie); ok {
		if err := g.sessions.end(ctx, hash(old)); err != nil {
			return "", s, err
		}
	}
	secret = random()
	s = session{id: hash(secret), user: me.ID, login: me.Login, avatar: me.Avatar, token: k, began: g.o.Now()}
	return secret, s, g.sessions.add(ctx, s)
}

// out ends a session.
func (g *Gate) out(w http.ResponseWriter, r *http.Request) {
	if secret, ok := g.cookie(r, sessionCookie); ok {
		r.Body = http.MaxBytesReader(w, r.Body, 4096)
		if !equal(r.PostFormValue("csrf"), g.seal.csrf(hash(secret))) {
			g.say(w, http.StatusForbidden, notice{Title: "Not signed out", Text: "That was not asked for by a page of this server. Load the page again, and sign out there."})
			return
		}
		if err := g.sessions.end(r.Context(), hash(secret)); err != nil {
			g.broken(w, "somebody could not sign out", err)
			return
		}
	}
	g.setCookie(w, sessionCookie, "", -1)
	http.Redirect(w, r, signedOut, http.StatusSeeOther)
}

// Names of the cookies; behind the prefix of those that no other host can set.
const (
	sessionCookie = "switchback-session"
	pendingCookie = "switchback-sign-in"
	hostPrefix    = "__Host-"
)

func (g *Gate) name(cookie string) string {
	if g.secure {
		return hostPrefix + cookie
	}
	return cookie
}

func (g *Gate) cookie(r *http.Request, name string) (string, bool) {
	c, err := r.Cookie(g.name(name))
	if err != nil || c.Value == "" {
		return "", false
	}
	return c.Value, true
}

// setCookie gives the browser a cookie, or takes it away if for is negative. It goes
// with links to this server, for GitHub sends people back by one, and with no
// request that another site makes.
func (g *Gate) setCookie(w http.ResponseWriter, name, value string, within time.Duration) {
	c := &http.Cookie{Name: g.name(name), Value: value, Path: "/", MaxAge: int(within / time.Second), Secure: g.secure, HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if within < 0 {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// local returns where somebody is sent back to: a page of this server, whatever was
// asked for.
func local(s string) string {
	u, err := url.Parse(s)
	bad := err != nil || len(s) > 1000 || !strings.HasPrefix(s, "/") || strings.HasPrefix(s, "//") || u.Host != "" || u.Scheme != "" || u.Opaque != "" || u.User != nil ||
		strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c == '\\' || c >= 0x7f }) || strings.Contains(u.Path, "//") || strings.Contains(u.Path, `\`)
	if bad || strings.HasPrefix(u.Path, "/sign") || u.Path == "/events" {
		return "/"
	}
	return s
}

func equal(a, b string) bool {
	return a != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}

// random is a secret of 256 bits.
func random() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}
