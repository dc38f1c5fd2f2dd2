package fuzz

import "testing"

func FuzzRev(f *testing.F) {
	f.Add("abc")
	f.Add("é")
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 1 && s[0] > 127 {
			t.Errorf("bad %q", s)
		}
	})
}
