package history

import (
	"cmp"
	"slices"
	"time"
)

// Run is an analyzed run of the base.
type Run struct {
	SHA       string    // commit that it was of
	At        time.Time // when it was recorded, zero if unknown
	Inventory Inventory
	Lost      bool // Inventory is not kept: it has some of the failures alone
	Passed    bool // the run as a whole did
	Size      Size
}

// Size is how many tests of a run were not skipped.
type Size struct {
	SHA   string   `json:"sha,omitempty"`
	Tests int      `json:"tests"`
	Parts []string `json:"parts,omitempty"` // names of its legs, and of the logs that its tests are from

	Partial bool `json:"partial,omitempty"` // not all that it printed could be read, or a leg is missing
}

// Comparable reports whether two runs are of the same legs, and were read whole.
func (s Size) Comparable(t Size) bool {
	return !s.Partial && !t.Partial && slices.Equal(s.Parts, t.Parts)
}

// MergeBase is the commit at which a change left its base.
type MergeBase struct {
	SHA string    // "" if unknown
	At  time.Time // when the commit was made, zero if unknown
}

// Base is what is known of the base of a change: its runs in the order of their commits, oldest
// first.
type Base struct {
	Before []Run // at or before the merge base
	After  []Run // since the merge base
}

// Parents are the parents of commits.
type Parents map[string][]string

// Order divides the runs of a base, in the order in which they were recorded, at the merge base.
// Without parents commits have the order of their first run. Where no run was of the merge base,
// those count as earlier that were recorded before its commit was made: they cannot be of a commit
// that follows it. With parents, runs of commits that are neither ancestors nor descendants of the
// merge base are left out.
func Order(runs []Run, at MergeBase, parents Parents) Base {
	if len(parents) == 0 {
		return orderRecorded(runs, at)
	}
	mergeBase := at.SHA
	ancestors := parents.ancestors(mergeBase)
	var b Base
	for _, r := range runs {
		switch {
		case ancestors[r.SHA]:
			b.Before = append(b.Before, r)
		case parents.ancestors(r.SHA)[mergeBase]:
			b.After = append(b.After, r)
		}
	}
	depth := map[string]int{}
	for _, part := range [][]Run{b.Before, b.After} {
		for _, r := range part {
			if _, known := depth[r.SHA]; !known {
				depth[r.SHA] = len(parents.ancestors(r.SHA))
			}
		}
		slices.SortStableFunc(part, func(a, b Run) int { return cmp.Compare(depth[a.SHA], depth[b.SHA]) })
	}
	return b
}

// orderRecorded is Order without parents.
func orderRecorded(runs []Run, mergeBase MergeBase) Base {
	place := map[string]int{}
	for _, r := range runs {
		if _, known := place[r.SHA]; !known {
			place[r.SHA] = len(place)
		}
	}
	at, known := place[mergeBase.SHA]
	if !known {
		at = -1
		for _, r := range runs {
			if !r.At.IsZero() && r.At.Before(mergeBase.At) {
				at = max(at, place[r.SHA])
			}
		}
		known = at >= 0
	}
	var b Base
	for _, r := range runs {
		if known && place[r.SHA] <= at {
			b.Before = append(b.Before, r)
		} else {
			b.After = append(b.After, r)
		}
	}
	for _, part := range [][]Run{b.Before, b.After} {
		slices.SortStableFunc(part, func(a, b Run) int { return cmp.Compare(place[a.SHA], place[b.SHA]) })
	}
	return b
}

// Know reports whether a commit is among them, as one with parents or as a parent.
func (p Parents) Know(sha string) bool {
	if _, known := p[sha]; known {
		return true
	}
	for _, parents := range p {
		if slices.Contains(parents, sha) {
			return true
		}
	}
	return false
}

// ancestors returns a commit and all that it was made from. Of an ancestor there are always fewer
// than of its descendants, so that their number orders commits.
func (p Parents) ancestors(sha string) map[string]bool {
	seen := map[string]bool{sha: true}
	queue := []string{sha}
	for len(queue) > 0 {
		for _, parent := range p[queue[0]] {
			if !seen[parent] {
				seen[parent] = true
				queue = append(queue, parent)
			}
		}
		queue = queue[1:]
	}
	return seen
}
