package web

import (
	"crypto/subtle"
	"net"
	"net/http"

	"github.com/switchback-ci/switchback/bot/endpoint"
)

// asked reports whether a request that changes something comes from a form of a page for v. A local
// viewer has no session to forge, and no browser sends the token of an agent by itself; requests of
// other sites are rejected before.
func (v Viewer) asked(w http.ResponseWriter, r *http.Request) bool {
	if v.Local || v.Agent || r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
	return v.CSRF != "" && subtle.ConstantTimeCompare([]byte(r.PostFormValue("csrf")), []byte(v.CSRF)) == 1
}

// Local is the Gate of requests from this machine, over a loopback address or a Unix socket. It
// rejects those of other sites' pages by the Host header, and those through a proxy on this machine
// by the headers that proxies add.
type Local struct{}

// Viewer implements Gate.
func (Local) Viewer(r *http.Request) (Viewer, bool, error) {
	from, _, err := net.SplitHostPort(r.RemoteAddr)
	if !endpoint.OverUnix(r) && (err != nil || !net.ParseIP(from).IsLoopback()) {
		return Viewer{}, false, nil
	}
	for _, h := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"} {
		if r.Header.Get(h) != "" {
			return Viewer{}, false, nil
		}
	}
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return Viewer{}, false, nil
	}
	return Viewer{Login: "you", Local: true}, true, nil
}

// Serve implements Gate.
func (Local) Serve(http.ResponseWriter, *http.Request) bool { return false }

// SignIn implements Gate.
func (Local) SignIn(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "without sign-in the pages are served only to this machine, at 127.0.0.1 or localhost", http.StatusForbidden)
}
