package analysis

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/history"
)

// TestHeldTests: tests come back as they were added, over all blocks and texts, and as many names as
// are held or asked for.
func TestHeldTests(t *testing.T) {
	t.Parallel()
	const named = 2*blockSize + 1
	var held heldTests
	var tests []history.Test
	var names []history.Named
	for i := range 3*blockSize + 1 {
		id, status, steps := history.ID(i), history.Status(i%4), uint8(i%70)
		held.add(id, status, steps)
		tests = append(tests, history.Test{ID: id, Status: status, Steps: min(steps, 0x3f)})
		if i >= named {
			continue
		}
		n := history.Name{Suite: fmt.Sprint("suite ", i/100), Name: fmt.Sprint("größe ", i)}
		switch i % 1000 {
		case 1:
			n.File = "a_test.go"
		case 2:
			n.Name = ""
		case 3:
			n.Name = strings.Repeat("long ", textBlock/4)
		case 4:
			n.Name = strings.Repeat("long ", textBlock/4) + "and more"
		}
		held.name(n)
		names = append(names, history.Named{ID: id, Status: status, Suite: n.Suite, Name: n.Name, File: n.File})
	}
	if got := held.appendTo(nil); !slices.Equal(got, tests) {
		t.Errorf("got %d tests that differ from the %d that were added", len(got), len(tests))
	}
	for _, most := range []int{0, 1, 63, 64, 65, blockSize + 64, len(tests)} {
		want := names[:min(most, named)]
		if got := held.appendNamed(nil, most); !slices.Equal(got, want) {
			t.Errorf("got %d tests that differ from the first %d with a name", len(got), len(want))
		}
	}
	if n := held.ids.len(); n != len(tests) {
		t.Errorf("holds %d tests, want %d", n, len(tests))
	}
}
