package testreport

import (
	"regexp"
	"testing"
)

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

// FuzzTimestampLen compares the reader of a time with what it should match.
func FuzzTimestampLen(f *testing.F) {
	re := regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6,}Z ?`)
	for _, s := range []string{
		"2024-01-02T03:04:05.1234567Z a", "2024-01-02T03:04:05.1234567Z", "2024-01-02T03:04:05.123456Z a", "2024-01-02T03:04:05.123456789Z  a", "2024-01-02T03:04:05.12345Z a",
		"2024-01-02T03:04:05.1234567 a", "2024-01-02T03:04:05Z", "2024-01-02 03:04:05.1234567Z a", "2024-01-0:T03:04:05.1234567Z a", "2024-01-0/T03:04:05.1234567Z a", "2024-01-02T03:04:05.123456\xb7Z a", "\xb2024-01-02T03:04:05.1234567Z", "2024-01-02T03:04:05.123456:Z a",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, want := timestampLen(b), len(re.Find(b)); got != want {
			t.Errorf("%q: %d bytes, want %d", b, got, want)
		}
	})
}
