package eventstream

import "time"

// Doze lets a Feed rely on what the database tells.
func (f *Feed) Doze() { f.doze = time.Hour }

// Keep lets a Broadcaster hold fewer events.
func (b *Broadcaster) Keep(n int) { b.capacity = n }
