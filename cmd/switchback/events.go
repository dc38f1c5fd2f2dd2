package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/ledger/sqlledger"
	"github.com/switchback-ci/switchback/routing/activity"
)

// eventsFlags select events.
type eventsFlags struct {
	ledger, output, session string
	repos                   []string
	after                   int64
	follow                  bool
}

func eventsCommand(s streams) *cobra.Command {
	var o eventsFlags
	c := &cobra.Command{
		Use:   "events [--follow] [--after ID] [--ledger PATH]",
		Short: "Print every change of state in a ledger, and follow new ones",
		Long: `Print every change of state in a ledger, in order and one per line, as the App publishes them at
/events. docs/events.md lists their types and fields.

For the database of an App these are the App's own events with the same ids, as far back as it keeps
them. For another ledger they are derived from the ledger: the same ledger gives the same ids, but
ids may change when it grows.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := oneOf("-o", o.output, "text", "json"); err != nil {
				return err
			}
			if o.after < 0 {
				return usage("--after is %d; it must be the id of an event, or 0 for all", o.after)
			}
			return events(c.Context(), s, o)
		},
	}
	c.Flags().StringVar(&o.ledger, "ledger", ".switchback/ledger", ledgerHelp)
	c.Flags().StringVarP(&o.output, "output", "o", "json", "json or text")
	c.Flags().StringArrayVar(&o.repos, "repo", nil, "only events of this repository, owner/name as in the ledger; may be repeated")
	c.Flags().StringVar(&o.session, "session", "", "only events of this session and those below it: a case, a build, or one of its ports")
	c.Flags().Int64Var(&o.after, "after", 0, "only events after the one with this id")
	c.Flags().BoolVarP(&o.follow, "follow", "f", false, "print new events until interrupted")
	return c
}

// events prints events.
func events(ctx context.Context, s streams, o eventsFlags) (err error) {
	w, err := openEvents(ctx, s, o.ledger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.done()) }()
	last, err := w.events.Log.Last(ctx)
	if err != nil {
		return failed(err)
	}
	if o.follow {
		defer w.follow(ctx, followEvery)()
	}
	if !o.follow && o.after >= last {
		return nil
	}
	for e, err := range w.events.Log.Follow(ctx, o.after) {
		if err != nil {
			return failed(err)
		}
		if o.wants(e) {
			if err := o.print(s.out, e); err != nil {
				return failed(err)
			}
		}
		if !o.follow && e.ID >= last {
			return nil
		}
	}
	return nil // interrupted
}

func (o eventsFlags) wants(e activity.Event) bool {
	return (len(o.repos) == 0 || slices.Contains(o.repos, e.Repo)) && (o.session == "" || e.Of(o.session))
}

func (o eventsFlags) print(w io.Writer, e activity.Event) error {
	if o.output == "text" {
		_, err := fmt.Fprintf(w, "%d  %s  %-20s %s  %s\n", e.ID, e.At.Format(time.RFC3339), e.Type, e.Session, e.Data)
		return err
	}
	data, err := json.Marshal(e)
	if err == nil {
		_, err = w.Write(append(data, '\n'))
	}
	return err
}

// followEvery is the interval at which a ledger that sends no notifications is read again.
const followEvery = 300 * time.Millisecond

// watched is a ledger with its event stream.
type watched struct {
	led    ledger.Ledger
	events *eventstream.Store
	mirror *eventstream.Mirror // adds what the ledger gets to the stream; nil where the App does
	done   func() error
}

// openEvents opens the event stream of a ledger: the one that an App keeps in the same database, or one
// derived from the ledger in a temporary database.
func openEvents(ctx context.Context, s streams, where string) (w watched, err error) {
	led, err := openExisting(ctx, where)
	if err != nil {
		return w, err
	}
	w, err = eventsOf(ctx, s, led)
	if err == nil && w.mirror != nil {
		_, err = w.mirror.Look(ctx)
		if err != nil {
			err = failed(errors.Join(err, w.done()))
		}
	}
	return w, err
}

// eventsOf is openEvents of a ledger that is open. What the ledger has is not in the stream yet.
func eventsOf(ctx context.Context, s streams, led ledger.Ledger) (w watched, err error) {
	w.led = led
	if l, ok := w.led.(*sqlledger.Ledger); ok {
		if w.events, err = eventstream.Beside(ctx, l.Database()); err != nil {
			return w, failed(err)
		}
		if w.events != nil {
			w.done = func() error { return nil }
			return w, nil
		}
	}
	dir, err := os.MkdirTemp("", "switchback-events-")
	if err != nil {
		return w, failed(err)
	}
	db, err := database.OpenFile(ctx, filepath.Join(dir, "events.db"), true)
	if err != nil {
		return w, failed(errors.Join(err, os.RemoveAll(dir)))
	}
	w.done = func() error { return errors.Join(db.Close(), os.RemoveAll(dir)) }
	err = db.Migrate(ctx, nil, sqlledger.Line(), eventstream.Line())
	if err == nil {
		w.events = eventstream.New(db)
		w.mirror = eventstream.NewMirror(w.events.Projector, w.led, "", slog.New(slog.NewTextHandler(s.err, nil)))
	}
	if err != nil {
		return w, failed(errors.Join(err, w.done()))
	}
	return w, nil
}

// follow adds what the ledger gets to the stream, at an interval, until stop is called.
func (w watched) follow(ctx context.Context, every time.Duration) (stop func()) {
	if w.mirror == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { defer close(ended); w.mirror.Run(ctx, every) }()
	return func() { cancel(); <-ended }
}
