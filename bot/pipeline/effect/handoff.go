package effect

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/marker"
)

// handAll reaches a worker in every configured way, each once by the effect's key.
func (g *GitHub) handAll(ctx context.Context, c routing.Case, e routing.Effect, hs []config.Handoff, fresh bool) (string, error) {
	var refs []string
	for _, h := range hs {
		ref, err := g.hand(ctx, c, e, h, fresh)
		if err != nil {
			return strings.Join(refs, " "), err
		}
		if ref != "" {
			refs = append(refs, ref)
		}
	}
	return strings.Join(refs, " "), nil
}

func (g *GitHub) hand(ctx context.Context, c routing.Case, e routing.Effect, h config.Handoff, fresh bool) (string, error) {
	switch {
	case h.Workflow != "":
		return "workflow:" + h.Workflow, g.dispatch(ctx, c, e, h, fresh)
	case h.Dispatch != "":
		return "dispatch:" + h.Dispatch, g.repositoryDispatch(ctx, c, e, h, fresh)
	case g.Subject.Number == 0:
		return "", nil // a branch has no one to mention and nothing to label
	case h.Label != "":
		_, err := g.Hub.Labels.Sync(ctx, g.Repo, g.Subject.Number, nil, []github.LabelSpec{{Name: h.Label, Color: "fbca04", Description: "Returned for a fix for rework"}}, nil)
		return "label:" + h.Label, err
	case h.Mention == "author" && e.Kind == routing.EffectHandoff:
		return "", nil // stands in the sticky comment
	}
	return g.mention(ctx, c, e, h, fresh)
}

// mention posts a short comment of its own: an edit of the sticky comment
// notifies nobody and starts no agent.
func (g *GitHub) mention(ctx context.Context, c routing.Case, e routing.Effect, h config.Handoff, fresh bool) (string, error) {
	who := h.Mention
	if who == "author" {
		who = g.Subject.Author
	}
	o := g.Render
	o.Mention = "@" + strings.TrimPrefix(who, "@")
	body := render.Handoff(c, e, o, c.Done[e.Checkpoint+"/"+string(routing.EffectComment)], g.Subject.Number)
	id, _, err := g.Hub.Comments.PostOnce(ctx, g.Repo, g.Subject.Number, marker.Format(e.Key+"/"+o.Mention, 0), body, fresh)
	return "comment:" + id, err
}

// dispatch starts a workflow with the packet. GitHub keeps no key of a
// dispatch, so the workflow is asked to show it in its run-name; without that
// an effect whose answer was lost may be carried out a second time, with the
// same key.
func (g *GitHub) dispatch(ctx context.Context, c routing.Case, e routing.Effect, h config.Handoff, fresh bool) error {
	if done, err := g.dispatched(ctx, c, e, "workflow_dispatch", fresh); done || err != nil {
		return err
	}
	ref := h.Ref
	if ref == "" {
		ref = g.Subject.DefaultBranch
	}
	if ref == "" {
		ref = "main"
	}
	in := map[string]string{"key": e.Key, "packet": string(g.packet(c, e, 48<<10))}
	for k, v := range h.Inputs {
		in[k] = v
	}
	return g.Hub.Dispatches.StartWorkflow(ctx, g.Repo, h.Workflow, ref, in)
}

func (g *GitHub) packet(c routing.Case, e routing.Effect, limit int) []byte {
	o := g.Render
	o.Limit = limit
	return render.Packet(c, e.Checkpoint, o)
}

func (g *GitHub) repositoryDispatch(ctx context.Context, c routing.Case, e routing.Effect, h config.Handoff, fresh bool) error {
	if done, err := g.dispatched(ctx, c, e, "repository_dispatch", fresh); done || err != nil {
		return err
	}
	return g.Hub.Dispatches.SendEvent(ctx, g.Repo, h.Dispatch, map[string]any{
		"key": e.Key, "checkpoint": e.Checkpoint, "number": g.Subject.Number, "branch": g.Subject.Branch,
		"target": e.Target, "packet": json.RawMessage(g.packet(c, e, 56<<10)),
	})
}

// dispatched reports whether a dispatch with the effect's key has started a run.
func (g *GitHub) dispatched(ctx context.Context, c routing.Case, e routing.Effect, event string, fresh bool) (bool, error) {
	if fresh {
		return false, nil
	}
	return g.Hub.Dispatches.HasRunSince(ctx, g.Repo, event, c.Checkpoints[e.Checkpoint].Updated, e.Key)
}
