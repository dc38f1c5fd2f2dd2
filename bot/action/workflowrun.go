package action

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/pipeline"
	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/diagnosis"
)

// workflowRun is the Action as a workflow of its own on workflow_run: it runs
// in the default branch's context and reads the run from outside; nothing of
// the pull request is checked out or executed.
func (f *face) workflowRun(ctx context.Context) (*trigger, error) {
	e := f.event.WorkflowRun
	if e == nil {
		return nil, errors.New("the event has no workflow_run; use `on: workflow_run` with `types: [completed]`")
	}
	if !f.watches(e.Name) {
		f.notice("workflow %q is not among the workflows looked at", e.Name)
		return nil, nil
	}
	live, err := f.hub.Run(ctx, f.repo, e.ID, max(e.Attempt, 1))
	if err != nil {
		return nil, err
	}
	t := &trigger{checkpoint: f.in.Checkpoint}
	if t.checkpoint == "" {
		t.checkpoint = live.Name
	}
	if t.checkpoint == "" {
		t.checkpoint = e.Name
	}
	t.run = routing.Run{
		Repository: f.repo.String(), ID: strconv.FormatInt(e.ID, 10), Attempt: max(e.Attempt, 1), SHA: live.HeadSHA, URL: live.URL,
	}
	if ours, err := f.subjectOfRun(ctx, live, t); err != nil || !ours {
		return nil, err
	}
	t.input = analysis.Input{Looked: f.in.Reports, Conclusion: live.Conclusion}
	if live.Conclusion == "" {
		t.input.Conclusion = e.Conclusion
	}
	if err := f.sourcesOfRun(ctx, live, t); err != nil {
		return nil, err
	}
	t.input.ReadFile = remember(5, func(p string) ([]byte, error) { return f.hub.File(ctx, f.headRepo(live), p, live.HeadSHA) })
	if t.input.Conclusion != "success" {
		t.input.Tree = f.treeOfRun(ctx, live)
	}
	return t, nil
}

func (f *face) watches(name string) bool {
	for _, w := range f.in.Workflows {
		if w == name {
			return true
		}
	}
	return len(f.in.Workflows) == 0
}

// headRepo is where the run's commit is: the fork, if it still exists.
func (f *face) headRepo(r github.WorkflowRun) github.Repo {
	if h, err := github.ParseRepo(r.HeadRepo); err == nil {
		return h
	}
	return f.repo
}

// subjectOfRun finds the pull request of a run, or takes its branch. It reports
// false for a run that is nobody's: a pull request's run whose pull request has
// moved on or is gone. A branch of a fork is never taken for one of the same
// name here.
func (f *face) subjectOfRun(ctx context.Context, r github.WorkflowRun, t *trigger) (bool, error) {
	t.subject = effect.Subject{Branch: r.HeadRef, DefaultBranch: f.event.Repository.DefaultBranch}
	ofPull := r.Event == "pull_request" || r.Event == "pull_request_target" || !strings.EqualFold(r.HeadRepo, f.repo.String())
	if !ofPull && len(r.PullRequests) == 0 {
		return true, nil
	}
	pr, found, err := f.pullOfRun(ctx, r)
	if err != nil {
		return false, err
	}
	if !found {
		if ofPull {
			f.notice("no pull request has the head %s of %s any more; the run is nobody's", r.HeadSHA, r.HeadRepo)
		}
		return !ofPull, nil
	}
	t.subject.Number, t.subject.Author, t.subject.Labels, t.subject.Base = pr.Number, pr.Author, pr.Labels, pr.BaseRef
	t.head, t.labels = pr.HeadSHA, pr.Labels
	return true, nil
}

// pullOfRun returns the run's pull request. GitHub names those of forks and
// upstreams among a run's, by their numbers there, and none for a fork's run.
func (f *face) pullOfRun(ctx context.Context, r github.WorkflowRun) (github.PullRequest, bool, error) {
	for _, n := range r.PullRequests {
		pr, err := f.hub.PullRequest(ctx, f.repo, n)
		switch {
		case errors.Is(err, github.ErrNotFound):
			continue
		case err != nil:
			return pr, false, err
		case strings.EqualFold(pr.HeadRepo, r.HeadRepo) && (pr.HeadRef == r.HeadRef || pr.HeadSHA == r.HeadSHA):
			return pr, true, nil
		}
	}
	return f.hub.PullRequestOf(ctx, f.repo, r.HeadSHA, r.HeadRepo, r.HeadRef)
}

