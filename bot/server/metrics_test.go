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
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/bot/notify"
	"github.com/switchback-ci/switchback/bot/server/queue"
	"github.com/switchback-ci/switchback/internal/sample"
)

// withMetrics returns a server whose settings say where metrics are served, "" for nowhere.
func withMetrics(t *testing.T, at string) *server {
	t.Helper()
	v := &server{metrics: newMetrics(), log: slog.New(slog.DiscardHandler), store: &queue.Store{Deliveries: &queue.Deliveries{}}}
	if err := v.settings.setMetrics(at); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestS6_14_MetricsNeedAnAddress is S6-14: metrics are served on the address that was named for them
// and nowhere else, not even to this machine.
func TestS6_14_MetricsNeedAnAddress(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"", "127.0.0.1:0"} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/metrics", nil)
		r.RemoteAddr, r.Host = "127.0.0.1:5", "127.0.0.1:8080"
		if withMetrics(t, at).routes().ServeHTTP(w, r); w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), "switchback_") {
			t.Errorf("with %q: %d", at, w.Code)
		}
	}
	for at, want := range map[string]string{":9090": "names no host; write 127.0.0.1:9090", "9090": "no address to listen on", "unix:": "names no file"} {
		if err := new(Settings).setMetrics(at); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", at, err)
		}
	}
}

// TestS6_14_MetricsListen is S6-14: the address of the metrics serves nothing else.
func TestS6_14_MetricsListen(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	v := withMetrics(t, at)
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
}

// TestS5_78_Metrics is S5-78: the figures of incidents are those of the database, also after a restart.
func TestS5_78_Metrics(t *testing.T) {
	t.Parallel()
	s, err := queue.Open(t.Context(), "", t.TempDir(), eventstream.Line(), notify.Line())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	events := eventstream.New(s.Database())
	o := sample.Incidents{Repo: "acme/shop", At: time.Now().Add(-2 * time.Hour)}
	o.Fail("getaddrinfo EAI_AGAIN registry.npmjs.org", 1, 4)
	o.End("mona")
	o.Fail("dial tcp: lookup db.internal: no such host", 5, 9)
	all := o.Stream()
	for _, n := range []int{7, len(all.Events)} {
		if _, err := events.Projector.Fill(t.Context(), []eventstream.Stream{{Key: all.Key, Events: all.Events[:n]}}); err != nil {
			t.Fatal(err)
		}
	}
	r := prometheus.NewRegistry()
	r.MustRegister(&outages{events.Incidents})
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			got[f.GetName()+" "+m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	for name, want := range map[string]float64{
		"switchback_incidents_open environment": 1, "switchback_incidents_open base": 0, "switchback_incident_members_on_hold environment": 5,
		"switchback_incidents_opened_total environment": 2, "switchback_incidents_resolved_total environment": 1, "switchback_incident_age_seconds base": 0,
	} {
		if have, ok := got[name]; !ok || have != want {
			t.Errorf("%s is %v, want %v", name, have, want)
		}
	}
	if age := got["switchback_incident_age_seconds environment"]; age < 3600 || age > 7200 {
		t.Errorf("the oldest is open for %v s", age)
	}
}
