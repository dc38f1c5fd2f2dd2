package handler

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// update writes the tables of docs/app.md anew: go test ./bot/handler -run TestDocumented -update
var update = flag.Bool("update", false, "write the tables of docs/app.md that are made from the dispatch table")

// Every permission and event says why, and contents:write is asked for only by those who need it.
func TestPermissionsSayWhy(t *testing.T) {
	t.Parallel()
	for _, dispatch := range []bool{false, true} {
		seen := map[string]bool{}
		for _, p := range Permissions(dispatch) {
			if seen[p.Key] || len(p.Why) < 20 || p.Name == "" || p.Level != "read" && p.Level != "write" {
				t.Errorf("%+v", p)
			}
			seen[p.Key] = true
			if p.Key == "contents" && (p.Level == "write") != dispatch {
				t.Errorf("contents: %s", p.Level)
			}
			if p.Key == "contents" && dispatch != strings.Contains(p.Why, "ports and surveys") {
				t.Errorf("contents: %s", p.Why)
			}
		}
	}
	for _, s := range Subscriptions() {
		if len(s.Why) < 20 {
			t.Errorf("%+v", s)
		}
	}
}

// What the App subscribes to, and what it may do, is what the rows of the table need.
func TestTableIsComplete(t *testing.T) {
	t.Parallel()
	var named, needed, subscribed []string
	for _, p := range permissions {
		named = append(named, p.Key)
	}
	for _, s := range Subscriptions() {
		subscribed = append(subscribed, s.Event)
	}
	for _, r := range table {
		for _, need := range r.Needs {
			key, level, _ := strings.Cut(need, ":")
			if !slices.Contains(named, key) || level != "read" && level != "write" {
				t.Errorf("%s needs %q, which permissions does not describe", r.Event, need)
			}
			needed = append(needed, key)
		}
		if !r.App && r.Command == "" {
			t.Errorf("%s is handled by nobody", r.Event)
		}
		if r.App && slices.Contains(subscribed, r.Event) == slices.Contains(unasked, r.Event) {
			t.Errorf("%s has to be either subscribed to or unasked", r.Event)
		}
	}
	for _, key := range named {
		if !slices.Contains(needed, key) {
			t.Errorf("no row needs %s", key)
		}
	}
	for _, event := range slices.Concat(subscribed, unasked, ownIgnored) {
		if !Known(event) {
			t.Errorf("the table has no row of %s", event)
		}
	}
}

// docs/app.md lists the permissions and events of the table, and docs/action.md the events of the Action.
func TestDocumented(t *testing.T) {
	t.Parallel()
	name := filepath.Join("..", "..", "docs", "app.md")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for head, rows := range map[string][]string{"| permission | level | why |\n|---|---|---|\n": permissionRows(), "| event | why |\n|---|---|\n": eventRows()} {
		before, after, ok := strings.Cut(page, head)
		if !ok {
			t.Fatalf("%s has no table with the head %q", name, head)
		}
		got, rest, _ := strings.Cut(after, "\n\n")
		if want := strings.Join(rows, "\n"); got != want {
			if !*update {
				t.Errorf("%s differs from the dispatch table; write it with go test ./bot/handler -run TestDocumented -update\ngot:\n%s\nwant:\n%s", name, got, want)
			}
			page = before + head + want + "\n\n" + rest
		}
	}
	if *update {
		if err := os.WriteFile(name, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	name = filepath.Join("..", "..", "docs", "action.md")
	events, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range table {
		if r.Command == "" || r.Command == "replay" || r.Event == "schedule" {
			continue
		}
		event := r.Event
		if event == "pull_request" {
			event = "pull_request_target" // whose token may write
		}
		if row := fmt.Sprintf("| `%s: %s` |", event, strings.Join(r.Actions, ", ")); !strings.Contains(string(events), row) {
			t.Errorf("%s has no row %q", name, row)
		}
	}
}

func permissionRows() (rows []string) {
	dispatch := Permissions(true)
	for i, p := range Permissions(false) {
		rows = append(rows, fmt.Sprintf("| %s | %s | %s |", p.Name, p.Level, p.Why))
		if d := dispatch[i]; d != p {
			rows = append(rows, fmt.Sprintf("| %s | %s, with `--repository-dispatch` | %s |", d.Name, d.Level, d.Why))
		}
	}
	return rows
}

func eventRows() (rows []string) {
	for _, s := range Subscriptions() {
		rows = append(rows, fmt.Sprintf("| `%s` | %s |", s.Event, s.Why))
	}
	return rows
}

// Handlers know neither the runner nor HTTP, nor who calls them.
func TestHandlersKnowNoFront(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range file.Imports {
			for _, front := range []string{"net/http", "go-githubactions", "bot/action", "bot/server"} {
				if strings.Contains(i.Path.Value, front) {
					t.Errorf("%s imports %s", name, i.Path.Value)
				}
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && strings.Contains(lit.Value, "GITHUB_") {
				t.Errorf("%s reads the runner's environment: %s", name, lit.Value)
			}
			if s, ok := n.(*ast.SelectorExpr); ok && (s.Sel.Name == "Getenv" || s.Sel.Name == "Environ") {
				t.Errorf("%s reads the environment", name)
			}
			return true
		})
	}
}
