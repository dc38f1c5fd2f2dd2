package escalation

import (
	"slices"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// Events of the register are made here alone. Each function is given the newest
// register and refuses what does not follow from it.

func event(t routing.EventType, p Change, now time.Time) routing.Event {
	return routing.Event{Type: t, At: now, Data: p}
}

// checked returns the events if they follow from r.
func (r State) checked(events ...routing.Event) ([]routing.Event, error) {
	for _, e := range events {
		var err error
		if r, err = r.Apply(e); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// Filed notes the issue of a record.
func (r State) Filed(id string, number int, url string, now time.Time) ([]routing.Event, error) {
	rec, ok := r.ByID(id)
	if ok && rec.Number == number && rec.URL == url && !rec.Gone {
		return nil, nil
	}
	return r.checked(event(EventFiled, Change{ID: id, Number: number, URL: url}, now))
}

// BusyError says that another process is filing the issue.
type BusyError struct{ Until time.Time }

func (e *BusyError) Error() string {
	return "another process is filing the issue, until " + e.Until.UTC().Format(time.RFC3339)
}

// File takes the lease on filing a record's issue. A lease that another process holds is a
// *BusyError.
func (r State) File(id string, l routing.Lease, now time.Time) ([]routing.Event, error) {
	rec, ok := r.ByID(id)
	switch {
	case !ok:
		return nil, ErrUnknown
	case rec.Number > 0 || rec.Lease.HeldBy(l.Owner, now):
		return nil, nil
	case rec.Lease.HeldByOther(l.Owner, now):
		return nil, &BusyError{rec.Lease.Until}
	}
	return r.checked(event(EventLeased, Change{ID: id, Lease: &l}, now))
}

// Forget notes that the issue of a record is not there any more.
func (r State) Forget(id string, now time.Time) ([]routing.Event, error) {
	rec, ok := r.ByID(id)
	if ok && rec.Gone {
		return nil, nil
	}
	return r.checked(event(EventGone, Change{ID: id}, now))
}

// Leave takes a checkpoint of a case out of a record, and resolves the record
// with the last. by is the human who ended it, or "" for a green run; fix the
// commit that passed, or at which the human ended it. What has left before
// changes nothing.
func (r State) Leave(id, caseKey, checkpoint string, how How, by, fix string, now time.Time) ([]routing.Event, error) {
	rec, ok := r.ByID(id)
	if !ok {
		return nil, ErrUnknown
	}
	i := rec.member(caseKey + "/" + checkpoint)
	if i < 0 {
		return nil, nil
	}
	m := rec.Members[i]
	m.LeftAt, m.How, m.By, m.Fix = now, how, by, fix
	events := []routing.Event{event(EventLeft, Change{ID: id, Member: &m}, now)}
	if len(rec.Members) == 1 {
		events = append(events, resolve(id, orElse(by, "switchback"), string(how), fix, now))
	}
	return r.checked(events...)
}

func resolve(id, by, text, fix string, now time.Time) routing.Event {
	return event(EventResolved, Change{ID: id, By: by, Text: text, SHA: fix}, now)
}

// Resolve ends a record: all that it holds leaves. A record that is resolved is
// ErrResolved.
func (r State) Resolve(id, by, text string, now time.Time) ([]routing.Event, error) {
	rec, ok := r.ByID(id)
	switch {
	case !ok:
		return nil, ErrUnknown
	case !rec.Open():
		return nil, ErrResolved
	}
	var events []routing.Event
	fix := ""
	for _, m := range rec.Members {
		m.LeftAt, m.How, m.By, m.Fix = now, Released, by, m.SHA
		fix = m.SHA
		events = append(events, event(EventLeft, Change{ID: id, Member: &m}, now))
	}
	return r.checked(append(events, resolve(id, by, text, fix, now))...)
}

// Settle notes that the issue of a resolved record shows it.
func (r State) Settle(id string, now time.Time) ([]routing.Event, error) {
	rec, ok := r.ByID(id)
	if ok && rec.Settled {
		return nil, nil
	}
	return r.checked(event(EventSettled, Change{ID: id}, now))
}

// Dismiss notes that a human closed the issue of a record at a time: it stays
// closed for the commit.
func (r State) Dismiss(id, sha, by string, at time.Time) ([]routing.Event, error) {
	rec, ok := r.ByID(id)
	if ok && !rec.DismissedAt.IsZero() && rec.Dismissed == sha {
		return nil, nil
	}
	return r.checked(event(EventDismissed, Change{ID: id, SHA: sha, By: by}, at))
}

// Recall undoes Dismiss: a human opened the issue again, or a later commit
// calls.
func (r State) Recall(id string, now time.Time) ([]routing.Event, error) {
	rec, ok := r.ByID(id)
	if ok && rec.DismissedAt.IsZero() {
		return nil, nil
	}
	return r.checked(event(EventRecalled, Change{ID: id}, now))
}

// Answer consumes the prompt of a record. The first answer of a generation
// counts; another is refused with an *AnsweredError that holds the first.
func (r State) Answer(id string, a Answered, now time.Time) ([]routing.Event, error) {
	a.At, a.Fanned = now, false
	return r.checked(event(EventAnswered, Change{ID: id, Answer: &a}, now))
}

// Fanned notes that every case of a record has an answer.
func (r State) Fanned(id string, generation int, now time.Time) ([]routing.Event, error) {
	if rec, ok := r.ByID(id); ok && slices.ContainsFunc(rec.Answers, func(a Answered) bool { return a.Generation == generation && a.Fanned }) {
		return nil, nil
	}
	return r.checked(event(EventFanned, Change{ID: id, Generation: generation}, now))
}
