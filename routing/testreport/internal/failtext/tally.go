package failtext

import (
	"fmt"

	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// tally counts what the reader of a document hands on, to be compared with the
// totals that the document states.
type tally struct {
	model.Sink
	Passed, failed, problems int
}

// NewTally puts a tally between the reader of d and its Sink.
func NewTally(d *format.Document) *tally {
	n := &tally{Sink: d.Out}
	d.Out = n
	return n
}

// Test implements Sink.
func (n *tally) Test(t model.Test) {
	switch t.Status {
	case model.Passed:
		n.Passed++
	case model.Failed:
		n.failed++
	}
	n.Sink.Test(t)
}

// Problem implements Sink.
func (n *tally) Problem(p model.Problem) {
	n.problems++
	n.Sink.Problem(p)
}

// Fewer says so if a document states more tests that passed than it lists.
func (n *tally) Fewer(tool string, at, declared, listed int) {
	if declared > listed {
		Incomplete(n.Sink, n.failed+n.problems > 0, model.Problem{Name: tool, At: at, Message: FewerTests(listed, declared)})
	}
}

// RanFewer says so if fewer tests came to an end than a runner set out to run
// and none of them failed. It takes the runner's own totals, not the lines that
// name tests: of those a log may lose some.
func RanFewer(out model.Sink, tool string, at, ran, planned int) {
	if planned > ran {
		out.Problem(model.Problem{Kind: model.KindTruncated, Name: tool, At: at, Message: fmt.Sprintf("%d of %s ran", ran, parse.Plural(planned, "test"))})
	}
}

// FewerTests words that a report lists fewer tests than it says passed.
func FewerTests(listed, declared int) string {
	return fmt.Sprintf("the report lists %d of %d tests that it says passed", listed, declared)
}

// Incomplete hands on that tests are missing: what says so is well-formed, yet
// something is lost. Where the run is red, it is no more than a note.
func Incomplete(out model.Sink, red bool, p model.Problem) {
	p.Kind = model.KindTruncated
	if red {
		out.Cut(fmt.Sprintf("line %d: %s", p.At, p.Message))
		return
	}
	out.Problem(p)
}

// UnnamedFailures says that a document declares more failures than it names.
func UnnamedFailures(out model.Sink, at, declared, named int, tool string) {
	if declared > named {
		out.Problem(model.Problem{Kind: model.KindTests, Name: tool, At: at, Tests: declared - named,
			Message: parse.Plural(declared, "failure") + " in the totals of " + tool + ", " + parse.Plural(named, "failure") + " named"})
	}
}

// CountingSink counts the failing tests and problems that pass through.
type CountingSink struct {
	model.Sink
	Failed int
}

// Test implements Sink.
func (c *CountingSink) Test(t model.Test) {
	if t.Status == model.Failed {
		c.Failed++
	}
	c.Sink.Test(t)
}

// Problem implements Sink.
func (c *CountingSink) Problem(p model.Problem) {
	c.Failed++
	c.Sink.Problem(p)
}
