package handler

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/diagnosis"
)

// workflowRun analyzes a run that has completed, from outside of it: nothing of the pull request is
// checked out or executed.
type workflowRun struct{ Deps }

// Handle implements Handler.
func (h workflowRun) Handle(ctx context.Context, e *Event) (bool, error) {
	if e.WorkflowRun == nil {
		return true, errors.New("the event has no workflow_run; use `on: workflow_run` with `types: [completed]`")
	}
	return true, h.analyze(ctx, *e.WorkflowRun)
}

// analyze analyzes and routes a run, if its workflow is among those analyzed and it has a subject.
func (h workflowRun) analyze(ctx context.Context, e WorkflowRun) error {
	dir, err := os.MkdirTemp(h.Options.Temp, "switchback-artifacts-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	t, err := h.read(ctx, e, dir)
	if err != nil || t == nil {
		return err
	}
	return Route(ctx, h.Deps, *t)
}

// read returns what a run left behind; dir takes the archives of its artifacts. It is nil for a run that
// is not analyzed.
func (h workflowRun) read(ctx context.Context, e WorkflowRun, dir string) (*CheckpointRun, error) {
	w, err := h.workflowOf(ctx, e)
	if err != nil {
		return nil, err
	}
	if !w.chosen(h.Options.Workflows) {
		h.notice("workflow %q is not among the workflows that are analyzed", w.name)
		return nil, nil
	}
	live, err := h.GitHub.Runs.Get(ctx, h.Repo, e.ID, max(e.Attempt, 1))
	if err != nil {
		return nil, err
	}
	t := &CheckpointRun{Checkpoint: h.Options.Checkpoint}
	if t.Checkpoint == "" || !w.known {
		t.Checkpoint = w.name // a workflow that the default branch does not have stands for no other
	}
	t.Run = routing.Run{
		Repository: h.Repo.String(), ID: strconv.FormatInt(e.ID, 10), Attempt: max(e.Attempt, 1), SHA: live.HeadSHA, Tree: live.HeadTree, URL: live.URL,
		Pusher: PusherOf(live.Event, live.Actor),
	}
	if ours, err := h.subject(ctx, live, t); err != nil || !ours {
		return nil, err
	}
	t.Input = analysis.Input{Looked: h.Options.Reports, Conclusion: live.Conclusion}
	if live.Conclusion == "" {
		t.Input.Conclusion = e.Conclusion
	}
	if t.Input.Conclusion == analysis.AwaitsApproval {
		return t, nil // no job of it has begun
	}
	var held names
	if err := h.sources(ctx, live, t, dir, &held); err != nil {
		return nil, err
	}
	t.Input.Nearby = held.nearby
	t.Input.ReadFile = readAtMost(5, func(p string) ([]byte, error) { return h.GitHub.Contents.Get(ctx, h.headRepo(live), p, live.HeadSHA) })
	if t.Input.Conclusion != "success" {
		t.Input.Tree = h.tree(ctx, live)
	}
	return t, nil
}

// headRepo is where the run's commit is: the fork, if it still exists.
func (h workflowRun) headRepo(r github.WorkflowRun) github.Repo {
	if h, err := github.ParseRepo(r.HeadRepo); err == nil {
		return h
	}
	return h.Repo
}

// subject finds the pull request of a run, or takes its branch. It reports false for a run
// without a subject: that of a pull request which has other commits by now, or is gone. A branch of
// a fork is never taken for the branch of the same name here.
func (h workflowRun) subject(ctx context.Context, r github.WorkflowRun, t *CheckpointRun) (bool, error) {
	t.Subject = effect.Subject{Branch: r.HeadRef, DefaultBranch: h.DefaultBranch}
	if t.Subject.Group() && strings.EqualFold(r.HeadRepo, h.Repo.String()) && !strings.HasPrefix(r.Event, "pull_request") {
		return true, nil
	}
	ofPull := r.Event == "pull_request" || r.Event == "pull_request_target" || !strings.EqualFold(r.HeadRepo, h.Repo.String())
	if !ofPull && (len(r.PullRequests) == 0 || r.HeadRef == h.DefaultBranch) {
		return true, nil // the default branch is the base of others before it is the head of a pull request
	}
	pr, found, err := h.pullRequest(ctx, r)
	if err != nil {
		return false, err
	}
	if !found {
		if ofPull {
			h.notice("no pull request has the head %s of %s any more; the run is nobody's", r.HeadSHA, r.HeadRepo)
		}
		return !ofPull, nil
	}
	t.Subject = effect.PullRequest(pr, h.DefaultBranch)
	t.Head = pr.HeadSHA
	return true, nil
}

// pullRequest returns the run's pull request. Among the pull requests of a run GitHub lists those of
// forks and upstreams, with their numbers there, and for the run of a fork it lists none.
func (h workflowRun) pullRequest(ctx context.Context, r github.WorkflowRun) (github.PullRequest, bool, error) {
	for _, n := range r.PullRequests {
		pr, err := h.GitHub.PullRequests.Get(ctx, h.Repo, n)
		switch {
		case errors.Is(err, github.ErrNotFound):
			continue
		case err != nil:
			return pr, false, err
		case strings.EqualFold(pr.HeadRepo, r.HeadRepo) && (pr.HeadRef == r.HeadRef || pr.HeadSHA == r.HeadSHA):
			return pr, true, nil
		}
	}
	return h.GitHub.PullRequests.FindByHead(ctx, h.Repo, r.HeadSHA, r.HeadRepo, r.HeadRef)
}

// sources adds the reports in the run's artifacts, and the logs of its jobs where no artifact
// holds a report: of those that failed, or of all if the run is green.
func (h workflowRun) sources(ctx context.Context, r github.WorkflowRun, t *CheckpointRun, dir string, held *names) error {
	if len(h.Options.Reports) > 0 {
		if err := h.artifacts(ctx, r, t, dir, held); err != nil {
			return err
		}
	}
	if len(t.Input.Sources) > 0 && t.Input.Conclusion == "success" {
		return nil
	}
	jobs, err := h.GitHub.Jobs.List(ctx, h.Repo, r.ID, max(r.Attempt, 1))
	if err != nil {
		return err
	}
	green := t.Input.Conclusion == "success"
	telling := github.Telling(jobs, green)
	if !green {
		t.Input.Baseline = h.baseline(ctx, r, telling)
	}
	for _, j := range telling {
		if len(t.Input.Sources) > 0 && green {
			break
		}
		t.Input.Sources = append(t.Input.Sources, analysis.Source{Name: "log of job " + j.Name, JobLog: j.Name, Open: func() (io.ReadCloser, error) {
			return h.GitHub.Jobs.Log(ctx, h.Repo, j.ID)
		}})
	}
	return nil
}

// artifacts adds the matching files of all artifacts, whose archives are kept in dir. A path is
// matched as it is in the artifact, and below the artifact's name.
func (h workflowRun) artifacts(ctx context.Context, r github.WorkflowRun, t *CheckpointRun, dir string, held *names) error {
	arts, err := h.GitHub.Artifacts.List(ctx, h.Repo, r.ID)
	if err != nil {
		return err
	}
	archives := h.GitHub.Artifacts.Archives(h.Repo, dir)
	for _, a := range github.Newest(arts) {
		files, err := archives.Open(ctx, a, func(name string) bool {
			held.add(a.Name + "/" + name)
			return matches(h.Options.Reports, name) || matches(h.Options.Reports, a.Name+"/"+name)
		})
		if err != nil {
			// A source that cannot be read is reported, and the run never counts as passed.
			t.Input.Sources = append(t.Input.Sources, analysis.Source{Name: "artifact " + a.Name, Open: func() (io.ReadCloser, error) { return nil, err }})
		}
		for _, f := range files {
			t.Input.Sources = append(t.Input.Sources, analysis.Source{Name: a.Name + "/" + f.Name, Open: f.Open})
		}
	}
	return nil
}

// names are the files of a run's artifacts, below the names of those.
type names struct{ reports, others []string }

// mostNames is how many names of a kind are kept.
const mostNames = 100

func (n *names) add(name string) {
	to := &n.others
	if analysis.NamedLikeReport(name) {
		to = &n.reports
	}
	if len(*to) < mostNames {
		*to = append(*to, name)
	}
}

// nearby says what the artifacts hold.
func (n *names) nearby() analysis.Nearby {
	slices.Sort(n.reports)
	slices.Sort(n.others)
	return analysis.Nearby{Place: "the run's artifacts", Reports: n.reports, Others: n.others,
		Remedy: "Let the job that runs the tests upload their report with actions/upload-artifact and `if: always()`, and name the file in `reports`"}
}

// matches reports whether one of the globs matches a path.
func matches(globs []string, name string) bool {
	for _, p := range globs {
		if ok, err := doublestar.Match(p, name); err == nil && ok {
			return true
		}
	}
	return false
}

// readAtMost reads each file once, and at most n files: each costs a request.
func readAtMost(n int, read func(string) ([]byte, error)) func(string) ([]byte, error) {
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

// tree lists the files of the run's commit. A truncated listing is not used: a match in half a
// tree may be the wrong file.
func (h workflowRun) tree(ctx context.Context, r github.WorkflowRun) *diagnosis.Tree {
	paths, truncated, err := h.GitHub.Contents.Tree(ctx, h.headRepo(r), r.HeadSHA)
	if err != nil || truncated {
		return nil
	}
	return diagnosis.NewTree(paths)
}
