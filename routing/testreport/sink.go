package testreport

// testTaker is a Sink that takes a test without a copy of it.
type testTaker interface{ takeTest(t *Test) }

// hand gives out a test without copying it. It is out's own until hand
// returns, and then has the fields that it had, but for texts that were cut.
func hand(out Sink, t *Test) {
	if s, ok := out.(testTaker); ok {
		s.takeTest(t)
		return
	}
	out.Test(*t)
}

// lineMarker is a Sink that is told what the line being read means.
type lineMarker interface{ passesLine() }

// passing notes that the line being read starts or passes a test.
func passing(out Sink) {
	if s, ok := out.(lineMarker); ok {
		s.passesLine()
	}
}
