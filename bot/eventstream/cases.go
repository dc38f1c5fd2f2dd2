package eventstream

import (
	"encoding/json"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/activity"
)

// State is the state of a case or a checkpoint.
type State string

// The states. That of a case is the most severe of its checkpoints.
const (
	Escalated  State = "escalated" // waits for a maintainer
	Paused     State = "paused"    // on hold by a maintainer
	InProgress State = "in_progress"
	Waiting    State = "pending" // waits for other checkpoints
	Completed  State = "completed"
)

// States are all states, the most severe first.
var States = []State{Escalated, Paused, InProgress, Waiting, Completed}

// StateOf returns the state of a checkpoint, and since when it has it.
func StateOf(cp routing.Checkpoint) (State, time.Time) {
	switch {
	case cp.Skipped || cp.State == routing.Completed:
		return Completed, cp.Updated
	case cp.State == routing.Escalated && cp.Escalation != nil:
		return Escalated, cp.Escalation.OpenedAt
	case cp.State == routing.Escalated:
		return Escalated, cp.Updated
	case cp.Paused:
		return Paused, cp.Updated
	case cp.State == routing.InProgress:
		return InProgress, cp.Updated
	}
	return Waiting, cp.Updated
}

// Standing returns the state of a case, the checkpoint that determines it, and since when.
func Standing(c routing.Case) (State, routing.Checkpoint, time.Time) {
	at := len(States)
	var which routing.Checkpoint
	var since time.Time
	for _, name := range c.Names() {
		s, from := StateOf(c.Checkpoints[name])
		for i := range at {
			if States[i] == s {
				at, which, since = i, c.Checkpoints[name], from
			}
		}
	}
	if at == len(States) {
		return Waiting, which, c.Opened
	}
	return States[at], which, since
}

// routed updates the rows of a case.
func (w writer) routed(events []routing.Event, seen int) error {
	c := routing.Case{Key: w.key}
	known, err := w.failures()
	if err != nil {
		return err
	}
	for i, e := range events {
		next, err := c.Apply(e)
		if err != nil {
			return err
		}
		if i >= seen {
			if err := w.count(c, e); err != nil {
				return err
			}
			if err := w.green(c, e); err != nil {
				return err
			}
			known.see(next, e)
		}
		c = next
	}
	if err := w.clusters(known); err != nil {
		return err
	}
	return w.row(c)
}

// row updates the row of a case.
func (w writer) row(c routing.Case) error {
	state, cp, since := Standing(c)
	states := map[string]State{}
	for name, x := range c.Checkpoints {
		states[name], _ = StateOf(x)
	}
	names, err := json.Marshal(states)
	if err != nil {
		return err
	}
	var newest routing.Attempt
	for _, t := range cp.Attempts {
		if !t.Undone {
			newest = t
		}
	}
	var before string
	var from int64
	rows, err := w.tx.QueryContext(w.ctx, "SELECT state, since FROM projection_case WHERE key = $1", text(w.key))
	if err != nil {
		return err
	}
	if rows.Next() {
		err = rows.Scan(&before, &from)
	}
	if rows.Close(); err != nil {
		return err
	}
	if before == string(state) && state != Escalated {
		since = fromMillis(from) // later events did not change the state
	}
	if before != string(state) {
		if before != "" {
			if err := w.exec("UPDATE projection_state SET n = n - 1 WHERE repo = $1 AND state = $2", w.repo, before); err != nil {
				return err
			}
		}
		err := w.exec("INSERT INTO projection_state (repo, state, n) VALUES ($1, $2, 1) ON CONFLICT (repo, state) DO UPDATE SET n = projection_state.n + 1", w.repo, string(state))
		if err != nil {
			return err
		}
	}
	reason := newest.Reason
	if cp.Escalation != nil && state == Escalated {
		reason = cp.Escalation.Reason
	}
	return w.exec(`INSERT INTO projection_case (key, repo, subject, state, since, opened, updated, checkpoint, decision, rule, class, reason, iterations, most, checkpoints)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
		ON CONFLICT (key) DO UPDATE SET state = excluded.state, since = excluded.since, updated = excluded.updated, checkpoint = excluded.checkpoint,
		decision = excluded.decision, rule = excluded.rule, class = excluded.class, reason = excluded.reason, iterations = excluded.iterations,
		most = excluded.most, checkpoints = excluded.checkpoints`,
		w.key, w.repo, w.key[len(activity.Repo(w.key)):], string(state), millis(since), millis(c.Opened), millis(c.Updated), cp.Name,
		string(newest.Kind), newest.Rule, string(newest.Verdict.Class), reason, cp.Retries, cp.Limit+cp.Extra, string(names))
}

// count counts a decision, or a correction of its class by a maintainer.
func (w writer) count(was routing.Case, e routing.Event) error {
	if run, ok := e.Run(); ok {
		return w.counted(e.At, run.Decision.Kind, run.Decision.Rule, run.Verdict.Class, 1, 0)
	}
	if act, ok := e.Human(); ok && act.Action == routing.HumanWrong {
		if _, known := was.Answered[act.Answer]; known {
			return nil
		}
		attempts := was.Checkpoints[act.Checkpoint].Attempts
		for i := len(attempts) - 1; i >= 0; i-- {
			if t := attempts[i]; !t.Undone {
				return w.counted(t.At, t.Kind, t.Rule, t.Verdict.Class, 0, 1)
			}
		}
	}
	return nil
}

func (w writer) counted(at time.Time, k routing.Kind, rule string, class routing.Class, n, wrong int) error {
	return w.exec(`INSERT INTO projection_count (repo, day, decision, rule, class, n, wrong) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (repo, day, decision, rule, class) DO UPDATE SET n = projection_count.n + excluded.n, wrong = projection_count.wrong + excluded.wrong`,
		w.repo, day(at), string(k), rule, string(class), n, wrong)
}

// green counts a checkpoint that had failed and now passes.
func (w writer) green(was routing.Case, e routing.Event) error {
	run, ok := e.Run()
	if !ok || run.Decision.Kind != routing.KindPass || run.Decision.Again {
		return nil
	}
	cp := was.Checkpoints[run.Verdict.Checkpoint]
	var first, before time.Time
	iterations, human := 0, 0
	for i := len(cp.Attempts) - 1; i >= 0; i-- {
		t := cp.Attempts[i]
		if t.Kind == routing.KindPass {
			before = t.At
			break
		}
		if first = t.At; t.Undone {
			continue
		}
		if t.Kind == routing.KindRetry {
			iterations++
		} else if t.Kind.Escalates() {
			human = 1
		}
	}
	if first.IsZero() {
		return nil
	}
	for _, a := range cp.Acts {
		if a.At.After(before) {
			human = 1
		}
	}
	return w.exec(`INSERT INTO projection_green (repo, day, iterations, human, took, n) VALUES ($1, $2, $3, $4, $5, 1)
		ON CONFLICT (repo, day, iterations, human, took) DO UPDATE SET n = projection_green.n + 1`, w.repo, day(e.At), iterations, human, step(e.At.Sub(first)))
}
