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
	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/diagnosis"
)

// step is the Action as a step after the tests of the job it runs in.
func (f *face) step(ctx context.Context) (*trigger, error) {
	get := f.env.Getenv
	t := &trigger{checkpoint: f.in.Checkpoint, input: analysis.Input{Looked: f.in.Reports, Conclusion: conclusionOf(f.in.JobStatus)}}
	if t.checkpoint == "" {
		t.checkpoint = get("GITHUB_JOB")
	}
	if t.checkpoint == "" {
		t.checkpoint = "ci"
	}
	t.run = f.ownRun()
	if pr := f.event.PullRequest; pr != nil {
		live, err := f.hub.PullRequest(ctx, f.repo, pr.Number)
		if err != nil {
			return nil, err
		}
		if live.State == "closed" {
			f.notice("pull request #%d is closed", pr.Number)
			return nil, nil
		}
		t.subject = effect.Subject{Number: pr.Number, Author: live.Author, Branch: live.HeadRef, Base: live.BaseRef, Labels: live.Labels, DefaultBranch: f.event.Repository.DefaultBranch}
		t.run.SHA, t.head, t.labels = pr.Head.SHA, live.HeadSHA, live.Labels
	} else {
		t.subject = effect.Subject{Branch: get("GITHUB_REF_NAME"), DefaultBranch: f.event.Repository.DefaultBranch}
		t.run.SHA = get("GITHUB_SHA")
	}
	files, err := f.glob()
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		t.input.Sources = append(t.input.Sources, analysis.Source{Name: name, Open: func() (io.ReadCloser, error) { return os.Open(f.path(name)) }})
	}
	t.input.ReadFile = func(p string) ([]byte, error) { return readBelow(get("GITHUB_WORKSPACE"), p) }
	t.input.Tree = diagnosis.NewTree(treeOf(get("GITHUB_WORKSPACE")))
	return t, nil
}

// ownRun names the run that this step belongs to.
func (f *face) ownRun() routing.Run {
	get := f.env.Getenv
	attempt, _ := strconv.Atoi(get("GITHUB_RUN_ATTEMPT"))
	return routing.Run{
		Repository: f.repo.String(), ID: get("GITHUB_RUN_ID"), Attempt: max(attempt, 1), Job: get("GITHUB_JOB"),
		Part: f.in.part(), Parts: f.in.MatrixTotal,
		URL: fmt.Sprintf("%s/%s/actions/runs/%s", get("GITHUB_SERVER_URL"), f.repo, get("GITHUB_RUN_ID")),
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

// glob returns the files that the reports input names, sorted, once each.
func (f *face) glob() ([]string, error) {
	root := f.env.Getenv("GITHUB_WORKSPACE")
	if root == "" {
		root = "."
	}
	seen := map[string]bool{}
	var out []string
	for _, pattern := range f.in.Reports {
		p := filepath.ToSlash(pattern)
		if !doublestar.ValidatePattern(p) {
			return nil, fmt.Errorf("input reports: %q is no valid glob", pattern)
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

// readBelow reads a file of the workspace, never one outside it, also not by
// a symbolic link.
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

// treeOf lists the files below root, without what is never a repository's own.
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
