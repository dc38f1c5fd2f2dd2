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

// asideQueue is worked on beside the deliveries, so that a look at many
// repositories holds none of them up.
const asideQueue = "aside"

// recoverAll looks once for what the App was not told.
type recoverAll struct{}

// Kind implements river.JobArgs.
func (recoverAll) Kind() string { return "recover" }

// InsertOpts implements river.JobArgsWithInsertOpts: there is one that is not
// done, among all processes, and what it leaves is for the next.
func (recoverAll) InsertOpts() river.InsertOpts {
	return river.InsertOpts{MaxAttempts: 1, Queue: asideQueue, UniqueOpts: river.UniqueOpts{ByState: notDone}}
}

// recovery looks for what this server was not told.
func (v *server) recovery() (*recovery.Recovery, error) {
	self, err := v.installations.app.Self(github.Options{Log: v.log, ContentInterval: v.settings.Interval, MaxWait: 10 * time.Second,
		CacheBytes: v.settings.Cache << 20, Observe: v.metrics.answered(0),
		Ration: sharedLimits(v.store, "app"), Holder: holder(v.store, v.installations.process), Rates: v.settings.Limits})
	if err != nil {
		return nil, err
	}
	return &recovery.Recovery{App: self, Installation: v.installations.client, Wanted: handler.Wanted, Inbox: inbox{v.store}, Log: v.log,
		Interval: 2 * v.settings.Recover, Marks: recovery.Table{DB: v.store.Database()}, Ledger: v.contexts.recorded}, nil
}

// recover does the work of a recoverAll. It ends with the first signal to stop:
// where it was, the next one goes on.
func (w *worker) recover(ctx context.Context, _ *river.Job[recoverAll]) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(w.serving, cancel)()
	f, err := w.rec.Run(ctx)
	w.metrics.looked(f, err)
	if err != nil && w.serving.Err() == nil {
		_, _, kind := advice(err)
		w.metrics.errors.WithLabelValues(kind).Inc()
		w.log.Warn("not all could be looked at for what was missed; the next look tries again", "err", err, "kind", kind)
	}
	return nil
}

// inbox takes in what was found.
type inbox struct{ *queue.Store }

var _ recovery.Inbox = inbox{}

// Accept implements recovery.Inbox.
func (b inbox) Accept(ctx context.Context, event, id string, payload []byte) (fresh bool, err error) {
	d := decode(queue.Delivery{ID: id, Event: event, ReceivedAt: time.Now().UTC(), Payload: payload})
	return b.Store.Accept(ctx, d.Delivery)
}

// recorded returns the ledger of a repository of which GitHub said just now that
// the App is installed in it, nil where the Action acts. One in which nothing has
// happened yet stays unknown, so that nothing else is done about it.
func (f *contexts) recorded(ctx context.Context, x recovery.Repository) (ledger.Ledger, error) {
	name := x.Repo.String()
	r, known, err := f.store.Repository(ctx, x.ID)
	switch {
	case err != nil:
		return nil, err
	case !known:
		// Its name may have been another's, whose streams are not its own.
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
