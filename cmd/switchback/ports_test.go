package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/switchback-ci/switchback/routing/plan"
)

var update = flag.Bool("update", false, "write the golden files again")

func TestMatrix(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"A.md": "---\nid: A\n---\n", "B.yml": "id: B\n", "C.yaml": "id: C\ndepends_on: [A]\n", "deep/D.md": "---\nid: D\ndepends_on: [A, B, C]\n---\n",
		"README.md": "# Ports\n", ".hidden.yml": "nothing: good\n", "picture.svg": "<svg/>"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	matrix := func(t *testing.T, in string, args ...string) (plan.Matrix, string) {
		t.Helper()
		r := run(t, in, append([]string{"matrix", dir}, args...)...)
		if r.code != 0 || strings.Count(r.out, "\n") != 1 {
			t.Fatalf("exit %d: %s%s", r.code, r.out, r.err)
		}
		var m plan.Matrix
		decode(t, r.out, &m)
		return m, r.out
	}
	t.Run("S2-41 the document's example, and the keys that are promised", func(t *testing.T) {
		m, out := matrix(t, "")
		if !reflect.DeepEqual(m.Levels, [][]string{{"A", "B"}, {"C"}, {"D"}}) || len(m.Matrix.Include) != 4 || m.Empty || m.MaxParallel != 3 {
			t.Error(out)
		}
		hasKeys(t, "the document", out, "levels", "matrix", "shards", "empty", "max_parallel", "blocked")
		if !strings.HasPrefix(out, `{"levels":[["A","B"],["C"],["D"]],"matrix":{"include":[{"id":"A",`) {
			t.Error(out)
		}
		if strings.Contains(out, "null") {
			t.Errorf("null in %s", out)
		}
	})
	t.Run("what passed at the same content is left out, until it changes", func(t *testing.T) {
		m, _ := matrix(t, "")
		passed := map[string]string{"A": m.Matrix.Include[0].Hash, "B": "of other content"}
		st, err := json.Marshal(plan.State{Passed: passed})
		if err != nil {
			t.Fatal(err)
		}
		m, out := matrix(t, string(st), "--ready", "--state", "-")
		if len(m.Matrix.Include) != 2 || m.Matrix.Include[0].ID != "B" || m.Matrix.Include[1].ID != "C" {
			t.Error(out)
		}
		m, out = matrix(t, "", "--state", file(t, "state.json", `{"failed":["A"]}`))
		if len(m.Matrix.Include) != 1 || fmt.Sprint(m.Blocked) != "[{C [A]} {D [A C]}]" {
			t.Error(out)
		}
	})
	t.Run("a state that is not readable", func(t *testing.T) {
		for _, st := range []string{"{", `{"pased":{}}`, "[]", "{} {}", "{}]"} {
			if r := run(t, st, "matrix", dir, "--state", "-"); r.code != 1 || !strings.Contains(r.err, "is not readable") || r.out != "" {
				t.Errorf("%s: exit %d %s", st, r.code, r.err)
			}
		}
	})
	t.Run("S2-46 no ports are a clean no-op", func(t *testing.T) {
		r := run(t, "", "matrix", t.TempDir())
		if r.code != 0 || r.err != "" || !strings.HasPrefix(r.out, `{"levels":[],"matrix":{"include":[]},"shards":[],"empty":true,`) {
			t.Errorf("exit %d %s%s", r.code, r.out, r.err)
		}
	})
	t.Run("10,000 ports are said once, and in parts that GitHub takes", func(t *testing.T) {
		var text strings.Builder
		for i := range 10_000 {
			fmt.Fprintf(&text, "- {id: p%05d, test: x}\n", i)
		}
		many := file(t, "many.yml", text.String())
		r := run(t, "", "matrix", many)
		var m plan.Matrix
		decode(t, r.out, &m)
		if r.code != 0 || len(m.Matrix.Include) != 10_000 || len(m.Shards) != 40 || m.Shards[1] != (plan.Range{250, 500}) || strings.Count(r.out, `"id":"p00300"`) != 1 {
			t.Errorf("exit %d, %d bytes, %v", r.code, len(r.out), m.Shards)
		}
		r = run(t, "", "matrix", many, "--shard", "2")
		var one plan.Matrix
		decode(t, r.out, &one)
		if r.code != 0 || !reflect.DeepEqual(one.Matrix, m.Shard(1)) || len(one.Shards) != 40 {
			t.Errorf("exit %d, %d entries", r.code, len(one.Matrix.Include))
		}
		for _, n := range []string{"0", "41", "-1"} {
			if r := run(t, "", "matrix", many, "--shard", n); r.code != 2 || !strings.Contains(r.err, "the matrix has 40 shards, counted from 1") || r.out != "" {
				t.Errorf("%s: exit %d %s", n, r.code, r.err)
			}
		}
	})
	t.Run("S2-49 S2-50 the configuration says how many at once", func(t *testing.T) {
		for text, want := range map[string]int{"ports: {max_concurrency: 7}\n": 7, "ports: {parallel: false, max_concurrency: 7}\n": 1, "": 3} {
			if m, out := matrix(t, "", "--config", file(t, "sb.yml", text)); m.MaxParallel != want {
				t.Errorf("%q: %s", text, out)
			}
		}
		if r := run(t, "", "matrix", dir, "--config", file(t, "sb.yml", "ports: {max_concurrency: 0}\n")); r.code != 1 || !strings.Contains(r.err, "sb.yml:1: max_concurrency is 0; it must be 1") {
			t.Errorf("exit %d %s", r.code, r.err)
		}
	})
}

