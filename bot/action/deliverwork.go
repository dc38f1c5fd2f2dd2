package action

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/pipeline"
	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/bot/plans/planfile"
	"github.com/switchback-ci/switchback/routing"
)

// CheckRun is a check run in an event.
type CheckRun struct {
	ExternalID string `json:"external_id"`
	HeadSHA    string `json:"head_sha"`
	App        *App   `json:"app"`
}

// CheckSuite is a check suite in an event.
type CheckSuite struct {
	HeadSHA    string `json:"head_sha"`
	HeadBranch string `json:"head_branch"`
	App        *App   `json:"app"`
	Pulls      []struct {
		Number int `json:"number"`
	} `json:"pull_requests"`
}

// incomplete reports whether an event lacks what it is about.
func (f *face) incomplete(event string) bool {
	e := f.event
	switch event {
	case "workflow_run":
		return e.WorkflowRun == nil || e.WorkflowRun.ID <= 0
	case "pull_request":
		return e.PullRequest == nil || e.PullRequest.Number <= 0
	case "pull_request_review":
		return e.PullRequest == nil || e.PullRequest.Number <= 0 || e.Review == nil
	case "issues":
		return e.Issue == nil || e.Issue.Number <= 0
	case "issue_comment":
		return e.Issue == nil || e.Issue.Number <= 0 || e.Comment == nil
	case "check_run":
		return e.CheckRun == nil
	case "check_suite":
		return e.CheckSuite == nil
	}
	return false
}

// carry carries out what was decided in the App, or leaves it to Finish.
func (f *face) carry(ctx context.Context, line *pipeline.Line, rec pipeline.Recorded, class routing.Class) error {
	if f.app.Decided != nil && !rec.Decision.Repeated {
		f.app.Decided(rec.Decision, class)
	}
	if f.app.Hold {
		f.app.left = append(f.app.left, rec.Case.Key)
		return nil
	}
	_, err := line.Carry(ctx, rec)
	return err
}

// counted tells the App of each effect.
func (f *face) counted(eff pipeline.Effector) pipeline.Effector {
	if f.app == nil || f.app.Done == nil {
		return eff
	}
	return &counter{eff, f.app.Done}
}

type counter struct {
	pipeline.Effector
	done func(routing.EffectKind, error)
}

// Do implements pipeline.Effector.
func (n *counter) Do(ctx context.Context, c routing.Case, e routing.Effect, fresh bool) (string, error) {
	ref, err := n.Effector.Do(ctx, c, e, fresh)
	n.done(e.Kind, err)
	return ref, err
}

// beside is the Action in a repository where the App acts: it does what only a
// workflow can, and leaves the rest to the App. Both would post otherwise.
func (f *face) beside(ctx context.Context, command string) (int, error) {
	switch command {
	case "plan", "matrix", "port", "collect":
		return f.ports(ctx, command)
	case "prompt":
		return f.openPrompt(ctx)
	case "port-event":
		if _, name := f.planPath(); name != planfile.Name(f.config.PlanPath()) { // the App knows that of the configuration
			return f.portEvent(ctx)
		}
	}
	f.notice("the configuration says `acts: app`: the App does the work of command %s here", command)
	return 0, nil
}

// rerequested analyzes again what a person asked for with the button of a check,
// or of all checks of a commit: the newest attempt of the run behind it.
func (f *face) rerequested(ctx context.Context) error {
	if f.event.Action != "rerequested" {
		return nil
	}
	var all []target
	var sha string
	var err error
	switch k, s := f.event.CheckRun, f.event.CheckSuite; {
	case k != nil && f.ours(k.App):
		sha = k.HeadSHA
		all, err = f.checkpointOf(ctx, k.ExternalID)
	case s != nil && f.ours(s.App):
		sha = s.HeadSHA
		all, err = f.checkpointsOf(ctx, *s)
	}
	for _, t := range all {
		err = errors.Join(err, f.again(ctx, t, sha))
	}
	return err
}

func (f *face) ours(a *App) bool { return a != nil && (f.app.AppID == 0 || a.ID == f.app.AppID) }

