package action

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/switchback-ci/switchback/routing"
)

// ReviewOf turns a pull request review into a structured one. Changes
// requested is REJECTED, approved is APPROVED; a comment decides nothing. A
// JSON block in the body that is a structured review is taken as it is; else
// each line of the form "blocker (category): text" is an issue.
func ReviewOf(r Review) (routing.ReviewResult, bool) {
	var out routing.ReviewResult
	switch strings.ToLower(r.State) {
	case "changes_requested":
		out.Decision = routing.Rejected
	case "approved":
		out.Decision, out.Passed = routing.Approved, true
	default:
		return out, false
	}
	out.Feedback = r.Body
	if s, ok := structured(r.Body); ok {
		s.Decision, s.Passed = out.Decision, out.Passed // GitHub's state is what counts
		return s, true
	}
	out.Issues = issuesOf(r.Body)
	if out.Decision == routing.Rejected && len(out.Issues) == 0 && strings.TrimSpace(r.Body) != "" {
		out.Issues = []routing.ReviewIssue{{Severity: routing.Major, Category: "review", Description: strings.TrimSpace(r.Body)}}
	}
	return out, true
}

var (
	jsonBlock = regexp.MustCompile("(?s)```(?:json)?\\s*\\n(\\{.*?\\})\\s*\\n```")
	issueLine = regexp.MustCompile(`(?i)^\s*(?:[-*]\s+)?\**(blocker|critical|major|minor)\**\s*(?:\(([^)]*)\)|\[([^\]]*)\])?\**\s*:\**\s*(?:([\w./-]+\.\w+):(\d{1,9}):?\s+)?(.+)$`)
)

func structured(body string) (routing.ReviewResult, bool) {
	for _, m := range jsonBlock.FindAllStringSubmatch(body, 5) {
		var r routing.ReviewResult
		if json.Unmarshal([]byte(m[1]), &r) == nil && r.Validate() == nil && (r.Decision != "" || len(r.Issues) > 0) {
			return r, true
		}
	}
	return routing.ReviewResult{}, false
}

func issuesOf(body string) []routing.ReviewIssue {
	var out []routing.ReviewIssue
	for _, line := range strings.Split(body, "\n") {
		m := issueLine.FindStringSubmatch(strings.TrimRight(line, "\r"))
		if m == nil || len(out) >= 100 {
			continue
		}
		is := routing.ReviewIssue{
			Severity: routing.IssueSeverity(strings.ToLower(m[1])), Category: strings.TrimSpace(m[2] + m[3]),
			File: m[4], Description: strings.TrimSpace(m[6]),
		}
		for _, d := range m[5] {
			is.Line = is.Line*10 + int(d-'0')
		}
		if is.Category == "" {
			is.Category = "review"
		}
		out = append(out, is)
	}
	return out
}
