package diagnose

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/switchback-ci/switchback/routing/report"
)

// TestSilentIsNeverWrong reads every line of the fixtures and of the rules'
// own examples: a line of which silent says so must be one of which no rule speaks.
func TestSilentIsNeverWrong(t *testing.T) {
	t.Parallel()
	rs := Default()
	hits, spare := make([]uint64, rs.words), make([]uint64, rs.words)
	lines, silent := 0, 0
	check := func(text string) {
		if len(text) < 3 {
			return
		}
		rs.scan(text, hits)
		lines++
		if !rs.silent(text, spare) {
			return
		}
		silent++
		if rs.speaks(text, hits) {
			if r, _ := rs.first(text, hits, nil); r != nil && r.Role != RoleIgnore {
				t.Fatalf("silent about %q, which rule %s has", text, r.ID)
			}
		}
	}
	for _, r := range rs.list {
		for _, x := range r.Examples.Positive {
			check(x)
			check("  " + x)
			check(x + " and more")
		}
	}
	for _, root := range []string{"../report/testdata", "../../../shared/fixtures"} {
		_ = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil // there may be no fixtures here
			}
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			_, _ = report.Read(bytes.NewReader(data), report.Options{OnLine: func(l report.Line) { check(l.Text) }}, report.NewCollector(report.Limits{}))
			return nil
		})
	}
	if lines == 0 || silent*10 < lines {
		t.Errorf("silent about %d of %d lines", silent, lines)
	}
}
