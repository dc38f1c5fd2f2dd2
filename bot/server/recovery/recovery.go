// Package recovery finds what the App was not told while it was away, or what
// was lost on its way: it asks GitHub for failed deliveries again, and looks
// itself for runs that ended and commands that were given since. What it finds
// so becomes a delivery like any other, under an id of its own that is the same
// however often it is found.
package recovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
)

// Inbox is where deliveries are kept.
type Inbox interface {
	// Stored returns which deliveries of these ids were taken in before.
	Stored(ctx context.Context, ids []string) (map[string]bool, error)
	// Accept takes a delivery in as if GitHub had sent it, and reports whether
	// none of its id was taken in before.
	Accept(ctx context.Context, event, id string, payload []byte) (fresh bool, err error)
}

// Marks keeps how far was looked, by name. One that was never set is "".
type Marks interface {
	Mark(ctx context.Context, name string) (string, error)
	SetMark(ctx context.Context, name, value string) error
}

// Repository is one repository of an installation.
type Repository struct {
	Installation int64
	github.InstalledRepo
}

// The bounds of one look. What is beyond is looked at the next time.
const (
	// DefaultInterval is between two requests for the same delivery, at least.
	DefaultInterval = 10 * time.Minute
	// kept is how long GitHub delivers a webhook again.
	kept = 3 * 24 * time.Hour
	// overlap is looked at twice: deliveries are not listed in the order in
	// which they were made.
	overlap = 5 * time.Minute
	// grace is how long a webhook may be on its way.
	grace = 3 * time.Minute
	// reach is how long before the mark a run may have begun that ended after it.
	reach = 24 * time.Hour

	mostPages     = 50  // of deliveries
	mostAsked     = 100 // deliveries asked for again
	mostRepos     = 200 // looked into
	mostRefused   = 3   // of an installation, in which GitHub can do nothing just now
	mostRunPages  = 10  // of one repository
	mostNotePages = 10  // of its comments
)

// Recovery looks for what was missed. Several processes may not use the same
// marks at once; it would cost requests, and change nothing.
type Recovery struct {
	App          *github.Client                         // speaks as the App itself
	Installation func(id int64) (*github.Client, error) // speaks as an installation
	Wanted       func(event, action string) bool        // whether anything is done about an event
	Inbox        Inbox
	Marks        Marks
	// Ledger returns what is recorded of a repository, and nil where the App
	// does nothing.
	Ledger   func(ctx context.Context, r Repository) (ledger.Ledger, error)
	Interval time.Duration // see DefaultInterval
	Grace    time.Duration // see grace; negative is none
	Now      func() time.Time
	Log      *slog.Logger

	asked map[string]time.Time // GUID → when it was asked for again
	walk  walk                 // through the deliveries
	turn  int                  // the repository to begin with
}

// walk is a walk through the list of deliveries, from the newest to the oldest.
type walk struct {
	cursor string    // where it goes on; "" at its beginning
	newest time.Time // delivery of the list
	lost   time.Time // the oldest delivery met that was not taken in
}

// Found is what one look found.
type Found struct {
	Asked    int // deliveries that GitHub was asked for again
	Runs     int // that ended
	Commands int // comments that hold some
}

// Run looks for everything once: first what GitHub still delivers, then what it
// does not. What could not be looked at is in the error and looked at the next
// time; the advice of its error says when that is.
func (r *Recovery) Run(ctx context.Context) (Found, error) {
	f, err := r.Deliveries(ctx)
	if stop(err) {
		return f, err
	}
	g, serr := r.Scan(ctx)
	f.Runs, f.Commands = g.Runs, g.Commands
	if f != (Found{}) {
		r.log().Info("recovered", "asked", f.Asked, "runs", f.Runs, "commands", f.Commands)
	}
	return f, errors.Join(err, serr)
}

// stop reports whether nothing else can be done just now.
func stop(err error) bool {
	return advice.Of(err).Kind == advice.Later
}

func (r *Recovery) now() time.Time {
	if r.Now != nil {
		return r.Now()
	}
	return time.Now()
}

func (r *Recovery) log() *slog.Logger { return cmp.Or(r.Log, slog.New(slog.DiscardHandler)) }

func (r *Recovery) grace() time.Duration { return max(0, cmp.Or(r.Grace, grace)) }

// mark returns a time that was kept, zero if there is none.
func (r *Recovery) mark(ctx context.Context, name string) (time.Time, error) {
	s, err := r.Marks.Mark(ctx, name)
	if err != nil || s == "" {
		return time.Time{}, err
	}
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("the mark %s is %q: %w", name, s, err)
	}
	return at, nil
}

func (r *Recovery) setMark(ctx context.Context, name string, old, at time.Time) error {
	if at.Equal(old) {
		return nil
	}
	return r.Marks.SetMark(ctx, name, at.UTC().Format(time.RFC3339Nano))
}
