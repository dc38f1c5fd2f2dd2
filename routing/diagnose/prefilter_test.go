package diagnose

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/switchback-ci/switchback/routing/report"
)

// TestLineSaysWhatMatchSays reads every line of the fixtures and of the rules'
// own examples with the prefilter and without.
func TestLineSaysWhatMatchSays(t *testing.T) {
	t.Parallel()
	rs := Default()
	hits := make([]uint64, rs.words)
	lines, silent := 0, 0
	check := func(text string) {
		got := rs.line(text, hits)
		lines++
		if got == nil {
			silent++
		}
		want := rs.find(text, hits, logRule)
		if want != nil && want.rule.Role == RoleIgnore {
			want = nil
		}
		if got != want {
			t.Fatalf("%q: %+v, want %+v", text, got, want)
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
	if silent == 0 || lines == silent {
		t.Errorf("says nothing of %d of %d lines", silent, lines)
	}
}
