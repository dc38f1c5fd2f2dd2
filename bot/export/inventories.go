package export

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/activity"
	"github.com/switchback-ci/switchback/routing/history"
)

// inventories makes the rows of the tests of a case's runs, as far as they are kept.
func inventories(ctx context.Context, rows map[string][]row, blobs ledger.Blobs, c routing.Case) error {
	seen := map[string]bool{"": true} // blobs of names
	for _, name := range c.Names() {
		runs := c.Checkpoints[name].Runs
		for _, key := range slices.Sorted(maps.Keys(runs)) {
			for _, part := range slices.Sorted(maps.Keys(runs[key].Parts)) {
				v := runs[key].Parts[part]
				if !seen[v.Names] {
					seen[v.Names] = true
					if err := names(ctx, rows, blobs, c.Key, v); err != nil {
						return err
					}
				}
				if err := inventory(ctx, rows, blobs, c.Key, v); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func inventory(ctx context.Context, rows map[string][]row, blobs ledger.Blobs, key string, v routing.Verdict) error {
	packed := v.Inventory
	if v.Whole != "" && blobs != nil {
		whole, err := blobs.Get(ctx, key, v.Whole)
		if err != nil {
			return fmt.Errorf("the inventory of run %s of %s: %w", v.Run.ID, key, err)
		}
		if whole != nil {
			packed = whole
		}
	}
	inv, err := history.Unpack(packed)
	if err != nil {
		return nil //nolint:nilerr // none is kept, or of none that this release can read
	}
	id := fmt.Sprintf("%s/%s/%s/%s", key, v.Checkpoint, v.Run.Key(), v.Run.Part)
	counts := map[history.Status]int{}
	for n, t := range inv.Tests {
		if counts[t.Status]++; t.Status == history.Passed {
			continue
		}
		var fingerprint any
		if t.Fingerprint != 0 {
			fingerprint = fmt.Sprintf("%016x", t.Fingerprint)
		}
		rows["unpassed_tests"] = append(rows["unpassed_tests"], row{
			"id": fmt.Sprintf("%s/%d", id, n+1), "inventory_id": id, "test": fmt.Sprintf("%016x", uint64(t.ID)), "status": t.Status.String(), "fingerprint": fingerprint,
		})
	}
	rows["inventories"] = append(rows["inventories"], row{
		"id": id, "session_id": key, "checkpoint": v.Checkpoint, "run_id": v.Run.ID, "attempt": max(v.Run.Attempt, 1), "part": null(v.Run.Part), "sha": null(v.Run.SHA),
		"passed": counts[history.Passed], "skipped": counts[history.Skipped], "flaky": counts[history.Flaky], "failed": counts[history.Failed],
		"complete": !inv.Partial, "at": stamp(v.At),
	})
	return nil
}

// names makes the rows of the tests whose names are kept with a run. Runs mostly have the same: what
// is there already is written again as it is.
func names(ctx context.Context, rows map[string][]row, blobs ledger.Blobs, key string, v routing.Verdict) error {
	if blobs == nil {
		return nil
	}
	data, err := blobs.Get(ctx, key, v.Names)
	if err != nil {
		return fmt.Errorf("the names of the tests of run %s of %s: %w", v.Run.ID, key, err)
	}
	named, err := history.UnpackNames(data)
	if err != nil {
		return nil //nolint:nilerr // none are kept, or none that this release can read
	}
	repo := activity.Repo(key)
	for _, t := range named.Tests {
		id := fmt.Sprintf("%s/%016x", repo, uint64(history.TestID(v.Checkpoint, t.Suite, t.Name)))
		rows["tests"] = append(rows["tests"], row{
			"id": id, "test": id[len(repo)+1:], "checkpoint": v.Checkpoint, "suite": null(t.Suite), "name": t.Name, "file": null(t.File), "owner": null(t.Owner),
		})
	}
	return nil
}
