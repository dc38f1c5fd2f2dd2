package parse

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Millis makes a duration of milliseconds as a tool states them.
func Millis(f float64) time.Duration {
	if f <= 0 || f > 1e12 {
		return 0
	}
	return time.Duration(f * float64(time.Millisecond))
}

// Secs makes a duration of seconds as a tool states them.
func Secs(f float64) time.Duration { return Millis(f * 1000) }

// Nanos makes a duration of nanoseconds as a tool states them.
func Nanos(f float64) time.Duration { return Millis(f / 1e6) }

// Milliseconds reads a duration in milliseconds, with "," or "." as its mark.
func Milliseconds(s string) time.Duration { return Seconds(s) / 1000 }

// Spent reads "0.02", "1,234.5", "12" as seconds.
func Spent(s string) time.Duration { return Seconds(strings.ReplaceAll(s, ",", "")) }

// Seconds reads a duration: "1.5", "1,234.56", "0,5", "1.5s", "PT1.5S".
func Seconds(s string) time.Duration {
	if f, ok := PlainDecimal(s); ok {
		if f <= 0 || f > 1e8 {
			return 0
		}
		return time.Duration(f * float64(time.Second))
	}
	s = strings.TrimSpace(s)
	if s == "" {
		return 0
	}
	s = strings.TrimPrefix(strings.TrimRight(s, "sS "), "PT")
	if c, p := strings.LastIndexByte(s, ','), strings.LastIndexByte(s, '.'); c >= 0 {
		switch {
		case p > c: // 1,234.5
			s = strings.ReplaceAll(s, ",", "")
		case p >= 0: // 1.234,5
			s = strings.Replace(strings.ReplaceAll(s, ".", ""), ",", ".", 1)
		case strings.Count(s, ",") == 1: // 0,5
			s = strings.Replace(s, ",", ".", 1)
		default:
			s = strings.ReplaceAll(s, ",", "")
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || f <= 0 || f > 1e8 {
		return 0
	}
	return time.Duration(f * float64(time.Second))
}

// PlainDecimal reads "12" or "1.234" of at most 15 digits, for which one
// division gives what strconv.ParseFloat does.
func PlainDecimal(s string) (float64, bool) {
	if len(s) == 0 || len(s) > 16 {
		return 0, false
	}
	var n uint64
	digits, scale, point := 0, 1.0, false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			n = n*10 + uint64(c-'0')
			digits++
			if point {
				scale *= 10
			}
		case c == '.' && !point:
			point = true
		default:
			return 0, false
		}
	}
	return float64(n) / scale, digits > 0 && digits <= 15
}
