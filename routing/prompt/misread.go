package prompt

import (
	"fmt"
	"strings"
)

// Reason says why a command was not understood.
type Reason string

// The reasons.
const (
	NoCommand      Reason = "command"
	UnknownCommand Reason = "unknown"
	WrongTurns     Reason = "turns"
	WrongPhase     Reason = "phase"
	WrongClass     Reason = "class"
	NoTest         Reason = "test"
)

// Misread says that a command was not understood. Word is what was written,
// raw, and may be empty; Nearest is the command that comes nearest.
type Misread struct {
	What    Reason
	Word    string
	Nearest string
}

func (m *Misread) Error() string {
	what := map[Reason]string{
		NoCommand: "a command is missing", UnknownCommand: "is not a command", WrongTurns: "is no number of turns",
		WrongPhase: "is no phase", WrongClass: "is no class", NoTest: "the name of a test is missing",
	}[m.What]
	if m.Word != "" {
		what = fmt.Sprintf("%q %s", m.Word, what)
	}
	return fmt.Sprintf("%s; the nearest command is %q", what, m.Nearest)
}

// nearest returns the word of known that the fewest single edits make out of
// word; of several the first.
func nearest(word string, known []string) string {
	word = strings.ToLower(word)
	best, cost := "", -1
	for _, k := range known {
		if d := distance(word, strings.ToLower(k)); cost < 0 || d < cost {
			best, cost = k, d
		}
	}
	return best
}

// distance counts the letters to insert, delete, replace or swap with their
// neighbour. Of a long word only the beginning is looked at.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) > 40 {
		x = x[:40]
	}
	var before []int
	prev := make([]int, len(y)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row := make([]int, len(y)+1)
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, prev = prev, row
	}
	return prev[len(y)]
}
