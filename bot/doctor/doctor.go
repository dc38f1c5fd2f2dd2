// Package doctor looks for what keeps Switchback from working in a repository: in its workflows and
// its configuration, and, asked of GitHub, in the token, the settings and the rules of its branches.
// Each finding says what to do.
package doctor

import (
	"cmp"
	"fmt"
	"slices"
)

// Level is how grave a finding is.
type Level string

// The levels. An Error stops work, a Warning stops a part of it.
const (
	OK      Level = "ok"
	Note    Level = "note"
	Warning Level = "warning"
	Error   Level = "error"
)

// Finding is the result of one check.
type Finding struct {
	Level   Level  `json:"level"`
	Check   string `json:"check"` // what was looked at: configuration, workflows, reports, token, …
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"` // 1-based, 0 if it concerns the whole file
	Message string `json:"message"`
	Remedy  string `json:"remedy,omitempty"` // "" where nothing is to be done
}

// String returns the finding on one line, and its remedy on another.
func (f Finding) String() string {
	place := ""
	if f.File != "" {
		place = f.File + ": "
	}
	if f.Line > 0 {
		place = fmt.Sprintf("%s:%d: ", f.File, f.Line)
	}
	text := fmt.Sprintf("%-8s %-14s %s%s", f.Level, f.Check, place, f.Message)
	if f.Remedy != "" {
		text += "\n         → " + f.Remedy
	}
	return text
}

// Stops reports whether one of the findings stops work.
func Stops(all []Finding) bool {
	return slices.ContainsFunc(all, func(f Finding) bool { return f.Level == Error })
}

// findings collects the results of checks.
type findings struct{ all []Finding }

func (f *findings) add(x Finding) { f.all = append(f.all, x) }

// sorted returns the findings, those of a file in the order of its lines.
func (f *findings) sorted() []Finding {
	slices.SortStableFunc(f.all, func(a, b Finding) int {
		if a.Check != b.Check {
			return 0
		}
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return f.all
}
