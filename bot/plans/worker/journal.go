// Package worker runs the pair of one port: the commands of both workers, what
// goes between them, and the record of it in a ledger, from which another
// process goes on where one was killed.
package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan"
)

// ErrTaken says that another process has taken over what this one ran.
var ErrTaken = errors.New("another process has taken over this port")

// ErrLost says that the ledger no longer has what this process recorded in it.
var ErrLost = errors.New("the ledger has nothing of this port any more; was it removed, by a worker perhaps? Keep it where workers do not clean up, with --ledger, and run the port again")

// Journal keeps the journal of one port in a ledger. It is safe for use by many
// goroutines and processes.
type Journal struct {
	Ledger ledger.Ledger
	Key    string // of the port's stream; see routing.PortKey
	Port   string
	Now    func() time.Time
	Tell   func(plan.Event) // told what was recorded, in order; may be nil

	mu sync.Mutex // so that the order told is the order recorded
}

// Journal reads what the stream says.
func (d *Journal) Load(ctx context.Context) (plan.Journal, error) {
	return d.stream().Load(ctx)
}

func (d *Journal) stream() ledger.Stream[plan.Journal] {
	return ledger.Of(d.Ledger, d.Key, plan.JournalProjection)
}

// Record asks fn what happened, given the journal, and appends that. On a
// conflict it asks again, so fn must have no effects. What does not follow from
// the journal is refused, and nothing of it appended. It returns the journal
// with the new events, and those.
func (d *Journal) Record(ctx context.Context, fn func(plan.Journal) ([]plan.Event, error)) (plan.Journal, []plan.Event, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var told []plan.Event
	out, err := d.stream().Update(ctx, func(j plan.Journal) (_ []routing.Event, err error) {
		if told, err = fn(j); err != nil {
			return nil, err
		}
		now := d.Now()
		add := make([]routing.Event, 0, len(told))
		for i := range told {
			told[i].Port = d.Port
			if told[i].At.IsZero() {
				told[i].At = now
			}
			add = append(add, told[i].Record())
		}
		return add, nil
	})
	if err != nil {
		return plan.Journal{}, nil, err
	}
	if d.Tell != nil {
		for _, e := range told {
			d.Tell(e)
		}
	}
	return out, told, nil
}

// Send records a message from one worker to the other, and returns it. Without
// an id it gets one; with one that is there already nothing changes.
func (d *Journal) Send(ctx context.Context, m plan.Message) (plan.Message, error) {
	if m.ID == "" {
		m.ID = m.ChannelID + "/" + newID()
	}
	_, _, err := d.Record(ctx, func(j plan.Journal) ([]plan.Event, error) {
		if slices.ContainsFunc(j.Mail.Messages, func(old plan.Message) bool { return old.ID == m.ID }) {
			return nil, nil
		}
		if m.To == "" {
			m.To = other(j.Mail, m.ChannelID, m.From)
		}
		m.CreatedAt = d.Now()
		one := m
		return []plan.Event{{Kind: plan.DirectMessage, Session: m.From, Message: &one}}, nil
	})
	return m, err
}

// other returns the other end of a channel, "" if there is none.
func other(m plan.Mail, channel, session string) string {
	for _, c := range m.Channels {
		switch {
		case c.ID != channel:
		case c.SessionA == session:
			return c.SessionB
		case c.SessionB == session:
			return c.SessionA
		}
	}
	return ""
}

// Receive returns what a session was sent and nobody received before.
func (d *Journal) Receive(ctx context.Context, channel, session string) ([]plan.Message, error) {
	var got []plan.Message
	_, _, err := d.Record(ctx, func(j plan.Journal) ([]plan.Event, error) {
		now := d.Now()
		j.Mail.Messages = slices.Clone(j.Mail.Messages) // what is marked here is marked by the event
		var err error
		if got, err = j.Mail.Receive(channel, session, now); err != nil || len(got) == 0 {
			return nil, err
		}
		e := plan.Event{Kind: plan.Delivered, At: now, Session: session}
		for _, m := range got {
			e.IDs = append(e.IDs, m.ID)
		}
		return []plan.Event{e}, nil
	})
	return got, err
}

// Progress records how far a worker says it is.
func (d *Journal) Progress(ctx context.Context, p plan.Progress) error {
	p.Port = d.Port
	_, _, err := d.Record(ctx, func(plan.Journal) ([]plan.Event, error) {
		return []plan.Event{{Kind: plan.WorkerProgress, Session: p.Session, Progress: &p}}, nil
	})
	return err
}

// Log records feedback that an agent's own hook has seen.
func (d *Journal) Log(ctx context.Context, session string, f plan.TestFeedback) error {
	_, _, err := d.Record(ctx, func(plan.Journal) ([]plan.Event, error) {
		return []plan.Event{{Kind: plan.TestFeedbackLogged, Session: session, Feedback: &f}}, nil
	})
	return err
}

// asJSON writes a value of ours.
func asJSON(v any) []byte {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic(err) // unreachable: plain values
	}
	return append(b, '\n')
}

// Feedback returns what a turn of the newest pair failed with, or, with turn 0,
// the last one that did; nil if there is none.
func (d *Journal) Feedback(ctx context.Context, turn int) (*plan.TestFeedback, error) {
	events, _, err := d.Ledger.Load(ctx, d.Key)
	if err != nil {
		return nil, err
	}
	var out *plan.TestFeedback
	pair, before := "", 0
	for _, stored := range events {
		e, ok, err := plan.Recorded(stored)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.Key, err)
		}
		if !ok || e.Pair == nil {
			continue
		}
		if e.Pair.ID != pair {
			pair, before, out = e.Pair.ID, 0, nil
		}
		if n := e.Pair.CurrentTry; n > before && (turn == 0 || n == turn) {
			out = e.Pair.Last
		}
		before = e.Pair.CurrentTry
	}
	return out, nil
}
