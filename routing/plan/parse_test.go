package plan

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

const full = `---
id: payment-api
title: "Payments: API"
status: draft
priority: high
depends_on:
  - model
  - 7
  - model
parent: model
impl: ./agent --brief "$SWITCHBACK_BRIEF"
test:
  - go vet ./...
  - go test ./pay/...
timeout: 1h30m
max_iterations: 0
runs_on: [self-hosted, linux]
env:
  LEVEL: 3
  EMPTY: ""
paths: [pay/**/*.go, ./go.mod]
token_budget: 200_000
---

# Payments

Write the API.
`

func TestParse(t *testing.T) {
	t.Parallel()
	want := Spec{
		ID: "payment-api", Title: "Payments: API", Status: Draft, Priority: 200, DependsOn: []string{"model", "7"}, Parent: "model",
		Impl: &Command{Run: []string{`./agent --brief "$SWITCHBACK_BRIEF"`}}, Test: &Command{Run: []string{"go vet ./...", "go test ./pay/..."}},
		RunsOn: []string{"self-hosted", "linux"}, Env: map[string]string{"LEVEL": "3", "EMPTY": ""}, Paths: []string{"pay/**/*.go", "go.mod"},
		TokenBudget: 200_000, Brief: "# Payments\n\nWrite the API.", File: "a.md", Line: 2,
	}
	limit, none := 90*time.Minute, 0
	want.Timeout, want.MaxIterations = &limit, &none
	yml := strings.Replace(strings.TrimPrefix(strings.Split(full, "---\n\n")[0], "---\n"), "id:", "brief: |\n  # Payments\n\n  Write the API.\nid:", 1)
	for name, f := range map[string]File{
		"S2-98 Markdown with front matter":     {"a.md", []byte(full)},
		"S2-98 lines that end as on Windows":   {"a.md", []byte("\xef\xbb\xbf" + strings.ReplaceAll(full, "\n", "\r\n"))},
		"S2-98 YAML":                           {"a.yml", []byte(yml)},
		"S2-54 a dependency twice counts once": {"a.md", []byte(full)},
	} {
		t.Run(name, func(t *testing.T) {
			specs, problems := Parse(f)
			if len(specs) != 1 || len(problems) > 0 {
				t.Fatalf("%d ports, %v", len(specs), problems)
			}
			got := specs[0]
			got.lines, got.deps, got.File = nil, nil, "a.md"
			if f.Name != "a.md" {
				got.Line = 2
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("\n%+v, want\n%+v", got, want)
			}
		})
	}
}

func TestParseSeveral(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"documents":  "id: a\n---\nid: b\n---\n# nothing\n",
		"list":       "- id: a\n- {id: b}\n",
		"list below": "ports:\n  - id: a\n  - id: b\n",
	} {
		specs, problems := Parse(File{"p.yaml", []byte(text)})
		if len(specs) != 2 || len(problems) > 0 || specs[0].ID != "a" || specs[1].ID != "b" {
			t.Errorf("%s: %+v %v", name, specs, problems)
		}
	}
	specs, _ := Parse(File{"p.yaml", []byte("id: a\n")})
	if s := specs[0]; s.Status != Pending || s.Priority != DefaultPriority || s.Timeout != nil || s.MaxIterations != nil {
		t.Errorf("the defaults are %+v", s)
	}
}

