package failtext

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
)

// Reruns keeps the tests of a suite until it ends, so that reruns of one
// test become one. What it keeps is bounded; past that, tests pass unmerged.
type Reruns struct {
	Out    model.Sink
	tests  []model.Test
	index  map[string]int
	bytes  int
	Failed bool // a test that was handed on
}

const (
	HoldTests = 20000
	HoldBytes = 8 << 20
)

// Take keeps t, or makes it one with the test of the same key. Without a key it is no rerun.
func (h *Reruns) Take(key string, t *model.Test) {
	if key == "" && len(h.tests) == 0 {
		h.Failed = h.Failed || t.Status == model.Failed
		h.Out.Test(*t)
		return
	}
	if key != "" {
		if h.index == nil {
			h.index = map[string]int{}
		}
		if i, ok := h.index[key]; ok && mergeRerun(&h.tests[i], *t) {
			return
		}
		h.index[key] = len(h.tests)
	}
	h.tests = append(h.tests, *t)
	h.bytes += len(t.Message) + len(t.Trace) + len(t.Output) + 400
	if len(h.tests) >= HoldTests || h.bytes > HoldBytes {
		h.Flush()
	}
}

// Flush hands on what is kept.
func (h *Reruns) Flush() {
	for _, t := range h.tests {
		h.Failed = h.Failed || t.Status == model.Failed
		h.Out.Test(t)
	}
	clear(h.tests)
	h.tests, h.bytes = h.tests[:0], 0
	clear(h.index)
}

// mergeRerun makes one test of two runs of it and reports whether they were
// that: two that passed, or two that were skipped, are left as they are.
func mergeRerun(a *model.Test, b model.Test) bool {
	ran := func(s model.Status) bool { return s == model.Passed || s == model.Failed }
	if !ran(a.Status) || !ran(b.Status) || a.Status == model.Passed && b.Status == model.Passed && !a.Flaky {
		return false
	}
	if a.Status == model.Failed && b.Status == model.Failed && b.Kind == model.KindSetup {
		// pytest: a failing test whose teardown fails too stands there twice.
		a.Trace = strings.TrimSpace(a.Trace + "\n\n" + b.Trace)
		return true
	}
	passed, failed := *a, b
	if a.Status == model.Failed {
		passed, failed = b, *a
	}
	merged := failed
	merged.Retries = a.Retries + b.Retries + 1
	merged.Duration = a.Duration + b.Duration
	if passed.Status == model.Passed {
		if a.Flaky {
			merged = *a
			merged.Retries = a.Retries + b.Retries + 1
			merged.Duration = a.Duration + b.Duration
		}
		merged.Status, merged.Flaky = model.Passed, true
	}
	*a = merged
	return true
}
