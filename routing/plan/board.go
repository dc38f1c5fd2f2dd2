package plan

import (
	"slices"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// State returns what a register says of the ports of a plan, as a matrix is made
// of it. In the newest build a port has one result: what its work changed does
// not make it run again. A pass of an earlier build holds for its content alone,
// and what else an earlier build left is tried again. What people skip counts as
// passed, and what they leave as it is has failed for good.
func (p Plan) State(r BuildState, hash map[string]string) State {
	st := State{Passed: map[string]string{}, requests: r.Requests}
	for n, id := range p.ids {
		k, ok := r.Ports[id]
		now := ok && k.Build == r.Build.ID
		decided, human := r.stands(id, hash[id])
		switch {
		case human && k.Standing != IsRunning && k.Standing != IsPassed && decided.Action == routing.HumanSkip:
			st.Passed[id] = hash[id]
		case human && k.Standing != IsRunning && k.Standing != IsPassed:
			st.Failed = append(st.Failed, id)
		case !ok:
		case k.Standing == IsPassed && now && k.Spec != "" && k.Spec != p.specs[n].Digest() && k.Runs < routing.HardCap: // it was planned anew
		case k.Standing == IsPassed && now:
			st.Passed[id] = hash[id]
		case k.Standing == IsPassed:
			st.Passed[id] = k.Hash
		case now && k.Standing == IsRunning:
			st.Running = append(st.Running, id)
			if k.Passed && !r.Requests.settled(id) {
				st.Passed[id] = hash[id]
			}
		case now && (k.Standing == IsPaused || k.Standing == IsEscalated && r.Requests.sent(id)): // it goes on once its feedback is settled
		case now:
			st.Failed = append(st.Failed, id)
		}
	}
	return st
}

// Row is how one port of a plan stands.
type Row struct {
	Known
	ID        string            `json:"id"`
	Title     string            `json:"title,omitempty"`
	Level     int               `json:"level"`
	DependsOn []string          `json:"depends_on,omitempty"`
	By        []string          `json:"by,omitempty"`      // which of its dependencies block it
	Waits     []FeedbackRequest `json:"waits,omitempty"`   // open feedback, its own or of what it depends on, that pauses it
	For       []FeedbackRequest `json:"for,omitempty"`     // open feedback that it is asked for, or verifies
	Decided   *Answer           `json:"decided,omitempty"` // a human skips it, or leaves it as it is
	Issue     int               `json:"issue,omitempty"`   // where people are called to it; for whoever knows
}

// Board is how a plan stands: a row for every port, level by level, in the order
// in which they begin.
type Board struct {
	Build  Build            `json:"build"`
	Rows   []Row            `json:"ports"`
	Counts map[Standing]int `json:"counts"`
}

// Done reports whether nothing is left that may still run, and passed whether
// every port has passed.
func (b Board) Done() (done, passed bool) {
	left := b.Counts[IsPending] + b.Counts[IsReady] + b.Counts[IsRunning]
	return left == 0, b.Counts[IsPassed] == len(b.Rows)
}

// Board returns how the ports of a plan stand.
func (p Plan) Board(s Settings, r BuildState, hash map[string]string) Board {
	at := newProgress(p, p.State(r, hash), hash)
	by := map[string][]string{}
	for _, b := range p.Blocked(at.stopped) {
		by[b.ID] = b.By
	}
	b := Board{Build: r.Build, Counts: map[Standing]int{}}
	for _, n := range p.order() {
		row := Row{Known: r.Ports[p.ids[n]], ID: p.ids[n], Title: p.specs[n].Title, Level: int(p.level[n]), DependsOn: p.named(p.deps.of(n)), By: by[p.ids[n]]}
		row.Waits, row.For = at.paused[n], r.Requests.about(row.ID)
		row.Standing = at.standing(n, row, r.Build.ID)
		if a, ok := r.stands(row.ID, hash[row.ID]); ok && row.Known.Standing != IsRunning && r.Ports[row.ID].Standing != IsPassed {
			row.Decided = &a
			if !at.done[n] {
				row.Standing = IsHeld
			}
		}
		switch row.Standing {
		case IsPaused:
			if row.Known.Build != r.Build.ID {
				row.Known = Known{Standing: row.Standing}
			}
		case IsPending, IsReady, IsBlocked, IsHeld: // what an earlier build left says nothing now
			row.Known = Known{Standing: row.Standing}
		}
		b.Counts[row.Standing]++
		b.Rows = append(b.Rows, row)
	}
	return b
}

// standing returns how a port stands in a build.
func (at progress) standing(n int32, row Row, build string) Standing {
	now := row.Known.Build == build
	switch {
	case now && row.Known.Standing == IsRunning:
		return IsRunning
	case at.due(n) && at.free(n) && len(row.By) == 0 && !(now && (row.Known.Standing == IsFailed || row.Known.Standing == IsEscalated && !at.requests.sent(row.ID))):
		return IsReady
	case len(row.Waits) > 0 && (!at.done[n] || at.requests.sent(row.ID)) && !(now && row.Known.Standing == IsFailed):
		return IsPaused
	case at.done[n]:
		return IsPassed
	case now && row.Known.Standing != "" && row.Known.Standing != IsPassed && row.Known.Standing != IsPaused:
		return row.Known.Standing
	case at.plan.specs[n].Status == Held:
		return IsHeld
	case len(row.By) > 0:
		return IsBlocked
	case at.free(n):
		return IsReady
	}
	return IsPending
}

// Round returns the jobs of a round of the newest build, at most so many: what
// was handed out for that round and has not passed, as a job that runs again
// finds it, and what is ready. They are ordered by priority, then by how long the
// chain behind them is.
func (p Plan) Round(s Settings, r BuildState, hash map[string]string, round, most int) Matrix {
	st := p.State(r, hash)
	again := func(id string) bool {
		k := r.Ports[id]
		_, human := r.stands(id, hash[id])
		return k.Build == r.Build.ID && k.Round == round && k.Standing != IsPassed && !human
	}
	st.Failed = slices.DeleteFunc(st.Failed, again)
	st.Running = slices.DeleteFunc(st.Running, again)
	m := p.Jobs(s, st, hash, true)
	NewSchedule(p.Graph, r.Times()).sort(m.Matrix.Include)
	m.Matrix.Include = m.Matrix.Include[:min(most, len(m.Matrix.Include))]
	return m
}

// Times returns how long the ports of a register took.
func (r BuildState) Times() map[string]time.Duration {
	out := map[string]time.Duration{}
	for id, k := range r.Ports {
		if k.Seconds > 0 {
			out[id] = time.Duration(k.Seconds * float64(time.Second))
		}
	}
	return out
}
