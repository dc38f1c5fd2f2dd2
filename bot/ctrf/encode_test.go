package ctrf

import (
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing/report"
)

// FuzzAppendTest compares the encoder made for tests with encoding/json.
func FuzzAppendTest(f *testing.F) {
	f.Add("a", "b > c", "passed", "", "", "", int64(0), 0, 0, false)
	f.Add("a\x00\x1f\x7f<>&\u2028\u2029\u2027\xff\xe2\x80", " > ", "failed", "m\n\r\t\b\f\"\\", "t", "f.go", int64(-5), 1, 2, true)
	f.Add(" ", "x", "pending", "why", "", "", int64(1e10), -1, 0, false)
	f.Add("é😀", "", "odd", "", "", "\xf0\x9f", int64(1999999), 0, 3, true)
	f.Fuzz(func(t *testing.T, name, suite, status, message, trace, file string, d int64, line, retries int, flaky bool) {
		x := report.Test{Name: name, Suite: suite, Status: report.Status(status), Message: message, Trace: trace, File: file, Duration: time.Duration(d), Line: line, Retries: retries, Flaky: flaky}
		if got, want := string(appendTest(nil, &x)), string(mustJSON(entry(x))); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}