// checkpointOf reads whose check an external id names: CASE/CHECKPOINT/check.
// Names of branches and checkpoints may have slashes: the ledger tells.
func (f *face) checkpointOf(ctx context.Context, id string) ([]target, error) {
	rest, ok := strings.CutSuffix(id, "/check")
	if !ok || !strings.HasPrefix(rest, f.repo.String()) {
		return nil, nil
	}
	for i := len(f.repo.String()); i < len(rest); i++ {
		if rest[i] != '/' {
			continue
		}
		if _, err := effect.ParseSubject(f.repo, rest[:i]); err != nil {
			continue
		}
		c, err := f.load(ctx, rest[:i])
		if err != nil {
			return nil, err
		}
		if _, ok := c.Checkpoints[rest[i+1:]]; ok {
			return []target{{c.Key, rest[i+1:]}}, nil
		}
	}
	return nil, nil
}

// checkpointsOf returns the checkpoints that were analyzed last at a suite's commit.
func (f *face) checkpointsOf(ctx context.Context, s CheckSuite) ([]target, error) {
	var keys []string
	for _, p := range s.Pulls {
		keys = append(keys, effect.Subject{Number: p.Number}.Key(f.repo))
	}
	if s.HeadBranch != "" {
		keys = append(keys, effect.Subject{Branch: s.HeadBranch}.Key(f.repo))
	}
	var out []target
	for _, key := range keys {
		c, err := f.load(ctx, key)
		if err != nil {
			return nil, err
		}
		for _, name := range c.Names() {
			if c.Checkpoints[name].Last.SHA == s.HeadSHA {
				out = append(out, target{key, name})
			}
		}
	}
	return out, nil
}

// again analyzes the newest attempt of the run that a checkpoint was analyzed by,
// and shows the check anew: GitHub took its conclusion away.
func (f *face) again(ctx context.Context, t target, sha string) error {
	c, err := f.load(ctx, t.key)
	if err != nil {
		return err
	}
	cp := c.Checkpoints[t.checkpoint]
	parts := cp.Runs[cp.Last.Key()].Parts
	review := false
	for _, v := range parts {
		review = review || v.Review != nil
	}
	if id, attempt, err := runOf(cp.Last); err == nil && !review && cp.Last.SHA == sha {
		live, err := f.hub.Run(ctx, f.repo, id, 0)
		switch {
		case errors.Is(err, github.ErrNotFound): // GitHub keeps runs for a while only
		case err != nil:
			return err
		case live.Status != "completed":
			return nil // it is analyzed when it ends
		case live.Attempt > attempt:
			f.event.WorkflowRun = &WorkflowRun{ID: id, Attempt: live.Attempt, Name: live.Name, Conclusion: live.Conclusion}
			f.in.Checkpoint, f.in.Workflows = t.checkpoint, nil
			if _, err := f.decide(ctx, "workflow-run"); err != nil {
				return err
			}
		}
	}
	if c, err = f.load(ctx, t.key); err != nil {
		return err
	}
	eff, _, err := f.effector(ctx, t.key)
	if err != nil {
		return err
	}
	_, err = eff.Do(ctx, c, routing.Effect{Kind: routing.EffectCheck, Checkpoint: t.checkpoint, SHA: sha}, false)
	return err
}

func runOf(r routing.Run) (id int64, attempt int, err error) {
	_, err = fmt.Sscan(r.ID, &id)
	return id, max(r.Attempt, 1), err
}

// ended is a pull request that was closed: nobody is called for it any more.
// Whoever may write can have it go on with a command.
func (f *face) ended(ctx context.Context) error {
	pr := f.event.PullRequest
	key := effect.Subject{Number: pr.Number}.Key(f.repo)
	c, err := f.load(ctx, key)
	if err != nil {
		return err
	}
	for _, name := range c.Names() {
		cp := c.Checkpoints[name]
		if cp.State != routing.Escalated || cp.Skipped || cp.WontFix != nil {
			continue
		}
		e := routing.HumanActed{Checkpoint: name, Action: routing.HumanWontFix, By: f.event.Sender.Login,
			Answer: fmt.Sprintf("closed/%d/%s/%s", pr.Number, pr.ClosedAt, name)}
		if _, err := f.act(ctx, key, e); err != nil && !said(err) {
			return err
		}
	}
	if c, err = f.load(ctx, key); err != nil || len(c.Pending) == 0 {
		return err
	}
	return f.finish(ctx, c)
}
