// Package suggest finds what somebody meant who misspelt a name: a command, a configuration key,
// the id of a port.
package suggest

import (
	"fmt"
	"strings"
)

// Bounds of what is compared: hostile input must not buy a quadratic search.
const (
	longestWord  = 64  // bytes of a word that Hint compares
	longestList  = 200 // names that Hint compares it to
	longestRunes = 40  // of a word that Distance looks at
	fewNames     = 10  // of those that Hint lists where it does not compare
	mostEdits    = 3   // by which a word may differ from the name that Hint offers
)

// Nearest returns the name of known that takes the fewest single-letter edits from word, ignoring
// case; of several the first. It always answers unless known is empty.
func Nearest(word string, known []string) string {
	best, _ := nearest(word, known)
	return best
}

// Hint completes an error message about an unknown name: "did you mean …" if a name of known is
// close to word, else a list of what is known, or "remove it" if nothing is.
func Hint(word string, known []string) string {
	if best, ok := Close(word, known); ok {
		return fmt.Sprintf("did you mean %q?", best)
	}
	if !comparable(word, known) {
		known = known[:min(len(known), fewNames)]
	}
	if len(known) == 0 {
		return "remove it"
	}
	return "known are " + strings.Join(known, ", ")
}

// Close returns the name of known that word is likely to be a misspelling of.
func Close(word string, known []string) (string, bool) {
	if !comparable(word, known) {
		return "", false
	}
	best, edits := nearest(word, known)
	return best, best != "" && edits <= mostEdits && edits < len(word)
}

func comparable(word string, known []string) bool {
	return len(word) <= longestWord && len(known) <= longestList
}

func nearest(word string, known []string) (best string, edits int) {
	word, edits = strings.ToLower(word), -1
	for _, k := range known {
		if d := Distance(word, strings.ToLower(k)); edits < 0 || d < edits {
			best, edits = k, d
		}
	}
	return best, edits
}

// Distance counts the letters to insert, delete, replace or swap with their neighbour (optimal
// string alignment) that turn a into b. Only the first 40 letters of a count.
func Distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	x = x[:min(len(x), longestRunes)]
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
