package routing

import (
	"fmt"
	"strings"
)

// ReviewDecision is what a review said.
type ReviewDecision string

// The decisions. ReviewFailed means that the reviewer itself failed: it
// triggers no rework and counts no iteration.
const (
	Approved     ReviewDecision = "APPROVED"
	Rejected     ReviewDecision = "REJECTED"
	ReviewFailed ReviewDecision = "FAILED"
)

// ReviewSeverity is the overall gravity of a review.
type ReviewSeverity string

// The severities of a review.
const (
	ReviewLow      ReviewSeverity = "LOW"
	ReviewMedium   ReviewSeverity = "MEDIUM"
	ReviewHigh     ReviewSeverity = "HIGH"
	ReviewCritical ReviewSeverity = "CRITICAL"
)

// IssueSeverity is the gravity of one issue of a review.
type IssueSeverity string

// The severities of an issue, gravest first.
const (
	Blocker  IssueSeverity = "blocker"
	Critical IssueSeverity = "critical"
	Major    IssueSeverity = "major"
	Minor    IssueSeverity = "minor"
)

// IssueSeverities lists the severities of an issue, gravest first.
func IssueSeverities() []IssueSeverity { return []IssueSeverity{Blocker, Critical, Major, Minor} }

// ReviewIssue is one finding of a review.
type ReviewIssue struct {
	Severity     IssueSeverity `json:"severity"`
	Category     string        `json:"category"`
	Description  string        `json:"description"`
	File         string        `json:"file,omitempty"`
	Line         int           `json:"line,omitempty"`
	SuggestedFix string        `json:"suggestedFix,omitempty"`
}

// ReviewResult is a structured review.
type ReviewResult struct {
	Passed   bool           `json:"passed"`
	Decision ReviewDecision `json:"decision"`
	Severity ReviewSeverity `json:"severity,omitempty"`
	Issues   []ReviewIssue  `json:"issues"`
	Feedback string         `json:"feedback"`
}

// Validate returns an error that names the first value outside its set.
func (r ReviewResult) Validate() error {
	switch r.Decision {
	case Approved, Rejected, ReviewFailed, "":
	default:
		return fmt.Errorf("decision %q is not one of APPROVED, REJECTED, FAILED", r.Decision)
	}
	switch r.Severity {
	case ReviewLow, ReviewMedium, ReviewHigh, ReviewCritical, "":
	default:
		return fmt.Errorf("severity %q is not one of LOW, MEDIUM, HIGH, CRITICAL", r.Severity)
	}
	for i, is := range r.Issues {
		switch is.Severity {
		case Blocker, Critical, Major, Minor:
		default:
			return fmt.Errorf("issues[%d].severity %q is not one of blocker, critical, major, minor", i, is.Severity)
		}
	}
	if r.Decision == "" && !r.Passed && len(r.Issues) == 0 {
		return fmt.Errorf("a review without decision and issues says nothing")
	}
	return nil
}

// FailOn is the number of issues of a severity from which a review fails,
// whatever it says of itself; a severity that is absent never does.
type FailOn map[IssueSeverity]int

// Outcome returns the decision that counts: FAILED stays FAILED and REJECTED
// stays REJECTED; anything else is REJECTED once an issue count reaches on.
func (r ReviewResult) Outcome(on FailOn) ReviewDecision {
	if r.Decision == ReviewFailed || r.Decision == Rejected {
		return r.Decision
	}
	count := r.counts()
	for sev, n := range on {
		if n > 0 && count[sev] >= n {
			return Rejected
		}
	}
	if r.Decision == "" && !r.Passed && len(r.Issues) == 0 {
		return ReviewFailed
	}
	return Approved
}

func (r ReviewResult) counts() map[IssueSeverity]int {
	c := map[IssueSeverity]int{}
	for _, is := range r.Issues {
		c[is.Severity]++
	}
	return c
}

// Summary returns "Review failed: 1 blocker(s), 2 critical"; parts that are
// zero are left out.
func (r ReviewResult) Summary() string {
	count := r.counts()
	var parts []string
	for _, sev := range IssueSeverities() {
		if n := count[sev]; n > 0 {
			name := string(sev)
			if sev == Blocker {
				name = "blocker(s)"
			}
			parts = append(parts, fmt.Sprintf("%d %s", n, name))
		}
	}
	if len(parts) == 0 {
		return "Review failed"
	}
	return "Review failed: " + strings.Join(parts, ", ")
}

// ReviewVerdict turns a review into a verdict of checkpoint on run.
func ReviewVerdict(checkpoint string, run Run, r ReviewResult, on FailOn) Verdict {
	v := Verdict{Checkpoint: checkpoint, Run: run, Review: &r}
	switch r.Outcome(on) {
	case ReviewFailed:
		v.Result, v.Reason = Errored, "the review itself failed"
		return v
	case Approved:
		v.Result = Pass
		return v
	}
	v.Result, v.Reason = Fail, r.Summary()
	for _, is := range r.Issues {
		v.Failures = append(v.Failures, issueFailure(is))
	}
	if len(v.Failures) == 0 {
		v.Failures = []Failure{{Name: "review", Class: LogicError, Kind: "review", Message: r.Feedback, Fingerprint: "review"}}
	}
	v.Failures[0].Decisive = true
	v.Class = LogicError
	if allQuality(r.Issues) {
		v.Class = Quality
	}
	v.Evidence = []Evidence{{Text: r.Summary(), Signal: "review"}}
	return v
}

func issueFailure(is ReviewIssue) Failure {
	c := LogicError
	if is.Severity == Minor {
		c = Quality
	}
	return Failure{
		Name: is.Category, Class: c, Kind: "review", File: is.File, Line: is.Line,
		Message: is.Description, Suggestion: is.SuggestedFix, Certain: is.SuggestedFix != "",
		Fingerprint: "review:" + strings.ToLower(is.Category+":"+is.File+":"+firstWords(is.Description, 8)),
		Evidence:    []Evidence{{Text: string(is.Severity) + ": " + is.Description, Signal: "review"}},
	}
}

func allQuality(issues []ReviewIssue) bool {
	for _, is := range issues {
		if is.Severity != Minor {
			return false
		}
	}
	return len(issues) > 0
}

func firstWords(s string, n int) string {
	f := strings.Fields(s)
	return strings.Join(f[:min(n, len(f))], " ")
}
