package plan

import (
	"slices"
	"time"

	"github.com/switchback-ci/switchback/routing/truncate"
)

// ShardSize is how many jobs a matrix of ports has at most: below the 256 that
// GitHub runs.
const ShardSize = 255

// State is what is known of the ports of a plan before it is run.
type State struct {
	Passed  map[string]string `json:"passed"`  // port → hash of the content that passed
	Failed  []string          `json:"failed"`  // ended without passing, for good
	Running []string          `json:"running"` // begun and not ended

	requests FeedbackRequests // open feedback
}

// Entry is one job of a matrix.
type Entry struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Level    int      `json:"level"`
	Priority int      `json:"priority"`
	RunsOn   []string `json:"runs_on"`
	Minutes  int      `json:"timeout_minutes"` // of the job: the port's own, and time to set up and to report
	Turns    int      `json:"max_iterations"`
	File     string   `json:"file"`
	Hash     string   `json:"hash"` // of the content, as the caller gave it
}

// Include is a matrix as strategy.matrix takes it.
type Include struct {
	Include []Entry `json:"include"`
}

// Range is a part of a matrix's entries: from the first, counted from 0, to
// before the second.
type Range [2]int

// Matrix is a plan as jobs. GitHub refuses a matrix without entries, so Empty
// is to be asked first.
type Matrix struct {
	Levels      [][]string `json:"levels"` // of all ports
	Matrix      Include    `json:"matrix"` // every port that needs work
	Shards      []Range    `json:"shards"` // which of its entries are a part that GitHub takes
	Empty       bool       `json:"empty"`
	MaxParallel int        `json:"max_parallel"`
	Blocked     []Block    `json:"blocked"` // never run, as something they depend on failed or is held
}

// Jobs returns the ports that still need work. hash is the content of each: its
// file, and the files under its paths. A port that passed with the same content
// is left out; so is what failed, what runs, what is held, and what is blocked.
// With ready, only the ports all of whose dependencies have passed are taken. What
// open feedback pauses is left out, and a port that is to run for feedback is
// taken although it passed.
func (p Plan) Jobs(s Settings, st State, hash map[string]string, ready bool) Matrix {
	at := newProgress(p, st, hash)
	through := slices.Clone(at.done) // what lets others run
	for n := range at.paused {
		through[n] = false
	}
	m := Matrix{Levels: p.Levels(), Matrix: Include{[]Entry{}}, Shards: []Range{}, Blocked: p.Blocked(at.stopped), MaxParallel: s.Concurrency()}
	away := map[string]bool{}
	for _, id := range slices.Concat(at.stopped, st.Running) {
		away[id] = true
	}
	for _, b := range m.Blocked {
		away[b.ID] = true
	}
	for _, n := range p.order() {
		id, free, skip := p.ids[n], through, at.done[n] || len(at.paused[n]) > 0
		if at.due(n) {
			free, skip = at.done, false
		}
		if skip || away[id] || ready && !p.deps.all(n, free) {
			continue
		}
		m.Matrix.Include = append(m.Matrix.Include, entryOf(p.specs[n], int(p.level[n]), s, hash))
	}
	m.Empty = len(m.Matrix.Include) == 0
	m.Shards = shards(len(m.Matrix.Include), ShardSize)
	if m.Blocked == nil {
		m.Blocked = []Block{}
	}
	return m
}

// progress is how far a plan is.
type progress struct {
	plan     Plan
	requests FeedbackRequests
	done     []bool                      // ports that are done, by number
	stopped  []string                    // ports that let nothing behind them run
	paused   map[int32][]FeedbackRequest // open feedback that pauses a port
}

func newProgress(p Plan, st State, hash map[string]string) progress {
	at := progress{plan: p, requests: st.requests, done: make([]bool, len(p.ids)), paused: p.paused(st.requests)}
	for n, id := range p.ids {
		passed, ok := st.Passed[id]
		at.done[n] = ok && passed == hash[id] || p.specs[n].Status == Completed
	}
	failed := make(map[string]bool, len(st.Failed))
	for _, id := range st.Failed {
		failed[id] = true
	}
	for n, id := range p.ids {
		if !at.done[n] && (failed[id] || p.specs[n].Status == Held) {
			at.stopped = append(at.stopped, id)
		}
	}
	return at
}

