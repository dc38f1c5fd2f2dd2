package main

import (
	"testing"
	"time"
)

// The program itself works: every delivery that it sends is taken and done, and
// its GitHub knows all that it is asked.
func TestLoad(t *testing.T) {
	l := load{dir: t.TempDir(), burst: 20, callers: 4, rate: 20, high: 40, span: time.Second, runs: 12, levels: []int{15}, warm: 2, probes: 4, limit: 50 * time.Second}
	if err := l.build(); err != nil {
		t.Fatal(err)
	}
	if err := l.bear(t.Context(), place{name: "SQLite", replicas: 1}, map[string]float64{}); err != nil {
		t.Error(err)
	}
	if err := l.grow(t.Context(), place{name: "SQLite", replicas: 1}); err != nil {
		t.Error(err)
	}
}
