package testreport_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport/internal/corpustest"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/reader"
)

// FuzzEveryFormat reads every input as each format there is and, detected, as
// a log and as a document. What must hold of any input: it ends, nothing
// panics, a report with failing tests is not green, and lines lie within it.
func FuzzEveryFormat(f *testing.F) {
	corpustest.Samples(f, func(name string, data []byte) {
		if len(data) < 4<<10 && strings.HasPrefix(name, "testdata") {
			f.Add(data)
		}
	})
	names := []string{"auto"}
	for _, x := range format.All() {
		names = append(names, x.Name)
	}
	lim := model.Limits{Text: 4 << 10, Line: 8 << 10, Failing: 50}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 16<<10 {
			return
		}
		for _, name := range names {
			c := model.NewCollector(lim)
			info, err := reader.Read(bytes.NewReader(data), model.Options{Format: name, Limits: lim}, c)
			if err != nil {
				continue
			}
			rep := c.Finish(info)
			if rep.Green() && len(rep.Failing) > 0 {
				t.Errorf("%s: green with %d failing tests", name, len(rep.Failing))
			}
			if rep.Lines == 0 {
				continue // a document counts none
			}
			for _, at := range reportedLines(rep) {
				if at < 0 || at > rep.Lines {
					t.Errorf("%s: line %d of %d", name, at, rep.Lines)
				}
			}
		}
	})
}
