package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/handler"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing/answers"
)

var answersPage = filepath.Join("..", "..", "docs", "answers.md")

// The lines between which the table of commands stands on a page.
const (
	tableBegin = "<!-- The command table; `go test ./cmd/switchback -run Docs -update` writes it. -->\n"
	tableEnd   = "<!-- End of the command table. -->\n"
)

// commandTable is the table of commands in the documentation.
func commandTable() string {
	var b strings.Builder
	b.WriteString("| command | checkbox | on a ledger on disk | what it does |\n|---|---|---|---|\n")
	cell := func(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
	for _, s := range answers.Table() {
		box, local := "–", "–"
		if s.Box != nil {
			text := strings.NewReplacer("{n}", "n", "{phase}", "PHASE", "{test}", "TEST").Replace(render.BoxHelp(*s.Box, render.Options{}))
			box = "*" + text + "*"
		}
		if s.OnCase() {
			local = "`switchback case " + s.Name
			for _, a := range s.Args {
				local += " --" + a.Flag.Name + " " + placeholder(a)
			}
			local += "`"
		}
		what := render.CommandHelp(s, render.Options{})
		if s.See != "" {
			what += " (" + s.See + ")"
		}
		fmt.Fprintf(&b, "| `%s %s` | %s | %s | %s |\n", answers.Prefix, cell(s.Usage()), cell(box), local, cell(what))
	}
	return b.String()
}

// placeholder stands for the value of an argument.
func placeholder(a answers.Arg) string {
	if strings.Contains(a.Name, "|") {
		return strings.ToUpper(a.Flag.Name)
	}
	return strings.ToUpper(a.Name)
}

// The table of commands on the page is the one in the program.
func TestDocsOfCommands(t *testing.T) {
	data, err := os.ReadFile(answersPage)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(data), tableBegin)
	have, tail, ended := strings.Cut(rest, tableEnd)
	if !found || !ended {
		t.Fatalf("%s has no lines %q and %q", answersPage, tableBegin, tableEnd)
	}
	want := "\n" + commandTable() + "\n"
	if *update {
		if err := os.WriteFile(answersPage, []byte(head+tableBegin+want+tableEnd+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have != want {
		t.Errorf("%s is out of date; run go test ./cmd/switchback -run Docs -update\ngot\n%s\nwant\n%s", answersPage, have, want)
	}
}

// Every command that a page names is in the table.
func TestDocsNameKnownCommands(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, page := range append(pages, filepath.Join("..", "..", "README.md")) {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("(?m)(?:^|`)"+answers.Prefix+" ([a-z-]+)").FindAllStringSubmatch(string(data), -1) {
			found++
			if _, ok := answers.Lookup(m[1]); !ok {
				t.Errorf("%s names %s %s, which is no command", page, answers.Prefix, m[1])
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d commands were found", found)
	}
}

// A command is complete with its row in the table, its handler and its texts: this walks the table
// and looks for each of them.
func TestEveryCommandIsComplete(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(answersPage)
	if err != nil {
		t.Fatal(err)
	}
	args := strings.NewReplacer("[n]", "2", "plan|research|implement", "plan", "CLASS", "TIMEOUT", "TYPE to:PORT …", "FIX_REQUEST to:a text", "[TEXT]", "text")
	led := filepath.Join(t.TempDir(), "l.jsonl")
	route(t, led, "--run", "1", recorded("2-wrong-result.txt"))
	for _, s := range answers.Table() {
		t.Run(s.Name, func(t *testing.T) {
			for _, name := range append([]string{s.Name}, s.Aliases...) {
				line := answers.Prefix + " " + strings.Replace(args.Replace(s.Usage()), s.Name, name, 1)
				got := answers.Commands(line)
				if len(got) != 1 || got[0].Err != nil || got[0].Name != s.Name || got[0].Action != s.Action {
					t.Errorf("%q is read as %+v", line, got)
				}
			}
			if s.Permission == "" {
				t.Error("nobody may give it")
			}
			for _, lang := range []render.Language{render.English, render.Korean} {
				o := render.Options{Language: lang}
				texts := map[string]string{s.HelpID(): render.CommandHelp(s, o)}
				if s.Box != nil {
					texts[s.Box.Text] = render.BoxHelp(*s.Box, o)
				}
				for id, text := range texts {
					if text == "" || text == id || lang == render.Korean && !regexp.MustCompile(`\p{Hangul}`).MatchString(text) {
						t.Errorf("%s: no text %s: %q", lang, id, text)
					}
				}
				if help := render.Help(o); !strings.Contains(string(help), answers.Prefix+" "+strings.ReplaceAll(s.Usage(), "|", `\|`)) {
					t.Errorf("%s: help does not list it", lang)
				}
			}
			if !strings.Contains(string(page), "| `"+answers.Prefix+" "+strings.ReplaceAll(s.Usage(), "|", `\|`)+"` |") {
				t.Errorf("%s has no row for it", answersPage)
			}
			switch {
			case s.Action == "":
				if !handler.HandlesCommand(s.Name) {
					t.Error("it has no handler")
				}
			case s.OnCase():
				if !handled(t, led, s) {
					t.Error("the core does not know its action")
				}
				if r := run(t, "", "case", s.Name, "--help"); r.code != 0 || !strings.Contains(r.out, "switchback case "+s.Name) {
					t.Errorf("the command line does not have it: %s", r.out)
				}
			}
			if s.Box != nil {
				id := s.Box.ID
				if s.Box.Read != nil {
					id += ":1"
				}
				if b := answers.Read(id); b.Action != s.Action || b.Text != s.Box.Text {
					t.Errorf("its box is read as %+v", b)
				}
			}
		})
	}
}

// handled reports whether the command line records the action of a command, or refuses it with a
// reason.
func handled(t *testing.T, led string, s answers.Spec) bool {
	t.Helper()
	args := []string{"case", s.Name, "--case", caseKey, "--ledger", led}
	for _, a := range s.Args {
		args = append(args, "--"+a.Flag.Name, map[string]string{"attempts": "1", "phase": "plan", "test": "TestFree", "class": "TIMEOUT"}[a.Flag.Name])
	}
	before := strings.Count(snapshot(t, led), `"`+string(s.Action)+`"`)
	r := run(t, "", args...)
	after := strings.Count(snapshot(t, led), `"`+string(s.Action)+`"`)
	return r.code == 0 && after > before || r.code == 1 && strings.Contains(r.err, "checkpoint")
}
