package server

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/server/queue"
)

// Where the world can reach the server, metrics are for its own machine.
func TestMetricsOfThisMachine(t *testing.T) {
	t.Parallel()
	v := &server{metrics: newMetrics(), log: slog.New(slog.DiscardHandler), store: &queue.Store{Deliveries: &queue.Deliveries{}}}
	for _, c := range []struct {
		name, from, host string
		header           []string
		want             int
	}{
		{"this machine", "127.0.0.1:5", "127.0.0.1:8080", nil, http.StatusOK},
		{"this machine, IPv6", "[::1]:5", "localhost:8080", nil, http.StatusOK},
		{"another", "192.0.2.7:5", "192.0.2.1:8080", nil, http.StatusNotFound},
		{"another that says it is this one", "192.0.2.7:5", "127.0.0.1", nil, http.StatusNotFound},
		{"a proxy on this machine", "127.0.0.1:5", "127.0.0.1", []string{"X-Forwarded-For", "192.0.2.7"}, http.StatusNotFound},
		{"a proxy that leaves the name", "127.0.0.1:5", "switchback.example.com", nil, http.StatusNotFound},
	} {
		r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		r.RemoteAddr, r.Host = c.from, c.host
		if c.header != nil {
			r.Header.Set(c.header[0], c.header[1])
		}
		w := httptest.NewRecorder()
		v.routes().ServeHTTP(w, r)
		if w.Code != c.want || strings.Contains(w.Body.String(), "switchback_") != (c.want == http.StatusOK) {
			t.Errorf("%s: %d, want %d", c.name, w.Code, c.want)
		}
	}
}

// An address of their own shows metrics, and nothing else, and takes them from the
// address that webhooks come to.
func TestMetricsListen(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	v := &server{metrics: newMetrics(), log: slog.New(slog.DiscardHandler), settings: Settings{Metrics: at},
		store: &queue.Store{Deliveries: &queue.Deliveries{}}}
	if _, err := v.scraped(); err == nil || !strings.Contains(err.Error(), "--metrics-listen") {
		t.Errorf("an address that is taken: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	end, err := v.scraped()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{"/metrics": http.StatusOK, "/": http.StatusNotFound, "/healthz": http.StatusNotFound, WebhookPath: http.StatusNotFound} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+at+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Forwarded-For", "192.0.2.7")
		r.Close = true
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, res.StatusCode, want)
		}
	}
	end()
	if c, err := new(net.Dialer).DialContext(context.Background(), "tcp", at); err == nil {
		_ = c.Close()
		t.Error("it listens on")
	}
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/metrics", nil)
	r.RemoteAddr, r.Host = "127.0.0.1:5", "127.0.0.1"
	if v.routes().ServeHTTP(w, r); w.Code != http.StatusNotFound {
		t.Errorf("both addresses: %d", w.Code)
	}
}
