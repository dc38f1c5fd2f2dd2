package lines

import (
	"bytes"
	"regexp"
	"strings"
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
		if got, _ := Clean([]byte(c.in)); got != c.want {
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

// FuzzAllPlain compares the test of eight bytes at a time with that of one.
func FuzzAllPlain(f *testing.F) {
	for _, s := range []string{"", "plain", "plain text of more than 8", "tab\tin a longer line", "0123456\x1f", "\x7f2345678", "12345678\x80", "1234567\xff12345678", "12345678 ~ "} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		want := !strings.ContainsFunc(string(b), func(r rune) bool { return r < 0x20 || r >= 0x7f })
		if got, part := allPlain(b), plainPart(b) == len(b); got != want || part != want {
			t.Errorf("%q: %v, %v", b, got, part)
		}
		if want && NeedsScrub(b) {
			t.Errorf("%q would be scrubbed", b)
		}
	})
}

// FuzzClean compares the short ways of a line with the long way.
func FuzzClean(f *testing.F) {
	for _, s := range []string{
		"    ✓ adds (1 ms)", "2024-01-02T03:04:05.1234567Z ✓ a", "2024-01-02T03:04:05.1234567Z 2024-01-02T03:04:05.1234567Z é", "2024-01-02T03:04:05.1234567Z 2024-01-02T03:04:05.1234567Z 2024-01-02T03:04:05.1234567Z é",
		"[2024-01-02T03:04:05.123Z] 日本語のテスト", "\u200b", "a\u202eb", "\u2060", "\u180e", "\u061c", "\u00ad", "\u0085", "\ufeffa", "\U0001f600", "\ud7ff",
		"\xe2\x82", "\xe2\x82\xac", "\xe2\x28\xa1", "\xc3\x28", "\xc3", "\xed\xa0\x80", "é\tb", "é\rb", "é\x7f", "##[error]é", "::error::é", "12345678é2345678\x1b[0m",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if allShown(b) && (bytes.ContainsAny(b, "\t\x1b\r") || string(Scrub(b)) != string(b)) {
			t.Errorf("%q would be scrubbed to %q", b, Scrub(b))
		}
		long := trimTimestamp(b)
		if NeedsScrub(long) {
			long = trimTimestamp(Scrub(long))
		}
		if text, mark := Clean(b); mark == "" && text != string(long) {
			t.Errorf("%q: %q, the long way says %q", b, text, long)
		}
	})
}
