package feed

// Keep lets a Hub hold fewer events.
func (h *Hub) Keep(n int) { h.keep = n }
