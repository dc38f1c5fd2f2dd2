package handler

import "testing"

// A number of digits that is no line must not wrap around.
func TestIssueOfALineThatIsNone(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int{
		"blocker (security): a.go:12 the token is logged":                      12,
		"blocker (security): a.go:99999999999999999999999 the token is logged": 0,
	} {
		if is := issuesOf(body); len(is) != 1 || is[0].Line != want {
			t.Errorf("%s: %+v", body, is)
		}
	}
}
