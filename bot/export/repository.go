package export

import (
	"encoding/json"
	"fmt"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/quarantine"
	"github.com/switchback-ci/switchback/routing/survey"
)

// repositoryStream makes the rows of a stream that is not a case's.
func repositoryStream(rows map[string][]row, key string, events []routing.Event) error {
	if len(events) == 0 {
		return nil
	}
	switch events[0].Type.Family() {
	case routing.FamilyEscalation:
		return escalations(rows, key, events)
	case routing.FamilySurvey:
		return surveys(rows, key, events)
	case routing.FamilyFeedback:
		return feedbackRequests(rows, key, events)
	case routing.FamilyPort:
		return ports(rows, key, events)
	case routing.FamilyQuarantine:
		return quarantined(rows, key, events)
	case routing.FamilyIncident:
		return incidents(rows, key, events)
	case routing.FamilyPlan, routing.FamilyRerun:
		return nil // sum up what the streams of ports and cases say
	}
	return fmt.Errorf("%s: a stream of %q is not known; a newer version of the program wrote it", key, events[0].Type)
}

// quarantined makes the rows of the tests that were proposed for quarantine, or put there.
func quarantined(rows map[string][]row, key string, events []routing.Event) error {
	st, err := quarantine.Fold(events)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	for _, e := range st.Entries {
		evidence, err := json.Marshal(orEmpty(e.Evidence))
		if err != nil {
			return err
		}
		owners, err := json.Marshal(orEmpty(e.Owners))
		if err != nil {
			return err
		}
		one := row{
			"id": key + "/" + e.ID, "test": e.ID, "checkpoint": e.Checkpoint, "suite": null(e.Suite), "name": e.Name, "file": null(e.File), "owners": string(owners),
			"evidence": string(evidence), "standing": string(e.Standing), "since": nil, "until": nil, "by": null(e.By), "issue": nil,
		}
		if !e.Until.IsZero() {
			one["since"], one["until"] = stamp(e.Since), stamp(e.Until)
		}
		if e.Number > 0 {
			one["issue"] = e.Number
		}
		rows["quarantine"] = append(rows["quarantine"], one)
	}
	return nil
}

// surveys makes the rows of people's answers to surveys. Their ids count
// within one repository.
func surveys(rows map[string][]row, key string, events []routing.Event) error {
	reg, err := survey.Fold(events)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	if len(rows["audit_logs"]) > 0 {
		return fmt.Errorf("%s: the ledger holds the feedback of several repositories, whose ids are the same; keep a ledger for each", key)
	}
	for _, a := range reg.Audits {
		rows["audit_logs"] = append(rows["audit_logs"], row{
			"id": a.ID, "date": a.Date, "task_name": a.TaskName, "mode": a.Mode, "action": a.Action, "input_path": text(a.InputPath),
			"output_path": text(a.OutputPath), "script_path": text(a.ScriptPath), "status": a.Status, "notes": text(a.Notes),
			"context_for_next": text(a.ContextForNext), "continuation_hint": text(a.ContinuationHint), "transition_repeated": a.TransitionRepeated,
			"transition_reuse": a.TransitionReuse, "transition_decision": a.TransitionDecision,
		})
	}
	for _, u := range reg.Feedback {
		rows["user_feedback"] = append(rows["user_feedback"], row{
			"id": u.ID, "date": u.Date, "user_id": text(u.UserID), "feedback_text": u.FeedbackText, "source_ref_path": u.SourceRefPath,
			"impact_domain": u.ImpactDomain, "impact_summary": u.ImpactSummary, "reversibility": u.Reversibility, "related_audit_id": u.RelatedAuditID,
		})
	}
	return nil
}

// text is what p points to, or NULL.
func text(p *string) any {
	if p == nil {
		return nil
	}
	return *p
}

func escalations(rows map[string][]row, key string, events []routing.Event) error {
	reg, err := escalation.Fold(events)
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
