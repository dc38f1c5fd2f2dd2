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
	"github.com/switchback-ci/switchback/bot/feed"
	"github.com/switchback-ci/switchback/bot/ledger/sqlledger"
	"github.com/switchback-ci/switchback/routing/live"
)

// eventsFlags are what is wanted of the events.
type eventsFlags struct {
	ledger, output, session string
	repos                   []string
	after                   int64
	follow                  bool
}

func eventsCommand(s streams) *cobra.Command {
	var o eventsFlags
	c := &cobra.Command{
		Use:   "events [--follow] [--after ID] [--repo OWNER/NAME] [--session ID] [--ledger PATH]",
		Short: "Print what a ledger's events changed, and what changes from now on",
		Long: `Print every change of state in a ledger, one a line, in order: the same that the App
tells at /events. See docs/events.md for their names and fields.

Of an App's database the events are those that the App tells, with the same ids, as far
back as it keeps them. Of another ledger they are made anew, in the order in which they
happened: the same ledger gives the same ids, a ledger that has grown may not.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.output != "text" && o.output != "json" {
				return usage("-o is %q; it must be text or json", o.output)
			}
			if o.after < 0 {
				return usage("--after is %d; it must be the id of an event, or 0 for all", o.after)
			}
			return events(c.Context(), s, o)
		},
	}
	c.Flags().StringVar(&o.ledger, "ledger", ".switchback/ledger", ledgerHelp)
	c.Flags().StringVarP(&o.output, "output", "o", "json", "json or text")
	c.Flags().StringArrayVar(&o.repos, "repo", nil, "only of this repository, owner/name as the ledger names it; may be repeated")
	c.Flags().StringVar(&o.session, "session", "", "only of this session and those below it: a case, a build, or one of its ports")
	c.Flags().Int64Var(&o.after, "after", 0, "only what is behind the event of this id")
	c.Flags().BoolVarP(&o.follow, "follow", "f", false, "go on with what comes, until interrupted")
	return c
}

// events prints events.
func events(ctx context.Context, s streams, o eventsFlags) (err error) {
	f, mirror, done, err := openFeed(ctx, s, o.ledger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	last, err := f.Last(ctx)
	if err != nil {
		return failed(err)
	}
	if o.follow && mirror != nil {
		following, stop := context.WithCancel(ctx)
		ended := make(chan struct{})
		go func() { defer close(ended); mirror.Run(following, followEvery) }()
		defer func() { stop(); <-ended }()
	}
	if !o.follow && o.after >= last {
		return nil
	}
	for e, err := range f.Follow(ctx, o.after) {
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

func (o eventsFlags) wants(e live.Event) bool {
	return (len(o.repos) == 0 || slices.Contains(o.repos, e.Repo)) && (o.session == "" || e.Of(o.session))
}

func (o eventsFlags) print(w io.Writer, e live.Event) error {
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

// followEvery is between two looks at a ledger that tells of nothing.
const followEvery = 300 * time.Millisecond

// openFeed opens the feed of a ledger: the one that an App keeps beside it, or one made
// from it in a place of its own, which mirror keeps up with it. Done ends it.
func openFeed(ctx context.Context, s streams, where string) (f *feed.Feed, mirror *feed.Mirror, done func() error, err error) {
	led, err := openExisting(ctx, where)
	if err != nil {
		return nil, nil, nil, err
	}
	if l, ok := led.(*sqlledger.Ledger); ok {
		kept, err := feed.Beside(ctx, l.Database())
		if err != nil {
			return nil, nil, nil, failed(err)
		}
		if kept != nil {
			return kept, nil, func() error { return nil }, nil
		}
	}
	dir, err := os.MkdirTemp("", "switchback-events-")
	if err != nil {
		return nil, nil, nil, failed(err)
	}
	db, err := database.OpenFile(ctx, filepath.Join(dir, "feed.db"), true)
	if err != nil {
		return nil, nil, nil, failed(errors.Join(err, os.RemoveAll(dir)))
	}
	done = func() error { return errors.Join(db.Close(), os.RemoveAll(dir)) }
	err = db.Migrate(ctx, nil, sqlledger.Line(), feed.Line())
	if err == nil {
		f = feed.New(db)
		mirror = feed.NewMirror(f, led, "", slog.New(slog.NewTextHandler(s.err, nil)))
		_, err = mirror.Look(ctx)
	}
	if err != nil {
		return nil, nil, nil, failed(errors.Join(err, done()))
	}
	return f, mirror, done, nil
}
