package github

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/go-github/v60/github"
)

// issueFiler creates issues: with their labels, and not more than Options.IssueCap in an hour.
type issueFiler struct {
	*core
	labels *LabelsService

	mu    sync.Mutex
	filed []time.Time // when issues were created
}

// file creates the issue, without assignees if none can be assigned.
func (f *issueFiler) file(ctx context.Context, r Repo, spec IssueSpec) (Issue, error) {
	if err := f.count(); err != nil {
		return Issue{}, err
	}
	labels := spec.Labels
	if !slices.ContainsFunc(labels, func(l LabelSpec) bool { return strings.EqualFold(l.Name, f.o.IssueLabel) }) {
		labels = append([]LabelSpec{{Name: f.o.IssueLabel, Color: "5319e7", Description: "Filed by Switchback"}}, labels...)
	}
	if err := f.labels.ensure(ctx, r, labels); err != nil {
		return Issue{}, err
	}
	list := names(labels)
	if len(spec.Assignees) == 0 && spec.Who != nil {
		spec.Assignees = spec.Who()
	}
	req := &github.IssueRequest{Title: &spec.Title, Body: github.String(string(spec.Body)), Labels: &list}
	if len(spec.Assignees) > 0 {
		req.Assignees = &spec.Assignees
	}
	i, _, err := f.gh.Issues.Create(ctx, r.Owner, r.Name, req)
	if req.Assignees != nil && refused(err, "assignees") {
		f.o.Log.Warn("nobody is assigned", "repo", r.String(), "assignees", spec.Assignees)
		req.Assignees = nil
		i, _, err = f.gh.Issues.Create(ctx, r.Owner, r.Name, req)
	}
	if err != nil {
		return Issue{}, Wrap("file", err)
	}
	return issueOf(i, i.GetUser().GetLogin()), nil
}

// count enforces Options.IssueCap, so that a bug cannot flood a repository with issues.
func (f *issueFiler) count() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.o.Now()
	f.filed = slices.DeleteFunc(f.filed, func(t time.Time) bool { return now.Sub(t) >= time.Hour })
	if len(f.filed) >= f.o.IssueCap {
		f.o.Log.Error("too many new issues within an hour; nothing more is filed", "cap", f.o.IssueCap)
		return failf("file", ErrIssueCap, "%d new issues within an hour are the most", f.o.IssueCap)
	}
	f.filed = append(f.filed, now)
	return nil
}

func refused(err error, field string) bool {
	var res *github.ErrorResponse
	return errors.As(err, &res) && res.Response.StatusCode == http.StatusUnprocessableEntity &&
		(strings.Contains(res.Message, field) || slices.ContainsFunc(res.Errors, func(e github.Error) bool { return e.Field == field }))
}
