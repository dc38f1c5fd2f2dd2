package testreport_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport/internal/corpustest"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/reader"
)

// jsonFixtures are the kinds of the shared fixtures that are JSON, with the
// name of our format.
var jsonFixtures = map[string]string{
	"jest-json": "jest-json", "vitest-json": "jest-json", "mocha-json": "mocha-json", "playwright-json": "playwright-json", "rspec-json": "rspec-json",
	"pytest-reportlog": "pytest-reportlog", "cucumber-json": "cucumber-json", "ginkgo-json": "ginkgo-json", "karma-json": "karma-json", "testcafe-json": "testcafe-json",
}

func jsonSharedFiles(t testing.TB) []corpustest.SharedFile {
	var kinds []string
	for k := range jsonFixtures {
		kinds = append(kinds, k)
	}
	return corpustest.SharedFiles(t, []string{"captain", "structured"}, kinds...)
}

func TestJSONFixtures(t *testing.T) {
	for _, f := range jsonSharedFiles(t) {
		t.Run(f.Set+"/"+f.File, func(t *testing.T) {
			t.Parallel()
			b := f.Read(t)
			r, err := reader.Parse(bytes.NewReader(b), model.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(r.Formats, ","); got != jsonFixtures[f.Format] {
				t.Errorf("read as %s", got)
			}
			g := f
			if f.Expect.Complete {
				g.Expect.Complete = false // names are compared here
				checkNames(t, f, r)
			}
			corpustest.CheckShared(t, g, r)
			checkPlaces(t, f, r)
		})
	}
}

// checkNames compares the names of the failing tests one to one: a name is
// met by a full name that ends with it or with the bare name of its case.
func checkNames(t *testing.T, f corpustest.SharedFile, r *model.Report) {
	t.Helper()
	left := append([]model.Test(nil), r.Failing...)
	for i, name := range f.Expect.FailingTests {
		short := name
		if i < len(f.Expect.FailingCases) {
			short = f.Expect.FailingCases[i].Name
		}
		at := -1
		for j, g := range left {
			full := corpustest.Bare(g.FullName())
			if strings.HasSuffix(full, corpustest.Bare(name)) || at < 0 && strings.HasSuffix(full, corpustest.Bare(short)) {
				at = j
			}
		}
		if at < 0 {
			t.Errorf("failing test %q not found", name)
			continue
		}
		left = append(left[:at], left[at+1:]...)
	}
	for _, g := range left {
		t.Errorf("failing test %q is not expected", g.FullName())
	}
}

// checkPlaces compares file, line and message of the failing tests with the
// manifest, where that has them.
func checkPlaces(t *testing.T, f corpustest.SharedFile, r *model.Report) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../../shared/fixtures", f.Set, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Files []struct {
			File   string
			Expect struct {
				FailingCases []struct {
					Name, Class, File, Message string
					Line                       int
				} `json:"failing_cases"`
			}
		}
	}
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	for _, mf := range m.Files {
		if mf.File != f.File {
			continue
		}
	cases:
		for _, c := range mf.Expect.FailingCases {
			var near []string
			for _, g := range r.Failing {
				if g.Name != c.Name && !strings.HasSuffix(g.FullName(), c.Name) {
					continue
				}
				file := strings.TrimPrefix(c.File, "./")
				line := g.Line
				if f.Format == "pytest-reportlog" {
					line-- // the manifest has pytest's own number, which counts from 0
					if strings.HasPrefix(g.Message, "[XPASS(strict)]") {
						g.Message = "Unexpectedly passed"
					}
				}
				if (file == "" || strings.TrimPrefix(g.File, "./") == file) && (c.Line == 0 || line == c.Line) && sameWords(c.Message, g.Message) {
					continue cases
				}
				near = append(near, fmt.Sprintf("%s:%d %q", g.File, g.Line, g.Message))
			}
			t.Errorf("no failing test %s (%s) at %s:%d with %q; of that name: %s", c.Name, c.Class, c.File, c.Line, c.Message, strings.Join(near, "; "))
		}
	}
}

// sameWords reports whether one text begins with the other, white space and
// the name of the exception aside.
func sameWords(want, got string) bool {
	norm := func(s string) string {
		s = strings.Join(strings.Fields(s), " ")
		for _, p := range []string{"Error: ", "AssertionError: ", "Exception: "} {
			s = strings.TrimPrefix(s, p)
		}
		return s
	}
	w, g := norm(want), norm(got)
	return w == "" || strings.HasPrefix(w, g) && g != "" || strings.HasPrefix(g, w)
}
