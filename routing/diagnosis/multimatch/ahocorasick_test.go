package multimatch

import (
	"strings"
	"testing"
)

// TestAhoCorasick compares the automaton with strings.Contains.
func TestAhoCorasick(t *testing.T) {
	words := []string{"he", "she", "his", "hers", "error:", "err", "r:", "é!"}
	m := map[string][]uint16{}
	for i, w := range words {
		m[w] = append(m[w], uint16(i))
	}
	l := newAhoCorasick(m)
	for _, s := range []string{"", "ushers", "USHERS", "ERROR: x", "eerrorr:", "hi s", "café!"} {
		hits := make([]uint64, 1)
		l.scan(s, hits)
		for i, w := range words {
			if got, want := hits[0]&(1<<i) != 0, strings.Contains(strings.ToLower(s), w); got != want {
				t.Errorf("%q in %q: got %v, want %v", w, s, got, want)
			}
		}
	}
}
