package escalation

import (
	"math"
	"testing"
	"time"
)

func TestTriggers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		u    Usage
		typ  Type
		sev  Severity
	}{
		{"S2-65 retries equal to the most", Usage{Retries: 3, Max: 3}, TestFailure, High},
		{"S2-65 retries above the most", Usage{Retries: 4, Max: 3}, TestFailure, High},
		{"S2-65 one retry left", Usage{Retries: 2, Max: 3}, "", ""},
		{"S2-66 95 per cent of the tokens", Usage{Tokens: 950, Budget: 1000}, TokenExhausted, Medium},
		{"S2-66 94.9 per cent of the tokens", Usage{Tokens: 949, Budget: 1000}, "", ""},
		{"S2-66 95 per cent of an odd budget is rounded up", Usage{Tokens: 9, Budget: 10}, "", ""},
		{"S2-66 a whole small budget", Usage{Tokens: 10, Budget: 10}, TokenExhausted, Medium},
		{"S2-66 a budget as large as can be", Usage{Tokens: math.MaxInt64, Budget: math.MaxInt64}, TokenExhausted, Medium},
		{"S2-67 a nanosecond over the limit", Usage{Elapsed: time.Minute + 1, Timeout: time.Minute}, TimedOut, High},
		{"S2-67 exactly at the limit", Usage{Elapsed: time.Minute, Timeout: time.Minute}, "", ""},
		{"S2-68 the first that holds wins", Usage{Retries: 3, Max: 3, Tokens: 10, Budget: 10, Elapsed: 2, Timeout: 1}, TestFailure, High},
		{"S2-68 tokens come before time", Usage{Retries: 2, Max: 3, Tokens: 10, Budget: 10, Elapsed: 2, Timeout: 1}, TokenExhausted, Medium},
		{"S2-69 0 disables each", Usage{Retries: 99, Tokens: 1 << 40, Elapsed: time.Hour}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, ok := Evaluate(c.u, DefaultTriggers())
			if ok != (c.typ != "") || got.Type != c.typ || got.Severity != c.sev {
				t.Errorf("%+v %v, want %q %q", got, ok, c.typ, c.sev)
			}
		})
	}
	t.Run("S2-64 a trigger has type, condition, severity and auto_resolve", func(t *testing.T) {
		for _, tr := range DefaultTriggers() {
			if !tr.Type.Valid() || !tr.Severity.Valid() || tr.Condition == "" {
				t.Errorf("%+v", tr)
			}
		}
	})
	t.Run("S2-72 it clears only once its condition does, and only with auto_resolve", func(t *testing.T) {
		tr := DefaultTriggers()[2]
		over, under := Usage{Elapsed: 2, Timeout: 1}, Usage{Elapsed: 1, Timeout: 1}
		if tr.Clears(over) || !tr.Clears(under) {
			t.Error("with auto_resolve")
		}
		tr.AutoResolve = false
		if tr.Clears(over) || tr.Clears(under) {
			t.Error("without auto_resolve")
		}
	})
}
