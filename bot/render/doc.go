// Package render writes what people and agents read: the sticky comment, the escalation issue, the
// check, the job summary, the feedback file and the terminal's lines, out of a routing.Case. All of
// it is pure: no clock, no network, no file. Text that comes from a run is hostile; see sanitize.go.
package render
