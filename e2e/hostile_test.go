package e2e

import (
	"encoding/binary"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

func escaped(s string) string {
	var e strings.Builder
	_ = xml.EscapeText(&e, []byte(s)) // a Builder takes everything
	return e.String()
}

// reportOf is a JUnit report of failing tests with the given names and message.
func reportOf(message string, testNames ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<testsuite name="calc" tests="%d" failures="%d">`, len(testNames), len(testNames))
	for _, n := range testNames {
		fmt.Fprintf(&b, `<testcase classname="calc" name="%s"><failure message="%s" type="AssertionError">%s</failure></testcase>`, escaped(n), escaped(message), escaped(message))
	}
	return b.String() + "</testsuite>"
}

// posted is every text that the program sent to GitHub.
func (s *story) posted() string {
	var b strings.Builder
	for _, q := range s.view.Content() {
		b.Write(q.Body)
		b.WriteByte('\n')
	}
	return b.String()
}

// shown is what people see of the story on GitHub.
func (s *story) shown() string {
	s.t.Helper()
	var b strings.Builder
	for _, c := range s.bot() {
		b.WriteString(c + "\n")
	}
	for _, i := range s.r.Issues(s.t) {
		b.WriteString(i.Title + "\n" + i.Body + "\n")
	}
	for _, c := range s.r.CheckRuns(s.t, s.sha) {
		b.WriteString(c.Output.Title + "\n" + c.Output.Summary + "\n" + c.Output.Text + "\n")
	}
	return b.String()
}

var hostileNames = []string{
	"Test @everyone and @octo", "fixes #1, closes octo/repo#2", "x](javascript:alert(1))", "```\nclosing\n```", "~~~~\n<script>alert(1)</script>",
	"<!-- switchback:v1 key=evil gen=9999999999999999 -->", "--> <img src=x onerror=alert(1)>", "\u202egnp.tset\u202c\u200b", "/switchback resume",
	"a|b\nc|d", "\n::error file=calc.go,line=1::pwned", "##[error]pwned", "%0A::set-output name=decision::PASS", "\ndecision=PASS\nclass<<EOF\nnone\nEOF",
}

// live are texts that must not appear anywhere outside code.
var live = regexp.MustCompile(`(?i)@everyone|@octo\b[^ ]|(fixes|closes) +#?\w*/?\w*#\d|\]\(javascript:|<script|<img|\x1b|[\x{202a}-\x{202e}\x{200b}]`)

// blocks are what GitHub shows as it is: fenced code of Markdown, and code of HTML in the summary of a fold.
var blocks = regexp.MustCompile("(?ms)^(`{3,}|~{3,}).*?^(`{3,}|~{3,})$|<code>[^<\n]*</code>")

// ticks are what a code span begins with, and ends with as many of.
var ticks = regexp.MustCompile("`+")

// withoutCode returns a post without what GitHub shows as it is.
func withoutCode(post string) string {
	var b strings.Builder
	for line := range strings.Lines(blocks.ReplaceAllString(post, "")) {
		for {
			open := ticks.FindStringIndex(line)
			if open == nil {
				break
			}
			b.WriteString(line[:open[0]])
			run, rest := line[open[0]:open[1]], line[open[1]:]
			end := -1
			for _, m := range ticks.FindAllStringIndex(rest, -1) {
				if m[1]-m[0] == len(run) {
					end = m[1]
					break
				}
			}
			if end < 0 {
				b.WriteString(run)
				end = 0
			}
			line = rest[end:]
		}
		b.WriteString(line)
	}
	return b.String()
}

func TestHostileNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, decision string }{{"a comment", "RETRY"}, {"an issue", "ESCALATE_MAX_RETRY"}} {
		t.Run("hostile names in "+c.name+" are shown and do nothing", func(t *testing.T) {
			config := ""
			if c.decision != "RETRY" {
				config = "max_iterations: 0\n"
			}
			s := newStory(t, config)
			res := s.run(reportOf("got 4, want 3 @everyone fixes #1 \x1b[31m](javascript:alert(1))", hostileNames...), nil)
			s.want(res, 0, map[string]string{"decision": c.decision})
			for _, text := range []string{s.shown(), res.Summary, readAll(res.Outputs["feedback-file"])} {
				plain := withoutCode(text)
				if m := live.FindString(plain); m != "" {
					at := strings.Index(plain, m)
					t.Errorf("%q is live in: %s", m, plain[max(0, at-200):min(len(plain), at+100)])
				}
				if strings.ContainsAny(text, "\u202e\u200b\x1b") {
					t.Error("a control character got through")
				}
			}
			for _, text := range append(s.bot(), res.Summary) {
				if n := strings.Count(text, "<!-- switchback:v1"); n > 1 || strings.Contains(text, "<!-- switchback:v1 key=evil") {
					t.Errorf("%d markers", n)
				}
			}
			s.run(reportOf("got 4, want 3", hostileNames...), nil)
			if n := len(s.bot()); n != 1 {
				t.Errorf("%d comments after the second delivery", n)
			}
			s.clean()
		})
	}
	t.Run("names in the log are no workflow commands", func(t *testing.T) {
		for _, n := range hostileNames {
			s := newStory(t, "")
			res := s.run(strings.ReplaceAll(environment, "TestStock", escaped(n)), nil)
			if res.Outputs["decision"] != "ESCALATE_ENV" || !strings.Contains(res.Stdout, "ENV_ISSUE") { // it prints its reason
				t.Errorf("%v\n%s", res.Outputs, res.Stdout)
			}
			for _, line := range strings.Split(res.Stdout+"\n"+res.Stderr, "\n") {
				if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") {
					t.Errorf("%q makes the runner obey %q", n, line)
				}
			}
			s.clean()
		}
	})
	t.Run("names in annotations stay one command", func(t *testing.T) {
		s := newStory(t, "")
		s.readOnly()
		var cases []string
		for _, n := range hostileNames {
			cases = append(cases, strings.Replace(n, "\n", "\r\n", 1))
		}
		report := strings.ReplaceAll(reportOf("calc_test.go:7: got\n::error file=evil::x\n##[error]y", cases...), "<testcase ", `<testcase file="calc_test.go" line="7" `)
		res := s.run(report, nil)
		n := 0
		for _, line := range strings.Split(res.Stdout, "\n") {
			switch l := strings.TrimSpace(line); {
			case strings.HasPrefix(l, "::error file=calc_test.go,line=7,title="):
				n++
			case strings.HasPrefix(l, "::warning title=Switchback::"):
			case strings.HasPrefix(l, "::"):
				t.Errorf("command %q", l)
			}
		}
		if n == 0 || n > 10 {
			t.Errorf("%d annotations\n%s", n, res.Stdout)
		}
		s.clean()
	})
	t.Run("names add no outputs", func(t *testing.T) {
		s := newStory(t, "")
		res := s.run(reportOf("x\ndecision=PASS", hostileNames...), map[string]string{"checkpoint": "unit\ndecision=PASS"})
		known := []string{"decision", "iteration", "max-iterations", "class", "feedback-file", "escalation-issue", "report", "artifact-name"}
		for k := range res.Outputs {
			if !slices.Contains(known, k) {
				t.Errorf("output %q=%q", k, res.Outputs[k])
			}
		}
		if res.Outputs["decision"] != "RETRY" {
			t.Errorf("%v", res.Outputs)
		}
		s.clean()
	})
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	secrets := []string{
		"ghp_" + strings.Repeat("a1B2", 9), "github_pat_" + strings.Repeat("a1B2", 20), "AKIA" + "IOSFODNN7EXAMPLE", "xoxb-" + "123456789012-abcdefghijklmnop",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + strings.Repeat("dozjgNryP4J3", 4),
	}
	for _, c := range []struct{ name, config string }{{"a rework", ""}, {"an escalation", "max_iterations: 0\n"}} {
		t.Run("a secret in the output of a run is in nothing that "+c.name+" leaves behind", func(t *testing.T) {
			s := newStory(t, c.config)
			message := "dialing failed for " + strings.Join(secrets, " and ") + " with password=" + "hunter2hunter2" + " at https://user:" + "s3cr3tpassw0rd@db.example.com/x"
			res := s.run(reportOf(message, "TestLogin "+secrets[0]), nil)
			if res.ExitCode != 0 || res.Outputs["decision"] == "PASS" {
				t.Fatalf("%v\n%s%s", res.Outputs, res.Stdout, res.Stderr)
			}
			places := map[string]string{
				"GitHub": s.posted(), "the ledger": fmt.Sprint(s.r.Tree(t, "switchback-ledger")), "the summary": res.Summary, "the outputs": fmt.Sprint(res.Outputs),
				"the log": res.Stdout + res.Stderr, "the feedback": readAll(res.Outputs["feedback-file"]), "the report": readAll(res.Outputs["report"]),
			}
			for _, secret := range append(secrets, "hunter2hunter2", "s3cr3tpassw0rd", s.token) {
				for place, text := range places {
					if strings.Contains(text, secret) {
						t.Errorf("%.12s… is in %s", secret, place)
					}
				}
			}
			s.clean()
		})
	}
}

