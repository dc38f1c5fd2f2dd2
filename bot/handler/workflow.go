package handler

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/switchback-ci/switchback/bot/github"
)

// workflow is the workflow of a run, as the default branch knows it. A pull request chooses the name
// of its workflows, so a run that calls itself "CI" may come from a file that the pull request added.
type workflow struct {
	path  string // ".github/workflows/ci.yml"; "" if GitHub did not say
	name  string // on the default branch; the path if there is no such file or it has no name
	known bool   // to the default branch
}

// mostWorkflow is the size of a workflow file that is read for its name. GitHub accepts no larger one.
const mostWorkflow = 512 << 10

// workflowOf returns the workflow of a run: one request, unless the run is of the default branch.
func (h workflowRun) workflowOf(ctx context.Context, e WorkflowRun) (workflow, error) {
	file, _, _ := strings.Cut(e.Path, "@") // a required workflow's has a ref
	w := workflow{path: file, name: file}
	own := e.HeadRepo != nil && strings.EqualFold(e.HeadRepo.FullName, h.Repo.String()) && e.HeadBranch != "" && e.HeadBranch == h.DefaultBranch
	if file == "" || own {
		w.name, w.known = e.Name, true
		return w, nil
	}
	src, err := h.GitHub.Contents.GetUpTo(ctx, h.Repo, file, h.DefaultBranch, mostWorkflow)
	switch {
	case errors.Is(err, github.ErrNotFound), errors.Is(err, github.ErrTooLarge):
		return w, nil
	case err != nil:
		return w, err
	}
	w.known = true
	var content struct {
		Name string `yaml:"name"`
	}
	if yaml.Unmarshal(src, &content) == nil && content.Name != "" {
		w.name = content.Name
	}
	return w, nil
}

// chosen reports whether w is among the workflows that are analyzed: given by name, by path or by
// the name of the file. A workflow that the default branch does not have is not.
func (w workflow) chosen(among []string) bool {
	return len(among) == 0 || w.known && slices.ContainsFunc(among, func(s string) bool {
		return s == w.name || w.path != "" && (s == w.path || s == path.Base(w.path))
	})
}
