package escalation

import (
	"slices"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// Recorder makes the events of the stream, and refuses those that do not follow from its state. It
// makes none for what the state says already. It changes neither the state nor the stream.
type Recorder struct {
	state State
	now   time.Time
}

// Recorder returns a Recorder of what happens at now.
func (r State) Recorder(now time.Time) Recorder { return Recorder{r, now} }

func (r Recorder) event(t routing.EventType, p payload) routing.Event {
	return routing.Event{Type: t, At: r.now, Data: p}
}

// checked returns the events if they follow from the state.
func (r Recorder) checked(events ...routing.Event) ([]routing.Event, error) {
	after := r.state
	for _, e := range events {
		var err error
		if after, err = after.Apply(e); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// Filed notes the issue of a record.
func (r Recorder) Filed(id string, number int, url string) ([]routing.Event, error) {
	rec, ok := r.state.ByID(id)
	if ok && rec.Number == number && rec.URL == url && !rec.Gone {
		return nil, nil
	}
	return r.checked(r.event(EventFiled, IssueFiled{ID: id, Number: number, URL: url}))
}

// BusyError says that another process is filing the issue.
type BusyError struct{ Until time.Time }

func (e *BusyError) Error() string {
	return "another process is filing the issue, until " + e.Until.UTC().Format(time.RFC3339)
}

// File takes the lease on filing a record's issue. A lease that another process holds is a
// *BusyError.
func (r Recorder) File(id string, l routing.Lease) ([]routing.Event, error) {
	rec, ok := r.state.ByID(id)
	switch {
	case !ok:
		return nil, ErrUnknown
	case rec.Number > 0 || rec.Lease.HeldBy(l.Owner, r.now.Add(l.Until.Sub(r.now)/2)):
		return nil, nil
	case rec.Lease.HeldByOther(l.Owner, r.now):
		return nil, &BusyError{rec.Lease.Until}
	}
	return r.checked(r.event(EventLeased, LeaseTaken{ID: id, Lease: l}))
}

// Forget notes that the issue of a record is not there any more.
func (r Recorder) Forget(id string) ([]routing.Event, error) {
	rec, ok := r.state.ByID(id)
	if ok && rec.Gone {
		return nil, nil
	}
	return r.checked(r.event(EventGone, IssueGone{ID: id}))
}

// Leave takes a checkpoint of a case out of a record, and resolves the record
// with the last. by is the human who ended it, or "" for a green run; fix the
// commit that passed, or at which the human ended it. What has left before
// changes nothing.
func (r Recorder) Leave(id, caseKey, checkpoint string, how How, by, fix string) ([]routing.Event, error) {
	rec, ok := r.state.ByID(id)
	if !ok {
		return nil, ErrUnknown
	}
	i := rec.member(caseKey + "/" + checkpoint)
	if i < 0 {
		return nil, nil
	}
	m := rec.Members[i]
	m.LeftAt, m.How, m.By, m.Fix = r.now, how, by, fix
	events := []routing.Event{r.event(EventLeft, MemberLeft{ID: id, Member: m})}
	if len(rec.Members) == 1 {
		events = append(events, r.resolved(id, orElse(by, "switchback"), string(how), fix))
	}
	return r.checked(events...)
}

func (r Recorder) resolved(id, by, text, fix string) routing.Event {
	return r.event(EventResolved, RecordResolved{ID: id, By: by, Text: text, Fix: fix})
}

// Resolve ends a record: all that it holds leaves. A record that is resolved is
// ErrResolved.
func (r Recorder) Resolve(id, by, text string) ([]routing.Event, error) {
	rec, ok := r.state.ByID(id)
	switch {
	case !ok:
		return nil, ErrUnknown
	case !rec.Open():
		return nil, ErrResolved
	}
	var events []routing.Event
	fix := ""
	for _, m := range rec.Members {
		m.LeftAt, m.How, m.By, m.Fix = r.now, Released, by, m.SHA
		fix = m.SHA
		events = append(events, r.event(EventLeft, MemberLeft{ID: id, Member: m}))
	}
	return r.checked(append(events, r.resolved(id, by, text, fix))...)
}

// Settle notes that the issue of a resolved record shows it.
func (r Recorder) Settle(id string) ([]routing.Event, error) {
	rec, ok := r.state.ByID(id)
	if ok && rec.Settled {
		return nil, nil
	}
	return r.checked(r.event(EventSettled, RecordSettled{ID: id}))
}

// Dismiss notes that a human closed the issue of a record: it stays closed for
// the commit.
func (r Recorder) Dismiss(id, sha, by string) ([]routing.Event, error) {
	rec, ok := r.state.ByID(id)
	if ok && !rec.DismissedAt.IsZero() && rec.Dismissed == sha {
		return nil, nil
	}
	return r.checked(r.event(EventDismissed, RecordDismissed{ID: id, SHA: sha, By: by}))
}

// Recall undoes Dismiss: a human opened the issue again, or a later commit
// calls.
func (r Recorder) Recall(id string) ([]routing.Event, error) {
	rec, ok := r.state.ByID(id)
	if ok && rec.DismissedAt.IsZero() {
		return nil, nil
	}
	return r.checked(r.event(EventRecalled, RecordRecalled{ID: id}))
}

// Answer consumes the questions of a record. The first answer of a generation
// counts; another is refused with an *AnsweredError that holds the first.
func (r Recorder) Answer(id string, a Answered) ([]routing.Event, error) {
	a.At, a.Fanned = r.now, false
	return r.checked(r.event(EventAnswered, AnswerTaken{ID: id, Answer: a}))
}

// Fanned notes that every case of a record has an answer.
func (r Recorder) Fanned(id string, generation int) ([]routing.Event, error) {
	if rec, ok := r.state.ByID(id); ok && slices.ContainsFunc(rec.Answers, func(a Answered) bool { return a.Generation == generation && a.Fanned }) {
		return nil, nil
	}
	return r.checked(r.event(EventFanned, AnswerFanned{ID: id, Generation: generation}))
}
