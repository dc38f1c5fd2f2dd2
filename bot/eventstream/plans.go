package eventstream

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// Plans reads the tables of plans, ports and feedback requests.
type Plans struct{ db *database.DB }

// Plan is a plan of ports.
type Plan struct {
	Key, Repo, Name, Build string
	Updated                time.Time
	PlanState
}

// List returns at most n plans, the last changed first.
func (t Plans) List(ctx context.Context, repos []string, n int) ([]Plan, error) {
	var q query
	return t.plans(ctx, &q, fmt.Sprintf("%s ORDER BY updated DESC, key LIMIT %d", q.repos(repos), n))
}

// Get returns the plan of a stream. ok is false if there is none.
func (t Plans) Get(ctx context.Context, key string) (p Plan, ok bool, err error) {
	var q query
	list, err := t.plans(ctx, &q, "key = "+q.arg(key))
	if err != nil || len(list) == 0 {
		return Plan{}, false, err
	}
	return list[0], true, nil
}

func (t Plans) plans(ctx context.Context, q *query, where string) ([]Plan, error) {
	var out []Plan
	err := q.each(ctx, t.db, "plans", "SELECT key, repo, plan, build, updated, data FROM projection_plan WHERE "+where, func(rows *sql.Rows) error {
		var p Plan
		var updated int64
		var data []byte
		if err := rows.Scan(&p.Key, &p.Repo, &p.Name, &p.Build, &updated, &data); err != nil {
			return err
		}
		p.Updated = fromMillis(updated)
		if err := json.Unmarshal(data, &p.PlanState); err != nil {
			return err
		}
		out = append(out, p)
		return nil
	})
	return out, err
}

// Port is one port of a plan.
type Port struct {
	Key, Repo, Plan, ID string
	Updated, Waits      time.Time // Waits: since when an escalation is open; zero if none is open
	PortState
}

// Ports returns the ports of a plan that have started, by id.
func (t Plans) Ports(ctx context.Context, repo, plan string) (map[string]Port, error) {
	var q query
	list, err := t.ports(ctx, &q, "repo = "+q.arg(repo)+" AND plan = "+q.arg(plan))
	out := make(map[string]Port, len(list))
	for _, p := range list {
		out[p.ID] = p
	}
	return out, err
}

// Escalated returns at most n ports with an open escalation, the oldest first.
func (t Plans) Escalated(ctx context.Context, repos []string, n int) ([]Port, error) {
	var q query
	return t.ports(ctx, &q, fmt.Sprintf("%s AND waits > 0 ORDER BY waits, key LIMIT %d", q.repos(repos), n))
}

func (t Plans) ports(ctx context.Context, q *query, where string) ([]Port, error) {
	var out []Port
	err := q.each(ctx, t.db, "ports", "SELECT key, repo, plan, port, updated, waits, data FROM projection_port WHERE "+where, func(rows *sql.Rows) error {
		var p Port
		var updated, waits int64
		var data []byte
		if err := rows.Scan(&p.Key, &p.Repo, &p.Plan, &p.ID, &updated, &waits, &data); err != nil {
			return err
		}
		p.Updated, p.Waits = fromMillis(updated), fromMillis(waits)
		if err := json.Unmarshal(data, &p.PortState); err != nil {
			return err
		}
		out = append(out, p)
		return nil
	})
	return out, err
}

// FeedbackRequests counts the feedback requests between ports, by type and in total.
func (t Plans) FeedbackRequests(ctx context.Context, repos []string) (map[feedback.Type]feedback.Stats, feedback.Stats, error) {
	var q query
	out := map[feedback.Type]feedback.Stats{}
	all, taken := feedback.Stats{ByType: map[feedback.Type]int{}}, 0
	err := q.each(ctx, t.db, "feedback", `SELECT type, sum(open), sum(resolved), sum(failed), sum(rejected), sum(rounds) FROM projection_feedback_request
		WHERE `+q.repos(repos)+" GROUP BY type", func(rows *sql.Rows) error {
		var t feedback.Type
		var s feedback.Stats
		var rounds int
		if err := rows.Scan(&t, &s.Open, &s.Resolved, &s.Failed, &s.Rejected, &rounds); err != nil {
			return err
		}
		s.Total = s.Open + s.Resolved + s.Failed
		s.ByType = map[feedback.Type]int{t: s.Total}
		out[t] = s.Over(rounds)
		all.Total, all.Open, all.Resolved = all.Total+s.Total, all.Open+s.Open, all.Resolved+s.Resolved
		all.Failed, all.Rejected, all.ByType[t] = all.Failed+s.Failed, all.Rejected+s.Rejected, s.Total
		taken += rounds
		return nil
	})
	return out, all.Over(taken), err
}
