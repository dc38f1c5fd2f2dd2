package answers

import (
	"strconv"

	"github.com/switchback-ci/switchback/routing"
)

// Boxes of the issues of ports and of planning requests. Their words differ from
// those of a case, so their ids do.
const (
	boxAgain    = "again"     // the port, or the plan, was changed
	boxAsPassed = "as-passed" // a port that is skipped counts as passed
	boxPlanned  = "planned"   // the plan was changed as asked
	boxDeclined = "declined"  // it is not changed
)

// planBoxes are what those boxes do.
var planBoxes = map[string]routing.HumanAction{
	boxAgain: routing.HumanReset, boxAsPassed: routing.HumanSkip, boxPlanned: routing.HumanResume, boxDeclined: routing.HumanWontFix,
}

// OfferPort returns the boxes for a port whose pair called a human after so many
// failures.
func OfferPort(failures int) []Box {
	var out []Box
	if n := min(moreTurns, routing.HardCap-failures+1); n > 0 {
		out = append(out, Box{ID: "retry:" + strconv.Itoa(n), Action: routing.HumanExtend, N: n})
	}
	return append(out, Read(boxAgain), Read(boxAsPassed), Read("wont-fix"))
}

// OfferPlanning returns the boxes for feedback that people are to act on. A
// question is answered by a comment, which no box can do.
func OfferPlanning(question bool) []Box {
	if question {
		return []Box{Read(boxDeclined)}
	}
	return []Box{Read(boxPlanned), Read(boxDeclined)}
}
