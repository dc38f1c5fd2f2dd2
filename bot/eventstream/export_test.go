package eventstream

import "time"

// Doze lets a Feed rely on what the database tells.
func (f *Feed) Doze() { f.doze = time.Hour }

// Keep lets a Hub hold fewer events.
func (h *Hub) Keep(n int) { h.keep = n }
