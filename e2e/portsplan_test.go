package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/plan"
)

// TestManyPorts plans 300 ports: GitHub takes 256 jobs of a matrix.
func TestManyPorts(t *testing.T) {
	t.Parallel()
	b := Start(t)
	r := b.NewRepo(t, nil)
	ws := t.TempDir()
	var text strings.Builder
	for i := range 300 {
		fmt.Fprintf(&text, "- {id: p%03d, test: sh test.sh, timeout: %dm}\n", i, 10+i)
	}
	write(t, ws, "ports.yml", text.String())
	bin, err := switchback()
	if err != nil {
		t.Fatal(err)
	}
	act := func(command string, run int64) (Result, []int) {
		t.Helper()
		res := b.RunAction(t, Action{Binary: bin, Args: []string{"action"}, Repo: r, Token: b.AppToken(t, ActionsAppID, r, nil), Event: "push", RunID: run, Workspace: ws,
			Inputs: map[string]string{"command": command, "ports": "ports.yml", "max-parallel": "20"}, Env: map[string]string{"SWITCHBACK_CONTENT_INTERVAL": "1ms"}})
		var m plan.Include
		if err := json.Unmarshal([]byte(res.Outputs["matrix"]), &m); err != nil || res.ExitCode != 0 || res.Outputs["empty"] != "false" || res.Outputs["max-parallel"] != "20" {
			t.Fatalf("%v %+v", err, res)
		}
		sizes := []int{len(m.Include)}
		if first := m.Include[0]; first.Minutes != 20 || first.ID != "p000" || first.File != "ports.yml" {
			t.Errorf("%+v", first)
		}
		if s := res.Outputs["shards"]; s != "" {
			var shards []plan.Include
			if err := json.Unmarshal([]byte(s), &shards); err != nil {
				t.Fatal(err)
			}
			for _, x := range shards {
				sizes = append(sizes, len(x.Include))
			}
		}
		return res, sizes
	}
	t.Run("all of them in parts that GitHub takes", func(t *testing.T) {
		if _, sizes := act("matrix", 801); !slices.Equal(sizes, []int{150, 150, 150}) {
			t.Error(sizes)
		}
	})
	t.Run("a level has as many as GitHub takes, and its matrix is small enough for an output", func(t *testing.T) {
		res, sizes := act("plan", 802)
		if !slices.Equal(sizes, []int{255}) || res.Outputs["more"] != "true" || res.Outputs["level"] != "1" || res.Outputs["build"] != "run-802" || len(res.Outputs["matrix"]) > 500_000 {
			t.Errorf("%v, %d bytes", sizes, len(res.Outputs["matrix"]))
		}
	})
	t.Run("10,000 ports do not break the outputs of a job", func(t *testing.T) {
		var all strings.Builder
		for i := range 10_000 {
			fmt.Fprintf(&all, "- {id: p%05d, test: sh test.sh, timeout: 10m, title: %q}\n", i, strings.Repeat("long ", 5))
		}
		write(t, ws, "many.yml", all.String())
		for i, command := range []string{"matrix", "plan"} {
			res := b.RunAction(t, Action{Binary: bin, Args: []string{"action"}, Repo: r, Token: b.AppToken(t, ActionsAppID, r, nil), Event: "push", RunID: int64(803 + i), Workspace: ws,
				Inputs: map[string]string{"command": command, "ports": "many.yml"}, Env: map[string]string{"SWITCHBACK_CONTENT_INTERVAL": "1ms"}})
			var m plan.Include
			if err := json.Unmarshal([]byte(res.Outputs["matrix"]), &m); err != nil || res.ExitCode != 0 || res.Outputs["more"] != "true" || len(m.Include) < 250 || len(m.Include) > 255 {
				t.Errorf("%s: exit %d, %v, %d entries\n%.2000s%.2000s", command, res.ExitCode, err, len(m.Include), res.Stdout, res.Stderr)
			}
			total := 0
			for _, v := range res.Outputs {
				total += len(v)
			}
			if total > 1<<19 || res.Outputs["shards"] != "" || command == "matrix" && !strings.Contains(res.Stdout, "::warning title=Switchback::the plan is too long for the outputs of a job") {
				t.Errorf("%s: %d bytes of outputs\n%.2000s", command, total, res.Stdout)
			}
		}
	})
	t.Run("the workflow that is written of them is one that actionlint takes", func(t *testing.T) {
		gen, err := exec.Command(bin, "ports", "workflow", filepath.Join(ws, "ports.yml")).Output()
		if err != nil || strings.Count(string(gen), "command: port\n") != 300 || strings.Count(string(gen), "command: collect\n") != 1 {
			t.Fatalf("%v %d bytes", err, len(gen))
		}
		lint := exec.Command(b.Tool(t, "actionlint"), "-shellcheck=", write(t, ws, "plan.yml", string(gen)), filepath.Join(b.Root, ".github", "workflows", "ports.yml"))
		if out, err := lint.CombinedOutput(); err != nil {
			t.Errorf("%v\n%.2000s", err, out)
		}
	})
}

