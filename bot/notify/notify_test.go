package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/database/pgtest"
	"github.com/switchback-ci/switchback/bot/render/catalog"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/activity"
	"github.com/switchback-ci/switchback/routing/quarantine"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

const secret = "0123456789abcdef"

func read(t *testing.T, text string, getenv func(string) string) ([]Endpoint, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "notify.yml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Read(file, getenv)
}

// TestFile is S5-100: the file of endpoints.
func TestFile(t *testing.T) {
	t.Parallel()
	at := env("URL", "https://hooks.example.com/T0/B0", "SECRET", secret, "PLAIN", "http://10.0.0.7/hook", "SHORT", "x")
	t.Run("S5-100 endpoints with their topics, repositories and digest", func(t *testing.T) {
		list, err := read(t, `endpoints:
  - {name: ops, format: slack, url_env: URL}
  - {name: team, format: teams, url_env: URL, "on": [limit, resolved], repositories: ["acme/*"], language: ko, digest: Friday 16:30}
  - {name: own, format: webhook, url_env: PLAIN, secret_env: SECRET, allow_private: true}
`, at)
		if err != nil || len(list) != 3 {
			t.Fatal(list, err)
		}
		esc, limit := Message{Topic: Escalation, Repository: "acme/shop"}, Message{Topic: Limit, Repository: "Acme/shop"}
		other := Message{Topic: Limit, Repository: "rival/shop"}
		if !list[0].Wants(esc) || !list[0].Wants(limit) || !list[0].Wants(other) || list[0].Wants(Message{Topic: Resolved}) {
			t.Error("the default is every escalation, and nothing else")
		}
		if list[1].Wants(esc) || !list[1].Wants(limit) || list[1].Wants(other) {
			t.Error("topics or repositories are not regarded")
		}
		friday := time.Date(2026, 5, 8, 16, 30, 0, 0, time.UTC)
		for _, x := range []struct{ now, want time.Time }{{friday, friday}, {friday.Add(-time.Second), friday.AddDate(0, 0, -7)}, {friday.AddDate(0, 0, 6), friday}, {friday.AddDate(0, 0, 3), friday}} {
			if due, ok := list[1].Due(x.now); !ok || !due.Equal(x.want) {
				t.Errorf("at %s due %s, want %s", x.now, due, x.want)
			}
		}
		if _, ok := list[0].Due(friday); ok {
			t.Error("a digest that nobody asked for")
		}
	})
	for want, line := range map[string]string{
		`:2: unknown key "urlenv"; did you mean "url_env"?`:     `{name: x, format: slack, urlenv: URL}`,
		":2: name is missing":                                   `{format: slack, url_env: URL}`,
		`:2: format is "slak"; did you mean "slack"?`:           `{name: x, format: slak, url_env: URL}`,
		":2: url_env is missing":                                `{name: x, format: slack}`,
		":2: url_env: NONE is not set":                          `{name: x, format: slack, url_env: NONE}`,
		":2: url_env: PLAIN holds no https address":             `{name: x, format: slack, url_env: PLAIN}`,
		":2: secret_env is missing":                             `{name: x, format: webhook, url_env: URL}`,
		":2: secret_env: SHORT has fewer":                       `{name: x, format: webhook, url_env: URL, secret_env: SHORT}`,
		":2: secret_env is for format: webhook":                 `{name: x, format: slack, url_env: URL, secret_env: SECRET}`,
		`:2: on: unknown topic "limits"; did you mean "limit"?`: `{name: x, format: slack, url_env: URL, "on": [limits]}`,
		`:2: repositories: "acme" is no pattern`:                `{name: x, format: slack, url_env: URL, repositories: [acme]}`,
		`:2: digest is "someday 9"`:                             `{name: x, format: slack, url_env: URL, digest: someday 9}`,
		`:2: language is "fr"`:                                  `{name: x, format: slack, url_env: URL, language: fr}`,
		"a second endpoint with the name":                       "{name: x, format: slack, url_env: URL}\n  - {name: x, format: teams, url_env: URL}",
	} {
		t.Run("S5-100 refused: "+want, func(t *testing.T) {
			_, err := read(t, "endpoints:\n  - "+line+"\n", at)
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "10.0.0.7") || strings.Contains(err.Error(), "T0/B0") {
				t.Errorf("%v, want %s and no address", err, want)
			}
		})
	}
	if _, err := read(t, "", at); err == nil || !strings.Contains(err.Error(), "no endpoints") {
		t.Error(err)
	}
}

func event(typ activity.Type, data any) activity.Event {
	b, _ := json.Marshal(data)
	return activity.Event{ID: 7, Type: typ, At: time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC), Repo: "acme/kept", Session: "acme/kept#12", Stream: "acme/kept#12", Data: b}
}

