package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHealthcheck(t *testing.T) {
	t.Parallel()
	well := true
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" || !well {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer srv.Close()
	_, port, err := net.SplitHostPort(srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	at := "127.0.0.1:" + port
	if r := run(t, "", "healthcheck", "--listen", at); r.code != 0 || !strings.Contains(r.out, "is healthy") {
		t.Errorf("healthy: exit %d %s%s", r.code, r.out, r.err)
	}
	if r := run(t, "", "healthcheck", "--listen", "0.0.0.0:"+port); r.code != 0 {
		t.Errorf("well on all interfaces: exit %d %s%s", r.code, r.out, r.err)
	}
	if r := run(t, "", "healthcheck", "--listen", at, "--path", "/healthz"); r.code != 1 || !strings.Contains(r.err, "503") {
		t.Errorf("another path: exit %d %s%s", r.code, r.out, r.err)
	}
	well = false
	if r := run(t, "", "healthcheck", "--listen", at); r.code != 1 || !strings.Contains(r.err, "503") {
		t.Errorf("unhealthy: exit %d %s%s", r.code, r.out, r.err)
	}
	srv.Close()
	if r := run(t, "", "healthcheck", "--listen", at); r.code != 1 || !strings.Contains(r.err, "does not answer") {
		t.Errorf("gone: exit %d %s%s", r.code, r.out, r.err)
	}
	if r := run(t, "", "healthcheck", "--listen", "8080"); r.code != 1 || !strings.Contains(r.err, "as 127.0.0.1:8080") {
		t.Errorf("no address: exit %d %s%s", r.code, r.out, r.err)
	}
}
