package analysis

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/history"
)

// TestNamedTests: tests come back as they were added, over all blocks and texts.
func TestNamedTests(t *testing.T) {
	t.Parallel()
	var want []history.Named
	for i := range 3*blockSize + 1 {
		n := history.Named{ID: history.ID(i), Status: history.Status(i % 4), Suite: fmt.Sprint("suite ", i/100), Name: fmt.Sprint("größe ", i)}
		switch i % 1000 {
		case 1:
			n.File = "a_test.go"
		case 2:
			n.Name = ""
		case 3:
			n.Name = strings.Repeat("long ", textBlock/4)
		}
		want = append(want, n)
	}
	var held namedTests
	for _, n := range want {
		held.add(n)
	}
	if got := held.appendTo(nil); !slices.Equal(got, want) {
		t.Errorf("got %d tests that differ from the %d that were added", len(got), len(want))
	}
	if n := held.tests.len(); n != len(want) {
		t.Errorf("holds %d tests, want %d", n, len(want))
	}
}