var hostile = "<!channel> <https://evil.example|log in> [click](https://evil.example) \x1b[31m@here ghp_" + "aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3"

// TestMessages is S5-100: what is told of an event, in each format.
func TestMessages(t *testing.T) {
	t.Parallel()
	now := func(string) string { return "acme/shop" }
	m, ok := Of(event(activity.EscalationNew, activity.Called{Checkpoint: "unit", Decision: routing.KindMaxRetry, Reason: hostile, SHA: "abc"}), now, "https://github.example")
	if !ok || m.Topic != Limit || m.ID != "event-7" || m.Repository != "acme/shop" || m.Subject != "#12" || m.URL != "https://github.example/acme/shop/pull/12" {
		t.Fatalf("%+v", m)
	}
	for _, format := range []Format{Slack, Teams, Webhook} {
		t.Run("S5-100 no text of a run is live in "+string(format), func(t *testing.T) {
			b, err := Endpoint{Format: format, Language: catalog.English}.body(m)
			text := string(b)
			if err != nil || !json.Valid(b) || strings.Contains(text, "ghp_aB3") || strings.Contains(text, `\u001b`) {
				t.Fatalf("%v %s", err, text)
			}
			if format == Slack && (strings.Contains(text, "mrkdwn") || !strings.Contains(text, "plain_text")) || format == Teams && strings.Contains(text, `"TextBlock"`) {
				t.Errorf("markup is interpreted: %s", text)
			}
		})
	}
	for _, l := range catalog.Languages() {
		if s := m.in(l); !strings.Contains(s.title, "acme/shop#12") || !strings.Contains(s.title, "unit") || strings.Contains(s.title, "{") {
			t.Errorf("%s: %+v", l, s)
		}
	}
	if m, ok := Of(event(activity.EscalationResolved, activity.Called{Checkpoint: "unit", By: "ann"}), now, ""); !ok || m.Topic != Resolved || !strings.Contains(m.in(catalog.English).title, "answered by ann") || m.URL != "" {
		t.Errorf("%+v", m)
	}
	if m, ok := Of(event(activity.RunAnalyzed, activity.Analyzed{}), now, ""); ok {
		t.Errorf("%+v", m)
	}
	d := Message{Topic: Digest, Repository: "acme/*", Figures: &Figures{Passed: 4, Waiting: 1, Longest: []string{"acme/shop#12"}, Flaky: []string{"TestA"}}}
	if s := d.in(catalog.English); s.title != "The last seven days of acme" || !strings.Contains(s.body, "4 runs passed") || !strings.Contains(s.body, "acme/shop#12") || !strings.Contains(s.body, "Flaky: TestA") {
		t.Errorf("%+v", s)
	}
}