// sourcesOfRun takes reports from the run's artifacts, and the logs of its
// jobs where no artifact holds one: those that failed, or all of a green run.
func (f *face) sourcesOfRun(ctx context.Context, r github.WorkflowRun, t *trigger) error {
	if len(f.in.Reports) > 0 {
		if err := f.artifactSources(ctx, r, t); err != nil {
			return err
		}
	}
	if len(t.input.Sources) > 0 && t.input.Conclusion == "success" {
		return nil
	}
	jobs, err := f.hub.Jobs(ctx, f.repo, r.ID, max(r.Attempt, 1))
	if err != nil {
		return err
	}
	green := t.input.Conclusion == "success"
	for _, j := range github.Telling(jobs, green) {
		if len(t.input.Sources) > 0 && green {
			break
		}
		t.input.Sources = append(t.input.Sources, analysis.Source{Name: "log of job " + j.Name, Open: func() (io.ReadCloser, error) {
			return f.hub.JobLog(ctx, f.repo, j.ID)
		}})
	}
	return nil
}

// artifactSources spools the matching files of all artifacts to the runner's
// temporary folder; a path is matched as in the artifact and below its name.
func (f *face) artifactSources(ctx context.Context, r github.WorkflowRun, t *trigger) error {
	arts, err := f.hub.Artifacts(ctx, f.repo, r.ID)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(f.env.Getenv("RUNNER_TEMP"), "switchback-artifacts-")
	if err != nil {
		return err
	}
	n := 0
	for _, a := range github.Newest(arts) {
		match := func(name string) bool { return f.wanted(name) || f.wanted(a.Name+"/"+name) }
		err := f.hub.ArtifactFiles(ctx, f.repo, a, match, func(name string, rd io.Reader) error {
			n++
			file := filepath.Join(dir, strconv.Itoa(n))
			if err := spool(file, rd); err != nil {
				return err
			}
			t.input.Sources = append(t.input.Sources, analysis.Source{Name: a.Name + "/" + name, Open: func() (io.ReadCloser, error) { return os.Open(file) }})
			return nil
		})
		if err != nil {
			// What cannot be read is said, and is never taken for a pass.
			msg := err
			t.input.Sources = append(t.input.Sources, analysis.Source{Name: "artifact " + a.Name, Open: func() (io.ReadCloser, error) { return nil, msg }})
		}
	}
	return nil
}

func (f *face) wanted(name string) bool {
	for _, p := range f.in.Reports {
		if ok, err := doublestar.Match(p, name); err == nil && ok {
			return true
		}
	}
	return false
}

func spool(name string, r io.Reader) error {
	w, err := os.Create(name)
	if err != nil {
		return err
	}
	if _, err := io.Copy(w, r); err != nil {
		_ = w.Close()
		return err
	}
	return w.Close()
}

// review is the Action on a submitted pull request review.
func (f *face) review(ctx context.Context) (*trigger, error) {
	r, pr := f.event.Review, f.event.PullRequest
	if r == nil || pr == nil {
		return nil, errors.New("the event has no review; use `on: pull_request_review` with `types: [submitted]`")
	}
	result, decides := ReviewOf(*r)
	if !decides {
		f.notice("a review that only comments decides nothing")
		return nil, nil
	}
	live, err := f.hub.PullRequest(ctx, f.repo, pr.Number)
	if err != nil {
		return nil, err
	}
	if live.State == "closed" {
		f.notice("pull request #%d is closed", pr.Number)
		return nil, nil
	}
	if ok, err := f.mayReview(ctx, *r); err != nil || !ok {
		return nil, err
	}
	t := &trigger{checkpoint: f.in.Checkpoint, review: &result, labels: live.Labels, head: live.HeadSHA}
	if t.checkpoint == "" {
		t.checkpoint = f.config.Review.Checkpoint
	}
	if t.checkpoint == "" {
		t.checkpoint = "review"
	}
	t.subject = effect.Subject{Number: pr.Number, Author: live.Author, Branch: live.HeadRef, Base: live.BaseRef, Labels: live.Labels, DefaultBranch: f.event.Repository.DefaultBranch}
	t.run = routing.Run{Repository: f.repo.String(), ID: strconv.FormatInt(r.ID, 10), Attempt: 1, SHA: r.CommitID, URL: r.URL}
	return t, nil
}

