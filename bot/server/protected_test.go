package server

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/endpoint"
)

// TestS6_20_HeadersOfEveryAnswer is S6-20: also errors, redirects and answers that are no page have a
// policy, and over TLS they say so.
func TestS6_20_HeadersOfEveryAnswer(t *testing.T) {
	t.Parallel()
	trusted, err := endpoint.ParseProxies("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		public, from, proto string
		want                bool
	}{
		{"https://x.example.com", "192.0.2.7:5", "", true},
		{"", "127.0.0.1:5", "https", true},
		{"", "127.0.0.1:5", "http", false},
		{"", "192.0.2.7:5", "https", false},
		{"http://localhost:8080", "192.0.2.7:5", "", false},
	} {
		v := withMetrics(t, "")
		v.settings.Public, v.settings.Proxies = c.public, trusted
		for _, path := range []string{"/healthz", "/nothing", "//evil.example.com", WebhookPath, "/metrics", "/cases"} {
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				w, r := httptest.NewRecorder(), httptest.NewRequest(method, "http://x.example.com"+path, nil)
				r.RemoteAddr = c.from
				r.Header.Set("X-Forwarded-Proto", c.proto)
				v.routes().ServeHTTP(w, r)
				h := w.Header()
				if csp := h.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'; ") || strings.Contains(csp, "data:") ||
					h.Get("X-Content-Type-Options") != "nosniff" || (h.Get("Strict-Transport-Security") == "max-age=31536000") != c.want {
					t.Errorf("%+v: %s %s: %d %v", c, method, path, w.Code, h)
				}
			}
		}
	}
}