// Every mistake of every port is told at once, at its line, with what to do.
func TestProblems(t *testing.T) {
	t.Parallel()
	files := []File{
		{"a.md", []byte(`---
id: a
titel: A
status: finished
priority: urgent
timeout: 30
max_iterations: 11
runs_on: ${{ vars.RUNNER }}
env: {1A: x, SWITCHBACK_X: y, FINE: z, NONE: }
paths: [/etc/passwd, "../x", "a[", "!b"]
token_budget: -1
impl: {workflow: .github/workflows/a.yml, with: x}
test: []
depends_on: [a, z, b, "not an id"]
parent: z
---
`)},
		{"b.yml", []byte("id: b\ndepends_on: c\nparent: b\nid: x\ntitle:\n")},
		{"c.yml", []byte("depends_on: []\nid: c\ndepends_on: [d]\n")},
		{"c2.yml", []byte("id: c\ndepends_on: [b]\n")},
		{"d.yml", []byte("id: d\ndepends_on:\n  - e\n  - b\n")},
		{"e.yml", []byte("id: e\ndepends_on: [d]\nmax_iterations: -1\n")},
		{"f.yml", []byte("title: no id\nimpl: {ref: main}\n")},
		{"g.yml", []byte("id: B\nmax_iterations: 2.5\nenv: [a]\n")},
		{"h.yml", []byte("id: h\n  x: [\n")},
		{"i.md", []byte("# no front matter\n")},
		{"j.md", []byte("---\nid: j\n")},
		{"k.yml", []byte("# only a comment\n")},
		{"l.yml", []byte("- just a text\n")},
		{"m.txt", []byte("id: m\n")},
		{"n.yml", []byte("id: n\nenv: &e {A: b}\n---\nid: o\nenv: *e\n")},
		{"q.yml", []byte("id: q\ntitle: \"a\x00\"\n")},
		{"v.yml", []byte("id: v\nimpl: \"a\\0b\"\nenv: {A: \"\\0\"}\ndepends_on: b, u\ntitle: @x\n")},
		{"w.yml", []byte("id: w\nimpl: \"a\\0b\"\nenv: {A: \"\\0\"}\ndepends_on: b, u\n")},
		{"r.md", []byte("---\nid: r\nbrief: x\n---\nbody\n")},
		{"t.md", []byte("---\nid: t\n  x: [\n---\n")},
		{"u.yml", []byte("- id: u\n- title: x\n")},
		{"s.yml", []byte("id: s\n<<: {title: x}\ntimeout: -3m\npriority: 1.5\nimpl: {workflow: a.yml, workflow: b.yml}\n")},
	}
	_, err := Compile(files)
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%v", err)
	}
	want := []string{
		`a.md:3: unknown key "titel"; did you mean "title"?`,
		`a.md:4: status is "finished"; known are complete, `,
		`a.md:5: priority is "urgent"; write a whole number from 0 to 1000000, or critical, high, medium, low`,
		`a.md:6: timeout is "30"; write a duration up to 120h, e.g. 30m`,
		`a.md:7: max_iterations is "11"; write a whole number from 0 to 10`,
		`a.md:8: runs_on has "${{ vars.RUNNER }}"; write labels`,
		`a.md:9: env has "1A"`, `a.md:9: env sets SWITCHBACK_X`, `a.md:9: env has no value for NONE`,
		`a.md:10: paths has "/etc/passwd"`, `a.md:10: paths has "../x"`, `a.md:10: paths has "a["`, `a.md:10: paths has "!b"`,
		`a.md:11: token_budget is "-1"`,
		`a.md:12: impl.workflow is ".github/workflows/a.yml"; give the file name alone`, `a.md:12: impl has the unknown key "with"`,
		`a.md:13: test is an empty list`,
		`a.md:14: port "a" depends on itself; remove that`, `a.md:14: port "a" depends on "z", which is none of the ports`, `a.md:14: an item of depends_on is "not an id"`,
		`a.md:15: parent "z" is none of the ports`,
		`b.yml:3: port "b" is its own parent`,
		`b.yml:4: key "id" stands in line 1 already; keep one of them`,
		`b.yml:5: title has no value`,
		`c.yml:3: key "depends_on" stands in line 1 already`,
		`c2.yml:1: id "c" is taken by c.yml:2`,
		`d.yml:3: ports depend on each other in a circle: d → e → d; remove one`, // c's first depends_on counts
		`e.yml:3: max_iterations is "-1"`,
		`f.yml:1: id is missing; give the port a short name`, `f.yml:2: impl names no workflow`,
		`g.yml:1: id "B" differs from "b" in b.yml:1 by capitals alone`, `g.yml:2: max_iterations is "2.5"`, `g.yml:3: env is a list; write a mapping`,
		`h.yml:2: not valid YAML: mapping values are not allowed`,
		`i.md:1: no front matter; begin the file with a line ---`,
		`j.md:1: the front matter does not end`,
		`k.yml:1: is empty; a port needs at least an id`,
		`l.yml:1: is not a mapping of keys to values`,
		`m.txt: is neither Markdown (.md) nor YAML (.yml, .yaml)`,
		`n.yml:5: *e: aliases are not supported`,
		`q.yml:2: byte 0x00 is no text; write the file in UTF-8`,
		"v.yml:5: not valid YAML: found character that cannot start any token; indent with spaces",
		`w.yml:2: an item of impl is "a\x00b", which has a NUL`, `w.yml:3: env.A is "\x00", which has a NUL`, `w.yml:4: depends_on is "b, u", which is one text; write a list: [b, u]`,
		`r.md:3: brief goes with YAML only`,
		`t.md:3: not valid YAML: mapping values are not allowed`,
		`u.yml:2: id is missing`,
		`s.yml:2: merging keys (<<) is not supported`, `s.yml:3: timeout is "-3m"`, `s.yml:4: priority is "1.5"`, `s.yml:5: impl has "workflow" twice`,
	}
	text := err.Error()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("lacks %s", w)
		}
	}
	if len(e.Problems) != len(want) {
		t.Errorf("%d problems, want %d:\n%s", len(e.Problems), len(want), text)
	}
}