// due reports whether a port is to run for feedback. One that its file holds, or
// says to be completed, waits for people.
func (at progress) due(n int32) bool {
	_, ok := at.requests.Due[at.plan.ids[n]]
	return ok && at.plan.specs[n].Status != Held && at.plan.specs[n].Status != Completed
}

// free reports whether all that a port depends on is done.
func (at progress) free(n int32) bool { return at.plan.deps.all(n, at.done) }

// jobOverhead is how much longer a job may take than its port: for checking
// out, setting up, and saying what happened once the time is over.
const jobOverhead = 10 * time.Minute

// longestJob is how long a job of GitHub's own runners may take.
const longestJob = 6 * time.Hour

func entryOf(spec Spec, level int, s Settings, hash map[string]string) Entry {
	return Entry{
		ID: spec.ID, Title: shortTitle(spec.Title), Level: level, Priority: spec.Priority, RunsOn: s.Labels(spec),
		Minutes: s.JobMinutes(spec), Turns: s.Attempts(spec), File: spec.File, Hash: hash[spec.ID],
	}
}

// shortTitle cuts a title to what tells one job from another: a matrix is the
// output of a job, which GitHub bounds.
func shortTitle(s string) string {
	return truncate.Runes(s, 120, truncate.Ellipsis)
}

// Labels returns the labels of the runner of a port.
func (s Settings) Labels(spec Spec) []string {
	if len(spec.RunsOn) > 0 {
		return slices.Clone(spec.RunsOn)
	}
	if len(s.RunsOn) > 0 {
		return slices.Clone(s.RunsOn)
	}
	return DefaultSettings().RunsOn
}

// Limit returns how long a port may take, 0 for no limit.
func (s Settings) Limit(spec Spec) time.Duration {
	if spec.Timeout != nil {
		return *spec.Timeout
	}
	return s.Timeout
}

// Attempts returns the reworks of a port.
func (s Settings) Attempts(spec Spec) int {
	if spec.MaxIterations != nil {
		return *spec.MaxIterations
	}
	return s.MaxIterations
}

// JobMinutes returns the timeout-minutes of a port's job.
func (s Settings) JobMinutes(spec Spec) int {
	limit := s.Limit(spec)
	if limit == 0 {
		return int(longestJob / time.Minute)
	}
	return int((limit + jobOverhead + time.Minute - 1) / time.Minute)
}

// Shard returns a part of the matrix, counted from 0. There is none beyond the
// last: it is empty.
func (m Matrix) Shard(n int) Include {
	if n < 0 || n >= len(m.Shards) {
		return Include{[]Entry{}}
	}
	return Include{m.Matrix.Include[m.Shards[n][0]:m.Shards[n][1]]}
}

// shards cuts so many entries into parts of nearly one length, none above most.
func shards(all, most int) []Range {
	parts := (all + most - 1) / most
	out := make([]Range, parts)
	for i := range parts {
		out[i] = Range{i * all / parts, (i + 1) * all / parts}
	}
	return out
}

// Ready returns the ports that may start now, in the order they should: by
// priority, then the one behind which the most work waits (durations), then id.
// It starts no more than the plan's concurrency allows.
func (p Plan) Ready(s Settings, st State, hash map[string]string, durations map[string]time.Duration) []string {
	free := s.Concurrency() - len(st.Running)
	if free <= 0 {
		return nil
	}
	ready := p.Jobs(s, st, hash, true).Matrix.Include
	NewSchedule(p.Graph, durations).sort(ready)
	out := make([]string, 0, min(free, len(ready)))
	for _, e := range ready[:min(free, len(ready))] {
		out = append(out, e.ID)
	}
	return out
}
