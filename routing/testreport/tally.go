package testreport

import "fmt"

// tally counts what the reader of a document hands on, to be compared with the
// totals that the document states.
type tally struct {
	Sink
	passed, failed, problems int
}

// tallied puts a tally between the reader of d and its Sink.
func tallied(d *document) *tally {
	n := &tally{Sink: d.out}
	d.out = n
	return n
}

// Test implements Sink.
func (n *tally) Test(t Test) {
	switch t.Status {
	case Passed:
		n.passed++
	case Failed:
		n.failed++
	}
	n.Sink.Test(t)
}

// Problem implements Sink.
func (n *tally) Problem(p Problem) {
	n.problems++
	n.Sink.Problem(p)
}

// fewer says so if a document states more tests that passed than it lists.
func (n *tally) fewer(tool string, at, declared, listed int) {
	if declared > listed {
		incomplete(n.Sink, n.failed+n.problems > 0, Problem{Name: tool, At: at, Message: fewerTests(listed, declared)})
	}
}

// ranFewer says so if fewer tests came to an end than a runner set out to run
// and none of them failed. It takes the runner's own totals, not the lines that
// name tests: of those a log may lose some.
func ranFewer(out Sink, tool string, at, ran, planned int) {
	if planned > ran {
		out.Problem(Problem{Kind: KindTruncated, Name: tool, At: at, Message: fmt.Sprintf("%d of %s ran", ran, plural(planned, "test"))})
	}
}

func fewerTests(listed, declared int) string {
	return fmt.Sprintf("the report lists %d of %d tests that it says passed", listed, declared)
}

// incomplete hands on that tests are missing: what says so is well-formed, yet
// something is lost. Where the run is red, it is no more than a note.
func incomplete(out Sink, red bool, p Problem) {
	p.Kind = KindTruncated
	if red {
		out.Cut(fmt.Sprintf("line %d: %s", p.At, p.Message))
		return
	}
	out.Problem(p)
}
