package export

import (
	"encoding/json"
	"fmt"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/incident"
)

// incidents makes the rows of incidents and of their members.
func incidents(rows map[string][]row, key string, events []routing.Event) error {
	st, err := incident.Fold(events)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	for _, i := range st.Incidents {
		causes, err := json.Marshal(i.Causes)
		if err != nil {
			return err
		}
		id := key + "/" + i.ID
		one := row{
			"id": id, "incident": i.ID, "kind": string(i.Kind()), "causes": string(causes), "base": null(i.Base), "standing": string(i.Standing),
			"opened_at": stamp(i.OpenedAt), "resolved_at": at(i.ResolvedAt), "ended_at": at(i.EndedAt), "resolved_by": null(i.By), "sha": null(i.SHA),
			"reopened": i.Reopened, "issue": nil,
		}
		if i.Number > 0 {
			one["issue"] = i.Number
		}
		rows["incidents"] = append(rows["incidents"], one)
		for _, m := range i.Members {
			rows["incident_members"] = append(rows["incident_members"], row{
				"id": id + "/" + m.Case + "/" + m.Checkpoint, "incident_id": id, "session_id": m.Case, "checkpoint": m.Checkpoint, "author": null(m.Author),
				"run_id": m.Run.ID, "joined_at": stamp(m.Joined), "restarted_at": at(m.Restarted), "left_at": at(m.LeftAt), "how": null(string(m.Left)),
			})
		}
	}
	return nil
}
