package github

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"
)

// Limits of repository_dispatch's client_payload and workflow_dispatch's inputs.
const (
	payloadFields = 10
	payloadBytes  = 64 << 10
	inputBytes    = 65_535
)

// DispatchesService starts workflow runs and finds the runs that it started.
type DispatchesService struct{ *core }

// StartWorkflow starts a workflow, named by file or id, on a branch or tag. GitHub has no
// idempotency key for it: after an ambiguous error call HasRunSince.
func (s *DispatchesService) StartWorkflow(ctx context.Context, r Repo, workflow, ref string, inputs map[string]string) error {
	op := opf("start workflow %q of %s", workflow, r)
	in, size := make(map[string]any, len(inputs)), 0
	for k, v := range inputs {
		in[k] = v
		size += len(k) + len(v)
	}
	switch {
	case workflow == "" || workflow == "." || workflow == ".." || ref == "":
		return failf(op, nil, "a workflow and a ref are needed")
	case size > inputBytes:
		return failf(op, ErrTooLarge, "the inputs have %d bytes, the limit is %d", size, inputBytes)
	}
	_, err := s.gh.Actions.CreateWorkflowDispatchEventByFileName(ctx, r.Owner, r.Name, url.PathEscape(workflow),
		github.CreateWorkflowDispatchEventRequest{Ref: ref, Inputs: in})
	return Wrap(op, err)
}

// SendEvent sends an event with payload, a JSON object of at most ten fields and 64 KB.
// After an ambiguous error call HasRunSince.
func (s *DispatchesService) SendEvent(ctx context.Context, r Repo, event string, payload any) error {
	op := opf("send event %q to %s", event, r)
	data, err := json.Marshal(payload)
	if err != nil {
		return failf(op, nil, "%v", err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return failf(op, nil, "the payload is not an object")
	}
	switch {
	case event == "" || len(event) > 100:
		return failf(op, nil, "an event has 1 to 100 characters")
	case len(fields) > payloadFields:
		return failf(op, ErrTooLarge, "the payload has %d fields, the limit is %d", len(fields), payloadFields)
	case len(data) >= payloadBytes:
		return failf(op, ErrTooLarge, "the payload has %d bytes, the limit is %d", len(data), payloadBytes)
	}
	raw := json.RawMessage(data)
	_, _, err = s.gh.Repositories.Dispatch(ctx, r.Owner, r.Name, github.DispatchRequestOptions{EventType: event, ClientPayload: &raw})
	return Wrap(op, err)
}

// HasRunSince reports whether an event started a run since then whose title contains needle.
// The workflow has to put needle into its run-name.
func (s *DispatchesService) HasRunSince(ctx context.Context, r Repo, event string, since time.Time, needle string) (bool, error) {
	_, found, err := s.RunSince(ctx, r, event, since, needle)
	return found, err
}

// RunSince returns the newest run that an event started since then whose title contains needle, and
// false if there is none.
func (s *DispatchesService) RunSince(ctx context.Context, r Repo, event string, since time.Time, needle string) (WorkflowRun, bool, error) {
	op := opf("look for a run of %s in %s", event, r)
	if needle == "" {
		return WorkflowRun{}, false, failf(op, nil, "nothing to look for")
	}
	since = since.UTC().Truncate(time.Second)
	// GitHub lists the newest first.
	for n := 1; ; {
		l, res, err := s.gh.Actions.ListRepositoryWorkflowRuns(ctx, r.Owner, r.Name,
			&github.ListWorkflowRunsOptions{Event: event, ListOptions: github.ListOptions{Page: n, PerPage: 100}})
		if err != nil {
			return WorkflowRun{}, false, Wrap(op, err)
		}
		for _, x := range l.WorkflowRuns {
			if x.GetCreatedAt().Time.Before(since) {
				return WorkflowRun{}, false, nil
			}
			if strings.Contains(x.GetDisplayTitle(), needle) {
				return runOf(x), true, nil
			}
		}
		if res.NextPage <= n {
			return WorkflowRun{}, false, nil
		}
		n = res.NextPage
	}
}

// FindRun returns the newest run of a workflow, named by file, that a
// workflow_dispatch started since then and whose title contains needle, and
// false if there is none (yet: GitHub takes a moment to list it).
func (s *DispatchesService) FindRun(ctx context.Context, r Repo, workflow string, since time.Time, needle string) (WorkflowRun, bool, error) {
	op := opf("look for a run of %s in %s", workflow, r)
	if needle == "" {
		return WorkflowRun{}, false, failf(op, nil, "nothing to look for")
	}
	since = since.UTC().Truncate(time.Second)
	for n := 1; ; {
		l, res, err := s.gh.Actions.ListWorkflowRunsByFileName(ctx, r.Owner, r.Name, url.PathEscape(workflow),
			&github.ListWorkflowRunsOptions{Event: "workflow_dispatch", ListOptions: github.ListOptions{Page: n, PerPage: 100}})
		if err != nil {
			return WorkflowRun{}, false, Wrap(op, err)
		}
		for _, x := range l.WorkflowRuns {
			if x.GetCreatedAt().Time.Before(since) {
				return WorkflowRun{}, false, nil
			}
			if strings.Contains(x.GetDisplayTitle(), needle) {
				return runOf(x), true, nil
			}
		}
		if res.NextPage <= n {
			return WorkflowRun{}, false, nil
		}
		n = res.NextPage
	}
}
