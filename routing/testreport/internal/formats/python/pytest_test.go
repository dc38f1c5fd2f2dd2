package python

import (
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// The short way of the progress may only say what the long way says.
func FuzzPytestPlainStatus(f *testing.F) {
	for _, s := range []string{
		"a/test_b.py::test_c PASSED [ 50%]", "a/test_b.py::T::test_c[x] FAILED", "a.py::b ERROR  [100%]",
		"a.py::b[c d] PASSED [ 50%]", "a.py::b SKIPPED (why) [  1%]", "a.py::b PASSED [12/340]", "a.py::b PASSED [0.12s] [ 3%]",
		"[gw0] [ 50%] PASSED a.py::b", "no colon PASSED", "::b PASSED", "a.py:: PASSED", "a'.py::b PASSED", "PASSED [ 5%]", "apy::b XFAIL [%]",
		"a.py::b PASSED[ 50%]", "a.py::b xpass [ 7%]", "]", " a.py::b PASSED", "a.py::b PASSED [-5%]", "a.py::b Fatal Python error: Aborted",
	} {
		f.Add(s)
	}
	s := newPytestSession(model.NewCollector(model.Limits{}), model.DefaultLimits(), model.NewAnonymous(model.DefaultLimits()), "", 1)
	f.Fuzz(func(t *testing.T, line string) {
		line = parse.TrimSpaces(line)
		if line == "" {
			return
		}
		id, st, ok := s.plainStatus(line)
		longID, longSt, is := splitStatus(trimPercent(line))
		if is = is && isNodeID(longID) && line[0] != ' ' && !strings.HasPrefix(line, "[gw"); ok && (!is || id != longID || st != longSt) {
			t.Errorf("%q: %q %q, the long way says %q %q %v", line, id, st, longID, longSt, is)
		}
		if is && !ok && !strings.ContainsAny(longID, " [") && strings.HasSuffix(line, longSt) {
			t.Errorf("%q is plain and was left to the long way", line)
		}
	})
}

// A test's name is the same whether its file was seen before or not.
func FuzzPytestName(f *testing.F) {
	for _, s := range []string{"a.py::b", "a.py::T::b", "a.py::b[c::d]", "a.py::[x]", "a.py:::b", "a[1].py::b[2]", "a.py::b[c", "a.py", "a.py::T::b[c::d] e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, id string) {
		s := newPytestSession(model.NewCollector(model.Limits{}), model.DefaultLimits(), model.NewAnonymous(model.DefaultLimits()), "", 1)
		s.plainStatus(id + " PASSED")
		var got model.Test
		s.name(&got, id)
		if suite, name := suiteAndName(id); got.Suite != suite || got.Name != name || got.File != fileOf(id) {
			t.Errorf("%q: %q %q %q, want %q %q %q", id, got.Suite, got.Name, got.File, suite, name, fileOf(id))
		}
	})
}
