package handler

import (
	"context"
	"slices"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/history"
)

// keepInventory keeps the tests of a run that are too many for its event, and returns the blob's name.
// Where the token may not write, or the ledger keeps no blobs, they are not kept.
func keepInventory(ctx context.Context, d Deps, key string, whole []byte) (string, error) {
	blobs := ledger.BlobsOf(d.Ledger)
	if blobs == nil || len(whole) == 0 {
		return "", nil
	}
	name, err := blobs.Put(ctx, key, whole)
	why, err := permanent(err)
	if why != nil {
		d.Log.Warn("the inventory of a run is not kept", "case", key, "err", why)
		return "", nil
	}
	return name, err
}

// mostBlobs is how many inventories are read to compare a run with its base.
const mostBlobs = 2

// withInventories returns a base with the inventories that its events do not hold, of the newest runs.
func withInventories(ctx context.Context, d Deps, c routing.Case, checkpoint string) (routing.Case, error) {
	blobs := ledger.BlobsOf(d.Ledger)
	read := 0
	for _, name := range routing.UnreadInventories(c, checkpoint) {
		if blobs == nil || read == mostBlobs {
			break
		}
		read++
		data, err := blobs.Get(ctx, c.Key, name)
		why, err := permanent(err)
		if err != nil {
			return c, err
		}
		if why != nil || data == nil {
			continue // what is lost excuses nothing
		}
		inv, err := history.Unpack(data)
		if err != nil {
			continue
		}
		c = routing.WithInventory(c, checkpoint, name, inv.Unpassed().Pack())
	}
	return c, nil
}

// mostForgotten is how many blobs that no run of a case needs any more one reconcile deletes. The blob
// of a run that is being recorded may be among them: its event then holds what did not pass.
const mostForgotten = 50

// hadBlobs reports whether a run of a stream had a blob.
func hadBlobs(events []routing.Event) bool {
	return slices.ContainsFunc(events, func(e routing.Event) bool {
		run, ok := e.Run()
		return ok && run.Verdict.Whole != ""
	})
}
