package export

import (
	"encoding/json"
	"fmt"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan"
)

// ports makes rows of the channels, messages and escalations of one port. A
// build's name may stand in several plans, so ids begin with the stream's key.
func ports(rows map[string][]row, key string, events []routing.Event) error {
	j, err := plan.FoldJournal(events)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	for _, c := range j.Mail.Channels {
		rows["direct_channels"] = append(rows["direct_channels"], row{
			"id": key + "/" + c.ID, "session_a": c.SessionA, "session_b": c.SessionB, "status": string(c.Status), "created_at": stamp(c.CreatedAt),
		})
	}
	for _, m := range j.Mail.Messages {
		rows["direct_messages"] = append(rows["direct_messages"], row{
			"id": key + "/" + m.ID, "channel_id": key + "/" + m.ChannelID, "from_session": m.From, "to_session": m.To, "message_type": string(m.Type),
			"payload": null(string(m.Payload)), "delivered_at": at(m.DeliveredAt), "created_at": stamp(m.CreatedAt),
		})
	}
	for _, c := range j.Escalations {
		context, err := json.Marshal(c.Context)
		if err != nil {
			return err
		}
		actions, err := json.Marshal(orEmpty(c.Suggested))
		if err != nil {
			return err
		}
		rows["escalations"] = append(rows["escalations"], row{
			"id": key + "/" + c.ID, "session_id": c.Session, "port_id": null(c.Port), "type": string(c.Type), "severity": string(c.Severity),
			"title": c.Title, "description": c.Text, "context": string(context), "suggested_actions": string(actions),
			"resolved_by": null(c.ResolvedBy), "resolved_at": at(c.ResolvedAt), "created_at": stamp(c.CreatedAt),
		})
	}
	return nil
}
