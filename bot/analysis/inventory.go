package analysis

import (
	"slices"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/history"
	"github.com/switchback-ci/switchback/routing/testreport"
)

// mostInventory is what the event of a run holds of its tests, in bytes: about 1700 tests. Of more it
// holds those that did not pass, if they fit, and all of them are a blob of the ledger.
const mostInventory = 16 << 10

// mostTests bounds the tests that are held in memory.
const mostTests = 1 << 20

// inventory collects the tests of all sources for the history of a checkpoint.
type inventory struct {
	checkpoint string
	next       Tests // gets all of it too; may be nil
	sources    [][]history.Test
	tests      int
}

// Source implements Tests.
func (in *inventory) Source() {
	in.sources = append(in.sources, nil)
	if in.next != nil {
		in.next.Source()
	}
}

// Add implements Tests.
func (in *inventory) Add(t *testreport.Test) {
	if in.next != nil {
		in.next.Add(t)
	}
	if in.tests++; in.tests > mostTests {
		return
	}
	test := history.Test{ID: history.TestID(in.checkpoint, t.Suite, t.Name), Steps: history.StepsOf(t.Duration)}
	switch {
	case t.Flaky:
		test.Status = history.Flaky
	case t.Status == testreport.Passed:
		test.Status = history.Passed
	case t.Status == testreport.Skipped:
		test.Status = history.Skipped
	default:
		test.Status = history.Failed
	}
	last := &in.sources[len(in.sources)-1]
	*last = append(*last, test)
}

// Leave implements Tests.
func (in *inventory) Leave(source int) {
	in.sources[source] = nil
	if in.next != nil {
		in.next.Leave(source)
	}
}

// packed returns the tests with the failures of the verdict: those that the verdict holds, nil if even
// the ones that did not pass are too many, and all of them where it does not hold all.
func (in *inventory) packed(v routing.Verdict) (held, whole []byte) {
	if in.checkpoint == "" {
		return nil, nil
	}
	tests := slices.Concat(in.sources...)
	partial := len(tests) < v.Counts.Tests || v.Dropped > 0
	tests = append(tests, routing.FailedTests(in.checkpoint, v.Failures)...)
	inv := history.New(tests, partial)
	if held = inv.Pack(); len(held) <= mostInventory {
		return held, nil
	}
	whole = held
	if held = inv.Unpassed().Pack(); len(held) > mostInventory {
		return nil, whole // the failures of the verdict are what is left
	}
	return held, whole
}
