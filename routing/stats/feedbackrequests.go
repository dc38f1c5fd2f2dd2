package stats

import (
	"fmt"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// FeedbackRequests are counts over feedback between the ports of plans.
type FeedbackRequests struct {
	ByType                           map[feedback.Type]int
	Open, Resolved, Failed, Rejected int
	Rounds                           int // of those that are resolved, together
}

// FeedbackTypes lists the types of feedback requests in the order of their reports.
func FeedbackTypes() []feedback.Type { return feedback.Types() }

// addFeedbackRequests counts the feedback of a register that was sent in the window.
func (t *Tally) addFeedbackRequests(key string, events []routing.Event) error {
	reg, err := feedback.Fold(events)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	e := t.feedbackRequests(RepositoryOf(key))
	for _, x := range reg.Records {
		if !t.Window.Holds(x.SentAt) {
			continue
		}
		switch {
		case x.Status == feedback.Rejected:
			e.Rejected++
			continue
		case x.Status.Open():
			e.Open++
		case x.Status == feedback.Failed:
			e.Failed++
		case x.Status == feedback.Resolved:
			e.Resolved++
			e.Rounds += x.Round
		}
		e.ByType[x.Message.Type]++
	}
	return nil
}

func (e *FeedbackRequests) merge(o *FeedbackRequests) {
	for k, n := range o.ByType {
		if e.ByType[k] += n; e.ByType[k] == 0 {
			delete(e.ByType, k)
		}
	}
	e.Open, e.Resolved, e.Failed = e.Open+o.Open, e.Resolved+o.Resolved, e.Failed+o.Failed
	e.Rejected, e.Rounds = e.Rejected+o.Rejected, e.Rounds+o.Rounds
}

// Stats returns the counts with their rates, as of one register.
func (e *FeedbackRequests) Stats() feedback.Stats {
	s := feedback.Stats{ByType: e.ByType, Open: e.Open, Resolved: e.Resolved, Failed: e.Failed, Rejected: e.Rejected}
	s.Total = s.Open + s.Resolved + s.Failed
	if rate, ok := share(s.Resolved, s.Total); ok {
		s.SuccessRate = &rate
	}
	if s.Resolved > 0 {
		mean := float64(e.Rounds) / float64(s.Resolved)
		s.AverageRounds = &mean
	}
	return s
}
