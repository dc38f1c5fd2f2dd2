package config

import (
	"strings"
	"testing"
	"testing/fstest"
)

// The configuration may end in .yml or .yaml, and not in both.
func TestFind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		files []string
		want  string
		err   string
	}{
		{nil, "", ""},
		{[]string{Path}, Path, ""},
		{[]string{OtherPath}, OtherPath, ""},
		{[]string{Path, OtherPath}, "", OtherPath + ": there is also " + Path},
	} {
		tree := fstest.MapFS{}
		for _, f := range c.files {
			tree[f] = &fstest.MapFile{}
		}
		got, err := Find(tree)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: %q %v", c.files, got, err)
		}
	}
}
