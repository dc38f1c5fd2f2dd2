//go:build unix

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/switchback-ci/switchback/routing/plan"
)

// walkDir is a repository with a plan.
func walkDir(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files["ok.sh"] = `echo "<testsuite name='x'><testcase classname='a' name='works'/></testsuite>" > "$SWITCHBACK_REPORTS/junit.xml"` + "\n"
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// walked runs a plan and returns its board, as "a=passed b=blocked".
func walked(t *testing.T, dir string, code int, args ...string) (string, *started) {
	t.Helper()
	c := start(t, dir, nil, append([]string{"ports", "run", "-o", "json"}, args...)...)
	if got := c.end(); got != code {
		t.Fatalf("exit %d, want %d\n%s\n%s", got, code, &c.stdout, &c.stderr)
	}
	return boardOf(t, c.stdout.String()), c
}

func boardOf(t *testing.T, text string) string {
	t.Helper()
	var b plan.Board
	decode(t, text, &b)
	var out []string
	for _, r := range b.Rows {
		out = append(out, r.ID+"="+string(r.Standing))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// waitFor is a command that ends once a file is there.
func waitFor(name string) string { return "until [ -f " + name + " ]; do sleep 0.05; done" }

func TestPortsRun(t *testing.T) {
	t.Parallel()
	t.Run("independent ports run in parallel, and one begins as soon as its own dependencies passed (S2-42 S2-44)", func(t *testing.T) {
		t.Parallel()
		// a and b wait for each other; b ends only once c, a level later, has begun.
		dir := walkDir(t, map[string]string{"ports/p.yml": `- {id: a, impl: "touch a-runs; ` + waitFor("b-runs") + `", test: sh ok.sh, timeout: 2m}
- {id: b, impl: "touch b-runs; ` + waitFor("a-runs") + "; " + waitFor("c-runs") + `", test: sh ok.sh, timeout: 2m}
- {id: c, depends_on: a, impl: touch c-runs, test: sh ok.sh}
- {id: d, depends_on: [a, b, c], test: sh ok.sh}
`})
		if got, _ := walked(t, dir, 0); got != "a=passed b=passed c=passed d=passed" {
			t.Error(got)
		}
		c := start(t, dir, nil, "ports", "show", "ports")
		if c.end() != 0 || !strings.HasPrefix(c.stdout.String(), "a  passed  1  ") {
			t.Errorf("%s%s", &c.stdout, &c.stderr)
		}
	})
	// Each port takes a slot, of which there are as many as may run at once.
	slots := `mkdir s1 2>/dev/null && s=s1 || { mkdir s2 2>/dev/null && s=s2 || touch over; }
sleep 0.2; rmdir $s; echo $SWITCHBACK_PORT >> order
`
	five := "- {id: e, impl: sh slot.sh, test: sh ok.sh}\n- {id: d, impl: sh slot.sh, test: sh ok.sh}\n- {id: c, impl: sh slot.sh, test: sh ok.sh, priority: high}\n- {id: b, impl: sh slot.sh, test: sh ok.sh}\n- {id: a, depends_on: e, impl: sh slot.sh, test: sh ok.sh}\n"
	t.Run("never more at once than max_concurrency, or than --max-parallel (S2-43 S2-49)", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct{ config, flag string }{{"ports: {max_concurrency: 2}\n", ""}, {"ports: {parallel: false}\n", "--max-parallel=2"}} {
			dir := walkDir(t, map[string]string{"ports/p.yml": five, "slot.sh": slots, ".github/switchback.yml": c.config})
			var args []string
			if c.flag != "" {
				args = append(args, c.flag)
			}
			walked(t, dir, 0, args...)
			if _, err := os.Stat(filepath.Join(dir, "over")); err == nil || strings.Count(readIn(t, dir, "order"), "\n") != 5 {
				t.Errorf("%+v: %v %q", c, err, readIn(t, dir, "order"))
			}
		}
	})
	t.Run("without parallel one at a time, by priority and what waits behind (S2-50)", func(t *testing.T) {
		t.Parallel()
		dir := walkDir(t, map[string]string{"ports/p.yml": five, "slot.sh": strings.Replace(slots, "mkdir s2", "mkdir s1", 1), ".github/switchback.yml": "ports: {parallel: false}\n"})
		walked(t, dir, 0)
		if _, err := os.Stat(filepath.Join(dir, "over")); err == nil || strings.Join(strings.Fields(readIn(t, dir, "order")), " ") != "c e a b d" {
			t.Errorf("%v %q", err, readIn(t, dir, "order"))
		}
	})
	t.Run("what depends on a port that did not pass is blocked, the rest goes on (S2-48 S2-51)", func(t *testing.T) {
		t.Parallel()
		dir := walkDir(t, map[string]string{"ports/p.yml": `- {id: bad, impl: "true", test: "false", max_iterations: 0}
- {id: behind, depends_on: bad, test: sh ok.sh}
- {id: further, depends_on: behind, test: sh ok.sh}
- {id: slow, impl: sleep 600, test: sh ok.sh, timeout: 1s}
- {id: good, test: sh ok.sh}
- {id: none, title: no test}
`})
		got, c := walked(t, dir, 1, "--grace", "1s")
		if got != "bad=escalated behind=blocked further=blocked good=passed none=failed slow=escalated" {
			t.Error(got)
		}
		for _, want := range []string{"behind blocked: waits for bad", "none failed: port none has no test", "1 of 6 ports have passed"} {
			if !strings.Contains(c.stderr.String(), want) {
				t.Errorf("%q is not in\n%s", want, &c.stderr)
			}
		}
	})
	t.Run("a run that is interrupted, or killed, is gone on with by the next", func(t *testing.T) {
		t.Parallel()
		for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGKILL} {
			dir := walkDir(t, map[string]string{"ports/p.yml": `- {id: a, impl: echo a >> done, test: sh ok.sh}
- {id: b, depends_on: a, impl: "echo $$ > pid; [ -f go ] || sleep 600", test: sh ok.sh}
`})
			c := start(t, dir, nil, "ports", "run", "--grace", "1s")
			awaited(t, dir, "pid")
			if sig == syscall.SIGINT {
				for _, args := range [][]string{{"ports", "run"}, {"ports", "run", "--out", "elsewhere"}} {
					second := start(t, dir, nil, args...)
					if code := second.end(); code != 1 || !strings.Contains(second.stderr.String(), "another process runs plan ports here") {
						t.Errorf("%q: exit %d: %s", args, code, &second.stderr)
					}
				}
			}
			if err := c.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if code := c.end(); sig == syscall.SIGINT && (code != 1 || !strings.Contains(c.stderr.String(), "interrupted, run it again to resume")) {
				t.Errorf("exit %d: %s", code, &c.stderr)
			}
			if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			if got, _ := walked(t, dir, 0); got != "a=passed b=passed" || readIn(t, dir, "done") != "a\n" {
				t.Errorf("%v: %s, %q", sig, got, readIn(t, dir, "done"))
			}
		}
	})
	t.Run("a plan that becomes wrong stops it, by file and line, and it goes on once that is fixed", func(t *testing.T) {
		t.Parallel()
		dir := walkDir(t, map[string]string{"ports/a.yml": "{id: a, impl: 'echo \"{id: b, depends_on: nobody, test: sh ok.sh}\" > ports/b.yml', test: sh ok.sh}\n"})
		c := start(t, dir, nil, "ports", "run")
		if code := c.end(); code != 1 || !strings.Contains(c.stderr.String(), `ports/b.yml:1: port "b" depends on "nobody"`) {
			t.Errorf("exit %d: %s", code, &c.stderr)
		}
		if err := os.WriteFile(filepath.Join(dir, "ports/b.yml"), []byte("{id: b, depends_on: a, test: sh ok.sh}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, _ := walked(t, dir, 0); got != "a=passed b=passed" {
			t.Error(got)
		}
	})
	t.Run("wrong usage, and nothing to do", func(t *testing.T) {
		t.Parallel()
		dir := walkDir(t, map[string]string{"none/README.md": "# none\n", "ports/bad/x.yml": "{id: x, depends_on: x}\n"})
		for _, c := range []struct {
			code int
			says string
			args []string
		}{
			{2, "--max-parallel is -1", []string{"run", "--max-parallel", "-1", "none"}},
			{2, "--max-parallel is 0; it must be at least 1", []string{"run", "--max-parallel", "0", "none"}},
			{2, "text or json", []string{"run", "-o", "xml"}},
			{2, "--repo", []string{"run", "--repo", "x", "none"}},
			{2, "--plan is", []string{"show", "--plan", "a b", "none"}},
			{1, "there is no such folder or file", []string{"run", "nowhere"}},
			{1, "ports/bad/x.yml:1: port \"x\" depends on itself", []string{"run"}},
			{0, "", []string{"run", "none"}},
		} {
			p := start(t, dir, nil, append([]string{"ports"}, c.args...)...)
			if code := p.end(); code != c.code || !strings.Contains(p.stderr.String(), c.says) {
				t.Errorf("%q: exit %d: %s", c.args, code, &p.stderr)
			}
		}
	})
}

func TestPlansAreNamedAlike(t *testing.T) {
	t.Parallel()
	dir := walkDir(t, map[string]string{"work/one.yml": "- {id: a, test: sh ok.sh}\n- {id: b, depends_on: a, test: sh ok.sh}\n"})
	ok := func(args ...string) string {
		t.Helper()
		c := start(t, dir, nil, args...)
		if code := c.end(); code != 0 {
			t.Fatalf("%q: exit %d: %s", args, code, &c.stderr)
		}
		return c.stdout.String()
	}
	ok("ports", "run", "work/one.yml")
	for _, given := range [][]string{{"--plan", "work/one.yml"}, {"--plan", "./work/one.yml"}} {
		ok(append([]string{"port", "show", "a"}, given...)...)
		ok(append([]string{"port", "run", "a"}, given...)...)
	}
	ok("port", "run", "a", "--ports", "work/one.yml", "--plan", "work-one.yml")
	message := []string{"feedback", "send", "--from", "b", "--to", "a", "--type", "FIX_REQUEST", "--message", "x", "--fix", "y"}
	ok(append(slices.Clone(message), "--plan", "work/one.yml")...)
	ok(append(slices.Clone(message), "--plan", "one", "--ports", "work/one.yml")...)
	t.Run("a plan's path and its name are the same plan, and its newest build is meant", func(t *testing.T) {
		for _, args := range [][]string{{"--plan", "work/one.yml"}, {"--ports", "work/one.yml", "--plan", "work-one.yml"}} {
			if got := ok(append([]string{"feedback", "list"}, args...)...); strings.Count(got, "\n") != 1 || !strings.HasPrefix(got, "FB-001") {
				t.Errorf("%q: %s", args, got)
			}
		}
		if got := ok("feedback", "list", "--plan", "one", "--ports", "work/one.yml"); !strings.HasPrefix(got, "FB-002") { // of a plan that was never run
			t.Error(got)
		}
	})
	t.Run("feedback that people sent pauses its branch too, and runs both again (S3-44 S3-70)", func(t *testing.T) {
		if got := boardOf(t, ok("ports", "show", "work/one.yml", "-o", "json")); got != "a=passed b=paused" {
			t.Error(got)
		}
		if got := ok("port", "show", "b", "--plan", "work/one.yml"); !strings.Contains(got, `"feedback_id": "FB-001"`) || !strings.Contains(got, `"to_node": "a"`) {
			t.Error(got)
		}
		if got, c := walked(t, dir, 0, "work/one.yml"); got != "a=passed b=passed" || !strings.Contains(c.stderr.String(), "b running: verifies FB-001") {
			t.Errorf("%s\n%s", got, &c.stderr)
		}
		if got := ok("feedback", "list", "--plan", "work/one.yml"); !strings.HasPrefix(got, "FB-001  resolved  1") {
			t.Error(got)
		}
	})
	c := start(t, dir, nil, "port", "run", "a", "--plan", "work/two.yml")
	if code := c.end(); code != 2 || !strings.Contains(c.stderr.String(), "work/two.yml") {
		t.Errorf("exit %d: %s", code, &c.stderr)
	}
}
