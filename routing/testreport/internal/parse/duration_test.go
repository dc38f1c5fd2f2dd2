package parse

import (
	"testing"
	"time"
)

func TestSeconds(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]time.Duration{
		"": 0, "x": 0, "-1": 0, "NaN": 0, "1e300": 0, "1.5": 1500 * time.Millisecond, "0,5": 500 * time.Millisecond,
		"1,234.5": 1234500 * time.Millisecond, "1.234,5": 1234500 * time.Millisecond, "1,234,567": 1234567 * time.Second, "2s": 2 * time.Second, "PT0.25S": 250 * time.Millisecond,
	} {
		if got := Seconds(in); got != want {
			t.Errorf("%q: %v, want %v", in, got, want)
		}
	}
}
