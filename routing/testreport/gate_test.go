package testreport_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport/internal/corpustest"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/reader"
)

// readLog returns what a log gives; open keeps every console awake.
func readLog(data []byte, open bool) []string {
	e := &corpustest.Events{}
	info, err := reader.ReadLog(bytes.NewReader(data), model.Options{OnLine: func(l lines.Line) {
		e.List = append(e.List, fmt.Sprintf("line %d %s %q", l.No, l.Mark, l.Text))
	}}, reader.Log{Ungated: open}, e)
	return append(e.List, fmt.Sprintf("%+v %v", info, err))
}

// differ returns the first event that differs, "" if none does.
func differ(data []byte) string {
	gated, open := readLog(data, false), readLog(data, true)
	if slices.Equal(gated, open) {
		return ""
	}
	i := 0
	for i < len(gated) && i < len(open) && gated[i] == open[i] {
		i++
	}
	at := func(l []string) string {
		if i < len(l) {
			return l[i]
		}
		return "nothing"
	}
	return fmt.Sprintf("event %d: gated %.600s\nopen %.600s", i, at(gated), at(open))
}

func TestGateChangesNothing(t *testing.T) {
	t.Parallel()
	var mixed []byte
	corpustest.Samples(t, func(name string, data []byte) {
		if d := differ(data); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if lines := bytes.SplitAfter(data, []byte("\n")); len(lines) > 8 {
			// The heads and tails of all files after one another: what one left open meets the
			// next.
			mixed = append(append(mixed, bytes.Join(lines[:4], nil)...), bytes.Join(lines[len(lines)/2:min(len(lines), len(lines)/2+12)], nil)...)
		}
	})
	if d := differ(mixed); d != "" {
		t.Errorf("mixed: %s", d)
	}
}

// TestGateShuffled reads lines of many tools in any order.
func TestGateShuffled(t *testing.T) {
	t.Parallel()
	var lines []string
	corpustest.Samples(t, func(name string, data []byte) {
		all := strings.SplitAfter(string(data[:min(len(data), 64<<10)]), "\n")
		lines = append(lines, all[:min(len(all), 400)]...)
	})
	state := uint64(88172645463325252)
	rnd := func(n int) int {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		return int(state >> 33 % uint64(n))
	}
	for round := range 100 {
		var b strings.Builder
		for range 300 {
			i := rnd(len(lines))
			b.WriteString(strings.Join(lines[i:min(len(lines), i+1+rnd(12))], ""))
		}
		if d := differ([]byte(b.String())); d != "" {
			t.Fatalf("round %d: %s", round, d)
		}
	}
}

func TestGateHoldsAllConsoles(t *testing.T) {
	t.Parallel()
	for _, f := range format.All() {
		if f.Console == nil {
			continue
		}
		if _, ok := f.Console(&corpustest.Events{}, model.DefaultLimits()).(format.Sleeper); ok != (f.Wakes != nil) {
			t.Errorf("%s: its console says when it is idle: %v; its format says what wakes it: %v", f.Name, ok, f.Wakes != nil)
		}
	}
}

func FuzzGate(f *testing.F) {
	corpustest.Samples(f, func(name string, data []byte) {
		if len(data) < 8<<10 && strings.HasPrefix(name, "testdata") {
			f.Add(data)
		}
	})
	f.Fuzz(func(t *testing.T, data []byte) {
		if d := differ(data); d != "" {
			t.Fatal(d)
		}
	})
}
