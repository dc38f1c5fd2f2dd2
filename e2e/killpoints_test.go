package e2e

import (
	"hash/crc32"
	"os"
	"testing"
)

// killPoint is the n-th request, from 1, at which a process is killed, and on which side of it.
type killPoint struct {
	n    int
	when When
}

// everyKill says whether processes are killed at every point and not at a selection, and what chance
// decides is tried more often. That takes an hour.
var everyKill = os.Getenv("KILL") == "all"

// killPoints returns at which of total requests a process is killed in the stories of a test: after
// few of them, evenly spread. Stories have much in common, so which they are depends on the test's
// name. With KILL=all it is before and after each, though before a request the world is what it was
// after the one before.
func killPoints(tb testing.TB, total, few int) []killPoint {
	tb.Helper()
	if total < 4 {
		tb.Fatalf("only %d requests to be killed at", total)
	}
	var out []killPoint
	if everyKill {
		for n := 1; n <= total; n++ {
			out = append(out, killPoint{n, Before}, killPoint{n, After})
		}
		return out
	}
	few = min(few, total)
	shift := int(crc32.ChecksumIEEE([]byte(tb.Name())) % uint32(total))
	for i := range few {
		out = append(out, killPoint{1 + (shift+i*total/few)%total, After})
	}
	return out
}

// count returns how many of the view's requests are of a kind, or all for none.
func (v *View) count(only ...func(Request) bool) int {
	n := 0
	for _, q := range v.Requests() {
		if len(only) == 0 || only[0](q) {
			n++
		}
	}
	return n
}
