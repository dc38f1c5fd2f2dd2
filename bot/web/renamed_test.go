package web_test

import (
	"context"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/bot/web"
	"github.com/switchback-ci/switchback/bot/web/sse"
	"github.com/switchback-ci/switchback/internal/sample"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/activity"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// moved are the Names of acme/shop, which was renamed to acme/store, and of another repository,
// which has the name acme/shop now.
type moved struct{}

func (moved) Now(kept string) string {
	switch kept {
	case "acme/shop":
		return "acme/store"
	case "acme/shop~7":
		return "acme/shop"
	}
	return kept
}

func (moved) Kept(now string) string {
	switch now {
	case "acme/store":
		return "acme/shop"
	case "acme/shop":
		return "acme/shop~7"
	}
	return now
}

// A page listens to events by the names under which they are published.
func TestPagesOfARenamedRepositoryAreLive(t *testing.T) {
	t.Parallel()
	streams := sample.Plan(sample.PlanOptions{Seed: 1, Repo: "acme/shop", Name: "p", Ports: 3, Begun: 2, Start: noon})
	byKey := map[string][]routing.Event{}
	f := eventstream.New(opened(t, database.SQLite))
	for _, key := range []string{"acme/shop#12", "acme/shop~7#12"} {
		x := tell(t, key)
		x.run(failing("TestA", "aa"))
		streams = append(streams, x.stream())
	}
	for _, s := range streams {
		if _, err := f.Projector.Fill(t.Context(), []eventstream.Stream{{Key: s.Key, Events: s.Events}}); err != nil {
			t.Fatal(err)
		}
		byKey[s.Key] = s.Events
	}
	d, err := web.New(web.Options{Store: f, Sections: sections(f, moved{}), Gate: reader{}, Names: moved{}, GitHub: "https://github.com",
		Stream: func(_ context.Context, key string) ([]routing.Event, error) { return byKey[key], nil }})
	if err != nil {
		t.Fatal(err)
	}
	told, err := f.Log.After(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	listens := regexp.MustCompile(`data-events="/events\?([^"]*)"`)
	for path, of := range map[string]string{"/case/acme/store/12": "acme/shop#12", "/case/acme/shop/12": "acme/shop~7#12", "/plan/acme/store/p": "acme/shop!plans/p",
		"/cases?repo=acme/store": "acme/shop#12", "/?repo=acme/shop": "acme/shop~7#12", "/failures?repo=acme/shop~7": "acme/shop~7#12"} {
		_, page := get(t, d, path)
		m := listens.FindStringSubmatch(page)
		if m == nil {
			t.Errorf("%s listens to nothing: %s", path, page)
			continue
		}
		q, err := url.ParseQuery(html.UnescapeString(m[1]))
		if err != nil {
			t.Fatal(err)
		}
		heard, mixed := 0, 0
		for _, e := range told {
			was := e
			e = sse.Renamed(e, moved{}.Now(e.Repo))
			if repo, session := q.Get("repo"), q.Get("session"); repo != "" && repo != e.Repo || session != "" && !e.Of(session) {
				continue
			}
			if was.Stream == of {
				heard++
			} else if was.Repo != activity.Repo(of) {
				mixed++
			}
		}
		if heard == 0 || mixed > 0 {
			t.Errorf("%s hears %q: %d events of its own, %d of another repository", path, m[1], heard, mixed)
		}
	}
}

// Text from ports and their workers is as hostile as that from runs.
func TestHostilePlan(t *testing.T) {
	t.Parallel()
	evil := "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>\u202etxt.exe\x1b[31m\u200b"
	id := strings.ReplaceAll(evil, "/", "")
	long := strings.Repeat("long ", 5000)
	var r plan.BuildState
	var planEvents []routing.Event
	add := func(e routing.Event) {
		t.Helper()
		planEvents = append(planEvents, e)
		var err error
		if r, err = r.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	add(r.Begin(plan.Build{ID: "b1" + evil, URL: "javascript:alert(1)", At: noon}))
	for _, e := range r.Read(map[string]feedback.Links{id: {}, "b": {DependsOn: []string{id}}}, noon) {
		add(e)
	}
	add(r.Hand([]plan.Entry{{ID: id, Hash: "h"}, {ID: "b", Hash: "h"}}, 1, "1", "//evil.example.com/phish", noon))
	add(r.End(map[string]plan.Known{"b": {Standing: plan.IsFailed, Build: r.Build.ID, Reason: evil + long, URL: "javascript:alert(1)"}}, noon))
	operator, impl, _ := plan.PairSessions(r.Build.ID, id)
	loop := plan.Loop{ID: "l1", Port: id, Operator: operator.ID, Status: plan.Running, Attempt: 1, Phase: plan.Implementing, MaxRetries: 3, StartedAt: noon, Last: &plan.TestFeedback{}}
	for range 1000 {
		loop.Last.FailedTests = append(loop.Last.FailedTests, plan.FailedTest{Name: evil + long})
	}
	var work []routing.Event
	for _, e := range []plan.Event{{Kind: plan.SessionStart, Session: operator.ID, Started: &operator}, {Kind: plan.PairChanged, Pair: &loop},
		{Kind: plan.WorkerProgress, Session: impl.ID, Progress: &plan.Progress{Session: impl.ID, Port: id, Progress: 0.5, Task: evil + long}}} {
		e.At = noon
		work = append(work, e.Record())
	}
	streams := []sample.Stream{{Key: routing.PlanKey("acme/shop", "p"), Events: planEvents}, {Key: routing.PortKey("acme/shop", "p", id), Events: work}}
	d := watched(t, nil, streams...)
	for _, path := range []string{"/plans", "/plan/acme/shop/p", "/"} {
		w := httptest.NewRecorder()
		d.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		page := w.Body.String()
		harmless(t, path, page)
		if w.Code != http.StatusOK || len(page) > 60_000 || strings.Contains(page, `href="//`) {
			t.Errorf("%s: %d, %d bytes, or a link to another site", path, w.Code, len(page))
		}
	}
	if _, page := get(t, d, "/plan/acme/shop/p"); !strings.Contains(page, "980 more") || !strings.Contains(page, "is at 50%") {
		t.Error("the page does not say what it leaves out, or what happened")
	}
}

// A plan whose ports wait for each other can only be written to the branch by hand.
func TestCircularPlan(t *testing.T) {
	t.Parallel()
	var r plan.BuildState
	planEvents := []routing.Event{r.Begin(plan.Build{ID: "b1", At: noon})}
	r, err := plan.FoldBuildState(planEvents)
	if err != nil {
		t.Fatal(err)
	}
	planEvents = append(planEvents, r.Read(map[string]feedback.Links{"root": {}, "a": {DependsOn: []string{"root", "b"}}, "b": {DependsOn: []string{"a"}}}, noon)...)
	d := watched(t, nil, sample.Stream{Key: routing.PlanKey("acme/shop", "p"), Events: planEvents})
	for _, path := range []string{"/plans", "/plan/acme/shop/p"} {
		if code, page := get(t, d, path); code != http.StatusOK || !strings.Contains(page, "ready") {
			t.Errorf("%s: %d %s", path, code, page)
		}
	}
}
