package recovery

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/switchback-ci/switchback/bot/github"
)

const deliveriesMark = "deliveries"

// missing is a delivery that was not taken in, by its attempts.
type missing struct {
	github.HookDelivery           // the newest attempt
	first               time.Time // when it was tried first
	attempts            int
	again               time.Time // when GitHub last tried it because it was asked to
	taken               bool      // an attempt was answered with success
}

// Deliveries asks GitHub again for the App's deliveries that something is to be
// done about and that were not taken in, the oldest first: those that no server
// answered with success, which it also does to what it has no use for, and that
// are not stored. It looks back to
// where all was well the last time, or as far as GitHub keeps them. A delivery
// that fails again is asked for less and less often.
func (r *Recovery) Deliveries(ctx context.Context) (Found, error) {
	good, err := r.mark(ctx, deliveriesMark)
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
	return Found{Asked: n}, r.setMark(ctx, deliveriesMark, good, at)
}

// lost lists the deliveries since a time that were not taken in. It is not done
// if there are too many for one look, and goes on where it was the next time.
func (r *Recovery) lost(ctx context.Context, since time.Time) (out []missing, done bool, err error) {
	found := map[string]*missing{}
	for range mostPages {
		list, next, err := r.App.Apps.ListDeliveries(ctx, r.walk.cursor)
		if err != nil {
			r.walk = walk{} // the cursor may be none any more
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
			if r.Wanted(d.Event, d.Action) {
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
	stored, err := r.Inbox.Stored(ctx, ids)
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

// with adds an attempt; they come newest first.
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

// askAgain asks for each of lost that was not asked for lately.
func (r *Recovery) askAgain(ctx context.Context, lost []missing) (n int, err error) {
	now := r.now()
	if r.asked == nil {
		r.asked = map[string]time.Time{}
	}
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
		wait := cmp.Or(r.Interval, DefaultInterval) << min(max(0, m.attempts-2), 6)
		if !last.IsZero() && now.Sub(last) < wait {
			continue
		}
		if n == mostAsked {
			r.log().Warn("more deliveries were lost than are asked for at once", "lost", len(lost), "asked", n)
			return n, nil
		}
		err := r.App.Apps.Redeliver(ctx, m.ID)
		if stop(err) {
			return n, err
		}
		r.asked[m.GUID] = now
		if err != nil {
			r.log().Warn("GitHub does not deliver again", "delivery", m.GUID, "event", m.Event, "error", err) // it is too old by now
			continue
		}
		r.log().Info("asked for a delivery again", "delivery", m.GUID, "event", m.Event, "action", m.Action, "attempts", m.attempts)
		n++
	}
	return n, nil
}
