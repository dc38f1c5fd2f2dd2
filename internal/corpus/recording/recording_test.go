package recording

import (
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
)

// The log of a job has a time on each line, the command in a group, and the
// exit code where the command failed.
func TestJobLog(t *testing.T) {
	t.Parallel()
	log := string(JobLog("make test", []byte("one\r\ntwo"), 137))
	for _, want := range []string{
		"Z ##[group]Run make test\n", "Z one\n", "Z two\n", "line 1:  2175 Killed                  make test\n", "Z ##[error]Process completed with exit code 137.\n",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("%q is not in the log", want)
		}
	}
	if green := string(JobLog("make test", nil, 0)); strings.Contains(green, "##[error]") {
		t.Errorf("a command that succeeds has an error: %s", green)
	}
	for line := range strings.Lines(log) {
		if !strings.HasPrefix(line, "2026-01-15T10:00:0") {
			t.Errorf("%q has no time", line)
		}
	}
}

// A failure is compared by name, suite, place, message and class, and nothing
// that the output lacks may be invented.
func TestCompareFailing(t *testing.T) {
	t.Parallel()
	want := Failing{Suite: "a > b", Name: "works", File: "src/x.js", Line: 3, Message: "1 != 2", Class: []routing.Class{routing.LogicError}}
	good := found{suite: "x.js > a > b", name: "works", file: "/w/src/x.js", line: 3, message: "want\n1  !=  2", class: "LOGIC_ERROR"}
	for name, row := range map[string]struct {
		change func(*found)
		lacks  string
		wrong  int
	}{
		"exact":            {func(*found) {}, "", 0},
		"other name":       {func(g *found) { g.name = "works not" }, "", 2},
		"other suite":      {func(g *found) { g.suite = "c" }, "", 2},
		"other file":       {func(g *found) { g.file = "y.js" }, "", 1},
		"no file":          {func(g *found) { g.file = "" }, "", 1},
		"file not printed": {func(g *found) { g.file = "" }, "files", 0},
		"file invented":    {func(g *found) { g.file = "y.js" }, "files", 1},
		"other line":       {func(g *found) { g.line = 4 }, "", 1},
		"other message":    {func(g *found) { g.message = "failed" }, "", 1},
		"other class":      {func(g *found) { g.class = "QUALITY" }, "", 1},
	} {
		g := good
		row.change(&g)
		c := comparison{want: Case{Failing: []Failing{want}, Lacks: []string{row.lacks}}}
		c.compareFailing([]*found{&g})
		if len(c.diffs) != row.wrong {
			t.Errorf("%s: %d differences %q, want %d", name, len(c.diffs), c.diffs, row.wrong)
		}
	}
}
