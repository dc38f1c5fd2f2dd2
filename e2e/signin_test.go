package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/database/pgtest"
)

// twoRepositories are two that one App works in, each with a case, and two replicas
// of the App.
func twoRepositories(t *testing.T) (one, two *served, other *Served) {
	t.Helper()
	bin, err := switchback()
	if err != nil {
		t.Fatal(err)
	}
	db := pgtest.URL(t)
	a, b := newStory(t, appConfig), newStory(t, appConfig)
	app := a.b.Serve(t, bin, db, "SWITCHBACK_ACCESS=1s")
	one, two = &served{a, app}, &served{b, app}
	for _, s := range []*served{one, two} {
		s.receive()
		s.ran(failing("TestAdd"), "failure")
	}
	app.Idle()
	one.r.Grant(t, Reader, "pull")
	for _, s := range []*served{one, two} {
		s.r.Grant(t, Writer, "push")
	}
	return one, two, a.b.Serve(t, bin, db, "SWITCHBACK_ACCESS=1s", "SWITCHBACK_PUBLIC_URL="+app.URL)
}

var everyPage = []string{"/", "/cases", "/plans", "/failures", "/rules", "/feedback", "/agents"}

func TestSignIn(t *testing.T) {
	one, two, other := twoRepositories(t)
	app, b := one.app, one.b
	mine, theirs := one.r.FullName, two.r.FullName
	t.Run("without sign-in nothing is shown", func(t *testing.T) { nothingWithout(t, app, mine, theirs) })
	l := newLooker(t, b)
	l.signsIn(Reader, app.URL+"/cases?state=in_progress")
	t.Run("one sees the repositories that one may read, on every page", func(t *testing.T) {
		app.Until("the case is shown", func() bool {
			_, page := l.get(app.URL + "/cases")
			return strings.Contains(page, mine+"#")
		})
		for _, path := range append(everyPage, "/cases?repo="+theirs, "/?repo="+theirs, fmt.Sprintf("/case/%s/%d", theirs, two.number), "/plans?repo="+theirs) {
			if _, page := l.get(app.URL + path); l.last != app.URL+path || strings.Contains(strings.ReplaceAll(page, "?repo="+theirs, ""), theirs+"#") {
				t.Errorf("%s (at %s) shows %s", path, l.last, theirs)
			}
		}
		if status, _ := l.get(fmt.Sprintf("%s/case/%s/%d", app.URL, theirs, two.number)); status != http.StatusNotFound {
			t.Errorf("the case of another: %d", status)
		}
	})
	heard := l.listens(app.URL + "/events?after=0")
	t.Run("and hears of no others", func(t *testing.T) {
		one.push()
		one.ran(failing("TestSub"), "failure")
		app.Idle()
		text := heard.until(mine, "run.analyzed", one.sha)
		if strings.Contains(text, theirs) || !strings.Contains(text, mine) {
			t.Errorf("%s hears\n%s", Reader, text)
		}
	})
	t.Run("another sees others", func(t *testing.T) {
		w := newLooker(t, b)
		if _, page := w.signsIn(Writer, app.URL+"/cases"); !strings.Contains(page, mine+"#") || !strings.Contains(page, theirs+"#") {
			t.Errorf("%s sees\n%s", Writer, page)
		}
		x := newLooker(t, b)
		if _, page := x.signsIn(Stranger, app.URL+"/cases"); strings.Contains(page, mine) || strings.Contains(page, theirs) || !strings.Contains(page, Stranger) {
			t.Errorf("%s sees\n%s", Stranger, page)
		}
	})
	t.Run("the second replica knows the session, and so does the first one when it was killed", func(t *testing.T) {
		if _, page := l.get(other.URL + "/cases"); l.last != other.URL+"/cases" || !strings.Contains(page, mine+"#") {
			t.Errorf("%s\n%s", l.last, page)
		}
		app.Kill()
		app.Start()
		if _, page := l.get(app.URL + "/cases"); l.last != app.URL+"/cases" || !strings.Contains(page, mine+"#") {
			t.Errorf("%s\n%s", l.last, page)
		}
	})
	t.Run("while GitHub does not answer, what it said before holds", func(t *testing.T) {
		v := b.View("")
		end := v.Fault(Fault{Path: regexp.MustCompile(`^/user/installations`), Status: http.StatusBadGateway, Times: -1})
		defer end()
		app.Until("GitHub did not answer", func() bool {
			_, page := l.get(app.URL + "/cases")
			return strings.Contains(page, mine+"#") && strings.Contains(app.Log(), "GitHub does not list the repositories of a user")
		})
	})
	t.Run("what one may not read any more is gone", func(t *testing.T) {
		one.r.Must(t, "DELETE", "/collaborators/"+Reader, nil, nil)
		app.Until("the case is not shown any more", func() bool {
			status, page := l.get(app.URL + "/cases")
			return status == http.StatusOK && l.last == app.URL+"/cases" && !strings.Contains(page, mine)
		})
	})
	t.Run("and not heard of, in what goes on", func(t *testing.T) {
		heard := l.listens(other.URL + "/events")
		two.r.Grant(t, Reader, "pull")
		app.Until("the other case is shown", func() bool {
			_, page := l.get(other.URL + "/cases")
			return strings.Contains(page, theirs+"#")
		})
		for _, s := range []*served{one, two} {
			s.push()
			s.ran(failing("TestMul"), "failure")
			app.Idle()
		}
		if text := heard.until(theirs, "run.analyzed", two.sha); strings.Contains(text, mine) {
			t.Errorf("%s hears\n%s", Reader, text)
		}
	})
	t.Run("only a page of the server signs out, and then from all replicas", func(t *testing.T) { signsOut(t, app, other, l) })
	if bad := b.View("").Violations(); len(bad) > 0 {
		t.Error(bad)
	}
}

