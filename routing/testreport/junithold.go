package testreport

import "strings"

// junitHold keeps the tests of a suite until it ends, so that reruns of one
// test become one. What it keeps is bounded; past that, tests pass unmerged.
type junitHold struct {
	out    Sink
	tests  []Test
	index  map[string]int
	bytes  int
	failed bool // a test that was handed on
}

const (
	holdTests = 20000
	holdBytes = 8 << 20
)

func (h *junitHold) take(key string, t *Test) {
	if key == "" && len(h.tests) == 0 {
		h.failed = h.failed || t.Status == Failed
		h.out.Test(*t)
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
	if len(h.tests) >= holdTests || h.bytes > holdBytes {
		h.flush()
	}
}

func (h *junitHold) flush() {
	for _, t := range h.tests {
		h.failed = h.failed || t.Status == Failed
		h.out.Test(t)
	}
	clear(h.tests)
	h.tests, h.bytes = h.tests[:0], 0
	clear(h.index)
}

// mergeRerun makes one test of two runs of it and reports whether they were
// that: two that passed, or two that were skipped, are left as they are.
func mergeRerun(a *Test, b Test) bool {
	ran := func(s Status) bool { return s == Passed || s == Failed }
	if !ran(a.Status) || !ran(b.Status) || a.Status == Passed && b.Status == Passed && !a.Flaky {
		return false
	}
	if a.Status == Failed && b.Status == Failed && b.Kind == KindSetup {
		// pytest: a failing test whose teardown fails too stands there twice.
		a.Trace = strings.TrimSpace(a.Trace + "\n\n" + b.Trace)
		return true
	}
	passed, failed := *a, b
	if a.Status == Failed {
		passed, failed = b, *a
	}
	merged := failed
	merged.Retries = a.Retries + b.Retries + 1
	merged.Duration = a.Duration + b.Duration
	if passed.Status == Passed {
		if a.Flaky {
			merged = *a
			merged.Retries = a.Retries + b.Retries + 1
			merged.Duration = a.Duration + b.Duration
		}
		merged.Status, merged.Flaky = Passed, true
	}
	*a = merged
	return true
}
