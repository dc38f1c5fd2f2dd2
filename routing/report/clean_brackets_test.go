package report

import "testing"

// TestCleanBracketedTimes reads the times that Jenkins and Taskcluster set
// before a line, and what the cursor's way to the first column leaves of it.
func TestCleanBracketedTimes(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"[2026-01-02T03:04:05.123Z] [INFO] BUILD SUCCESS", "[INFO] BUILD SUCCESS"},
		{"[task 2026-01-02T03:04:05.123Z] 03:04:05     INFO - TEST-START | a", "03:04:05     INFO - TEST-START | a"},
		{"[2026-01-02T03:04:05.123Z]", ""},
		{"[2026-01-02] x", "[2026-01-02] x"},
		{"[task 2026] x", "[task 2026] x"},
		{"   adds\x1b[K\x1b[77G1/5\x1b[1G ✓ adds\x1b[K", " ✓ adds"},
		{"kept\x1b[1G", "kept"},
	} {
		if got, _ := clean([]byte(c.in)); got != c.want {
			t.Errorf("clean(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}
