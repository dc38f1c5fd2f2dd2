package surveys

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/routing/survey"
)

// Reentry is what the next cycle is started with.
type Reentry struct {
	Phase int        `json:"phase"` // always 1
	Run   string     `json:"run"`   // the completed run that starts it
	Goals []CycleEnd `json:"goals"`
	More  int        `json:"more,omitempty"` // goals that did not fit; the ledger has them
}

// CycleEnd is the goal that a cycle ended with.
type CycleEnd struct {
	Survey       string      `json:"survey"`
	WorkflowName string      `json:"workflow_name"`
	RunID        string      `json:"run_id,omitempty"`
	ReportPath   string      `json:"report_path"`
	Goal         survey.Goal `json:"goal"`
}

// packetBytes is how much of an event's 64 KB the goals may take.
const packetBytes = 48 << 10

// ReentryPart is what the key of every re-entry holds. A workflow that shows
// the key in its run-name is known by it.
const ReentryPart = "!surveys/reentry/"

// Reenter starts the next cycle if a completed run is to, and reports whether.
func (d *Service) Reenter(ctx context.Context, run survey.Completed) (bool, error) {
	st := d.store()
	reg, fresh, err := st.change(ctx, func(r survey.State) ([]survey.Entry, error) {
		return r.Reenter(run, d.Config.Feedback.After, st.lease.Take()), nil
	})
	if err != nil {
		return false, err
	}
	for _, s := range reg.Reentries {
		if s.Run == run.ID && !s.Done {
			return true, d.starter().start(ctx, reg, s, fresh)
		}
	}
	return false, nil
}

// starter starts the next cycle by a dispatch.
type starter struct {
	store         store
	starts        Starts // nil: nothing is started
	repo, key     string
	config        config.FeedbackSettings
	defaultBranch string
}

// start dispatches a re-entry and notes it. GitHub keeps no key of a dispatch:
// one whose answer was lost is looked for among the runs by its key.
func (d starter) start(ctx context.Context, reg survey.State, s survey.Started, fresh bool) error {
	if d.starts == nil || !d.config.Reenters() {
		return nil
	}
	repo, err := github.ParseRepo(d.repo)
	if err != nil {
		return err
	}
	key, event := d.key+"/reentry/"+s.Run, "repository_dispatch"
	if d.config.Workflow != "" {
		event = "workflow_dispatch"
	}
	done := false
	if !fresh {
		mine, err := d.store.takeReentry(ctx, s.Run)
		if err != nil || !mine {
			return err
		}
		if done, err = d.starts.HasRunSince(ctx, repo, event, s.At, key); err != nil {
			return err
		}
	}
	if !done {
		if err := d.dispatch(ctx, repo, key, packet(reg, s)); err != nil {
			return err
		}
	}
	_, _, err = d.store.change(ctx, func(survey.State) ([]survey.Entry, error) { return survey.ReentryDone(s.Run, event), nil })
	return err
}

func (d starter) dispatch(ctx context.Context, repo github.Repo, key string, p Reentry) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	cfg := d.config
	if cfg.Workflow == "" {
		return d.starts.SendEvent(ctx, repo, cfg.Dispatch, map[string]any{"key": key, "packet": json.RawMessage(data)})
	}
	ref := cfg.Ref
	if ref == "" {
		ref = d.defaultBranch
	}
	if ref == "" {
		ref = "main"
	}
	return d.starts.StartWorkflow(ctx, repo, cfg.Workflow, ref, map[string]string{"key": key, "packet": string(data)})
}

// packet returns the goals of a re-entry, as many as fit.
func packet(reg survey.State, s survey.Started) Reentry {
	out, size := Reentry{Phase: 1, Run: s.Run, Goals: []CycleEnd{}}, 0
	for _, id := range s.Surveys {
		p, ok := reg.Survey(id)
		if !ok || p.Goal == nil {
			continue
		}
		g := CycleEnd{p.ID, p.Result.WorkflowName, p.Result.RunID, p.Result.ReportPath, *p.Goal}
		b, err := json.Marshal(g)
		if size += len(b); err != nil || size > packetBytes {
			out.More++
			continue
		}
		out.Goals = append(out.Goals, g)
	}
	return out
}

// Own reports whether a workflow run was started by the bot itself, as that of a
// re-entry is: by its key in the title, or because the bot dispatched it.
func Own(event, title, actor, bot string) bool {
	if event != "workflow_dispatch" && event != "repository_dispatch" {
		return false
	}
	return strings.Contains(title, ReentryPart) || bot != "" && strings.EqualFold(actor, bot)
}
