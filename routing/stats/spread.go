package stats

import (
	"maps"
	"slices"
	"time"
)

// Spread is how values are distributed: how often each occurred. Median and
// percentiles are exact. It is additive, and so needs no order.
//
// What bounds its memory is that few values are different: attempts are whole
// numbers up to the hard cap, and times are rounded by Rounded first.
type Spread struct {
	n, sum int64
	counts map[int64]int64
}

// add counts a value n times; a negative n takes it back.
func (s *Spread) add(value, n int64) {
	if s.counts == nil {
		s.counts = map[int64]int64{}
	}
	s.n, s.sum = s.n+n, s.sum+n*value
	if s.counts[value] += n; s.counts[value] == 0 {
		delete(s.counts, value)
	}
}

func (s *Spread) merge(o Spread) {
	for v, n := range o.counts {
		s.add(v, n)
	}
}

// N returns how many values there are.
func (s Spread) N() int { return int(s.n) }

// Mean returns the mean of the values; ok is false if there are none.
func (s Spread) Mean() (mean float64, ok bool) {
	if s.n == 0 {
		return 0, false
	}
	return float64(s.sum) / float64(s.n), true
}

// Percentile returns the smallest value that at least p percent of the values
// do not exceed, which is one of them: the median for 50. ok is false if there
// are none.
func (s Spread) Percentile(p int) (value int64, ok bool) {
	if s.n == 0 {
		return 0, false
	}
	rank := max(1, (s.n*int64(p)+99)/100)
	for _, v := range slices.Sorted(maps.Keys(s.counts)) {
		if rank -= s.counts[v]; rank <= 0 {
			return v, true
		}
	}
	return 0, false // not reached: the counts add up to n
}

const year = 365 * 24 * time.Hour

// Rounded returns a time in seconds, cut to what is shown of it: seconds below
// an hour, minutes below a day, hours up to a year, which also stands for all
// that is longer. So there are at most 13,776 different times; and since a
// longer time is never cut to a shorter one, the median of times so cut is the
// median, so cut.
func Rounded(d time.Duration) int64 {
	unit := time.Second
	switch d = min(max(d, 0), year); {
	case d >= 24*time.Hour:
		unit = time.Hour
	case d >= time.Hour:
		unit = time.Minute
	}
	return int64(d.Truncate(unit) / time.Second)
}
