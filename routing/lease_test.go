package routing

import (
	"testing"
	"time"
)

func TestLease(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	mine := &Lease{Owner: "me", Until: now.Add(time.Minute)}
	for _, c := range []struct {
		name              string
		lease             *Lease
		at                time.Time
		held, mine, other bool
	}{
		{"nobody's", nil, now, false, false, false},
		{"mine", mine, now, true, true, false},
		{"mine, at its end", mine, now.Add(time.Minute), false, false, false},
		{"another's", &Lease{Owner: "you", Until: now.Add(time.Minute)}, now, true, false, true},
		{"another's, at its end", &Lease{Owner: "you", Until: now}, now, false, false, false},
	} {
		if l := c.lease; l.Held(c.at) != c.held || l.HeldBy("me", c.at) != c.mine || l.HeldByOther("me", c.at) != c.other {
			t.Errorf("%s: held %v, by me %v, by another %v", c.name, l.Held(c.at), l.HeldBy("me", c.at), l.HeldByOther("me", c.at))
		}
	}
}