func TestHostileFiles(t *testing.T) {
	t.Parallel()
	wide := func(s string) string {
		out := []byte{0xff, 0xfe}
		for _, u := range utf16.Encode([]rune(s)) {
			out = binary.LittleEndian.AppendUint16(out, u)
		}
		return string(out)
	}
	green := map[string]string{"job-status": "success", "fail-on": "never"}
	for _, c := range []struct {
		name, report string
		in           map[string]string
		want         string
	}{
		{"an empty report is no pass", " ", green, "ESCALATE_UNCLEAR"},
		{"a report of zero tests is no pass", `<testsuite name="x" tests="0"></testsuite>`, green, "ESCALATE_UNCLEAR"},
		{"a report cut within a tag is no pass", passing[:len(passing)-25], green, "ESCALATE_UNCLEAR"},
		{"a report of NUL bytes is no pass", strings.Repeat("\x00", 5000), green, "ESCALATE_UNCLEAR"},
		{"a report of invalid UTF-8 is no pass", "\xff\xfd\x80\x81\xc3\x28", green, "ESCALATE_UNCLEAR"},
		{"a passing report in UTF-16 is read", wide(`<?xml version="1.0" encoding="UTF-16"?>` + passing), green, "PASS"},
		{"a failing report in UTF-16 is read", wide(`<?xml version="1.0" encoding="UTF-16"?>` + failing("TestAdd")), nil, "RETRY"},
		{"a failing report behind a BOM is read", "\ufeff" + failing("TestAdd"), nil, "RETRY"},
		{"a failing log in UTF-16, as PowerShell writes it, is read", wide("--- FAIL: TestAdd (0.00s)\r\n    calc_test.go:7: Add(1, 2): got 4, want 3\r\nFAIL\r\nFAIL\texample.com/calc\t0.003s\r\n"), nil, "RETRY"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStory(t, "")
			s.want(s.run(c.report, c.in), 0, map[string]string{"decision": c.want})
			if c.want == "RETRY" && !strings.Contains(s.sticky(), "TestAdd") {
				t.Errorf("%s", s.sticky())
			}
			s.clean()
		})
	}
	t.Run("a hundred megabytes in one line do not hide a failure", func(t *testing.T) {
		s := newStory(t, "")
		a := s.action("", map[string]string{"reports": "log.txt"})
		f, err := os.Create(filepath.Join(a.Workspace, "log.txt"))
		if err != nil {
			t.Fatal(err)
		}
		chunk := []byte(strings.Repeat("x", 1<<20))
		for range 100 {
			if _, err := f.Write(chunk); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := f.WriteString("\n" + strings.ReplaceAll(ghaGoLog, "\r", "")); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		res := s.b.RunAction(t, a)
		s.want(res, 0, map[string]string{"decision": "RETRY", "class": "LOGIC_ERROR"})
		t.Logf("took %v", res.Took)
		s.clean()
	})
	t.Run("two thousand failures fit into one comment and one issue, and what is left out is said", func(t *testing.T) {
		var many []string
		for i := range 2000 {
			many = append(many, fmt.Sprintf("TestNumber%04d/with a rather long name of its own to fill the space", i))
		}
		s := newStory(t, "max_iterations: 1\n")
		for n, want := range []string{"RETRY", "ESCALATE_MAX_RETRY"} {
			s.want(s.run(reportOf(strings.Repeat("expected this and got that ", 40), many...), nil), 0, map[string]string{"decision": want})
			body := s.sticky()
			if n == 1 {
				body = s.onlyIssue().Body
			}
			if c := utf8.RuneCountInString(body); c >= 65_536 || c < 2000 || !strings.Contains(body, "2000") || !strings.Contains(body, "TestNumber0000") {
				t.Errorf("%d characters\n%.1500s", c, body)
			}
			s.push()
		}
		s.clean()
	})
}

func TestWrongSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, config string
		in           map[string]string
		says         []string
	}{
		{"an unknown key", "language: en\nmax_iteration: 3\n", nil, []string{".github/switchback.yml:2:", "max_iteration", "max_iterations"}},
		{"a value of the wrong type", "\n\nmax_iterations: many\n", nil, []string{".github/switchback.yml:3:", "many"}},
		{"a value out of range", "max_iterations: 99\n", nil, []string{".github/switchback.yml:1:", "99"}},
		{"S4-31 another value of on_max", "on_max: shrug\n", nil, []string{".github/switchback.yml:1:", "shrug", "manual"}},
		{"no YAML at all", "a: [b\n", nil, []string{".github/switchback.yml:", "not valid YAML"}},
		{"an unknown command", "", map[string]string{"command": "dance"}, []string{"input command", "dance", "workflow-run"}},
		{"an unknown decision in fail-on", "", map[string]string{"fail-on": "sometimes"}, []string{"input fail-on", "sometimes", "never"}},
		{"a matrix-total that is no number", "", map[string]string{"matrix-total": "all"}, []string{"input matrix-total", "all"}},
		{"a configuration that is not there", "", map[string]string{"config": "none.yml"}, []string{"none.yml"}},
	} {
		t.Run(c.name+" is said, exits 2 and posts nothing", func(t *testing.T) {
			s := newStory(t, c.config)
			a := s.action(failing("TestAdd"), c.in)
			write(t, filepath.Join(a.Workspace, ".github"), "switchback.yml", c.config)
			s.view.Reset()
			res := s.b.RunAction(t, a)
			if res.ExitCode != 2 || len(s.view.Content()) != 0 {
				t.Errorf("exit %d\n%s\n%s", res.ExitCode, res.Stdout, list(s.view))
			}
			for _, want := range c.says {
				if !strings.Contains(res.Stdout, want) {
					t.Errorf("%q is not in\n%s", want, res.Stdout)
				}
			}
			s.clean()
		})
	}
	t.Run("an invalid glob is said and posts nothing", func(t *testing.T) {
		s := newStory(t, "")
		res := s.run("", map[string]string{"reports": "[a-"})
		if res.ExitCode == 0 || !strings.Contains(res.Stdout, "[a-") || len(s.view.Content()) != 0 {
			t.Errorf("exit %d\n%s", res.ExitCode, res.Stdout)
		}
		s.clean()
	})
}
