package web_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/bot/ledger/sqlledger"
	"github.com/switchback-ci/switchback/bot/plans/planpages"
	"github.com/switchback-ci/switchback/bot/web"
	"github.com/switchback-ci/switchback/internal/sample"
	"github.com/switchback-ci/switchback/routing"
)

// reader is the Gate of one viewer, who may read some repositories.
type reader struct{ repos []string }

func (g reader) Viewer(*http.Request) (web.Viewer, bool, error) {
	return web.Viewer{Login: "ana", Repos: g.repos}, true, nil
}
func (g reader) Serve(http.ResponseWriter, *http.Request) bool { return false }
func (g reader) SignIn(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusUnauthorized)
}

// sections are the pages of plans.
func sections(s *eventstream.Store, names web.Names) []web.Section {
	plans, err := planpages.Section(s, names)
	if err != nil {
		panic(err)
	}
	return []web.Section{plans}
}

// watched is the dashboard of streams.
func watched(t testing.TB, repos []string, streams ...sample.Stream) *web.Server {
	t.Helper()
	db, err := database.OpenFile(context.Background(), filepath.Join(t.TempDir(), "feed.db"), true)
	if err == nil {
		t.Cleanup(func() { _ = db.Close() })
		err = db.Migrate(context.Background(), nil, sqlledger.Line(), eventstream.Line())
	}
	if err != nil {
		t.Fatal(err)
	}
	f, byKey := eventstream.New(db), map[string][]routing.Event{}
	for _, s := range streams {
		if _, err := f.Projector.Fill(context.Background(), []eventstream.Stream{{Key: s.Key, Events: s.Events}}); err != nil {
			t.Fatal(err)
		}
		byKey[s.Key] = s.Events
	}
	d, err := web.New(web.Options{Store: f, Sections: sections(f, nil), Gate: reader{repos}, GitHub: "https://github.com",
		Stream: func(_ context.Context, key string) ([]routing.Event, error) { return byKey[key], nil }})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func get(t testing.TB, d http.Handler, path string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	d.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	body, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Code, string(body)
}

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func TestPlans(t *testing.T) {
	plan := sample.Plan(sample.PlanOptions{Seed: 1, Repo: "acme/shop", Name: "p", Ports: 24, Begun: 16, Start: noon})
	d := watched(t, nil, plan...)
	t.Run("live progress is visible to a person: a bar for each port, and one that has not begun starts at 0 (S2-84 S2-96)", func(t *testing.T) {
		code, body := get(t, d, "/plan/acme/shop/p")
		if code != http.StatusOK {
			t.Fatal(code, body)
		}
		bars := regexp.MustCompile(`<tr id="port-([^"]+)">[\s\S]*?class="standing (\w+)"[\s\S]*?<progress class="bar" value="(\d+)"`).FindAllStringSubmatch(body, -1)
		counts := map[string]int{}
		for _, b := range bars {
			counts[b[2]]++
			switch want := map[string]string{"passed": "100", "ready": "0", "pending": "0", "blocked": "0"}[b[2]]; {
			case want != "" && b[3] != want:
				t.Errorf("%s is %s and at %s%%", b[1], b[2], b[3])
			case b[2] == "running" && (b[3] == "0" || b[3] == "100"):
				t.Errorf("%s runs at %s%%", b[1], b[3])
			}
		}
		if len(bars) != 24 || counts["passed"] != 13 || counts["running"] != 2 || counts["escalated"] != 1 || counts["blocked"] == 0 {
			t.Errorf("%d bars: %v", len(bars), counts)
		}
		if n := strings.Count(body, `class="node `); n != 24 {
			t.Errorf("%d boxes", n)
		}
		if !strings.Contains(body, "Critical path") || !strings.Contains(body, `class="edge critical"`) || !strings.Contains(body, "asks a maintainer: two ports own one file") {
			t.Error("no critical path, or nothing of what happened")
		}
	})
	t.Run("the list", func(t *testing.T) {
		if _, body := get(t, d, "/plans"); !strings.Contains(body, `href="/plan/acme/shop/p"`) || !strings.Contains(body, "13 of 24") {
			t.Error(body)
		}
	})
	t.Run("of a repository that may not be seen there is nothing", func(t *testing.T) {
		d := watched(t, []string{"acme/web"}, plan...)
		if code, _ := get(t, d, "/plan/acme/shop/p"); code != http.StatusNotFound {
			t.Error(code)
		}
		for _, path := range []string{"/plans", "/", "/plans?repo=acme/shop"} {
			if code, body := get(t, d, path); code != http.StatusOK || strings.Contains(body, "/plan/acme") {
				t.Error(path, code, body)
			}
		}
	})
	t.Run("a large plan is drawn in part and listed whole", func(t *testing.T) {
		_, body := get(t, watched(t, nil, sample.Plan(sample.PlanOptions{Seed: 2, Repo: "acme/shop", Name: "p", Ports: 900, Begun: 40, Start: noon})...), "/plan/acme/shop/p")
		if rows, boxes := strings.Count(body, `<tr id="port-`), strings.Count(body, `class="node `); rows != 900 || boxes != 400 || !strings.Contains(body, "500 more ports") {
			t.Errorf("%d rows, %d boxes", rows, boxes)
		}
	})
}
