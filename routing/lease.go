package routing

import "time"

// Lease is the right of one process to apply effects for a while: until it ends, the other
// processes leave the work to its owner. It ends by the clock, so that a process that was killed
// holds up nobody for longer. A nil Lease is held by nobody.
type Lease struct {
	Owner string    `json:"owner"`
	Until time.Time `json:"until"`
}

// Held reports whether anybody holds the lease at a time.
func (l *Lease) Held(now time.Time) bool { return l != nil && now.Before(l.Until) }

// HeldBy reports whether owner holds the lease at a time.
func (l *Lease) HeldBy(owner string, now time.Time) bool { return l.Held(now) && l.Owner == owner }

// HeldByOther reports whether a process other than owner holds the lease at a time.
func (l *Lease) HeldByOther(owner string, now time.Time) bool {
	return l.Held(now) && l.Owner != owner
}
