package effect

import (
	"context"
	"errors"
	"time"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
)

// Escalations reads the register of escalations of a repository.
func Escalations(ctx context.Context, led ledger.Ledger, repo string) (escalation.State, error) {
	return escalations(led, repo).Load(ctx)
}

func escalations(led ledger.Ledger, repo string) ledger.Stream[escalation.State] {
	return ledger.Of(led, routing.StreamKey(repo, routing.StreamEscalations), escalation.Projection)
}

// ChangeEscalations asks fn what happened to the newest register of escalations of
// a repository, appends that, and returns the register with it. On a conflict
// fn is asked again, so it must have no effects.
func ChangeEscalations(ctx context.Context, led ledger.Ledger, repo string, fn func(escalation.State) ([]routing.Event, error)) (escalation.State, error) {
	return escalations(led, repo).Update(ctx, fn)
}

// escalationStore is the stream of escalations of a repository, and this process's lease on issues
// that it creates.
type escalationStore struct {
	stream ledger.Stream[escalation.State]
	lease  ledger.Lease
	now    func() time.Time
	sleep  func(context.Context, time.Duration) error
}

// change appends what fn returns for the newest state, and returns the state with it. On a conflict
// fn is asked again, so it must have no effects.
func (s escalationStore) change(ctx context.Context, fn func(escalation.State) ([]routing.Event, error)) (escalation.State, error) {
	return s.stream.Update(ctx, fn)
}

// leave takes a checkpoint out of the open records that hold it: how it ceased to wait, who ended it,
// "" for a green run, and at which commit. It returns the records that people close, which it stays
// in.
func (s escalationStore) leave(ctx context.Context, key, checkpoint string, how escalation.How, by, fix string, closes func(escalation.Type) bool) (state escalation.State, kept []escalation.Record, err error) {
	state, err = s.change(ctx, func(r escalation.State) ([]routing.Event, error) {
		kept = nil
		var events []routing.Event
		for _, rec := range r.Open(key, checkpoint) {
			if how == escalation.Passed && !rec.Fuse && !closes(rec.Type) && rec.DismissedAt.IsZero() {
				kept = append(kept, rec)
				continue
			}
			add, err := r.Recorder(s.now()).Leave(rec.ID, key, checkpoint, how, by, fix)
			if err != nil {
				return nil, err
			}
			events = append(events, add...)
		}
		return events, nil
	})
	return state, kept, err
}

// dismiss records that a person closed the issue of a record: for the commit it stays closed.
func (s escalationStore) dismiss(ctx context.Context, id, sha string, i github.Issue) error {
	_, err := s.change(ctx, func(r escalation.State) ([]routing.Event, error) {
		return r.Recorder(i.ClosedAt).Dismiss(id, sha, i.ClosedBy)
	})
	return err
}

// settle records that the issue of a record shows that it is resolved.
func (s escalationStore) settle(ctx context.Context, id string) error {
	_, err := s.change(ctx, func(r escalation.State) ([]routing.Event, error) {
		if now, ok := r.ByID(id); !ok || now.Open() {
			return nil, nil // opened again meanwhile
		}
		return r.Recorder(s.now()).Settle(id)
	})
	return err
}

// leaseFiling makes sure that this process alone files the issue of rec: many
// cases may fail the same way at once. While another files it, it waits, and
// returns the record with the issue's number.
func (s escalationStore) leaseFiling(ctx context.Context, rec escalation.Record) (escalation.Record, error) {
	for rec.Number == 0 {
		reg, err := s.change(ctx, func(r escalation.State) ([]routing.Event, error) {
			return r.Recorder(s.now()).File(rec.ID, *s.lease.Take())
		})
		var busy *escalation.BusyError
		switch {
		case err == nil:
			rec, _ = reg.ByID(rec.ID)
			return rec, nil
		case !errors.As(err, &busy):
			return rec, err
		}
		if err := s.sleep(ctx, min(max(busy.Until.Sub(s.now()), 50*time.Millisecond), time.Second)); err != nil {
			return rec, err
		}
	}
	return rec, nil
}

// hold renews this process's lease on filing the issue of rec while GitHub answers slowly. Work under
// the context held is cut off before another process may file it.
func (s escalationStore) hold(ctx context.Context, rec escalation.Record) (held context.Context, release func()) {
	if rec.Number > 0 {
		return ctx, func() {}
	}
	return s.lease.Keep(ctx, rec.Lease, func(ctx context.Context) (*routing.Lease, error) {
		reg, err := s.change(ctx, func(r escalation.State) ([]routing.Event, error) {
			return r.Recorder(s.now()).File(rec.ID, *s.lease.Take())
		})
		now, _ := reg.ByID(rec.ID)
		return now.Lease, err
	})
}

// filed notes where the issue stands. stale is true if the record has moved on
// since rec.
func (s escalationStore) filed(ctx context.Context, rec escalation.Record, i github.Issue) (now escalation.Record, stale bool, err error) {
	reg, err := s.change(ctx, func(r escalation.State) ([]routing.Event, error) {
		cur, _ := r.ByID(rec.ID)
		stale = !cur.UpdatedAt.Equal(rec.UpdatedAt)
		return r.Recorder(s.now()).Filed(rec.ID, i.Number, i.URL)
	})
	now, _ = reg.ByID(rec.ID)
	return now, stale, err
}
