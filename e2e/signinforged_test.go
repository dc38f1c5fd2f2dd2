package e2e

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What can be done to the way to GitHub and back.
func TestSignInForged(t *testing.T) {
	t.Parallel()
	bin, err := switchback()
	if err != nil {
		t.Fatal(err)
	}
	b := Start(t)
	app := b.Serve(t, bin, "", "SWITCHBACK_ACCESS=1s")
	refused := func(t *testing.T, l *looker, address string) {
		t.Helper()
		if status, page := l.get(address); status != http.StatusForbidden || !strings.Contains(page, "Not signed in") {
			t.Errorf("%d %s\n%s", status, l.last, page)
		}
		if l.get(app.URL + "/cases"); strings.HasPrefix(l.last, app.URL) {
			t.Errorf("signed in at %s", l.last)
		}
	}
	t.Run("in another browser than it was begun in", func(t *testing.T) {
		l := newLooker(t, b)
		refused(t, newLooker(t, b), l.agrees(Reader, l.atGitHub(app.URL+"/")))
	})
	t.Run("with another state", func(t *testing.T) {
		l := newLooker(t, b)
		q := l.atGitHub(app.URL + "/")
		to := l.agrees(Reader, q)
		refused(t, l, strings.Replace(to, q.Get("state"), "x"+q.Get("state"), 1))
	})
	t.Run("with a code that another got", func(t *testing.T) {
		l, victim := newLooker(t, b), newLooker(t, b)
		code, _ := url.Parse(l.agrees(Stranger, l.atGitHub(app.URL+"/")))
		q := victim.atGitHub(app.URL + "/")
		to, _ := url.Parse(victim.agrees(Reader, q))
		to.RawQuery = url.Values{"state": q["state"], "code": {code.Query().Get("code")}}.Encode()
		refused(t, victim, to.String())
	})
	t.Run("with a code that was used", func(t *testing.T) {
		l := newLooker(t, b)
		u, _ := url.Parse(app.URL)
		q := l.atGitHub(app.URL + "/")
		begun := l.web.Jar.Cookies(u)
		to := l.agrees(Reader, q)
		if status, _ := l.get(to); status != http.StatusOK || l.last != app.URL+"/" {
			t.Fatalf("%d %s", status, l.last)
		}
		thief := newLooker(t, b)
		refused(t, thief, to)
		thief = newLooker(t, b)
		thief.web.Jar.SetCookies(u, begun)
		refused(t, thief, to)
	})
	t.Run("where the user says no", func(t *testing.T) {
		l := newLooker(t, b)
		q := l.atGitHub(app.URL + "/")
		refused(t, l, app.URL+"/sign-in/callback?error=access_denied&error_description=%3Cscript%3E&state="+q.Get("state"))
	})
	t.Run("nobody is led to another site", func(t *testing.T) {
		for _, to := range []string{"//evil.example.com", "https://evil.example.com/", `/\evil.example.com`, "/%5cevil.example.com", "/%2fevil.example.com", "javascript:alert(1)", "/\t/evil.example.com",
			"/sign-out", "/sign-in", "/events", "evil.example.com", "///evil.example.com", "/a//evil.example.com", "http:evil.example.com", "/" + strings.Repeat("x", 2000)} {
			l := newLooker(t, b)
			if l.get(l.agrees(Reader, l.atGitHub(app.URL+"/sign-in?"+url.Values{"return": {to}}.Encode()))); l.last != app.URL+"/" {
				t.Errorf("%q leads to %s", to, l.last)
			}
		}
	})
	t.Run("a token that ends is renewed, and one that was revoked ends the session", func(t *testing.T) {
		b.Tokens(30)
		defer b.Tokens(8 * 3600)
		l := newLooker(t, b)
		l.signsIn(Reader, app.URL+"/cases")
		if status, page := l.get(app.URL + "/cases"); status != http.StatusOK || l.last != app.URL+"/cases" || !strings.Contains(page, Reader) || b.Renewed(Reader) == 0 {
			t.Fatalf("%d %s, renewed %d times\n%s", status, l.last, b.Renewed(Reader), page)
		}
		b.Revoke(Reader)
		app.Until("the session has ended", func() bool {
			l.get(app.URL + "/cases")
			return strings.HasPrefix(l.last, b.URL)
		})
	})
}

