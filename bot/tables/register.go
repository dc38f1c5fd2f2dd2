package tables

import (
	"encoding/json"
	"fmt"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalate"
)

// register makes the rows of a register; events of one that has no table are
// passed over.
func register(rows map[string][]row, key string, events []routing.Event) error {
	if len(events) > 0 && events[0].Type == routing.EventEscalation {
		return escalations(rows, key, events)
	}
	return nil
}

func escalations(rows map[string][]row, key string, events []routing.Event) error {
	reg, err := escalate.FoldRegister(events)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	for _, r := range reg.Records {
		context, err := json.Marshal(map[string]any{
			"kind": r.Kind, "text": r.Context, "members": orEmpty(r.Members), "left": orEmpty(r.Left), "issue": r.Number, "url": r.URL,
			"answers": orEmpty(r.Answers), "resolution": r.Resolution, "fix": r.Fix, "fuse": r.Fuse,
		})
		if err != nil {
			return err
		}
		actions, err := json.Marshal(orEmpty(r.Suggested))
		if err != nil {
			return err
		}
		one := row{
			"id": r.ID, "session_id": r.Session, "port_id": null(r.Port), "type": string(r.Type), "severity": string(r.Severity),
			"title": r.Title, "description": r.Description, "context": string(context), "suggested_actions": string(actions),
			"resolved_by": nil, "resolved_at": nil, "created_at": stamp(r.OpenedAt),
		}
		if !r.Open() {
			one["resolved_by"], one["resolved_at"] = r.ResolvedBy, stamp(r.ResolvedAt)
		}
		rows["escalations"] = append(rows["escalations"], one)
	}
	return nil
}

// orEmpty is s, written as [] where there is nothing.
func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
