package eventstream

import "time"

// TrustNotifications makes a Store rely on the database's notifications instead of polling.
func (s *Store) TrustNotifications() { s.Log.poll, s.Tail.poll = time.Hour, time.Hour }

// Keep lets a Broadcaster hold fewer events.
func (b *Broadcaster) Keep(n int) { b.capacity = n }
