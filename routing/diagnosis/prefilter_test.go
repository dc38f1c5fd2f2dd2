package diagnosis

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport"
)

// TestLineSaysWhatMatchSays reads every line of the fixtures and of the rules'
// own examples with the prefilter and without.
func TestLineSaysWhatMatchSays(t *testing.T) {
	t.Parallel()
	rs := Default().ready()
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
	for _, root := range []string{"../testreport/testdata", "../../../shared/fixtures"} {
		_ = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil // there may be no fixtures here
			}
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			_, _ = testreport.Read(bytes.NewReader(data), testreport.Options{OnLine: func(l testreport.Line) { check(l.Text) }}, testreport.NewCollector(testreport.Limits{}))
			return nil
		})
	}
	if silent == 0 || lines == silent {
		t.Errorf("says nothing of %d of %d lines", silent, lines)
	}
}

// FuzzPrefilter compares the search of several bytes at a time with one by one.
func FuzzPrefilter(f *testing.F) {
	p := newPrefilter()
	for _, w := range []string{"ab", "abba", "cab", "failed", "abcabcabca"} {
		p.add(w, false)
		p.add(strings.ToUpper(w), true)
	}
	p.ready()
	for _, s := range []string{"", "a", "ab", "xab", "abba", "aFailedab", "abcabcabcabcaBCABCA", "\xe1\xe2ab\xffcab", strings.Repeat("abcab ", 9) + "Failed"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		slow := p.start
		for at, state := 0, p.start; ; {
			want := -1
			for i := at + 1; i < len(s) && want < 0; i++ {
				slow = slow<<8 | p.pairs[pair(s[i-1], s[i])]
				if slow < 0xff<<56 {
					want = i
				}
			}
			at, state = p.find(s, at+1, state)
			if at != want || state != slow {
				t.Fatalf("%q: finds an end at %d in state %x, one by one at %d in %x", s, at, state, want, slow)
			}
			if at < 0 {
				return
			}
		}
	})
}
