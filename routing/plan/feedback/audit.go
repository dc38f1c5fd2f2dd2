package feedback

import (
	"fmt"
	"strconv"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// Line is a line of the audit trail: one change of one feedback.
type Line struct {
	Timestamp  time.Time `json:"timestamp"` // UTC, whole seconds
	FeedbackID string    `json:"feedback_id"`
	Type       Type      `json:"type"`
	Source     string    `json:"source"`
	Target     string    `json:"target"`
	Round      int       `json:"round"`
	Status     Status    `json:"status"`
}

// Audit returns the lines of a register's events, in their order.
func Audit(events []routing.Event) ([]Line, error) {
	out := make([]Line, 0, len(events))
	for i, e := range events {
		p, status, err := read(e)
		if err != nil {
			return out, fmt.Errorf("event %d of stream %s: %w", i+1, e.Stream, err)
		}
		s := p.subject()
		out = append(out, Line{e.At.UTC().Truncate(time.Second), s.ID, s.Type, s.Source, s.Target, s.Round, status})
	}
	return out, nil
}

// Stats are figures over feedback. What was rejected was never sent: it counts
// for itself alone.
type Stats struct {
	ByType   map[Type]int `json:"by_type"`
	Total    int          `json:"total"`
	Open     int          `json:"open"`
	Resolved int          `json:"resolved"`
	Failed   int          `json:"failed"`
	Rejected int          `json:"rejected"`
	// SuccessRate is the share of all feedback that is resolved, in whole
	// percent, rounded down; nil if there is none.
	SuccessRate *int `json:"success_rate"`
	// AverageRounds is the mean round in which feedback was resolved; nil if
	// none was.
	AverageRounds *float64 `json:"average_rounds"`
}

// StatsOf returns the figures of records.
func StatsOf(records []Record) Stats {
	s := Stats{ByType: map[Type]int{}}
	rounds := 0
	for _, x := range records {
		switch {
		case x.Status == Rejected:
			s.Rejected++
			continue
		case x.Status.Open():
			s.Open++
		case x.Status == Failed:
			s.Failed++
		case x.Status == Resolved:
			s.Resolved++
			rounds += x.Round
		}
		s.Total++
		s.ByType[x.Message.Type]++
	}
	return s.Over(rounds)
}

// Over returns the figures with the rates that follow from their counts, and from the
// rounds that all resolved feedback took together.
func (s Stats) Over(rounds int) Stats {
	s.SuccessRate, s.AverageRounds = nil, nil
	if s.Total > 0 {
		rate := s.Resolved * 100 / s.Total
		s.SuccessRate = &rate
	}
	if s.Resolved > 0 {
		mean := float64(rounds) / float64(s.Resolved)
		s.AverageRounds = &mean
	}
	return s
}

const none = "n/a"

// Success returns the success rate as it is shown.
func (s Stats) Success() string {
	if s.SuccessRate == nil {
		return none
	}
	return strconv.Itoa(*s.SuccessRate) + "%"
}

// Average returns the average rounds as they are shown.
func (s Stats) Average() string {
	if s.AverageRounds == nil {
		return none
	}
	return strconv.FormatFloat(*s.AverageRounds, 'g', 3, 64)
}
