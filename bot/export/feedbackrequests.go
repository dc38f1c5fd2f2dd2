package export

import (
	"fmt"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// feedbackRequests makes a row of each feedback request. Its numbers
// are a sequence of their own, and count within one repository.
func feedbackRequests(rows map[string][]row, key string, events []routing.Event) error {
	reg, err := feedback.Fold(events)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	for _, x := range reg.Records {
		one := row{
			"id": key + "/" + x.ID, "feedback_id": x.ID, "plan": null(x.Plan), "type": string(x.Message.Type), "source": x.Message.From,
			"target": x.Message.To, "round": x.Round, "status": string(x.Status), "priority": null(string(x.Priority)), "message": x.Message.Text,
			"refusal": nil, "escalates": null(x.Escalates), "timestamp": stamp(x.SentAt), "resolved_at": at(x.ResolvedAt), "failed_at": at(x.FailedAt),
		}
		if x.Refusal != nil {
			one["refusal"] = x.Refusal.Text
		}
		rows["feedback_requests"] = append(rows["feedback_requests"], one)
	}
	return nil
}

// at is a time, or NULL where there is none.
func at(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return stamp(t)
}
