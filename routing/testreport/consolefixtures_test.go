package testreport_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
	"github.com/switchback-ci/switchback/routing/testreport/internal/reader"
)

// consoleFixtures is the shared set of third-party logs; where it is not checked out
// there are fewer subtests.
const consoleFixtures = "../../../shared/fixtures"

type fixtureFile struct {
	Set, File, Framework string
	Expect               struct {
		Failing  []string `json:"failing_tests"`
		Complete *bool    `json:"failing_tests_complete"`
		NFailed  *int     `json:"n_failed"`
	}
}

func fixtureFiles(t *testing.T, sets ...string) []fixtureFile {
	t.Helper()
	var all []fixtureFile
	for _, set := range sets {
		b, err := os.ReadFile(filepath.Join(consoleFixtures, set, "manifest.json"))
		if err != nil {
			continue
		}
		var m struct{ Files []fixtureFile }
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatalf("%s: %v", set, err)
		}
		for _, f := range m.Files {
			f.Set = set
			all = append(all, f)
		}
	}
	return all
}

func (f fixtureFile) path() string { return filepath.Join(consoleFixtures, f.Set, f.File) }

// onlyConsoles reads a file with the named consoles alone.
func readConsoles(t *testing.T, text string, names ...string) (*model.Report, model.Info) {
	t.Helper()
	c := model.NewCollector(model.Limits{})
	info, err := reader.ReadLog(strings.NewReader(text), model.Options{}, reader.Log{Consoles: names}, c)
	if err != nil && len(info.Formats) > 0 {
		t.Fatal(err)
	}
	return c.Finish(info), info
}

var ownConsoles = []string{"pytest", "jest", "vitest", "cargo"}

// failingNames returns the names of failing tests, and of files that could
// not be collected or loaded as the test sets count them.
func failingNames(r *model.Report, files bool) []string {
	var names []string
	seen := map[string]bool{}
	add := func(n string) {
		if !seen[n] {
			seen[n] = true
			names = append(names, n)
		}
	}
	for _, f := range r.Failing {
		add(f.FullName())
	}
	for _, p := range r.Problems {
		if files && p.Kind == model.KindSetup && strings.HasSuffix(p.Name, ".py") {
			add(p.Name)
		}
	}
	return names
}

// foundMissedExtra compares names as the scorer of the consoleFixtures does.
func foundMissedExtra(got, want []string) (found, missed, extra []string) {
	used := make([]bool, len(got))
next:
	for _, w := range want {
		for i, g := range got {
			if !used[i] && sameTest(g, w) {
				used[i] = true
				found = append(found, w)
				continue next
			}
		}
		missed = append(missed, w)
	}
	for _, g := range got {
		ok := false
		for _, w := range want {
			ok = ok || sameTest(g, w)
		}
		if !ok {
			extra = append(extra, g)
		}
	}
	return found, missed, extra
}

var notWord = regexp.MustCompile(`[\W_]+`)

func onlyAlnum(s string) string { return notWord.ReplaceAllString(strings.ToLower(s), "") }

func sameTest(p, e string) bool {
	if onlyAlnum(p) == onlyAlnum(e) {
		return true
	}
	pl, pc := splitTest(p)
	el, ec := splitTest(e)
	if onlyAlnum(pl) == onlyAlnum(el) {
		a, b := onlyAlnum(pc), onlyAlnum(ec)
		return a == "" || b == "" || strings.HasSuffix(a, b) || strings.HasSuffix(b, a)
	}
	a, b := onlyAlnum(p), onlyAlnum(e)
	if len(a) > len(b) {
		a, b = b, a
	}
	return len(a) >= 12 && strings.HasSuffix(b, a)
}

func splitTest(n string) (leaf, class string) {
	n = strings.TrimSuffix(strings.TrimSpace(n), "()")
	base := func(s string) string {
		s = strings.TrimSuffix(s, ".py")
		return s[strings.LastIndexAny(s, "./\\")+1:]
	}
	if strings.HasSuffix(n, ".py") && !strings.Contains(n, " ") && !strings.Contains(n, "::") {
		return base(n), ""
	}
	if strings.HasPrefix(n, "(") && strings.HasSuffix(n, ")") {
		return base(strings.Trim(n, "()")), ""
	}
	for _, sep := range []string{"::", " › ", " > "} {
		if p := strings.Split(n, sep); len(p) > 1 {
			return p[len(p)-1], base(p[len(p)-2])
		}
	}
	if i := strings.LastIndexByte(n, '.'); i > 0 && !strings.Contains(n, " ") {
		return n[i+1:], base(n[:i])
	}
	return n, ""
}

