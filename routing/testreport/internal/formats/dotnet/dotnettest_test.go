package dotnet

import (
	"strings"
	"testing"
)

func FuzzSaysError(f *testing.F) {
	for _, s := range []string{"a.cs(1,2): error CS1: x", "MSBUILD : warning MSB1: x", ": error", ": warning", "a: error", "::: error x", ": errors : warning x", ":", "a:"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := saysError(s), strings.Contains(s, ": error ") || strings.Contains(s, ": warning "); got != want {
			t.Errorf("%q: %v", s, got)
		}
	})
}
