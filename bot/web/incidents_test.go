package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/internal/sample"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/incident"
)

const dns = "getaddrinfo EAI_AGAIN registry.npmjs.org"

// The list has open incidents first; the page of one has cause, cases, time line and end. Both are
// complete without script, and show nothing of repositories that the viewer may not read.
func TestIncidentPagesS5_78(t *testing.T) {
	t.Parallel()
	past := &sample.Incidents{Repo: "acme/shop", At: noon.Add(-3 * time.Hour)}
	now := &sample.Incidents{Repo: "acme/web", At: noon.Add(-5 * time.Hour)}
	hidden := &sample.Incidents{Repo: "acme/hidden", At: noon.Add(-3 * time.Hour)}
	past.Fail(dns, 1, 4)
	past.End("mona")
	over := past.Newest()
	now.Fail("dial tcp: lookup db.internal: no such host", 1, 130)
	open := now.Newest()
	now.File(77)
	hidden.Fail("dial tcp: lookup secret.internal: no such host", 1, 3)
	on(t, []sample.Stream{past.Stream(), now.Stream(), hidden.Stream()}, func(t *testing.T, s shown) {
		d := s.to(t, []string{"acme/shop", "acme/web"})
		code, list := get(t, d, "/incidents")
		wellFormed(t, "/incidents", list)
		text := textOf(list)
		first, second := strings.Index(text, "db.internal"), strings.Index(text, "registry.npmjs.org")
		if code != http.StatusOK || first < 0 || second < first || strings.Contains(list, "secret.internal") {
			t.Errorf("S5-78: the list: %d\n%s", code, text)
		}
		if _, only := get(t, d, "/incidents?state=open"); !strings.Contains(only, "db.internal") || strings.Contains(only, "registry.npmjs.org") {
			t.Errorf("S5-78: those that are not over:\n%s", textOf(only))
		}
		if _, one := get(t, d, "/incidents?repo=acme/shop"); strings.Contains(one, "db.internal") || !strings.Contains(one, "registry.npmjs.org") {
			t.Errorf("S5-78: those of one repository:\n%s", textOf(one))
		}
		if _, home := get(t, d, "/"); !strings.Contains(textOf(home), "db.internal in acme/web: 130 checkpoints on hold") || strings.Contains(home, "registry.npmjs.org") || strings.Contains(home, "secret") {
			t.Errorf("S5-78: the overview:\n%s", textOf(home))
		}
		for path, wants := range map[string][]string{
			"/incident/acme/shop/" + over.ID: {"over", "env-dns", "registry.npmjs.org", "acme/shop#4", "restarted", "mona said that the cause is over", "Chosen to be restarted first", "It is over: every case was restarted"},
			"/incident/acme/web/" + open.ID:  {"open", "db.internal", "On hold 130", "acme/web#1", "30 more cases are not shown", "Issue #77", "closing its issue as completed", "and 107 more"},
		} {
			code, page := get(t, d, path)
			wellFormed(t, path, page)
			for _, want := range wants {
				if text := textOf(page); code != http.StatusOK || !strings.Contains(text, want) {
					t.Errorf("S5-78: %s: %d, it lacks %q:\n%s", path, code, want, text)
				}
			}
			if _, all := get(t, d, path+"?all=1"); strings.Contains(textOf(all), "cases are not shown") {
				t.Errorf("S5-78: %s: not all cases are shown", path)
			}
		}
		_, page := get(t, d, "/incident/acme/web/"+open.ID)
		for _, want := range []string{`href="/case/acme/web/1"`, `href="https://github.com/acme/web/issues/77"`, `href="https://github.com/acme/web/actions/runs/101"`} {
			if !strings.Contains(page, want) {
				t.Errorf("S5-78: no link %s", want)
			}
		}
		for _, path := range []string{"/incident/acme/hidden/" + hidden.Newest().ID, "/incident/acme/shop/none", "/incident/acme/shop/" + open.ID} {
			if code, _ := get(t, d, path); code != http.StatusNotFound {
				t.Errorf("S5-78: %s: %d", path, code)
			}
		}
		counts, err := s.feed.Incidents.Counts(t.Context())
		if c := counts[routing.IncidentEnvironment]; err != nil || c.Open != 2 || c.Opened != 3 || c.Resolved != 1 || c.OnHold != 133 || !c.Oldest.Equal(open.OpenedAt) {
			t.Errorf("S5-78: the figures: %+v, %v", counts, err)
		}
	})
}

// A case on hold links the page of its incident.
func TestCaseLinksIncidentS5_78(t *testing.T) {
	t.Parallel()
	x := tell(t, "acme/shop#12")
	ref := routing.IncidentRef{ID: "abc-1", Kind: routing.IncidentEnvironment, What: "env-dns: registry.npmjs.org"}
	f := failing("TestStock", "aa11")
	f.Class = routing.EnvIssue
	x.run(f)
	x.add(routing.IncidentEvent(x.c.Key, routing.IncidentChanged{Checkpoint: "ci", Ref: ref}, x.at))
	_, page := get(t, watched(t, nil, x.stream()), "/case/acme/shop/12")
	if !strings.Contains(page, `<a href="/incident/acme/shop/abc-1">env-dns: registry.npmjs.org</a>`) || !strings.Contains(textOf(page), "Put on hold for the incident env-dns") {
		t.Errorf("S5-78:\n%s", textOf(page))
	}
	x.add(routing.IncidentEvent(x.c.Key, routing.IncidentChanged{Checkpoint: "ci", Ref: ref, Restart: true}, x.at))
	if _, page := get(t, watched(t, nil, x.stream()), "/case/acme/shop/12"); strings.Contains(page, "/incident/acme") || !strings.Contains(textOf(page), "The incident is over: restarted") {
		t.Errorf("S5-78:\n%s", textOf(page))
	}
}

// What comes from runs stays text on the pages of incidents.
func TestIncidentPagesAreHarmlessS5_78(t *testing.T) {
	t.Parallel()
	evil := "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>\u202etxt.exe\x1b[31m\u200b"
	o := &sample.Incidents{Repo: "acme/shop", At: noon}
	cause := incident.Cause{Kind: routing.IncidentBase, Checkpoint: evil, Print: "aa", Suite: evil, Name: evil}
	member := incident.Member{Case: "acme/shop#1" + evil, Checkpoint: evil, Author: evil, Run: routing.Run{ID: evil, URL: "javascript:alert(1)", SHA: evil}}
	o.Record("", []incident.Payload{incident.Opened{ID: "x-1", Causes: []incident.Cause{cause}, Base: evil, Members: []incident.Member{member}, Red: []routing.Run{member.Run}}}, nil)
	o.Record(evil, o.Steps().Close("x-1", "s", true), nil)
	on(t, []sample.Stream{o.Stream()}, func(t *testing.T, s shown) {
		d := s.to(t, nil)
		for _, path := range []string{"/incidents", "/incident/acme/shop/x-1"} {
			code, page := get(t, d, path)
			if code != http.StatusOK {
				t.Errorf("S5-78: %s: %d", path, code)
			}
			harmless(t, path, page)
			wellFormed(t, path, page)
		}
	})
}
