package testreport

import (
	"bytes"
	"encoding/binary"
)

// trimTimestamp removes what CI runners put before a line: GitHub's
// "2024-01-02T03:04:05.1234567Z ", with or without the "job\tstep\t" that
// `gh run view --log` adds.
// Jenkins and Taskcluster set the time in brackets: "[2024-…Z] ", "[task 2024-…Z] ".
func trimTimestamp(b []byte) []byte {
	if rest := trimLeadingTime(b); len(rest) < len(b) {
		return rest
	}
	// gh run view --log: "job name\tstep name\t2024-…Z text"
	if i := bytes.IndexByte(b, '\t'); i > 0 && i < 200 {
		if j := bytes.IndexByte(b[i+1:], '\t'); j >= 0 && j < 200 {
			rest := bytes.TrimPrefix(b[i+j+2:], []byte("\xEF\xBB\xBF"))
			if n := timestampLen(rest); n > 0 {
				return rest[n:]
			}
		}
	}
	return b
}

// trimLeadingTime is trimTimestamp for lines without tabs.
func trimLeadingTime(b []byte) []byte {
	if len(b) == 0 || b[0] != '[' && b[0]-'0' > 9 {
		return b // inlined, for the many lines without
	}
	return trimTimeAhead(b)
}

func trimTimeAhead(b []byte) []byte {
	switch c := b[0]; {
	case c == '[':
		rest := bytes.TrimPrefix(b[1:], []byte("task "))
		if n := bracketedLen(rest); n > 0 {
			return rest[n:]
		}
	case c >= '0' && c <= '9':
		return b[timestampLen(b):]
	}
	return b
}

// bracketedLen returns the length of a leading "2024-01-02T03:04:05.123Z] ", or 0.
func bracketedLen(b []byte) int {
	const layout = "dddd-dd-ddTdd:dd:dd.dddZ]"
	if len(b) < len(layout) || b[len(layout)-1] != ']' {
		return 0
	}
	for i := 0; i < len(layout); i++ {
		c := b[i]
		if layout[i] == 'd' && (c < '0' || c > '9') || layout[i] != 'd' && c != layout[i] {
			return 0
		}
	}
	if len(b) > len(layout) && b[len(layout)] == ' ' {
		return len(layout) + 1
	}
	return len(layout)
}

// timestampLen returns the length of a leading RFC 3339 time in UTC with
// fraction, and the one space behind it, or 0. A time without a fraction is
// left alone: programs print those themselves.
func timestampLen(b []byte) int {
	const whole, fraction = len("dddd-dd-ddTdd:dd:dd."), len("ddddddd") // of GitHub's runners
	if len(b) < whole+2 || b[4] != '-' || !timeStart.is(b) || !timeMiddle.is(b[8:]) || !timeEnd.is(b[whole-8:]) {
		return 0
	}
	i := whole
	if len(b) > whole+fraction && timeFraction.is(b[whole:]) {
		i += fraction
	} else {
		for i < len(b) && b[i] >= '0' && b[i] <= '9' {
			i++
		}
		if i-whole < 6 || i >= len(b) || b[i] != 'Z' {
			return 0
		}
	}
	i++
	if i < len(b) && b[i] == ' ' {
		i++
	}
	return i
}

// shape is what eight bytes look like: digits and, where none stands, given bytes.
type shape struct{ flip, room uint64 }

// shapeOf makes a shape of eight bytes, in which d stands for a digit.
func shapeOf(layout string) (s shape) {
	for i := 7; i >= 0; i-- {
		flip, room := uint64(layout[i]), uint64(0x7f)
		if layout[i] == 'd' {
			flip, room = '0', 0x7f-9
		}
		s.flip, s.room = s.flip<<8|flip, s.room<<8|room
	}
	return s
}

// is reports whether b begins with eight bytes of the shape: what is left of
// each behind flip is at most 9 for a digit and 0 for a given byte.
func (s shape) is(b []byte) bool {
	x := binary.LittleEndian.Uint64(b) ^ s.flip
	return (x|(x+s.room))&(0x80*ones) == 0
}

var (
	timeStart    = shapeOf("dddd-dd-")
	timeMiddle   = shapeOf("ddTdd:dd")
	timeEnd      = shapeOf("d:dd:dd.")
	timeFraction = shapeOf("dddddddZ")
)
