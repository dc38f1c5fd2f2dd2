package multimatch

import (
	"strings"
	"testing"
)

// FuzzPrefilter compares the search that reads several bytes at a time with one byte by byte.
func FuzzPrefilter(f *testing.F) {
	p := newPrefilter()
	for _, w := range []string{"ab", "abba", "cab", "failed", "abcabcabca"} {
		p.add(w, false)
		p.add(strings.ToUpper(w), true)
	}
	p.finish()
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
				t.Fatalf("%q: found an end at %d in state %x, byte by byte at %d in %x", s, at, state, want, slow)
			}
			if at < 0 {
				return
			}
		}
	})
}
