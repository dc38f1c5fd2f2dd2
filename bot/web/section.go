package web

import (
	"cmp"
	"errors"
	"html/template"
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Section is a group of pages, such as those of a feature.
type Section struct {
	Links  []Link             // in the navigation
	Routes map[string]Handler // by the patterns of http.ServeMux
	// Pages holds the templates NAME.html, each of which defines "body"; nil: none.
	Pages fs.FS
	Funcs template.FuncMap // for Pages, in addition to the functions of all templates
}

// Link is a page in the navigation.
type Link struct {
	Path, Title string
	Order       int // the lowest comes first
}

// Handler returns the page of a request, or why there is none: ErrNotFound, or what failed.
type Handler func(v Viewer, r *http.Request) (Page, error)

// ErrNotFound is the error of a Handler for a page that does not exist, or that the viewer may not
// read.
var ErrNotFound = errors.New("not found")

// Page is the data of a template.
type Page struct {
	Name  string // of the template
	Title string
	Live  []string // names of the events after which the page is loaded again; none: it never is
	Query string   // of the events that the page listens to, e.g. repo=acme/shop
	Picks bool     // the viewer can select one of several repositories
	Body  any
}

// navigation returns the links of sections in order.
func navigation(sections []Section) []Link {
	var out []Link
	for _, s := range sections {
		out = append(out, s.Links...)
	}
	slices.SortStableFunc(out, func(a, b Link) int { return cmp.Compare(a.Order, b.Order) })
	return out
}

// templates parses the pages of sections by name.
func templates(sections []Section, shared template.FuncMap) (map[string]*template.Template, error) {
	out := map[string]*template.Template{}
	for _, s := range sections {
		if s.Pages == nil {
			continue
		}
		names, err := fs.Glob(s.Pages, "*.html")
		if err != nil {
			return nil, err
		}
		all := maps.Clone(shared)
		maps.Copy(all, s.Funcs)
		for _, name := range names {
			if name == layout {
				continue
			}
			t, err := template.New(layout).Funcs(all).ParseFS(pageFiles, "pages/"+layout)
			if err == nil {
				t, err = t.ParseFS(s.Pages, name)
			}
			if err != nil {
				return nil, err
			}
			out[strings.TrimSuffix(name, ".html")] = t
		}
	}
	return out, nil
}

// layout is the template around each page.
const layout = "layout.html"

// must returns a subdirectory of embedded files.
func must(f fs.FS, err error) fs.FS {
	if err != nil {
		panic(err) // the directory is embedded
	}
	return f
}
