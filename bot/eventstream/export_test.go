package eventstream

import (
	"context"
	"log/slog"
	"time"
)

// TrustNotifications makes a Store rely on the database's notifications instead of polling.
func (s *Store) TrustNotifications() { s.Log.poll, s.Tail.poll = time.Hour, time.Hour }

// Keep lets a Broadcaster hold fewer events.
func (b *Broadcaster) Keep(n int) { b.capacity = n }

// CatchUp projects all that the ledger holds.
func (t *Tail) CatchUp(ctx context.Context, log *slog.Logger) error {
	for {
		n, err := t.batch(ctx, log)
		if err != nil || n == 0 {
			return err
		}
	}
}