// mayReview reports whether a review counts: of people who may write, as
// GitHub itself counts approvals, and of the reviewers the configuration names.
// On a public repository anyone can approve.
func (f *face) mayReview(ctx context.Context, r Review) (bool, error) {
	for _, login := range f.config.Review.Reviewers {
		if strings.EqualFold(strings.TrimPrefix(login, "@"), r.User.Login) {
			return true, nil
		}
	}
	may, err := f.hub.Permission(ctx, f.repo, r.User.Login)
	if err != nil {
		return false, err
	}
	if may != "admin" && may != "write" {
		f.notice("the review of %s does not count: only those of people who may write, and of review.reviewers, do", r.User.Login)
		return false, nil
	}
	return true, nil
}

// reconcileAll carries out what earlier runs decided and did not finish.
func (f *face) reconcileAll(ctx context.Context) (int, error) {
	keys, err := f.led.Keys(ctx)
	if err != nil {
		return 1, fmt.Errorf("listing the ledger: %w", err)
	}
	var failed error
	for _, key := range keys {
		if key == routing.RegisterKey(f.repo.String(), routing.RegisterFeedback) {
			failed = errors.Join(failed, f.reconcilePrompts(ctx))
		}
		if routing.IsRegister(key) {
			continue
		}
		events, _, err := f.led.Load(ctx, key)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		c, err := routing.Fold(key, events)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		if len(c.Pending) == 0 {
			continue
		}
		if err := f.finish(ctx, c); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		f.notice("finished what was pending for %s", key)
	}
	if slices.Contains(keys, routing.RegisterKey(f.repo.String(), routing.RegisterEscalations)) {
		failed = errors.Join(failed, f.reconcileAnswers(ctx))
	}
	if failed != nil {
		return 1, failed
	}
	return 0, nil
}

// finish carries out the pending effects of one case.
func (f *face) finish(ctx context.Context, c routing.Case) error {
	subject, err := f.subjectOf(ctx, c.Key)
	if err != nil {
		return err
	}
	t := trigger{subject: subject, labels: subject.Labels}
	_, err = f.line(f.effects(t)).Carry(ctx, pipeline.Recorded{Case: c})
	return err
}

func (f *face) subjectOf(ctx context.Context, key string) (effect.Subject, error) {
	s, err := effect.ParseSubject(f.repo, key)
	if err != nil || s.Number == 0 {
		return s, err
	}
	pr, err := f.hub.PullRequest(ctx, f.repo, s.Number)
	if err != nil {
		return s, err
	}
	s.Author, s.Branch, s.Base, s.Labels, s.DefaultBranch = pr.Author, pr.HeadRef, pr.BaseRef, pr.Labels, f.event.Repository.DefaultBranch
	return s, nil
}

// remember reads each file once, and at most n files: each costs a request.
func remember(n int, read func(string) ([]byte, error)) func(string) ([]byte, error) {
	type answer struct {
		data []byte
		err  error
	}
	known := map[string]answer{}
	return func(p string) ([]byte, error) {
		a, ok := known[p]
		if !ok && len(known) >= n {
			return nil, fmt.Errorf("%s: no more files are read", p)
		}
		if !ok {
			a.data, a.err = read(p)
			known[p] = a
		}
		return a.data, a.err
	}
}

// treeOfRun lists the files of the run's commit; a truncated listing links
// nothing, since a match in half a tree may be the wrong file.
func (f *face) treeOfRun(ctx context.Context, r github.WorkflowRun) *diagnosis.Tree {
	paths, truncated, err := f.hub.Tree(ctx, f.headRepo(r), r.HeadSHA)
	if err != nil || truncated {
		return nil
	}
	return diagnosis.NewTree(paths)
}
