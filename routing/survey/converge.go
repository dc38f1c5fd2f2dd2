package survey

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
)

// Choice is what an answer says of the automation level.
type Choice string

// The three choices.
const (
	Keep  Choice = "keep"  // it was appropriate
	Raise Choice = "raise" // it should be higher
	Lower Choice = "lower" // it should be lower
)

// Choices are the choices in the order in which they are asked.
var Choices = []Choice{Keep, Raise, Lower}

// Answer is what a person said to a survey.
type Answer struct {
	Level    Choice   `json:"level"`
	Accepted []string `json:"accepted"`            // ids of suggestions
	FreeText string   `json:"free_text,omitempty"` // verbatim
}

// NextLevel returns the level that follows from a choice: ten more, at most 30;
// ten less, at least 10; or the same.
func NextLevel(current int, c Choice) (int, error) {
	if !ValidLevel(current) {
		return 0, fmt.Errorf("%d is no automation level; there are 10, 20 and 30", current)
	}
	switch c {
	case Raise:
		return min(current+10, 30), nil
	case Lower:
		return max(current-10, 10), nil
	case Keep:
		return current, nil
	}
	return 0, fmt.Errorf("%q is no choice; there are keep, raise and lower", c)
}

// ApprovedBy says how a goal came about.
type ApprovedBy string

// The two ways to a goal.
const (
	HumanFeedback   ApprovedBy = "human_feedback"
	TimeoutFallback ApprovedBy = "timeout_fallback"
)

// Goal is goal.json: what the next cycle is to aim at. It has these four keys
// and no others.
type Goal struct {
	NextAutomationLevel    int        `json:"next_automation_level"`
	OptimizationDirectives []string   `json:"optimization_directives"`
	CarryOverIssues        []string   `json:"carry_over_issues"`
	ApprovedBy             ApprovedBy `json:"approved_by"`
}

// JSON returns the goal as it is written to goal.json.
func (g Goal) JSON() []byte { return encode(g, "  ") }

// Line returns the goal as JSON on one line.
func (g Goal) Line() string { return strings.TrimSpace(string(encode(g, ""))) }

// FeedbackType is the one word for what an answer was about.
type FeedbackType string

// The types, in the order in which the first that applies is taken.
const (
	LevelAdjustment      FeedbackType = "level_adjustment"
	SuggestionAcceptance FeedbackType = "suggestion_acceptance"
	FreeText             FeedbackType = "free_text"
)

// Feedback is the JSON in the column feedback_text.
type Feedback struct {
	FeedbackType        FeedbackType `json:"feedback_type"`
	WorkflowName        string       `json:"workflow_name"`
	LevelBefore         int          `json:"level_before"`
	LevelAfter          int          `json:"level_after"`
	AcceptedSuggestions []string     `json:"accepted_suggestions"`
	RejectedSuggestions []string     `json:"rejected_suggestions"`
	FreeText            string       `json:"free_text"`
}

// Converge turns an answer to a survey about r into the feedback that is
// recorded and the goal of the next cycle. Suggestions are given by their texts,
// in the order of the survey.
func Converge(r Result, a Answer) (Feedback, Goal, error) {
	after, err := NextLevel(r.AutomationLevel, a.Level)
	if err != nil {
		return Feedback{}, Goal{}, err
	}
	accepted, rejected := []string{}, []string{}
	for _, s := range r.Suggestions {
		if slices.Contains(a.Accepted, s.ID) {
			accepted = append(accepted, s.Text)
		} else {
			rejected = append(rejected, s.Text)
		}
	}
	for _, id := range a.Accepted {
		if !slices.ContainsFunc(r.Suggestions, func(s Suggestion) bool { return s.ID == id }) {
			return Feedback{}, Goal{}, fmt.Errorf("there is no suggestion %q", id)
		}
	}
	carry := []string{}
	if strings.TrimSpace(a.FreeText) != "" {
		carry = append(carry, a.FreeText)
	}
	f := Feedback{
		FeedbackType: typeOf(a), WorkflowName: r.WorkflowName, LevelBefore: r.AutomationLevel, LevelAfter: after,
		AcceptedSuggestions: accepted, RejectedSuggestions: rejected, FreeText: a.FreeText,
	}
	return f, Goal{after, accepted, carry, HumanFeedback}, nil
}