// TestConsolesOnFixtures reads the logs of the consoleFixtures that hold output of
// pytest, jest, vitest or cargo and compares the failing tests.
func TestConsolesOnFixtures(t *testing.T) {
	frameworks := map[string]bool{"python": true, "jest": true, "pytest -rA": true}
	for _, f := range fixtureFiles(t, "bugswarm_gha", "bugswarm_travis", "swebench_eval") {
		if !frameworks[f.Framework] {
			continue
		}
		t.Run(f.Set+"/"+f.File, func(t *testing.T) {
			b, err := os.ReadFile(f.path())
			if err != nil {
				t.Fatal(err)
			}
			rep, info := readConsoles(t, string(b), ownConsoles...)
			got := failingNames(rep, true)
			found, missed, extra := foundMissedExtra(got, f.Expect.Failing)
			t.Logf("SCORE %s %v found %d missed %d extra %d counts %+v problems %d", f.Set, info.Formats, len(found), len(missed), len(extra), rep.Counts, len(rep.Problems))
			for _, p := range rep.Problems {
				if p.Kind != model.KindSetup {
					t.Logf("problem %s %s:%d %q at %d", p.Kind, p.File, p.Line, parse.HeadLine(p.Message), p.At)
				}
			}
			if w, known := knownMismatch[f.File]; known {
				t.Logf("known mismatch: %s", w)
				return
			}
			if len(missed) > 0 || len(extra) > 0 {
				t.Errorf("missed %q\nextra %q", missed, extra)
			}
		})
	}
}

// TestConsolesClaimNothingElse reads the logs of other tools: no reader of
// this file may recognise anything in them.
func TestConsolesClaimNothingElse(t *testing.T) {
	sets := []string{"bugswarm_gha", "bugswarm_travis", "swebench_eval", "cidiff", "faultline_real", "go_logparser", "treeherder", "pytorch_classify", "structured", "errorformat", "gojunit", "gotestsum"}
	for _, f := range fixtureFiles(t, sets...) {
		t.Run(f.Set+"/"+f.File, func(t *testing.T) {
			b, err := os.ReadFile(f.path())
			if err != nil {
				t.Fatal(err)
			}
			_, info := readConsoles(t, string(b), ownConsoles...)
			got := strings.Join(info.Formats, " ")
			for _, f := range format.All() {
				if f.Document != nil && !f.SelfDelimiting { // embedded, not a console
					got = strings.ReplaceAll(got, f.Name, "")
				}
			}
			if want := claimed[f.File]; got != want && !(want == "" && strings.Contains("jest python pytest -rA", f.Framework) && f.Framework != "") {
				t.Errorf("claimed by %q, want %q", got, want)
			}
		})
	}
}

// claimed names the logs of other sets in which the tools do stand.
var claimed = map[string]string{
	"gha_catchall_sigint.txt":                                        "pytest",
	"pytest_failure.txt":                                             "pytest",
	"unittest_failed_consistently.txt":                               "pytest",
	"github-ctrlplusb-react-universally-503-s1-ddbf75180157ddd4.log": "jest",
	"github-vuejs-vue-cli-2995-s1-e2ed57738bc10940.log":              "jest",
	"codecentric__spring-boot-admin__2003301608-orig.log":            "jest", // Maven runs it
	"artifact-detective__cargo-test-output.txt":                      "cargo",
}

// TestPytorchFragments reads logs that begin in the middle of a session.
func TestPytorchFragments(t *testing.T) {
	want := map[string]string{
		"pytest_failure.txt":               "distributed/test_c10d_spawn_gloo.py::TestDistributedNNFunctionsGloo::test_all_gather",
		"unittest_failed_consistently.txt": "dynamo/test_dynamic_shapes.py::DynamicShapesReproTests::test_vars_traced_correctly_under_compile_dynamic_shapes",
	}
	for _, f := range fixtureFiles(t, "pytorch_classify") {
		if want[f.File] == "" {
			continue
		}
		b, err := os.ReadFile(f.path())
		if err != nil {
			t.Fatal(err)
		}
		rep, _ := readConsoles(t, string(b), "pytest")
		if got := failingNames(rep, false); len(got) == 0 || got[0] != want[f.File] {
			t.Errorf("%s: failing %q, want first %q", f.File, got, want[f.File])
		}
	}
}

// knownMismatch names the logs on which the readers of this file cannot agree
// with the manifest, and why.
var knownMismatch = map[string]string{
	"bwhmather__verktyg__109227526-orig.log": "unittest, not pytest",
	"tornadoweb__tornado__73309390-orig.log": "tornado's own unittest runner",
}
