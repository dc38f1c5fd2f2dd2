package recovery

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/switchback-ci/switchback/bot/github"
)

const deliveriesMark = "deliveries"

// missing is a delivery with all its attempts.
type missing struct {
	github.HookDelivery           // the newest attempt
	first               time.Time // time of the first attempt
	attempts            int
	again               time.Time // time of the last redelivery
	taken               bool      // an attempt was answered with success
}

// redelivery asks GitHub to redeliver what no server took.
type redelivery struct {
	app      *github.Client
	wanted   func(event, action string) bool
	inbox    Inbox
	marks    times
	interval time.Duration // between two requests for a delivery
	now      func() time.Time
	log      *slog.Logger

	asked map[string]time.Time // GUID → time of the last request
	walk  walk
}

// walk is a walk through the list of deliveries, from the newest to the oldest.
type walk struct {
	cursor string    // where it continues; "" at the start of the list
	newest time.Time // delivery of the list
	lost   time.Time // the oldest missing delivery so far
}

func (r *redelivery) run(ctx context.Context) (Found, error) {
	good, err := r.marks.get(ctx, deliveriesMark)
	if err != nil {
		return Found{}, err
	}
	since := r.now().Add(-kept)
	if from := good.Add(-overlap); from.After(since) {
		since = from
	}
	lost, done, err := r.lost(ctx, since)
	if err != nil {
		return Found{}, err
	}
	n, err := r.askAgain(ctx, lost)
	if err != nil || !done {
		return Found{Asked: n}, err
	}
	at := r.walk.newest
	if lost := r.walk.lost; !lost.IsZero() && lost.Before(at) {
		at = lost
	}
	if at.Before(good) {
		at = good
	}
	return Found{Asked: n}, r.marks.set(ctx, deliveriesMark, good, at)
}

// lost lists the missing deliveries since a time. done is false if the list is too long for one
// search; the next call continues it.
func (r *redelivery) lost(ctx context.Context, since time.Time) (out []missing, done bool, err error) {
	found := map[string]*missing{}
	for range mostPages {
		list, next, err := r.app.Apps.ListDeliveries(ctx, r.walk.cursor)
		if err != nil {
			r.walk = walk{} // the cursor may no longer be valid
			return nil, false, err
		}
		if r.walk.cursor == "" {
			r.walk = walk{}
			if len(list) > 0 {
				r.walk.newest = list[0].At
			}
		}
		for _, d := range list {
			if d.At.Before(since) {
				next = ""
				break
			}
			if r.wanted(d.Event, d.Action) {
				found[d.GUID] = found[d.GUID].with(d)
			}
		}
		if r.walk.cursor = next; next == "" {
			done = true
			break
		}
	}
	ids := make([]string, 0, len(found))
	for id, m := range found {
		if m.taken {
			delete(found, id)
			continue
		}
		ids = append(ids, id)
	}
	stored, err := r.inbox.Stored(ctx, ids)
	if err != nil {
		return nil, false, err
	}
	for id, m := range found {
		if !stored[id] {
			out = append(out, *m)
			if r.walk.lost.IsZero() || m.first.Before(r.walk.lost) {
				r.walk.lost = m.first
			}
		}
	}
	slices.SortFunc(out, func(a, b missing) int { return cmp.Or(a.first.Compare(b.first), cmp.Compare(a.ID, b.ID)) })
	return out, done, nil
}

// with adds an attempt. Attempts come newest first.
func (m *missing) with(d github.HookDelivery) *missing {
	if m == nil {
		m = &missing{HookDelivery: d}
	}
	m.first = d.At
	m.attempts++
	m.taken = m.taken || d.OK
	if d.Redelivery && d.At.After(m.again) {
		m.again = d.At
	}
	return m
}

// askAgain asks for each of lost, unless the last request was too recent.
func (r *redelivery) askAgain(ctx context.Context, lost []missing) (n int, err error) {
	now := r.now()
	for id, at := range r.asked {
		if now.Sub(at) > kept {
			delete(r.asked, id)
		}
	}
	for _, m := range lost {
		last := r.asked[m.GUID]
		if m.again.After(last) {
			last = m.again
		}
		wait := r.interval << min(max(0, m.attempts-2), 6)
		if !last.IsZero() && now.Sub(last) < wait {
			continue
		}
		if n == mostAsked {
			r.log.Warn("more deliveries are missing than one search requests", "lost", len(lost), "asked", n)
			return n, nil
		}
		err := r.app.Apps.Redeliver(ctx, m.ID)
		if stop(err) {
			return n, err
		}
		r.asked[m.GUID] = now
		if err != nil {
			r.log.Warn("GitHub does not redeliver", "delivery", m.GUID, "event", m.Event, "error", err) // it is too old by now
			continue
		}
		r.log.Info("asked for a redelivery", "delivery", m.GUID, "event", m.Event, "action", m.Action, "attempts", m.attempts)
		n++
	}
	return n, nil
}
