package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/ledger/sqlledger"
)

// ledgerHelp says what --ledger takes.
const ledgerHelp = "the ledger: a directory, a file ending in .jsonl, sqlite:FILE, or postgres://…"

// openLedger opens the ledger that a command line names, and creates it if there is none. It is closed
// when the command ends.
func openLedger(ctx context.Context, where string) (ledger.Ledger, error) {
	return openNamed(ctx, where, true)
}

// openExisting opens a ledger that has to exist: a typing error in its path must not look like an empty
// history.
func openExisting(ctx context.Context, where string) (ledger.Ledger, error) {
	if !sqlledger.Names(where) {
		if _, err := os.Stat(where); errors.Is(err, fs.ErrNotExist) {
			return nil, failed(fmt.Errorf("there is no ledger at %s; name it with --ledger", where))
		} else if err != nil {
			return nil, failed(fmt.Errorf("the ledger: %w; name it with --ledger", err))
		}
	}
	return openNamed(ctx, where, false)
}

func openNamed(ctx context.Context, where string, create bool) (ledger.Ledger, error) {
	if !sqlledger.Names(where) {
		led, err := ledger.OpenPath(where)
		if err != nil {
			return nil, failed(err)
		}
		return led, nil
	}
	led, err := sqlledger.Open(ctx, where, create)
	if err != nil {
		return nil, failed(fmt.Errorf("the ledger: %w", err))
	}
	if o, ok := ctx.Value(openedKey{}).(*opened); ok {
		o.all = append(o.all, led)
	}
	return led, nil
}

// named is the name of a ledger without a password.
func named(where string) string {
	if u, err := url.Parse(where); err == nil && sqlledger.Names(where) {
		return u.Redacted()
	}
	return where
}

// opened are the ledgers to close when a command ends.
type opened struct{ all []io.Closer }

type openedKey struct{}

// closing returns a context in which openLedger notes what it opens.
func closing(ctx context.Context) (context.Context, *opened) {
	o := new(opened)
	return context.WithValue(ctx, openedKey{}, o), o
}

func (o *opened) close() error {
	var errs []error
	for _, c := range o.all {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// configHelp says what --config takes where the repository's configuration is the default.
const configHelp = "the configuration file; default: " + config.Path + ", if there is one"
