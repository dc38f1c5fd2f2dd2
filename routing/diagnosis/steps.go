package diagnosis

import (
	"slices"

	coursesteps "github.com/switchback-ci/switchback/routing/diagnosis/steps"
	"github.com/switchback-ci/switchback/routing/testreport"
)

// step is the part of a log between two headers of the runner.
type step struct {
	index   int
	cleanup bool
	head    []candidate
	tail    []candidate // ring
	at      int
	weak    []candidate // told only by their structure or a word; the latter half is a ring
	weakAt  int
	stopped bool
}

func (s *step) add(k candidate) {
	if len(s.head) < headPerStep {
		s.head = append(s.head, k)
		return
	}
	if len(s.tail) < tailPerStep {
		s.tail = append(s.tail, k)
		return
	}
	// Weak candidates do not replace strong ones.
	for range tailPerStep {
		old := s.tail[s.at%tailPerStep]
		if old.base < 75 || k.base >= old.base {
			break
		}
		s.at++
	}
	s.tail[s.at%tailPerStep] = k
	s.at++
}

// addWeak adds a candidate that takes no place of the others.
func (s *step) addWeak(k candidate) {
	if len(s.weak) < weakPerStep {
		s.weak = append(s.weak, k)
		return
	}
	s.weak[weakPerStep/2+s.weakAt%(weakPerStep/2)] = k
	s.weakAt++
}

// lines returns the candidates of s in the order of the log.
func (s *step) lines() []candidate {
	all := slices.Concat(s.head, s.tail, s.weak)
	slices.SortFunc(all, func(a, b candidate) int { return a.no - b.no })
	return all
}

// steps are those steps of a log that have candidates or a stop, at most maxSteps, and the one that
// is being read.
type steps struct {
	all   []*step
	cur   *step
	count int // of the whole log
}

// begin starts a step. Steps that kept nothing are dropped; at the limit the oldest step that did
// not stop the run is dropped.
func (s *steps) begin(cleanup bool) {
	if s.cur != nil && len(s.cur.head)+len(s.cur.weak) == 0 && !s.cur.stopped {
		s.all = s.all[:len(s.all)-1]
	}
	if len(s.all) >= maxSteps {
		s.drop()
	}
	s.count++
	s.cur = &step{index: s.count, cleanup: cleanup}
	s.all = append(s.all, s.cur)
}

func (s *steps) drop() {
	for i, st := range s.all {
		if !st.stopped {
			s.all = append(s.all[:i], s.all[i+1:]...)
			return
		}
	}
	s.all = append(s.all[:1], s.all[2:]...)
}

// add adds a candidate to the step that is being read.
func (s *steps) add(k candidate) { s.cur.add(k) }

// get returns the step of an index, nil if it was dropped.
func (s *steps) get(index int) *step {
	for _, st := range s.all {
		if st.index == index {
			return st
		}
	}
	return nil
}

// recent are the last lines of a log, at most endLines.
type recent struct {
	ring [endLines]testreport.Line
	n    int // lines added
	at   int // where the next one goes
}

func (r *recent) add(l testreport.Line) {
	r.ring[r.at] = l
	r.n++
	if r.at++; r.at == endLines {
		r.at = 0
	}
}

// clear forgets the lines.
func (r *recent) clear() { r.n, r.at = 0, 0 }

// context returns the last recentLines lines, oldest first.
func (r *recent) context() []testreport.Line {
	out := r.lines()
	out = out[max(0, len(out)-recentLines):]
	for i := range out {
		out[i].Text = keep(out[i].Text)
	}
	return out
}

// goodAfter reports whether a line after line no states a success.
func (r *recent) goodAfter(no int) bool {
	for i := max(0, r.n-endLines); i < r.n; i++ {
		if l := r.ring[i%endLines]; l.No > no && saysWell(l) {
			return true
		}
	}
	return false
}

// forgive drops the stops of units whose failure the course of the log shows to be tolerated.
func (c *Collector) forgive(course *coursesteps.Tree) {
	if course.Jobs() > 1 { // lines of several logs have the same numbers
		return
	}
	c.stops = slices.DeleteFunc(c.stops, func(s stop) bool { return course.Tolerates(s.no) })
}
