package web

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// A local page is served only to requests that name this machine and do not come through a proxy.
func TestLocal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, host, header string
		want               bool
	}{
		{"127.0.0.1:5", "127.0.0.1:8766", "", true},
		{"127.0.0.1:5", "localhost:8766", "", true},
		{"[::1]:5", "[::1]:8766", "", true},
		{"[::1]:5", "localhost", "", true},
		{"10.0.0.7:5", "127.0.0.1:8766", "", false},
		{"127.0.0.1:5", "evil.example.com", "", false},
		{"127.0.0.1:5", "evil.example.com:8766", "", false},
		{"127.0.0.1:5", "localhost.evil.example.com", "", false},
		{"127.0.0.1:5", "", "", false},
		{"127.0.0.1:5", "127.0.0.1:8766", "X-Forwarded-For", false},
		{"127.0.0.1:5", "localhost", "Forwarded", false},
		{"127.0.0.1:5", "localhost", "Via", false},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr, r.Host = c.from, c.host
		if c.header != "" {
			r.Header.Set(c.header, "10.0.0.7")
		}
		if v, ok, err := (Local{}).Viewer(r); ok != c.want || err != nil || ok != v.Local {
			t.Errorf("%+v: %+v %v %v", c, v, ok, err)
		}
	}
}

// TestS6_14_LocalSocket is S6-14: over a Unix socket, whose file only its owner opens, the same holds as
// over a loopback address.
func TestS6_14_LocalSocket(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		host, header string
		want         bool
	}{{"localhost", "", true}, {"127.0.0.1:8766", "", true}, {"evil.example.com", "", false}, {"localhost", "X-Forwarded-For", false}} {
		r := httptest.NewRequest("GET", "/", nil)
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(&net.UnixAddr{Name: "/run/x.sock", Net: "unix"})))
		if r.RemoteAddr, r.Host = "@", c.host; c.header != "" {
			r.Header.Set(c.header, "10.0.0.7")
		}
		if _, ok, err := (Local{}).Viewer(r); ok != c.want || err != nil {
			t.Errorf("%+v: %v %v", c, ok, err)
		}
	}
}

func TestAsked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method, sent string
		v            Viewer
		want         bool
	}{
		{"GET", "", Viewer{CSRF: "x"}, true},
		{"HEAD", "", Viewer{CSRF: "x"}, true},
		{"POST", "x", Viewer{CSRF: "x"}, true},
		{"POST", "", Viewer{CSRF: "x"}, false},
		{"POST", "y", Viewer{CSRF: "x"}, false},
		{"POST", "", Viewer{}, false}, // a gate that gives no token lets nothing be changed
		{"PUT", "x", Viewer{CSRF: "x"}, true},
		{"DELETE", "", Viewer{CSRF: "x"}, false},
		{"POST", "", Viewer{Local: true}, true},
	} {
		r := httptest.NewRequest(c.method, "/", strings.NewReader(url.Values{"csrf": {c.sent}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if got := c.v.asked(httptest.NewRecorder(), r); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	r := httptest.NewRequest("POST", "/?csrf=x", http.NoBody)
	if (Viewer{CSRF: "x"}).asked(httptest.NewRecorder(), r) {
		t.Error("a token in an address is one that others may have seen")
	}
}
