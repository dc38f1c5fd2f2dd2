package diagnosis

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport"
)

// TestLeadFindsWhatTheRegexpFinds asks every branch that has a lead of every
// line in which its literal may stand, both ways.
func TestLeadFindsWhatTheRegexpFinds(t *testing.T) {
	t.Parallel()
	rs := Default().ready()
	found, seen := 0, map[string]bool{}
	check := func(text string) {
		text = text[:min(len(text), 600)]
		if seen[text] || !isASCII(text) {
			return
		}
		seen[text] = true
		for i := range rs.branches {
			b := &rs.branches[i]
			if b.lead == nil || b.only || b.lead.index(text) < 0 {
				continue
			}
			want := b.re().FindStringSubmatch(text)
			m, in := b.lead.find(text)
			var got []string
			for k := 0; k < len(m); k += 2 {
				s := ""
				if m[k] >= 0 {
					s = in[m[k]:m[k+1]]
				}
				got = append(got, s)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("rule %s, %s\nline %q\ngot  %q\nwant %q", b.rule.ID, b.re(), text, got, want)
			}
			if yes := b.lead.matches(text); yes != (want != nil) {
				t.Fatalf("rule %s, %s\nline %q\nmatches says %v", b.rule.ID, b.re(), text, yes)
			}
			if want != nil {
				found++
			}
		}
	}
	for _, r := range rs.list {
		for _, x := range slices.Concat(r.Examples.Positive, r.Examples.Negative) {
			check(x)
			check(x + x)
		}
	}
	_ = filepath.WalkDir("../../../shared/fixtures", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // there may be no fixtures here
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		_, _ = testreport.Read(bytes.NewReader(data[:min(len(data), 100<<10)]), testreport.Options{OnLine: func(l testreport.Line) { check(l.Text) }}, testreport.NewCollector(testreport.Limits{}))
		return nil
	})
	if found == 0 {
		t.Error("no branch with a lead was found anywhere")
	}
}
