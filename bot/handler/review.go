package handler

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/lazyregexp"
)

// review routes a submitted pull request review as a run of its checkpoint.
type review struct{ Deps }

// Handle implements Handler.
func (h review) Handle(ctx context.Context, e *Event) (bool, error) {
	if e.Review == nil || e.PullRequest == nil {
		return true, errors.New("the event has no review; use `on: pull_request_review` with `types: [submitted]`")
	}
	t, err := h.read(ctx, *e.Review, e.PullRequest.Number)
	if err != nil || t == nil {
		return true, err
	}
	return true, Route(ctx, h.Deps, *t)
}

// read returns what a review decides, nil if it decides nothing.
func (h review) read(ctx context.Context, r Review, number int) (*CheckpointRun, error) {
	result, decides := ReviewOf(r)
	if !decides {
		h.notice("a review that only comments decides nothing")
		return nil, nil
	}
	live, err := h.GitHub.PullRequests.Get(ctx, h.Repo, number)
	if err != nil {
		return nil, err
	}
	if live.State == "closed" {
		h.notice("pull request #%d is closed", number)
		return nil, nil
	}
	if ok, err := h.counts(ctx, r); err != nil || !ok {
		return nil, err
	}
	t := &CheckpointRun{Checkpoint: h.Options.Checkpoint, Review: &result, Head: live.HeadSHA}
	if t.Checkpoint == "" {
		t.Checkpoint = h.Config.ReviewCheckpoint()
	}
	t.Subject = effect.PullRequest(live, h.DefaultBranch)
	t.Run = routing.Run{Repository: h.Repo.String(), ID: strconv.FormatInt(r.ID, 10), Attempt: 1, SHA: r.CommitID, URL: r.URL}
	return t, nil
}

// counts reports whether a review counts: those of people who may write do, as GitHub itself counts
// approvals, and those of the reviewers that the configuration names. On a public repository anyone
// can approve.
func (h review) counts(ctx context.Context, r Review) (bool, error) {
	for _, login := range h.Config.Review.Reviewers {
		if strings.EqualFold(strings.TrimPrefix(login, "@"), r.User.Login) {
			return true, nil
		}
	}
	may, err := h.GitHub.Collaborators.Permission(ctx, h.Repo, r.User.Login)
	if err != nil {
		return false, err
	}
	if may != "admin" && may != "write" {
		h.notice("the review of %s does not count: only those of people who may write, and of review.reviewers, do", r.User.Login)
		return false, nil
	}
	return true, nil
}

// ReviewOf turns a pull request review into a structured one. Changes requested is REJECTED,
// approved is APPROVED; a comment decides nothing. A JSON block in the body that is a structured
// review is used as it is; else each line of the form "blocker (category): text" is an issue.
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
	jsonBlock = lazyregexp.New("(?s)```(?:json)?\\s*\\n(\\{.*?\\})\\s*\\n```")
	issueLine = lazyregexp.New(`(?i)^\s*(?:[-*]\s+)?\**(blocker|critical|major|minor)\**\s*(?:\(([^)]*)\)|\[([^\]]*)\])?\**\s*:\**\s*(?:([\w./-]+\.\w+):(\d{1,9}):?\s+)?(.+)$`)
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
