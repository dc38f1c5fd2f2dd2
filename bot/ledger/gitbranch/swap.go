package gitbranch

import (
	"bytes"
	"context"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/switchback-ci/switchback/bot/ledger"
)

// swapTries bounds how often an append is put when others move the branch.
const swapTries = 20

// backoff returns how long to wait before the n-th repetition: a random share of 100 ms, doubled
// each time up to about six seconds.
func backoff(n int) time.Duration {
	return rand.N(100 * time.Millisecond << min(n-1, 6))
}

// swap replaces a file that is at old by now, which begins with old, or returns
// ledger.ErrConflict if it is at something else.
//
// GitHub answers 409 alike when this file is at another blob and when a commit
// to another file moved the branch meanwhile; and after a server's error or a
// lost connection it is unknown what happened. So the file is read again: it
// holds what we put, or is as it was, or is another's.
func (g *Git) swap(ctx context.Context, file string, old, now content, message string) error {
	var err error
	for try := range swapTries {
		if try > 0 {
			if err := g.pause(ctx, backoff(try)); err != nil {
				return err
			}
		}
		err = g.github.PutFile(ctx, g.repo, g.branch, file, string(old.version), now.data, message)
		why := causeOf(err)
		switch {
		case err == nil:
			return nil
		case why == final:
			return err
		case why == missing && old.version == "" && try < 3:
			if err := g.github.CreateOrphan(ctx, g.repo, g.branch, "README.md", readme, "Begin Switchback's ledger\n\n[skip ci]\n"); err != nil {
				return err
			}
			continue
		}
		done, look := g.look(ctx, file, old, now)
		if done || look != nil {
			return look
		}
		if why == missing || statusOf(err) == http.StatusUnprocessableEntity || forbidden(err) {
			return err // not for anything another did
		}
	}
	return err
}

// look reads the file again and reports whether it holds what was put. Others
// may have appended to that.
func (g *Git) look(ctx context.Context, file string, old, now content) (done bool, err error) {
	found, err := g.get(ctx, file)
	switch {
	case err != nil:
		return false, err
	case bytes.HasPrefix(found.data, now.data):
		return true, nil
	case found.version != old.version:
		return false, ledger.ErrConflict
	}
	return false, nil
}

// readme is the only file of the first commit of the branch, which has no parents, so that it
// shares nothing with the code.
const readme = `# Switchback's ledger

This branch is the memory of Switchback: one file below ` + "`cases/`" + ` for each pull
request, branch or port it follows, one line for each thing that happened. The
program only ever adds lines; what it will do next follows from them.

Do not merge this branch, and do not edit it by hand. A case whose file is
deleted begins again from nothing.
`
