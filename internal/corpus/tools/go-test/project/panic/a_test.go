package panic

import "testing"

func TestFirst(t *testing.T) {}
func TestPanics(t *testing.T) {
	var m map[string]int
	m["a"] = 1
}
