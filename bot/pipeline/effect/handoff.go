package effect

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/marker"
)

// skew is by how much the clock of the process that recorded a decision may be ahead of GitHub's.
const skew = 10 * time.Minute

// handoffSender starts workers: by a dispatch, a mention or a label.
type handoffSender struct {
	hub     Hub
	repo    github.Repo
	subject Subject
	render  render.Options
}

// sendAll reaches a worker in every configured way, each once by the effect's key.
func (d handoffSender) sendAll(ctx context.Context, c routing.Case, e routing.Effect, hs []config.Handoff, fresh bool) (string, error) {
	var refs []string
	for _, h := range hs {
		ref, err := d.send(ctx, c, e, h, fresh)
		if err != nil {
			return strings.Join(refs, " "), err
		}
		if ref != "" {
			refs = append(refs, ref)
		}
	}
	return strings.Join(refs, " "), nil
}

func (d handoffSender) send(ctx context.Context, c routing.Case, e routing.Effect, h config.Handoff, fresh bool) (string, error) {
	switch {
	case h.Workflow != "":
		return "workflow:" + h.Workflow, d.dispatch(ctx, c, e, h, fresh)
	case h.Dispatch != "":
		return "dispatch:" + h.Dispatch, d.repositoryDispatch(ctx, c, e, h, fresh)
	case d.subject.Number == 0:
		return "", nil // a branch has no one to mention and nothing to label
	case h.Label != "":
		_, err := d.hub.Labels.Sync(ctx, d.repo, d.subject.Number, nil, []github.LabelSpec{{Name: h.Label, Color: "fbca04", Description: "Returned for a fix"}}, nil)
		return "label:" + h.Label, err
	case h.Mention == "author" && e.Kind == routing.EffectHandoff && e.Target == "":
		return "", nil // stands in the sticky comment
	}
	return d.mention(ctx, c, e, h, fresh)
}

// mention posts a short comment of its own: an edit of the sticky comment
// notifies nobody and starts no agent.
func (d handoffSender) mention(ctx context.Context, c routing.Case, e routing.Effect, h config.Handoff, fresh bool) (string, error) {
	who := h.Mention
	if who == "author" {
		who = d.subject.Author
	}
	o := d.render
	o.Mention = "@" + strings.TrimPrefix(who, "@")
	body := render.Handoff(c, e, o, c.Done[commentSlot(e.Checkpoint)], d.subject.Number)
	id, _, err := d.hub.Comments.PostOnce(ctx, d.repo, d.subject.Number, marker.Format(e.Key+"/"+o.Mention, 0), body, fresh)
	return "comment:" + id, err
}

// dispatch starts a workflow with the packet. GitHub keeps no key of a
// dispatch, so the workflow is asked to show it in its run-name; without that
// an effect whose answer was lost may be carried out a second time, with the
// same key.
func (d handoffSender) dispatch(ctx context.Context, c routing.Case, e routing.Effect, h config.Handoff, fresh bool) error {
	if done, err := d.dispatched(ctx, c, e, "workflow_dispatch", fresh); done || err != nil {
		return err
	}
	ref := h.Ref
	if ref == "" {
		ref = d.subject.DefaultBranch
	}
	if ref == "" {
		ref = "main"
	}
	in := map[string]string{"key": e.Key, "packet": string(d.packet(c, e, 48<<10))}
	for k, v := range h.Inputs {
		in[k] = v
	}
	return d.hub.Dispatches.StartWorkflow(ctx, d.repo, h.Workflow, ref, in)
}

func (d handoffSender) packet(c routing.Case, e routing.Effect, limit int) []byte {
	o := d.render
	o.Limit = limit
	return render.Packet(c, e.Checkpoint, o)
}

func (d handoffSender) repositoryDispatch(ctx context.Context, c routing.Case, e routing.Effect, h config.Handoff, fresh bool) error {
	if done, err := d.dispatched(ctx, c, e, "repository_dispatch", fresh); done || err != nil {
		return err
	}
	return d.hub.Dispatches.SendEvent(ctx, d.repo, h.Dispatch, map[string]any{
		"key": e.Key, "checkpoint": e.Checkpoint, "number": d.subject.Number, "branch": d.subject.Branch,
		"target": e.Target, "packet": json.RawMessage(d.packet(c, e, 56<<10)),
	})
}

// dispatched reports whether a dispatch with the effect's key has started a run.
func (d handoffSender) dispatched(ctx context.Context, c routing.Case, e routing.Effect, event string, fresh bool) (bool, error) {
	if fresh {
		return false, nil
	}
	return d.hub.Dispatches.HasRunSince(ctx, d.repo, event, c.Checkpoints[e.Checkpoint].Updated.Add(-skew), e.Key)
}
