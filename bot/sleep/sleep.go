// Package sleep waits without outliving what it waits for.
package sleep

import (
	"context"
	"time"
)

// For waits for d, or returns the error of ctx as soon as that is done. A d of zero or less does
// not wait, but still reports a ctx that is done.
func For(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
