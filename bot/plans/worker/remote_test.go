package worker

import (
	"testing"
	"time"
)

func TestLastOfLog(t *testing.T) {
	t.Parallel()
	const at = "2026-01-01T00:00:00.0000000Z "
	for _, c := range []struct{ log, want string }{
		{"", ""},
		{"one\ntwo\n", "two"},
		{at + "no key\n" + at + "##[error]Process completed with exit code 1.\n" + at + "Post job cleanup.\n", "no key"},
		{at + "fine\n" + at + "##[error]The operation was canceled.\n" + at + "Post job cleanup.\n", "The operation was canceled."},
		{at + "##[error]first\n" + at + "##[error]Process completed with exit code 2.\n", "first"},
		{at + "##[error]Process completed with exit code 2.\n", "##[error]Process completed with exit code 2."},
	} {
		if got := lastOfLog(c.log); got != c.want {
			t.Errorf("%q: %q, want %q", c.log, got, c.want)
		}
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	b := newBackoff(&Workflows{})
	var all time.Duration
	for n := range 100 {
		d := b.next()
		if d < 5*time.Second || d > time.Minute || n > 10 && d != time.Minute {
			t.Errorf("look %d after %s", n, d)
		}
		all += d
	}
	if all > 100*time.Minute {
		t.Errorf("%s", all)
	}
}
