package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/config"
)

var updateMistakes = flag.Bool("update-mistakes", false, "write testdata/mistakes.txt and docs/troubleshooting.md anew")

// fileLine stands before a file of testdata/mistakes.txt, and variable before a command for which a
// variable of the environment is set.
var (
	fileLine = regexp.MustCompile(`^-- (\S+) --$`)
	variable = regexp.MustCompile(`^([A-Z_-]+)=(\S*) (.*)$`)
)

// mistake is a command line with a mistake in it, and how it ends.
type mistake struct {
	line string // as it is typed
	said string // what is printed, on both streams
	code int
}

// mistakes are testdata/mistakes.txt: files, and what is tried on them.
type mistakes struct {
	head  string   // up to the first command
	files []string // name and text in turn
	parts []any    // a string is a heading, else a mistake
}

func readMistakes(t *testing.T, text string) mistakes {
	t.Helper()
	m := mistakes{}
	var name, body string
	flush := func() {
		if name != "" {
			m.files = append(m.files, name, body)
		}
		name, body = "", ""
	}
	begun := false
	for line := range strings.Lines(text) {
		bare := strings.TrimSuffix(line, "\n")
		switch f := fileLine.FindStringSubmatch(bare); {
		case f != nil:
			flush()
			name = f[1]
		case strings.HasPrefix(bare, "## "):
			flush()
			begun = true
			m.parts = append(m.parts, strings.TrimPrefix(bare, "## "))
		case strings.HasPrefix(bare, "$ "):
			m.parts = append(m.parts, mistake{line: strings.TrimPrefix(bare, "$ ")})
		case name != "":
			body += line
		}
		if !begun {
			m.head += line
		}
	}
	if len(m.files) < 20 || len(m.parts) < 75 {
		t.Fatalf("%d files, %d parts", len(m.files)/2, len(m.parts))
	}
	return m
}

// try runs a command line in the working directory. What differs from run to run has names.
func try(line, dir string) mistake {
	env := map[string]string{}
	rest := line
	for m := variable.FindStringSubmatch(rest); m != nil; m = variable.FindStringSubmatch(rest) {
		env[m[1]], rest = strings.ReplaceAll(m[2], "$PWD", dir), m[3]
	}
	rest, input, _ := strings.Cut(strings.TrimPrefix(rest, "switchback"), " <<< ")
	var out, errs bytes.Buffer
	code := execute(context.Background(), fieldsOf(rest), streams{strings.NewReader(input), &out, &errs}, func(k string) string { return env[k] })
	said := strings.ReplaceAll(out.String()+errs.String(), dir, "$PWD")
	said = strings.ReplaceAll(said, time.Now().UTC().AddDate(0, 0, config.MaxQuarantineDays).Format(time.DateOnly), "YYYY-MM-DD")
	return mistake{line, said, code}
}

// What is printed for each mistake at the command line is what is recorded: a message that says what is
// wrong, where, and what to do. -update-mistakes records it anew.
func TestMistakes(t *testing.T) {
	golden, err := filepath.Abs(filepath.Join("testdata", "mistakes.txt"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	m := readMistakes(t, string(text))
	pageFile, err := filepath.Abs(filepath.Join("..", "..", "docs", "troubleshooting.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := readRoot(t, "docs/troubleshooting.md")
	if !strings.Contains(page, pageMark) {
		t.Fatal("docs/troubleshooting.md has no place for the errors")
	}
	dir := t.TempDir()
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for i := 0; i < len(m.files); i += 2 {
		path := filepath.Join(dir, filepath.FromSlash(m.files[i]))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(m.files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	var got strings.Builder
	got.WriteString(strings.SplitN(m.head, "\n## ", 2)[0])
	if i := strings.Index(got.String(), "## "); i >= 0 {
		head := got.String()[:i]
		got.Reset()
		got.WriteString(head)
	}
	n := 0
	for _, p := range m.parts {
		switch p := p.(type) {
		case string:
			fmt.Fprintf(&got, "## %s\n\n", p)
		case mistake:
			n++
			r := try(p.line, dir)
			fmt.Fprintf(&got, "$ %s\n%sexit %d\n\n", r.line, r.said, r.code)
			if r.code == 0 || r.code > 3 || r.said == "" {
				t.Errorf("%s: exit %d, %q", r.line, r.code, r.said)
			}
		}
	}
	if n < 75 {
		t.Errorf("%d mistakes", n)
	}
	shown := page[:strings.Index(page, pageMark)] + pageMark + "\n\n" + onPage(got.String())
	if *updateMistakes {
		if err := errors.Join(os.WriteFile(golden, []byte(got.String()), 0o644), os.WriteFile(pageFile, []byte(shown), 0o644)); err != nil {
			t.Fatal(err)
		}
		return
	}
	if shown != page {
		t.Errorf("docs/troubleshooting.md does not show it (-update-mistakes writes it):\n%s", firstDifference(page, shown))
	}
	if got.String() != string(text) {
		t.Errorf("what is printed has changed (-update-mistakes records it):\n%s", firstDifference(string(text), got.String()))
	}
}

// pageMark is behind what is written by hand on the page.
const pageMark = "<!-- What follows is made from cmd/switchback/testdata/mistakes.txt. -->"

// onPage returns what was tried as sections of a page, without the files and exit codes.
func onPage(text string) string {
	var b strings.Builder
	for i, section := range strings.Split(text, "\n## ") {
		if i == 0 {
			continue
		}
		title, body, _ := strings.Cut(section, "\n")
		body = regexp.MustCompile(`(?m)^exit \d+\n`).ReplaceAllString(body, "")
		fmt.Fprintf(&b, "### %s\n\n```console\n%s\n```\n\n", title, strings.TrimSpace(body))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// firstDifference shows where two texts begin to differ.
func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return fmt.Sprintf("line %d:\nwant %s\ngot  %s", i+1, w[i], g[i])
		}
	}
	return "one of them is longer"
}