// TestIncidentAndQuarantine is S5-100: what is told of incidents and of tests in quarantine.
func TestIncidentAndQuarantine(t *testing.T) {
	t.Parallel()
	now := func(string) string { return "acme/shop" }
	at := time.Date(2026, 5, 18, 12, 0, 0, 0, time.UTC)
	of := func(typ activity.Type, data any) (Message, bool) {
		e := event(typ, data)
		e.Session = "acme/kept!stream/abc-1"
		return Of(e, now, "https://github.example")
	}
	for _, x := range []struct {
		data  any
		id    string
		title string // "": nobody is told
		url   string
	}{
		{activity.IncidentChange{Change: "opened", OnHold: 3}, "", "", ""},
		{activity.IncidentChange{Change: activity.Filed, Cause: hostile, OnHold: 3, Number: 7}, "incident-acme/kept!stream/abc-1", "acme/shop: an incident opened, checkpoints on hold: 3", "/issues/7"},
		{activity.IncidentChange{Change: activity.Filed, OnHold: 3}, "incident-acme/kept!stream/abc-1", "acme/shop: an incident opened, checkpoints on hold: 3", ""},
		{activity.IncidentChange{Change: "reopened", OnHold: 2, Number: 7}, "event-7", "acme/shop: an incident is open again, checkpoints on hold: 2", "/issues/7"},
		{activity.IncidentChange{Change: "resolved", OnHold: 2, Number: 7, By: "ann"}, "event-7", "acme/shop: an incident is over, its cases are restarted: 2", "/issues/7"},
		{activity.IncidentChange{Change: "dismissed", Number: 7}, "event-7", "acme/shop: an incident was closed as not planned, nothing is restarted", "/issues/7"},
		{activity.IncidentChange{Change: "joined", Number: 7}, "", "", ""},
		{activity.QuarantineChange{Change: "began", Standing: quarantine.Quarantined, Name: "TestA", Until: &at}, "", "", ""},
		{activity.QuarantineChange{Change: activity.Filed, Standing: quarantine.Quarantined, Suite: "calc", Name: "TestA", Until: &at, Number: 8}, "quarantine-acme/kept!stream/abc-1-1779105600", "acme/shop: calc › TestA is in quarantine until 2026-05-18 12:00 UTC, its failures do not count", "/issues/8"},
		{activity.QuarantineChange{Change: "began", Standing: quarantine.Quarantined, Name: "TestA", Until: &at, Number: 8}, "quarantine-acme/kept!stream/abc-1-1779105600", "acme/shop: TestA is in quarantine until 2026-05-18 12:00 UTC, its failures do not count", "/issues/8"},
		{activity.QuarantineChange{Change: "reminded", Name: hostile, Until: &at, Number: 8}, "event-7", "acme/shop: the quarantine of ", "/issues/8"},
		{activity.QuarantineChange{Change: "expired", Name: "TestA", Until: &at, Number: 8}, "event-7", "acme/shop: the quarantine of TestA has ended, its failures count", "/issues/8"},
		{activity.QuarantineChange{Change: activity.Filed, Standing: quarantine.ProposedTest, Name: "TestA", Number: 8}, "", "", ""},
		{activity.QuarantineChange{Change: "released", Name: "TestA", Until: &at, Number: 8}, "", "", ""},
	} {
		typ, topic := activity.IncidentChanged, Incident
		if _, ok := x.data.(activity.QuarantineChange); ok {
			typ, topic = activity.QuarantineChanged, Quarantine
		}
		t.Run(fmt.Sprintf("S5-100 %s %+v", typ, x.data)[:60], func(t *testing.T) {
			m, ok := of(typ, x.data)
			if ok != (x.title != "") {
				t.Fatalf("told: %v %+v", ok, m)
			}
			if !ok {
				return
			}
			if got := m.in(catalog.English); m.ID != x.id || m.Topic != topic || !strings.HasPrefix(got.title, x.title) || m.URL != "https://github.example/acme/shop"+x.url {
				t.Errorf("%+v\n%+v", m, got)
			}
			if !(Endpoint{On: []Topic{topic}}).Wants(m) || (Endpoint{On: []Topic{Escalation, Limit, Resolved}}).Wants(m) {
				t.Error("the topic is not regarded")
			}
			if got := m.in(catalog.Korean); strings.Contains(got.title+got.body, "{") || !strings.Contains(got.title, "acme/shop") {
				t.Errorf("%+v", got)
			}
			for _, format := range []Format{Slack, Teams, Webhook} {
				b, err := Endpoint{Format: format, Language: catalog.English}.body(m)
				if text := string(b); err != nil || !json.Valid(b) || strings.Contains(text, "ghp_aB3") || strings.Contains(text, `\u001b`) || strings.Contains(text, "mrkdwn") || strings.Contains(text, `"TextBlock"`) {
					t.Errorf("%s: %v %s", format, err, text)
				}
			}
		})
	}
}

// place returns an endpoint at a server of the test.
func place(t *testing.T, format Format, private bool, h http.HandlerFunc) Endpoint {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	text := fmt.Sprintf("endpoints:\n  - {name: x, format: %s, url_env: URL, allow_private: true%s}\n", format, map[bool]string{true: ", secret_env: SECRET"}[format == Webhook])
	list, err := read(t, text, env("URL", s.URL+"/secret-path", "SECRET", secret))
	if err != nil {
		t.Fatal(err)
	}
	list[0].AllowPrivate = private
	return list[0]
}

