package page

import (
	"testing"
	"testing/fstest"

	"github.com/switchback-ci/switchback/bot/render/catalog"
	"github.com/switchback-ci/switchback/bot/render/markdown"
)

func TestNoTemplatePrintsWhatIsNotSafe(t *testing.T) {
	t.Parallel()
	const hostile = "@octocat closes #1 | <img src=x>"
	for tmpl, want := range map[string]string{
		"{{.Raw}}":                              "`@octocat` closes `#1 | <img src=x>`",
		"{{if .N}}{{.Raw}}{{else}}x{{end}}":     "`@octocat` closes `#1 | <img src=x>`",
		"{{if not .N}}x{{else}}{{.Raw}}{{end}}": "`@octocat` closes `#1 | <img src=x>`",
		"{{with .Raw}}{{.}}{{end}}":             "`@octocat` closes `#1 | <img src=x>`",
		"{{range .All}}{{.}}{{end}}":            "`@octocat` closes `#1 | <img src=x>`",
		"{{$x := .Raw}}{{$x}}":                  "`@octocat` closes `#1 | <img src=x>`",
		`{{printf "%s" .Raw}}`:                  "`@octocat` closes `#1 | <img src=x>`",
		`{{template "b" .}}`:                    "`@octocat` closes `#1 | <img src=x>`",
		"{{code .Raw}}":                         "`" + hostile + "`",
		"{{row .Raw .N}}":                       "| `@octocat` closes `#1 \\| <img src=x>` | 3 |",
		"{{.Safe}} {{.N}}":                      "**x** 3",
	} {
		files := fstest.MapFS{"a.tmpl": {Data: []byte(`{{define "b"}}{{.Raw}}{{end}}{{define "a"}}` + tmpl + "{{end}}")}}
		data := map[string]any{"Raw": hostile, "All": []string{hostile}, "N": 3, "Safe": markdown.Text("**x**")}
		if got := New(files, "a.tmpl").Print(catalog.English, "a", data); string(got) != want {
			t.Errorf("%s\n got %s\nwant %s", tmpl, got, want)
		}
	}
}
