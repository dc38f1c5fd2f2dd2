package handler

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/routing"
)

// rerequested analyzes again what a person asked for with the button "Re-run" of one of our checks,
// or of all checks of a commit: the newest attempt of the run behind it.
type rerequested struct{ Deps }

// Handle implements Handler.
func (h rerequested) Handle(ctx context.Context, e *Event) (bool, error) {
	var all []target
	var sha string
	var err error
	switch k, s := e.CheckRun, e.CheckSuite; {
	case k != nil && h.ours(k.App):
		sha = k.HeadSHA
		all, err = h.checkpointOf(ctx, k.ExternalID)
	case s != nil && h.ours(s.App):
		sha = s.HeadSHA
		all, err = h.checkpointsOf(ctx, *s)
	}
	for _, t := range all {
		err = errors.Join(err, h.again(ctx, t, sha))
	}
	return true, err
}

func (h rerequested) ours(a *App) bool {
	return a != nil && (h.Options.AppID == 0 || a.ID == h.Options.AppID)
}

// checkpointOf returns the checkpoint of a check's external id, CASE/CHECKPOINT/check. Names of
// branches and checkpoints may have slashes: which part is which, the ledger says.
func (h rerequested) checkpointOf(ctx context.Context, id string) ([]target, error) {
	rest, ok := strings.CutSuffix(id, "/check")
	if !ok || !strings.HasPrefix(rest, h.Repo.String()) {
		return nil, nil
	}
	for i := len(h.Repo.String()); i < len(rest); i++ {
		if rest[i] != '/' {
			continue
		}
		if _, err := effect.ParseSubject(h.Repo, rest[:i]); err != nil {
			continue
		}
		c, err := load(ctx, h.Deps, rest[:i])
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
func (h rerequested) checkpointsOf(ctx context.Context, s CheckSuite) ([]target, error) {
	var keys []string
	for _, p := range s.Pulls {
		keys = append(keys, effect.Subject{Number: p.Number}.Key(h.Repo))
	}
	if s.HeadBranch != "" {
		keys = append(keys, effect.Subject{Branch: s.HeadBranch}.Key(h.Repo))
	}
	var out []target
	for _, key := range keys {
		c, err := load(ctx, h.Deps, key)
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

// again analyzes the newest attempt of the last run of a checkpoint, and writes the check anew: GitHub
// removed its conclusion.
func (h rerequested) again(ctx context.Context, t target, sha string) error {
	c, err := load(ctx, h.Deps, t.key)
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
		live, err := h.GitHub.Runs.Get(ctx, h.Repo, id, 0)
		switch {
		case errors.Is(err, github.ErrNotFound): // GitHub keeps runs for a while only
		case err != nil:
			return err
		case live.Status != "completed":
			return nil // it is analyzed when it ends
		case live.Attempt > attempt:
			run := workflowRun(h)
			run.Options.Checkpoint, run.Options.Workflows = t.checkpoint, nil
			if err := run.analyze(ctx, eventOf(live)); err != nil {
				return err
			}
		}
	}
	if c, err = load(ctx, h.Deps, t.key); err != nil {
		return err
	}
	eff, err := effectsOf(ctx, h.Deps, t.key)
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

// eventOf returns what an event says of a run.
func eventOf(r github.WorkflowRun) WorkflowRun {
	e := WorkflowRun{ID: r.ID, Attempt: r.Attempt, Name: r.Name, Path: r.WorkflowPath, HeadBranch: r.HeadRef, Conclusion: r.Conclusion}
	e.HeadRepo = &struct {
		FullName string `json:"full_name"`
	}{r.HeadRepo}
	return e
}
