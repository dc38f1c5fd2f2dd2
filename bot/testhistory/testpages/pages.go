// Package testpages holds the dashboard's pages of tests: the slowest, the flakiest, those in
// quarantine, and the history of each.
package testpages

import (
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/bot/testhistory"
	"github.com/switchback-ci/switchback/bot/web"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/activity"
	"github.com/switchback-ci/switchback/routing/history"
	"github.com/switchback-ci/switchback/routing/quarantine"
)

//go:embed pages
var files embed.FS

// mostListed is how many tests a list shows, and mostShown how many runs the page of a test.
const (
	mostListed = 50
	mostShown  = 60
)

// Section returns the pages of tests. Names may be nil if no repository was renamed.
func Section(tests *testhistory.Cache, s *eventstream.Store, names web.Names, now func() time.Time) (web.Section, error) {
	if names == nil {
		names = web.Same{}
	}
	if now == nil {
		now = time.Now
	}
	p := &pages{tests: tests, cases: s.Cases, names: names, now: now}
	templates, err := fs.Sub(files, "pages")
	return web.Section{
		Links:  []web.Link{{Path: "/tests", Title: "Tests", Order: 45}},
		Routes: map[string]web.Handler{"GET /tests": p.list, "GET /test/{owner}/{repo}/{id}": p.one},
		Pages:  templates,
		Funcs: template.FuncMap{
			"testPath": p.path, "about": about, "trend": trend, "rate": rate, "status": statusName, "day": day,
		},
	}, err
}

// pages are the list and the page of a test.
type pages struct {
	tests *testhistory.Cache
	cases eventstream.Cases
	names web.Names
	now   func() time.Time
}

// path returns the path of the page of a test.
func (p *pages) path(repo string, t testhistory.Test) string {
	return "/test/" + (&url.URL{Path: p.names.Now(repo) + "/" + t.Key()}).EscapedPath()
}

// The lists.
const (
	slowest     = "slowest"
	flakiest    = "flakiest"
	quarantined = "quarantine"
)

type view struct {
	Name, Title string
	Query       template.URL
	Current     bool
}

type list struct {
	Repo  string
	Repos []string
	Views []view
	View  string
	Rows  []testhistory.Ranked
	In    []entry
}

// entry is a test in quarantine, or on its way there.
type entry struct {
	Test testhistory.Test
	quarantine.Entry
	Excused bool
	Issue   string // its address, "" if it has none
}

var live = []string{string(activity.RunAnalyzed)}

func (p *pages) list(v web.Viewer, r *http.Request) (web.Page, error) {
	at := r.URL.Query().Get("list")
	if !slices.Contains([]string{slowest, flakiest, quarantined}, at) {
		at = flakiest
	}
	b := list{View: at}
	page := web.Page{Name: "tests", Title: "Tests", Live: live, Query: web.RepoQuery(p.names, r), Picks: true}
	repos := v.Repos
	if len(repos) != 1 {
		var err error
		if repos, err = p.cases.Repos(r.Context(), v.Repos); err != nil {
			return page, err
		}
	}
	for _, name := range repos {
		b.Repos = append(b.Repos, p.names.Now(name))
	}
	for _, x := range []view{{Name: flakiest, Title: "Flakiest"}, {Name: slowest, Title: "Slowest"}, {Name: quarantined, Title: "Quarantine"}} {
		q := url.Values{"list": {x.Name}}
		if repo := r.URL.Query().Get("repo"); repo != "" {
			q.Set("repo", repo)
		}
		x.Query, x.Current = template.URL("?"+q.Encode()), x.Name == at //nolint:gosec // encoded
		b.Views = append(b.Views, x)
	}
	if len(repos) != 1 {
		page.Body = b
		return page, nil
	}
	b.Repo = repos[0]
	set, err := p.tests.Of(r.Context(), b.Repo)
	if err != nil {
		return page, err
	}
	switch at {
	case slowest:
		b.Rows = set.Slowest(mostListed)
	case flakiest:
		b.Rows = set.Flakiest(mostListed)
	default:
		b.In = p.entries(set)
	}
	page.Body = b
	return page, nil
}

