package ratelimit

import (
	"slices"
	"time"
)

const (
	// TurnLease is how long a process that fell silent keeps the turn to write.
	// While its request is under way it prolongs it.
	TurnLease = 5 * time.Second
	// seatLease is how long it keeps its part of what may be under way: longer
	// than a request may be.
	seatLease = 2 * time.Minute
	// occupied is when to ask again for what another process has.
	occupied = 100 * time.Millisecond
	// grain is how many parts the span of a rate of points is remembered in, and
	// portions in how many it is handed out, each for one part of lives.
	grain, portions, lives = 240, 15, 60
	// shares is how many processes find room at once for what may be under way,
	// without one that has more having to give some back.
	shares = 4
	// ahead bounds for how long those that are put off are told apart.
	ahead = time.Hour
)

// State is what was sent, and who may send. Times are microseconds of the
// keeper's clock, the same for all who share the State. The zero State is that
// of an installation for which nothing was sent yet.
type State struct {
	Content []int64          `json:"content,omitempty"` // when requests that create content had been answered, ascending
	Points  []Spent          `json:"points,omitempty"`  // ascending
	Last    int64            `json:"last,omitempty"`    // when the last write began
	Turn    *Turn            `json:"turn,omitempty"`
	Shares  map[string]Share `json:"shares,omitempty"` // by holder
	Blocked int64            `json:"blocked,omitempty"`
	Queue   int64            `json:"queue,omitempty"` // when the last one comes back that was put off
}

// Spent is points that had been spent by a time.
type Spent struct {
	At int64 `json:"at"`
	N  int   `json:"n"`
}

// Turn is who writes.
type Turn struct {
	Holder  string `json:"holder"`
	Until   int64  `json:"until"` // the end of the lease
	Content bool   `json:"content,omitempty"`
}

// Share is what a process may use without asking.
type Share struct {
	Points int   `json:"points,omitempty"` // to be spent
	Until  int64 `json:"until,omitempty"`  // by then
	Seats  int   `json:"seats,omitempty"`  // requests under way
	Lease  int64 `json:"lease,omitempty"`  // the end of the seats
}

// Ask is what a process says of itself when it asks.
type Ask struct {
	Holder  string // names it among all who share the State
	Spent   int    // of the points it was given last
	InUse   int    // its requests that are under way, for Write with that one
	Want    int    // points, for Read
	Content bool   // for Write: the request creates content
}

// Leave is what a process may do: nothing, if it is to wait.
type Leave struct {
	Wait   time.Duration // at least, before it asks again
	Points int           // it may spend
	Life   time.Duration // of the points, counted from before it asked
	Seats  int           // requests it may have under way
}

// Read gives the holder points to read with.
func (s *State) Read(now time.Time, l Limits, a Ask) Leave {
	t := now.UnixMicro()
	s.settle(t, l)
	s.close(t, l, a)
	free, wait := s.points(t, l, Point)
	seats := s.seats(t, l, a)
	if seats == 0 {
		wait = max(wait, occupied)
	}
	if wait = max(wait, span(s.Blocked-t)); wait > 0 {
		return Leave{Wait: wait, Seats: seats}
	}
	out := Leave{Points: max(1, min(a.Want, l.Points.N/portions, free)), Life: l.Points.Per / lives, Seats: seats}
	sh := s.Shares[a.Holder]
	sh.Points, sh.Until = out.Points, t+out.Life.Microseconds()
	s.Shares[a.Holder] = sh
	return out
}

// Write gives the holder the turn to write, until Done or the end of its lease.
func (s *State) Write(now time.Time, l Limits, a Ask) Leave {
	t := now.UnixMicro()
	s.settle(t, l)
	if s.Turn != nil && s.Turn.Holder == a.Holder {
		s.end(t, l) // it was killed over it, and is back under its name
	}
	wait := s.due(t, l, a.Content)
	seats := s.seats(t, l, a)
	if s.Turn != nil || seats < a.InUse {
		wait = max(wait, occupied)
	}
	if wait == 0 {
		s.Turn, s.Last = &Turn{a.Holder, t + TurnLease.Microseconds(), a.Content}, t
	}
	return Leave{Wait: wait, Seats: seats}
}

// Renew prolongs the holder's turn.
func (s *State) Renew(now time.Time, holder string) {
	if s.Turn != nil && s.Turn.Holder == holder {
		s.Turn.Until = now.UnixMicro() + TurnLease.Microseconds()
	}
}

// Done ends the holder's turn: its request was answered.
func (s *State) Done(now time.Time, l Limits, holder string) {
	t := now.UnixMicro()
	s.settle(t, l)
	if s.Turn != nil && s.Turn.Holder == holder {
		s.end(t, l)
	}
}

// Block holds all requests back for d: GitHub wants to be left alone.
func (s *State) Block(now time.Time, d time.Duration) {
	s.Blocked = max(s.Blocked, now.Add(d).UnixMicro())
}

// Due returns how long a request that creates content has to wait, whoever has
// the turn.
func (s *State) Due(now time.Time, l Limits) time.Duration {
	s.settle(now.UnixMicro(), l)
	return s.due(now.UnixMicro(), l, true)
}

