package export

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
)

// read makes the rows of every table out of a ledger.
func read(ctx context.Context, led ledger.Ledger) (map[string][]row, error) {
	keys, err := led.Keys(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing the ledger: %w", err)
	}
	rows := map[string][]row{}
	for _, key := range keys {
		events, _, err := led.Load(ctx, key)
		if err != nil {
			return nil, err
		}
		if routing.IsRepositoryStream(key) {
			err = repositoryStream(rows, key, events)
		} else {
			err = caseRows(ctx, rows, ledger.BlobsOf(led), key, events)
		}
		if err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// caseRows makes the rows of one case: its turns, who decided what, and the tests of its runs.
func caseRows(ctx context.Context, rows map[string][]row, blobs ledger.Blobs, key string, events []routing.Event) error {
	c, err := routing.Fold(key, events)
	if err != nil {
		return err
	}
	for i, e := range events {
		act, ok := e.Human()
		if !ok {
			continue
		}
		r, err := answer(key, i+1, act, e.At)
		if err != nil {
			return err
		}
		rows["answers"] = append(rows["answers"], r)
	}
	for _, name := range c.Names() {
		for i, t := range c.Checkpoints[name].Attempts {
			v := t.Verdict
			rows["routing_history"] = append(rows["routing_history"], row{
				"id": fmt.Sprintf("%s/%s/%d", key, name, i+1), "session_id": key, "checkpoint": name, "iteration": i + 1,
				"streak": t.Streak, "fix_attempts": t.Iteration, "result": string(t.Kind), "reason": null(c.Checkpoints[name].History[i].Reason),
				"explanation": null(t.Reason), "class": null(string(v.Class)), "run_id": v.Run.ID, "attempt": v.Run.Attempt, "sha": null(v.Run.SHA),
				"tests": v.Counts.Tests, "failed": v.Counts.Failed, "at": stamp(t.At),
			})
		}
	}
	return inventories(ctx, rows, blobs, c)
}

// answer is the row of what a human decided, the n-th event of the case.
func answer(key string, n int, e routing.HumanActed, at time.Time) (row, error) {
	detail := map[string]any{}
	for k, v := range map[string]string{"answer": e.Answer, "phase": string(e.Phase), "test": e.Test, "class": string(e.Class), "sha": e.SHA, "note": e.Note} {
		if v != "" {
			detail[k] = v
		}
	}
	if e.N != 0 {
		detail["n"] = e.N
	}
	data, err := json.Marshal(detail)
	return row{
		"id": fmt.Sprintf("%s/%d", key, n), "session_id": key, "checkpoint": e.Checkpoint, "action": string(e.Action),
		"user_id": null(e.By), "detail": string(data), "at": stamp(at),
	}, err
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// null is s, or NULL where it says nothing.
func null(s string) any {
	if s == "" {
		return nil
	}
	return s
}