// Behind a proxy that people reach by https, no cookie goes another way, and S6-20: every page says
// that it is not to be loaded another way either.
func TestSignInCookies(t *testing.T) {
	t.Parallel()
	bin, err := switchback()
	if err != nil {
		t.Fatal(err)
	}
	b := Start(t)
	const public = "https://switchback.example.com"
	app := b.Serve(t, bin, "", "SWITCHBACK_PUBLIC_URL="+public)
	stay := &http.Client{Timeout: hookClient.Timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	get := func(path string, cookies []*http.Cookie) *http.Response {
		r, err := http.NewRequest("GET", app.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = "switchback.example.com"
		for _, c := range cookies {
			r.AddCookie(c)
		}
		res, err := stay.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		for _, c := range res.Cookies() {
			if !strings.HasPrefix(c.Name, "__Host-switchback-") || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" {
				t.Errorf("%s: cookie %v", path, c)
			}
		}
		return res
	}
	begun := get("/sign-in?return=/cases", nil)
	to, err := url.Parse(begun.Header.Get("Location"))
	if err != nil || len(begun.Cookies()) != 1 || to.Query().Get("redirect_uri") != public+"/sign-in/callback" || to.Query().Get("code_challenge_method") != "S256" {
		t.Fatalf("%v %v", begun.Header, err)
	}
	l := newLooker(t, b)
	l.get(to.String())
	back, _ := url.Parse(l.agrees(Reader, to.Query()))
	if !strings.HasPrefix(back.String(), public+"/sign-in/callback?") {
		t.Fatal(back)
	}
	in := get(back.RequestURI(), begun.Cookies())
	if in.StatusCode != http.StatusSeeOther || in.Header.Get("Location") != "/cases" || len(in.Cookies()) != 2 {
		t.Fatalf("%d %v", in.StatusCode, in.Header)
	}
	for path, want := range map[string]int{"/cases": 200, "/": 200, "/plans": 200, "/nothing": 404, "/signed-out": 200, "/sign-in/callback": 403, "/sign-in": 303, "/sign-out": 405, "/events": 200, "/healthz": 200} {
		page := get(path, in.Cookies())
		if page.StatusCode != want {
			t.Errorf("%s: %d", path, page.StatusCode)
		}
		hardened(t, page)
	}
	for _, c := range in.Cookies() {
		if strings.Contains(app.Log(), c.Value) && c.Value != "" {
			t.Error("the log shows a cookie")
		}
	}
}

// Without sign-in this machine sees everything, and nobody else sees anything. S6-14: on a socket,
// nobody but its owner.
func TestNoSignIn(t *testing.T) {
	t.Parallel()
	bin, err := switchback()
	if err != nil {
		t.Fatal(err)
	}
	app := Start(t).Serve(t, bin, "", "SWITCHBACK_NO_SIGN_IN=true", "SWITCHBACK_CLIENT_ID=", "SWITCHBACK_CLIENT_SECRET=")
	for _, c := range []struct {
		path, host, header string
		want               int
	}{
		{"/", "", "", http.StatusOK},
		{"/cases", "localhost", "", http.StatusOK},
		{"/", "evil.example.com", "", http.StatusForbidden},
		{"/cases", "", "X-Forwarded-For", http.StatusForbidden},
		{"/events", "evil.example.com", "", http.StatusUnauthorized},
		{"/sign-in", "", "", http.StatusNotFound},
	} {
		r, err := http.NewRequest("GET", app.URL+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Host = c.host; c.header != "" {
			r.Header.Set(c.header, "10.0.0.7")
		}
		res, err := hookClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != c.want {
			t.Errorf("%+v: %d", c, res.StatusCode)
		}
		hardened(t, res)
	}
	onSocket(t, bin, app)
	cmd := exec.Command(bin, "serve", "--no-sign-in", "--listen", ":0")
	cmd.Env = app.env
	out, err := cmd.CombinedOutput()
	if err == nil || cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), `--no-sign-in: ":0" is open to other machines`) {
		t.Errorf("%v\n%s", err, out)
	}
}

// onSocket starts a server like app on Unix sockets, and asks it.
func onSocket(t *testing.T, bin string, app *Served) {
	dir, err := os.MkdirTemp("", "sb") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket, scraped := filepath.Join(dir, "web.sock"), filepath.Join(dir, "metrics.sock")
	other := app.b.prepare(t, bin, "", dir, "SWITCHBACK_NO_SIGN_IN=true", "SWITCHBACK_LISTEN=unix:"+socket, "SWITCHBACK_METRICS_LISTEN=unix:"+scraped)
	other.Launch()
	t.Cleanup(other.Kill)
	other.Until("it is healthy by its own check", func() bool {
		cmd := exec.Command(bin, "healthcheck")
		cmd.Env = other.env
		return cmd.Run() == nil
	})
	for _, c := range []struct {
		socket, path string
		want         int
	}{{socket, "/cases", 200}, {socket, "/metrics", 404}, {scraped, "/metrics", 200}, {scraped, "/cases", 404}} {
		info, err := os.Lstat(c.socket)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("%s: %v %v", c.socket, info, err)
		}
		web := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", c.socket)
		}}}
		res, err := web.Get("http://localhost" + c.path)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != c.want {
			t.Errorf("%+v: %d", c, res.StatusCode)
		}
	}
}
