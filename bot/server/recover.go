package server

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/handler"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/server/queue"
	"github.com/switchback-ci/switchback/bot/server/recovery"
)

// asideQueue is worked on beside the deliveries, so that a scan of many repositories delays none of
// them.
const asideQueue = "aside"

// recoverAll looks once for missed events.
type recoverAll struct{}

// Kind implements river.JobArgs.
func (recoverAll) Kind() string { return "recover" }

// InsertOpts implements river.JobArgsWithInsertOpts: there is at most one that is not done, among
// all processes, and what it does not do is left to the next.
func (recoverAll) InsertOpts() river.InsertOpts {
	return river.InsertOpts{MaxAttempts: 1, Queue: asideQueue, UniqueOpts: river.UniqueOpts{ByState: notDone}}
}

// recovery returns the options of the search for events that this server missed.
func (v *server) recovery() (recovery.Options, error) {
	self, err := v.installations.app.Self(github.Options{Log: v.log, ContentInterval: v.settings.Interval, MaxWait: 10 * time.Second,
		CacheBytes: v.settings.Cache << 20, Observe: v.metrics.answered(0),
		Budget: sharedLimits(v.store, "app"), Holder: holder(v.store, v.installations.process), Rates: v.settings.Limits})
	if err != nil {
		return recovery.Options{}, err
	}
	return recovery.Options{App: self, Installation: v.installations.client, Wanted: handler.Wanted, Inbox: inbox{v.store.Deliveries}, Log: v.log,
		Interval: 2 * v.settings.Recover, Marks: recovery.Table{DB: v.store.Database()}, Ledger: v.contexts.recorded}, nil
}

// recover does the work of a recoverAll. It ends with the first signal to stop; the next one
// continues from there.
func (w *worker) recover(ctx context.Context, _ *river.Job[recoverAll]) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(w.serving, cancel)()
	f, err := w.rec.Run(ctx)
	w.metrics.looked(f, err)
	if err != nil && w.serving.Err() == nil {
		kind := advise(err).Name()
		w.metrics.errors.WithLabelValues(kind).Inc()
		w.log.Warn("some repositories could not be searched for missed events; the next search tries again", "err", err, "kind", kind)
	}
	return nil
}

// inbox stores the deliveries that were found.
type inbox struct{ *queue.Deliveries }

var _ recovery.Inbox = inbox{}

// Accept implements recovery.Inbox.
func (b inbox) Accept(ctx context.Context, event, id string, payload []byte) (fresh bool, err error) {
	d := decode(queue.Delivery{ID: id, Event: event, ReceivedAt: time.Now().UTC(), Payload: payload})
	return b.Deliveries.Accept(ctx, d.Delivery)
}

// recorded returns the ledger of a repository that GitHub just listed for an installation, nil
// where the Action acts. A repository in which nothing has happened stays unknown, so that nothing
// else is done about it.
func (f *contexts) recorded(ctx context.Context, x recovery.Repository) (ledger.Ledger, error) {
	name := x.Repo.String()
	r, known, err := f.store.Repositories.Get(ctx, x.ID)
	switch {
	case err != nil:
		return nil, err
	case !known:
		// Another repository may have had its name, whose streams are not its own.
		r = queue.Repository{ID: x.ID, Installation: x.Installation, Name: name, Ledger: fmt.Sprintf("%s~%d", name, x.ID)}
	case r.Gone || r.Name != name || r.Installation != x.Installation:
		if r, err = f.follow(ctx, r, x.Installation); err != nil {
			return nil, err
		}
	}
	o, err := f.unread(r)
	if err == nil {
		err = o.readConfig(ctx, r, time.Now())
	}
	if err != nil || !o.acts {
		return nil, err
	}
	return o.ledger, nil
}