// fileOf returns a port that depends on others, in a file of its name.
func fileOf(id string, needs ...string) File {
	return File{id + ".yml", []byte("id: " + id + "\ndepends_on: [" + strings.Join(needs, ", ") + "]\n")}
}

func TestProblemsBetweenPorts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		files []File
		want  string // the whole error
	}{
		{"S2-45 a circle is named, with its way", []File{fileOf("a", "b", "x"), fileOf("b", "c"), fileOf("c", "a"), fileOf("x")},
			"a.yml:2: ports depend on each other in a circle: a → b → c → a; remove one of these dependencies"},
		{"S2-45 every knot is named once, by its shortest circle", []File{fileOf("a", "b", "c"), fileOf("b", "a"), fileOf("c", "a"), fileOf("d", "e"), fileOf("e", "d"), fileOf("f", "a")},
			"a.yml:2: ports depend on each other in a circle: a → b → a; remove one of these dependencies\n" +
				"d.yml:2: ports depend on each other in a circle: d → e → d; remove one of these dependencies"},
		{"S2-46 an unknown dependency", []File{fileOf("model"), fileOf("api", "modle")},
			"api.yml:2: port \"api\" depends on \"modle\", which is none of the ports; did you mean \"model\"?"},
		{"S2-46 a duplicate id", []File{fileOf("a"), {"b.md", []byte("---\ntitle: x\nid: a\n---\n")}},
			"b.md:3: id \"a\" is taken by a.yml:1; give one of them another"},
		{"S2-46 a port that depends on itself", []File{{"a.yml", []byte("id: a\ndepends_on:\n- b\n- a\n---\nid: b\n")}},
			"a.yml:4: port \"a\" depends on itself; remove that"},
		{"parents in a circle", []File{{"a.yml", []byte("id: a\nparent: b\n---\nid: b\nparent: c\n---\nid: c\nparent: b\n")}},
			"a.yml:5: ports are each other's parents in a circle: b → c → b; remove one of these links"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 3 { // the order of files changes nothing
				p, err := Compile(c.files)
				if err == nil || err.Error() != c.want || p.Len() != 0 {
					t.Fatalf("%v, want %s", err, c.want)
				}
				c.files = append(c.files[1:], c.files[0])
			}
		})
	}
	t.Run("S2-46 what was meant is said where it is near, and the ids are listed where they are few", func(t *testing.T) {
		for _, c := range []struct {
			ports int // besides the one with the mistake
			needs string
			want  string
		}{
			{1, "wrong", `none of the ports; known are p000`},
			{12, "wrong", `none of the ports; known are p000, `},
			{13, "wrong", `none of the ports; write its port, or remove that`},
			{13, "p0l2", `none of the ports; did you mean "p0`},
			{199, "p0l2", `none of the ports; did you mean "p0`},
			{200, "p0l2", `none of the ports; write its port, or remove that`},
			{0, "wrong", `none of the ports; write its port, or remove that`},
		} {
			files := []File{fileOf("api", c.needs)}
			for i := range c.ports {
				files = append(files, fileOf(fmt.Sprintf("p%03d", i)))
			}
			if _, err := Compile(files); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%d ports: %v, want %s", c.ports, err, c.want)
			}
		}
	})
	t.Run("S2-46 no ports are a clean no-op", func(t *testing.T) {
		p, err := Compile(nil)
		m := p.Jobs(DefaultSettings(), State{}, nil, false)
		if err != nil || p.Len() != 0 || len(p.Levels()) != 0 || !m.Empty || len(m.Shards) != 0 || NewSchedule(p.Graph, nil).CriticalPath().Length != 0 || NewSchedule(p.Graph, nil).Makespan(3) != (Makespan{}) {
			t.Errorf("%+v %v", m, err)
		}
	})
}