// typeOf returns the first type that applies. An answer that only finds the
// level appropriate is about the level.
func typeOf(a Answer) FeedbackType {
	switch {
	case a.Level != Keep:
		return LevelAdjustment
	case len(a.Accepted) > 0:
		return SuggestionAcceptance
	case strings.TrimSpace(a.FreeText) != "":
		return FreeText
	}
	return LevelAdjustment
}

// Korean is the language of the texts of the document that this follows; any
// other is English.
const Korean = "ko"

// TimedOut returns the goal of a survey about r that nobody answered in time.
func TimedOut(r Result, language string) Goal {
	unanswered := "HITL unanswered — review in the next cycle"
	if language == Korean {
		unanswered = "HITL 미응답 — 다음 주기에 재검토 필요"
	}
	return Goal{r.AutomationLevel, []string{}, []string{unanswered}, TimeoutFallback}
}

// UserFeedback is a row of the table user_feedback, with the columns that the
// feedback of people fills.
type UserFeedback struct {
	ID             string  `json:"id"`   // FB-0001
	Date           string  `json:"date"` // 2006-01-02, UTC
	UserID         *string `json:"user_id"`
	FeedbackText   string  `json:"feedback_text"` // a Feedback as JSON
	SourceRefPath  string  `json:"source_ref_path"`
	ImpactDomain   string  `json:"impact_domain"`
	ImpactSummary  string  `json:"impact_summary"`
	Reversibility  string  `json:"reversibility"`
	RelatedAuditID string  `json:"related_audit_id"` // AuditLog.ID
}

// NewUserFeedback returns the row of an answer: number is its place in the
// sequence from 1 on, by the responder, "" if unknown.
func NewUserFeedback(number int, now time.Time, by, language string, r Result, f Feedback, auditID string) UserFeedback {
	summary := fmt.Sprintf("Level %d → %d, %d suggestions accepted", f.LevelBefore, f.LevelAfter, len(f.AcceptedSuggestions))
	if language == Korean {
		summary = fmt.Sprintf("Level %d → %d, %d건 제안 수렴", f.LevelBefore, f.LevelAfter, len(f.AcceptedSuggestions))
	}
	row := UserFeedback{
		ID: fmt.Sprintf("FB-%04d", number), Date: now.UTC().Format(time.DateOnly), FeedbackText: strings.TrimSpace(string(encode(f, ""))),
		SourceRefPath: r.ReportPath, ImpactDomain: "workflow_optimization", ImpactSummary: summary, Reversibility: "High", RelatedAuditID: auditID,
	}
	if by != "" {
		row.UserID = &by
	}
	return row
}

var (
	feedbackID = lazyregexp.New(`^FB-[0-9]{4,}$`)
	auditID    = lazyregexp.New(`^TASK-[0-9]{4,}$`)
)

