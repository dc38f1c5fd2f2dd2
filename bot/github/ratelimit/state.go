package ratelimit

import (
	"slices"
	"time"
)

const (
	// WriteLeaseTTL is how long a process that stopped responding keeps the write lease. A process
	// renews it while its request is in progress.
	WriteLeaseTTL = 5 * time.Second
	// slotTTL is how long such a process keeps its slots: longer than a request takes.
	slotTTL = 2 * time.Minute
	// retryInterval is when to ask again for what another process holds.
	retryInterval = 100 * time.Millisecond
	// grain is in how many intervals the period of the token rate is recorded, grants is what part
	// of the tokens one grant has at most, and lives is for what part of the period a grant is
	// valid.
	grain, grants, lives = 240, 15, 60
	// shares is how many processes get slots at once without another one having to release some.
	shares = 4
	// ahead bounds how far ahead requests that are put off are spread.
	ahead = time.Hour
)

// State is what was sent, and which process may send. Times are in microseconds of the Store's
// clock, which all processes share. The zero State is that of an installation that has sent
// nothing.
type State struct {
	Content []int64          `json:"content,omitempty"` // when requests that create content were answered, ascending
	Spent   []Spent          `json:"spent,omitempty"`   // ascending
	Last    int64            `json:"last,omitempty"`    // when the last write started
	Writer  *WriteLease      `json:"writer,omitempty"`
	Shares  map[string]Share `json:"shares,omitempty"` // by holder
	Blocked int64            `json:"blocked,omitempty"`
	Queue   int64            `json:"queue,omitempty"` // when the last request that was put off may be sent
}

// Spent is a number of tokens and the time by which they were spent.
type Spent struct {
	At int64 `json:"at"`
	N  int   `json:"n"`
}

// WriteLease names the process that may write.
type WriteLease struct {
	Holder  string `json:"holder"`
	Until   int64  `json:"until"` // the end of the lease
	Content bool   `json:"content,omitempty"`
}

// Share is what a process may use without a further request.
type Share struct {
	Tokens int   `json:"tokens,omitempty"` // to be spent
	Until  int64 `json:"until,omitempty"`  // when the tokens expire
	Slots  int   `json:"slots,omitempty"`  // concurrent requests
	Lease  int64 `json:"lease,omitempty"`  // when the slots expire
}

// Request is what a process reports when it asks for a Grant.
type Request struct {
	Holder  string // names it among all who share the State
	Spent   int    // of the tokens of its last Grant
	InUse   int    // its requests in progress, for Write including the new one
	Want    int    // tokens, for Read
	Content bool   // for Write: the request creates content
}

// Grant is what a process may do: nothing, if Wait is not 0.
type Grant struct {
	Wait   time.Duration // at least, before the next Request
	Tokens int           // that it may spend
	Life   time.Duration // of the tokens, counted from before the Request
	Slots  int           // concurrent requests
}

// Read grants the holder tokens for reads.
func (s *State) Read(now time.Time, l Limits, a Request) Grant {
	t := now.UnixMicro()
	s.expire(t, l)
	s.returnTokens(t, l, a)
	free, wait := s.available(t, l, ReadTokens)
	seats := s.assignSlots(t, l, a)
	if seats == 0 {
		wait = max(wait, retryInterval)
	}
	if wait = max(wait, span(s.Blocked-t)); wait > 0 {
		return Grant{Wait: wait, Slots: seats}
	}
	out := Grant{Tokens: max(1, min(a.Want, l.Points.N/grants, free)), Life: l.Points.Per / lives, Slots: seats}
	sh := s.Shares[a.Holder]
	sh.Tokens, sh.Until = out.Tokens, t+out.Life.Microseconds()
	s.Shares[a.Holder] = sh
	return out
}

// Write grants the holder the write lease, until Done or until the lease expires.
func (s *State) Write(now time.Time, l Limits, a Request) Grant {
	t := now.UnixMicro()
	s.expire(t, l)
	if s.Writer != nil && s.Writer.Holder == a.Holder {
		s.endWrite(t, l) // it was killed during a write and restarted under the same name
	}
	wait := s.writeDelay(t, l, a.Content)
	seats := s.assignSlots(t, l, a)
	if s.Writer != nil || seats < a.InUse {
		wait = max(wait, retryInterval)
	}
	if wait == 0 {
		s.Writer, s.Last = &WriteLease{a.Holder, t + WriteLeaseTTL.Microseconds(), a.Content}, t
	}
	return Grant{Wait: wait, Slots: seats}
}

// Renew renews the holder's write lease.
func (s *State) Renew(now time.Time, holder string) {
	if s.Writer != nil && s.Writer.Holder == holder {
		s.Writer.Until = now.UnixMicro() + WriteLeaseTTL.Microseconds()
	}
}

// Done releases the holder's write lease: its request was answered.
func (s *State) Done(now time.Time, l Limits, holder string) {
	t := now.UnixMicro()
	s.expire(t, l)
	if s.Writer != nil && s.Writer.Holder == holder {
		s.endWrite(t, l)
	}
}

// Block blocks all requests for d, as GitHub asked for.
func (s *State) Block(now time.Time, d time.Duration) {
	s.Blocked = max(s.Blocked, now.Add(d).UnixMicro())
}

// WriteDelay returns how long a request that creates content has to wait for the limits, whichever
// process holds the write lease.
func (s *State) WriteDelay(now time.Time, l Limits) time.Duration {
	s.expire(now.UnixMicro(), l)
	return s.writeDelay(now.UnixMicro(), l, true)
}

