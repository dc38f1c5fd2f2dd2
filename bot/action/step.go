package action

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/handler"
	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/diagnosis"
)

// route analyzes the reports of the job that the step runs in, and routes them.
func (s *step) route(ctx context.Context) error {
	t, err := s.checkpointRun(ctx)
	if err != nil || t == nil {
		return err
	}
	return handler.Route(ctx, s.deps, *t)
}

// checkpointRun returns what the job left behind so far. It is nil for a closed pull request.
func (s *step) checkpointRun(ctx context.Context) (*handler.CheckpointRun, error) {
	get := s.Getenv
	t := &handler.CheckpointRun{Checkpoint: s.in.Checkpoint, Input: analysis.Input{Looked: s.in.Reports, Conclusion: conclusionOf(s.in.JobStatus)}}
	if t.Checkpoint == "" {
		t.Checkpoint = get("GITHUB_JOB")
	}
	if t.Checkpoint == "" {
		t.Checkpoint = "ci"
	}
	t.Run = ownRun(s.runner, s.deps.Repo, s.in)
	if pr := s.event.PullRequest; pr != nil {
		live, err := s.deps.GitHub.PullRequests.Get(ctx, s.deps.Repo, pr.Number)
		if err != nil {
			return nil, err
		}
		if live.State == "closed" {
			s.notice("pull request #%d is closed", pr.Number)
			return nil, nil
		}
		t.Subject = effect.PullRequest(live, s.event.Repository.DefaultBranch)
		t.Run.SHA, t.Head = pr.Head.SHA, live.HeadSHA
	} else {
		t.Subject = effect.Subject{Branch: get("GITHUB_REF_NAME"), DefaultBranch: s.event.Repository.DefaultBranch}
		t.Run.SHA = get("GITHUB_SHA")
		t.Group = s.event.MergeGroup
		if head := s.event.HeadCommit; head.ID == t.Run.SHA {
			t.Run.Tree = head.TreeID
		}
	}
	files, err := reportFiles(get("GITHUB_WORKSPACE"), s.in.Reports)
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		t.Input.Sources = append(t.Input.Sources, analysis.Source{Name: name, Open: func() (io.ReadCloser, error) { return os.Open(s.path(name)) }})
	}
	t.Input.Nearby = func() analysis.Nearby { return nearby(get("GITHUB_WORKSPACE")) }
	t.Input.ReadFile = func(p string) ([]byte, error) { return readBelow(get("GITHUB_WORKSPACE"), p) }
	t.Input.Tree = diagnosis.NewTree(treeOf(get("GITHUB_WORKSPACE")))
	return t, nil
}

// ownRun names the run that this step belongs to.
func ownRun(r runner, repo github.Repo, in Inputs) routing.Run {
	get := r.Getenv
	attempt, _ := strconv.Atoi(get("GITHUB_RUN_ATTEMPT"))
	return routing.Run{
		Repository: repo.String(), ID: get("GITHUB_RUN_ID"), Attempt: max(attempt, 1), Job: get("GITHUB_JOB"),
		Part: in.part(), Parts: in.MatrixTotal, Pusher: handler.PusherOf(get("GITHUB_EVENT_NAME"), get("GITHUB_ACTOR")),
		URL: fmt.Sprintf("%s/%s/actions/runs/%s", get("GITHUB_SERVER_URL"), repo, get("GITHUB_RUN_ID")),
	}
}

// conclusionOf turns a job's status so far into the conclusion it will have.
func conclusionOf(status string) string {
	switch status {
	case "success", "failure", "cancelled":
		return status
	}
	return ""
}

// reportFiles returns the files below root that the globs of the input reports match, sorted, once
// each.
func reportFiles(root string, globs []string) ([]string, error) {
	if root == "" {
		root = "."
	}
	seen := map[string]bool{}
	var out []string
	for _, pattern := range globs {
		p := filepath.ToSlash(pattern)
		if !doublestar.ValidatePattern(p) {
			return nil, fmt.Errorf("input reports: %q is no valid glob; see that every [ and { is closed", pattern)
		}
		base, rest := ".", p
		if filepath.IsAbs(pattern) {
			base, rest = doublestar.SplitPattern(p)
		}
		dir := base
		if base == "." {
			dir = root
		}
		matches, err := doublestar.Glob(os.DirFS(dir), strings.TrimPrefix(rest, "./"), doublestar.WithFilesOnly(), doublestar.WithNoFollow())
		if err != nil {
			return nil, fmt.Errorf("input reports: %q: %w", pattern, err)
		}
		for _, m := range matches {
			if base != "." {
				m = base + "/" + m
			}
			path := m
			if base == "." {
				path = filepath.Join(root, m)
			}
			if path = analysis.Resolved(path); !seen[path] {
				seen[path] = true
				out = append(out, m)
			}
		}
	}
	return out, nil
}

// readBelow reads a file of the workspace, and none outside it, not even through a symbolic link.
func readBelow(root, name string) ([]byte, error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	file, err := r.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, 4<<20))
}

// treeOf lists the files below root, without those that are never the repository's own.
func treeOf(root string) []string {
	const most = 200_000
	var out []string
	_ = filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // an unreadable folder holds no file we could link
		}
		if d.IsDir() {
			switch d.Name() {
			case ".git", "node_modules", "vendor", ".venv", "target", "__pycache__":
				if p != root {
					return filepath.SkipDir
				}
			}
			return nil
		}
		if len(out) >= most {
			return filepath.SkipAll
		}
		if rel, err := filepath.Rel(root, p); err == nil {
			out = append(out, filepath.ToSlash(rel))
		}
		return nil
	})
	return out
}