// Check returns an error if the row breaks a constraint of its table.
func (u UserFeedback) Check() error {
	var f Feedback
	switch {
	case !feedbackID.MatchString(u.ID):
		return fmt.Errorf("user_feedback: id %q is not FB- and four digits or more", u.ID)
	case !isDate(u.Date):
		return fmt.Errorf("user_feedback %s: date %q is not a day such as 2026-01-31", u.ID, u.Date)
	case json.Unmarshal([]byte(u.FeedbackText), &f) != nil:
		return fmt.Errorf("user_feedback %s: feedback_text is not JSON", u.ID)
	case !ValidLevel(f.LevelBefore) || !ValidLevel(f.LevelAfter):
		return fmt.Errorf("user_feedback %s: levels %d and %d must be 10, 20 or 30", u.ID, f.LevelBefore, f.LevelAfter)
	case !slices.Contains([]FeedbackType{LevelAdjustment, SuggestionAcceptance, FreeText}, f.FeedbackType):
		return fmt.Errorf("user_feedback %s: feedback_type %q is not known", u.ID, f.FeedbackType)
	case strings.TrimSpace(u.ImpactDomain) == "":
		return fmt.Errorf("user_feedback %s: impact_domain is empty", u.ID)
	case !slices.Contains([]string{"High", "Medium", "Low"}, u.Reversibility):
		return fmt.Errorf("user_feedback %s: reversibility %q is not High, Medium or Low", u.ID, u.Reversibility)
	case !auditID.MatchString(u.RelatedAuditID):
		return fmt.Errorf("user_feedback %s: related_audit_id %q is no id of audit_logs", u.ID, u.RelatedAuditID)
	}
	return nil
}

// AuditLog is a row of the table audit_logs: the cycle that people are asked
// about. Its columns are those of the table.
type AuditLog struct {
	ID                 string  `json:"id"`   // TASK-0001
	Date               string  `json:"date"` // 2006-01-02, UTC
	TaskName           string  `json:"task_name"`
	Mode               string  `json:"mode"`
	Action             string  `json:"action"`
	InputPath          *string `json:"input_path"`
	OutputPath         *string `json:"output_path"`
	ScriptPath         *string `json:"script_path"`
	Status             string  `json:"status"` // success, fail or in_progress
	Notes              *string `json:"notes"`
	ContextForNext     *string `json:"context_for_next"`
	ContinuationHint   *string `json:"continuation_hint"`
	TransitionRepeated int     `json:"transition_repeated"` // these three are 0 or 1
	TransitionReuse    int     `json:"transition_reuse"`
	TransitionDecision int     `json:"transition_decision"`
}

// NewAuditLog returns the row of the cycle that ended in r: number is its place
// in the sequence from 1 on. The survey waits for a decision, which it marks.
func NewAuditLog(number int, now time.Time, r Result) AuditLog {
	notes := fmt.Sprintf("automation level %d, %d suggestions", r.AutomationLevel, len(r.Suggestions))
	if r.RunID != "" {
		notes += ", run " + r.RunID
	}
	report := r.ReportPath
	return AuditLog{
		ID: fmt.Sprintf("TASK-%04d", number), Date: now.UTC().Format(time.DateOnly), TaskName: r.WorkflowName, Mode: "workflow_optimization",
		Action: "optimize", OutputPath: &report, Status: "success", Notes: &notes, TransitionDecision: 1,
	}
}

// Check returns an error if the row breaks a constraint of its table.
func (a AuditLog) Check() error {
	bit := func(n int) bool { return n == 0 || n == 1 }
	switch {
	case !auditID.MatchString(a.ID):
		return fmt.Errorf("audit_logs: id %q is not TASK- and four digits or more", a.ID)
	case !isDate(a.Date):
		return fmt.Errorf("audit_logs %s: date %q is not a day such as 2026-01-31", a.ID, a.Date)
	case strings.TrimSpace(a.TaskName) == "" || strings.TrimSpace(a.Mode) == "" || strings.TrimSpace(a.Action) == "":
		return fmt.Errorf("audit_logs %s: task_name, mode and action must not be empty", a.ID)
	case !slices.Contains([]string{"success", "fail", "in_progress"}, a.Status):
		return fmt.Errorf("audit_logs %s: status %q is not success, fail or in_progress", a.ID, a.Status)
	case !bit(a.TransitionRepeated) || !bit(a.TransitionReuse) || !bit(a.TransitionDecision):
		return fmt.Errorf("audit_logs %s: a transition is neither 0 nor 1", a.ID)
	}
	return nil
}

func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}