// PutOff returns how long a caller that does not wait should stay away. It spreads such callers as
// fast as the limits allow, so that they do not all come back at once.
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

// writeDelay returns how long a write has to wait for the limits.
func (s *State) writeDelay(t int64, l Limits, content bool) time.Duration {
	_, wait := s.available(t, l, WriteTokens)
	at := max(s.Blocked, s.Last+l.Interval.Microseconds())
	if content {
		sent := s.Content
		if s.Writer != nil && s.Writer.Content {
			sent = append(slices.Clip(sent), t) // it may be sent until the lease expires
		}
		for _, r := range []Rate{l.Short, l.Long} {
			if n := len(sent) - r.N; n >= 0 {
				at = max(at, sent[n]+r.Per.Microseconds())
			}
		}
	}
	return max(wait, span(at-t))
}

// available returns how many tokens are left, and how long to wait until there are need.
func (s *State) available(t int64, l Limits, need int) (free int, wait time.Duration) {
	free = l.Points.N
	for _, p := range s.Spent {
		free -= p.N
	}
	until := t
	for _, sh := range s.Shares {
		free -= sh.Tokens
		until = max(until, sh.Until)
	}
	if s.Writer != nil {
		free -= WriteTokens
	}
	if free >= need {
		return free, 0
	}
	gain := free
	for _, p := range s.Spent {
		if gain += p.N; gain >= need {
			return free, max(retryInterval, span(p.At+l.remembered()-t))
		}
	}
	return free, max(retryInterval, span(until-t)) // other processes return by then what they have not spent
}

// remembered is how long spent tokens count, in microseconds: a little longer than at GitHub, where
// a request arrives after it was sent.
func (l Limits) remembered() int64 { return (l.Points.Per + l.Points.Per/lives).Microseconds() }

// assignSlots assigns slots to the holder, not fewer than it uses if enough are free, and returns
// how many it has. All processes together have at most AtOnce.
func (s *State) assignSlots(t int64, l Limits, a Request) int {
	free, others := l.AtOnce, 0
	for name, sh := range s.Shares {
		if name != a.Holder && sh.Slots > 0 {
			free, others = free-sh.Slots, others+1
		}
	}
	part := l.AtOnce
	if others > 0 || a.Holder != Alone {
		// Half of the free slots stay free: a killed process holds its slots until they expire, and
		// the process that replaces it must not wait for that.
		part = max(1, min(l.AtOnce/max(shares, others+1), free/2))
	}
	sh := s.Shares[a.Holder]
	sh.Slots = max(0, min(max(part, min(a.InUse, sh.Slots)), free))
	sh.Lease = t + slotTTL.Microseconds()
	if s.Shares == nil {
		s.Shares = map[string]Share{}
	}
	s.Shares[a.Holder] = sh
	return sh.Slots
}

// returnTokens records what the holder has spent of its last grant as spent now; the rest is free
// again.
func (s *State) returnTokens(t int64, l Limits, a Request) {
	sh, ok := s.Shares[a.Holder]
	if !ok {
		return
	}
	s.spend(t, l, min(a.Spent, sh.Tokens))
	sh.Tokens, sh.Until = 0, 0
	s.Shares[a.Holder] = sh
}

// endWrite ends the write lease at t.
func (s *State) endWrite(t int64, l Limits) {
	if s.Writer.Content {
		s.Content = append(s.Content, t)
	}
	s.spend(t, l, WriteTokens)
	s.Writer = nil
}

// spend records spent tokens, together with those of the interval just before.
func (s *State) spend(t int64, l Limits, n int) {
	if n == 0 {
		return
	}
	if last := len(s.Spent) - 1; last > 0 && s.Spent[last-1].At > t-2*(l.Points.Per/grain).Microseconds() {
		s.Spent[last] = Spent{t, s.Spent[last].N + n}
		return
	}
	s.Spent = append(s.Spent, Spent{t, n})
}

// expire drops what has expired by t. What a process that stopped responding held counts as sent. A
// time in the future comes from a clock that was set back.
func (s *State) expire(t int64, l Limits) {
	for i := range s.Content {
		s.Content[i] = min(s.Content[i], t)
	}
	for i := range s.Spent {
		s.Spent[i].At = min(s.Spent[i].At, t)
	}
	s.Last = min(s.Last, t)
	if s.Writer != nil {
		if s.Writer.Until = min(s.Writer.Until, t+WriteLeaseTTL.Microseconds()); s.Writer.Until <= t {
			s.endWrite(t, l)
		}
	}
	for name, sh := range s.Shares {
		sh.Until = min(sh.Until, t+(l.Points.Per/lives).Microseconds())
		sh.Lease = min(sh.Lease, t+slotTTL.Microseconds())
		if sh.Tokens > 0 && sh.Until+l.remembered() <= t {
			sh.Tokens = 0
		}
		if s.Shares[name] = sh; sh.Lease <= t && sh.Tokens == 0 {
			delete(s.Shares, name)
		} else if sh.Lease <= t {
			sh.Slots = 0
			s.Shares[name] = sh
		}
	}
	old := max(l.Short.Per, l.Long.Per).Microseconds()
	s.Content = slices.DeleteFunc(s.Content, func(at int64) bool { return at+old <= t })
	s.Spent = slices.DeleteFunc(s.Spent, func(p Spent) bool { return p.At+l.remembered() <= t })
}

func span(us int64) time.Duration { return max(0, time.Duration(us)*time.Microsecond) }