// Everything wrong is told at once, each on a line as FILE:LINE: MESSAGE.
func TestBrokenPlan(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("testdata", "broken")
	want := strings.ReplaceAll(`DIR/a.md:3: port "a" depends on itself; remove that
DIR/a.md:4: timeout is "half an hour"; write a duration up to 120h, e.g. 30m or 1h30m, or 0 for none
DIR/b.yml:3: ports depend on each other in a circle: b → c → b; remove one of these dependencies
DIR/b.yml:4: port "b" depends on "nobody", which is none of the ports; known are a, c
DIR/b.yml:5: unknown key "titel"; did you mean "title"?
DIR/c.yml:4: id "a" is taken by DIR/a.md:2; give one of them another
`, "DIR", filepath.ToSlash(dir))
	for _, args := range [][]string{{"matrix", dir}, {"ports", "lint", dir}, {"ports", "workflow", dir}} {
		t.Run("S2-45 S2-46 S2-48 "+strings.Join(args[:len(args)-1], " "), func(t *testing.T) {
			if r := run(t, "", args...); r.code != 1 || r.out != "" || r.err != want {
				t.Errorf("exit %d, %s%s\nwant %s", r.code, r.out, r.err, want)
			}
		})
	}
}

func TestLint(t *testing.T) {
	t.Parallel()
	r := run(t, "", "ports", "lint", filepath.Join("testdata", "plan"))
	if r.code != 0 || r.err != "" || r.out != "testdata/plan is valid: 7 ports, 5 dependencies, 3 levels\n" {
		t.Errorf("exit %d %s%s", r.code, r.out, r.err)
	}
	one := file(t, "a.yml", "title: x\nid: a\n")
	if r := run(t, "", "ports", "lint", one); r.code != 0 || !strings.Contains(r.err, `a.yml:2: note: port "a" has no test`) || !strings.Contains(r.out, "is valid: 1 ports") {
		t.Errorf("exit %d %s%s", r.code, r.out, r.err)
	}
	big := file(t, "big.yml", "id: a\nbrief: "+strings.Repeat("x", 1<<20))
	if r := run(t, "", "ports", "lint", big); r.code != 1 || !strings.Contains(r.err, "big.yml: is longer than") {
		t.Errorf("exit %d %s", r.code, r.err)
	}
	link := filepath.Join(t.TempDir(), "l.md")
	if err := os.Symlink(one, link); err != nil {
		t.Fatal(err)
	}
	if r := run(t, "", "ports", "lint", filepath.Dir(link)); r.code != 1 || !strings.Contains(r.err, "l.md: is a link") {
		t.Errorf("exit %d %s", r.code, r.err)
	}
}

// The workflow that is written has a job for each port that is left, with the
// ports it depends on as its needs, and actionlint takes it.
func TestStaticWorkflow(t *testing.T) {
	t.Parallel()
	r := run(t, "", "ports", "workflow", filepath.Join("testdata", "plan"), "--name", "Payments ${{ 1 }}")
	if r.code != 0 {
		t.Fatal(r.err)
	}
	golden := filepath.Join("testdata", "plan.golden.yml")
	if *update {
		if err := os.WriteFile(golden, []byte(r.out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || r.out != string(want) {
		t.Errorf("%v; it is not %s (-update writes it):\n%s", err, golden, r.out)
	}
	var w struct {
		Jobs map[string]struct {
			Needs []string
			Steps []struct{ With map[string]string }
		}
	}
	if err := yaml.Unmarshal([]byte(r.out), &w); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for name, j := range w.Jobs {
		got[j.Steps[1].With["port"]] = name + " " + strings.Join(j.Needs, " ")
	}
	if want := map[string]string{"payment-model": "port-payment-model ", "payment.api": "port-payment-api port-payment-model", "docs": "port-docs ",
		"release": "port-release port-payment-api port-docs",
		"":        "collect port-payment-model port-docs port-payment-api port-release"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if strings.Contains(strings.NewReplacer("${{ github.workflow }}-${{ github.ref }}", "", "if: ${{ !cancelled() }}", "").Replace(r.out), "${{") {
		t.Error("a title is evaluated")
	}
	lint := filepath.Join("..", "..", "bin", "actionlint")
	if _, err := os.Stat(lint); err != nil {
		t.Fatal("bin/actionlint is missing: run `make e2e-tools`")
	}
	out, err := exec.Command(lint, golden).CombinedOutput()
	if err != nil {
		t.Errorf("actionlint: %v\n%s", err, out)
	}
	empty := file(t, "a.yml", "id: a\nstatus: done\n")
	if r := run(t, "", "ports", "workflow", empty); r.code != 1 || r.out != "" || !strings.Contains(r.err, "no port of") {
		t.Errorf("exit %d %s", r.code, r.err)
	}
}

func TestSimulate(t *testing.T) {
	t.Parallel()
	r := run(t, "", "ports", "simulate", "--rounds", "1", "--ports", "20,40", "--at-once", "2", "--seed", "4")
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	if last := strings.Fields(lines[len(lines)-1]); r.code != 0 || len(lines) != 8 || last[0] != "all" || last[1] != "10" || last[2] != "20–40" {
		t.Errorf("exit %d %s%s", r.code, r.out, r.err)
	}
	for args, want := range map[string]string{"--ports 0": "--ports is 0", "--at-once 0": "--at-once is 0", "--rounds 0": "--rounds is 0", "--ports x": `--ports is "x"; it must be whole numbers`} {
		if r := run(t, "", append([]string{"ports", "simulate"}, strings.Fields(args)...)...); r.code != 2 || !strings.Contains(r.err, want) {
			t.Errorf("%s: exit %d %s", args, r.code, r.err)
		}
	}
}