func TestAncestors(t *testing.T) {
	t.Parallel()
	p, err := Compile([]File{fileOf("model"), fileOf("api", "model"), {"epic.yml", []byte("id: epic\nparent: root\ndepends_on: [ui]\n---\nid: root\n")},
		{"ui.yml", []byte("id: ui\nparent: epic\ndepends_on: [api]\n")}, fileOf("other", "model")})
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"ui": "model root api epic", "api": "model", "other": "model", "root": "", "nope": ""} {
		if got := strings.Join(p.Ancestors(id), " "); got != want {
			t.Errorf("of %s: %q, want %q", id, got, want)
		}
	}
}

// Whatever is read: no panic, a plan or problems, lines within the file, and a
// plan that reads the same again.
func FuzzParse(f *testing.F) {
	f.Add("a.md", full)
	for _, s := range []string{"id: a\ndepends_on: [b]\n---\nid: b\n", "- id: a\n- id: A\n", "ports:\n- {id: a, env: {A: 1}, impl: {workflow: a.yml}}\n", "id: &a a\nparent: *a\n", "? [a]\n: b\n", "id: !!binary YQ==\n", "\xff", "---\n...\n", "a: &x [*x]"} {
		f.Add("a.yml", s)
		f.Add("a.md", "---\n"+s+"\n---\n")
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		files := []File{{name, []byte(text)}}
		p, err := Compile(files)
		var e *Error
		switch {
		case err == nil:
			if strings.Join(p.Order(), " ") == "" && p.Len() > 0 {
				t.Fatal("ports without names")
			}
			again, err := Compile(files)
			if err != nil || !reflect.DeepEqual(p, again) {
				t.Fatalf("another plan: %v", err)
			}
		case !errors.As(err, &e) || len(e.Problems) == 0:
			t.Fatalf("%v", err)
		default:
			for _, x := range e.Problems {
				if x.Line < 0 || x.Line > 2+strings.Count(text, "\n")+strings.Count(text, "\r")+strings.Count(text, "\u0085")+strings.Count(text, "\u2028")+strings.Count(text, "\u2029") || x.Message == "" || strings.Contains(x.Message, "\n") {
					t.Fatalf("%+v", x)
				}
			}
		}
	})
}

// TestAtTheLimits: the greatest numbers that are allowed.
func TestAtTheLimits(t *testing.T) {
	t.Parallel()
	var with strings.Builder
	for i := range mostInputs - len(ownInputs) {
		fmt.Fprintf(&with, "    x%d: y\n", i)
	}
	for name, text := range map[string]string{
		"iterations": "id: a\nmax_iterations: 10\n",
		"none":       "id: a\nmax_iterations: 0\n",
		"inputs":     "id: a\nimpl:\n  workflow: a.yml\n  inputs:\n" + with.String(),
	} {
		if _, problems := Parse(File{"a.yml", []byte(text)}); len(problems) > 0 {
			t.Errorf("%s: %v", name, problems)
		}
	}
	if _, problems := Parse(File{"a.yml", []byte("id: a\nimpl:\n  workflow: a.yml\n  inputs:\n    y: z\n" + with.String())}); len(problems) != 1 {
		t.Errorf("one input more: %v", problems)
	}
}

func TestNoText(t *testing.T) {
	t.Parallel()
	for text, line := range map[string]int{"\x00id: a\n": 1, "id: a\ntitle: \xff\n": 2} {
		if specs, problems := Parse(File{"a.yml", []byte(text)}); len(specs) != 0 || len(problems) != 1 || problems[0].Line != line || !strings.Contains(problems[0].Message, "is no text") {
			t.Errorf("%q: %v", text, problems)
		}
	}
}

// TestDispatched: a port is dispatched where no worker of it is a command.
func TestDispatched(t *testing.T) {
	t.Parallel()
	command, workflow := &Command{Run: []string{"x"}}, &Command{Workflow: "a.yml"}
	for _, c := range []struct {
		impl, test *Command
		want       bool
	}{
		{nil, nil, false}, {workflow, nil, false}, {nil, workflow, true}, {workflow, workflow, true},
		{command, workflow, false}, {workflow, command, false}, {nil, command, false},
	} {
		if got := (Spec{Impl: c.impl, Test: c.test}).Dispatched(); got != c.want {
			t.Errorf("implemented by %+v, tested by %+v: %v", c.impl, c.test, got)
		}
	}
}