// PutOff returns when to come back to one who does not want to wait as long as
// it would have to: one after the other, as fast as the limits let them through
// then, so that they do not all come at once.
func (s *State) PutOff(now time.Time, l Limits, wait time.Duration) time.Duration {
	t := now.UnixMicro()
	step, first := l.Short.every(), t+wait.Microseconds()
	if len(s.Content) >= l.Long.N {
		step = l.Long.every()
	}
	if s.Queue < first || s.Queue > first+ahead.Microseconds() {
		s.Queue = first
	}
	out := span(s.Queue - t)
	s.Queue += max(step, l.Interval).Microseconds()
	return out
}

// due returns how long a write has to wait for the limits.
func (s *State) due(t int64, l Limits, content bool) time.Duration {
	_, wait := s.points(t, l, WritePoints)
	at := max(s.Blocked, s.Last+l.Interval.Microseconds())
	if content {
		sent := s.Content
		if s.Turn != nil && s.Turn.Content {
			sent = append(slices.Clip(sent), t) // it may be sent until the very end of its turn
		}
		for _, r := range []Rate{l.Short, l.Long} {
			if n := len(sent) - r.N; n >= 0 {
				at = max(at, sent[n]+r.Per.Microseconds())
			}
		}
	}
	return max(wait, span(at-t))
}

// points returns how many are left, and how long to wait until there are need.
func (s *State) points(t int64, l Limits, need int) (free int, wait time.Duration) {
	free = l.Points.N
	for _, p := range s.Points {
		free -= p.N
	}
	until := t
	for _, sh := range s.Shares {
		free -= sh.Points
		until = max(until, sh.Until)
	}
	if s.Turn != nil {
		free -= WritePoints
	}
	if free >= need {
		return free, 0
	}
	gain := free
	for _, p := range s.Points {
		if gain += p.N; gain >= need {
			return free, max(occupied, span(p.At+l.remembered()-t))
		}
	}
	return free, max(occupied, span(until-t)) // what others have not spent comes back then
}

// remembered is how long points count: a little longer than they do at GitHub,
// as those of a request that was just sent arrive later.
func (l Limits) remembered() int64 { return (l.Points.Per + l.Points.Per/lives).Microseconds() }

// seats gives the holder its part of what may be under way, not less than it
// uses if there is room, and returns it. All parts together are at most AtOnce.
func (s *State) seats(t int64, l Limits, a Ask) int {
	free, others := l.AtOnce, 0
	for name, sh := range s.Shares {
		if name != a.Holder && sh.Seats > 0 {
			free, others = free-sh.Seats, others+1
		}
	}
	part := l.AtOnce
	if others > 0 || a.Holder != Alone {
		// Half of what is free stays so: those that were killed hold theirs until
		// their lease ends, and who comes in their place is not to wait for that.
		part = max(1, min(l.AtOnce/max(shares, others+1), free/2))
	}
	sh := s.Shares[a.Holder]
	sh.Seats = max(0, min(max(part, min(a.InUse, sh.Seats)), free))
	sh.Lease = t + seatLease.Microseconds()
	if s.Shares == nil {
		s.Shares = map[string]Share{}
	}
	s.Shares[a.Holder] = sh
	return sh.Seats
}

// close takes what the holder has spent of the points it was given for spent
// now; what is left over is free again.
func (s *State) close(t int64, l Limits, a Ask) {
	sh, ok := s.Shares[a.Holder]
	if !ok {
		return
	}
	s.spend(t, l, min(a.Spent, sh.Points))
	sh.Points, sh.Until = 0, 0
	s.Shares[a.Holder] = sh
}

// end ends the turn at t.
func (s *State) end(t int64, l Limits) {
	if s.Turn.Content {
		s.Content = append(s.Content, t)
	}
	s.spend(t, l, WritePoints)
	s.Turn = nil
}

// spend remembers points, with those of just before as one.
func (s *State) spend(t int64, l Limits, n int) {
	if n == 0 {
		return
	}
	if last := len(s.Points) - 1; last > 0 && s.Points[last-1].At > t-2*(l.Points.Per/grain).Microseconds() {
		s.Points[last] = Spent{t, s.Points[last].N + n}
		return
	}
	s.Points = append(s.Points, Spent{t, n})
}

// settle forgets what is over by t. What a process left that fell silent counts
// as sent. A time that has not come yet is of a clock that was put back.
func (s *State) settle(t int64, l Limits) {
	for i := range s.Content {
		s.Content[i] = min(s.Content[i], t)
	}
	for i := range s.Points {
		s.Points[i].At = min(s.Points[i].At, t)
	}
	s.Last = min(s.Last, t)
	if s.Turn != nil {
		if s.Turn.Until = min(s.Turn.Until, t+TurnLease.Microseconds()); s.Turn.Until <= t {
			s.end(t, l)
		}
	}
	for name, sh := range s.Shares {
		sh.Until = min(sh.Until, t+(l.Points.Per/lives).Microseconds())
		sh.Lease = min(sh.Lease, t+seatLease.Microseconds())
		if sh.Points > 0 && sh.Until+l.remembered() <= t {
			sh.Points = 0
		}
		if s.Shares[name] = sh; sh.Lease <= t && sh.Points == 0 {
			delete(s.Shares, name)
		} else if sh.Lease <= t {
			sh.Seats = 0
			s.Shares[name] = sh
		}
	}
	old := max(l.Short.Per, l.Long.Per).Microseconds()
	s.Content = slices.DeleteFunc(s.Content, func(at int64) bool { return at+old <= t })
	s.Points = slices.DeleteFunc(s.Points, func(p Spent) bool { return p.At+l.remembered() <= t })
}

func span(us int64) time.Duration { return max(0, time.Duration(us)*time.Microsecond) }
