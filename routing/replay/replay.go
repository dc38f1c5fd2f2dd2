// Package replay decides the runs of a case again under another policy, and
// says what would have been routed differently. It is pure: the same stream and
// policies always give the same answer.
//
// What a run said stays as it was recorded: its failures, their classes and
// evidence. From these the case is carried on as it would have been: what is
// decided anew is folded into a case of its own, from which the next run is
// decided.
package replay

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// Policies is what a configuration means for the cases of a repository. Ref is
// what stands behind the repository in a case's key, such as "#12"; label is
// the limit that a label of the case gave, nil if none did.
type Policies func(ref, checkpoint string, label *int) routing.Policy

// Rules is how runs are decided again.
type Rules struct {
	Policy Policies
	// Unmet returns the criteria that a run which passed does not meet. Nil
	// leaves those that were recorded.
	Unmet func(checkpoint string, v routing.Verdict) []string
}

// Outcome is what one decision came to, as far as it changes what happens.
type Outcome struct {
	Kind routing.Kind `json:"decision"` // "" for a run that was not decided any further
	Rule string       `json:"rule,omitempty"`
	// Detail is what else of it changes what happens: the phase a rework goes
	// back to, whether it waits for a call, what becomes of a case whose turns are
	// used up, whether anybody is notified, whether a reviewer is started.
	Detail string `json:"detail,omitempty"`
}

func (o Outcome) String() string {
	if o.Kind == "" {
		return "nothing"
	}
	s := fmt.Sprintf("%s (%s)", o.Kind, o.Rule)
	if o.Detail != "" {
		s += ", " + o.Detail
	}
	return s
}

// Difference is a run that would have been routed differently. Of several
// decisions about one run, Old and New are the first that differ.
type Difference struct {
	Case       string    `json:"case"`
	Checkpoint string    `json:"checkpoint"`
	Run        string    `json:"run"`
	Attempt    int       `json:"attempt"`
	Part       string    `json:"part,omitempty"`
	SHA        string    `json:"sha,omitempty"`
	At         time.Time `json:"at"` // when it was recorded
	Old        Outcome   `json:"old"`
	New        Outcome   `json:"new"`
	OldReason  string    `json:"old_reason,omitempty"`
	NewReason  string    `json:"new_reason,omitempty"`
	// Follows is set behind the first difference of a case: what came after it
	// may differ for that reason alone.
	Follows bool `json:"follows"`
}

// Left is something that a human did and that was left out, since what it
// answered would not have been.
type Left struct {
	Case       string              `json:"case"`
	Checkpoint string              `json:"checkpoint"`
	Action     routing.HumanAction `json:"action"`
	By         string              `json:"by,omitempty"`
	At         time.Time           `json:"at"`
	Why        string              `json:"why"`
}

// Result is what deciding a case again came to.
type Result struct {
	Runs        int // runs, or parts of one, that were compared
	Differences []Difference
	Left        []Left
	Awaits      int // checkpoints that would wait for a human now, and do not
}

// Case decides the runs of a stream again under rules and compares that with
// what old says, or with what was recorded if old is nil. Differences are in
// the order in which their runs came.
func Case(key string, events []routing.Event, old *Rules, rules Rules) (Result, error) {
	recorded, err := walk(key, events, old)
	if err != nil {
		return Result{}, err
	}
	again, err := walk(key, events, &rules)
	if err != nil {
		return Result{}, err
	}
	res := compare(key, recorded, again)
	for _, l := range again.left {
		if !slices.ContainsFunc(recorded.left, func(x Left) bool { return x.At.Equal(l.At) && x.Action == l.Action && x.Checkpoint == l.Checkpoint }) {
			res.Left = append(res.Left, l)
		}
	}
	for name, cp := range again.then.Checkpoints {
		if waits(cp) && !waits(recorded.then.Checkpoints[name]) {
			res.Awaits++
		}
	}
	return res, nil
}

func waits(cp routing.Checkpoint) bool {
	return cp.State == routing.Escalated && !cp.Skipped && cp.WontFix == nil
}

// compare lists the runs of which the two walks made something else.
func compare(key string, old, again *walked) Result {
	var res Result
	for _, id := range old.order {
		a, b := old.runs[id], again.runs[id]
		res.Runs++
		i := 0
		for i < len(a.said) && i < len(b.said) && a.said[i].Outcome == b.said[i].Outcome {
			i++
		}
		if i == len(a.said) && i == len(b.said) {
			continue
		}
		x, y := at(a.said, i), at(b.said, i)
		res.Differences = append(res.Differences, Difference{
			Case: key, Checkpoint: id.checkpoint, Run: a.run.ID, Attempt: max(a.run.Attempt, 1), Part: a.run.Part, SHA: a.run.SHA, At: a.at,
			Old: x.Outcome, New: y.Outcome, OldReason: x.reason, NewReason: y.reason, Follows: len(res.Differences) > 0,
		})
	}
	return res
}

func at(all []said, i int) said {
	if i < len(all) {
		return all[i]
	}
	return said{}
}

// Change is how often one decision would have become another.
type Change struct {
	Old  Outcome `json:"old"`
	New  Outcome `json:"new"`
	Runs int     `json:"runs"`
}

// Sum is what deciding many cases again came to.
type Sum struct {
	Cases     int `json:"cases"`
	Runs      int `json:"runs"`
	Differing int `json:"runs_that_differ"`
	Affected  int `json:"cases_that_differ"`
	Left      int `json:"answers_left_out"`
	Awaits    int `json:"would_wait_for_a_human"`
	// Changes are by kind and rule, the most frequent first.
	Changes []Change `json:"changes"`
	// Matrix is how many differing runs went from one kind to another.
	Matrix map[routing.Kind]map[routing.Kind]int `json:"matrix"`
}

// Add adds the result of a case.
func (s *Sum) Add(r Result) {
	s.Cases++
	s.Runs += r.Runs
	s.Differing += len(r.Differences)
	s.Left += len(r.Left)
	s.Awaits += r.Awaits
	if len(r.Differences) > 0 {
		s.Affected++
	}
	for _, d := range r.Differences {
		s.count(d)
	}
}

func (s *Sum) count(d Difference) {
	if s.Matrix == nil {
		s.Matrix = map[routing.Kind]map[routing.Kind]int{}
	}
	if s.Matrix[d.Old.Kind] == nil {
		s.Matrix[d.Old.Kind] = map[routing.Kind]int{}
	}
	s.Matrix[d.Old.Kind][d.New.Kind]++
	i := slices.IndexFunc(s.Changes, func(c Change) bool { return c.Old == d.Old && c.New == d.New })
	if i < 0 {
		i = len(s.Changes)
		s.Changes = append(s.Changes, Change{Old: d.Old, New: d.New})
	}
	s.Changes[i].Runs++
}

// Sorted returns s with its changes in their order.
func (s Sum) Sorted() Sum {
	s.Changes = append([]Change{}, s.Changes...)
	if s.Matrix == nil {
		s.Matrix = map[routing.Kind]map[routing.Kind]int{}
	}
	slices.SortFunc(s.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.Old.String(), b.Old.String()), cmp.Compare(a.New.String(), b.New.String()))
	})
	return s
}
