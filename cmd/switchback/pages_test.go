package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"gopkg.in/yaml.v3"
)

// pages returns the Markdown pages of the project by their names below its root.
func pages(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "e2e/*.md", "internal/corpus/*.md", "tools/*.md"} {
		found, err := filepath.Glob(filepath.Join("..", "..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range found {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			out[strings.TrimPrefix(filepath.ToSlash(name), "../../")] = string(data)
		}
	}
	return out
}

var (
	fence   = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
)

// anchorsOf returns the anchors that GitHub gives the headings of a page.
func anchorsOf(page string) map[string]bool {
	out := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		text := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(m[1], "$1")
		text = regexp.MustCompile(`[^\p{L}\p{N}_ -]`).ReplaceAllString(strings.ToLower(text), "")
		out[strings.ReplaceAll(text, " ", "-")] = true
	}
	return out
}

// Every link from one page of the project to another leads somewhere.
func TestLinks(t *testing.T) {
	t.Parallel()
	all, links := pages(t), 0
	for name, page := range all {
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			to, anchor, _ := strings.Cut(m[1], "#")
			target := name
			if to != "" {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(name), to))
			}
			if _, err := os.Stat(filepath.Join("..", "..", target)); err != nil {
				t.Errorf("%s links to %s, which does not exist", name, m[1])
			} else if text, ok := all[target]; ok && anchor != "" && !anchorsOf(text)[anchor] {
				t.Errorf("%s links to %s, which has no such heading", name, m[1])
			}
		}
	}
	if links < 100 {
		t.Errorf("only %d links were found", links)
	}
}

// The list of pages names each of them.
func TestPagesAreListed(t *testing.T) {
	t.Parallel()
	all := pages(t)
	for name := range all {
		if page, ok := strings.CutPrefix(name, "docs/"); ok && page != "README.md" && !strings.Contains(all["docs/README.md"], "]("+page+")") {
			t.Errorf("docs/README.md does not list %s", page)
		}
	}
}

// docs/action.md lists the inputs and outputs of each action as its action.yml has them.
func TestActionPage(t *testing.T) {
	t.Parallel()
	name := filepath.Join("..", "..", "docs", "action.md")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	page, rows := string(data), 0
	for folder, title := range map[string]string{".": "switchback-ci/switchback", "ports": "switchback-ci/switchback/ports", "survey": "switchback-ci/switchback/survey", "reconcile": "switchback-ci/switchback/reconcile"} {
		_, section, ok := strings.Cut(page, "\n## "+title+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		if !ok {
			t.Errorf("docs/action.md has no section %s", title)
		}
		a := actionFile(t, folder)
		var want []string
		for in, x := range a.Inputs {
			def := "required"
			if x.Default != nil {
				def = map[bool]string{true: "–", false: "`" + *x.Default + "`"}[*x.Default == ""]
			}
			want = append(want, fmt.Sprintf("| `%s` | %s | %s |", in, def, x.Description))
		}
		for out, x := range a.Outputs {
			want = append(want, fmt.Sprintf("| `%s` | %s |", out, x.Description))
		}
		rows += len(want)
		for _, row := range want {
			if !strings.Contains(section, row+"\n") && !strings.HasSuffix(section, row) {
				t.Errorf("docs/action.md, %s: there is no row\n%s", title, row)
			}
		}
		if got := strings.Count(section, "\n| `"); got != len(want) {
			t.Errorf("docs/action.md, %s: %d rows, want %d", title, got, len(want))
		}
	}
	if rows < 60 {
		t.Errorf("only %d rows", rows)
	}
}

// docs/cli.md names each command that help lists, and docs/upgrade.md promises nothing of others.
func TestCommandPages(t *testing.T) {
	t.Parallel()
	all := pages(t)
	var commands []string
	_, list, _ := strings.Cut(run(t, "", "--help").out, "Usage:\n")
	list, _, _ = strings.Cut(list, "\nFlags:\n")
	for _, m := range commandLine.FindAllStringSubmatch(list, -1) {
		commands = append(commands, m[1])
		if m[1] != "help" && m[1] != "completion" && !strings.Contains(all["docs/cli.md"], "`"+m[1]+"`") {
			t.Errorf("docs/cli.md does not name %s", m[1])
		}
	}
	for _, name := range []string{"README.md", "docs/cli.md", "docs/install.md", "docs/deploy.md", "docs/backup.md", "docs/upgrade.md"} {
		for _, m := range regexp.MustCompile("(?:^\\$ (?:sudo .* )?|`|<\\()switchback ([a-z]+)").FindAllStringSubmatch(all[name], -1) {
			if !slices.Contains(commands, m[1]) {
				t.Errorf("%s names switchback %s, which is no command", name, m[1])
			}
		}
	}
	_, table, _ := strings.Cut(all["docs/upgrade.md"], "\n## JSON\n")
	promised := 0
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]*)\|`).FindAllStringSubmatch(table, -1) {
		for _, m := range regexp.MustCompile("`([a-z]+)(?: ([a-z]+))?(?: -o (json))?[^`]*`").FindAllStringSubmatch(row[1], -1) {
			args := slices.DeleteFunc(slices.Clone(m[1:3]), func(s string) bool { return s == "" })
			r := run(t, "", slices.Concat(args, []string{"--help"})...)
			if r.code != 0 || !strings.Contains(r.out, "switchback "+strings.Join(args, " ")) || m[3] != "" && !strings.Contains(r.out, "--output") {
				t.Errorf("docs/upgrade.md promises %s: %s%s", m[0], r.out, r.err)
			}
			promised++
		}
	}
	if promised < 15 {
		t.Errorf("docs/upgrade.md promises the output of %d commands", promised)
	}
}

