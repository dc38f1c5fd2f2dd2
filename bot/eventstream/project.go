package eventstream

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/activity"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// update updates the tables with a stream of which seen events are projected.
func (p *Projector) update(ctx context.Context, tx *sql.Tx, key string, events []routing.Event, seen int) error {
	w := writer{ctx: ctx, tx: tx, key: key, repo: activity.Repo(key), postgres: p.db.Kind == database.Postgres}
	if plan, id, ok := routing.ParsePortKey(key); ok {
		return w.port(plan, id, events)
	}
	if plan, ok := routing.ParsePlanKey(key); ok {
		return w.plan(plan, events)
	}
	if key == routing.StreamKey(w.repo, routing.StreamFeedbackRequests) {
		return w.feedbackRequests(events)
	}
	if key == routing.StreamKey(w.repo, routing.StreamIncidents) {
		return w.incidents(events, seen)
	}
	if routing.IsRepositoryStream(key) {
		return nil
	}
	return w.routed(events, seen)
}

// writer writes the rows of one stream.
type writer struct {
	ctx       context.Context
	tx        *sql.Tx
	key, repo string
	postgres  bool
}

// exec runs a statement whose texts may hold anything.
func (w writer) exec(query string, args ...any) error {
	for i, a := range args {
		if s, ok := a.(string); ok {
			args[i] = text(s)
		}
	}
	_, err := w.tx.ExecContext(w.ctx, query, args...)
	return err
}

// PlanState is the state of a plan.
type PlanState struct {
	Build   plan.Build                `json:"build"`
	Ports   map[string]plan.Known     `json:"ports"`
	Graph   map[string]feedback.Links `json:"graph"`
	Issue   int                       `json:"issue,omitempty"`
	Started time.Time                 `json:"started"`
}

func (w writer) plan(name string, events []routing.Event) error {
	r, err := plan.FoldBuildState(events)
	if err != nil {
		return err
	}
	data, err := json.Marshal(PlanState{r.Build, r.Ports, r.Graph, r.Issue, r.Build.At})
	if err != nil {
		return err
	}
	return w.exec(`INSERT INTO projection_plan (key, repo, plan, build, updated, data) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (key) DO UPDATE SET build = excluded.build, updated = excluded.updated, data = excluded.data`,
		w.key, w.repo, name, r.Build.ID, millis(last(events)), string(data))
}

// PortState is the state of a port of a plan.
type PortState struct {
	Session     string            `json:"session_id"`
	Status      plan.LoopStatus   `json:"status,omitempty"`
	Phase       plan.Phase        `json:"phase,omitempty"`
	Attempt     int               `json:"attempt"`
	MaxAttempts int               `json:"max_attempts"`
	Progress    float64           `json:"progress"`
	Task        string            `json:"current_task"`
	Tokens      int64             `json:"tokens_used"`
	Failures    []string          `json:"failures,omitempty"`    // of its last test
	Escalations []plan.Escalation `json:"escalations,omitempty"` // that wait for a maintainer
	Started     time.Time         `json:"started"`
	Ended       time.Time         `json:"ended,omitzero"`
}

func (w writer) port(name, id string, events []routing.Event) error {
	j, err := plan.FoldJournal(events)
	if err != nil {
		return err
	}
	s := PortState{Escalations: j.Waiting()}
	if l := j.Loop; l != nil {
		s.Session, s.Status, s.Phase, s.Attempt, s.MaxAttempts = l.Operator, l.Status, l.Phase, l.Attempt, l.MaxRetries+1
		s.Progress, s.Tokens, s.Started, s.Ended = l.Share(), l.Tokens, l.StartedAt, l.EndedAt
		if l.Last != nil {
			for _, t := range l.Last.FailedTests {
				s.Failures = append(s.Failures, t.Name)
			}
		}
	}
	if err := s.reported(events); err != nil {
		return err
	}
	var waits int64
	for _, c := range s.Escalations {
		if at := millis(c.CreatedAt); waits == 0 || at < waits {
			waits = at
		}
	}
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return w.exec(`INSERT INTO projection_port (key, repo, plan, port, updated, waits, data) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (key) DO UPDATE SET updated = excluded.updated, waits = excluded.waits, data = excluded.data`,
		w.key, w.repo, name, id, millis(j.Updated), waits, string(data))
}

// reported adds the progress that the running worker reported. It takes precedence over the
// progress computed from the attempts.
func (s *PortState) reported(events []routing.Event) error {
	for i := len(events) - 1; i >= 0; i-- {
		e, ours, err := plan.Recorded(events[i])
		if err != nil {
			return fmt.Errorf("event %d: %w", i+1, err)
		}
		switch {
		case !ours:
		case e.Progress != nil:
			if s.Status == plan.Running {
				s.Progress, s.Task = e.Progress.Progress, e.Progress.Task
			}
			s.Tokens = max(s.Tokens, e.Progress.Tokens)
			return nil
		case e.Pair != nil || e.Spawn != nil:
			return nil
		}
	}
	return nil
}

func (w writer) feedbackRequests(events []routing.Event) error {
	r, err := feedback.Fold(events)
	if err != nil {
		return err
	}
	byType := map[feedback.Type][]feedback.Record{}
	for _, x := range r.Records {
		byType[x.Message.Type] = append(byType[x.Message.Type], x)
	}
	for t, records := range byType {
		var open, resolved, failed, rejected, rounds int
		for _, x := range records {
			switch {
			case x.Status == feedback.Rejected:
				rejected++
			case x.Status == feedback.Failed:
				failed++
			case x.Status == feedback.Resolved:
				resolved++
				rounds += x.Round
			default:
				open++
			}
		}
		err := w.exec(`INSERT INTO projection_feedback_request (repo, type, open, resolved, failed, rejected, rounds) VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (repo, type) DO UPDATE SET open = excluded.open, resolved = excluded.resolved, failed = excluded.failed,
			rejected = excluded.rejected, rounds = excluded.rounds`, w.repo, string(t), open, resolved, failed, rejected, rounds)
		if err != nil {
			return err
		}
	}
	return nil
}

func last(events []routing.Event) time.Time {
	if len(events) == 0 {
		return time.Time{}
	}
	return events[len(events)-1].At
}
