package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan"
)

// TestPortJournal runs ports in jobs whose token only reads, and a job that records what they bring
// back.
func TestPortJournal(t *testing.T) {
	t.Parallel()
	b := Start(t)
	bin, err := switchback()
	if err != nil {
		t.Fatal(err)
	}
	r := b.NewRepo(t, map[string]string{"README.md": "x\n"})
	work := t.TempDir()
	pass := `echo "<testsuite name='x'><testcase classname='a' name='works'/></testsuite>" > "$SWITCHBACK_REPORTS/junit.xml"`
	write(t, work, "pass.sh", pass+"\n")
	write(t, work, "ports.yml", "- {id: honest, impl: 'true', test: sh pass.sh}\n- {id: forger, impl: 'true', test: sh pass.sh}\n- {id: linker, impl: 'true', test: sh pass.sh}\n")
	reads, writes := b.AppToken(t, ActionsAppID, r, map[string]string{"contents": "read"}), b.AppToken(t, ActionsAppID, r, nil)
	run := func(token string, inputs map[string]string) Result {
		t.Helper()
		inputs["ports"] = "ports.yml"
		return b.RunAction(t, Action{Binary: bin, Args: []string{"action"}, Repo: r, Workspace: work, Event: "workflow_dispatch", RunID: 901, Token: token, Inputs: inputs,
			Env: map[string]string{"SWITCHBACK_CONTENT_INTERVAL": "1ms"}})
	}
	begun := run(writes, map[string]string{"command": "plan"})
	if begun.ExitCode != 0 || begun.Outputs["command-empty"] != "false" || begun.Outputs["workflow-empty"] != "true" || begun.Outputs["workflow-matrix"] != `{"include":[]}` {
		t.Fatalf("exit %d %v\n%s", begun.ExitCode, begun.Outputs, begun.Stdout)
	}
	journal := func(id string) plan.Journal {
		t.Helper()
		j, err := plan.FoldJournal((&build{r: r}).stream(t, routing.PortKey(r.FullName, "ports.yml", id)))
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	results := t.TempDir()
	for _, id := range []string{"honest", "forger", "linker"} {
		res := run(reads, map[string]string{"command": "port", "port": id, "build": begun.Outputs["build"], "journal": "artifact"})
		if res.ExitCode != 0 || res.Outputs["status"] != "success" || journal(id).Loop != nil {
			t.Fatalf("exit %d %v\n%s", res.ExitCode, res.Outputs, res.Stderr)
		}
		if err := os.CopyFS(filepath.Join(results, res.Outputs["port-artifact"]), os.DirFS(filepath.Join(res.Dir, "temp", "switchback-port"))); err != nil {
			t.Fatal(err)
		}
	}
	file := func(id string) string {
		t.Helper()
		found, _ := filepath.Glob(filepath.Join(results, "*", "*", id, "journal", "cases", "*ports*"+id+"*"))
		if len(found) != 1 {
			t.Fatalf("journals of %s: %q", id, found)
		}
		return found[0]
	}
	forged := file("forger")
	write(t, filepath.Dir(forged), filepath.Base(forged), strings.ReplaceAll(readAll(forged), `"max_retries":3`, `"max_retries":9`))
	linked := file("linker")
	text := readAll(linked)
	if err := os.Remove(linked); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(write(t, t.TempDir(), "outside", text), linked); err != nil {
		t.Fatal(err)
	}
	for range 2 { // a collect that is repeated records nothing twice
		res := run(writes, map[string]string{"command": "collect", "build": begun.Outputs["build"], "level": begun.Outputs["level"], "results": results})
		if res.ExitCode != 0 {
			t.Fatalf("exit %d\n%s", res.ExitCode, res.Stdout)
		}
		t.Run("S6-3 what a job may say is recorded by the next one, and nothing else", func(t *testing.T) {
			j := journal("honest")
			if j.Loop == nil || j.Loop.Status != plan.Success || j.Pairs != 1 || j.Runner.Run != "901" || len(j.Mail.Messages) != 1 {
				t.Errorf("%+v\n%s", j, res.Stdout)
			}
			for id, want := range map[string]string{"forger": "the limits of the pair are not those of the port", "linker": "is no file"} {
				if journal(id).Loop != nil || !strings.Contains(res.Stdout, "the artifact of port "+id+" is not taken: ") || !strings.Contains(res.Stdout, want) {
					t.Errorf("%s: %+v\n%s", id, journal(id), res.Stdout)
				}
			}
			if !strings.Contains(res.Summary, "honest") || strings.Count(res.Summary, "passed") == 0 {
				t.Errorf("%s", res.Summary)
			}
		})
	}
	for _, v := range r.View().Violations() {
		t.Error(v)
	}
}
