package corpustest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
)

// sharedExpect is what a manifest of the shared fixtures says of one file.
type sharedExpect struct {
	Tests        *int     `json:"tests"`
	Passed       int      `json:"passed"`
	Failed       int      `json:"failed"`
	Skipped      int      `json:"skipped"`
	FailingTests []string `json:"failing_tests"`
	FailingCases []struct {
		Name      string `json:"name"`
		Class     string `json:"class"`
		Synthetic bool   `json:"synthetic"`
	} `json:"failing_cases"`
	FlakyTests      []string `json:"flaky_tests"`
	AlsoAccepted    []string `json:"also_accepted_failing"`
	FailedPackages  []string `json:"failed_packages"`
	WithoutTest     []string `json:"packages_failed_without_test"`
	FailingPackages []string `json:"failing_packages"`
	BuildFailed     []string `json:"build_failed"`
	OtherErrors     int      `json:"other_errors"`
	Alt             []sharedExpect
	Complete        bool `json:"failing_tests_complete"`
}

// SharedFile is an entry of a manifest of the shared recordings, with what must be read of it.
type SharedFile struct {
	Set    string
	File   string       `json:"file"`
	Format string       `json:"format"`
	Expect sharedExpect `json:"expect"`
}

// SharedFiles returns the entries of the shared fixtures whose format one of want
// is. The fixtures stand beside a checkout; without them it returns none.
func SharedFiles(t testing.TB, sets []string, want ...string) []SharedFile {
	t.Helper()
	var all []SharedFile
	for _, set := range sets {
		b, err := os.ReadFile(filepath.Join("../../../shared/fixtures", set, "manifest.json"))
		if err != nil {
			t.Logf("fixtures of %s: %v", set, err)
			continue
		}
		var m struct{ Files []SharedFile }
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		for _, f := range m.Files {
			if slices.Contains(want, f.Format) {
				f.Set = set
				all = append(all, f)
			}
		}
	}
	return all
}

// Read returns the recording.
func (f SharedFile) Read(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../../shared/fixtures", f.Set, f.File))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// CheckShared compares a report with a manifest's entry.
func CheckShared(t *testing.T, f SharedFile, r *model.Report) {
	t.Helper()
	e, c := f.Expect, r.Counts
	if e.Tests != nil && !countsMatch(e, c) {
		t.Errorf("counts %+v, want tests %d passed %d failed %d skipped %d", c, *e.Tests, e.Passed, e.Failed, e.Skipped)
	}
	var want []string
	synth := false
	for i, name := range e.FailingTests {
		synthetic := strings.HasSuffix(name, "[build failed]") || strings.HasSuffix(name, "[setup failed]")
		if i < len(e.FailingCases) {
			synthetic = synthetic || e.FailingCases[i].Synthetic
		}
		synth = synth || synthetic
		if !synthetic {
			want = append(want, name)
		} else if len(r.Problems) == 0 {
			t.Errorf("no problem for %s", name)
		}
	}
	if e.Complete {
		compareNames(t, "failing", want, r.Failing, e.AlsoAccepted)
	}
	if e.FlakyTests != nil {
		compareNames(t, "flaky", e.FlakyTests, r.Flaky, nil)
	}
	for _, p := range slices.Concat(e.WithoutTest, e.BuildFailed) {
		name, _, _ := strings.Cut(p, " ")
		if !slices.ContainsFunc(r.Problems, func(q model.Problem) bool { return strings.TrimSuffix(name, ".test") == q.Name }) {
			t.Errorf("no problem for package %s in %+v", p, r.Problems)
		}
	}
	bad := synth || e.Failed > 0 || len(want) > 0 || len(e.WithoutTest) > 0 || len(e.BuildFailed) > 0 || e.OtherErrors > 0
	if bad && r.Green() {
		t.Error("the report is green")
	}
	if !bad && len(e.FailingPackages) == 0 && c.Passed > 0 && !r.Green() {
		t.Errorf("the report is not green: %+v", r.Problems)
	}
}

func countsMatch(e sharedExpect, c model.Counts) bool {
	if *e.Tests == c.Tests && e.Failed == c.Failed && e.Skipped == c.Skipped {
		return true
	}
	for _, a := range e.Alt {
		if a.Tests != nil && *a.Tests == c.Tests && a.Failed == c.Failed && a.Skipped == c.Skipped {
			return true
		}
	}
	return false
}

func compareNames(t *testing.T, what string, want []string, got []model.Test, also []string) {
	t.Helper()
	left := slices.Clone(got)
	for _, name := range want {
		i := slices.IndexFunc(left, func(g model.Test) bool { return isNamed(name, g) })
		if i < 0 {
			t.Errorf("%s test %q not found", what, name)
			continue
		}
		left = slices.Delete(left, i, i+1)
	}
	for _, g := range left {
		if !slices.ContainsFunc(also, func(n string) bool { return isNamed(n, g) }) {
			t.Errorf("%s test %q is not expected", what, g.FullName())
		}
	}
}

func isNamed(want string, g model.Test) bool {
	w, full, name := Bare(want), Bare(g.FullName()), Bare(g.Name)
	return w == full || w == name
}

// Bare returns the name of a test without what runners write around it.
func Bare(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
}