// entries are the tests that have an issue which waits for somebody.
func (p *pages) entries(set *testhistory.Set) []entry {
	var out []entry
	for _, e := range set.Entries() {
		if t, ok := set.Test(e.ID); ok && e.Open() {
			out = append(out, entry{t, e, e.Excuses(p.now()), e.URL})
		}
	}
	return out
}

// test is the page of one.
type test struct {
	testhistory.Test
	history.Summary
	Repo   string
	Owners []string
	Entry  *entry
	Shown  []history.Observation // newest first
	Bars   []bar
	Width  int
}

// bar is a run in the drawing of durations.
type bar struct {
	X, Y, Height int
	Kind, Text   string
}

// The size of the drawing, in SVG user units.
const (
	barWidth    = 12
	drawnBottom = 120
	drawnTop    = 10
)

func (p *pages) one(v web.Viewer, r *http.Request) (web.Page, error) {
	repo := p.names.Kept(r.PathValue("owner") + "/" + r.PathValue("repo"))
	if !v.May(repo) {
		return web.Page{}, web.ErrNotFound
	}
	set, err := p.tests.Of(r.Context(), repo)
	if err != nil {
		return web.Page{}, err
	}
	t, ok := set.Test(r.PathValue("id"))
	if !ok {
		return web.Page{}, web.ErrNotFound
	}
	obs := set.Observations(t)
	b := test{Test: t, Summary: history.Summarize(obs), Repo: repo, Owners: set.Owners(t)}
	if e, ok := set.Entry(t); ok && e.Open() {
		b.Entry = &entry{t, e, e.Excuses(p.now()), e.URL}
	}
	obs = obs[max(0, len(obs)-mostShown):]
	b.Bars, b.Width = drawn(obs), mostShown*barWidth
	b.Shown = slices.Clone(obs)
	slices.Reverse(b.Shown)
	return web.Page{Name: "test", Title: web.OneLine(t.Title()), Live: live, Body: b}, nil
}

// drawn draws how long each run took, in doublings, and how it ended.
func drawn(obs []history.Observation) []bar {
	most := uint8(1)
	for _, o := range obs {
		most = max(most, o.Steps)
	}
	out := make([]bar, 0, len(obs))
	for i, o := range obs {
		height := 3
		if o.Timed {
			height = max(3, int(o.Steps)*(drawnBottom-drawnTop)/int(most))
		}
		kind := map[history.Status]string{history.Passed: "passed", history.Failed: "called", history.Flaky: "handed", history.Skipped: "else"}[o.Status]
		text := statusName(o.Status) + ", " + o.At.UTC().Format("2006-01-02 15:04 UTC")
		if o.Timed {
			text += ", " + about(history.DurationOf(o.Steps))
		}
		out = append(out, bar{i * barWidth, drawnBottom - height, height, kind, text})
	}
	return out
}

// about writes a duration that is known in doublings.
func about(d time.Duration) string {
	switch {
	case d <= 0:
		return "under 1 ms"
	case d < time.Second:
		return fmt.Sprintf("about %d ms", d.Milliseconds())
	}
	return "about " + routing.ShortDuration(d)
}

// trend says how the newest third of the runs compares with the oldest.
func trend(doublings int) string {
	switch {
	case doublings > 0:
		return fmt.Sprintf("%d times as long as before", 1<<min(doublings, 20))
	case doublings < 0:
		return fmt.Sprintf("once %d times as long", 1<<min(-doublings, 20))
	}
	return "as before"
}

func rate(share float64) string { return fmt.Sprintf("%.0f%%", 100*share) }

func day(t time.Time) string { return t.UTC().Format("2006-01-02") }

// statusName names a status for people.
func statusName(s history.Status) string {
	if s == history.Flaky {
		return "failed and passed"
	}
	return s.String()
}
