//go:build unix

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/plan"
)

// The example of docs/ports.md is what people copy: it has to come to the end
// that the page shows.
func TestRunningAPortPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "ports.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Running a port\n")
	section, _, ok := strings.Cut(section, "\n## ")
	files := regexp.MustCompile("(?s)\n`([^`\n]+)`[^\n]*\n\n```(?:md|sh)\n(.*?)```").FindAllStringSubmatch(section, -1)
	if !ok || len(files) != 3 {
		t.Fatalf("%d files in the section", len(files))
	}
	dir := t.TempDir()
	for _, f := range files {
		path := filepath.Join(dir, f[1])
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(f[2]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, code, c := runIn(t, dir, nil, "port", "run", "greet")
	if code != 0 || r.Tokens != 240 || readIn(t, dir, "greeting.txt") != "hello\n" {
		t.Fatalf("exit %d %+v\n%s", code, r, &c.stderr)
	}
	shown := regexp.MustCompile("(?s)```console\n(.*?)```").FindStringSubmatch(section)
	for _, line := range strings.Split(shown[1], "\n") {
		if strings.HasPrefix(line, " ") && !strings.Contains(line, "…") && !strings.Contains(c.stdout.String(), line+"\n") {
			t.Errorf("the page shows %q, the command prints\n%s", line, &c.stdout)
		}
	}
	if j := journal(t, dir); j.Loop.Status != plan.Success {
		t.Errorf("%+v", j.Loop)
	}
	t.Run("every variable and every outcome stands on the page", func(t *testing.T) {
		src, err := os.ReadFile(filepath.Join("..", "..", "bot", "plans", "worker", "command.go"))
		if err != nil {
			t.Fatal(err)
		}
		names := regexp.MustCompile(`\{"([A-Z_]+)", `).FindAllStringSubmatch(string(src), -1)
		if len(names) < 15 {
			t.Fatalf("only %d variables found: the test looks at the wrong place", len(names))
		}
		for _, n := range names {
			if !strings.HasPrefix(n[1], "CHANNEL") && !strings.Contains(section, "`SWITCHBACK_"+n[1]+"`") {
				t.Errorf("SWITCHBACK_%s is not told of", n[1])
			}
		}
		for _, o := range []plan.Outcome{plan.Succeeded, plan.Broke, plan.UsedUp, plan.TimedOut, plan.OutOfTokens} {
			if !strings.Contains(section, "`"+string(o)+"`") {
				t.Errorf("outcome %s is not told of", o)
			}
		}
	})
}
