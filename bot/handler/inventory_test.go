package handler

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/history"
)

// The inventories of the newest runs and of the current streak are kept beside the ledger, and no
// others.
func TestInventoriesAreForgotten(t *testing.T) {
	t.Parallel()
	ctx, key := t.Context(), "acme/app@main"
	d := Deps{Ledger: &ledger.Memory{}, Log: slog.New(slog.DiscardHandler)}
	c := routing.Case{Key: key}
	for i := range 2 * routing.KeptInventories {
		inv := history.New([]history.Test{{ID: history.TestID("ci", "", "t"), Status: history.Failed, Fingerprint: history.FingerprintOf("f")}, {ID: history.ID(i)}}, false)
		v := routing.Verdict{Checkpoint: "ci", Run: routing.Run{ID: fmt.Sprint(i + 1), SHA: fmt.Sprint("sha", i)}, Result: routing.Pass}
		var err error
		if v.Whole, err = keepInventory(ctx, d, key, inv.Pack()); err != nil || v.Whole == "" {
			t.Fatalf("%q: %v", v.Whole, err)
		}
		d := routing.Decide(c, v, routing.DefaultPolicy(), v.At)
		if c, err = c.Apply(routing.RunEvent(key, v, d, v.At)); err != nil {
			t.Fatal(err)
		}
	}
	needed := map[string]map[string]bool{ledger.BlobFolder(key): routing.KeptBlobs(c)}
	if err := ledger.ForgetBlobs(ctx, d.Ledger, needed, mostForgotten); err != nil {
		t.Fatal(err)
	}
	all, err := ledger.BlobsOf(d.Ledger).List(ctx)
	if n := len(all[ledger.BlobFolder(key)]); err != nil || n != routing.KeptInventories {
		t.Errorf("%d inventories are left, %v", n, err)
	}

	mine := routing.Verdict{Checkpoint: "ci", Result: routing.Fail, Failures: []routing.Failure{{Name: "t", Fingerprint: "f"}}}
	if mine.FailsSometimes(c) {
		t.Fatal("the events have what only the blobs have")
	}
	if c, err = withInventories(ctx, d, c, "ci"); err != nil || !mine.FailsSometimes(c) {
		t.Errorf("the blobs are not read: %v", err)
	}
}
