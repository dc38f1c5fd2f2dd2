// Package planpages holds the dashboard's pages of plans, ports and feedback requests.
package planpages

import (
	"embed"
	"html/template"
	"io/fs"
	"net/url"

	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/bot/web"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/activity"
)

//go:embed pages
var files embed.FS

// pages are the pages of plans and of feedback requests.
type pages struct {
	plans eventstream.Plans
	log   *eventstream.Log
	names web.Names
}

// Section returns the pages. names may be nil if no repository was renamed.
func Section(s *eventstream.Store, names web.Names) (web.Section, error) {
	if names == nil {
		names = web.Same{}
	}
	templates, err := fs.Sub(files, "pages")
	p := pages{s.Plans, s.Log, names}
	return web.Section{
		Links: []web.Link{{Path: "/plans", Title: "Plans", Order: 30}, {Path: "/feedback", Title: "Feedback", Order: 60}},
		Routes: map[string]web.Handler{
			"GET /plans":                      p.list,
			"GET /plan/{owner}/{repo}/{plan}": p.one,
			"GET /feedback":                   p.feedback,
		},
		Pages: templates,
		Funcs: template.FuncMap{
			"planPath":  p.path,
			"eventText": eventText,
			"svgSide":   func(n int) int { return n + 6 },
			"svgBar":    func(b box) int { return b.Y + b.Height - 6 },
			"svgText":   func(x int) int { return x + 10 },
			"svgLine":   func(y, d int) int { return y + d },
		},
	}, err
}

// path returns the path of the page of a plan, below /plan/.
func (p pages) path(key string) string {
	plan, _ := routing.ParsePlanKey(key)
	return (&url.URL{Path: p.names.Now(activity.Repo(key)) + "/" + plan}).EscapedPath()
}