// TestSend is S5-100: what an endpoint gets, and what its answers mean.
func TestSend(t *testing.T) {
	t.Parallel()
	m := Message{ID: "event-7", Topic: Escalation, Repository: "acme/shop", Subject: "#12", Checkpoint: "unit"}
	s := NewSender()
	t.Run("S5-100 a generic webhook is signed like GitHub's", func(t *testing.T) {
		var got http.Header
		var body []byte
		e := place(t, Webhook, true, func(w http.ResponseWriter, r *http.Request) {
			got = r.Header
			body, _ = io.ReadAll(r.Body)
		})
		if err := s.Send(t.Context(), e, m); err != nil {
			t.Fatal(err)
		}
		var is Message
		if err := json.Unmarshal(body, &is); err != nil || is.Subject != "#12" || got.Get("X-Switchback-Delivery") != m.ID || got.Get("X-Switchback-Event") != "escalation" {
			t.Errorf("%v %v %s", err, got, body)
		}
		if got.Get("X-Hub-Signature-256") != "sha256="+signature([]byte(secret), body) || len(signature([]byte(secret), body)) != 64 {
			t.Error(got)
		}
	})
	for name, x := range map[string]struct {
		answer http.HandlerFunc
		kind   advice.Kind
		after  time.Duration
	}{
		"rejected":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, advice.Gone, 0},
		"overloaded": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, advice.Later, 0},
		"too many": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "90")
			w.WriteHeader(http.StatusTooManyRequests)
		}, advice.Later, 90 * time.Second},
		"redirected to a page": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }, advice.Gone, 0},
		"redirected to a host": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/x", http.StatusPermanentRedirect)
		}, advice.Gone, 0},
		"redirected in a circle": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/secret-path", http.StatusTemporaryRedirect)
		}, advice.Gone, 0},
		"a connection that drops": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, advice.Later, 0},
	} {
		t.Run("S5-100 "+name, func(t *testing.T) {
			err := s.Send(t.Context(), place(t, Slack, true, x.answer), m)
			a := advice.Of(err)
			if err == nil || a.Kind != x.kind || a.After != x.after || strings.Contains(err.Error(), "secret-path") {
				t.Errorf("%v: %+v", err, a)
			}
		})
	}
	t.Run("S5-100 an endpoint that hangs is left", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		err := s.Send(ctx, place(t, Slack, true, func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // so that the server sees the client go
			<-r.Context().Done()
		}), m)
		if a := advice.Of(err); err == nil || a.Kind != advice.Later {
			t.Errorf("%v: %+v", err, a)
		}
	})
	t.Run("S5-100 a private address is not connected to unless that is allowed", func(t *testing.T) {
		e := place(t, Slack, false, func(http.ResponseWriter, *http.Request) { t.Error("connected") })
		if err := s.Send(t.Context(), e, m); !errors.Is(err, errRefused) || advice.Of(err).Kind != advice.Gone {
			t.Error(err)
		}
	})
	for address, want := range map[string]bool{"140.82.112.3": true, "2606:50c0:8000::153": true, "127.0.0.1": false, "10.1.2.3": false, "192.168.0.1": false, "169.254.169.254": false,
		"100.64.0.1": false, "::1": false, "fd00::1": false, "fe80::1": false, "0.0.0.0": false, "64:ff9b::a00:1": false, "255.255.255.255": false, "224.0.0.1": false} {
		if isPublic(netip.MustParseAddr(address)) != want {
			t.Errorf("%s: public is %v", address, !want)
		}
	}
}

// TestPositions is S5-100: a new endpoint hears nothing of the past, and nothing is told twice.
func TestPositions(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"SQLite", "PostgreSQL"} {
		t.Run("S5-100 "+kind, func(t *testing.T) {
			t.Parallel()
			db, err := database.OpenFile(t.Context(), filepath.Join(t.TempDir(), "x.db"), true)
			if kind == "PostgreSQL" {
				_ = db.Close()
				db, err = database.OpenURL(t.Context(), pgtest.URL(t))
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			if err := db.Migrate(t.Context(), nil, Line()); err != nil {
				t.Fatal(err)
			}
			p, noon := Positions{db}, time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
			is := func(event int64, digest time.Time) {
				t.Helper()
				if got, err := p.Of(t.Context(), "ops", Position{99, noon.Add(time.Hour)}); err != nil || got.Event != event || !got.Digest.Equal(digest) {
					t.Errorf("%+v %v, want %d %s", got, err, event, digest)
				}
			}
			if got, err := p.Of(t.Context(), "ops", Position{5, noon}); err != nil || got.Event != 5 {
				t.Fatal(got, err)
			}
			is(5, noon)
			if err := errors.Join(p.Advance(t.Context(), "ops", Position{9, noon}), p.Advance(t.Context(), "ops", Position{7, noon.Add(time.Minute)})); err != nil {
				t.Fatal(err)
			}
			is(9, noon.Add(time.Minute))
			told := func(want bool) {
				t.Helper()
				if got, err := p.Told(t.Context(), "ops", "event-7"); err != nil || got != want {
					t.Errorf("told: %v %v, want %v", got, err, want)
				}
			}
			told(false)
			if err := errors.Join(p.Tell(t.Context(), "ops", "event-7", noon), p.Tell(t.Context(), "ops", "event-7", noon), p.Tell(t.Context(), "team", "event-8", noon), p.Prune(t.Context(), noon)); err != nil {
				t.Fatal(err)
			}
			told(true)
			if err := p.Prune(t.Context(), noon.Add(time.Second)); err != nil {
				t.Fatal(err)
			}
			told(false)
		})
	}
}
