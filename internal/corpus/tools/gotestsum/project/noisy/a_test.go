package noisy

import (
	"fmt"
	"testing"
)

func TestNoise(t *testing.T) {
	fmt.Println("Error: connect ECONNREFUSED 127.0.0.1:5432\nnot ok 1 - inner stream\n  1 failing\n\n  1) inner\n       fails:\n     AssertionError: inner\nFAIL src/other.test.js\n● other › fails")
}
