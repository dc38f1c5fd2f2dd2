package e2e

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// behind sends requests as a reverse proxy does for a browser at an address.
type behind struct{ address string }

// RoundTrip implements http.RoundTripper.
func (p behind) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Forwarded-For", p.address)
	return http.DefaultTransport.RoundTrip(r)
}

// TestSignInReplayed is S6-12: whoever repeats one sign-in, or returns from many that GitHub does not
// know, keeps nobody else from signing in.
func TestSignInReplayed(t *testing.T) {
	bin, err := switchback()
	if err != nil {
		t.Fatal(err)
	}
	b := Start(t)
	app := b.Serve(t, bin, "", "SWITCHBACK_TRUSTED_PROXY=127.0.0.1")
	u, err := url.Parse(app.URL)
	if err != nil {
		t.Fatal(err)
	}
	at := func(address string) *looker {
		l := newLooker(t, b)
		l.web.Transport = behind{address}
		return l
	}
	stay := func(l *looker, cookies []*http.Cookie) *http.Client {
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		jar.SetCookies(u, cookies)
		return &http.Client{Jar: jar, Transport: l.web.Transport, Timeout: hookClient.Timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	// flood runs a step in 24 threads until the victim has signed in three times.
	flood := func(t *testing.T, victim string, step func() int) {
		t.Helper()
		var over atomic.Bool
		var wg sync.WaitGroup
		var mu sync.Mutex
		answers := map[int]int{}
		for range 24 {
			wg.Go(func() {
				for !over.Load() {
					status := step()
					mu.Lock()
					answers[status]++
					mu.Unlock()
				}
			})
		}
		time.Sleep(200 * time.Millisecond)
		for range 3 {
			l := at(victim)
			back := l.agrees(Reader, l.atGitHub(app.URL+"/cases"))
			began := time.Now()
			status, page := l.get(back)
			took := time.Since(began)
			t.Logf("signed in within %v", took)
			if status != http.StatusOK || l.last != app.URL+"/cases" || !strings.Contains(page, Reader) {
				t.Errorf("%d %s\n%s", status, l.last, page)
			}
			if took > 2*time.Second {
				t.Errorf("it took %v", took)
			}
		}
		over.Store(true)
		wg.Wait()
		t.Logf("answers to the flood: %v", answers)
	}
	asked := func() int { // those that GitHub refused, and those that it did not
		return strings.Count(app.Log(), "a sign-in failed") + strings.Count(app.Log(), "signed in")
	}
	for _, c := range []struct{ name, victim string }{{"from another address", "198.51.100.7"}, {"from the same address", "203.0.113.9"}} {
		t.Run("one cookie is replayed "+c.name, func(t *testing.T) {
			l := at("203.0.113.9")
			q := l.atGitHub(app.URL + "/")
			cookies := l.web.Jar.Cookies(u)
			before := asked()
			flood(t, c.victim, func() int {
				res, err := stay(l, cookies).Get(app.URL + "/sign-in/callback?" + url.Values{"state": q["state"], "code": {randomHex(10)}}.Encode())
				if err != nil {
					return 0
				}
				_ = res.Body.Close()
				return res.StatusCode
			})
			if n := asked() - before; n != 4 { // the victim three times, and once for all replays
				t.Errorf("GitHub was asked %d times", n)
			}
		})
	}
	t.Run("sign-ins with codes that GitHub does not know", func(t *testing.T) {
		l := at("203.0.113.10")
		var refused atomic.Int32
		flood(t, "198.51.100.8", func() int {
			web := stay(l, nil)
			res, err := web.Get(app.URL + "/sign-in")
			if err != nil {
				return 0
			}
			_ = res.Body.Close()
			to, err := url.Parse(res.Header.Get("Location"))
			if err != nil {
				return 0
			}
			res, err = web.Get(app.URL + "/sign-in/callback?" + url.Values{"state": {to.Query().Get("state")}, "code": {randomHex(10)}}.Encode())
			if err != nil {
				return 0
			}
			_ = res.Body.Close()
			if res.StatusCode == http.StatusTooManyRequests {
				refused.Add(1)
				if res.Header.Get("Retry-After") == "" {
					t.Error("without Retry-After")
				}
			}
			return res.StatusCode
		})
		if refused.Load() == 0 {
			t.Error("the address was not limited")
		}
	})
}
