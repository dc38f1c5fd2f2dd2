package plan

import (
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

func TestPlainText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		" a\x00b \x7f\tc\r\n": "a b c", "é  ü": "é ü", "${{ x }}": "$ {{ x }}", "": "",
		strings.Repeat("é", 120): strings.Repeat("é", 120), strings.Repeat("é", 121): strings.Repeat("é", 119) + "…",
	} {
		if got := plain(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
	for title, want := range map[string]string{"": "api", " api ": "api", "The API": "api: The API"} {
		if got := label("api", title); got != want {
			t.Errorf("%q: %q", title, got)
		}
	}
}

// Every port has a job of its own, whatever its id looks like to YAML or with
// its dots taken for hyphens, and its needs lead to the jobs they mean.
func TestWorkflowNames(t *testing.T) {
	t.Parallel()
	p, err := Compile([]File{{"p.yml", []byte(`
- {id: a.b, depends_on: [a-b, a-b-2]}
- {id: a-b, title: "two\nlines\t${{ github.token }}"}
- {id: a-b-2, depends_on: "007"}
- {id: 007}
- {id: true, depends_on: 1e3}
- {id: 1e3, title: 1e3}
`)}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := Workflow(p, DefaultSettings(), WorkflowOptions{Name: "true", Plan: "p.yml", Uses: "x/y@v1"})
	if err != nil {
		t.Fatal(err)
	}
	var w struct {
		Name any
		Jobs map[string]struct {
			Name  any
			Needs []string
			Steps []struct{ With map[string]any }
		}
	}
	if err := yaml.Unmarshal(out, &w); err != nil {
		t.Fatalf("%v in\n%s", err, out)
	}
	last := w.Jobs["collect"]
	if delete(w.Jobs, "collect"); len(last.Needs) != p.Len() || last.Steps[1].With["command"] != "collect" {
		t.Errorf("the last job does not wait for all: %+v", last)
	}
	if w.Name != "true" || len(w.Jobs) != p.Len() {
		t.Errorf("%v with %d jobs of %d ports:\n%s", w.Name, len(w.Jobs), p.Len(), out)
	}
	portOf := map[string]string{}
	for name, j := range w.Jobs {
		id, ok := j.Steps[1].With["port"].(string)
		if _, is := j.Name.(string); !ok || !is {
			t.Errorf("%s: %v is no text", name, j)
		}
		portOf[name] = id
	}
	for name, j := range w.Jobs {
		var needs []string
		for _, n := range j.Needs {
			needs = append(needs, portOf[n])
		}
		if got, want := strings.Join(needs, " "), strings.Join(p.DependsOn(portOf[name]), " "); got != want {
			t.Errorf("%s needs %q, want %q", portOf[name], got, want)
		}
	}
	if got := w.Jobs["port-a-b"]; portOf["port-a-b"] != "a-b" || got.Name != "a-b: two lines $ {{ github.token }}" {
		t.Errorf("%+v", got)
	}
	if w.Jobs["port-1e3"].Name != "1e3" {
		t.Errorf("%+v", w.Jobs["port-1e3"])
	}
}