// nothingWithout asks for everything there is, without a session or with a forged one.
func nothingWithout(t *testing.T, app *Served, names ...string) {
	stay := &http.Client{Timeout: hookClient.Timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	ask := func(method, path, cookie string) *http.Response {
		r, err := http.NewRequest(method, app.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if cookie != "" {
			r.Header.Set("Cookie", "switchback-session="+cookie)
		}
		res, err := stay.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, _ := io.ReadAll(res.Body)
		for _, n := range names {
			if strings.Contains(string(body), n) {
				t.Errorf("%s %s tells of %s", method, path, n)
			}
		}
		return res
	}
	for _, cookie := range []string{"", "forged", strings.Repeat("A", 43), strings.Repeat("0", 64)} {
		for _, path := range append(everyPage, "/case/"+names[0]+"/1", "/nothing", "/webhook", "/sign-inx", "/events/", "//evil.example.com") {
			res := ask("GET", path, cookie)
			if to := res.Header.Get("Location"); res.StatusCode != http.StatusSeeOther && res.StatusCode != http.StatusTemporaryRedirect || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") {
				t.Errorf("GET %s with %q: %d %s", path, cookie, res.StatusCode, to)
			}
			if res.StatusCode == http.StatusSeeOther {
				hardened(t, res)
			}
		}
		for _, path := range []string{"/events", "/events?repo=" + names[0]} {
			if res := ask("GET", path, cookie); res.StatusCode != http.StatusUnauthorized {
				t.Errorf("%s with %q: %d", path, cookie, res.StatusCode)
			} else {
				hardened(t, res)
			}
		}
		for _, path := range append(everyPage, "/webhook", "/events") {
			if res := ask("POST", path, cookie); res.StatusCode < 400 || res.StatusCode >= 500 {
				t.Errorf("POST %s with %q: %d", path, cookie, res.StatusCode)
			}
		}
	}
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/signed-out": 200, "/static/style.css": 200, "/sign-in/callback": 403, "/sign-in": 303} {
		if res := ask("GET", path, ""); res.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, res.StatusCode, want)
		}
	}
}

func hardened(t *testing.T, res *http.Response) {
	t.Helper()
	csp := res.Header.Get("Content-Security-Policy")
	if !strings.HasPrefix(csp, "default-src 'none'; ") || strings.Contains(csp, "unsafe") || strings.Contains(csp, "data:") || res.Header.Get("Cache-Control") != "no-store" ||
		res.Header.Get("X-Content-Type-Options") != "nosniff" || res.Header.Get("X-Frame-Options") != "DENY" {
		t.Errorf("headers of %s: %v", res.Request.URL.Path, res.Header)
	}
	if encrypted := strings.HasPrefix(res.Request.Host, "switchback.example.com"); encrypted != (res.Header.Get("Strict-Transport-Security") != "") {
		t.Errorf("%s: Strict-Transport-Security is %q", res.Request.URL.Path, res.Header.Get("Strict-Transport-Security"))
	}
}

func signsOut(t *testing.T, app, other *Served, l *looker) {
	_, page := l.get(app.URL + "/")
	m := csrfField.FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("no form to sign out in\n%s", page)
	}
	for what, try := range map[string]struct {
		form   url.Values
		header []string
	}{
		"without a token":      {nil, nil},
		"with another's token": {url.Values{"csrf": {strings.Repeat("0", 64)}}, nil},
		"from another site":    {url.Values{"csrf": m[1:]}, []string{"Sec-Fetch-Site", "cross-site"}},
		"from another origin":  {url.Values{"csrf": m[1:]}, []string{"Origin", "https://evil.example.com"}},
	} {
		if status, _ := l.do("POST", app.URL+"/sign-out", try.form, try.header...); status != http.StatusForbidden {
			t.Errorf("%s: %d", what, status)
		}
		if status, _ := l.do("POST", app.URL+"/cases", try.form, try.header...); status != http.StatusForbidden {
			t.Errorf("a form of a page, %s: %d", what, status)
		}
	}
	if status, _ := l.get(app.URL + "/cases"); status != http.StatusOK || l.last != app.URL+"/cases" {
		t.Fatalf("signed out by another site: %s", l.last)
	}
	u, _ := url.Parse(app.URL)
	cookies := l.web.Jar.Cookies(u)
	if status, page := l.do("POST", app.URL+"/sign-out", url.Values{"csrf": m[1:]}); status != http.StatusOK || l.last != app.URL+"/signed-out" || !strings.Contains(page, "signed out") {
		t.Errorf("%d %s\n%s", status, l.last, page)
	}
	l.web.Jar.SetCookies(u, cookies) // who kept the cookie is not let in
	for _, s := range []*Served{app, other} {
		if l.get(s.URL + "/cases"); strings.HasPrefix(l.last, s.URL) {
			t.Errorf("still signed in at %s", l.last)
		}
	}
}
