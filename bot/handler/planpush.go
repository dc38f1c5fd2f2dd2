package handler

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/bot/render/planview"
	"github.com/switchback-ci/switchback/routing/plan"
)

// mergeQueue is the bot that pushes what people have GitHub merge.
const mergeQueue = "github-merge-queue[bot]"

// planPush starts a build of the plan if a push to the default branch changed its files and the
// configuration asks for that. A change that a bot pushed, such as a worker, belongs to the build in
// progress: otherwise workers that write to the file of their port would begin builds without end.
type planPush struct{ planDriver }

// Handle implements Handler.
func (h planPush) Handle(ctx context.Context, e *Event) (bool, error) {
	return true, h.pushed(ctx, e)
}

func (h planPush) pushed(ctx context.Context, e *Event) error {
	if h.Config.Ports.Start != "push" || e.After == "" || strings.Trim(e.After, "0") == "" {
		return nil
	}
	s, err := h.read(ctx, "")
	var wrong *plan.Error
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil && !errors.As(err, &wrong):
		return err
	}
	if changed, err := h.changed(ctx, e, s); err != nil || !changed {
		return err
	}
	if wrong != nil {
		return h.planWrong(ctx, s, planview.Invalid(s.Name, wrong.Problems, h.words()), wrong.Problems)
	}
	reg, err := s.Store().State(ctx)
	if err != nil {
		return err
	}
	id, digest := "push-"+short(e.After), s.Plan.Digest()
	known := reg.Begun[id] || reg.Build.Plan == digest
	if known || e.Sender.Type == "Bot" && e.Sender.Login != mergeQueue {
		return h.drive(ctx, s, nil, false)
	}
	if !h.drives(s.Plan) {
		return h.startWorkflow(ctx, s, id+"/"+digest)
	}
	s.URL = address(h.Deps, "commit", s.commit)
	if err := s.Served().Begin(ctx, id, func(r plan.BuildState) bool { return r.Build.Plan == digest }); err != nil {
		return err
	}
	return h.drive(ctx, s, nil, false)
}

// changed reports whether a push changed the files of the plan. It did if the commit before cannot be
// read any more.
func (h planPush) changed(ctx context.Context, e *Event, s *served) (bool, error) {
	if strings.Trim(e.Before, "0") == "" {
		return true, nil
	}
	before, err := commitFiles(ctx, h.Deps, e.Before)
	if kind := advice.Of(err).Kind; kind == advice.Gone {
		return true, nil
	} else if err != nil {
		return false, err
	}
	after := s.files
	if e.After != s.commit {
		if after, err = commitFiles(ctx, h.Deps, e.After); err != nil {
			return false, err
		}
	}
	file := h.Options.PlanFile
	return planFiles(before.Files(file)) != planFiles(after.Files(file)), nil
}

// startWorkflow starts the workflow that runs the plan, as a runner is needed for it.
func (h planPush) startWorkflow(ctx context.Context, s *served, key string) error {
	file, err := s.Starter().Build(ctx, key, h.Config.Ports.Workflow, s.branch)
	kind := advice.Of(err).Kind
	switch {
	case err == nil && file == "":
		return h.planWrong(ctx, s, planview.NeedsRunner(s.Name, h.words()), nil)
	case err != nil && kind != advice.Later && !errors.Is(err, github.ErrReadOnly):
		return h.planWrong(ctx, s, planview.CannotStart(err, h.words()), nil)
	}
	return err
}

// planWrong writes a check on the commit that says why the plan was not started.
func (h planPush) planWrong(ctx context.Context, s *served, text markdown.Text, all []plan.Problem) error {
	c := github.Check{Name: planview.Title(s.Name, h.words()), ExternalID: s.Store().Key(), Status: "completed", Conclusion: "failure",
		Title: planview.NotStartedTitle(h.words()), Summary: text}
	for _, p := range all {
		line := max(1, p.Line)
		c.Annotations = append(c.Annotations, github.Annotation{Path: p.File, StartLine: line, EndLine: line, Level: "failure", Message: markdown.Printable(p.Message)})
	}
	_, err := h.GitHub.Checks.Upsert(ctx, h.Repo, s.commit, c, false)
	return err
}

// address is the URL at which people see something of the repository.
func address(d Deps, kind, name string) string {
	server := strings.TrimSuffix(d.ServerURL, "/")
	if server == "" {
		server = "https://github.com"
	}
	return fmt.Sprintf("%s/%s/%s/%s", server, d.Repo, kind, name)
}

func short(sha string) string { return sha[:min(12, len(sha))] }
