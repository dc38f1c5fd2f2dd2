package e2e

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// looker is somebody in front of a browser.
type looker struct {
	t    *testing.T
	b    *Bench
	web  *http.Client
	last string // address of the page that was shown last
}

func newLooker(t *testing.T, b *Bench) *looker {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &looker{t: t, b: b, web: &http.Client{Jar: jar, Timeout: hookClient.Timeout}}
}

// do makes a request and follows it to a page.
func (l *looker) do(method, address string, form url.Values, header ...string) (int, string) {
	l.t.Helper()
	r, err := http.NewRequest(method, address, strings.NewReader(form.Encode()))
	if err != nil {
		l.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := l.web.Do(r)
	if err != nil {
		l.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	l.last = res.Request.URL.String()
	return res.StatusCode, string(body)
}

func (l *looker) get(address string) (int, string) {
	l.t.Helper()
	return l.do("GET", address, nil)
}

// atGitHub goes to a page of the server, and returns where GitHub asks who it is.
func (l *looker) atGitHub(address string) url.Values {
	l.t.Helper()
	status, page := l.get(address)
	u, err := url.Parse(l.last)
	if err != nil || status != http.StatusOK || !strings.HasPrefix(l.last, l.b.URL+"/login/oauth/authorize?") {
		l.t.Fatalf("%s leads to %s: %d %s", address, l.last, status, page)
	}
	return u.Query()
}

// agrees is login at GitHub; it returns where GitHub sends the browser.
func (l *looker) agrees(login string, q url.Values) string {
	l.t.Helper()
	stay := &http.Client{Timeout: hookClient.Timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := stay.PostForm(l.b.URL+"/login/oauth/callback", url.Values{"login": {login}, "redirect_uri": q["redirect_uri"], "scope": q["scope"], "state": q["state"], "client_id": q["client_id"]})
	if err != nil {
		l.t.Fatal(err)
	}
	defer res.Body.Close()
	return res.Header.Get("Location")
}

// signsIn signs login in on the way to a page, and returns it.
func (l *looker) signsIn(login, address string) (int, string) {
	l.t.Helper()
	status, page := l.get(l.agrees(login, l.atGitHub(address)))
	if l.last != address {
		l.t.Fatalf("%s wanted %s and came to %s", login, address, l.last)
	}
	return status, page
}

var csrfField = regexp.MustCompile(`name="csrf" value="([0-9a-f]{64})"`)

// stream is the event stream of a browser.
type stream struct {
	l     *looker
	lines *bufio.Reader
}

func (l *looker) listens(address string) *stream {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	l.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	res, err := (&http.Client{Jar: l.web.Jar}).Do(r)
	if err != nil || res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		l.t.Fatalf("%s: %v %v", address, res, err)
	}
	l.t.Cleanup(func() { _ = res.Body.Close() })
	hardened(l.t, res)
	return &stream{l, bufio.NewReader(res.Body)}
}

// until reads until a line holds all of parts, and returns what was read.
func (s *stream) until(parts ...string) string {
	s.l.t.Helper()
	var text strings.Builder
	for {
		line, err := s.lines.ReadString('\n')
		text.WriteString(line)
		if err != nil {
			s.l.t.Fatalf("no event holds %q: %v\n%s", parts, err, text.String())
		}
		if !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(line, p) }) {
			return text.String()
		}
	}
}
