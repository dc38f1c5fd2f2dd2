package model

// TestTaker is a Sink that takes a test without a copy of it.
type TestTaker interface{ TakeTest(t *Test) }

// Hand gives out a test without copying it. It is out's own until hand
// returns, and then has the fields that it had, but for texts that were cut.
func Hand(out Sink, t *Test) {
	if s, ok := out.(TestTaker); ok {
		s.TakeTest(t)
		return
	}
	out.Test(*t)
}

// lineMarker is a Sink that is told what the line being read means.
type lineMarker interface{ PassesLine() }

// Passing notes that the line being read starts or passes a test.
func Passing(out Sink) {
	if s, ok := out.(lineMarker); ok {
		s.PassesLine()
	}
}

// sessionMarker is a Sink that is told of runs that were read whole.
type sessionMarker interface{ Session(from, to int) }

// Session notes that the lines from..to are one run of the tool, from its first line to the totals
// it ends with. What else is found in them may be output of a test.
func Session(out Sink, from, to int) {
	if s, ok := out.(sessionMarker); ok && from > 0 && to >= from {
		s.Session(from, to)
	}
}

// passedMarker is a Sink that is told of runs whose totals count no failure.
type passedMarker interface{ PassedSession(from, to int) }

// PassedSession is Session for a run whose own totals count tests and no failure: a failing test of
// that format in its lines is one that a test prints.
func PassedSession(out Sink, from, to int) {
	if s, ok := out.(passedMarker); ok && from > 0 && to >= from {
		s.PassedSession(from, to)
		return
	}
	Session(out, from, to)
}

// Anonymous emits tests that a summary counts and nothing names. The budget is
// for the whole log: a summary is only text and may claim any number.
type Anonymous struct{ left int }

// NewAnonymous returns a full budget for one log.
func NewAnonymous(lim Limits) *Anonymous { return &Anonymous{left: lim.Unnamed} }

// Emit hands t to out n times, as far as the budget goes.
func (a *Anonymous) Emit(out Sink, n int, t Test) {
	for ; n > 0 && a.left > 0; n, a.left = n-1, a.left-1 {
		out.Test(t)
	}
}
