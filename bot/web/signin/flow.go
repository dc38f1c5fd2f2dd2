package signin

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/switchback-ci/switchback/bot/web"
)

// pending is a sign-in that has begun. The browser stores it encrypted.
type pending struct {
	State    string    `json:"state"`    // returned by GitHub
	Verifier string    `json:"verifier"` // proves that this server began it (PKCE)
	Return   string    `json:"return"`   // the requested page
	Until    time.Time `json:"until"`
}

// atGitHub is how long a sign-in may take at GitHub.
const atGitHub = 15 * time.Minute

// Serve implements web.Gate.
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
			say(w, http.StatusOK, notice{Title: "Signed out", Text: "You are signed out here. At GitHub you are still signed in."})
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

// SignIn implements web.Gate. The request for a page is redirected to GitHub; the response to a
// request by a page makes it load again; that of an agent says where to get a token.
func (g *Gate) SignIn(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == web.AgentsPath:
		w.Header().Set("WWW-Authenticate", `Bearer realm="switchback"`)
		http.Error(w, "give a token: sign in at "+g.public+"/agents and make one", http.StatusUnauthorized)
	case r.Header.Get("HX-Request") != "":
		w.Header().Set("HX-Refresh", "true")
		http.Error(w, "sign in first", http.StatusUnauthorized)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		http.Error(w, "sign in first", http.StatusUnauthorized)
	default:
		http.Redirect(w, r, Path+"?"+url.Values{"return": {local(r.URL.RequestURI())}}.Encode(), http.StatusSeeOther)
	}
}

// begin redirects to GitHub.
func (g *Gate) begin(w http.ResponseWriter, r *http.Request) {
	p := pending{State: random(), Verifier: oauth2.GenerateVerifier(), Return: local(r.URL.Query().Get("return")), Until: g.o.Now().Add(atGitHub)}
	sealed, err := closeWith(g.seal.pending, p, pendingCookie)
	if err != nil {
		g.broken(w, "a sign-in cannot begin", err)
		return
	}
	g.cookies.set(w, pendingCookie, sealed, atGitHub)
	http.Redirect(w, r, g.provider.authorizeURL(p.State, p.Verifier), http.StatusSeeOther)
}

// back handles the redirect from GitHub.
func (g *Gate) back(w http.ResponseWriter, r *http.Request) {
	sealed, _ := g.cookies.get(r, pendingCookie)
	var p pending
	q := r.URL.Query()
	if openWith(g.seal.pending, sealed, pendingCookie, &p) != nil || g.o.Now().After(p.Until) || !equal(q.Get("state"), p.State) {
		say(w, http.StatusForbidden, notice{Title: "Not signed in", Again: true,
			Text: "This sign-in was not begun in this browser, or too long ago. Begin it again."})
		return
	}
	g.cookies.set(w, pendingCookie, "", -1)
	if q.Get("error") != "" || q.Get("code") == "" {
		say(w, http.StatusForbidden, notice{Title: "Not signed in", Again: true, Text: "GitHub did not let you sign in, or you did not want to."})
		return
	}
	leave, ok := g.admit(w, r, p)
	if !ok {
		return
	}
	defer leave()
	secret, s, err := g.enter(r, q.Get("code"), p.Verifier)
	switch {
	case errors.Is(err, errEnded):
		g.o.Log.Warn("a sign-in failed", "err", err)
		say(w, http.StatusForbidden, notice{Title: "Not signed in", Again: true, Text: "GitHub does not know this sign-in, or it was used already. Begin it again."})
		return
	case err != nil:
		g.broken(w, "a sign-in failed", err)
		return
	}
	g.o.Log.Info("signed in", "login", s.login)
	g.cookies.set(w, sessionCookie, secret, absolute)
	http.Redirect(w, r, p.Return, http.StatusSeeOther)
}

// admit uses the state of a sign-in and waits for a turn to ask GitHub. Otherwise it answers why not.
// A state that was used is refused before it counts or waits: repeating one costs others nothing.
func (g *Gate) admit(w http.ResponseWriter, r *http.Request, p pending) (leave func(), ok bool) {
	ctx := r.Context()
	used := notice{Title: "Not signed in", Again: true, Text: "This sign-in was used already. Begin it again."}
	spent, err := g.sessions.spent(ctx, p.State)
	switch {
	case err != nil:
		g.broken(w, "a sign-in failed", err)
		return nil, false
	case spent:
		say(w, http.StatusForbidden, used)
		return nil, false
	}
	from := g.o.Proxies.Client(r)
	if ok, wait := g.attempts.allow(from); !ok {
		if g.attempts.logs(from) {
			g.o.Log.Warn("too many sign-ins from one address; if it is that of a proxy, name it with --trusted-proxy", "address", from)
		}
		w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)+1))
		say(w, http.StatusTooManyRequests, notice{Title: "Not signed in", Again: true, Text: "Too many sign-ins came from your address. Begin again in a minute."})
		return nil, false
	}
	first, err := g.sessions.spend(ctx, p.State, p.Until)
	switch {
	case err != nil:
		g.broken(w, "a sign-in failed", err)
		return nil, false
	case !first:
		g.attempts.refund(from)
		say(w, http.StatusForbidden, used)
		return nil, false
	}
	if leave, err = g.attempts.enter(ctx, from); err != nil {
		w.Header().Set("Retry-After", "5")
		say(w, http.StatusServiceUnavailable, notice{Title: "Not signed in", Again: true, Text: "Many sign in just now. Begin again in a few seconds."})
		return nil, false
	}
	return leave, true
}

// enter exchanges GitHub's code for a session, and ends the session that the browser had.
func (g *Gate) enter(r *http.Request, code, verifier string) (secret string, s session, err error) {
	ctx := r.Context()
	k, err := g.provider.exchange(ctx, code, verifier)
	if err != nil {
		return "", s, err
	}
	me, err := g.provider.as(k).me(ctx)
	if err != nil {
		return "", s, err
	}
	if old, ok := g.cookies.get(r, sessionCookie); ok {
		if err := g.sessions.end(ctx, hash(old)); err != nil {
			return "", s, err
		}
	}
	secret = random()
	s = session{id: hash(secret), user: me.ID, login: me.Login, avatar: me.Avatar, token: k, began: g.o.Now()}
	return secret, s, g.sessions.add(ctx, s)
}

// out ends the session.
func (g *Gate) out(w http.ResponseWriter, r *http.Request) {
	if secret, ok := g.cookies.get(r, sessionCookie); ok {
		r.Body = http.MaxBytesReader(w, r.Body, 4096)
		if !equal(r.PostFormValue("csrf"), g.seal.csrf(hash(secret))) {
			say(w, http.StatusForbidden, notice{Title: "Not signed out", Text: "The request is not from a page of this server. Load the page again, and sign out there."})
			return
		}
		if err := g.sessions.end(r.Context(), hash(secret)); err != nil {
			g.broken(w, "a sign-out failed", err)
			return
		}
	}
	g.cookies.set(w, sessionCookie, "", -1)
	http.Redirect(w, r, signedOut, http.StatusSeeOther)
}

// local returns a page of this server to return to: s if it is one, otherwise "/".
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

// random returns a secret of 256 bits.
func random() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}
