package dotnet

import (
	"testing"
	"time"
)

func TestSplitMember(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][2]string{
		"N.C.m":                   {"N.C", "m"},
		`N.C.m("a.b(",1.5)`:       {"N.C", `m("a.b(",1.5)`},
		"N.C(1.5).m":              {"N.C(1.5)", "m"},
		"N.C<A.B>.m<D.E>(1)":      {"N.C<A.B>", "m<D.E>(1)"},
		"m":                       {"", "m"},
		"a sentence. And another": {"", "a sentence. And another"},
		"v1.2 works":              {"", "v1.2 works"},
		"N.C.m (1,2.5)":           {"N.C", "m (1,2.5)"},
		".":                       {"", "."},
		"":                        {"", ""},
	} {
		class, name := splitMember(in)
		if class != want[0] || name != want[1] {
			t.Errorf("%q: %q %q", in, class, name)
		}
	}
}

func TestClock(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]time.Duration{
		"00:00:01.5000000": 1500 * time.Millisecond, "01:02:03": 3723 * time.Second, "1.00:00:00": 24 * time.Hour, "": 0, "x:y:z": 0, "1:2": 0, "-1:00:00": 0, "NaN:00:00": 0,
	} {
		if got := clock(in); got != want {
			t.Errorf("%q: %v, want %v", in, got, want)
		}
	}
}
