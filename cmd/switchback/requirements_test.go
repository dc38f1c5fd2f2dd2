package main

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Every requirement id in a test name stands on docs/requirements.md, and the
// other way round: a reader of a failing test can look up what it shows.
func TestRequirementsPage(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	inTests := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != root) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		src, err := os.ReadFile(path)
		for _, id := range requirementIDs(string(src)) {
			inTests[id] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "requirements.md"))
	if err != nil {
		t.Fatal(err)
	}
	onPage := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^- (S\d-\d+) \S`).FindAllStringSubmatch(string(page), -1) {
		if onPage[row[1]] {
			t.Errorf("docs/requirements.md explains %s twice", row[1])
		}
		onPage[row[1]] = true
	}
	for _, id := range slices.Sorted(maps.Keys(inTests)) {
		if !onPage[id] {
			t.Errorf("a test names %s, and docs/requirements.md does not explain it", id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(onPage)) {
		if !inTests[id] {
			t.Errorf("docs/requirements.md explains %s, and no test names it", id)
		}
	}
	if len(inTests) < 300 {
		t.Errorf("found %d ids in tests; is the pattern still right?", len(inTests))
	}
}

// requirementIDs returns the ids in src; a range such as first..last is every id between.
func requirementIDs(src string) (ids []string) {
	for _, m := range regexp.MustCompile(`\b(S\d)-(\d+)(?:\.\.(\d+))?`).FindAllStringSubmatch(src, -1) {
		first, _ := strconv.Atoi(m[2])
		last := first
		if m[3] != "" {
			last, _ = strconv.Atoi(m[3])
		}
		for n := first; n <= last; n++ {
			ids = append(ids, m[1]+"-"+strconv.Itoa(n))
		}
	}
	return ids
}

func TestRequirementIDs(t *testing.T) {
	t.Parallel()
	got := strings.Join(requirementIDs("S"+"9-1, S"+"9-3..5 and xS"+"9-7"), " ")
	if want := "S" + "9-1 S" + "9-3 S" + "9-4 S" + "9-5"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
