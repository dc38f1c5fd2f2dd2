// Package scaffold writes the first workflows of a repository: it detects the tools that run its
// tests, and renders a workflow that runs them without any right to write, one that routes what came
// of it, and a configuration. What it reads of a repository decides only between texts of its own:
// nothing but the names of folders and workflows is copied.
package scaffold

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"text/template"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/routing/actionpins"
)

//go:embed templates
var templates embed.FS

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"uses": func(action string) string {
		p, _ := actionpins.Of(action) // Ref panics where there is none
		return actionpins.Ref(action) + " # " + p.Version
	},
	"scalar": scalar,
	"lines":  func(s string) []string { return strings.Split(s, "\n") },
}).ParseFS(templates, "templates/*.tmpl"))

// Where the files are written.
const (
	TestWorkflow  = ".github/workflows/ci.yml"
	RouteWorkflow = ".github/workflows/switchback.yml"
)

// Options say what the files are for.
type Options struct {
	Action   string   // the Action that routes, with its version
	Version  string   // the release whose schema and documentation the configuration names
	Existing []string // names of workflows that run the tests already; with them no test workflow is made
}

// File is a file to be written.
type File struct {
	Path string // below the root of the repository, with slashes
	Text string
}

// view is what the templates show.
type view struct {
	Options
	Found
	Name      string   // of the test workflow
	Workflows []string // whose runs are routed
}

// Artifact is the name of the artifact with the output of a project: the only one has no suffix.
func (v view) Artifact(p Project) string {
	if len(v.Projects) == 1 {
		return "test-output"
	}
	return "test-output-" + p.ID
}

// Files returns the workflows and the configuration for a repository. A file whose place is taken by
// one with the other suffix of YAML has that name.
func Files(f Found, o Options) ([]File, error) {
	v := view{Options: o, Found: f, Name: "CI", Workflows: o.Existing}
	if len(o.Existing) == 0 {
		for n := 2; f.named(v.Name, TestWorkflow); n++ {
			v.Name = "Tests"
			if n > 2 {
				v.Name += " " + strconv.Itoa(n-1)
			}
		}
		v.Workflows = []string{v.Name}
	}
	var out []File
	for _, p := range []struct{ page, path string }{{"ci.yml.tmpl", TestWorkflow}, {"switchback.yml.tmpl", RouteWorkflow}, {"config.yml.tmpl", config.Path}} {
		if p.path == TestWorkflow && len(o.Existing) > 0 {
			continue
		}
		var b bytes.Buffer
		if err := pages.ExecuteTemplate(&b, p.page, v); err != nil {
			return nil, err
		}
		out = append(out, File{f.place(p.path), b.String()})
	}
	return out, nil
}

// named reports whether a workflow other than that at own has a name.
func (f Found) named(name, own string) bool {
	for file, n := range f.Workflows {
		if n == name && file != f.place(own) {
			return true
		}
	}
	return false
}

// place returns name, or the name with the other suffix of YAML if such a file is there.
func (f Found) place(name string) string {
	other := strings.TrimSuffix(name, path.Ext(name)) + ".yaml"
	if f.Present[other] && !f.Present[name] {
		return other
	}
	return name
}

// Conflicts returns those of files that are there already.
func (f Found) Conflicts(files []File) []string {
	var out []string
	for _, x := range files {
		if f.Present[x.Path] {
			out = append(out, x.Path)
		}
	}
	return out
}

// plainScalar are texts that YAML takes as they stand, for a text and nothing else.
var plainScalar = regexp.MustCompile(`^[A-Za-z./][A-Za-z0-9 _./@+-]*$`)

var notText = regexp.MustCompile(`(?i)^(true|false|yes|no|on|off|y|n|null)$|^\.|[ ]$`)

// scalar writes a text as a YAML scalar.
func scalar(s string) string {
	if plainScalar.MatchString(s) && !notText.MatchString(s) {
		return s
	}
	return strconv.Quote(s)
}

// Summary says in one line for each project what was found, and by what.
func (f Found) Summary() string {
	var b strings.Builder
	for _, p := range f.Projects {
		fmt.Fprintf(&b, "  %s in %s (%s)\n", p.Tool, p.Where(), p.By)
	}
	return b.String()
}
