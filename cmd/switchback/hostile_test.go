package main

import (
	"bytes"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/bot/render/rendertest"
)

// junit is a report of one failing test.
func junit(t *testing.T, name, message string) string {
	t.Helper()
	escaped := func(s string) string {
		var b bytes.Buffer
		if err := xml.EscapeText(&b, []byte(s)); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	file := filepath.Join(t.TempDir(), "junit.xml")
	report := `<testsuite name="suite" tests="1" failures="1"><testcase classname="suite" name="` + escaped(name) + `"><failure message="` + escaped(message) + `">` + escaped(message) + `</failure></testcase></testsuite>`
	if err := os.WriteFile(file, []byte(report), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestHostileReportOnGitHub(t *testing.T) {
	t.Parallel()
	const payload = "@acme/security <img src=https://e.vil/p.png> <a href=https://e.vil>x</a> closes #1"
	for name, texts := range map[string][2]string{
		"S6-1 a message with a line of 260 backticks stays in its block":   {"TestPay", "failed\n" + strings.Repeat("`", 260) + "\n" + payload + "\n\n# owned\n/switchback retry 9"},
		"S6-1 a name with 80 backticks stays in its code span":             {strings.Repeat("`", 80) + " " + payload, "failed"},
		"S6-1 a message with tildes and backticks over and over is inert":  {"TestPay", strings.Repeat(strings.Repeat("`", 255)+"\n"+strings.Repeat("~", 255)+"\n", 5) + payload},
		"S6-1 a name that hides its backticks behind escapes is no longer": {strings.Repeat("`\u200b", 90) + payload, payload},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, language := range []string{"en", "ko"} {
				rendertest.Compare(t, "https://github.com", "", func(f func(string) string) []rendertest.Page {
					dir := t.TempDir()
					config := filepath.Join(dir, "switchback.yml")
					if err := os.WriteFile(config, []byte("version: 1\nlanguage: "+language+"\nmax_iterations: 1\n"), 0o644); err != nil {
						t.Fatal(err)
					}
					var pages []rendertest.Page
					for n, run := range []string{"1", "2"} {
						a, _ := route(t, filepath.Join(dir, "ledger"), "--config", config, "--checkpoint", "unit", "--run", run, "--sha", sha(n+1), junit(t, f(texts[0]), f(texts[1])))
						for _, e := range a.Effects {
							switch e.Kind {
							case "comment":
								pages = append(pages, rendertest.Page{Name: "comment", Body: markdown.Text(e.Body), Marker: caseKey + "/comment"})
							case "issue":
								pages = append(pages, rendertest.Page{Name: "issue", Body: markdown.Text(e.Body), Marker: caseKey + "/unit/issue/ESCALATE_MAX_RETRY"})
							case "check":
								pages = append(pages, rendertest.Page{Name: "check", Body: markdown.Text(e.Body)})
							}
						}
					}
					if len(pages) != 5 {
						t.Fatalf("%d pages", len(pages))
					}
					return pages
				})
			}
		})
	}
}
