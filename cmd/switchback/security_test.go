package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/switchback-ci/switchback/bot/ledger/gitbranch"
)

func readRoot(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The rulesets are imported as they are, and docs/security.md leads to them.
func TestLedgerRulesets(t *testing.T) {
	t.Parallel()
	page := readRoot(t, "docs/security.md")
	for name, want := range map[string]struct {
		rules  []string
		bypass []int64
	}{
		"ledger-history.json": {[]string{"deletion", "non_fast_forward"}, nil},
		"ledger-writers.json": {[]string{"creation", "update"}, []int64{15368}}, // the App of GitHub Actions
	} {
		t.Run("S6-13 "+name, func(t *testing.T) {
			var r struct {
				Name        string `json:"name"`
				Target      string `json:"target"`
				Enforcement string `json:"enforcement"`
				Conditions  struct {
					Ref struct {
						Include []string `json:"include"`
						Exclude []string `json:"exclude"`
					} `json:"ref_name"`
				} `json:"conditions"`
				Rules []struct {
					Type string `json:"type"`
				} `json:"rules"`
				Bypass []struct {
					ID   int64  `json:"actor_id"`
					Type string `json:"actor_type"`
					Mode string `json:"bypass_mode"`
				} `json:"bypass_actors"`
			}
			d := json.NewDecoder(strings.NewReader(readRoot(t, "docs/rulesets/"+name)))
			d.DisallowUnknownFields()
			if err := d.Decode(&r); err != nil {
				t.Fatal(err)
			}
			var rules []string
			for _, x := range r.Rules {
				rules = append(rules, x.Type)
			}
			var bypass []int64
			for _, b := range r.Bypass {
				bypass = append(bypass, b.ID)
				if b.Type != "Integration" || b.Mode != "always" {
					t.Errorf("%+v", b)
				}
			}
			if r.Name == "" || r.Target != "branch" || r.Enforcement != "active" || !slices.Equal(r.Conditions.Ref.Include, []string{"refs/heads/" + gitbranch.Branch}) ||
				r.Conditions.Ref.Exclude == nil || !slices.Equal(rules, want.rules) || !slices.Equal(bypass, want.bypass) {
				t.Errorf("%+v", r)
			}
			if !strings.Contains(page, "(rulesets/"+name+")") || !strings.Contains(page, "--input docs/rulesets/"+name) {
				t.Error("docs/security.md does not lead to it")
			}
		})
	}
}

// SECURITY.md has a row for each attacker, and names each requirement of the trust boundary.
func TestThreatModel(t *testing.T) {
	t.Parallel()
	page := readRoot(t, "SECURITY.md")
	const group, most = "S6", 21
	for n := 1; n <= most; n++ {
		if id := fmt.Sprintf("%s-%d", group, n); !regexp.MustCompile(`\b` + id + `\b`).MatchString(page) {
			t.Errorf("SECURITY.md does not name %s", id)
		}
	}
	rows := 0
	for _, line := range strings.Split(page, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 7 || strings.HasPrefix(line, "| who") || strings.HasPrefix(line, "|--") {
			continue
		}
		rows++
		if ids := requirementIDs(cells[5]); len(ids) == 0 {
			t.Errorf("no test shows what stops %q", cells[1])
		}
	}
	if rows != 10 {
		t.Errorf("%d rows, want one for each of 10 attackers", rows)
	}
}

// Every manifest gets updates, and CI looks for known vulnerabilities with a pinned tool.
func TestDependencyChecks(t *testing.T) {
	t.Parallel()
	var bot struct {
		Updates []struct {
			Ecosystem   string `yaml:"package-ecosystem"`
			Directory   string
			Directories []string
		}
	}
	if err := yaml.Unmarshal([]byte(readRoot(t, ".github/dependabot.yml")), &bot); err != nil {
		t.Fatal(err)
	}
	watched := map[string]bool{}
	for _, u := range bot.Updates {
		for _, dir := range append(u.Directories, u.Directory) {
			watched[u.Ecosystem+" "+dir] = true
		}
	}
	cmd := exec.Command("git", "ls-files", "-z", "--", "*go.mod", "*package.json", "*Dockerfile", "*compose.yaml", "*action.yml")
	cmd.Dir = filepath.Join("..", "..")
	list, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	manifests := 0
	t.Run("S6-21 updates are proposed for every manifest", func(t *testing.T) {
		for name := range bytes.SplitSeq(bytes.TrimRight(list, "\x00"), []byte{0}) {
			if strings.Contains(string(name), "testdata/") {
				continue
			}
			kind := map[string]string{"go.mod": "gomod", "package.json": "npm", "Dockerfile": "docker", "compose.yaml": "docker-compose", "action.yml": "github-actions"}[path.Base(string(name))]
			if dir := path.Join("/", path.Dir(string(name))); !watched[kind+" "+dir] {
				t.Errorf(".github/dependabot.yml has no updates of %s in %s", kind, dir)
			}
			manifests++
		}
		if manifests < 6 {
			t.Errorf("%d manifests were found", manifests)
		}
	})
	t.Run("S6-21 CI looks for known vulnerabilities", func(t *testing.T) {
		if !strings.Contains(readRoot(t, ".github/workflows/ci.yml"), "run: make vulnerabilities\n") ||
			!strings.Contains(readRoot(t, "tools/go.mod"), "\tgolang.org/x/vuln/cmd/govulncheck\n") ||
			!regexp.MustCompile(`(?m)^vulnerabilities: \$\(BIN\)/govulncheck .*\n\t\$\(BIN\)/govulncheck \./\.\.\.$`).MatchString(readRoot(t, "Makefile")) {
			t.Error("no job of ci.yml runs the pinned govulncheck")
		}
	})
}
