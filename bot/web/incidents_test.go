package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/internal/sample"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/incident"
	"github.com/switchback-ci/switchback/routing/trackingissue"
)

// outage is the incidents of a repository over time, decided by the real rules.
type outage struct {
	t   testing.TB
	key string
	s   incident.State
	at  time.Time
	out []routing.Event
}

func newOutage(t testing.TB, repo string) *outage {
	return &outage{t: t, key: routing.StreamKey(repo, routing.StreamIncidents), at: noon.Add(-3 * time.Hour)}
}

func (o *outage) steps() incident.Steps {
	return incident.Steps{State: o.s, Now: o.at, Settings: incident.Defaults()}
}

func (o *outage) record(by string, ps []incident.Payload, err error) {
	o.t.Helper()
	if err != nil {
		o.t.Fatal(err)
	}
	for _, e := range incident.Events(ps, by, o.at) {
		e.Stream = o.key
		if o.s, err = o.s.Apply(e); err != nil {
			o.t.Fatal(err)
		}
		o.out = append(o.out, e)
	}
	o.at = o.at.Add(time.Minute)
}

// fails has pull requests of several authors fail by one line of a log.
func (o *outage) fails(line string, from, to int) {
	o.t.Helper()
	for n := from; n <= to; n++ {
		v := routing.Verdict{Checkpoint: "ci", Result: routing.Fail, Class: routing.EnvIssue, At: o.at, Run: routing.Run{ID: fmt.Sprint(100 + n), Attempt: 1, SHA: fmt.Sprintf("%040x", n)}}
		v.Failures = []routing.Failure{{Name: "TestStock", Kind: "test", Class: routing.EnvIssue, Message: line, Evidence: []routing.Evidence{{Text: line, Signal: "env-dns"}}}}
		repo, _, _ := strings.Cut(o.key, "!")
		ps, _, err := o.steps().See(incident.Seen{Case: fmt.Sprint(repo, "#", n), Author: fmt.Sprint("dev", n%3), Base: "main", Verdict: v})
		o.record("", ps, err)
	}
}

func (o *outage) stream() sample.Stream { return sample.Stream{Key: o.key, Events: o.out} }

const dns = "getaddrinfo EAI_AGAIN registry.npmjs.org"

// over has the newest incident end: said to be over, one case tried, and the others restarted.
func (o *outage) over() incident.Incident {
	o.t.Helper()
	in := o.s.Incidents[len(o.s.Incidents)-1]
	o.record("mona", o.steps().Close(in.ID, "closed/7", false), nil)
	o.record("", o.steps().Due(in.ID), nil)
	in, _ = o.s.ByID(in.ID)
	o.record("", []incident.Payload{incident.MemberRestarted{ID: in.ID, Case: in.Canary.Case, Checkpoint: "ci"}}, nil)
	ps, err := o.steps().Pass(in.Canary.Case, "ci", "abc")
	o.record("", ps, err)
	in, _ = o.s.ByID(in.ID)
	for _, m := range in.Waiting() {
		o.record("", []incident.Payload{incident.MemberRestarted{ID: in.ID, Case: m.Case, Checkpoint: "ci"}}, nil)
	}
	o.record("", o.steps().Due(in.ID), nil)
	in, _ = o.s.ByID(in.ID)
	return in
}

// The list has open incidents first; the page of one has cause, cases, time line and end. Both are
// complete without script, and show nothing of repositories that the viewer may not read.
func TestIncidentPagesS5_78(t *testing.T) {
	t.Parallel()
	past, now, hidden := newOutage(t, "acme/shop"), newOutage(t, "acme/web"), newOutage(t, "acme/hidden")
	past.fails(dns, 1, 4)
	over := past.over()
	now.at = noon.Add(-5 * time.Hour)
	now.fails("dial tcp: lookup db.internal: no such host", 1, 130)
	open := now.s.Incidents[0]
	now.record("", []incident.Payload{incident.WorkDone{Done: trackingissue.Done{ID: open.ID, Work: trackingissue.WorkIssue, Gen: open.Gen, Number: 77}}}, nil)
	hidden.fails("dial tcp: lookup secret.internal: no such host", 1, 3)
	on(t, []sample.Stream{past.stream(), now.stream(), hidden.stream()}, func(t *testing.T, s shown) {
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
		for _, path := range []string{"/incident/acme/hidden/" + hidden.s.Incidents[0].ID, "/incident/acme/shop/none", "/incident/acme/shop/" + open.ID} {
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
	o := newOutage(t, "acme/shop")
	cause := incident.Cause{Kind: routing.IncidentBase, Checkpoint: evil, Print: "aa", Suite: evil, Name: evil}
	member := incident.Member{Case: "acme/shop#1" + evil, Checkpoint: evil, Author: evil, Run: routing.Run{ID: evil, URL: "javascript:alert(1)", SHA: evil}}
	o.record("", []incident.Payload{incident.Opened{ID: "x-1", Causes: []incident.Cause{cause}, Base: evil, Members: []incident.Member{member}, Red: []routing.Run{member.Run}}}, nil)
	o.record(evil, o.steps().Close("x-1", "s", true), nil)
	on(t, []sample.Stream{o.stream()}, func(t *testing.T, s shown) {
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
