package doctor

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const (
	tests = `name: CI
on: [push]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - run: make test
      - uses: actions/upload-artifact@043fb46d1a93c77aae656e7c1c64a875d1fc6a0a
        with: {name: out, path: report.xml}
`
	routing = `name: Switchback
on:
  workflow_run: {workflows: [CI], types: [completed]}
  issues: {types: [edited]}
  issue_comment: {types: [created]}
  schedule: [{cron: "17 * * * *"}]
permissions: {}
jobs:
  route:
    runs-on: ubuntu-latest
    permissions: {actions: write, checks: write, contents: write, issues: write, pull-requests: write}
    steps:
      - uses: switchback-ci/switchback@v1.0.0
        with: {reports: "**/report.xml"}
`
	short = `on: pull_request
permissions: {contents: write, pull-requests: write, issues: write, checks: write}
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: switchback-ci/switchback@v1
        if: always()
        with: {reports: out/report.xml}
`
)

// printed returns findings as they are printed.
func printed(all []Finding) string {
	var b strings.Builder
	for _, f := range all {
		b.WriteString(f.String() + "\n")
	}
	return b.String()
}

func TestCheckout(t *testing.T) {
	t.Parallel()
	with := func(old, text string) func(map[string]string) {
		return func(files map[string]string) {
			files[".github/workflows/switchback.yml"] = strings.Replace(routing, old, text, 1)
		}
	}
	for _, c := range []struct {
		name  string
		files func(map[string]string)
		stops bool
		says  []string
	}{
		{"all is well", func(map[string]string) {}, false, []string{"ok       workflows      .github/workflows/switchback.yml:13: the job route may do what it needs", "ok       reports"}},
		{"no workflow", func(f map[string]string) { delete(f, ".github/workflows/switchback.yml") }, true, []string{"no workflow uses switchback-ci/switchback", "→ `switchback init --write`"}},
		{"the App acts", func(f map[string]string) {
			delete(f, ".github/workflows/switchback.yml")
			f[".github/switchback.yml"] = "acts: app\n"
		}, false, []string{"no workflow needs to use the Action"}},
		{"a permission is missing", with(", issues: write", ""), true, []string{"error    permissions    .github/workflows/switchback.yml:9: the job route lacks `issues: write`: no escalation is opened", "→ add `issues: write` to `permissions:`"}},
		{"actions may be read only", with("actions: write", "actions: read"), false, []string{"note     permissions", "failed jobs are not run again"}},
		{"actions are missing", with("actions: write, ", ""), true, []string{"lacks `actions: write`"}},
		{"no permissions at all", with("permissions: {}\n", ""), false, []string{"ok "}},
		{"permissions by default", func(f map[string]string) {
			f[".github/workflows/switchback.yml"] = "on: {workflow_run: {workflows: [CI]}}\njobs:\n  route:\n    steps:\n      - uses: switchback-ci/switchback@v1\n"
		}, false, []string{"has no `permissions:`", "no command in a comment is carried out", "no reports are named"}},
		{"write-all", with("{actions: write, checks: write, contents: write, issues: write, pull-requests: write}", "write-all"), false, []string{"may do what it needs"}},
		{"a branch of the action", with("@v1.0.0", "@main"), true, []string{"@main is no release", "→ use a version such as @v1,"}},
		{"a workflow that is not there", with("workflows: [CI]", "workflows: [Cl]"), true, []string{`names the workflow "Cl", and none has that name`, `did you mean "CI"?`}},
		{"not when it has completed", with("types: [completed]", "types: [requested]"), true, []string{"write `types: [completed]`"}},
		{"no workflow is named", with("workflows: [CI], ", ""), true, []string{"on: workflow_run names no workflow"}},
		{"no answers", with("  issue_comment: {types: [created]}\n", ""), false, []string{"warning  events", "→ write `issue_comment: {types: [created]}` below `on:`"}},
		{"nothing is analyzed", with("  workflow_run: {workflows: [CI], types: [completed]}\n", ""), true, []string{"no run is analyzed"}},
		{"globs that match nothing that is uploaded", with("**/report.xml", "**/junit.json"), true, []string{"**/junit.json matches nothing that CI uploads: out (report.xml)", `→ write ` + "`reports: \"out/**\"`"}},
		{"a glob that is none", with("**/report.xml", "[a"), true, []string{`"[a" is no valid glob`}},
		{"nothing is uploaded", func(f map[string]string) { f[".github/workflows/ci.yml"] = strings.Split(tests, "      - uses")[0] }, false, []string{"warning  reports", "uploads no artifact"}},
		{"the globs of the configuration", func(f map[string]string) {
			with("        with: {reports: \"**/report.xml\"}\n", "")(f)
			f[".github/switchback.yml"] = "reports: [\"other/*\"]\n"
		}, true, []string{"error    reports        .github/switchback.yml: other/* matches nothing"}},
		{"the short form", func(f map[string]string) {
			f[".github/workflows/switchback.yml"] = short
			f["out/report.xml"] = "<testsuite/>"
		}, false, []string{`"out/report.xml" matches 1 files of this checkout`}},
		{"the short form before the tests ran", func(f map[string]string) { f[".github/workflows/switchback.yml"] = short }, false, []string{`note     reports        .github/workflows/switchback.yml:7: "out/report.xml" matches no file of this checkout`}},
		{"the short form without reports", func(f map[string]string) {
			f[".github/workflows/switchback.yml"] = strings.Split(short, "        with")[0]
		}, true, []string{"the step names no reports"}},
		{"a configuration that is wrong", func(f map[string]string) { f[".github/switchback.yml"] = "max_iteration: 3\n" }, true, []string{`error    configuration  .github/switchback.yml:1: unknown key "max_iteration"; did you mean "max_iterations"?`}},
		{"a rule that is wrong", func(f map[string]string) {
			f[".github/switchback.yml"] = "rules:\n  - {name: a, pattern: \"(\", class: ENV_ISSUE}\n"
		}, true, []string{".github/switchback.yml:2:"}},
		{"two configurations", func(f map[string]string) { f[".github/switchback.yml"], f[".github/switchback.yaml"] = "", "" }, true, []string{".github/switchback.yaml: there is also .github/switchback.yml"}},
		{"a workflow that is no YAML", func(f map[string]string) { f[".github/workflows/x.yml"] = "a: [\n" }, true, []string{".github/workflows/x.yml: not valid YAML"}},
	} {
		files := map[string]string{".github/workflows/ci.yml": tests, ".github/workflows/switchback.yml": routing}
		c.files(files)
		tree := fstest.MapFS{}
		for name, text := range files {
			tree[name] = &fstest.MapFile{Data: []byte(text)}
		}
		all := Checkout(tree, now)
		got := printed(all)
		if Stops(all) != c.stops {
			t.Errorf("%s: stops %v\n%s", c.name, !c.stops, got)
		}
		for _, s := range c.says {
			if !strings.Contains(got, s) {
				t.Errorf("%s: %q is missing in\n%s", c.name, s, got)
			}
		}
	}
}

