package dash

import (
	"net"
	"net/http"
)

// Local lets everybody in who asks from this machine, and nobody else. A page of
// another site that the same browser shows is kept out by the name it asks for.
type Local struct{}

// Viewer implements Gate.
func (Local) Viewer(r *http.Request) (Viewer, bool, error) {
	from, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil || !net.ParseIP(from).IsLoopback() {
		return Viewer{}, false, nil
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
	http.Error(w, "without sign-in, only this machine may look, at 127.0.0.1 or localhost", http.StatusForbidden)
}
