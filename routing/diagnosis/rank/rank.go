// Package rank orders the lines of a log by how likely each states why the run failed. It is a
// linear model: a line has features, a feature has a weight, and the sum is the score. The weights
// are data, in weights.json, which `make train` learns from recorded logs.
package rank

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"
)

// Feature is a property of a line in its log.
type Feature int

// The features. Those without a unit are 1 or 0.
const (
	Rule Feature = iota // what rules and position give, in hundreds of points

	// What matched the line.
	Classed // a rule with a class
	Family  // a rule of a family of messages, whatever tool prints them
	Generic // a rule that only finds lines
	Wrapper // the line says that something else failed
	Stop    // the line ended a step
	Words   // only a word such as "failed"
	Context // nothing; it stands before the end of a step
	Mark    // the runner marks it as an error
	Test    // it is the message of a failing test
	Finding // it is the finding of a compiler or linter
	Problem // it is a failure of the run besides the tests

	// Its place.
	InUnit    // in the unit that stopped the run, before the stop
	AfterStop // in that unit, after the stop
	OtherUnit // in another unit, while one stopped the run
	Cleanup   // after the run
	Near3     // at most 3 lines before the stop
	Near20
	Near100
	Far   // more than 400 lines before the stop
	First // the first of its unit with such a match
	Last  // the last of its unit with such a match
	Tail  // no stop is known: in the last 30 lines
	Early // among the first lines of the log, or the first 5 %

	// Its structure.
	TraceEnd    // the last line of a stack trace
	TraceHead   // the line above the frames of a stack trace
	Banner      // announces failures
	AfterBanner // the first text behind a line that announces a failure
	AboveFail   // the line above one that says that a test failed
	OddRow      // a row of a table that says failed where others do not
	LastOutput  // the last output before the stop
	BlockHead   // the first line of the paragraph before the stop

	// Its text.
	LeadsError  // begins with a word such as "error:"
	HoldsError  // has such a word with a colon later
	Exception   // names the type of an exception
	Place       // names a file and line
	Quoted      // quotes something
	Denial      // says that something cannot be done, is missing or refused
	Difference  // states two values that differ
	Count       // counts failures
	EndsColon   // announces what follows
	Indented    // begins with blanks
	Short       // fewer than 15 bytes
	Long        // more than 300 bytes
	Decoration  // mostly no letters
	Soft        // says warning, retry or ignored
	Frame       // a stack frame
	LeadsNumber // begins with a digit

	// Its log.
	Rare   // the only one with its shape
	Common // one of more than eight with its shape
	New    // not in the log of the last successful run of the job
	Old    // in that log
	Features
)

var names = [Features]string{
	"rule", "classed", "family", "generic", "wrapper", "stop", "words", "context", "mark", "test", "finding", "problem",
	"in_unit", "after_stop", "other_unit", "cleanup", "near3", "near20", "near100", "far", "first", "last", "tail", "early",
	"trace_end", "trace_head", "banner", "after_banner", "above_fail", "odd_row", "last_output", "block_head",
	"leads_error", "holds_error", "exception", "place", "quoted", "denial", "difference", "count", "ends_colon",
	"indented", "short", "long", "decoration", "soft", "frame", "leads_number",
	"rare", "common", "new", "old",
}

func (f Feature) String() string { return names[f] }

// Vector holds the value of each feature of a line.
type Vector [Features]float32

// Set sets f to 1 if on.
func (v *Vector) Set(f Feature, on bool) {
	if on {
		v[f] = 1
	}
}

// Weights are the weights of the features.
type Weights [Features]float32

// Prior are the weights before anything is learned: what rules and position give, of a log without
// them the beginning of its last paragraph, and what a run that passed does not print.
func Prior() Weights {
	var w Weights
	w[Rule], w[BlockHead] = 10, 1
	w[New], w[Old] = 1, -8
	return w
}

// Score returns how likely a line with these features states why the run failed. Scores compare
// lines of one log.
func (w *Weights) Score(v *Vector) float64 {
	var sum float32
	for i, x := range v {
		if x != 0 {
			sum += x * w[i]
		}
	}
	return float64(sum)
}

// MarshalJSON writes the weights by the names of their features.
func (w Weights) MarshalJSON() ([]byte, error) {
	out := map[string]float32{}
	for f, x := range w {
		out[names[f]] = x
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes. A feature that is missing has no weight; one that is
// unknown is an error.
func (w *Weights) UnmarshalJSON(data []byte) error {
	var in map[string]float32
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*w = Weights{}
	for f, name := range names {
		w[f] = in[name]
		delete(in, name)
	}
	for name := range in {
		return fmt.Errorf("weights: unknown feature %q", name)
	}
	return nil
}

//go:embed weights.json
var weightsJSON []byte

// Default returns the weights of this release.
var Default = sync.OnceValue(func() *Weights {
	w := &Weights{}
	if err := json.Unmarshal(weightsJSON, w); err != nil {
		panic(err) // a test reads them
	}
	return w
})