// The server knows the variables of docs/deploy.md, and its manifests are YAML.
func TestDeployPage(t *testing.T) {
	t.Parallel()
	page := pages(t)["docs/deploy.md"]
	known := 0
	for _, m := range regexp.MustCompile(`\bSWITCHBACK_[A-Z_]+\b`).FindAllString(page, -1) {
		known++
		if name := strings.TrimSuffix(m, "_FILE"); !slices.Contains([]string{"SWITCHBACK_APP_ID", "SWITCHBACK_PRIVATE_KEY", "SWITCHBACK_WEBHOOK_SECRET", "SWITCHBACK_CLIENT_ID", "SWITCHBACK_CLIENT_SECRET"}, name) {
			knownVariable(t, m)
		} else if app := pages(t)["docs/app.md"]; !strings.Contains(app, "`"+name+"`") {
			t.Errorf("docs/app.md does not explain %s", name)
		}
	}
	m := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(page)
	if m == nil || known < 10 {
		t.Fatalf("%d variables, %v", known, m)
	}
	documents := 0
	for d := yaml.NewDecoder(bytes.NewBufferString(m[1])); ; documents++ {
		var one struct{ Kind string }
		if err := d.Decode(&one); errors.Is(err, io.EOF) {
			break
		} else if err != nil || one.Kind == "" {
			t.Fatalf("%+v %v", one, err)
		}
	}
	if documents != 2 {
		t.Errorf("%d documents", documents)
	}
}

// quickStarts are the sections of docs/quickstart.md: the workflow of each, by its heading.
func quickStarts(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, m := range regexp.MustCompile("(?s)\n## ([^\n]*)\n\n```yaml\n(.*?)```").FindAllStringSubmatch(pages(t)["docs/quickstart.md"], -1) {
		out[m[1]] = m[2]
	}
	return out
}

// Each quick start uploads what the glob that the page gives for it finds, and its tests may write
// nothing. internal/workflowcheck runs actionlint over them.
func TestQuickStarts(t *testing.T) {
	t.Parallel()
	page := pages(t)["docs/quickstart.md"]
	starts := quickStarts(t)
	if len(starts) < 11 {
		t.Fatalf("%d quick starts", len(starts))
	}
	for name, text := range starts {
		var w struct {
			Permissions map[string]string
			Jobs        map[string]struct {
				Steps []struct {
					Uses, If string
					With     map[string]string
				}
			}
		}
		if err := yaml.Unmarshal([]byte(text), &w); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		anchor := strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(name), " ", "-"), ".", "")
		row := regexp.MustCompile(`\| \[` + regexp.QuoteMeta(name) + `\]\(#` + anchor + "\\) \\| `\"([^\"]*)\"` \\|").FindStringSubmatch(page)
		steps := w.Jobs["test"].Steps
		last := steps[len(steps)-1]
		if row == nil || len(w.Permissions) != 1 || w.Permissions["contents"] != "read" || !strings.HasPrefix(last.Uses, "actions/upload-artifact@") || last.If != "always()" {
			t.Errorf("%s: %v, %v, %+v", name, row, w.Permissions, last)
			continue
		}
		// What a tool writes where the path of the upload has a wildcard.
		file := filepath.ToSlash(filepath.Base(strings.NewReplacer("TEST-*.xml", "TEST-com.acme.CartTest.xml", "*.xml", "TEST-com.acme.CartTest.xml", "*.trx", "ci_2026.trx").Replace(last.With["path"])))
		if ok, err := doublestar.Match(row[1], file); err != nil || !ok {
			t.Errorf("%s uploads %s, which %s does not match (%v)", name, file, row[1], err)
		}
	}
}
