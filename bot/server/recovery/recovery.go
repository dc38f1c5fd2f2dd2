// Package recovery finds events that the App missed: it asks GitHub to redeliver failed deliveries,
// and searches repositories for completed runs and commands that no delivery announced. Each
// becomes a delivery with an id that is the same however often it is found.
package recovery

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
)

// Inbox stores deliveries.
type Inbox interface {
	// Stored returns which deliveries of these ids are stored.
	Stored(ctx context.Context, ids []string) (map[string]bool, error)
	// Accept stores a delivery as if GitHub had sent it. fresh is false if one of this id was
	// stored before.
	Accept(ctx context.Context, event, id string, payload []byte) (fresh bool, err error)
}

// Marks stores by name up to which time a search is complete. A mark that was never set is "".
type Marks interface {
	Mark(ctx context.Context, name string) (string, error)
	SetMark(ctx context.Context, name, value string) error
}

// Repository is one repository of an installation.
type Repository struct {
	Installation int64
	github.InstalledRepo
}

// The limits of one search. The next search continues behind them.
const (
	// DefaultInterval is the least time between two requests for the same delivery.
	DefaultInterval = 10 * time.Minute
	// kept is how long GitHub can redeliver a webhook.
	kept = 3 * 24 * time.Hour
	// overlap is searched twice, because GitHub does not list deliveries in the order of their
	// creation.
	overlap = 5 * time.Minute
	// grace is how long a webhook may take to arrive.
	grace = 3 * time.Minute
	// reach is how long before the mark a run may have begun that completed after it.
	reach = 24 * time.Hour

	mostPages     = 50  // of deliveries
	mostAsked     = 100 // redeliveries
	mostRepos     = 200 // scanned
	mostRefused   = 3   // repositories of an installation that GitHub refuses for now
	mostRunPages  = 10  // of one repository
	mostNotePages = 10  // of its comments
)

// Options configure a Recovery.
type Options struct {
	App          *github.Client                         // authenticates as the App itself
	Installation func(id int64) (*github.Client, error) // returns the client of an installation
	Wanted       func(event, action string) bool        // reports whether a handler takes an event
	Inbox        Inbox
	Marks        Marks
	// Ledger returns the ledger of a repository, nil if the App does not act there.
	Ledger   func(ctx context.Context, r Repository) (ledger.Ledger, error)
	Interval time.Duration    // between two requests for the same delivery; 0: DefaultInterval
	Grace    time.Duration    // how long a webhook may take to arrive; 0: three minutes, negative: none
	Now      func() time.Time // nil: time.Now
	Log      *slog.Logger     // nil: none
}

// Recovery searches for missed events. It is used by one goroutine. Processes that use the same
// marks at once send needless requests, but record nothing twice.
type Recovery struct {
	log        *slog.Logger
	deliveries *redelivery
	scan       *scanner
}

// New returns a Recovery.
func New(o Options) *Recovery {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Interval = cmp.Or(o.Interval, DefaultInterval)
	o.Grace = max(0, cmp.Or(o.Grace, grace))
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	marks := times{o.Marks}
	return &Recovery{
		log: o.Log,
		deliveries: &redelivery{app: o.App, wanted: o.Wanted, inbox: o.Inbox, marks: marks, interval: o.Interval, now: o.Now, log: o.Log,
			asked: map[string]time.Time{}},
		scan: &scanner{app: o.App, installation: o.Installation, ledger: o.Ledger, inbox: o.Inbox, marks: marks, grace: o.Grace, now: o.Now, log: o.Log},
	}
}

// Found counts what one search found.
type Found struct {
	Asked    int // redeliveries that GitHub was asked for
	Runs     int // completed runs
	Commands int // comments with commands
}

// Run searches once: first for failed deliveries that GitHub can still send, then for events that
// have no delivery. The error tells what could not be searched; the next Run searches it again, and
// the error's advice says when that makes sense.
func (r *Recovery) Run(ctx context.Context) (Found, error) {
	f, err := r.Deliveries(ctx)
	if stop(err) {
		return f, err
	}
	g, serr := r.Scan(ctx)
	f.Runs, f.Commands = g.Runs, g.Commands
	if f != (Found{}) {
		r.log.Info("recovered", "asked", f.Asked, "runs", f.Runs, "commands", f.Commands)
	}
	return f, errors.Join(err, serr)
}

// Deliveries asks GitHub to redeliver the App's wanted deliveries that no server has answered with
// success and that are not stored, the oldest first. It searches back to the last time that nothing
// was missing, or as far as GitHub keeps deliveries. The interval between two requests for one
// delivery grows with each failed attempt.
func (r *Recovery) Deliveries(ctx context.Context) (Found, error) { return r.deliveries.run(ctx) }

// Scan searches the repositories of all installations for runs that completed and commands that
// were given since the last scan and that no delivery announced. The first scan of a repository
// finds nothing, because earlier events are not the App's. A repository in which nothing happened
// takes two requests, which are free for a Client with a cache. An error in one repository does not
// prevent the scan of others; an installation that rejects requests is left for the next scan.
func (r *Recovery) Scan(ctx context.Context) (Found, error) { return r.scan.run(ctx) }

// stop reports whether no further request makes sense now.
func stop(err error) bool {
	return advice.Of(err).Kind == advice.Later
}
