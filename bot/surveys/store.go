package surveys

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/survey"
)

// store is the stream of a repository's surveys, and this process's lease on the work that it
// records there.
type store struct {
	stream ledger.Stream[survey.State]
	lease  ledger.Lease
	now    func() time.Time
}

func (d store) load(ctx context.Context) (survey.State, error) {
	r, err := d.stream.Load(ctx)
	if err != nil {
		return r, fmt.Errorf("reading the surveys: %w", err)
	}
	return r, nil
}

// change appends what step returns for the newest state, and reports whether it was anything. What
// does not follow is refused before it is written.
func (d store) change(ctx context.Context, step func(survey.State) ([]survey.Entry, error)) (reg survey.State, changed bool, err error) {
	reg, err = d.stream.Update(ctx, func(r survey.State) ([]routing.Event, error) {
		entries, err := step(r)
		changed = len(entries) > 0
		return survey.Events(entries, d.now()), err
	})
	if err != nil {
		return reg, false, fmt.Errorf("recording in the surveys: %w", err)
	}
	return reg, changed, nil
}

// take makes this process the one that does a survey's work.
func (d store) take(ctx context.Context, id string) (bool, error) {
	mine := false
	_, _, err := d.change(ctx, func(r survey.State) ([]survey.Entry, error) {
		p, _ := r.Survey(id)
		if mine = d.free(p.Lease) && len(p.Pending) > 0; !mine {
			return nil, nil
		}
		return survey.TakeOver(id, d.lease.Take()), nil
	})
	return mine, err
}

// takeReentry makes this process the one that starts the cycle of a completed run.
func (d store) takeReentry(ctx context.Context, run string) (bool, error) {
	mine := false
	_, _, err := d.change(ctx, func(r survey.State) ([]survey.Entry, error) {
		mine = false
		for _, s := range r.Reentries {
			mine = mine || s.Run == run && !s.Done && d.free(s.Lease)
		}
		if !mine {
			return nil, nil
		}
		return survey.TakeOverReentry(run, d.lease.Take()), nil
	})
	return mine, err
}

// free reports whether work that another process has can be taken over: it has
// been silent for too long, or was an earlier part of this very job.
func (d store) free(l *routing.Lease) bool {
	return !l.HeldByOther(d.lease.Owner, d.now()) || l.Owner == "" || job(l.Owner) != "" && job(l.Owner) == job(d.lease.Owner)
}

// job returns the run and the job of an owner, "" if it names none.
func job(owner string) string {
	f := strings.Fields(owner)
	if len(f) < 4 || f[0] != "run" || f[2] != "job" {
		return ""
	}
	run, _, _ := strings.Cut(f[1], "/")
	return run + " " + f[3]
}