// reply is what the stub of GitHub answers to a path.
type reply struct {
	status int
	body   string
	header map[string]string
}

const known = `{"default_branch":"main","has_issues":true,"permissions":{"push":true}}`

func TestGitHub(t *testing.T) {
	t.Parallel()
	const repo = "/repos/acme/app"
	refused := reply{403, `{"message":"Resource not accessible by personal access token"}`, map[string]string{"X-Accepted-GitHub-Permissions": "issues=read"}}
	for _, c := range []struct {
		name   string
		token  string
		answer map[string]reply
		ahead  time.Duration // of this machine's clock
		stops  bool
		says   []string
	}{
		{"all is well", "github_pat_x", nil, 0, false, []string{"ok       reachability", "ok       clock", "ok       token", "ok       ledger"}},
		{"a token that is not known", "ghp_x", map[string]reply{repo: {401, `{"message":"Bad credentials"}`, nil}}, 0, true, []string{"GitHub does not know the token: Bad credentials"}},
		{"no access", "ghp_x", map[string]reply{repo: {404, `{"message":"Not Found"}`, nil}}, 0, true, []string{"acme/app does not exist, or the token has no access to it"}},
		{"no token, and a private repository", "", map[string]reply{repo: {404, `{}`, nil}}, 0, true, []string{"there is no token", "→ set GITHUB_TOKEN"}},
		{"no token", "", nil, 0, false, []string{"warning  token"}},
		{"the rate limit", "", map[string]reply{repo: {403, `{"message":"API rate limit exceeded"}`, map[string]string{"X-RateLimit-Remaining": "0"}}}, 0, true, []string{"the rate limit is used up"}},
		{"single sign-on", "ghp_x", map[string]reply{repo: {403, `{}`, map[string]string{"X-GitHub-SSO": "required"}}}, 0, true, []string{"authorize the token"}},
		{"an outage", "ghp_x", map[string]reply{repo: {502, `oops`, nil}}, 0, true, []string{"Bad Gateway (HTTP 502)"}},
		{"pages instead of the API", "ghp_x", map[string]reply{repo: {200, `<html>`, nil}}, 0, true, []string{"does not answer as GitHub does"}},
		{"a classic token without the scope", "ghp_x", map[string]reply{repo: {200, known, map[string]string{"X-OAuth-Scopes": "gist, read:org"}}}, 0, true, []string{`the token has the scopes "gist, read:org"`, "→ give it the scope `repo`"}},
		{"a classic token with the scope", "ghp_x", map[string]reply{repo: {200, known, map[string]string{"X-OAuth-Scopes": "repo"}}}, 0, false, []string{"ok       token"}},
		{"a reader's token", "ghp_x", map[string]reply{repo: {200, `{"default_branch":"main","permissions":{"push":false}}`, nil}}, 0, true, []string{"its owner may not write"}},
		{"an archived repository", "ghs_x", map[string]reply{repo: {200, `{"default_branch":"main","archived":true}`, nil}}, 0, true, []string{"archived"}},
		{"issues are disabled", "ghs_x", map[string]reply{repo: {200, `{"default_branch":"main","has_issues":false}`, nil}}, 0, true, []string{"no escalation can be opened"}},
		{"issues may not be read", "github_pat_x", map[string]reply{repo + "/issues": refused}, 0, true, []string{"the token may not read issues: Resource not accessible by personal access token (HTTP 403)", "→ give it issues=read"}},
		{"an empty repository", "github_pat_x", map[string]reply{repo + "/commits/main/check-runs": {404, `{}`, nil}}, 0, false, nil},
		{"the clock is ahead", "ghs_x", nil, 40 * time.Second, false, []string{"warning  clock", "40s ahead of GitHub"}},
		{"the clock is behind", "ghs_x", nil, -5 * time.Minute, true, []string{"error    clock", "5m0s behind GitHub", "→ synchronize the clock"}},
		{"a rule blocks the ledger", "ghs_x", map[string]reply{repo + "/rules/branches/switchback-ledger": {200, `[{"type":"pull_request","ruleset_id":7},{"type":"deletion","ruleset_id":8}]`, nil}}, 0, true,
			[]string{"the rule pull_request keeps Switchback from writing switchback-ledger: it changes by pull requests only", "→ exempt switchback-ledger"}},
		{"a rule that GitHub Actions bypasses", "ghs_x", map[string]reply{repo + "/rules/branches/switchback-ledger": {200, `[{"type":"update","ruleset_id":7}]`, nil},
			repo + "/rulesets/7": {200, `{"bypass_actors":[{"actor_id":15368,"actor_type":"Integration"}]}`, nil}}, 0, false, []string{"ok       ledger"}},
		{"a protected ledger", "ghs_x", map[string]reply{repo + "/branches/switchback-ledger": {200, `{"protected":true}`, nil}}, 0, false, []string{"warning  ledger"}},
		{"rules that cannot be read", "ghs_x", map[string]reply{repo + "/rules/branches/switchback-ledger": {404, `{}`, nil}}, 0, false, []string{"note     ledger"}},
		{"no workflows on the default branch", "ghs_x", map[string]reply{repo + "/contents/.github/workflows": {404, `{}`, nil}}, 0, false, []string{"the default branch, main, has no workflows"}},
		{"two configurations there", "ghs_x", map[string]reply{repo + "/contents/.github/switchback.yml": {200, `{}`, nil}, repo + "/contents/.github/switchback.yaml": {200, `{}`, nil}}, 0, true, []string{"of which the second is never read"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			asked := ""
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = r.Header.Get("Authorization")
				a, ok := c.answer[r.URL.Path]
				if !ok {
					a = map[string]reply{repo: {200, known, nil}, repo + "/branches/switchback-ledger": {404, `{}`, nil}, repo + "/contents/.github/workflows": {200, `[{"name":"ci.yml"}]`, nil},
						repo + "/contents/.github/switchback.yml": {404, `{}`, nil}, repo + "/contents/.github/switchback.yaml": {404, `{}`, nil}}[r.URL.Path]
					if a.status == 0 {
						a = reply{200, `[]`, nil}
					}
				}
				w.Header().Set("Date", now.Format(http.TimeFormat))
				for k, v := range a.header {
					w.Header().Set(k, v)
				}
				w.WriteHeader(a.status)
				_, _ = w.Write([]byte(a.body))
			}))
			defer s.Close()
			all := GitHub(context.Background(), API{URL: s.URL + "/", Token: c.token, Repo: "acme/app", HTTP: s.Client(), Now: func() time.Time { return now.Add(c.ahead) }})
			got := printed(all)
			if Stops(all) != c.stops {
				t.Errorf("stops %v\n%s", !c.stops, got)
			}
			for _, text := range c.says {
				if !strings.Contains(got, text) {
					t.Errorf("%q is missing in\n%s", text, got)
				}
			}
			if c.token != "" && asked != "Bearer "+c.token || strings.Contains(got, "github_pat_x") {
				t.Errorf("Authorization %q\n%s", asked, got)
			}
			if _, err := json.Marshal(all); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("GitHub cannot be reached", func(t *testing.T) {
		t.Parallel()
		all := GitHub(context.Background(), API{URL: "http://127.0.0.1:1", Repo: "acme/app", HTTP: http.DefaultClient, Now: time.Now})
		if got := printed(all); !Stops(all) || len(all) != 1 || !strings.Contains(got, "http://127.0.0.1:1 cannot be reached") || !strings.Contains(got, "HTTPS_PROXY") {
			t.Errorf("%s", got)
		}
	})
}
