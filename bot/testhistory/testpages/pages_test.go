package testpages_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/ledger/sqlledger"
	"github.com/switchback-ci/switchback/bot/quarantines"
	"github.com/switchback-ci/switchback/bot/testhistory"
	"github.com/switchback-ci/switchback/bot/testhistory/testpages"
	"github.com/switchback-ci/switchback/bot/web"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/history"
	"github.com/switchback-ci/switchback/routing/quarantine"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// hostile is the name of a test that tries to leave its place.
const hostile = `<script>alert(1)</script> & "TestAdd"`

// recorded is a ledger of runs of the default branch, of which one test flakes.
func recorded(t *testing.T) (*ledger.Memory, string) {
	t.Helper()
	led := &ledger.Memory{}
	names := history.NewNames("ci", []history.Name{{Suite: "calc", Name: hostile, File: "calc/add_test.go", Owner: "@acme/testers"}, {Suite: "calc", Name: "TestSlow"}})
	blob, err := led.Blobs().Put(t.Context(), "acme/app@main", names.Pack())
	if err != nil {
		t.Fatal(err)
	}
	var c routing.Case
	for i := range 4 {
		at := noon.Add(time.Duration(i) * time.Hour)
		one := history.Test{ID: history.TestID("ci", "calc", hostile), Steps: 4}
		v := routing.Verdict{Checkpoint: "ci", Result: routing.Pass, Run: routing.Run{Repository: "acme/app", ID: fmt.Sprint(100 + i), SHA: fmt.Sprintf("%040x", 0xabc0+i/2)}, At: at, Names: blob}
		if i%2 == 1 {
			v.Result, v.Class = routing.Fail, routing.LogicError
			v.Failures = []routing.Failure{{Suite: "calc", Name: hostile, Fingerprint: "x", Class: v.Class, Kind: "failure"}}
			one.Status, one.Fingerprint = history.Failed, history.FingerprintOf("x")
		}
		v.Inventory = history.New([]history.Test{one, {ID: history.TestID("ci", "calc", "TestSlow"), Steps: 12}}, false).Pack()
		if c, err = ledger.Case(led, "acme/app@main").Update(t.Context(), func(c routing.Case) ([]routing.Event, error) {
			return []routing.Event{routing.RunEvent("acme/app@main", v, routing.Decide(c, v, routing.DefaultPolicy(), at), at)}, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	s := &quarantines.Service{Ledger: led, Repo: "acme/app", Now: func() time.Time { return noon }}
	ref := routing.TestRef{Checkpoint: "ci", Suite: "calc", Name: hostile}
	if _, err := s.Quarantine(t.Context(), quarantine.Request{Test: ref}, "mona"); err != nil {
		t.Fatal(err, c.Key)
	}
	return led, quarantine.IDOf(ref)
}

type reader struct{ repos []string }

func (r reader) Viewer(*http.Request) (web.Viewer, bool, error) {
	return web.Viewer{Login: "mona", Repos: r.repos}, true, nil
}
func (reader) Serve(http.ResponseWriter, *http.Request) bool { return false }
func (reader) SignIn(http.ResponseWriter, *http.Request)     {}

func TestPagesS5_60_S5_61(t *testing.T) {
	t.Parallel()
	led, id := recorded(t)
	db, err := database.OpenFile(context.Background(), filepath.Join(t.TempDir(), "feed.db"), true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := db.Migrate(t.Context(), nil, sqlledger.Line(), eventstream.Line()); err != nil {
		t.Fatal(err)
	}
	store := eventstream.New(db)
	section, err := testpages.Section(testhistory.NewCache(led, nil), store, nil, func() time.Time { return noon.Add(6 * time.Hour) })
	if err != nil {
		t.Fatal(err)
	}
	get := func(path string, repos []string) (int, string) {
		t.Helper()
		d, err := web.New(web.Options{Store: store, Sections: []web.Section{section}, Gate: reader{repos}, GitHub: "https://github.com", Now: func() time.Time { return noon },
			Stream: func(context.Context, string) ([]routing.Event, error) { return nil, nil }})
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		d.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if _, err := html.Parse(strings.NewReader(w.Body.String())); err != nil || strings.Contains(w.Body.String(), "<script>alert") {
			t.Errorf("%s: %v:\n%s", path, err, w.Body)
		}
		return w.Code, w.Body.String()
	}
	mine := []string{"acme/app"}
	for path, wants := range map[string][]string{
		"/test/acme/app/" + id:                 {"50% of 4 runs", "100% of 2 commits", "about 8 ms", "as before", "Fails since", "<code>000000", "@acme/testers", "In quarantine until", "failed</td>", "<rect", "Checkpoint ci of acme/app"},
		"/tests?repo=acme/app":                 {"2 of 2 commits", "/test/acme/app/" + id, "100%"},
		"/tests?repo=acme/app&list=slowest":    {"calc › TestSlow", "about 2s"},
		"/tests?repo=acme/app&list=quarantine": {"does not count", "mona", "/test/acme/app/" + id},
	} {
		code, body := get(path, mine)
		if code != http.StatusOK {
			t.Errorf("S5-60, S5-61: %s: %d", path, code)
		}
		for _, want := range wants {
			if !strings.Contains(body, want) {
				t.Errorf("S5-60, S5-61: %s lacks %q:\n%s", path, want, body)
			}
		}
	}
	if code, _ := get("/test/acme/app/"+id, []string{"acme/other"}); code != http.StatusNotFound {
		t.Errorf("S5-60: who may not read the repository gets %d", code)
	}
	if code, _ := get("/test/acme/app/0000000000000000", mine); code != http.StatusNotFound {
		t.Errorf("S5-60: a test that is not known: %d", code)
	}
	if code, body := get("/tests?repo=acme/app", []string{"acme/other"}); code != http.StatusOK || strings.Contains(body, "commits</td>") {
		t.Errorf("S5-61: who may not read the repository: %d\n%s", code, body)
	}
}