func TestPlanCommandOnBadInput(t *testing.T) {
	t.Parallel()
	b := Start(t)
	r := b.NewRepo(t, nil)
	bin, err := switchback()
	if err != nil {
		t.Fatal(err)
	}
	plan := func(files map[string]string, in map[string]string) Result {
		t.Helper()
		ws := t.TempDir()
		for name, text := range files {
			write(t, mkdir(t, ws, filepath.Dir(name)), filepath.Base(name), text)
		}
		inputs := map[string]string{"command": "plan"}
		maps.Copy(inputs, in)
		return b.RunAction(t, Action{Binary: bin, Args: []string{"action"}, Repo: r, Token: b.AppToken(t, ActionsAppID, r, nil), Event: "push", RunID: 901, Workspace: ws, Inputs: inputs})
	}
	t.Run("S2-46 no ports are a clean no-op", func(t *testing.T) {
		res := plan(map[string]string{"ports/README.md": "# none yet\n"}, nil)
		if res.ExitCode != 0 || res.Outputs["empty"] != "true" || res.Outputs["more"] != "false" || res.Outputs["matrix"] != `{"include":[]}` || len(r.Issues(t)) != 0 {
			t.Errorf("%+v", res)
		}
	})
	t.Run("S2-45 S2-46 S2-48 everything wrong stands at its line, and nothing is begun", func(t *testing.T) {
		v := r.View()
		res := plan(map[string]string{"ports/a.yml": "- {id: a, depends_on: b}\n- {id: b, depends_on: a}\n- {id: c, depends_on: nobody}\n"}, nil)
		for _, want := range []string{"::error file=ports/a.yml,line=1,title=Switchback::ports depend on each other in a circle: a → b → a", ",line=3,title=Switchback::port \"c\" depends on \"nobody\""} {
			if !strings.Contains(res.Stdout, want) {
				t.Errorf("%q is not in\n%s", want, res.Stdout)
			}
		}
		if res.ExitCode != 2 || len(v.Content()) != 0 {
			t.Errorf("exit %d, %v", res.ExitCode, v.Content())
		}
	})
	for name, c := range map[string]struct {
		in   map[string]string
		want string
	}{
		"no plan":                   {map[string]string{"ports": "nowhere"}, "nowhere: there is no such folder or file"},
		"a level that is none":      {map[string]string{"level": "x"}, `input level is "x"`},
		"a build without level":     {map[string]string{"command": "collect", "build": "run-1"}, "inputs build and level go together"},
		"a build that is not known": {map[string]string{"command": "collect", "build": "run-1", "level": "1"}, "another build has begun since"},
		"a port without name":       {map[string]string{"command": "port"}, "input port is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			if res := plan(map[string]string{"ports/a.yml": "id: a\ntest: x\n"}, c.in); res.ExitCode == 0 || !strings.Contains(res.Stdout, c.want) {
				t.Errorf("exit %d %s%s", res.ExitCode, res.Stdout, res.Stderr)
			}
		})
	}
}

// TestPlanKilled kills the command plan at writes. Run again, it hands out the same ports and shows
// them in one issue.
func TestPlanKilled(t *testing.T) {
	t.Parallel()
	b := Start(t)
	bin, err := switchback()
	if err != nil {
		t.Fatal(err)
	}
	story := func(k *killPoint) (writesOf int) {
		r := b.NewRepo(t, nil)
		ws := t.TempDir()
		write(t, ws, "ports.yml", "- {id: a, test: x}\n- {id: b, test: x}\n- {id: c, test: x, depends_on: a}\n")
		act := Action{Binary: bin, Args: []string{"action"}, Repo: r, Token: b.AppToken(t, ActionsAppID, r, nil), Event: "push", RunID: 903, Workspace: ws,
			Inputs: map[string]string{"command": "plan", "ports": "ports.yml"}, Env: map[string]string{"SWITCHBACK_CONTENT_INTERVAL": "1ms"}}
		v, at, build := r.View(), "undisturbed", "run-903"
		if k != nil {
			at, build = fmt.Sprintf("killed at write %d (%v)", k.n, k.when), "run-903-2"
			act.Kill = v.HoldAt(k.n, k.when, writes)
			if !b.RunAction(t, act).Killed {
				t.Errorf("it never was %s", at)
			}
			act.Kill, act.Attempt = nil, 2
		}
		if res := b.RunAction(t, act); res.ExitCode != 0 || res.Outputs["build"] != build || strings.Count(res.Outputs["matrix"], `"id":`) != 2 {
			t.Errorf("%s: exit %d %v\n%s", at, res.ExitCode, res.Outputs, res.Stdout)
		}
		issues := r.Issues(t)
		if len(issues) != 1 || !strings.Contains(issues[0].Body, "| `a` | 🔵 running |") || !strings.Contains(issues[0].Body, "| `c` | ⏳ pending |") {
			t.Errorf("%s: %+v", at, issues)
		} else if l := r.IssueLabels(t, issues[0].Number); !slices.Contains(l, "ports:running") || !slices.Contains(l, "switchback:plan") {
			t.Errorf("%s: %v", at, l)
		}
		return v.count(writes)
	}
	for _, k := range killPoints(t, story(nil), 5) {
		story(&k)
	}
}
