package action

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/bot/render/planview"
	"github.com/switchback-ci/switchback/routing/plan"
)

// mergeQueue is the bot that pushes what people have GitHub merge.
const mergeQueue = "github-merge-queue[bot]"

// pushed starts a build of the plan if a push to the default branch changed its files
// and the configuration asks for that. Pushed by a bot, such as a worker, a change is
// taken up by the build that goes on: workers that note something in their port would
// begin builds without end.
func (f *face) pushed(ctx context.Context) error {
	if f.config.Ports.Start != "push" || f.event.After == "" || strings.Trim(f.event.After, "0") == "" {
		return nil
	}
	s, err := f.servedPlan(ctx, "")
	var wrong *plan.Error
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil && !errors.As(err, &wrong):
		return err
	}
	if changed, err := f.changed(ctx, s); err != nil || !changed {
		return err
	}
	if wrong != nil {
		return f.planWrong(ctx, s, planview.Invalid(s.Name, wrong.Problems, f.words()), wrong.Problems)
	}
	reg, err := s.Register(ctx)
	if err != nil {
		return err
	}
	id, digest := "push-"+short(f.event.After), s.Plan.Digest()
	known := reg.Begun[id] || reg.Build.Plan == digest
	if known || f.event.Sender.Type == "Bot" && f.event.Sender.Login != mergeQueue {
		return f.drive(ctx, s, nil, false)
	}
	if !f.drives(s.Plan) {
		return f.startWorkflow(ctx, s, id+"/"+digest)
	}
	s.URL = f.address("commit", s.commit)
	if err := s.BeginServed(ctx, id, func(r plan.Register) bool { return r.Build.Plan == digest }); err != nil {
		return err
	}
	return f.drive(ctx, s, nil, false)
}

// changed reports whether a push changed the files of the plan. Where what was there
// before cannot be read any more it did.
func (f *face) changed(ctx context.Context, s *served) (bool, error) {
	if strings.Trim(f.event.Before, "0") == "" {
		return true, nil
	}
	before, err := f.commitFiles(ctx, f.event.Before)
	if kind, _ := github.Verdict(err); kind == github.Gone {
		return true, nil
	} else if err != nil {
		return false, err
	}
	after := s.files
	if f.event.After != s.commit {
		if after, err = f.commitFiles(ctx, f.event.After); err != nil {
			return false, err
		}
	}
	file, _ := f.planPath()
	return planFiles(before.Files(file)) != planFiles(after.Files(file)), nil
}

// startWorkflow starts the workflow that runs the plan, as a runner is needed for it.
func (f *face) startWorkflow(ctx context.Context, s *served, key string) error {
	file, err := s.Begins(ctx, key, f.config.Ports.Workflow, s.branch)
	kind, _ := github.Verdict(err)
	switch {
	case err == nil && file == "":
		return f.planWrong(ctx, s, planview.NeedsRunner(s.Name, f.words()), nil)
	case err != nil && kind != github.Later && kind != github.ReadOnly:
		return f.planWrong(ctx, s, planview.CannotStart(err, f.words()), nil)
	}
	return err
}

// planWrong says at the commit why the plan was not started.
func (f *face) planWrong(ctx context.Context, s *served, text string, all []plan.Problem) error {
	c := github.Check{Name: planview.Title(s.Name, f.words()), ExternalID: s.Key(), Status: "completed", Conclusion: "failure",
		Title: planview.NotStartedTitle(f.words()), Summary: text}
	for _, p := range all {
		line := max(1, p.Line)
		c.Annotations = append(c.Annotations, github.Annotation{Path: p.File, StartLine: line, EndLine: line, Level: "failure", Message: markdown.Printable(p.Message)})
	}
	_, err := f.hub.UpsertCheck(ctx, f.repo, s.commit, c, false)
	return err
}

// address is where people see something of the repository.
func (f *face) address(kind, name string) string {
	server := strings.TrimSuffix(f.env.Getenv("GITHUB_SERVER_URL"), "/")
	if server == "" {
		server = "https://github.com"
	}
	return fmt.Sprintf("%s/%s/%s/%s", server, f.repo, kind, name)
}

func short(sha string) string { return sha[:min(12, len(sha))] }
